//! Random bytes. The source is always an argument, so that tests are reproducible and need no
//! operating system.

pub use k256::elliptic_curve::rand_core::CryptoRngCore;
use zeroize::Zeroizing;

/// Returns `N` random bytes, which are erased when dropped because most become secrets.
pub(super) fn random_bytes<const N: usize>(
    source: &mut impl CryptoRngCore,
) -> Result<Zeroizing<[u8; N]>, RandomError> {
    let mut bytes = Zeroizing::new([0; N]);
    source
        .try_fill_bytes(bytes.as_mut_slice())
        .map_err(|_| RandomError)?;
    Ok(bytes)
}

/// The error of a failed source of random numbers. No fallback would be safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the source of random numbers failed")]
pub struct RandomError;

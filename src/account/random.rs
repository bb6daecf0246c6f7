//! Random bytes from a source that is always an argument, so that tests repeat themselves and nothing here needs a system.

pub use k256::elliptic_curve::rand_core::CryptoRngCore;
use zeroize::Zeroizing;

/// `N` random bytes, erased when dropped because most become secrets.
pub(super) fn random_bytes<const N: usize>(source: &mut impl CryptoRngCore) -> Result<Zeroizing<[u8; N]>, RandomError> {
    let mut bytes = Zeroizing::new([0; N]);
    source.try_fill_bytes(bytes.as_mut_slice()).map_err(|_| RandomError)?;
    Ok(bytes)
}

/// The source of random numbers failed. There is nothing to fall back on that would be safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the source of random numbers failed")]
pub struct RandomError;

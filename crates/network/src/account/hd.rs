//! Hierarchical deterministic keys: BIP-44 paths and BIP-32 private derivation on secp256k1.
//!
//! Serialised extended keys and public derivation are left out: only private keys are derived.

use std::{fmt, str::FromStr};

use hmac::{Hmac, KeyInit, Mac};
use k256::{Scalar, elliptic_curve::PrimeField};
use sha2::Sha512;
use zeroize::Zeroizing;

use super::key::SecretKey;

/// The bit that marks the index of a hardened step; also the first number that is too big for a
/// path.
const HARDENED: u32 = 1 << 31;

/// A path from a seed to a key, such as `m/44'/60'/0'/0/0`.
///
/// ```
/// use tetrad_network::account::DerivationPath;
///
/// let path: DerivationPath = "m/44h/60h/0h/0/7".parse()?;
/// assert_eq!(path, DerivationPath::ethereum(7)?);
/// assert_eq!(path.to_string(), "m/44'/60'/0'/0/7");
/// # Ok::<(), tetrad_network::account::PathError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DerivationPath(Vec<u32>);

impl DerivationPath {
    /// The most steps of a path: BIP-32 stores the depth of a key in one byte.
    pub const MAX_DEPTH: usize = 255;

    /// Returns the path of the account with this number: `m/44'/60'/0'/0/<index>` (BIP-44, with
    /// SLIP-44's coin type of Ethereum).
    ///
    /// # Errors
    /// [`PathError::TooBig`] for 2^31 and above.
    pub fn ethereum(index: u32) -> Result<Self, PathError> {
        if index >= HARDENED {
            return Err(PathError::TooBig { step: 5 });
        }
        Ok(Self(vec![44 | HARDENED, 60 | HARDENED, HARDENED, 0, index]))
    }
}

impl FromStr for DerivationPath {
    type Err = PathError;

    /// Parses `m` and any number of steps `/<number>`; `'`, `h` or `H` after the number marks a
    /// hardened step.
    fn from_str(text: &str) -> Result<Self, PathError> {
        let mut parts = text.split('/');
        if parts.next() != Some("m") {
            return Err(PathError::Root);
        }
        let mut steps = Vec::new();
        for part in parts {
            let step = steps.len() + 1;
            if step > Self::MAX_DEPTH {
                return Err(PathError::TooDeep);
            }

            let digits = part.strip_suffix(['\'', 'h', 'H']);
            let hardened = if digits.is_some() { HARDENED } else { 0 };
            let digits = digits.unwrap_or(part);

            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return Err(PathError::Number { step });
            }

            match digits.parse::<u32>() {
                Ok(number) if number < HARDENED => steps.push(number | hardened),
                _ => return Err(PathError::TooBig { step }),
            }
        }
        Ok(Self(steps))
    }
}

impl fmt::Display for DerivationPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("m")?;
        for step in &self.0 {
            let mark = if *step >= HARDENED { "'" } else { "" };
            write!(f, "/{}{mark}", step & !HARDENED)?;
        }
        Ok(())
    }
}

/// A private key and the chain code from which its children are derived.
struct ExtendedKey {
    key: SecretKey,
    chain_code: Zeroizing<[u8; 32]>,
}

/// Derives the key at a path.
pub(super) fn derive(seed: &[u8], path: &DerivationPath) -> Result<SecretKey, DeriveError> {
    extended(seed, path).map(|extended| extended.key)
}

/// Derives the first `count` keys below a path.
pub(super) fn derive_children(
    seed: &[u8],
    parent: &DerivationPath,
    count: u32,
) -> Result<Vec<SecretKey>, DeriveError> {
    let parent = extended(seed, parent)?;
    (0..count)
        .map(|index| child(&parent, index).map(|extended| extended.key))
        .collect()
}

/// Derives the extended key at a path: the master key of the seed, then one child for each step.
fn extended(seed: &[u8], path: &DerivationPath) -> Result<ExtendedKey, DeriveError> {
    path.0
        .iter()
        .try_fold(master(seed)?, |extended, index| child(&extended, *index))
}

/// Derives the master key (BIP-32, "Master key generation").
fn master(seed: &[u8]) -> Result<ExtendedKey, DeriveError> {
    let (left, chain_code) = hmac_sha512(b"Bitcoin seed", &[seed]);
    let key = SecretKey::from_bytes(&left).map_err(|_| DeriveError)?;
    Ok(ExtendedKey { key, chain_code })
}

/// Derives a child (BIP-32, "CKDpriv").
fn child(parent: &ExtendedKey, index: u32) -> Result<ExtendedKey, DeriveError> {
    let secret = parent.key.to_bytes();
    // BIP-32 derives hardened keys from the private key.
    let (left, chain_code) = if index >= HARDENED {
        hmac_sha512(
            parent.chain_code.as_slice(),
            &[&[0], secret.as_slice(), &index.to_be_bytes()],
        )
    } else {
        let public_key = parent.key.public_key().compressed();
        hmac_sha512(
            parent.chain_code.as_slice(),
            &[&public_key, &index.to_be_bytes()],
        )
    };

    let sum = Zeroizing::new(*scalar(&left)? + *scalar(&secret)?);
    let key =
        SecretKey::from_bytes(&Zeroizing::new(sum.to_repr().into())).map_err(|_| DeriveError)?;
    Ok(ExtendedKey { key, chain_code })
}

fn scalar(bytes: &[u8; 32]) -> Result<Zeroizing<Scalar>, DeriveError> {
    Option::from(Scalar::from_repr((*bytes).into()))
        .map(Zeroizing::new)
        .ok_or(DeriveError)
}

/// Returns the two halves of the HMAC-SHA512 of the joined parts.
fn hmac_sha512(key: &[u8], parts: &[&[u8]]) -> (Zeroizing<[u8; 32]>, Zeroizing<[u8; 32]>) {
    let mut mac = Hmac::<Sha512>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }

    let bytes = Zeroizing::new(<[u8; 64]>::from(mac.finalize().into_bytes()));
    let mut left = Zeroizing::new([0; 32]);
    let mut right = Zeroizing::new([0; 32]);
    left.copy_from_slice(&bytes[..32]);
    right.copy_from_slice(&bytes[32..]);
    (left, right)
}

/// The error of a path without a valid key, as about one in 2^127 is (BIP-32). Another index has
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this path leads to no valid key, take another index")]
pub struct DeriveError;

/// The error of a text that is not a derivation path. Steps are counted from 1, without `m`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A path that does not begin with `m`.
    #[error("a derivation path begins with \"m\", as in m/44'/60'/0'/0/0")]
    Root,
    /// A step that is not a decimal number with an optional mark.
    #[error("step {step} of the derivation path is not a number, such as 0 or 44'")]
    Number {
        /// Number of the step.
        step: usize,
    },
    /// A number of 2^31 or more.
    #[error("step {step} of the derivation path is 2147483648 or more")]
    TooBig {
        /// Number of the step.
        step: usize,
    },
    /// More steps than [`DerivationPath::MAX_DEPTH`].
    #[error(
        "the derivation path has more than {} steps",
        DerivationPath::MAX_DEPTH
    )]
    TooDeep,
}

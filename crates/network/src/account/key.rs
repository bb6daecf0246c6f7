//! Secret keys of accounts, and parsing 32 secret bytes from hex.

use std::fmt;

use alloy_primitives::{Address, B256, Signature, hex, keccak256};
use k256::ecdsa::SigningKey;
use zeroize::Zeroizing;

use super::{
    public_key::PublicKey,
    random::{CryptoRngCore, RandomError, random_bytes},
};

/// The secret key of an account on secp256k1. Erased from memory when dropped, and never shown by
/// `Debug`.
///
/// ```
/// use alloy_primitives::keccak256;
/// use tetrad_network::account::{PublicKey, SecretKey};
///
/// let key = SecretKey::from_hex("0x0000000000000000000000000000000000000000000000000000000000000001")?;
/// assert_eq!(key.address().to_string(), "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf");
///
/// let hash = keccak256(b"to be signed");
/// let signature = key.sign_prehash(&hash)?;
/// assert_eq!(PublicKey::recover(&hash, &signature)?, key.public_key());
/// assert_eq!(format!("{key:?}"), "SecretKey(..)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SecretKey(SigningKey);

impl SecretKey {
    /// Generates a key.
    ///
    /// # Errors
    /// [`KeyError::Random`] if the source fails, and [`KeyError::OutOfRange`] if it returns one of
    /// the about 2^128 values that are not a key, which only a broken source does.
    pub fn random(source: &mut impl CryptoRngCore) -> Result<Self, KeyError> {
        Self::from_bytes(&*random_bytes::<32>(source)?)
    }

    /// Decodes a key from its 32 big-endian bytes.
    ///
    /// # Errors
    /// [`KeyError::OutOfRange`] for zero and for values not below the order of the curve.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        SigningKey::from_bytes(bytes.into())
            .map(Self)
            .map_err(|_| KeyError::OutOfRange)
    }

    /// Parses a key from 64 hex digits, with or without `0x`.
    ///
    /// # Errors
    /// [`KeyError::HexLength`], [`KeyError::HexDigit`] or [`KeyError::OutOfRange`].
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        Self::from_bytes(&*secret_from_hex(text)?)
    }

    /// Returns the 32 big-endian bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes().into())
    }

    /// Returns the whole secret in hex, with `0x`.
    #[must_use]
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode_prefixed(self.to_bytes().as_slice()))
    }

    /// Returns a secret that follows from the key, and from which the key does not follow. Each
    /// purpose has its own.
    #[must_use]
    pub fn secret(&self, purpose: &str) -> B256 {
        let material = Zeroizing::new([&self.to_bytes()[..], purpose.as_bytes()].concat());
        keccak256(&*material)
    }

    /// Returns the public key.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey::new(*self.0.verifying_key())
    }

    /// Returns the address of the account.
    #[must_use]
    pub fn address(&self) -> Address {
        self.public_key().address()
    }

    /// Signs a 32-byte hash with ECDSA. The nonce is deterministic (RFC 6979), `s` is in the lower
    /// half (EIP-2), and the signature carries the parity of the y coordinate, from which the
    /// public key can be recovered.
    ///
    /// # Errors
    /// [`KeyError::Unsignable`] for hashes, about one in 2^127, whose signature Ethereum cannot
    /// express.
    pub fn sign_prehash(&self, hash: &B256) -> Result<Signature, KeyError> {
        match self.0.sign_prehash_recoverable(hash.as_slice()) {
            Ok((signature, id)) if !id.is_x_reduced() => Ok(Signature::from_bytes_and_parity(
                &signature.to_bytes(),
                id.is_y_odd(),
            )),
            _ => Err(KeyError::Unsignable),
        }
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// Parses 32 secret bytes from 64 hex digits, with or without `0x`. Errors never repeat the input.
pub(super) fn secret_from_hex(text: &str) -> Result<Zeroizing<[u8; 32]>, KeyError> {
    let (digits, offset) = text
        .strip_prefix("0x")
        .map_or((text, 0), |digits| (digits, 2));
    if let Some(index) = digits.chars().position(|c| !c.is_ascii_hexdigit()) {
        return Err(KeyError::HexDigit {
            position: offset + index + 1,
        });
    }

    let mut bytes = Zeroizing::new([0; 32]);
    match hex::decode_to_slice(digits, bytes.as_mut_slice()) {
        Ok(()) => Ok(bytes),
        Err(_) => Err(KeyError::HexLength {
            digits: digits.len(),
        }),
    }
}

/// The error of a text or of bytes that are not a secret key, and of a failed signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The number of hex digits is not 64.
    #[error("a private key has 64 hex digits (32 bytes), this one has {digits}")]
    HexLength {
        /// Digits given, `0x` not counted.
        digits: usize,
    },
    /// Something other than a hex digit. The message omits the character, because it may be part of
    /// a secret.
    #[error("character {position} of the private key is not a hex digit")]
    HexDigit {
        /// Its position, counting from 1.
        position: usize,
    },
    /// Zero, or not below the order of secp256k1.
    #[error("the private key is zero or not below the order of secp256k1")]
    OutOfRange,
    /// A hash whose signature has no Ethereum encoding.
    #[error("this hash has no signature that Ethereum can express")]
    Unsignable,
    /// A failed source of random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
}

//! Secret keys encrypted under a password: Web3 secret storage, version 3, the format of geth and
//! most other tools.
//!
//! A key derivation function derives 32 bytes from the password. The first 16 encrypt the key with
//! AES-128 in counter mode. The last 16, hashed together with the ciphertext by Keccak-256, are the
//! check that detects a wrong password before anything is decrypted.

mod file;
mod kdf;

use std::fmt;

use aes::Aes128;
use alloy_primitives::Address;
use ctr::{
    Ctr128BE,
    cipher::{KeyIvInit, StreamCipher},
};
use sha3::{Digest, Keccak256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use self::kdf::DerivedKey;
pub use self::kdf::{Kdf, KdfError};
use super::{
    key::{KeyError, SecretKey},
    random::{CryptoRngCore, RandomError, random_bytes},
};

/// An encrypted secret key, read from a file or about to be written to one.
///
/// ```
/// use k256::elliptic_curve::rand_core::OsRng;
/// use tetrad_network::account::{Kdf, Keystore, KeystoreError, SecretKey};
///
/// let key = SecretKey::random(&mut OsRng)?;
/// let keystore = Keystore::encrypt(&key, b"correct horse", Kdf::LIGHT, &mut OsRng)?;
/// let file = keystore.to_json();
///
/// let opened = Keystore::from_json(&file)?.decrypt(b"correct horse")?;
/// assert_eq!(opened.address(), key.address());
/// assert!(matches!(keystore.decrypt(b"wrong"), Err(KeystoreError::WrongPassword)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Keystore {
    address: Option<Address>,
    id: String,
    kdf: Kdf,
    salt: Vec<u8>,
    iv: [u8; 16],
    ciphertext: Vec<u8>,
    mac: [u8; 32],
}

impl Keystore {
    /// Encrypts a key. Salt, counter and the file's id are random.
    ///
    /// # Errors
    /// [`KeystoreError::Kdf`] for a cost that [`Keystore::from_json`] would reject,
    /// [`KeystoreError::Random`] if the source fails.
    pub fn encrypt(
        key: &SecretKey,
        password: &[u8],
        kdf: Kdf,
        source: &mut impl CryptoRngCore,
    ) -> Result<Self, KeystoreError> {
        let salt = random_bytes::<32>(source)?.to_vec();
        let iv = *random_bytes::<16>(source)?;
        let id = uuid(*random_bytes::<16>(source)?);

        let derived = kdf.derive(password, &salt)?;
        let mut ciphertext = key.to_bytes().to_vec();
        apply_cipher(&derived, &iv, &mut ciphertext);
        let mac = mac(&derived, &ciphertext);

        Ok(Self {
            address: Some(key.address()),
            id,
            kdf,
            salt,
            iv,
            ciphertext,
            mac,
        })
    }

    /// Decrypts the key. The file's key derivation determines how long it takes, within the bounds
    /// of [`Kdf`].
    ///
    /// # Errors
    /// [`KeystoreError::WrongPassword`] if the check fails, which a damaged file causes, too;
    /// [`KeystoreError::Key`] if the content is not a key; [`KeystoreError::AddressMismatch`] if
    /// the key is not that of the address in the file.
    pub fn decrypt(&self, password: &[u8]) -> Result<SecretKey, KeystoreError> {
        let derived = self.kdf.derive(password, &self.salt)?;
        if !bool::from(mac(&derived, &self.ciphertext).ct_eq(&self.mac)) {
            return Err(KeystoreError::WrongPassword);
        }

        // Some tools dropped leading zero bytes of keys, which does not change the number.
        let mut bytes = Zeroizing::new([0; 32]);
        let start = bytes.len() - self.ciphertext.len();
        bytes[start..].copy_from_slice(&self.ciphertext);
        apply_cipher(&derived, &self.iv, &mut bytes[start..]);

        let key = SecretKey::from_bytes(&bytes)?;
        match self.address {
            Some(stated) if stated != key.address() => Err(KeystoreError::AddressMismatch {
                stated,
                actual: key.address(),
            }),
            _ => Ok(key),
        }
    }

    /// Returns the address in the file, which is not encrypted. Some tools omit it.
    #[must_use]
    pub const fn address(&self) -> Option<Address> {
        self.address
    }

    /// Returns the key derivation function.
    #[must_use]
    pub const fn kdf(&self) -> Kdf {
        self.kdf
    }
}

impl fmt::Debug for Keystore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keystore")
            .field("address", &self.address)
            .field("kdf", &self.kdf)
            .finish_non_exhaustive()
    }
}

fn apply_cipher(derived: &DerivedKey, iv: &[u8; 16], bytes: &mut [u8]) {
    let mut key = Zeroizing::new([0; 16]);
    key.copy_from_slice(&derived[..16]);
    Ctr128BE::<Aes128>::new((&*key).into(), iv.into()).apply_keystream(bytes);
}

fn mac(derived: &DerivedKey, ciphertext: &[u8]) -> [u8; 32] {
    Keccak256::new()
        .chain_update(&derived[16..])
        .chain_update(ciphertext)
        .finalize()
        .into()
}

/// Formats 16 random bytes as a random UUID (RFC 9562, version 4).
fn uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;

    let digits = alloy_primitives::hex::encode(bytes);
    format!(
        "{}-{}-{}-{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..]
    )
}

/// The error of a keystore that cannot be read, opened or created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeystoreError {
    /// A text longer than [`Keystore::MAX_JSON_BYTES`].
    #[error(
        "a keystore of {bytes} bytes is too long, at most {} are read",
        Keystore::MAX_JSON_BYTES
    )]
    TooLong {
        /// Bytes given.
        bytes: usize,
    },
    /// Not a JSON object. The message omits the text, because it may be a secret that was mistaken
    /// for a keystore.
    #[error("not a keystore: expected a JSON object")]
    NotAnObject,
    /// Truncated JSON, or a member that is missing or of the wrong type.
    #[error("not a keystore: {message}")]
    Json {
        /// The fault, with line and column.
        message: String,
    },
    /// A version other than 3.
    #[error("keystore version {got} is not supported, only version 3 is")]
    Version {
        /// The version found.
        got: u64,
    },
    /// A cipher other than AES-128 in counter mode.
    #[error("cipher {got:?} is not supported, only \"aes-128-ctr\" is")]
    Cipher {
        /// The cipher found.
        got: String,
    },
    /// A key derivation function that is unknown, costs too much or lacks a parameter.
    #[error(transparent)]
    Kdf(#[from] KdfError),
    /// A member that is not hex but should be.
    #[error("{field} of the keystore is not hex")]
    Hex {
        /// The member.
        field: &'static str,
    },
    /// A member of the wrong length.
    #[error("{field} of the keystore has {got} bytes, expected {expected}")]
    Length {
        /// The member.
        field: &'static str,
        /// The accepted number of bytes.
        expected: &'static str,
        /// Bytes found.
        got: usize,
    },
    /// A failed check.
    #[error("wrong password, or the keystore is damaged")]
    WrongPassword,
    /// A content that is not a key, although the password is right.
    #[error("the keystore does not hold a key: {0}")]
    Key(#[from] KeyError),
    /// A key of an address other than that in the file, although the password is right.
    #[error("the keystore says it holds the key of {stated}, but it holds that of {actual}")]
    AddressMismatch {
        /// The address in the file.
        stated: Address,
        /// The address of the key.
        actual: Address,
    },
    /// A failed source of random numbers.
    #[error(transparent)]
    Random(#[from] RandomError),
}

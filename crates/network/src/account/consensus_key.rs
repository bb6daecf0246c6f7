//! Secret keys of consensus nodes.

use std::fmt;

use alloy_primitives::hex;
use base64ct::{Base64, Encoding};
use ed25519_dalek::SigningKey;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::{
    consensus_public_key::ConsensusPublicKey,
    key::{KeyError, secret_from_hex},
};

/// The ed25519 secret key of a consensus node. Erased from memory when dropped, and never shown by
/// `Debug`.
///
/// ```
/// use tetrad_network::account::{ConsensusKey, Hrp, Kind, address_to_bech32};
///
/// let key = ConsensusKey::from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")?;
/// let address = address_to_bech32(&key.public_key().address(), &Hrp::new("pax")?, Kind::Consensus);
/// assert_eq!(address, "paxvalcons188m3859xgsjn7pzjjssmnagmnvyf08ggq37dk7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ConsensusKey(SigningKey);

impl ConsensusKey {
    /// Returns the key of a 32-byte seed (RFC 8032, section 5.1.5). Every seed gives a valid key.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// Parses the seed of a key from 64 hex digits, with or without `0x`.
    ///
    /// # Errors
    /// [`KeyError::HexLength`] or [`KeyError::HexDigit`].
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        Ok(Self::from_seed(&*secret_from_hex(text)?))
    }

    /// Parses CometBFT's `priv_validator_key.json`. Public key and address may be missing; if
    /// present, they must match the secret key.
    ///
    /// # Errors
    /// The variant of [`ConsensusKeyError`] that describes the fault. None repeats a part of the
    /// secret.
    pub fn from_validator_json(text: &str) -> Result<Self, ConsensusKeyError> {
        let file: ValidatorFile =
            serde_json::from_str(text).map_err(|error| ConsensusKeyError::Json {
                line: error.line(),
                column: error.column(),
            })?;

        if file.priv_key.key_type != PRIVATE_KEY_TYPE {
            return Err(ConsensusKeyError::KeyType {
                got: file.priv_key.key_type,
            });
        }

        let mut pair = Zeroizing::new([0; 64]);
        match Base64::decode(file.priv_key.value.as_bytes(), pair.as_mut_slice()) {
            Ok(bytes) if bytes.len() == 64 => {}
            _ => return Err(ConsensusKeyError::PrivateKey),
        }
        let key = SigningKey::from_keypair_bytes(&pair)
            .map(Self)
            .map_err(|_| ConsensusKeyError::PrivateKey)?;

        let public_key = key.public_key();
        if file
            .pub_key
            .is_some_and(|stated| stated.value != public_key.to_base64())
        {
            return Err(ConsensusKeyError::Mismatch { field: "pub_key" });
        }
        if file
            .address
            .is_some_and(|stated| !stated.eq_ignore_ascii_case(&hex::encode(public_key.address())))
        {
            return Err(ConsensusKeyError::Mismatch { field: "address" });
        }
        Ok(key)
    }

    /// Returns the public key.
    #[must_use]
    pub fn public_key(&self) -> ConsensusPublicKey {
        ConsensusPublicKey::new(self.0.verifying_key())
    }
}

impl fmt::Debug for ConsensusKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConsensusKey(..)")
    }
}

/// Amino's name for ed25519 secret keys.
const PRIVATE_KEY_TYPE: &str = "tendermint/PrivKeyEd25519";

#[derive(Deserialize)]
struct ValidatorFile {
    address: Option<String>,
    pub_key: Option<StatedPublicKey>,
    priv_key: StatedPrivateKey,
}

#[derive(Deserialize)]
struct StatedPublicKey {
    value: String,
}

#[derive(Deserialize)]
struct StatedPrivateKey {
    #[serde(rename = "type")]
    key_type: String,
    value: Zeroizing<String>,
}

/// The error of a text that is not a `priv_validator_key.json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConsensusKeyError {
    /// Not JSON, or not an object with a `priv_key`.
    #[error("not a priv_validator_key.json: the JSON is wrong at line {line}, column {column}")]
    Json {
        /// Line, counting from 1.
        line: usize,
        /// Column, counting from 1.
        column: usize,
    },
    /// A key of a type other than ed25519.
    #[error("unsupported type of private key {got:?}: expected {PRIVATE_KEY_TYPE:?}")]
    KeyType {
        /// The type found.
        got: String,
    },
    /// Not the base64 of 64 bytes: a seed and its public key.
    #[error("priv_key.value is not the base64 of a seed and its public key (64 bytes)")]
    PrivateKey,
    /// A public key or address of another secret key.
    #[error("{field} does not belong to priv_key")]
    Mismatch {
        /// The member that does not match.
        field: &'static str,
    },
}

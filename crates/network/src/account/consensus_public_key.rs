//! Public keys of consensus nodes.

use std::fmt;

use alloy_primitives::{Address, hex};
use base64ct::{Base64, Encoding};
use ed25519_dalek::VerifyingKey;
use sha2::{Digest, Sha256};

use super::{
    amino,
    hrp::{Hrp, Kind},
    proto_json::{ED25519_PUBLIC_KEY_TYPE, ProtoPublicKey},
    public_key_error::PublicKeyError,
};

/// Cosmos' name of the curve.
pub(super) const CURVE: &str = "ed25519";

/// The ed25519 public key of a consensus node.
///
/// ```
/// use tetrad_network::account::ConsensusPublicKey;
///
/// let key = ConsensusPublicKey::from_base64("PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=")?;
/// assert_eq!(format!("{:X}", key.address()), "39F713D0A644253F04529421B9F51B9B08979D08");
/// # Ok::<(), tetrad_network::account::PublicKeyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ConsensusPublicKey(VerifyingKey);

impl ConsensusPublicKey {
    pub(super) const fn new(key: VerifyingKey) -> Self {
        Self(key)
    }

    /// Decodes a key from its 32 bytes.
    ///
    /// # Errors
    /// [`PublicKeyError::Length`], or [`PublicKeyError::NotOnCurve`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PublicKeyError> {
        let bytes = bytes.try_into().map_err(|_| PublicKeyError::Length {
            curve: CURVE,
            expected: "32",
            got: bytes.len(),
        })?;
        VerifyingKey::from_bytes(bytes)
            .map(Self)
            .map_err(|_| PublicKeyError::NotOnCurve { curve: CURVE })
    }

    /// Parses a key from 64 hex digits, with or without `0x`.
    ///
    /// # Errors
    /// [`PublicKeyError::Hex`], and the errors of [`ConsensusPublicKey::from_bytes`].
    pub fn from_hex(text: &str) -> Result<Self, PublicKeyError> {
        Self::from_bytes(&hex::decode(text).map_err(|_| PublicKeyError::Hex)?)
    }

    /// Parses a key from padded base64.
    ///
    /// # Errors
    /// [`PublicKeyError::Base64`], and the errors of [`ConsensusPublicKey::from_bytes`].
    pub fn from_base64(text: &str) -> Result<Self, PublicKeyError> {
        Self::from_bytes(&Base64::decode_vec(text).map_err(|_| PublicKeyError::Base64)?)
    }

    /// Returns the 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Returns the key in padded base64.
    #[must_use]
    pub fn to_base64(&self) -> String {
        Base64::encode_string(self.as_bytes())
    }

    /// Returns the key's address: the first 20 bytes of SHA-256 of the key (CometBFT, "Data
    /// Structures", "Address").
    #[must_use]
    pub fn address(&self) -> Address {
        Address::from_slice(&Sha256::digest(self.as_bytes())[..20])
    }

    /// Returns the protocol buffer JSON of the key.
    #[must_use]
    pub fn to_proto_json(&self) -> ProtoPublicKey {
        ProtoPublicKey {
            type_url: ED25519_PUBLIC_KEY_TYPE.to_owned(),
            key: self.to_base64(),
        }
    }

    /// Returns the legacy bech32 form, `<hrp>valconspub1…`.
    #[must_use]
    pub fn to_legacy_bech32(&self, hrp: &Hrp) -> String {
        amino::to_bech32(
            &hrp.public_key_prefix(Kind::Consensus),
            amino::ED25519,
            self.as_bytes(),
        )
    }
}

impl fmt::Debug for ConsensusPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConsensusPublicKey({})", hex::encode(self.as_bytes()))
    }
}

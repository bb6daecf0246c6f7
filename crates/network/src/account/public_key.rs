//! Public keys of accounts and validator operators.

use std::fmt;

use alloy_primitives::{Address, B256, Signature, hex};
use base64ct::{Base64, Encoding};
use k256::{
    ecdsa::{self, RecoveryId, VerifyingKey},
    elliptic_curve::sec1::ToEncodedPoint,
};
use sha3::{Digest, Keccak256};

use super::{
    amino::{self, AminoName},
    hrp::{Hrp, Kind},
    proto_json::ProtoPublicKey,
    public_key_error::PublicKeyError,
};

/// Cosmos' name of Ethereum's keys on secp256k1.
pub(super) const CURVE: &str = "eth_secp256k1";

/// An `eth_secp256k1` public key: a point of secp256k1 whose address is derived as in Ethereum.
///
/// ```
/// use tetrad_network::account::PublicKey;
///
/// let key = PublicKey::from_base64("AulWtcPTIZWd/CnkFkQOMqDOwU7e+U/Iq8Tli1nhBq6j")?;
/// assert_eq!(key.compressed()[0], 2);
/// assert_eq!(key.address().to_string(), "0xfF380FFE9396daC050b98686254F890D647EC811");
/// # Ok::<(), tetrad_network::account::PublicKeyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    pub(super) const fn new(key: VerifyingKey) -> Self {
        Self(key)
    }

    /// Decodes a key from 33 bytes (compressed), 65 bytes (uncompressed) or 64 bytes (uncompressed
    /// without the leading 4).
    ///
    /// # Errors
    /// [`PublicKeyError::Length`], or [`PublicKeyError::NotOnCurve`] for a wrong first byte and for
    /// a point off the curve.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PublicKeyError> {
        let key = match bytes.len() {
            64 => VerifyingKey::from_sec1_bytes(&[&[4], bytes].concat()),
            // The SEC1 reader accepts a third form of 33 bytes, without the sign, which no
            // supported tool writes.
            33 if !matches!(bytes[0], 2 | 3) => {
                return Err(PublicKeyError::NotOnCurve { curve: CURVE });
            }
            33 | 65 => VerifyingKey::from_sec1_bytes(bytes),
            got => {
                return Err(PublicKeyError::Length {
                    curve: CURVE,
                    expected: "33, 64 or 65",
                    got,
                });
            }
        };

        key.map(Self)
            .map_err(|_| PublicKeyError::NotOnCurve { curve: CURVE })
    }

    /// Parses a key from hex, with or without `0x`, of any length that [`PublicKey::from_bytes`]
    /// accepts.
    ///
    /// # Errors
    /// [`PublicKeyError::Hex`], and the errors of [`PublicKey::from_bytes`].
    pub fn from_hex(text: &str) -> Result<Self, PublicKeyError> {
        Self::from_bytes(&hex::decode(text).map_err(|_| PublicKeyError::Hex)?)
    }

    /// Parses a key from padded base64, as Cosmos interfaces write it.
    ///
    /// # Errors
    /// [`PublicKeyError::Base64`], and the errors of [`PublicKey::from_bytes`].
    pub fn from_base64(text: &str) -> Result<Self, PublicKeyError> {
        Self::from_bytes(&Base64::decode_vec(text).map_err(|_| PublicKeyError::Base64)?)
    }

    /// Recovers the key that made a signature over a 32-byte hash.
    ///
    /// # Errors
    /// [`PublicKeyError::HighS`] for a signature whose `s` is in the upper half (EIP-2), and
    /// [`PublicKeyError::Signature`] if no key can have made it.
    pub fn recover(hash: &B256, signature: &Signature) -> Result<Self, PublicKeyError> {
        let scalars = ecdsa::Signature::from_scalars(
            signature.r().to_be_bytes::<32>(),
            signature.s().to_be_bytes::<32>(),
        )
        .map_err(|_| PublicKeyError::Signature)?;
        if scalars.normalize_s().is_some() {
            return Err(PublicKeyError::HighS);
        }

        VerifyingKey::recover_from_prehash(
            hash.as_slice(),
            &scalars,
            RecoveryId::new(signature.v(), false),
        )
        .map(Self)
        .map_err(|_| PublicKeyError::Signature)
    }

    /// Returns the 33 bytes of the compressed key: 2 or 3 for the sign of y, then x.
    #[must_use]
    pub fn compressed(&self) -> [u8; 33] {
        let mut bytes = [0; 33];
        bytes.copy_from_slice(self.0.as_affine().to_encoded_point(true).as_bytes());
        bytes
    }

    /// Returns the 65 bytes of the uncompressed key: 4, then x and y.
    #[must_use]
    pub fn uncompressed(&self) -> [u8; 65] {
        let mut bytes = [0; 65];
        bytes.copy_from_slice(self.0.as_affine().to_encoded_point(false).as_bytes());
        bytes
    }

    /// Returns the compressed key in padded base64.
    #[must_use]
    pub fn to_base64(&self) -> String {
        Base64::encode_string(&self.compressed())
    }

    /// Returns the key's address: the last 20 bytes of Keccak-256 of the uncompressed key without
    /// its first byte (Yellow Paper, appendix F).
    ///
    /// Plain Cosmos networks use RIPEMD-160 of SHA-256 of the compressed key instead; this network
    /// has no such address.
    #[must_use]
    pub fn address(&self) -> Address {
        let hash = Keccak256::digest(&self.uncompressed()[1..]);
        Address::from_slice(&hash[12..])
    }

    /// Returns the protocol buffer JSON of the key, with a network's type URL of account keys.
    #[must_use]
    pub fn to_proto_json(&self, type_url: &str) -> ProtoPublicKey {
        ProtoPublicKey {
            type_url: type_url.to_owned(),
            key: self.to_base64(),
        }
    }

    /// Returns the legacy bech32 form with the public key prefix of `kind`.
    #[must_use]
    pub fn to_legacy_bech32(&self, hrp: &Hrp, kind: Kind, name: AminoName) -> String {
        amino::to_bech32(
            &hrp.public_key_prefix(kind),
            name.as_str(),
            &self.compressed(),
        )
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", hex::encode(self.compressed()))
    }
}

//! Parsing public keys of either curve in every form that users paste.

use alloy_primitives::Address;

use super::{
    amino::{self, AminoName, amino_prefix},
    bech32_text::decode_bech32,
    consensus_public_key::{self, ConsensusPublicKey},
    hrp::{Hrp, Kind},
    proto_json::{ED25519_PUBLIC_KEY_TYPE, ProtoPublicKey},
    public_key::{self, PublicKey},
    public_key_error::PublicKeyError,
};

/// A public key of either curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyPublicKey {
    /// The key of an account or a validator operator.
    EthSecp256k1(PublicKey),
    /// The key of a consensus node.
    Ed25519(ConsensusPublicKey),
}

impl AnyPublicKey {
    /// Parses a public key in any form that identifies its curve: protocol buffer JSON, legacy
    /// bech32 with one of this network's public key prefixes, and for secp256k1 also hex and
    /// base64.
    ///
    /// 32 bytes of hex or base64 are rejected although an ed25519 key has that length: so does a
    /// private key, which must not be mistaken for something that may be shown.
    ///
    /// # Errors
    /// The variant of [`PublicKeyError`] that describes the fault.
    ///
    /// ```
    /// use tetrad_network::account::{AnyPublicKey, Hrp};
    ///
    /// let text = "paxpub1t46z8hepqgmmpwm6s2yd8rk5nffykhwf3nlnadw2sfxfl8wqmldnm8xkqrefjfnevyj";
    /// let key = AnyPublicKey::parse(text, &Hrp::new("pax")?)?;
    /// assert_eq!(key.address().to_string(), "0x9858EfFD232B4033E47d90003D41EC34EcaEda94");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(text: &str, hrp: &Hrp) -> Result<Self, PublicKeyError> {
        if text.starts_with('{') {
            let json: ProtoPublicKey =
                serde_json::from_str(text).map_err(|_| PublicKeyError::Unrecognised)?;
            return Self::from_proto_json(&json);
        }

        let digits = text.strip_prefix("0x").unwrap_or(text);
        if matches!(digits.len(), 66 | 128 | 130) && digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return PublicKey::from_hex(digits).map(Self::EthSecp256k1);
        }

        if text.contains("pub1") || text.contains("PUB1") {
            return Self::from_legacy_bech32(text, hrp);
        }

        match PublicKey::from_base64(text) {
            Err(PublicKeyError::Base64 | PublicKeyError::Length { .. }) => {
                Err(PublicKeyError::Unrecognised)
            }
            other => other.map(Self::EthSecp256k1),
        }
    }

    /// Parses the legacy bech32 form with one of this network's public key prefixes. The prefix
    /// determines the curve. Both amino names of `eth_secp256k1` keys are accepted.
    ///
    /// # Errors
    /// The errors of bech32, of the prefix and of the amino encoding.
    pub fn from_legacy_bech32(text: &str, hrp: &Hrp) -> Result<Self, PublicKeyError> {
        let decoded = decode_bech32(text)?;
        let Some(kind) = Kind::ALL
            .into_iter()
            .find(|kind| hrp.public_key_prefix(*kind) == decoded.prefix)
        else {
            let expected = Kind::ALL
                .map(|kind| format!("{:?}", hrp.public_key_prefix(kind)))
                .join(" or ");
            return Err(PublicKeyError::WrongPrefix {
                expected,
                got: decoded.prefix,
            });
        };

        let (amino_type, bytes) = amino::decode(&decoded.data)?;
        let key = Self::from_amino(amino_type, bytes)?;
        let expected = if kind == Kind::Consensus {
            consensus_public_key::CURVE
        } else {
            public_key::CURVE
        };
        if key.curve() != expected {
            return Err(PublicKeyError::Curve {
                prefix: decoded.prefix,
                expected,
                got: key.curve(),
            });
        }

        Ok(key)
    }

    /// Parses the protocol buffer JSON of a key. Every network's own type of `eth_secp256k1` keys
    /// is accepted.
    ///
    /// # Errors
    /// [`PublicKeyError::CosmosSecp256k1`] or [`PublicKeyError::ProtoType`] for other types, and
    /// the errors of the key itself.
    pub fn from_proto_json(json: &ProtoPublicKey) -> Result<Self, PublicKeyError> {
        if json.is_eth_secp256k1() {
            return PublicKey::from_base64(&json.key).map(Self::EthSecp256k1);
        }
        match json.type_url.as_str() {
            ED25519_PUBLIC_KEY_TYPE => {
                ConsensusPublicKey::from_base64(&json.key).map(Self::Ed25519)
            }
            "/cosmos.crypto.secp256k1.PubKey" => Err(PublicKeyError::CosmosSecp256k1),
            other => Err(PublicKeyError::ProtoType {
                got: other.to_owned(),
            }),
        }
    }

    /// Returns the address of the key, by the rule of its curve.
    #[must_use]
    pub fn address(&self) -> Address {
        match self {
            Self::EthSecp256k1(key) => key.address(),
            Self::Ed25519(key) => key.address(),
        }
    }

    fn from_amino(amino_type: [u8; 4], bytes: &[u8]) -> Result<Self, PublicKeyError> {
        let is_eth_secp256k1 = AminoName::ALL
            .iter()
            .any(|name| amino_prefix(name.as_str()) == amino_type);
        if is_eth_secp256k1 {
            if bytes.len() != 33 {
                return Err(PublicKeyError::Length {
                    curve: public_key::CURVE,
                    expected: "33",
                    got: bytes.len(),
                });
            }
            return PublicKey::from_bytes(bytes).map(Self::EthSecp256k1);
        }

        if amino_type == amino_prefix(amino::ED25519) {
            return ConsensusPublicKey::from_bytes(bytes).map(Self::Ed25519);
        }

        if amino_type == amino_prefix(amino::COSMOS_SECP256K1) {
            return Err(PublicKeyError::CosmosSecp256k1);
        }

        Err(PublicKeyError::AminoType { got: amino_type })
    }

    const fn curve(&self) -> &'static str {
        match self {
            Self::EthSecp256k1(_) => public_key::CURVE,
            Self::Ed25519(_) => consensus_public_key::CURVE,
        }
    }
}

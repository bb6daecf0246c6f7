//! All written forms of one public key.

use std::fmt;

use alloy_primitives::hex;
use serde::Serialize;

use super::{
    amino::AminoName,
    consensus_public_key::ConsensusPublicKey,
    hrp::{Hrp, Kind},
    proto_json::ProtoPublicKey,
    public_key::PublicKey,
    table::write_table,
};

/// Every written form of one public key. Prints as a table of two aligned columns and serialises as
/// an object whose members are the fields below.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PublicKeyForms {
    /// The key in hex: 33 bytes (compressed) on secp256k1, 32 bytes on ed25519.
    pub hex: String,
    /// The uncompressed key in hex, 65 bytes; only on secp256k1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hex_uncompressed: Option<String>,
    /// The same bytes as `hex` in padded base64.
    pub base64: String,
    /// Protocol buffer JSON.
    pub proto: ProtoPublicKey,
    /// The legacy bech32 form, for each amino name in use for such keys.
    pub legacy_bech32: Vec<LegacyBech32>,
}

/// A public key in legacy bech32, and its amino name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LegacyBech32 {
    /// The registered name, such as `ethermint/PubKeyEthSecp256k1`.
    pub amino_name: &'static str,
    /// The text, such as `paxpub1…`.
    pub text: String,
}

impl PublicKeyForms {
    /// Formats the key of an account or a validator operator, with a network's prefix and its type
    /// URL of account keys.
    #[must_use]
    pub fn of_account(key: &PublicKey, hrp: &Hrp, kind: Kind, type_url: &str) -> Self {
        Self {
            hex: hex::encode(key.compressed()),
            hex_uncompressed: Some(hex::encode(key.uncompressed())),
            base64: key.to_base64(),
            proto: key.to_proto_json(type_url),
            legacy_bech32: AminoName::ALL
                .map(|name| LegacyBech32 {
                    amino_name: name.as_str(),
                    text: key.to_legacy_bech32(hrp, kind, name),
                })
                .into(),
        }
    }

    /// Formats the key of a consensus node.
    #[must_use]
    pub fn of_consensus(key: &ConsensusPublicKey, hrp: &Hrp) -> Self {
        Self {
            hex: hex::encode(key.as_bytes()),
            hex_uncompressed: None,
            base64: key.to_base64(),
            proto: key.to_proto_json(),
            legacy_bech32: vec![LegacyBech32 {
                amino_name: super::amino::ED25519,
                text: key.to_legacy_bech32(hrp),
            }],
        }
    }
}

impl fmt::Display for PublicKeyForms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = self.proto.to_json();
        let mut rows = vec![("public key, hex", self.hex.as_str())];
        if let Some(uncompressed) = &self.hex_uncompressed {
            rows.push(("uncompressed", uncompressed));
        }
        rows.extend([("base64", self.base64.as_str()), ("JSON", &json)]);
        rows.extend(
            self.legacy_bech32
                .iter()
                .map(|legacy| (legacy.amino_name, legacy.text.as_str())),
        );
        write_table(f, &rows)
    }
}

//! Public keys the way Cosmos REST interfaces and `keys show` print them: a type and the key in base64.

use serde::{Deserialize, Serialize};

/// What the configuration's type of account keys is when nothing else is said.
pub const DEFAULT_PUBLIC_KEY_TYPE: &str = "/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey";

/// The type of ed25519 consensus keys, the same on every Cosmos network.
pub const ED25519_PUBLIC_KEY_TYPE: &str = "/cosmos.crypto.ed25519.PubKey";

/// The protocol buffer JSON of a public key: `{"@type":"/…PubKey","key":"<base64>"}` (specification, section 2.8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtoPublicKey {
    /// Type URL. Every Ethermint-like network has one of its own for the same keys, ending in `ethsecp256k1.PubKey`.
    #[serde(rename = "@type")]
    pub type_url: String,
    /// The key in padded base64: 33 bytes (compressed) on secp256k1, 32 bytes on ed25519.
    pub key: String,
}

impl ProtoPublicKey {
    /// Whether this is some network's `eth_secp256k1` key.
    #[must_use]
    pub fn is_eth_secp256k1(&self) -> bool {
        self.type_url.rsplit('.').take(2).eq(["PubKey", "ethsecp256k1"])
    }

    /// The JSON text, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::json!({ "@type": self.type_url, "key": self.key }).to_string()
    }
}

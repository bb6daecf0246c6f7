//! Public keys as Cosmos REST interfaces and `keys show` print them: a type and the key in base64.

use serde::{Deserialize, Serialize};

/// The default type URL of account keys in the configuration.
pub const DEFAULT_PUBLIC_KEY_TYPE: &str = "/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey";

/// The type URL of ed25519 consensus keys, the same on every Cosmos network.
pub const ED25519_PUBLIC_KEY_TYPE: &str = "/cosmos.crypto.ed25519.PubKey";

/// The protocol buffer JSON of a public key: `{"@type":"/…PubKey","key":"<base64>"}` (an `Any` as
/// of Cosmos SDK's ADR 019).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtoPublicKey {
    /// The type URL. Each Ethermint-like network has its own one for the same keys, ending in
    /// `ethsecp256k1.PubKey`.
    #[serde(rename = "@type")]
    pub type_url: String,
    /// The key in padded base64: 33 bytes (compressed) on secp256k1, 32 bytes on ed25519.
    pub key: String,
}

impl ProtoPublicKey {
    /// Returns whether this is the `eth_secp256k1` key of any network.
    #[must_use]
    pub fn is_eth_secp256k1(&self) -> bool {
        self.type_url
            .rsplit('.')
            .take(2)
            .eq(["PubKey", "ethsecp256k1"])
    }

    /// Returns the JSON text, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::json!({ "@type": self.type_url, "key": self.key }).to_string()
    }
}

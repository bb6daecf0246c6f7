//! The legacy text form of public keys: bech32 over amino, the encoding that Cosmos used before
//! protocol buffers.
//!
//! The payload is four bytes that identify the key's type, one byte with the key's length, and the
//! key. The four bytes are derived from the type's registered name, so this module lists names, not
//! numbers.

use sha2::{Digest, Sha256};

use super::{bech32_text::encode_bech32, public_key_error::PublicKeyError};

/// Registered name of plain Cosmos secp256k1 keys. Their addresses are derived differently, so they
/// are rejected.
pub(super) const COSMOS_SECP256K1: &str = "tendermint/PubKeySecp256k1";
/// Registered name of ed25519 consensus keys.
pub(super) const ED25519: &str = "tendermint/PubKeyEd25519";

/// The name under which a network registers its `eth_secp256k1` keys with amino. Both names are in
/// use, for the same keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AminoName {
    /// `ethermint/PubKeyEthSecp256k1`, of Ethermint and its descendants.
    Ethermint,
    /// `os/PubKeyEthSecp256k1`, of Cosmos EVM.
    CosmosEvm,
}

impl AminoName {
    /// Both names.
    pub const ALL: [Self; 2] = [Self::Ethermint, Self::CosmosEvm];

    /// Returns the registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ethermint => "ethermint/PubKeyEthSecp256k1",
            Self::CosmosEvm => "os/PubKeyEthSecp256k1",
        }
    }
}

/// Returns the four bytes by which amino identifies a registered type: of SHA-256 of the name, drop
/// leading zeros and three bytes, drop zeros again, and take four (amino, "Computing the prefix and
/// disambiguation bytes").
///
/// ```
/// assert_eq!(tetrad_network::account::amino_prefix("tendermint/PubKeyEd25519"), [0x16, 0x24, 0xde, 0x64]);
/// ```
#[must_use]
pub fn amino_prefix(name: &str) -> [u8; 4] {
    let hash = Sha256::digest(name.as_bytes());
    let mut bytes = hash
        .iter()
        .copied()
        .skip_while(|byte| *byte == 0)
        .skip(3)
        .skip_while(|byte| *byte == 0);

    // No known name has a hash with so many zeros that the bytes run out. Padding with zeros keeps
    // the function total.
    std::array::from_fn(|_| bytes.next().unwrap_or_default())
}

/// Encodes a key of a registered type as bech32.
pub(super) fn to_bech32(prefix: &str, name: &str, key: &[u8]) -> String {
    let length = u8::try_from(key.len()).expect("public keys have 32 or 33 bytes");
    let bytes = [amino_prefix(name).as_slice(), &[length], key].concat();
    encode_bech32(prefix, &bytes)
        .expect("a checked prefix and a public key stay within bech32's limits")
}

/// Splits a payload into the type's four bytes and the key, and checks the length between them.
pub(super) fn decode(bytes: &[u8]) -> Result<([u8; 4], &[u8]), PublicKeyError> {
    let short = PublicKeyError::AminoShort { got: bytes.len() };
    let Some((prefix, [length, key @ ..])) = bytes.split_first_chunk::<4>() else {
        return Err(short);
    };

    if usize::from(*length) != key.len() {
        return Err(PublicKeyError::AminoLength {
            stated: usize::from(*length),
            got: key.len(),
        });
    }
    Ok((*prefix, key))
}

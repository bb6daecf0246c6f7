//! The legacy text form of public keys: bech32 over amino, the encoding that Cosmos used before protocol buffers.
//!
//! The bytes behind the prefix are four bytes that name the key's type, one byte with the key's length, and the key. The
//! four bytes follow from the type's registered name, so names are what is kept here and not numbers.

use sha2::{Digest, Sha256};

use super::{bech32_text::encode_bech32, public_key_error::PublicKeyError};

/// Registered name of plain Cosmos secp256k1 keys. Their addresses are derived differently, so they are refused.
pub(super) const COSMOS_SECP256K1: &str = "tendermint/PubKeySecp256k1";
/// Registered name of ed25519 consensus keys.
pub(super) const ED25519: &str = "tendermint/PubKeyEd25519";

/// Under which name a network registers its `eth_secp256k1` keys with amino. Both names are in use, for the same keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AminoName {
    /// `ethermint/PubKeyEthSecp256k1`, of Ethermint and what descends from it.
    Ethermint,
    /// `os/PubKeyEthSecp256k1`, of Cosmos EVM.
    CosmosEvm,
}

impl AminoName {
    /// Both names.
    pub const ALL: [Self; 2] = [Self::Ethermint, Self::CosmosEvm];

    /// The registered name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ethermint => "ethermint/PubKeyEthSecp256k1",
            Self::CosmosEvm => "os/PubKeyEthSecp256k1",
        }
    }
}

/// The four bytes by which amino names a registered type: of SHA-256 of the name, leading zeros left out, skip three
/// bytes, leave out zeros again, take four (amino specification, "computing the prefix and disambiguation bytes").
///
/// ```
/// assert_eq!(tetrad::account::amino_prefix("tendermint/PubKeyEd25519"), [0x16, 0x24, 0xde, 0x64]);
/// ```
#[must_use]
pub fn amino_prefix(name: &str) -> [u8; 4] {
    let hash = Sha256::digest(name.as_bytes());
    let mut bytes = hash.iter().copied().skip_while(|byte| *byte == 0).skip(3).skip_while(|byte| *byte == 0);
    // A hash with so many zeros that bytes run out is not going to be met; zeros then keep the function total.
    std::array::from_fn(|_| bytes.next().unwrap_or_default())
}

/// A key of a registered type behind a public key prefix.
pub(super) fn to_bech32(prefix: &str, name: &str, key: &[u8]) -> String {
    let length = u8::try_from(key.len()).expect("public keys have 32 or 33 bytes");
    let bytes = [amino_prefix(name).as_slice(), &[length], key].concat();
    encode_bech32(prefix, &bytes).expect("a checked prefix and a public key stay within bech32's limits")
}

/// The type's four bytes and the key, provided that the length between them is right.
pub(super) fn decode(bytes: &[u8]) -> Result<([u8; 4], &[u8]), PublicKeyError> {
    let short = PublicKeyError::AminoShort { got: bytes.len() };
    let Some((prefix, [length, key @ ..])) = bytes.split_first_chunk::<4>() else { return Err(short) };
    if usize::from(*length) != key.len() {
        return Err(PublicKeyError::AminoLength { stated: usize::from(*length), got: key.len() });
    }
    Ok((*prefix, key))
}

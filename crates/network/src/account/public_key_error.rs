//! The error of texts and bytes that are not a public key.

use alloy_primitives::hex;

use super::bech32_text::Bech32Error;

/// The error of bytes or texts that are not a public key, and of signatures from which none can be
/// recovered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublicKeyError {
    /// A number of bytes that no key of the curve has.
    #[error("a public key of {curve} has {expected} bytes, this one has {got}")]
    Length {
        /// The curve.
        curve: &'static str,
        /// The accepted numbers of bytes.
        expected: &'static str,
        /// Bytes given.
        got: usize,
    },
    /// The right number of bytes, but no point of the curve (a wrong first byte included).
    #[error("the bytes are not a point of {curve}")]
    NotOnCurve {
        /// The curve.
        curve: &'static str,
    },
    /// Not hex.
    #[error("the public key is not hex")]
    Hex,
    /// Not padded base64.
    #[error("the public key is not base64")]
    Base64,
    /// Not bech32, or with a wrong checksum.
    #[error(transparent)]
    Bech32(#[from] Bech32Error),
    /// Valid bech32 with a prefix that is not one of this network's public key prefixes.
    #[error("wrong bech32 prefix {got:?}: expected {expected}")]
    WrongPrefix {
        /// The accepted prefixes, quoted.
        expected: String,
        /// The prefix found, in lower case.
        got: String,
    },
    /// Too few bytes for amino's type and length.
    #[error("{got} bytes are too few for an amino-encoded public key")]
    AminoShort {
        /// Bytes after the bech32 prefix.
        got: usize,
    },
    /// A length in the amino encoding that is not that of the key after it.
    #[error("the amino encoding announces a key of {stated} bytes, but {got} follow")]
    AminoLength {
        /// Bytes announced.
        stated: usize,
        /// Bytes found.
        got: usize,
    },
    /// Four bytes of an unknown type of key.
    #[error("unknown amino type 0x{}", hex::encode(.got))]
    AminoType {
        /// The four bytes.
        got: [u8; 4],
    },
    /// A type URL that is neither a network's `ethsecp256k1` nor Cosmos' ed25519.
    #[error("unsupported type of public key {got:?}")]
    ProtoType {
        /// The type URL found.
        got: String,
    },
    /// A plain Cosmos secp256k1 key: the same curve, but its address is derived with RIPEMD-160.
    #[error(
        "this is a plain Cosmos secp256k1 key, whose address is derived differently, not an eth_secp256k1 key"
    )]
    CosmosSecp256k1,
    /// A key of the wrong curve for its prefix (the table of [`account`](crate::account) lists
    /// both).
    #[error("the prefix {prefix:?} is for {expected} keys, but the key is {got}")]
    Curve {
        /// The bech32 prefix.
        prefix: String,
        /// The curve of the prefix.
        expected: &'static str,
        /// The curve of the key.
        got: &'static str,
    },
    /// A text in none of the forms of public keys.
    #[error("not a public key: expected hex, base64, bech32 or protocol buffer JSON")]
    Unrecognised,
    /// An `s` in the upper half of its range, which Ethereum rejects (EIP-2).
    #[error("the signature's s value is in the upper half of its range (EIP-2)")]
    HighS,
    /// A signature that no key can have made.
    #[error("no public key can have made this signature")]
    Signature,
}

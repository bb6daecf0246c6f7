//! Accounts: addresses in every written form, keys, mnemonics and keystore files.
//!
//! An account is identified by 20 bytes. Ethereum tools write them in hex with an EIP-55 checksum,
//! Cosmos tools in bech32 with the network's prefix. Both forms identify the same account, and
//! conversion between them is lossless.
//!
//! | Kind | Address | Legacy public key | Curve | Address bytes come from |
//! |---|---|---|---|---|
//! | account | `<hrp>1…` | `<hrp>pub1…` | secp256k1 | last 20 bytes of Keccak-256 of the uncompressed key |
//! | validator operator | `<hrp>valoper1…` | `<hrp>valoperpub1…` | secp256k1 | the same |
//! | consensus node | `<hrp>valcons1…` | `<hrp>valconspub1…` | ed25519 | first 20 bytes of SHA-256 of the key |
//!
//! The module knows no chain, opens no file, reads no clock and asks no operating system for random
//! numbers: sources of random numbers are arguments. So is the prefix `<hrp>` ([`Hrp`]), because it
//! is configuration.
//!
//! ```
//! use tetrad_network::account::{AddressForms, DerivationPath, Hrp, Mnemonic, parse_address};
//!
//! let mnemonic = Mnemonic::from_phrase("test test test test test test test test test test test junk")?;
//! let key = mnemonic.to_seed("").derive(&DerivationPath::ethereum(0)?)?;
//! let hrp = Hrp::new("pax")?;
//!
//! let forms = AddressForms::new(&key.address(), &hrp);
//! assert_eq!(forms.eip55, "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
//! assert_eq!(parse_address(&forms.account, &hrp)?.address, key.address());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod address_forms;
mod amino;
mod any_public_key;
mod bech32_text;
mod consensus_key;
mod consensus_public_key;
mod contract;
mod hd;
mod hrp;
mod key;
mod keystore;
mod mnemonic;
mod proto_json;
mod public_key;
mod public_key_error;
mod public_key_forms;
mod random;
mod table;

pub use address::{
    AddressError, Form, ParsedAddress, address_from_bech32, address_from_hex, address_to_bech32,
    parse_account_address, parse_address,
};
pub use address_forms::AddressForms;
pub use amino::{AminoName, amino_prefix};
pub use any_public_key::AnyPublicKey;
pub use bech32_text::{Bech32Error, Decoded, decode_bech32, encode_bech32};
pub use consensus_key::{ConsensusKey, ConsensusKeyError};
pub use consensus_public_key::ConsensusPublicKey;
pub use contract::{create_address, create2_address, create2_address_from_code};
pub use hd::{DerivationPath, DeriveError, PathError};
pub use hrp::{DEFAULT_BECH32_PREFIX, Hrp, HrpError, Kind};
pub use key::{KeyError, SecretKey};
pub use keystore::{Kdf, KdfError, Keystore, KeystoreError};
pub use mnemonic::{Mnemonic, MnemonicError, Seed, WordCount};
pub use proto_json::{DEFAULT_PUBLIC_KEY_TYPE, ED25519_PUBLIC_KEY_TYPE, ProtoPublicKey};
pub use public_key::PublicKey;
pub use public_key_error::PublicKeyError;
pub use public_key_forms::{LegacyBech32, PublicKeyForms};
pub use random::{CryptoRngCore, RandomError};

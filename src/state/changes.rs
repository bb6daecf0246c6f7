//! What a block, a development method or a genesis does to the state.

use alloy_primitives::{Address, B256, U256};
use revm::bytecode::Bytecode;

use crate::block::CompressedKey;

/// Changes to any number of accounts, each named once, in the order in which new ones get their account number.
#[derive(Clone, Debug, Default)]
pub struct Changes(pub Vec<AccountChange>);

/// The change to one account.
#[derive(Clone, Debug)]
pub struct AccountChange {
    /// The account.
    pub address: Address,
    /// `keccak256(address)`, the account's key in the trie.
    pub key: B256,
    /// Balance, nonce and code afterwards; none if the account no longer exists.
    pub after: Option<AccountFields>,
    /// Whether the storage that was there before is gone.
    pub storage_wiped: bool,
    /// New values of storage slots; zero clears one.
    pub storage: Vec<(U256, U256)>,
    /// The key of a transaction that the account signed, where its first is among the changes.
    pub public_key: Option<CompressedKey>,
}

/// An account without its storage.
#[derive(Clone, Debug)]
pub struct AccountFields {
    /// Nonce.
    pub nonce: u64,
    /// Balance in wei.
    pub balance: U256,
    /// Hash and code, if they change.
    pub code: Option<(B256, Bytecode)>,
}

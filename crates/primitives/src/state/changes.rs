//! Changes to the state by a block, an edit or a genesis.

use alloy_primitives::{Address, B256, U256};
use revm::bytecode::Bytecode;

use crate::block::CompressedKey;

/// Changes to accounts, each listed once, in the order in which new ones get their account number.
#[derive(Clone, Debug, Default)]
pub struct Changes(pub Vec<AccountChange>);

impl Changes {
    /// Returns the change to the account at `address`.
    pub fn of(&self, address: &Address) -> Option<&AccountChange> {
        self.0.iter().find(|change| change.address == *address)
    }
}

/// The change to one account.
#[derive(Clone, Debug)]
pub struct AccountChange {
    /// The account.
    pub address: Address,
    /// `keccak256(address)`, the account's key in the trie.
    pub key: B256,
    /// Balance, nonce and code afterwards, or `None` if the account no longer exists.
    pub after: Option<AccountFields>,
    /// Whether the previous storage is wiped.
    pub storage_wiped: bool,
    /// New values of storage slots; zero clears a slot.
    pub storage: Vec<(U256, U256)>,
    /// The account's public key, if its first signed transaction is among the changes.
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

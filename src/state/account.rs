//! Accounts and storage slots: what the state's tries hold.

use std::sync::Arc;

use alloy_consensus::constants::{EMPTY_ROOT_HASH, KECCAK_EMPTY};
use alloy_primitives::{Address, B256, U256};
use alloy_rlp::Encodable;
use revm::bytecode::Bytecode;

use super::trie::{Trie, Value};
use crate::block::CompressedKey;

/// One account, as all four interfaces see it.
#[derive(Clone, Debug)]
pub struct Account {
    /// The address, which the trie's key is a hash of.
    pub address: Address,
    /// Cosmos account number: the order of first appearance. It never changes, not even when the account is
    /// destroyed and comes back. [`UNNUMBERED`](Self::UNNUMBERED) if the chain has only heard of the account.
    pub number: u32,
    /// Transactions sent, or, for a contract, contracts created.
    pub nonce: u64,
    /// Balance in the base denomination (wei, `ahpx`).
    pub balance: U256,
    /// The key of the account's first signed transaction.
    pub public_key: Option<Arc<CompressedKey>>,
    /// Code and storage, where there are any.
    pub contract: Option<Arc<Contract>>,
}

/// The part of an account that most accounts lack.
#[derive(Clone, Debug)]
pub struct Contract {
    /// The code, analysed for execution.
    pub code: Bytecode,
    /// The hash of the code.
    pub code_hash: B256,
    /// The storage.
    pub storage: Trie<Slot>,
    /// The root of `storage`.
    pub storage_root: B256,
    /// On a fork: whether the storage is all there is, because it was wiped since, instead of what differs from what lies
    /// beneath.
    pub owns_storage: bool,
}

/// One storage slot. Zero values are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The slot's index, which the trie's key is a hash of.
    pub index: U256,
    /// The value.
    pub value: U256,
}

impl Account {
    /// The number of an account that lies beneath a fork and was not touched since.
    pub const UNNUMBERED: u32 = u32::MAX;

    /// Whether the account lies beneath a fork and was not touched since.
    pub fn is_beneath(&self) -> bool {
        self.number == Self::UNNUMBERED
    }

    /// Whether nothing beneath a fork belongs to the account's storage.
    pub(super) fn owns_storage(&self) -> bool {
        self.contract.as_ref().is_some_and(|contract| contract.owns_storage)
    }

    /// The hash of the account's code.
    pub fn code_hash(&self) -> B256 {
        self.contract.as_ref().map_or(KECCAK_EMPTY, |contract| contract.code_hash)
    }

    /// The root of the account's storage.
    pub fn storage_root(&self) -> B256 {
        self.contract.as_ref().map_or(EMPTY_ROOT_HASH, |contract| contract.storage_root)
    }

    /// The account's code; empty for an externally owned account.
    pub fn code(&self) -> Bytecode {
        self.contract.as_ref().map(|contract| contract.code.clone()).unwrap_or_default()
    }
}

impl Default for Contract {
    fn default() -> Self {
        Self {
            code: Bytecode::default(),
            code_hash: KECCAK_EMPTY,
            storage: Trie::default(),
            storage_root: EMPTY_ROOT_HASH,
            owns_storage: false,
        }
    }
}

impl Value for Account {
    /// `rlp([nonce, balance, storage root, code hash])` (Yellow Paper, 4.1).
    fn encode(&self, out: &mut Vec<u8>) {
        let (root, code_hash) = (self.storage_root(), self.code_hash());
        let payload = self.nonce.length() + self.balance.length() + root.length() + code_hash.length();
        alloy_rlp::Header { list: true, payload_length: payload }.encode(out);
        self.nonce.encode(out);
        self.balance.encode(out);
        root.encode(out);
        code_hash.encode(out);
    }
}

impl Value for Slot {
    fn encode(&self, out: &mut Vec<u8>) {
        self.value.encode(out);
    }
}

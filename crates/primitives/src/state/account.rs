//! Accounts and storage slots, the values of the state's tries.

use std::sync::Arc;

use alloy_consensus::constants::{EMPTY_ROOT_HASH, KECCAK_EMPTY};
use alloy_primitives::{Address, B256, U256};
use alloy_rlp::Encodable;
use revm::bytecode::Bytecode;

use super::{node::Value, trie::Trie};
use crate::block::CompressedKey;

/// An account, with the properties that the interfaces need in addition to those of consensus.
#[derive(Clone, Debug)]
pub struct Account {
    /// The address, whose hash is the trie's key.
    pub address: Address,
    /// Cosmos account number, in the order of first appearance. It never changes, not even when the
    /// account is destroyed and created again. [`UNNUMBERED`](Self::UNNUMBERED) if the account was
    /// only read from the base of a fork.
    pub number: u32,
    /// Number of transactions sent or, for a contract, of contracts created.
    pub nonce: u64,
    /// Balance in the base denomination (wei, `ahpx`).
    pub balance: U256,
    /// The public key of the account's first signed transaction.
    pub public_key: Option<Arc<CompressedKey>>,
    /// Code and storage, if the account has any.
    pub contract: Option<Arc<Contract>>,
}

/// The code and storage of an account, which most accounts lack.
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
    /// On a fork: whether the storage is complete because it was wiped since the fork, instead of
    /// being the difference to the base.
    pub owns_storage: bool,
}

/// One storage slot. Zero values are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The slot's index, whose hash is the trie's key.
    pub index: U256,
    /// The value.
    pub value: U256,
}

impl Account {
    /// The number of an account in the base of a fork that has not changed since.
    pub const UNNUMBERED: u32 = u32::MAX;

    /// Returns whether the account is in the base of a fork and has not changed since.
    pub fn is_beneath(&self) -> bool {
        self.number == Self::UNNUMBERED
    }

    /// Returns the number that clients see: an account that only the forked chain has loaded has
    /// none here.
    pub fn shown_number(&self) -> u64 {
        if self.is_beneath() {
            0
        } else {
            self.number.into()
        }
    }

    /// Returns whether the account's storage is complete without the base of a fork.
    pub(super) fn owns_storage(&self) -> bool {
        self.contract
            .as_ref()
            .is_some_and(|contract| contract.owns_storage)
    }

    /// Returns the hash of the account's code.
    pub fn code_hash(&self) -> B256 {
        self.contract
            .as_ref()
            .map_or(KECCAK_EMPTY, |contract| contract.code_hash)
    }

    /// Returns the root of the account's storage.
    pub fn storage_root(&self) -> B256 {
        self.contract
            .as_ref()
            .map_or(EMPTY_ROOT_HASH, |contract| contract.storage_root)
    }

    /// Returns the account's code, which is empty for an externally owned account.
    pub fn code(&self) -> Bytecode {
        self.contract
            .as_ref()
            .map(|contract| contract.code.clone())
            .unwrap_or_default()
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
    /// Appends `rlp([nonce, balance, storage root, code hash])` (Yellow Paper, 4.1).
    fn encode(&self, out: &mut Vec<u8>) {
        let root = self.storage_root();
        let code_hash = self.code_hash();
        let payload =
            self.nonce.length() + self.balance.length() + root.length() + code_hash.length();
        alloy_rlp::Header {
            list: true,
            payload_length: payload,
        }
        .encode(out);

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

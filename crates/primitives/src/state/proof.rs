//! Merkle proofs of accounts and storage slots (EIP-1186).

use alloy_consensus::constants::{EMPTY_ROOT_HASH, KECCAK_EMPTY};
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};

use super::{
    State, Trie, Value,
    node::{TrieNode, nibble},
    slot_key,
};

/// The proof of an account, or of its absence, against the state root.
#[derive(Clone, Debug)]
pub struct AccountProof {
    /// Trie nodes from the root towards the account.
    pub nodes: Vec<Bytes>,
    /// Balance in wei.
    pub balance: U256,
    /// Nonce.
    pub nonce: u64,
    /// Hash of the code.
    pub code_hash: B256,
    /// Root of the storage.
    pub storage_root: B256,
    /// The proofs of the requested slots.
    pub slots: Vec<SlotProof>,
}

/// The proof of a storage slot against the account's storage root.
#[derive(Clone, Debug)]
pub struct SlotProof {
    /// The slot's index.
    pub index: U256,
    /// Its value, zero by default.
    pub value: U256,
    /// Trie nodes from the storage root towards the slot.
    pub nodes: Vec<Bytes>,
}

impl State {
    /// Proves the account at `address` and some of its storage.
    pub fn prove(&self, address: Address, slots: &[U256]) -> AccountProof {
        let key = keccak256(address);
        let accounts = &self.whole().accounts;
        let nodes = accounts.proof(&key);
        let account = accounts.get(&key);
        let storage = account
            .and_then(|account| account.contract.as_deref())
            .map(|contract| &contract.storage);

        let slots = slots.iter().map(|&index| {
            let key = slot_key(index);
            SlotProof {
                index,
                value: storage
                    .and_then(|trie| trie.get(&key))
                    .map_or(U256::ZERO, |slot| slot.value),
                nodes: storage.map(|trie| trie.proof(&key)).unwrap_or_default(),
            }
        });

        AccountProof {
            nodes,
            slots: slots.collect(),
            balance: account.map_or(U256::ZERO, |account| account.balance),
            nonce: account.map_or(0, |account| account.nonce),
            code_hash: account.map_or(KECCAK_EMPTY, |account| account.code_hash()),
            storage_root: account.map_or(EMPTY_ROOT_HASH, |account| account.storage_root()),
        }
    }
}

impl<V: Value> Trie<V> {
    /// Returns the encoded nodes from the root to `key`, or to the node that proves its absence.
    /// The root must be computed first.
    pub fn proof(&self, key: &B256) -> Vec<Bytes> {
        let mut nodes = Vec::new();
        let mut link = &self.root;
        let mut depth = 0;
        while let Some(node) = link.as_deref() {
            let TrieNode::Branch {
                prefix, children, ..
            } = node
            else {
                node.proof(depth, true, &mut nodes);
                break;
            };

            let through = prefix.common(key, depth) == prefix.len();
            node.proof(depth, through, &mut nodes);
            if !through {
                break;
            }

            depth += prefix.len();
            link = &children[nibble(key, depth)];
            depth += 1;
        }
        nodes.into_iter().map(Bytes::from).collect()
    }
}

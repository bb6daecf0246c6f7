//! The world state as a value: accounts, code and storage under one Merkle root.
//!
//! A [`State`] is immutable once published; a clone is a few pointers and shares everything with the original.
//! Knows nothing of blocks, clocks or input and output.

mod account;
mod builder;
mod changes;
mod codec;
mod node;
mod proof;
mod trie;

use std::sync::Arc;

use alloy_consensus::constants::KECCAK_EMPTY;
use alloy_primitives::{Address, B256, U256, keccak256};

pub use account::{Account, Contract, Slot};
pub use builder::{Piece, StateBuilder, StateError};
pub use changes::{AccountChange, AccountFields, Changes};
pub use proof::{AccountProof, SlotProof};
pub use trie::{Iter, Trie, Value};

use crate::block::CompressedKey;

/// The node layout that the trie's memory figures rest on, see [`node::Node`].
const _: () = assert!(size_of::<node::Node<Account>>() <= 176);

/// Every account at one point of the chain.
#[derive(Clone, Debug, Default)]
pub struct State {
    accounts: Trie<Account>,
    /// Accounts that were destroyed: their number and key stay theirs.
    retired: Trie<Retired>,
    next_number: u32,
    root: Option<B256>,
}

/// What outlives an account.
#[derive(Clone, Debug)]
struct Retired {
    number: u32,
    public_key: Option<Arc<CompressedKey>>,
}

impl Value for Retired {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.number.to_be_bytes());
    }
}

/// A state that execution can read: the trie in memory, or whatever else can answer the same two questions.
pub trait ReadState: Send + Sync {
    /// The account at `address`; `key` is the address' hash, which callers keep.
    fn account(&self, address: &Address, key: &B256) -> Result<Option<Account>, ReadError>;

    /// The value of a storage slot of an account that this state returned.
    fn slot(&self, account: &Account, index: U256) -> Result<U256, ReadError>;

    /// The root that the state would have with these changes. Only a state that holds everything can tell.
    fn root_with(&self, _: &Changes) -> Result<B256, ReadError> {
        Err(ReadError("intermediate roots need the whole state".to_owned()))
    }
}

/// A state could not be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("state is not available: {0}")]
pub struct ReadError(pub String);

impl ReadState for State {
    fn account(&self, _: &Address, key: &B256) -> Result<Option<Account>, ReadError> {
        Ok(self.accounts.get(key).cloned())
    }

    fn slot(&self, account: &Account, index: U256) -> Result<U256, ReadError> {
        Ok(slot(account, index))
    }

    fn root_with(&self, changes: &Changes) -> Result<B256, ReadError> {
        Ok(self.clone().apply(changes))
    }
}

fn slot(account: &Account, index: U256) -> U256 {
    let Some(contract) = account.contract.as_ref().filter(|contract| !contract.storage.is_empty()) else {
        return U256::ZERO;
    };
    contract.storage.get(&slot_key(index)).map_or(U256::ZERO, |slot| slot.value)
}

fn slot_key(index: U256) -> B256 {
    keccak256(index.to_be_bytes::<32>())
}

impl State {
    /// The account at `address`, if it exists.
    pub fn get(&self, address: Address) -> Option<&Account> {
        self.accounts.get(&keccak256(address))
    }

    /// The value of a storage slot; zero where nothing is stored.
    pub fn storage(&self, address: Address, index: U256) -> U256 {
        self.get(address).map_or(U256::ZERO, |account| slot(account, index))
    }

    /// How many accounts exist.
    pub fn len(&self) -> usize {
        self.accounts.len()
    }

    /// Whether no account exists.
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// All accounts, in the order of their hashed addresses.
    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.accounts.iter().map(|(_, account)| account)
    }

    /// The Merkle root as of the last [`apply`](Self::apply).
    pub fn root(&self) -> B256 {
        self.root.unwrap_or(alloy_consensus::constants::EMPTY_ROOT_HASH)
    }

    /// Makes the changes and returns the new root. Costs as much as there are changes, whatever the state's size.
    pub fn apply(&mut self, changes: &Changes) -> B256 {
        self.replay([changes])
    }

    /// The same with several in a row. Nodes are hashed once, whatever number of them touched one.
    pub fn replay<'a>(&mut self, all: impl IntoIterator<Item = &'a Changes>) -> B256 {
        for change in all.into_iter().flat_map(|changes| &changes.0) {
            match &change.after {
                Some(fields) => self.update(change, fields),
                None => self.retire(&change.key),
            }
        }
        *self.root.insert(self.accounts.root())
    }

    fn update(&mut self, change: &AccountChange, fields: &AccountFields) {
        let mut account = match self.accounts.get(&change.key) {
            Some(account) => account.clone(),
            None => self.appear(change),
        };
        account.nonce = fields.nonce;
        account.balance = fields.balance;
        if let (None, Some(key)) = (&account.public_key, change.public_key) {
            account.public_key = Some(Arc::new(key));
        }
        if change.storage_wiped || !change.storage.is_empty() || fields.code.is_some() {
            account.contract = changed_contract(account.contract.take(), change, fields);
        }
        self.accounts.insert(change.key, account);
    }

    /// An account that is new, or back.
    fn appear(&mut self, change: &AccountChange) -> Account {
        let (number, public_key) = match self.retired.remove(&change.key) {
            Some(retired) => (retired.number, retired.public_key),
            None => {
                self.next_number += 1;
                (self.next_number - 1, None)
            }
        };
        Account { address: change.address, number, nonce: 0, balance: U256::ZERO, public_key, contract: None }
    }

    fn retire(&mut self, key: &B256) {
        if let Some(Account { number, public_key, .. }) = self.accounts.remove(key) {
            self.retired.insert(*key, Retired { number, public_key });
        }
    }
}

/// The contract after a change of code or storage; none if neither is left.
fn changed_contract(
    before: Option<Arc<Contract>>,
    change: &AccountChange,
    fields: &AccountFields,
) -> Option<Arc<Contract>> {
    let mut contract = before.unwrap_or_default();
    let edited = Arc::make_mut(&mut contract);
    if let Some((hash, code)) = &fields.code {
        edited.code_hash = *hash;
        edited.code = code.clone();
    }
    if change.storage_wiped {
        edited.storage = Trie::default();
    }
    for &(index, value) in &change.storage {
        let key = slot_key(index);
        if value.is_zero() {
            edited.storage.remove(&key);
        } else {
            edited.storage.insert(key, Slot { index, value });
        }
    }
    edited.storage_root = edited.storage.root();
    (edited.code_hash != KECCAK_EMPTY || !edited.storage.is_empty()).then_some(contract)
}

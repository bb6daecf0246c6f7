//! The world state as a value: accounts, code and storage under one Merkle root.
//!
//! A [`State`] is immutable once published; a clone is a few pointers and shares everything with
//! the original. Knows nothing of blocks, clocks or I/O.
//!
//! In addition to the trie:
//!
//! - An account's leaf carries two fields that consensus does not hash: the account's number, and
//!   the first public key seen. They are therefore part of snapshots and reverts.
//! - A state that is not held whole is an older one with the changes since (`deferred.rs`).
//!   Accounts and slots are searched in the changes, which are applied only for a proof or a root.
//! - A forked state has a [`Base`], from which it reads the accounts and slots that it does not
//!   hold. A change to an account of the base is complete, and zero slots and destroyed accounts
//!   are held. So values of the base never reappear, and applying changes needs no request to the
//!   other node.
//!
//! Account numbers are assigned in the order in which a block first loads accounts, ties by
//! address, so that every replay of the block assigns the same numbers. They survive the account's
//! destruction.

mod account;
mod base;
mod builder;
mod changes;
mod codec;
mod deferred;
mod later;
mod node;
mod proof;
mod trie;

use std::{borrow::Cow, sync::Arc};

use alloy_consensus::constants::KECCAK_EMPTY;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use revm::context_interface::DBErrorMarker;

pub use account::{Account, Contract, Slot};
pub use base::{Base, TracedCall, Wanted};
pub use builder::{StateBuilder, StateError};
pub use changes::{AccountChange, AccountFields, Changes};
pub use codec::bytecode;
pub use later::{AccountPart, LaterState};
pub use node::Value;
pub use proof::AccountProof;
pub use trie::Trie;

use self::deferred::Deferred;
use crate::block::{CompressedKey, cosmos::CosmosError};

/// Checks the size of a node, see [`node::TrieNode`].
const _: () = assert!(size_of::<node::TrieNode<Account>>() <= 176);

/// The state of all accounts at one point of the chain.
///
/// A forked state holds the accounts and slots that changed since the fork and reads all others
/// from its [`Base`]. Its roots are those of the accounts and slots that it holds.
#[derive(Clone, Debug, Default)]
pub struct State {
    accounts: Trie<Account>,
    /// Destroyed accounts, which keep their number and public key.
    retired: Trie<Retired>,
    next_number: u32,
    root: Option<B256>,
    base: Option<Arc<dyn Base>>,
    /// The state, in place of the tries, if changes to it are not applied yet.
    deferred: Option<Arc<Deferred>>,
}

/// The properties of a destroyed account that a new one at its address inherits.
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

/// A state that execution can read: the trie in memory, or another source of accounts and slots.
pub trait ReadState: Send + Sync {
    /// Returns the account at `address`; `key` is the address's hash, which callers cache.
    fn account(&self, address: &Address, key: &B256) -> Result<Option<Account>, ReadError>;

    /// Returns the value of a storage slot of an account that this state returned.
    fn slot(&self, account: &Account, index: U256) -> Result<U256, ReadError>;

    /// Returns whether the state has a base, so that changes must be complete for the accounts that
    /// they touch.
    fn is_forked(&self) -> bool {
        false
    }

    /// Returns whether another node is asked for what is not at hand.
    fn is_remote(&self) -> bool {
        false
    }

    /// Returns the account at `address`, unless the base has to ask for it.
    fn account_at_hand(
        &self,
        address: &Address,
        key: &B256,
    ) -> Result<Option<Option<Account>>, ReadError> {
        self.account(address, key).map(Some)
    }

    /// Returns the value of a storage slot of an account that this state returned, unless the base
    /// has to ask for it.
    fn slot_at_hand(&self, account: &Account, index: U256) -> Result<Option<U256>, ReadError> {
        self.slot(account, index).map(Some)
    }

    /// Returns those of these accounts and slots that another node would have to be asked for.
    fn not_at_hand(&self, wanted: &[Wanted]) -> Vec<Wanted> {
        wanted
            .iter()
            .filter(|wanted| is_missing(self, wanted))
            .copied()
            .collect()
    }

    /// Has the base ask for all of this at once; see [`Base::fetch`].
    fn fetch(&self, _: &[Wanted], _: Option<&TracedCall>) -> Result<(), ReadError> {
        Ok(())
    }

    /// Returns the root that the state would have with these changes. Only a state that holds all
    /// accounts can compute it.
    fn root_with(&self, _: &Changes) -> Result<B256, ReadError> {
        Err(ReadError(
            "intermediate roots need the whole state".to_owned(),
        ))
    }
}

/// Whether another node would have to be asked for a part of a state.
fn is_missing<S: ReadState + ?Sized>(state: &S, wanted: &Wanted) -> bool {
    match wanted {
        Wanted::Account(address) => {
            let account = state.account_at_hand(address, &keccak256(address));
            matches!(account, Ok(None))
        }
        Wanted::Slot(address, index) => {
            match state.account_at_hand(address, &keccak256(address)) {
                Ok(Some(Some(account))) => matches!(state.slot_at_hand(&account, *index), Ok(None)),
                Ok(None) => true,
                // Without an account there is no slot, and after a failure there is nothing to ask.
                Ok(Some(None)) | Err(_) => false,
            }
        }
        // A state has no blocks.
        Wanted::BlockHash(_) => true,
    }
}

/// The error of reading a state.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, thiserror::Error)]
#[error("state is not available: {0}")]
pub struct ReadError(pub String);

impl DBErrorMarker for ReadError {}

impl From<ReadError> for CosmosError {
    fn from(error: ReadError) -> Self {
        Self::logic(error)
    }
}

impl ReadState for State {
    fn account(&self, address: &Address, key: &B256) -> Result<Option<Account>, ReadError> {
        self.readable(address, key)
            .map(|account| account.map(Cow::into_owned))
    }

    fn slot(&self, account: &Account, index: U256) -> Result<U256, ReadError> {
        if let Some(deferred) = &self.deferred {
            return deferred.slot(&account.address, index);
        }
        match (held_slot(account, index), &self.base) {
            (Some(value), _) => Ok(value),
            (None, Some(base)) if !account.owns_storage() => base.slot(&account.address, index),
            (None, _) => Ok(U256::ZERO),
        }
    }

    fn is_forked(&self) -> bool {
        self.base.is_some()
    }

    fn is_remote(&self) -> bool {
        self.base.as_ref().is_some_and(|base| base.is_remote())
    }

    fn account_at_hand(
        &self,
        address: &Address,
        key: &B256,
    ) -> Result<Option<Option<Account>>, ReadError> {
        match (&self.base, &self.deferred) {
            (Some(base), None) if self.is_beneath(key) => base.account_at_hand(address),
            _ => self.account(address, key).map(Some),
        }
    }

    fn slot_at_hand(&self, account: &Account, index: U256) -> Result<Option<U256>, ReadError> {
        match (&self.base, &self.deferred) {
            (Some(base), None)
                if held_slot(account, index).is_none() && !account.owns_storage() =>
            {
                base.slot_at_hand(&account.address, index)
            }
            _ => self.slot(account, index).map(Some),
        }
    }

    fn fetch(&self, wanted: &[Wanted], execution: Option<&TracedCall>) -> Result<(), ReadError> {
        match &self.base {
            Some(base) => base.fetch(wanted, execution),
            None => Ok(()),
        }
    }

    fn root_with(&self, changes: &Changes) -> Result<B256, ReadError> {
        Ok(self.clone().apply(changes))
    }
}

fn held_slot(account: &Account, index: U256) -> Option<U256> {
    let contract = account
        .contract
        .as_ref()
        .filter(|contract| !contract.storage.is_empty())?;
    contract
        .storage
        .get(&slot_key(index))
        .map(|slot| slot.value)
}

fn slot_key(index: U256) -> B256 {
    keccak256(index.to_be_bytes::<32>())
}

impl State {
    /// Returns a state without changes on top of a base.
    pub fn forked(base: Arc<dyn Base>) -> Self {
        Self {
            base: Some(base),
            ..Self::default()
        }
    }

    /// Returns the state that `changes` lead to. Single accounts and slots are found in the
    /// changes, one after another, which are applied when anything else is read.
    pub fn deferred(before: Self, changes: Vec<Arc<Changes>>) -> Self {
        let base = before.base.clone();
        Self {
            base,
            deferred: Some(Arc::new(Deferred::new(before.into_whole(), changes))),
            ..Self::default()
        }
    }

    /// Returns the same state with all changes applied.
    pub fn into_whole(mut self) -> Self {
        self.apply_deferred();
        self
    }

    fn apply_deferred(&mut self) {
        if let Some(deferred) = self.deferred.take() {
            *self = deferred.whole().clone();
        }
    }

    /// Returns the state with all changes applied.
    fn whole(&self) -> &Self {
        self.deferred
            .as_ref()
            .map_or(self, |deferred| deferred.whole())
    }

    /// Returns the base of a forked state.
    pub fn base(&self) -> Option<&Arc<dyn Base>> {
        self.base.as_ref()
    }

    /// Returns the account at `address`, if it exists.
    ///
    /// # Errors
    /// If the base of a forked state fails. Reading other states never fails.
    pub fn get(&self, address: Address) -> Result<Option<Cow<'_, Account>>, ReadError> {
        self.whole().readable(&address, &keccak256(address))
    }

    /// Returns the account at `address` with its code, and possibly without its storage.
    fn readable(
        &self,
        address: &Address,
        key: &B256,
    ) -> Result<Option<Cow<'_, Account>>, ReadError> {
        match (self.accounts.get(key), &self.deferred) {
            (Some(account), _) => Ok(Some(Cow::Borrowed(account))),
            (None, Some(deferred)) => Ok(deferred.account(address, key)?.map(Cow::Owned)),
            (None, None) => Ok(self.account_beneath(address, key)?.map(Cow::Owned)),
        }
    }

    /// Returns the balance of an account in wei.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn balance(&self, address: Address) -> Result<U256, ReadError> {
        Ok(self
            .readable(&address, &keccak256(address))?
            .map_or(U256::ZERO, |account| account.balance))
    }

    /// Returns the nonce of an account's next transaction.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn nonce(&self, address: Address) -> Result<u64, ReadError> {
        Ok(self
            .readable(&address, &keccak256(address))?
            .map_or(0, |account| account.nonce))
    }

    /// Returns the code of an account, which is empty for an externally owned account.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn code(&self, address: Address) -> Result<Bytes, ReadError> {
        let account = self.readable(&address, &keccak256(address))?;
        Ok(account
            .map(|account| account.code().original_bytes())
            .unwrap_or_default())
    }

    /// Returns the value of a storage slot, zero by default.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn storage(&self, address: Address, index: U256) -> Result<U256, ReadError> {
        self.readable(&address, &keccak256(address))?
            .map_or(Ok(U256::ZERO), |account| self.slot(&account, index))
    }

    /// Returns an account from the base, unless it was destroyed since the fork.
    fn account_beneath(&self, address: &Address, key: &B256) -> Result<Option<Account>, ReadError> {
        match &self.base {
            Some(base) if self.retired.get(key).is_none() => base.account(address),
            _ => Ok(None),
        }
    }

    /// Returns whether an account that a base may have is not held here, and was not destroyed.
    fn is_beneath(&self, key: &B256) -> bool {
        self.accounts.get(key).is_none() && self.retired.get(key).is_none()
    }

    /// Returns the number of accounts that the state holds.
    pub fn len(&self) -> usize {
        self.whole().accounts.len()
    }

    /// Returns whether the state holds no account.
    pub fn is_empty(&self) -> bool {
        self.whole().accounts.is_empty()
    }

    /// Iterates over the accounts that the state holds, in the order of their hashed addresses.
    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.keyed_accounts().map(|(_, account)| account)
    }

    /// Iterates over the accounts that the state holds and their hashed addresses, in the order of
    /// these.
    pub fn keyed_accounts(&self) -> impl Iterator<Item = (&B256, &Account)> {
        self.whole().accounts.iter()
    }

    /// Returns the Merkle root as of the last [`apply`](Self::apply).
    pub fn root(&self) -> B256 {
        self.whole()
            .root
            .unwrap_or(alloy_consensus::constants::EMPTY_ROOT_HASH)
    }

    /// Applies changes and returns the new root. The cost depends on the number of changes, not on
    /// the state's size.
    pub fn apply(&mut self, changes: &Changes) -> B256 {
        self.replay([changes])
    }

    /// Applies several sets of changes in order and returns the new root. Each changed node is
    /// hashed only once.
    pub fn replay<'a>(&mut self, all: impl IntoIterator<Item = &'a Changes>) -> B256 {
        self.apply_deferred();
        for change in all.into_iter().flat_map(|changes| &changes.0) {
            match &change.after {
                Some(fields) => self.update(change, fields),
                None => self.retire(change.key),
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

        // An address has only one key, so that the first one stays.
        if let (None, Some(key)) = (&account.public_key, change.public_key) {
            account.public_key = Some(Arc::new(key));
        }

        if change.storage_wiped || !change.storage.is_empty() || fields.code.is_some() {
            account.contract =
                changed_contract(account.contract.take(), change, fields, self.base.is_some());
        }
        self.accounts.insert(change.key, account);
    }

    /// Creates an account, or re-creates a destroyed one.
    fn appear(&mut self, change: &AccountChange) -> Account {
        let (number, public_key, contract) = match self.retired.remove(&change.key) {
            // The base may have storage of the destroyed account, which must not reappear.
            Some(Retired { number, public_key }) => {
                let contract = self.base.is_some().then(|| {
                    Arc::new(Contract {
                        owns_storage: true,
                        ..Contract::default()
                    })
                });
                (number, public_key, contract)
            }
            None => (self.take_number(), None, None),
        };

        Account {
            address: change.address,
            number,
            nonce: 0,
            balance: U256::ZERO,
            public_key,
            contract,
        }
    }

    fn retire(&mut self, key: B256) {
        match self.accounts.remove(&key) {
            Some(Account {
                number, public_key, ..
            }) => {
                self.retired.insert(key, Retired { number, public_key });
            }
            // The account was in the base.
            None if self.base.is_some() && self.retired.get(&key).is_none() => {
                let number = self.take_number();
                self.retired.insert(
                    key,
                    Retired {
                        number,
                        public_key: None,
                    },
                );
            }
            None => {}
        }
    }

    fn take_number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number - 1
    }
}

/// Returns the contract after a change of code or storage, or `None` if neither is left. On a fork,
/// zero slots are held, as otherwise the base's value would reappear.
fn changed_contract(
    before: Option<Arc<Contract>>,
    change: &AccountChange,
    fields: &AccountFields,
    forked: bool,
) -> Option<Arc<Contract>> {
    let mut contract = before.unwrap_or_default();
    let edited = Arc::make_mut(&mut contract);

    if let Some((hash, code)) = &fields.code {
        edited.code_hash = *hash;
        edited.code = code.clone();
    }

    if change.storage_wiped {
        edited.storage = Trie::default();
        edited.owns_storage = forked;
    }

    for &(index, value) in &change.storage {
        let key = slot_key(index);
        // On a fork a zero has to hide the value of the base.
        if value.is_zero() && (!forked || edited.owns_storage) {
            edited.storage.remove(&key);
        } else {
            edited.storage.insert(key, Slot { index, value });
        }
    }

    edited.storage_root = edited.storage.root();
    (edited.code_hash != KECCAK_EMPTY || !edited.storage.is_empty() || edited.owns_storage)
        .then_some(contract)
}

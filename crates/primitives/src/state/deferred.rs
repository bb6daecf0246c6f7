//! A state whose latest changes are applied only if a request needs more than single accounts and
//! slots.

use std::sync::{Arc, OnceLock};

use alloy_consensus::constants::KECCAK_EMPTY;
use alloy_primitives::{Address, B256, U256};

use super::{
    Account, AccountChange, AccountPart, Changes, LaterState, ReadError, ReadState, State,
};

/// A whole state, and changes to it in their order.
#[derive(Debug)]
pub(super) struct Deferred {
    before: State,
    changes: Vec<Arc<Changes>>,
    /// The state with the changes, once something has needed it.
    whole: OnceLock<State>,
}

impl Deferred {
    pub(super) fn new(before: State, changes: Vec<Arc<Changes>>) -> Self {
        Self {
            before,
            changes,
            whole: OnceLock::new(),
        }
    }

    /// Returns the state with all changes.
    pub(super) fn whole(&self) -> &State {
        self.whole.get_or_init(|| {
            let mut state = self.before.clone();
            state.replay(self.changes.iter().map(|changes| &**changes));
            state
        })
    }

    /// Returns the account at `address` with its code, and possibly without its storage.
    pub(super) fn account(
        &self,
        address: &Address,
        key: &B256,
    ) -> Result<Option<Account>, ReadError> {
        if let Some(whole) = self.whole.get() {
            return whole.account(address, key);
        }

        let account = self.later_account(address)?;
        // Whether such an account has storage matters (EIP-7610), and only its trie can tell.
        let is_bare = |account: &Account| account.nonce == 0 && account.code_hash() == KECCAK_EMPTY;
        match &account {
            Some(bare) if is_bare(bare) && self.had_storage(address)? => {
                self.whole().account(address, key)
            }
            _ => Ok(account),
        }
    }

    /// Returns the value of a storage slot, zero by default.
    pub(super) fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError> {
        match self.whole.get() {
            Some(whole) => whole.storage(*address, index),
            None => self.later_slot(address, index),
        }
    }

    /// Returns whether the account at `address` ever had storage, as far as is known.
    fn had_storage(&self, address: &Address) -> Result<bool, ReadError> {
        let stored = |change: &AccountChange| (!change.storage.is_empty()).then_some(());
        Ok(self
            .earlier_account(address)?
            .is_some_and(|account| account.contract.is_some())
            || self
                .newest(address, AccountPart::Storage, stored)?
                .is_some())
    }
}

impl LaterState for Deferred {
    type Error = ReadError;

    fn earlier_account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        Ok(self
            .before
            .get(*address)?
            .map(|account| account.into_owned()))
    }

    fn earlier_slot(&self, address: &Address, index: U256) -> Result<U256, ReadError> {
        self.before.storage(*address, index)
    }

    fn newest<T>(
        &self,
        address: &Address,
        _: AccountPart,
        says: impl Fn(&AccountChange) -> Option<T>,
    ) -> Result<Option<(u64, T)>, ReadError> {
        let mut newest_first = self.changes.iter().enumerate().rev();
        Ok(newest_first.find_map(|(at, changes)| Some((at as u64, says(changes.of(address)?)?))))
    }
}

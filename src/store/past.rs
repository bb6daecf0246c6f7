//! The state as it was at any height of the log, read piece by piece: of everything that is asked for, the newest entry
//! that changed it, or else the oldest checkpoint.

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};
use revm::bytecode::Bytecode;

use super::{CheckpointError, History, key::StateKey};
use crate::{
    log::{Entry, LogError},
    state::{Account, AccountChange, Contract, State},
};

/// The past cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PastError {
    /// The log or its index.
    #[error(transparent)]
    Log(#[from] LogError),
    /// What the log begins on.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// A state of the past. What is taken back after it was made does not change it.
pub struct Past {
    history: Arc<History>,
    /// Entries below this height count.
    below: u64,
    /// Those in between do not: heights of reverts, and what they go back to.
    reverts: Vec<(u64, u64)>,
    /// The state that the log begins on.
    beginning: Arc<State>,
}

/// What became of an account's code, or of the account.
enum Code {
    Gone,
    Now(B256, Bytecode),
}

impl Past {
    /// The state that the entries below a height led to.
    pub fn below(history: Arc<History>, height: u64) -> Result<Self, PastError> {
        let beginning = history.beginning()?;
        Ok(Self { reverts: history.reverts(), history, below: height, beginning })
    }

    /// The account at `address` with its code, if it existed. Its storage is asked for slot by slot.
    pub fn account(&self, address: &Address) -> Result<Option<Account>, PastError> {
        let first = || self.beginning.get(*address).cloned();
        let changed = self.newest(StateKey::account(address), address, |change| Some(change.after.clone()))?;
        let mut account = match changed {
            Some((_, None)) => return Ok(None),
            Some((_, Some(fields))) => {
                let (nonce, balance) = (fields.nonce, fields.balance);
                let contract = first().and_then(|account| account.contract);
                Account { address: *address, number: 0, nonce, balance, public_key: None, contract }
            }
            None => match first() {
                Some(account) => account,
                None => return Ok(None),
            },
        };
        let code = self.newest(StateKey::code(address), address, |change| match &change.after {
            None => Some(Code::Gone),
            Some(fields) => fields.code.clone().map(|(hash, code)| Code::Now(hash, code)),
        })?;
        account.contract = match (code, account.contract) {
            (Some((_, Code::Now(code_hash, code))), _) => Some((code_hash, code)),
            (Some((_, Code::Gone)), _) | (None, None) => None,
            (None, Some(contract)) => Some((contract.code_hash, contract.code.clone())),
        }
        .map(|(code_hash, code)| Arc::new(Contract { code_hash, code, ..Contract::default() }));
        Ok(Some(account))
    }

    /// The value of a storage slot; zero where nothing was stored.
    pub fn slot(&self, address: &Address, index: U256) -> Result<U256, PastError> {
        let value = |change: &AccountChange| {
            let stored = change.storage.iter().find(|(own, _)| *own == index);
            stored.map(|(_, value)| *value)
        };
        let set = self.newest(StateKey::slot(address, index), address, value)?;
        let is_new = |change: &AccountChange| (change.after.is_none() || change.storage_wiped).then_some(());
        let wiped = self.newest(StateKey::storage(address), address, is_new)?;
        Ok(match (set, wiped) {
            (Some((at, value)), Some((wiped, ()))) if at >= wiped => value,
            (Some((_, value)), None) => value,
            (_, Some(_)) => U256::ZERO,
            (None, None) => self.beginning.storage(*address, index),
        })
    }

    /// The hash of a block of that time.
    pub fn block_hash(&self, number: u64) -> Option<B256> {
        let height = self.history.height_of(number).filter(|height| *height < self.below)?;
        self.history.block(number).filter(|_| !self.is_void(height)).map(|block| block.hash)
    }

    /// What the newest entry that counts says under a key, and its height. Other things may have the same key.
    fn newest<T>(
        &self,
        key: StateKey,
        address: &Address,
        says: impl Fn(&AccountChange) -> Option<T>,
    ) -> Result<Option<(u64, T)>, PastError> {
        let mut below = self.below;
        while let Some(location) = self.history.version(key, below)? {
            below = location.height;
            if self.is_void(below) {
                continue;
            }
            let (Entry::Block { changes, .. } | Entry::Edit { changes, .. }) = self.history.entry(location)? else {
                continue;
            };
            let change = changes.0.iter().find(|change| change.address == *address);
            if let Some(said) = change.and_then(&says) {
                return Ok(Some((below, said)));
            }
        }
        Ok(None)
    }

    fn is_void(&self, height: u64) -> bool {
        self.reverts.iter().any(|(at, to)| (*to..*at).contains(&height))
    }
}

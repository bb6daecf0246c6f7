//! Historical states, read from disk on demand: each account or slot comes from the newest entry that changed it, or
//! else from the oldest checkpoint. States before that checkpoint are not available.

use std::{fmt, sync::Arc};

use alloy_primitives::{Address, B256, U256};
use revm::bytecode::Bytecode;

use super::{Checkpoint, CheckpointError, History, key::StateKey};
use crate::{
    log::{LogEntry, LogError},
    state::{Account, AccountChange, Base, Contract, ReadError},
};

/// An error of reading a historical state.
#[derive(Debug, thiserror::Error)]
pub enum OldStateError {
    /// The log or its index cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The base of the oldest checkpoint's state cannot be read.
    #[error(transparent)]
    Beneath(#[from] ReadError),
    /// The oldest checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// A historical state. Later reverts do not change it.
pub struct OldState {
    history: Arc<History>,
    /// The height of the state: it includes the entries below, as far as they were in effect when the log ended here.
    below: u64,
    /// The checkpoint on which these entries are based.
    beginning: Arc<Checkpoint>,
}

/// A change of an account's code.
enum Code {
    Gone,
    Now(B256, Bytecode),
}

impl OldState {
    /// Returns the state after the entries below a height, or `None` if it is older than the oldest checkpoint.
    pub fn below(history: Arc<History>, height: u64) -> Result<Option<Self>, OldStateError> {
        let beginning = history.beginning()?;
        Ok((beginning.height <= height).then_some(Self { history, below: height, beginning }))
    }

    /// Returns the state on which the block with this number ran, or `None` if it is older than the oldest checkpoint.
    pub fn before(history: Arc<History>, number: u64) -> Result<Option<Self>, OldStateError> {
        history.height_of(number).map_or(Ok(None), |height| Self::below(history, height))
    }

    /// Returns the account at `address` with its code but without its storage, if it existed.
    pub fn account(&self, address: &Address) -> Result<Option<Account>, OldStateError> {
        let first = self.beginning.state.get(*address)?;
        let changed = self.newest(StateKey::account(address), address, |change| Some(change.after.clone()))?;
        let mut account = match changed {
            Some((_, None)) => return Ok(None),
            Some((_, Some(fields))) => {
                let (nonce, balance) = (fields.nonce, fields.balance);
                let contract = first.and_then(|account| account.contract.clone());
                let number = Account::UNNUMBERED;
                Account { address: *address, number, nonce, balance, public_key: None, contract }
            }
            None => match first {
                Some(account) => Account { number: Account::UNNUMBERED, ..account.into_owned() },
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

    /// Returns the value of a storage slot, zero by default.
    pub fn slot(&self, address: &Address, index: U256) -> Result<U256, OldStateError> {
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
            (None, None) => self.beginning.state.storage(*address, index)?,
        })
    }

    /// Returns the hash of the block that was canonical at this state.
    pub fn block_hash(&self, number: u64) -> Option<B256> {
        self.history.block_below(number, self.below).map(|block| block.hash)
    }

    /// Returns the value that `says` extracts from the newest change under a key, and its height. Changes of colliding
    /// keys are skipped.
    fn newest<T>(
        &self,
        key: StateKey,
        address: &Address,
        says: impl Fn(&AccountChange) -> Option<T>,
    ) -> Result<Option<(u64, T)>, OldStateError> {
        let mut below = self.below;
        while let Some(height) = self.history.version(key, below, self.below)? {
            below = height;
            if below < self.beginning.height {
                break;
            }
            let (LogEntry::Block { changes, .. } | LogEntry::Edit { changes, .. }) = self.history.entry(height)? else {
                continue;
            };
            let change = changes.0.iter().find(|change| change.address == *address);
            if let Some(said) = change.and_then(&says) {
                return Ok(Some((below, said)));
            }
        }
        Ok(None)
    }
}

impl Base for OldState {
    fn account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        self.account(address).map_err(|error| ReadError(error.to_string()))
    }

    fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError> {
        self.slot(address, index).map_err(|error| ReadError(error.to_string()))
    }

    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError> {
        Ok(self.block_hash(number))
    }
}

impl fmt::Debug for OldState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OldState").field("below", &self.below).finish_non_exhaustive()
    }
}

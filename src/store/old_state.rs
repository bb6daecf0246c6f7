//! The state as it was at any height of the log, read piece by piece: of everything that is asked for, the newest entry
//! that changed it, or else the oldest checkpoint. Before that one nothing is known.

use std::{fmt, sync::Arc};

use alloy_primitives::{Address, B256, U256};
use revm::bytecode::Bytecode;

use super::{Checkpoint, CheckpointError, History, key::StateKey};
use crate::{
    log::{Entry, LogError},
    state::{Account, AccountChange, Base, Contract, ReadError},
};

/// The past cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OldStateError {
    /// The log or its index.
    #[error(transparent)]
    Log(#[from] LogError),
    /// What lies beneath the state that the log begins on.
    #[error(transparent)]
    Beneath(#[from] ReadError),
    /// What the log begins on.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// A state of the past. What is taken back after it was made does not change it.
pub struct OldState {
    history: Arc<History>,
    /// Entries below this height count, as far as they did when the log had no others.
    below: u64,
    /// What they lead on from.
    beginning: Arc<Checkpoint>,
}

/// What became of an account's code, or of the account.
enum CodeChange {
    Gone,
    Now(B256, Bytecode),
}

impl OldState {
    /// The state that the entries below a height led to; none if it is older than the oldest checkpoint.
    pub fn below(history: Arc<History>, height: u64) -> Result<Option<Self>, OldStateError> {
        let beginning = history.beginning()?;
        Ok((beginning.height <= height).then_some(Self { history, below: height, beginning }))
    }

    /// The state after the block with this number; none if nothing reaches back that far.
    pub fn after(history: Arc<History>, number: u64) -> Result<Option<Self>, OldStateError> {
        if let Some(height) = history.height_of(number) {
            return Self::below(history, height + 1);
        }
        // The block before those of the log, unless development methods changed the state after it.
        let beginning = history.beginning()?;
        let own = beginning.block.number() == number && beginning.is_after_block();
        Ok(own.then(|| Self { below: beginning.height, history, beginning }))
    }

    /// The state on which the block with this number ran; none if nothing reaches back that far.
    pub fn before(history: Arc<History>, number: u64) -> Result<Option<Self>, OldStateError> {
        history.height_of(number).map_or(Ok(None), |height| Self::below(history, height))
    }

    /// The account at `address` with its code, if it existed. Its storage is asked for slot by slot.
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
            None => Some(CodeChange::Gone),
            Some(fields) => fields.code.clone().map(|(hash, code)| CodeChange::Now(hash, code)),
        })?;
        account.contract = match (code, account.contract) {
            (Some((_, CodeChange::Now(code_hash, code))), _) => Some((code_hash, code)),
            (Some((_, CodeChange::Gone)), _) | (None, None) => None,
            (None, Some(contract)) => Some((contract.code_hash, contract.code.clone())),
        }
        .map(|(code_hash, code)| Arc::new(Contract { code_hash, code, ..Contract::default() }));
        Ok(Some(account))
    }

    /// The value of a storage slot; zero where nothing was stored.
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

    /// The hash of a block of that time.
    pub fn block_hash(&self, number: u64) -> Option<B256> {
        self.history.block_below(number, self.below).map(|block| block.hash)
    }

    /// What the newest entry that counts says under a key, and its height. Other things may have the same key.
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
            let (Entry::Block { changes, .. } | Entry::Edit { changes, .. }) = self.history.entry(height)? else {
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

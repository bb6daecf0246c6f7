//! Historical states, read from disk on demand: each account or slot comes from the newest entry
//! that changed it, or else from the oldest checkpoint. States before that checkpoint are not
//! available.

use std::{fmt, sync::Arc};

use alloy_primitives::{Address, B256, U256};
use tetrad_primitives::state::{Account, AccountChange, AccountPart, Base, LaterState, ReadError};

use super::{Checkpoint, CheckpointError, DiskHistory, key::StateKey};
use crate::log::{LogEntry, LogError};

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
    history: Arc<DiskHistory>,
    /// The height of the state: it includes the entries below, as far as they were in effect when
    /// the log ended here.
    below: u64,
    /// The checkpoint on which these entries are based.
    beginning: Arc<Checkpoint>,
}

impl OldState {
    /// Returns the state after the entries below a height, or `None` if it is older than the oldest
    /// checkpoint.
    pub fn below(history: Arc<DiskHistory>, height: u64) -> Result<Option<Self>, OldStateError> {
        let beginning = history.beginning()?;
        Ok((beginning.height <= height).then_some(Self {
            history,
            below: height,
            beginning,
        }))
    }

    /// Returns the state on which the block with this number ran, or `None` if it is older than the
    /// oldest checkpoint.
    pub fn before(history: Arc<DiskHistory>, number: u64) -> Result<Option<Self>, OldStateError> {
        history
            .height_of(number)
            .map_or(Ok(None), |height| Self::below(history, height))
    }

    /// Returns the hash of the block that was canonical at this state.
    pub fn block_hash(&self, number: u64) -> Option<B256> {
        self.history
            .block_below(number, self.below)
            .map(|block| block.hash)
    }
}

impl LaterState for OldState {
    type Error = OldStateError;

    fn earlier_account(&self, address: &Address) -> Result<Option<Account>, OldStateError> {
        let account = self.beginning.state.get(*address)?;
        Ok(account.map(|account| Account {
            number: Account::UNNUMBERED,
            ..account.into_owned()
        }))
    }

    fn earlier_slot(&self, address: &Address, index: U256) -> Result<U256, OldStateError> {
        Ok(self.beginning.state.storage(*address, index)?)
    }

    /// Returns positions that are heights. Changes of colliding keys are skipped.
    fn newest<T>(
        &self,
        address: &Address,
        part: AccountPart,
        says: impl Fn(&AccountChange) -> Option<T>,
    ) -> Result<Option<(u64, T)>, OldStateError> {
        let key = StateKey::of(address, part);
        let mut below = self.below;
        while let Some(height) = self.history.version(key, below, self.below)? {
            below = height;
            // The checkpoint includes older changes.
            if below < self.beginning.height {
                break;
            }

            let (LogEntry::Block { changes, .. } | LogEntry::Edit { changes, .. }) =
                self.history.entry(height)?
            else {
                continue;
            };

            if let Some(said) = changes.of(address).and_then(&says) {
                return Ok(Some((below, said)));
            }
        }
        Ok(None)
    }
}

impl Base for OldState {
    fn account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        self.later_account(address)
            .map_err(|error| ReadError(error.to_string()))
    }

    fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError> {
        self.later_slot(address, index)
            .map_err(|error| ReadError(error.to_string()))
    }

    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError> {
        Ok(self.block_hash(number))
    }
}

impl fmt::Debug for OldState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OldState")
            .field("below", &self.below)
            .finish_non_exhaustive()
    }
}

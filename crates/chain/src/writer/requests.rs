//! The latest requests, as the log has them, so that one that is sent again is not made twice.
//!
//! A change has a random id, which its entries carry with the number of those still to come
//! (`RequestPart`). A leader that finds the id in the log answers as the first time, or mines the
//! blocks that are missing. Blocks that were removed by a reorganisation and not all replaced are
//! restored by the next leader.

use std::collections::VecDeque;

use tetrad_store::log::{LogEntry, LogError, RequestPart, StoredEntry};

use super::change::{Change, ChangeOutcome};

/// Number of requests that are remembered.
const REMEMBERED: usize = 1_024;

/// The progress of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    id: u64,
    /// Height of its first entry.
    pub(super) begins: u64,
    /// Number of its entries that are still to be made.
    pub(super) left: u64,
    /// The id of the snapshot that it has taken.
    snapshot: Option<u64>,
    /// The number that answers it.
    answer: i64,
    /// Whether its first entry replaces blocks by others.
    replaces: bool,
    /// Height of its last entry so far.
    last: u64,
}

impl Progress {
    /// Returns the outcome of the request, which was for this change, or `None` if it has to be
    /// made, or made again because that changes nothing.
    pub(super) fn outcome(&self, change: &Change) -> Option<ChangeOutcome> {
        if self.left > 0 {
            return None;
        }
        match change {
            Change::Snapshot { .. } => self.snapshot.map(ChangeOutcome::Snapshot),
            Change::IncreaseTime(_) | Change::SetTime(_) => {
                Some(ChangeOutcome::Seconds(self.answer))
            }
            Change::SetBlockInterval(_) => Some(ChangeOutcome::Found(self.answer != 0)),
            Change::Revert(_) => Some(ChangeOutcome::Found(true)),
            Change::Mine { .. }
            | Change::Edit(_)
            | Change::Rollback { .. }
            | Change::Rewind(_)
            | Change::Reorg { .. }
            | Change::Reset
            | Change::Set(_)
            | Change::SetNextTimestamp(_) => Some(ChangeOutcome::Done),
            _ => None,
        }
    }
}

/// The latest requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// Oldest first.
    latest: VecDeque<Progress>,
    /// Height of the newest entry that changes the chain.
    newest: u64,
}

impl Requests {
    /// Takes a stored entry into account. Decodes none that is a block and no part of a request.
    pub(super) fn note_stored(&mut self, stored: &StoredEntry) -> Result<(), LogError> {
        let part = stored.part()?;
        if part.is_none() && stored.is_block() {
            self.newest = stored.height;
        } else {
            self.note(stored.height, part, &stored.entry()?);
        }
        Ok(())
    }

    /// Takes the entry at a height of the log into account.
    pub(super) fn note(&mut self, height: u64, part: Option<RequestPart>, entry: &LogEntry) {
        match entry {
            LogEntry::Epoch { .. } => {}
            // A change that failed may leave its time behind, which is recorded without a request.
            LogEntry::Time(_) if part.is_none() => {}
            _ => self.newest = height,
        }

        if let LogEntry::Revert { to, .. } = entry {
            // A request whose beginning is undone has to be done from the start.
            self.latest
                .retain(|progress| progress.left == 0 || *to > progress.begins);
        }

        let Some(RequestPart { id, left, answer }) = part else {
            return;
        };
        if let Some(known) = self
            .latest
            .iter_mut()
            .rev()
            .find(|progress| progress.id == id)
        {
            known.left = left;
            known.last = height;
            return;
        }

        let snapshot = match entry {
            LogEntry::Snapshot { id, .. } => Some(*id),
            _ => None,
        };
        let replaces = matches!(entry, LogEntry::Revert { .. });

        self.latest.push_back(Progress {
            id,
            begins: height,
            left,
            snapshot,
            answer,
            replaces,
            last: height,
        });

        if self.latest.len() > REMEMBERED {
            self.latest.pop_front();
        }
    }

    /// Returns what was made of a request, if it is known.
    pub(super) fn get(&self, id: u64) -> Option<Progress> {
        self.latest
            .iter()
            .rev()
            .find(|progress| progress.id == id)
            .copied()
    }

    /// Returns the request that has removed blocks, and not yet replaced all of them, at the end of
    /// the log.
    pub(super) fn replacing(&self) -> Option<Progress> {
        self.latest
            .back()
            .filter(|last| last.replaces && last.left > 0 && last.last == self.newest)
            .copied()
    }
}

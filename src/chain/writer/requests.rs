//! What the log says of the latest requests, so that one that is sent again is not made twice.

use std::collections::VecDeque;

use super::change::{Change, ChangeOutcome};
use crate::log::{LogEntry, LogError, RequestPart, StoredEntry};

/// Number of requests that are remembered.
const REMEMBERED: usize = 1_024;

/// What was made of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    id: u128,
    /// Height of its first entry.
    pub(super) begins: u64,
    /// Number of its entries that are still to be made.
    pub(super) left: u64,
    /// The id of the snapshot that it has taken, or the seconds by which it has set the chain's time ahead of the clock.
    answer: Option<ChangeOutcome>,
    /// Whether its first entry replaces blocks by others.
    replaces: bool,
    /// Whether an entry that is not one of its own came after its last one.
    is_followed: bool,
}

impl Progress {
    /// Returns the outcome of the request, which was for this change, or `None` if it has to be made, or made again because
    /// that changes nothing.
    pub(super) fn outcome(&self, change: &Change) -> Option<ChangeOutcome> {
        if self.left > 0 {
            return None;
        }
        match change {
            Change::Snapshot { .. } | Change::IncreaseTime(_) | Change::SetTime(_) => self.answer,
            Change::Revert(_) => Some(ChangeOutcome::Found(true)),
            Change::Mine { .. }
            | Change::Edit(_)
            | Change::Rollback { .. }
            | Change::Reorg { .. }
            | Change::Reset
            | Change::SetNextTimestamp(_) => Some(ChangeOutcome::Done),
            _ => None,
        }
    }
}

/// The latest requests, oldest first.
#[derive(Debug, Default)]
pub(super) struct Requests(VecDeque<Progress>);

impl Requests {
    /// Takes a stored entry into account. Decodes none that is a block and no part of a request.
    pub(super) fn note_stored(&mut self, stored: &StoredEntry) -> Result<(), LogError> {
        let part = stored.part()?;
        if part.is_none() && stored.is_block() {
            self.follow_all(None);
        } else {
            self.note(stored.height, part, &stored.entry()?);
        }
        Ok(())
    }

    /// Notes that an entry of the chain follows those of all requests but one.
    fn follow_all(&mut self, but: Option<u128>) {
        self.0.iter_mut().filter(|progress| Some(progress.id) != but).for_each(|progress| progress.is_followed = true);
    }

    /// Takes the entry at a height of the log into account.
    pub(super) fn note(&mut self, height: u64, part: Option<RequestPart>, entry: &LogEntry) {
        if let LogEntry::Revert { to, .. } = entry {
            // What is left of a request whose beginning is undone is the whole of it.
            self.0.retain(|progress| progress.left == 0 || *to > progress.begins);
        }
        // A change that failed may leave its time behind, which is recorded without a request.
        let is_of_chain = match entry {
            LogEntry::Epoch { .. } => false,
            LogEntry::Time(_) => part.is_some(),
            _ => true,
        };
        if is_of_chain {
            self.follow_all(part.map(|part| part.id));
        }

        let Some(RequestPart { id, left }) = part else { return };
        if let Some(known) = self.0.iter_mut().find(|progress| progress.id == id) {
            known.left = left;
            return;
        }
        let answer = match entry {
            LogEntry::Snapshot { id, .. } => Some(ChangeOutcome::Snapshot(*id)),
            LogEntry::Time(shift) => Some(ChangeOutcome::Seconds(shift.ahead)),
            _ => None,
        };
        let replaces = matches!(entry, LogEntry::Revert { .. });
        self.0.push_back(Progress { id, begins: height, left, answer, replaces, is_followed: false });
        if self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }

    /// Returns what was made of a request, if it is known.
    pub(super) fn get(&self, id: u128) -> Option<Progress> {
        self.0.iter().rev().find(|progress| progress.id == id).copied()
    }

    /// Returns the request that has removed blocks, and not yet replaced all of them, at the end of the log.
    pub(super) fn replacing(&self) -> Option<Progress> {
        self.0.back().filter(|last| last.replaces && last.left > 0 && !last.is_followed).copied()
    }
}

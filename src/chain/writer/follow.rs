//! Following a log that another writer has extended.
//!
//! A change that conflicts with an entry of another writer is not recorded. The writer then replays the other's entries
//! and retries the change on top of them. Transactions stay in the pool meanwhile.

use super::ChainWriter;
use crate::{
    chain::{ChangeError, Head, block::recorded::Replayed, disk::recover::replay},
    log::{AppendError, LogEntry},
    store::Checkpoint,
};

/// Most attempts at one change while other writers keep extending the log.
const ATTEMPTS: u32 = 64;

impl ChainWriter {
    /// Makes a change, and retries it while other writers extend the log first.
    pub(super) fn retry<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self) -> Result<T, ChangeError>,
    ) -> Result<T, ChangeError> {
        for _ in 1..ATTEMPTS {
            match attempt(self) {
                Err(ChangeError::Append(AppendError::Conflict { .. })) => self.follow()?,
                outcome => return outcome,
            }
        }
        attempt(self)
    }

    /// Replays the entries that other writers appended to the log, and publishes the resulting head. If that fails,
    /// nothing more can be recorded until a restart, which reads the whole log.
    pub(super) fn follow(&mut self) -> Result<(), ChangeError> {
        match self.catch_up() {
            Ok(None) => Ok(()),
            Ok(Some(Replayed { head, shift, snapshots, dropped })) => {
                self.ledger.adopt(snapshots);
                self.recorder.adopt(shift);
                self.shared.timing.lock().adopt(shift);
                self.shared.sealing.lock().forget_next();
                let (_, added) = self.head().held_blocks().difference(head.held_blocks());
                self.replace(head, added);
                dropped.iter().for_each(|old| self.shared.index.remove(old));
                self.after_blocks();
                Ok(())
            }
            Err(reason) => {
                let reason = format!("another writer extended the log, and it cannot be replayed: {reason}");
                tracing::error!("{reason}");
                if let Some(journal) = &mut self.recorder.journal {
                    journal.refuse_further(reason.clone());
                }
                Err(AppendError::Unknown { file: "log".to_owned(), reason }.into())
            }
        }
    }

    /// Replays the entries that the published head does not include. Returns `None` if there are none.
    fn catch_up(&mut self) -> Result<Option<Replayed>, String> {
        let Some(journal) = &self.recorder.journal else { return Ok(None) };
        let mut entries = journal.unseen().map_err(reason)?.peekable();
        if entries.peek().is_none() {
            return Ok(None);
        }
        let mut replayed = self.published();
        for stored in entries {
            let stored = stored.map_err(reason)?;
            let entry = stored.entry().map_err(reason)?;
            if let LogEntry::Revert { to, .. } = entry {
                replayed = self.reverted(replayed, to)?;
            }
            if let Some(journal) = &mut self.recorder.journal {
                journal.include(stored.height, &entry, stored.bytes.len() as u64);
            }
            let followed = replayed.snapshots.follow(stored.height, &entry);
            followed
                .and_then(|()| replayed.apply(entry, self.shared.history_limits))
                .map_err(|what| format!("entry {}: {what}", stored.height))?;
        }
        Ok(Some(replayed))
    }

    /// Returns the published chain, from which a replay continues.
    pub(super) fn published(&self) -> Replayed {
        let snapshots = self.ledger.recorded_snapshots().clone();
        Replayed::from(Head::clone(&self.head()), self.recorder.shift(), snapshots)
    }

    /// Restores the chain as it was when the log had `to` entries, from a block that memory holds or else from a
    /// checkpoint. The snapshots remain: which ones are used up is up to the entry that reverts.
    pub(super) fn reverted(&self, from: Replayed, to: u64) -> Result<Replayed, String> {
        let Replayed { head, shift, snapshots, dropped } = from;
        let limits = self.shared.history_limits;
        let journal = self.recorder.journal.as_ref().ok_or("there is no log")?;
        let (storage, identity, history) = journal.files().ok_or("no checkpoint is kept")?;
        // The newest block of the head that was canonical when the log had `to` entries, and the height of its state.
        let shared = (head.oldest()..=head.number()).rev().find_map(|number| {
            let is_whole = number < head.number() || head.edits().is_empty();
            let is_shared = history.height_below(number, to)? == history.height_of(number)?;
            let height = journal.height_after(&head, number).filter(|height| *height <= to)?;
            (is_whole && is_shared).then_some((number, height))
        });
        if let Some((number, height)) = shared
            && let Ok(head) = head.rewound(number)
        {
            let mut at = Replayed { head, shift, snapshots, dropped };
            for stored in journal.between(height, to).map_err(reason)? {
                let stored = stored.map_err(reason)?;
                if !history.is_void_below(stored.height, to) {
                    at.apply(stored.entry().map_err(reason)?, limits)?;
                }
            }
            return Ok(at);
        }
        let checkpoint = loop {
            let base = history.base_below(to).map_err(reason)?;
            match Checkpoint::read(&**storage, base.ok_or("no checkpoint leads there")?, identity) {
                Ok(checkpoint) => break checkpoint,
                // The checkpoint writer has removed it since, because there are newer ones.
                Err(_) if history.base_below(to).map_err(reason)? != base => {}
                Err(error) => return Err(reason(error)),
            }
        };
        let replayed = replay(head.params.clone(), limits, checkpoint, journal.reader(), history, to);
        let (mut at, _) = replayed.map_err(reason)?;
        at.dropped.extend(dropped);
        Ok(Replayed { snapshots, ..at })
    }
}

fn reason(error: impl std::fmt::Display) -> String {
    error.to_string()
}

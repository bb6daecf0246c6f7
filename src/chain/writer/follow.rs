//! Following the log where another writer extended it.
//!
//! A change that meets an entry of another writer is not recorded. The writer then takes in what the log says, and makes
//! the change again on top of it. Transactions stay in the pool meanwhile.

use super::Writer;
use crate::{
    chain::{ChangeError, Head, block::recorded::Followed, disk::recover::replay},
    log::{AppendError, Entry},
    store::Checkpoint,
};

/// Attempts at one change while other writers keep extending the log.
const ATTEMPTS: u32 = 64;

/// The head that the log leads to.
struct FollowedHead {
    followed: Followed,
    /// The lowest height that other writers went back to.
    lowest: u64,
}

impl Writer {
    /// Makes a change, again and again as long as other writers extend the log first.
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

    /// Takes in what other writers appended to the log, and publishes the head that it leads to. If that is not
    /// possible, nothing more can be recorded: a restart reads the whole log.
    pub(super) fn follow(&mut self) -> Result<(), ChangeError> {
        match self.read_on() {
            Ok(None) => Ok(()),
            Ok(Some(FollowedHead { followed: Followed { head, shift, dropped }, lowest })) => {
                self.ledger.forget_snapshots_after(lowest);
                self.recorder.followed(shift);
                self.shared.timing.lock().followed(shift);
                self.shared.sealing.lock().forget_next();
                let (_, added) = self.head().trail().difference(head.trail());
                self.replace(head, added);
                dropped.iter().for_each(|old| self.shared.index.remove(old));
                self.after_blocks();
                Ok(())
            }
            Err(reason) => {
                let reason = format!("another writer extended the log, and it cannot be followed: {reason}");
                tracing::error!("{reason}");
                if let Some(journal) = &mut self.recorder.journal {
                    journal.give_up(reason.clone());
                }
                Err(AppendError::Unknown { file: "log".to_owned(), reason }.into())
            }
        }
    }

    /// The head that the entries lead to which the published one does not include; none if there are none.
    fn read_on(&mut self) -> Result<Option<FollowedHead>, String> {
        let Some(journal) = &self.recorder.journal else { return Ok(None) };
        let mut entries = journal.unseen().map_err(reason)?.peekable();
        if entries.peek().is_none() {
            return Ok(None);
        }
        let mut followed = Followed::from(Head::clone(&self.head()), self.recorder.shift());
        let mut lowest = u64::MAX;
        for stored in entries {
            let stored = stored.map_err(reason)?;
            let entry = stored.entry().map_err(reason)?;
            if let Entry::Revert { to, .. } = entry {
                followed = self.gone_back(followed, to)?;
                lowest = lowest.min(to);
            }
            if let Some(journal) = &mut self.recorder.journal {
                journal.took_in(stored.height, &entry, stored.bytes.len() as u64);
            }
            followed
                .apply(entry, self.shared.history_limits)
                .map_err(|what| format!("entry {}: {what}", stored.height))?;
        }
        Ok(Some(FollowedHead { followed, lowest }))
    }

    /// The chain as it was when the log had `to` entries: from a block that memory holds, or else from a checkpoint.
    fn gone_back(&self, from: Followed, to: u64) -> Result<Followed, String> {
        let Followed { head, shift, dropped } = from;
        let limits = self.shared.history_limits;
        let journal = self.recorder.journal.as_ref().ok_or("there is no log")?;
        let (storage, identity, history) = journal.kept().ok_or("no checkpoint is kept")?;
        // A block of the head that was also in the chain when the log had `to` entries, and its height in the log.
        let shared = (head.oldest()..=head.number()).rev().find_map(|number| {
            let height = history.height_below(number, to)?;
            let is_whole = number < head.number() || head.edits().is_empty();
            (is_whole && history.height_of(number) == Some(height)).then_some((number, height + 1))
        });
        if let Some((number, height)) = shared
            && let Ok(head) = head.rewound(number)
        {
            let mut at = Followed { head, shift, dropped };
            for stored in journal.between(height, to).map_err(reason)? {
                let stored = stored.map_err(reason)?;
                if !history.is_void_below(stored.height, to) {
                    at.apply(stored.entry().map_err(reason)?, limits)?;
                }
            }
            return Ok(at);
        }
        let base = history.base_below(to).map_err(reason)?.ok_or("no checkpoint leads there")?;
        let checkpoint = Checkpoint::read(&**storage, base, identity).map_err(reason)?;
        let replayed = replay(head.params.clone(), limits, checkpoint, journal.reader(), history, to);
        let (mut at, _) = replayed.map_err(reason)?;
        at.dropped.extend(dropped);
        Ok(at)
    }
}

fn reason(error: impl std::fmt::Display) -> String {
    error.to_string()
}

//! Following a log that another writer has extended.
//!
//! A change that conflicts with an entry of another writer is not recorded. The writer then replays the other's entries
//! and retries the change on top of them. Transactions stay in the pool meanwhile.

use std::sync::Arc;

use super::ChainWriter;
use crate::{
    block::Block,
    chain::{ChangeError, Head, block::recorded::Replayed, disk::recover::replay},
    log::{AppendError, LogEntry, LogError},
    store::Checkpoint,
};

/// Most attempts at one change while other writers keep extending the log.
const ATTEMPTS: u32 = 64;

/// Most entries that are replayed before the head is published.
const PUBLISHED_AT_ONCE: usize = 1_024;

/// The result of replaying the entries of other writers.
struct CaughtUp {
    replayed: Replayed,
    /// The replayed blocks.
    blocks: Vec<Arc<Block>>,
    /// The lowest height to which other writers reverted, if they did.
    lowest: Option<u64>,
    has_edits: bool,
    /// The newest epoch that began.
    epoch: Option<(u64, String)>,
}

/// The reason why the entries of other writers cannot be replayed.
enum FollowError {
    /// They cannot be read at the moment.
    Later(AppendError),
    /// They are not what this writer can continue from.
    Final(String),
}

impl From<String> for FollowError {
    fn from(reason: String) -> Self {
        Self::Final(reason)
    }
}

impl From<LogError> for FollowError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Unavailable(reason) => Self::Later(AppendError::Unavailable(reason)),
            LogError::Io { file, source } => Self::Later(AppendError::Refused { file, source }),
            error => Self::Final(error.to_string()),
        }
    }
}

impl ChainWriter {
    /// Makes a change, and retries it while other writers extend the log first.
    pub(super) fn retry<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self) -> Result<T, ChangeError>,
    ) -> Result<T, ChangeError> {
        for _ in 1..ATTEMPTS {
            match attempt(self) {
                Err(ChangeError::Append(AppendError::Conflict { .. })) => self.follow(true)?,
                outcome => return outcome,
            }
            if !self.leads {
                return Err(ChangeError::NotLeading);
            }
        }
        attempt(self)
    }

    /// Replays the entries that other writers appended to the log, and publishes the resulting heads: with `all`, every
    /// entry appended before this call, or else those that have arrived. If an entry cannot be replayed, nothing more can be
    /// recorded until a restart, which reads the whole log.
    pub(super) fn follow(&mut self, all: bool) -> Result<(), ChangeError> {
        loop {
            match self.catch_up(all) {
                Ok(None) => return Ok(()),
                Ok(Some(caught_up)) => self.publish_replayed(caught_up),
                Err(FollowError::Later(error)) => return Err(error.into()),
                Err(FollowError::Final(reason)) => {
                    let reason = format!("another writer extended the log, and it cannot be replayed: {reason}");
                    self.fail_for_good(reason.clone());
                    return Err(AppendError::Unknown { file: "log".to_owned(), reason }.into());
                }
            }
        }
    }

    fn publish_replayed(&mut self, caught_up: CaughtUp) {
        let CaughtUp { replayed: Replayed { head, shift, dropped }, blocks, lowest, has_edits, epoch } = caught_up;
        if let Some((number, node)) = epoch {
            self.depose(number, node);
        }
        self.recorder.adopt(shift);
        self.shared.timing.lock().adopt(shift);
        self.shared.sealing.lock().forget_next();
        match lowest {
            Some(lowest) => {
                self.ledger.forget_snapshots_after(lowest);
                let (_, added) = self.head().held_blocks().difference(head.held_blocks());
                self.replace(head, added);
            }
            None if blocks.is_empty() && !has_edits => self.note_height(),
            None => {
                self.publish(head, blocks, Vec::new());
                if has_edits {
                    self.settle_all();
                }
            }
        }
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        self.after_blocks();
    }

    /// Replays the next entries that the published head does not include. Returns `None` if there are none.
    fn catch_up(&mut self, all: bool) -> Result<Option<CaughtUp>, FollowError> {
        let Some(journal) = &mut self.recorder.journal else { return Ok(None) };
        let mut entries = journal.unseen(all)?.take(PUBLISHED_AT_ONCE).peekable();
        if entries.peek().is_none() {
            return Ok(None);
        }
        let replayed = Replayed::from(Head::clone(&self.head()), self.recorder.shift());
        let mut caught_up =
            CaughtUp { replayed, blocks: Vec::new(), lowest: None, has_edits: false, epoch: None };
        for stored in entries {
            let stored = stored?;
            let entry = stored.entry()?;
            match &entry {
                LogEntry::Revert { to, .. } => {
                    caught_up.replayed = self.reverted(caught_up.replayed, *to)?;
                    caught_up.lowest = Some(caught_up.lowest.map_or(*to, |lowest| lowest.min(*to)));
                }
                LogEntry::Block { block, .. } => caught_up.blocks.push(block.clone()),
                LogEntry::Edit { .. } => caught_up.has_edits = true,
                LogEntry::Epoch { number, node } => caught_up.epoch = Some((*number, node.clone())),
                LogEntry::Time(_) => {}
            }
            if let Some(journal) = &mut self.recorder.journal {
                journal.include(stored.height, &entry, stored.bytes.len() as u64);
            }
            let applied = caught_up.replayed.apply(entry, self.shared.history_limits);
            applied.map_err(|what| format!("entry {}: {what}", stored.height))?;
        }
        Ok(Some(caught_up))
    }

    /// Restores the chain as it was when the log had `to` entries, from a block that memory holds or else from a
    /// checkpoint.
    fn reverted(&self, from: Replayed, to: u64) -> Result<Replayed, String> {
        let Replayed { head, shift, dropped } = from;
        let limits = self.shared.history_limits;
        let journal = self.recorder.journal.as_ref().ok_or("there is no log")?;
        let (storage, identity, history) = journal.files().ok_or("no checkpoint is kept")?;
        // The newest block of the head that was canonical when the log had `to` entries, and its height in the log.
        let shared = (head.oldest()..=head.number()).rev().find_map(|number| {
            let height = history.height_below(number, to)?;
            let is_whole = number < head.number() || head.edits().is_empty();
            (is_whole && history.height_of(number) == Some(height)).then_some((number, height + 1))
        });
        if let Some((number, height)) = shared
            && let Ok(head) = head.rewound(number)
        {
            let mut at = Replayed { head, shift, dropped };
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

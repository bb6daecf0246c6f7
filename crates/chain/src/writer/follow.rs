//! Following a log that another writer has extended.
//!
//! A change that conflicts with an entry of another writer is not recorded. The writer then replays
//! the other's entries and retries the change on top of them. Transactions stay in the pool
//! meanwhile.

use std::{iter, sync::Arc};

use tetrad_primitives::block::Block;
use tetrad_store::log::{AppendError, DecodedEntries, DecodedEntry, LogEntry, LogError};

use super::{ChainWriter, journal::FollowTo};
use crate::{ChangeError, Head, block::recorded::Replayed, disk::recover::replay};

/// Most attempts at one change while other writers keep extending the log.
const ATTEMPTS: u32 = 64;

/// Most entries that are replayed before the head is published.
const PUBLISHED_AT_ONCE: u64 = 1_024;

/// The result of replaying the entries of other writers.
pub(super) struct CaughtUp {
    replayed: Replayed,
    /// The replayed blocks.
    blocks: Vec<Arc<Block>>,
    has_reverts: bool,
    has_edits: bool,
    /// The newest epoch that began.
    epoch: Option<(u64, String)>,
}

impl CaughtUp {
    /// Returns the result of going back to an earlier state.
    pub(super) fn reverted(replayed: Replayed) -> Self {
        Self {
            replayed,
            blocks: Vec::new(),
            has_reverts: true,
            has_edits: false,
            epoch: None,
        }
    }
}

/// The reason why the entries of other writers cannot be replayed.
enum FollowError {
    /// They cannot be read at the moment.
    Later(AppendError),
    /// The entries of this writer from a height on are not those of the log.
    Forked { at: u64, reason: String },
    /// The entry at this height reverts the chain to before the oldest checkpoint, and there is
    /// none after it.
    NeedsCheckpoint { after: u64 },
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
            LogError::Forked { at, .. } => Self::Forked {
                at,
                reason: error.to_string(),
            },
            error @ LogError::Stale { .. } => {
                Self::Later(AppendError::Unavailable(error.to_string()))
            }
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
                Err(ChangeError::Append(AppendError::Conflict { .. })) => {
                    self.follow(FollowTo::LogEnd)?
                }
                outcome => return outcome,
            }

            // An entry that was followed may have begun another node's epoch.
            if !self.leads {
                return Err(ChangeError::NotLeading);
            }
        }
        attempt(self)
    }

    /// Replays the entries that other writers appended to the log, and publishes the resulting
    /// heads. If an entry cannot be replayed, nothing more can be recorded until a restart, which
    /// reads the whole log. Entries of this writer that the log does not have are given up. In a
    /// cluster, a revert beyond the oldest checkpoint is followed once there is one after it.
    pub(super) fn follow(&mut self, to: FollowTo) -> Result<(), ChangeError> {
        loop {
            let caught_up = self.catch_up(to);
            if caught_up.is_ok() {
                *self.shared.needs_checkpoint_after.lock() = None;
            }

            match caught_up {
                Ok(None) => return Ok(()),
                Ok(Some(caught_up)) => self.publish_replayed(caught_up),
                // Only a node of a cluster can get one from another.
                Err(FollowError::NeedsCheckpoint { after })
                    if self.shared.peers.get().is_some() =>
                {
                    *self.shared.needs_checkpoint_after.lock() = Some(after);
                    let reason = format!(
                        "entry {after} of the log reverts the chain to before this node's oldest \
                         checkpoint, and it waits for one of the other nodes"
                    );
                    return Err(AppendError::Unavailable(reason).into());
                }
                Err(FollowError::NeedsCheckpoint { after }) => {
                    return self
                        .cannot_follow(&format!("entry {after}: no checkpoint is left before it"));
                }
                Err(FollowError::Later(error)) => return Err(error.into()),
                Err(FollowError::Forked { at, reason }) => self.truncate(at, &reason)?,
                Err(FollowError::Final(reason)) => return self.cannot_follow(&reason),
            }
        }
    }

    fn cannot_follow(&mut self, reason: &str) -> Result<(), ChangeError> {
        *self.shared.needs_checkpoint_after.lock() = None;
        let reason =
            format!("another writer extended the log, and it cannot be replayed: {reason}");
        self.fail_for_good(reason.clone());
        Err(AppendError::Unknown {
            file: "log".to_owned(),
            reason,
        }
        .into())
    }

    pub(super) fn publish_replayed(&mut self, caught_up: CaughtUp) {
        let CaughtUp {
            replayed,
            blocks,
            has_reverts,
            has_edits,
            epoch,
        } = caught_up;
        let Replayed {
            head,
            shift,
            standing,
            dropped,
        } = replayed;

        if let Some((number, node)) = epoch {
            self.depose(number, &node);
        }

        self.shared.timing.lock().adopt(shift);
        self.revert_points.adopt(standing.snapshots);
        self.recorder.adopt(shift);
        self.adopt_settings(standing.settings);

        // A revert may leave any part of the present chain, so that the blocks are compared.
        if has_reverts {
            let (_, added) = self.head().held_blocks().difference(head.held_blocks());
            self.replace(head, added);
        } else if blocks.is_empty() && !has_edits {
            self.note_height();
        } else {
            self.publish(head, blocks, Vec::new());
            if has_edits {
                self.advance_whole_pool();
            }
        }

        dropped.iter().for_each(|old| self.shared.index.remove(old));
        self.after_blocks();
    }

    /// Replays the next entries that the published head does not include. Returns `None` if there
    /// are none.
    fn catch_up(&mut self, to: FollowTo) -> Result<Option<CaughtUp>, FollowError> {
        let published = self.published_height();
        self.replay_unseen(to).inspect_err(|_| {
            // The entries before an error are read again.
            if let Some(journal) = &mut self.recorder.journal {
                journal.set_published(published);
            }
        })
    }

    fn replay_unseen(&mut self, to: FollowTo) -> Result<Option<CaughtUp>, FollowError> {
        self.check_needed_checkpoint(to)?;
        let Some(journal) = &mut self.recorder.journal else {
            return Ok(None);
        };
        let mut entries = journal.unseen(to, PUBLISHED_AT_ONCE)?.peekable();
        if entries.peek().is_none() {
            return Ok(None);
        }

        let mut caught_up = CaughtUp {
            replayed: self.published(),
            blocks: Vec::new(),
            has_reverts: false,
            has_edits: false,
            epoch: None,
        };
        while let Some(decoded) = entries.next() {
            let decoded = decoded?;
            match &decoded.entry {
                LogEntry::Revert { to, .. } => {
                    caught_up.replayed = match self.reverted(caught_up.replayed, *to) {
                        Ok(replayed) => replayed,
                        // Pruned here, and no checkpoint from before it is left.
                        Err(_) if !self.can_revert_to(*to)? => {
                            let height = decoded.height;
                            let entries = iter::once(Ok(decoded)).chain(entries);
                            return self
                                .resume_after(height, Box::new(entries), caught_up.epoch)
                                .map(Some);
                        }
                        Err(reason) => return Err(reason.into()),
                    };
                    caught_up.has_reverts = true;
                }
                LogEntry::Block { block, .. } => caught_up.blocks.push(block.clone()),
                LogEntry::Edit { .. } => caught_up.has_edits = true,
                LogEntry::Epoch { number, node } => caught_up.epoch = Some((*number, node.clone())),
                LogEntry::Time(_) | LogEntry::Snapshot { .. } | LogEntry::Setting(_) => {}
            }

            let DecodedEntry {
                height,
                size,
                part,
                entry,
            } = decoded;
            if let Some(journal) = &mut self.recorder.journal {
                journal.include(height, part, &entry, size);
            }
            caught_up
                .replayed
                .standing
                .follow(height, &entry)
                .and_then(|()| caught_up.replayed.apply(entry, self.shared.history_limits))
                .map_err(|what| format!("entry {height}: {what}"))?;
        }
        Ok(Some(caught_up))
    }

    /// Checks that there is a checkpoint after the entry that could not be followed without one.
    fn check_needed_checkpoint(&mut self, to: FollowTo) -> Result<(), FollowError> {
        let needed = *self.shared.needs_checkpoint_after.lock();
        let (Some(after), Some(journal)) = (needed, &mut self.recorder.journal) else {
            return Ok(());
        };

        // Fails if the log no longer has the entry.
        drop(journal.unseen(to, 0)?);
        if journal.has_checkpoint_after(after)? {
            Ok(())
        } else {
            Err(FollowError::NeedsCheckpoint { after })
        }
    }

    /// Returns whether the chain can be restored as it was when the log had `to` entries.
    fn can_revert_to(&self, to: u64) -> Result<bool, LogError> {
        self.recorder
            .journal
            .as_ref()
            .map_or(Ok(false), |journal| journal.has_checkpoint_below(to))
    }

    /// Takes note of `entries`, and of all that follow them, and continues from a checkpoint after
    /// the revert at height `revert`, which goes back to before this node's oldest checkpoint.
    fn resume_after(
        &mut self,
        revert: u64,
        mut entries: DecodedEntries,
        mut epoch: Option<(u64, String)>,
    ) -> Result<CaughtUp, FollowError> {
        let journal = self
            .recorder
            .journal
            .as_mut()
            .ok_or_else(|| "there is no log".to_owned())?;

        loop {
            let before = journal.published();
            for decoded in entries {
                let DecodedEntry {
                    height,
                    size,
                    part,
                    entry,
                } = decoded?;
                journal.include(height, part, &entry, size);
                if let LogEntry::Epoch { number, node } = entry {
                    epoch = Some((number, node));
                }
            }
            // Entries come in batches, of which the last is empty.
            if journal.published() == before {
                break;
            }
            entries = journal.unseen(FollowTo::LogEnd, PUBLISHED_AT_ONCE)?;
        }

        let end = journal.height();
        if !journal.has_checkpoint_below(end)? {
            return Err(FollowError::NeedsCheckpoint { after: revert });
        }

        let replayed = self.replayed_from_checkpoint(end)?;
        tracing::warn!(
            entry = revert,
            "the chain was reverted to before this node's oldest checkpoint: continued from a \
             later one"
        );

        Ok(CaughtUp {
            epoch,
            ..CaughtUp::reverted(replayed)
        })
    }

    /// Returns the published chain, from which a replay continues.
    pub(super) fn published(&self) -> Replayed {
        Replayed::from(
            Head::clone(&self.head()),
            self.recorder.shift(),
            self.standing(),
        )
    }

    /// Restores the chain as it was when the log had `to` entries, from a block that memory holds
    /// or else from a checkpoint. Snapshots and settings remain: which ones are used up is up to
    /// the entry that reverts.
    pub(super) fn reverted(&self, from: Replayed, to: u64) -> Result<Replayed, String> {
        let Replayed {
            head,
            shift,
            standing,
            dropped,
        } = from;
        let limits = self.shared.history_limits;
        let journal = self.recorder.journal.as_ref().ok_or("there is no log")?;
        let history = &journal.history().ok_or("no checkpoint is kept")?;

        // The newest block of the head that was canonical when the log had `to` entries, and the
        // height of its state.
        let shared = (head.oldest()..=head.number()).rev().find_map(|number| {
            // `rewound` keeps the edits after the newest block, which the log may have after `to`.
            let is_whole = number < head.number() || head.edits().is_empty();
            let is_shared = history.height_below(number, to)? == history.height_of(number)?;
            let height = journal
                .height_after(&head, number)
                .filter(|height| *height <= to)?;
            (is_whole && is_shared).then_some((number, height))
        });

        if let Some((number, height)) = shared
            && let Ok(head) = head.rewound(number)
        {
            let mut at = Replayed {
                head,
                shift,
                standing,
                dropped,
            };
            for stored in journal.between(height, to).map_err(reason)? {
                let stored = stored.map_err(reason)?;
                // The others were reverted before `to`.
                if !history.is_void_below(stored.height, to) {
                    at.apply(stored.entry().map_err(reason)?, limits)?;
                }
            }
            return Ok(at);
        }

        let mut at = self.replayed_from_checkpoint(to)?;
        at.dropped.extend(dropped);
        Ok(Replayed { standing, ..at })
    }

    /// Replays the log from the newest checkpoint that leads there, to what the chain was when the
    /// log had `end` entries.
    fn replayed_from_checkpoint(&self, end: u64) -> Result<Replayed, String> {
        let journal = self.recorder.journal.as_ref().ok_or("there is no log")?;
        let history = journal.history().ok_or("no checkpoint is kept")?;
        let params = self.head().params.clone();
        let limits = self.shared.history_limits;

        let replayed = replay(
            params,
            limits,
            history.checkpoint_below(end)?,
            journal.reader(),
            &history,
            end,
        );
        replayed.map(|(replayed, _)| replayed).map_err(reason)
    }
}

fn reason(error: impl std::fmt::Display) -> String {
    error.to_string()
}

//! Reverting the chain: to snapshots, to earlier blocks, and to the chain with which the node
//! started.
//!
//! A writer restores its own snapshots from the [`Head`] that it holds, and others like any earlier
//! height of the log.

use std::{collections::BTreeMap, sync::Arc};

use tetrad_primitives::block::{Block, DevSettings, Transaction};
use tetrad_store::{
    log::LogEntry,
    store::{SnapshotInfo, Snapshots, Standing},
};

use super::{ChainWriter, journal::FollowTo, sealing::Sealed, timing::Timing};
use crate::{
    ChangeError, DumpError, Head, Journal, PreparedDump, Pruned, SubmitError,
    block::{candidate::Candidate, recorded::Replayed},
};

/// The points to which the chain can be reverted: the snapshots, and the chain with which the node
/// started.
pub(crate) struct RevertPoints {
    snapshots: Snapshots,
    /// The chain at the snapshots that this writer took, by their ids.
    held: BTreeMap<u64, HeldSnapshot>,
    origin: InitialChain,
}

/// The chain with which the node started.
struct InitialChain {
    head: Arc<Head>,
    /// Log height at that time.
    height: u64,
}

/// The chain at the time of a snapshot. Other snapshots are restored from the log.
struct HeldSnapshot {
    head: Arc<Head>,
    timing: Timing,
}

impl RevertPoints {
    /// Returns the points of a chain that starts at `head` with these snapshots, with the log at
    /// `height`.
    pub(crate) fn new(head: Arc<Head>, snapshots: Snapshots, height: u64) -> Self {
        Self {
            snapshots,
            held: BTreeMap::new(),
            origin: InitialChain { head, height },
        }
    }

    /// Returns what the log determines beside the chain: the snapshots, including those whose
    /// states it no longer reaches, and these settings.
    pub(super) fn standing(&self, settings: &DevSettings) -> Standing {
        Standing {
            snapshots: self.snapshots.clone(),
            settings: settings.clone(),
        }
    }

    /// Adopts the snapshots that the log determines after entries of other writers.
    pub(super) fn adopt(&mut self, snapshots: Snapshots) {
        self.held.retain(|id, _| snapshots.get(*id).is_some());
        self.snapshots = snapshots;
    }

    /// Forgets the snapshots that were taken from height `end` of the log on. `head` is the chain
    /// before it.
    pub(super) fn truncate(&mut self, end: u64, head: &Head) {
        let taken = self
            .snapshots
            .iter()
            .find(|snapshot| snapshot.height >= end)
            .map(|snapshot| snapshot.id);
        if let Some(first) = taken {
            self.use_up(first);
        }

        if self.origin.height > end {
            self.origin = InitialChain {
                head: Arc::new(head.clone()),
                height: end,
            };
        }
    }

    /// Adds a snapshot.
    fn keep(&mut self, snapshot: SnapshotInfo, held: HeldSnapshot) {
        self.held.insert(snapshot.id, held);
        self.snapshots.add(snapshot);

        // The snapshots discard the oldest one when there are too many.
        let oldest = self.snapshots.iter().next().map_or(0, |oldest| oldest.id);
        while let Some(discarded) = self.held.first_entry()
            && *discarded.key() < oldest
        {
            discarded.remove();
        }
    }

    /// Removes the snapshots from this id on.
    fn use_up(&mut self, first: u64) {
        self.snapshots.use_up(first);
        self.held.split_off(&first);
    }
}

impl ChainWriter {
    /// Returns the snapshots that can be reverted to, oldest first.
    pub(super) fn snapshots(&self) -> Vec<SnapshotInfo> {
        let oldest = self.oldest_base().unwrap_or_default().unwrap_or(u64::MAX);
        self.revert_points
            .snapshots
            .iter()
            .filter(|own| oldest <= own.height || self.revert_points.held.contains_key(&own.id))
            .cloned()
            .collect()
    }

    /// Takes a snapshot, which may have a name, and returns its id.
    pub(crate) fn snapshot(&mut self, name: Option<Arc<str>>) -> Result<u64, ChangeError> {
        let height = self.recorder.journal.as_ref().map_or(0, Journal::height);
        let head = self.head();
        let timing = self.shared.timing.lock().clone();
        let id = self.revert_points.snapshots.next_id();
        let number = head.number();
        let hash = head.block.hash;
        let shift = timing.shift();

        self.record(|| LogEntry::Snapshot {
            id,
            number,
            hash,
            shift,
            name: name.clone(),
        })?;

        self.revert_points.keep(
            SnapshotInfo {
                id,
                height,
                number,
                hash,
                shift,
                name,
            },
            HeldSnapshot { head, timing },
        );

        Ok(id)
    }

    /// Reverts blocks, state and time to a snapshot, which is used up with all later ones. Returns
    /// whether it existed.
    pub(crate) fn revert(&mut self, id: u64) -> Result<bool, ChangeError> {
        if self.revert_points.snapshots.get(id).is_none() {
            // Another writer may have taken it.
            self.follow(FollowTo::LogEnd)?;
            if !self.leads {
                return Err(ChangeError::NotLeading);
            }
        }

        let Some(snapshot) = self.revert_points.snapshots.get(id) else {
            return Ok(false);
        };
        let to = snapshot.height;
        let shift = snapshot.shift;

        let (head, timing, dropped) = match self.revert_points.held.get(&id) {
            Some(HeldSnapshot { head, timing }) => (Head::clone(head), timing.clone(), Vec::new()),
            None if self.oldest_base()?.is_none_or(|oldest| oldest > to) => return Ok(false),
            None => {
                let mut timing = self.shared.timing.lock().clone();
                timing.adopt(shift);
                let Replayed { head, dropped, .. } = self
                    .reverted(self.published(), to)
                    .map_err(ChangeError::Snapshot)?;
                (head, timing, dropped)
            }
        };

        self.record(|| LogEntry::Revert {
            to,
            shift,
            uses_up: Some(id),
        })?;
        self.revert_points.use_up(id);
        *self.shared.timing.lock() = timing;
        self.shared.sealing.lock().set.forget_next();

        let current = self.head();
        let (_, mut added) = current.held_blocks().difference(head.held_blocks());
        // Earlier blocks are not new: memory had only dropped them.
        added.retain(|block| block.number() >= current.oldest());
        self.replace(head, added);
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        Ok(true)
    }

    /// Reverts the chain to what it was when the log had `to` entries. Snapshots remain.
    pub(super) fn revert_to(&mut self, to: u64) -> Result<(), ChangeError> {
        let Replayed {
            head,
            shift,
            dropped,
            ..
        } = self
            .reverted(self.published(), to)
            .map_err(ChangeError::Snapshot)?;
        // First: nothing changes unless the log takes it.
        self.record(|| LogEntry::Revert {
            to,
            shift,
            uses_up: None,
        })?;

        self.shared.timing.lock().adopt(shift);
        self.shared.sealing.lock().set.forget_next();

        let (_, added) = self.head().held_blocks().difference(head.held_blocks());
        self.replace(head, added);
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        Ok(())
    }

    /// Returns the height of the log beyond which the chain cannot be reverted, if it can be
    /// restored from the log.
    fn oldest_base(&self) -> Result<Option<u64>, ChangeError> {
        let oldest = self
            .recorder
            .journal
            .as_ref()
            .map_or(Ok(None), Journal::oldest_base);
        oldest.map_err(|error| ChangeError::Snapshot(error.to_string()))
    }

    /// Removes the newest `depth` blocks with their transactions. The chain's time is unchanged.
    pub(super) fn rollback(&mut self, depth: u64) -> Result<(), ChangeError> {
        self.rewind(self.head().number().saturating_sub(depth))
    }

    /// Removes the blocks after the one with this number. The chain's time is unchanged.
    pub(super) fn rewind(&mut self, number: u64) -> Result<(), ChangeError> {
        let number = number.min(self.head().number());
        let head = self.head().rewound(number)?;

        if number < self.head().number() {
            let to = self.height_after(number).ok_or(Pruned(number))?;
            self.record_replaced(to, &[])?;
            self.shared.sealing.lock().set.forget_next();
        }

        self.replace(head, Vec::new());
        Ok(())
    }

    /// Replaces the newest blocks with the same number of others, which contain exactly these
    /// transactions. Nothing changes if one of the transactions cannot be executed.
    pub(super) fn reorg(&mut self, blocks: &[Vec<Transaction>]) -> Result<(), ChangeError> {
        if blocks.is_empty() {
            return Ok(());
        }
        let current = self.head();
        let number = current
            .number()
            .checked_sub(blocks.len() as u64)
            .ok_or(Pruned(0))?;
        let mut head = current.rewound(number)?;
        let to = self.height_after(number).ok_or(Pruned(number))?;

        let timing = self.shared.timing.lock().clone();
        let sealing = *self.shared.sealing.lock();
        // Gives an empty block another hash than that of the block it replaces.
        self.shared.sealing.lock().set.next_randomness = Some(current.block.hash);

        let mut sealed_blocks = Vec::with_capacity(blocks.len());
        for transactions in blocks {
            let built = self.reorg_block(&head, transactions.clone());
            let sealed = built.inspect_err(|_| {
                // Sealing uses up the timestamp and the settings of the next block.
                *self.shared.timing.lock() = timing.clone();
                self.restore_sealing(sealing);
            })?;
            head = sealed.next.clone();
            sealed_blocks.push(sealed);
        }

        if let Err(error) = self.record_replaced(to, &sealed_blocks) {
            *self.shared.timing.lock() = timing;
            self.restore_sealing(sealing);
            return Err(error.into());
        }

        let dropped: Vec<_> = sealed_blocks
            .iter()
            .flat_map(|sealed| sealed.dropped.clone())
            .collect();
        self.replace(
            head,
            sealed_blocks
                .into_iter()
                .map(|sealed| sealed.block)
                .collect(),
        );
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        Ok(())
    }

    fn reorg_block(
        &self,
        head: &Head,
        transactions: Vec<Transaction>,
    ) -> Result<Sealed, ChangeError> {
        let environment = self.shared.next_environment(head, 1);
        let hashes: Vec<_> = transactions.iter().map(Transaction::hash).collect();
        let candidate = Candidate::build(head, &environment, transactions, &[], None)?;

        // Building a block leaves out what cannot be executed, and a reorg must not.
        let missing = hashes.into_iter().find(|hash| {
            let mut included = candidate.content.transactions.iter();
            !included.any(|own| own.hash() == *hash)
        });
        match missing {
            Some(hash) => Err(ChangeError::Transaction(hash)),
            None => Ok(self.seal(head, &environment, candidate)),
        }
    }

    /// Returns to the chain with which the node started, discards all settings of development
    /// methods, and clears the pool and the snapshots.
    pub(super) fn reset(&mut self) -> Result<(), ChangeError> {
        self.discard_recorded_settings()?;

        let mut timing = self.shared.timing.lock().clone();
        timing.reset(&self.revert_points.origin.head);
        let to = self.revert_points.origin.height;
        let shift = timing.shift();

        // Snapshots from before the start would otherwise remain.
        let uses_up = (self.revert_points.snapshots.next_id() > 0).then_some(0);
        self.record(|| LogEntry::Revert { to, shift, uses_up })?;

        self.revert_points.use_up(0);
        *self.shared.timing.lock() = timing;
        self.shared.adopt(DevSettings::default());
        self.shared
            .pool
            .clear(|| SubmitError::Dropped("the chain was reset".to_owned()));

        let origin = Head::clone(&self.revert_points.origin.head);
        self.replace(origin, Vec::new());
        self.schedule();
        Ok(())
    }

    /// Replaces the chain with another one, whose new blocks have this gas limit, and clears the
    /// pool and the snapshots.
    pub(super) fn restart(&mut self, head: Head, gas_limit: u64) -> Result<(), ChangeError> {
        // A log is that of one genesis block.
        if self.recorder.journal.is_some() {
            return Err(ChangeError::Recorded);
        }

        // `replace` removes the blocks from the new chain's first one on, but not those before.
        let removed: Vec<_> = self.head().blocks_from(0).cloned().collect();
        removed
            .iter()
            .for_each(|block| self.shared.index.remove(block));

        self.revert_points.origin.head = Arc::new(head);
        self.shared.sealing.lock().configured.gas_limit = gas_limit;
        self.reset()?;
        Ok(())
    }

    /// Publishes `next`, which may share any part of the present chain. `added` are its new blocks.
    pub(crate) fn replace(&mut self, next: Head, added: Vec<Arc<Block>>) {
        let current = self.head();
        let (removed, _) = current.held_blocks().difference(next.held_blocks());
        removed
            .iter()
            .for_each(|block| self.shared.index.remove(block));

        // Older blocks, which the present head had pruned, are in memory again.
        next.blocks_from(0)
            .take_while(|block| block.number() < current.oldest())
            .for_each(|block| {
                self.shared.index.insert(block);
            });

        self.publish(next, added, removed);
        self.advance_whole_pool();
        // A restart must not put transactions back into the pool that have left it.
        self.tidy_pool(true);
    }

    /// Continues from a dump. Nothing changes if it is invalid.
    pub(crate) fn load(&mut self, dump: PreparedDump) -> Result<(), ChangeError> {
        if self.recorder.journal.is_some() {
            return Err(DumpError::Recorded.into());
        }

        let (head, ahead) = dump.restore(&self.head())?;
        let time = head.block.header.timestamp;
        self.shared.timing.lock().follow_dump(ahead, time);

        let (_, added) = self.head().held_blocks().difference(head.held_blocks());
        self.replace(head, added);
        Ok(())
    }
}

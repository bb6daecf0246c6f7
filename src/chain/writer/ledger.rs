//! What the chain can come back to: snapshots, earlier blocks, and what the node started with.

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::B256;

use super::{Writer, sealing::Sealed, timing::Timing};
use crate::{
    block::{Block, Transaction},
    chain::{
        ChangeError, DumpError, Head, Journal, PreparedDump, Pruned, SubmitError, block::candidate::Candidate,
        shared::Sealing,
    },
    log::Entry,
};

/// Snapshots that are kept; older ones are forgotten.
const MAX_SNAPSHOTS: usize = 4_096;

/// What the chain can come back to.
pub(in crate::chain) struct Ledger {
    snapshots: BTreeMap<u64, LedgerSnapshot>,
    snapshots_taken: u64,
    origin: LedgerOrigin,
}

/// What the node started with.
struct LedgerOrigin {
    head: Arc<Head>,
    sealing: Sealing,
    /// Entries that the log had.
    height: u64,
}

/// A state of the chain to come back to.
struct LedgerSnapshot {
    head: Arc<Head>,
    timing: Timing,
    /// Entries that the log had.
    height: u64,
}

/// A snapshot that can be gone back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotInfo {
    /// The number to come back with.
    pub id: u64,
    /// Height of its newest block.
    pub number: u64,
    /// Hash of its newest block.
    pub hash: B256,
}

impl Ledger {
    /// A chain that starts here, when the log has so many entries.
    pub(in crate::chain) fn new(head: Arc<Head>, sealing: Sealing, height: u64) -> Self {
        Self { snapshots: BTreeMap::new(), snapshots_taken: 0, origin: LedgerOrigin { head, sealing, height } }
    }

    /// The snapshots, oldest first.
    pub(in crate::chain) fn snapshots(&self) -> Vec<SnapshotInfo> {
        let info = |(id, taken): (&u64, &LedgerSnapshot)| SnapshotInfo {
            id: *id,
            number: taken.head.number(),
            hash: taken.head.block.hash,
        };
        self.snapshots.iter().map(info).collect()
    }

    /// Forgets the snapshots of what other writers took back: those that were taken after so many entries.
    pub(super) fn forget_snapshots_after(&mut self, height: u64) {
        self.snapshots.retain(|_, taken| taken.height <= height);
    }

    /// Keeps a snapshot, and returns its number.
    fn keep(&mut self, snapshot: LedgerSnapshot) -> u64 {
        let id = self.snapshots_taken;
        self.snapshots_taken += 1;
        self.snapshots.insert(id, snapshot);
        if self.snapshots.len() > MAX_SNAPSHOTS {
            self.snapshots.pop_first();
        }
        id
    }
}

impl Writer {
    /// Remembers the chain as it is; returns the number to come back with.
    pub(in crate::chain) fn snapshot(&mut self) -> u64 {
        let height = self.recorder.journal.as_ref().map_or(0, Journal::height);
        let (head, timing) = (self.head(), self.shared.timing.lock().clone());
        self.ledger.keep(LedgerSnapshot { head, timing, height })
    }

    /// Goes back to a snapshot, which is used up with all later ones: blocks, state and time. Returns whether there
    /// was such a snapshot.
    pub(in crate::chain) fn revert(&mut self, id: u64) -> Result<bool, ChangeError> {
        let Some(snapshot) = self.ledger.snapshots.get(&id) else { return Ok(false) };
        let (to, shift) = (snapshot.height, snapshot.timing.shift());
        self.record(|| Entry::Revert { to, shift })?;
        let Some(LedgerSnapshot { head, timing, .. }) = self.ledger.snapshots.split_off(&id).remove(&id) else {
            return Ok(false);
        };
        *self.shared.timing.lock() = timing;
        self.shared.sealing.lock().forget_next();
        self.replace(Head::clone(&head), Vec::new());
        Ok(true)
    }

    /// Goes back by so many blocks. The time goes on as it is, and what was in the blocks is gone.
    pub(super) fn rollback(&mut self, depth: u64) -> Result<(), ChangeError> {
        let number = self.head().number().saturating_sub(depth);
        let head = self.head().rewound(number)?;
        if number < self.head().number() {
            let to = self.height_after(number).ok_or(Pruned(number))?;
            self.record_replaced(to, &[])?;
        }
        self.shared.sealing.lock().forget_next();
        self.replace(head, Vec::new());
        Ok(())
    }

    /// Replaces the newest blocks by as many others, which hold these transactions and nothing else. Nothing happens
    /// if one of the transactions cannot be executed.
    pub(super) fn reorg(&mut self, blocks: &[Vec<Transaction>]) -> Result<(), ChangeError> {
        if blocks.is_empty() {
            return Ok(());
        }
        let current = self.head();
        let number = current.number().saturating_sub(blocks.len() as u64);
        let mut head = current.rewound(number)?;
        let to = self.height_after(number).ok_or(Pruned(number))?;
        let timing = self.shared.timing.lock().clone();
        let mut sealed_blocks = Vec::with_capacity(blocks.len());
        // Something has to tell an empty block from the one whose place it takes.
        self.shared.sealing.lock().next_randomness = Some(current.block.hash);
        for transactions in blocks {
            let built = self.reorg_block(&head, transactions.clone());
            let sealed = built.inspect_err(|_| {
                *self.shared.timing.lock() = timing.clone();
                self.shared.sealing.lock().forget_next();
            })?;
            head = sealed.next.clone();
            sealed_blocks.push(sealed);
        }
        if let Err(error) = self.record_replaced(to, &sealed_blocks) {
            *self.shared.timing.lock() = timing;
            self.shared.sealing.lock().forget_next();
            return Err(error.into());
        }
        let dropped: Vec<_> = sealed_blocks.iter().flat_map(|sealed| sealed.dropped.clone()).collect();
        self.replace(head, sealed_blocks.into_iter().map(|sealed| sealed.block).collect());
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        Ok(())
    }

    fn reorg_block(&self, head: &Head, transactions: Vec<Transaction>) -> Result<Sealed, ChangeError> {
        let environment = self.shared.next_environment(head, 1);
        let hashes: Vec<_> = transactions.iter().map(Transaction::hash).collect();
        let candidate = Candidate::build(head, &environment, transactions, &[], None)?;
        let included = |hash: &B256| candidate.content.transactions.iter().any(|own| own.hash() == *hash);
        match hashes.into_iter().find(|hash| !included(hash)) {
            Some(hash) => Err(ChangeError::Transaction(hash)),
            None => Ok(self.seal(head, &environment, candidate)),
        }
    }

    /// Goes back to where the node started: the first block, without what development methods decided since. The pool
    /// and all snapshots are empty then.
    pub(super) fn reset(&mut self) -> Result<(), ChangeError> {
        let mut timing = self.shared.timing.lock().clone();
        timing.reset();
        timing.follow(&self.ledger.origin.head);
        let (to, shift) = (self.ledger.origin.height, timing.shift());
        self.record(|| Entry::Revert { to, shift })?;
        self.ledger.snapshots.clear();
        *self.shared.timing.lock() = timing;
        *self.shared.sealing.lock() = self.ledger.origin.sealing;
        self.shared.pool.clear(|| SubmitError::Dropped("the chain was reset".to_owned()));
        let origin = Head::clone(&self.ledger.origin.head);
        self.replace(origin, Vec::new());
        self.schedule();
        Ok(())
    }

    /// Starts anew with another chain, whose blocks from then on have this gas limit. The pool and all snapshots are empty
    /// then.
    pub(super) fn restart(&mut self, head: Head, gas_limit: u64) -> Result<(), ChangeError> {
        if self.recorder.journal.is_some() {
            return Err(ChangeError::Recorded);
        }
        let removed: Vec<_> = self.head().blocks_from(0).cloned().collect();
        removed.iter().for_each(|block| self.shared.index.remove(block));
        self.ledger.origin.head = Arc::new(head);
        self.ledger.origin.sealing.gas_limit = gas_limit;
        self.reset()?;
        Ok(())
    }

    /// Makes `next` the head that everybody sees, whatever it has in common with the present one. `added` are its
    /// blocks that are new.
    pub(in crate::chain) fn replace(&mut self, next: Head, added: Vec<Arc<Block>>) {
        let current = self.head();
        let (removed, _) = current.trail().difference(next.trail());
        removed.iter().for_each(|block| self.shared.index.remove(block));
        // What the newer head had let go of is held again.
        next.blocks_from(0).take_while(|block| block.number() < current.oldest()).for_each(|block| {
            self.shared.index.insert(block);
        });
        self.publish(next, added, removed);
        self.settle_all();
        // On the chain as it is now, transactions that left the pool could otherwise wait again after a restart.
        self.tidy_pool(true);
    }

    /// Goes on from a dump. Nothing changes if it does not make a chain.
    pub(in crate::chain) fn load(&mut self, dump: PreparedDump) -> Result<(), ChangeError> {
        if self.recorder.journal.is_some() {
            return Err(DumpError::Recorded.into());
        }
        let (head, ahead) = dump.restore(&self.head())?;
        let time = head.block.header.timestamp;
        match ahead {
            Some(seconds) => {
                let mut timing = self.shared.timing.lock();
                let present = timing.ahead();
                timing.increase(seconds.saturating_sub(present));
            }
            None => {
                let mut timing = self.shared.timing.lock();
                if timing.now() < time {
                    timing.set(time);
                }
            }
        }
        let (_, added) = self.head().trail().difference(head.trail());
        self.replace(head, added);
        Ok(())
    }
}

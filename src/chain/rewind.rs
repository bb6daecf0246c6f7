//! Going back: to a snapshot, by some blocks, to the beginning, and along another way from there.

use std::sync::Arc;

use alloy_primitives::B256;

use super::{
    ChangeError, Executor, Head, Journal, Pruned, SubmitError,
    candidate::Candidate,
    executor::{Sealed, Snapshot},
};
use crate::{
    block::{Block, Transaction},
    evm::BlockError,
    log::{AppendError, Entry},
};

/// Snapshots that are kept; older ones are forgotten.
const MAX_SNAPSHOTS: usize = 4_096;

/// The chain could not be led along another way.
#[derive(Debug, thiserror::Error)]
pub enum ReorgError {
    /// Its past is not held that far back.
    #[error(transparent)]
    Pruned(#[from] Pruned),
    /// A transaction cannot be part of the block that it was meant for.
    #[error("transaction {0} cannot be executed in the block it is meant for")]
    Transaction(B256),
    /// A block could not be made.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The other way could not be recorded.
    #[error("the chain cannot be written: {0}")]
    Append(#[from] AppendError),
}

/// The chain could not go back.
#[derive(Debug, thiserror::Error)]
pub enum RollbackError {
    /// Its past is not held that far back.
    #[error(transparent)]
    Pruned(#[from] Pruned),
    /// That could not be recorded.
    #[error("the chain cannot be written: {0}")]
    Append(#[from] AppendError),
}

/// The node could not start anew with another chain.
#[derive(Debug, thiserror::Error)]
pub enum RestartError {
    /// The chain is recorded in a directory, which holds one chain from its first block on.
    #[error("a chain in a data directory cannot become another one; start a node without --data-dir")]
    Recorded,
    /// The chain could not begin anew.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl Executor {
    /// Remembers the chain as it is; returns the number to come back with.
    pub fn snapshot(&mut self) -> u64 {
        let id = self.snapshots_taken;
        self.snapshots_taken += 1;
        let height = self.journal.as_ref().map_or(0, Journal::height);
        self.snapshots.insert(id, Snapshot { head: self.head(), timing: self.shared.timing.lock().clone(), height });
        if self.snapshots.len() > MAX_SNAPSHOTS {
            self.snapshots.pop_first();
        }
        id
    }

    /// Height and hash of the newest block of each snapshot.
    pub fn snapshots(&self) -> Vec<(u64, u64, B256)> {
        self.snapshots.iter().map(|(id, taken)| (*id, taken.head.number(), taken.head.block.hash)).collect()
    }

    /// Goes back to a snapshot, which is used up with all later ones: blocks, state and time. Returns whether there
    /// was such a snapshot.
    pub fn revert(&mut self, id: u64) -> Result<bool, ChangeError> {
        let Some(snapshot) = self.snapshots.get(&id) else { return Ok(false) };
        let (to, shift) = (snapshot.height, snapshot.timing.shift());
        self.record(|| Entry::Revert { to, shift })?;
        let Some(Snapshot { head, timing, .. }) = self.snapshots.split_off(&id).remove(&id) else { return Ok(false) };
        *self.shared.timing.lock() = timing;
        self.shared.sealing.lock().forget_next();
        self.replace(Head::clone(&head), Vec::new());
        Ok(true)
    }

    /// Goes back by so many blocks. The time goes on as it is, and what was in the blocks is gone.
    pub fn rollback(&mut self, depth: u64) -> Result<(), RollbackError> {
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
    pub fn reorg(&mut self, blocks: Vec<Vec<Transaction>>) -> Result<(), ReorgError> {
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
        self.set_next_randomness(current.block.hash);
        for transactions in blocks {
            let built = self.reorg_block(&head, transactions);
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

    fn reorg_block(&self, head: &Head, transactions: Vec<Transaction>) -> Result<Sealed, ReorgError> {
        let environment = self.shared.next_environment(head, 1);
        let hashes: Vec<_> = transactions.iter().map(Transaction::hash).collect();
        let candidate = Candidate::build(head, &environment, transactions, &[], None)?;
        let included = |hash: &B256| candidate.content.transactions.iter().any(|own| own.hash() == *hash);
        match hashes.into_iter().find(|hash| !included(hash)) {
            Some(hash) => Err(ReorgError::Transaction(hash)),
            None => Ok(self.seal(head, &environment, candidate)),
        }
    }

    /// Goes back to where the node started: the first block, without what development methods decided since. The pool
    /// and all snapshots are empty then.
    pub fn reset(&mut self) -> Result<(), ChangeError> {
        let mut timing = self.shared.timing.lock().clone();
        timing.reset();
        timing.follow(&self.origin.0);
        let (to, shift) = (self.origin.2, timing.shift());
        self.record(|| Entry::Revert { to, shift })?;
        self.snapshots.clear();
        *self.shared.timing.lock() = timing;
        *self.shared.sealing.lock() = self.origin.1;
        self.shared.pool.clear(|| SubmitError::Dropped("the chain was reset".to_owned()));
        let origin = Head::clone(&self.origin.0);
        self.replace(origin, Vec::new());
        self.schedule();
        Ok(())
    }

    /// Starts anew with another chain, whose blocks from then on have this gas limit. The pool and all snapshots are empty
    /// then.
    pub fn restart(&mut self, head: Head, gas_limit: u64) -> Result<(), RestartError> {
        if self.journal.is_some() {
            return Err(RestartError::Recorded);
        }
        let removed: Vec<_> = self.head().blocks_from(0).cloned().collect();
        removed.iter().for_each(|block| self.shared.index.remove(block));
        self.origin.0 = Arc::new(head);
        self.origin.1.gas_limit = gas_limit;
        self.reset()?;
        Ok(())
    }

    /// Makes `next` the head that everybody sees, whatever it has in common with the present one. `added` are its
    /// blocks that are new.
    pub(super) fn replace(&mut self, next: Head, added: Vec<Arc<Block>>) {
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
}

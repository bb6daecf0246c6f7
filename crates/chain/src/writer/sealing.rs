//! Sealing: turns ready transactions into a block, which is recorded and published.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use tetrad_evm::{BlockError, Environment};
use tetrad_primitives::{
    block::{Block, Transaction},
    state::Changes,
};
use tetrad_store::log::{AppendError, TimeShift};
use tracing::span::EnteredSpan;

use super::{ChainWriter, journal::FollowTo, phases::Phase, schedule::SealReason, timing::Timing};
use crate::{
    ChangeError, Head, SubmitError,
    block::{
        candidate::{Candidate, LeftOut},
        seal::seal,
    },
    shared::Sealing,
};

/// Most transactions that one block is offered.
pub(crate) const MAX_OFFERED: usize = 50_000;

/// Limits of what is sealed on a submitter's thread: ready senders, the gas of their transactions,
/// and consecutive blocks.
const MAX_INLINE_SENDERS: usize = 64;
const MAX_INLINE_GAS: u64 = 2_000_000;
const MAX_INLINE_BLOCKS: usize = 4;
/// The longest time for which a single command seals ready transactions.
const MAX_SEALING_TIME: Duration = Duration::from_secs(1);

/// A sealed block that is not yet published.
pub(super) struct Sealed {
    pub(crate) block: Arc<Block>,
    pub(crate) next: Head,
    /// Blocks that the next head prunes.
    pub(crate) dropped: Vec<Arc<Block>>,
    /// The block's state changes.
    pub(crate) changes: Arc<Changes>,
    /// The time shift after the block.
    pub(crate) shift: TimeShift,
    /// The timing before the block.
    pub(super) timing_before: Timing,
    /// The sealing settings before the block.
    pub(super) sealing_before: Sealing,
}

/// Enters the trace span of sealing a block.
pub(super) fn block_span(parent: &Head) -> EnteredSpan {
    tracing::trace_span!(target: "tetrad::span", "block", block.number = parent.number() + 1)
        .entered()
}

impl ChainWriter {
    /// With instant mining: seals the ready transactions. Those that arrive meanwhile, or exceed
    /// the time limit, follow later.
    pub(super) fn seal_ready(&mut self) {
        self.schedule.request_seal(SealReason::Transactions);
        let began = Instant::now();
        while self.schedule.orders.is_empty()
            && began.elapsed() < MAX_SEALING_TIME
            && self.seal_next(SealReason::Transactions)
        {}
    }

    /// Returns whether the chain is shutting down, so that no long work should be begun.
    pub(super) fn is_ending(&self) -> bool {
        self.shared.ending.load(Ordering::Acquire)
    }

    /// With instant mining: seals the ready transactions on the submitter's thread, if they are few
    /// and sealing waits for neither a disk nor another node. Returns whether all were handled.
    pub(crate) fn seal_few(&mut self) -> bool {
        if self.ended
            || !self.schedule.orders.is_empty()
            || self.recorder.journal.is_some()
            || self.head().state.base().is_some()
        {
            return false;
        }

        // The submitter's own client waits meanwhile: the writer's thread does the rest.
        for _ in 0..MAX_INLINE_BLOCKS {
            let head = self.head();
            let environment = self.shared.next_environment(&head, 0);
            let base_fee = environment.base_fee.unwrap_or(0);
            if !self
                .shared
                .pool
                .has_little_ready(base_fee, MAX_INLINE_SENDERS, MAX_INLINE_GAS)
            {
                return false;
            }

            let may_have_more = self.mining().is_instant()
                && self.wants_block(&head, &environment, SealReason::Transactions)
                && self.seal_after(&head, &environment);
            if !may_have_more {
                return true;
            }
        }
        false
    }

    /// With instant mining: waits a moment for transactions that are about to arrive, and seals a
    /// block if there is `reason` to. Returns whether there may be more to seal.
    pub(super) fn seal_next(&mut self, reason: SealReason) -> bool {
        if !self.mining().is_instant() || !self.leads {
            return false;
        }

        let head = self.head();
        let environment = self.shared.next_environment(&head, 0);
        if !self.wants_block(&head, &environment, reason) {
            return false;
        }

        self.gather_arrivals();
        self.seal_after(&head, &environment)
    }

    /// Returns whether transactions are ready, or a preamble alone is due and `reason` admits that.
    /// Otherwise releases the submitters, who would wait for a block in vain.
    fn wants_block(&self, head: &Arc<Head>, environment: &Environment, reason: SealReason) -> bool {
        let base_fee = environment.base_fee.unwrap_or(0);
        if self.shared.pool.has_ready(base_fee) {
            return true;
        }
        if reason == SealReason::Preamble && self.shared.preamble_wants_block(head, environment) {
            return true;
        }

        self.shared.pool.release_not_ready(base_fee);
        false
    }

    /// Waits a moment for transactions that are about to arrive: a block costs almost the same with
    /// one transaction as with many.
    fn gather_arrivals(&self) {
        self.shared.arrivals.gather();
        if self.shared.peers.get().is_some() {
            self.shared
                .arrivals
                .gather_next(|| self.shared.pool.awaited());
        }
    }

    /// Seals a block after `head` unless it would be empty. Returns whether there may be more to
    /// seal.
    fn seal_after(&mut self, head: &Arc<Head>, environment: &Environment) -> bool {
        match self.seal_wanted(head, environment) {
            Ok(true) => return true,
            // No block has room for the ready transactions, so submitters must not wait for them.
            Ok(false) => self.shared.pool.release_not_ready(u64::MAX),
            // The next attempt builds on the other writer's blocks, with the same transactions from
            // the pool.
            Err(ChangeError::Append(AppendError::Conflict { .. })) => {
                match self.follow(FollowTo::LogEnd) {
                    // Another node's epoch may have begun among the entries.
                    Ok(()) => return self.leads,
                    Err(error) => self.refuse_all(|| SubmitError::Storage(error.to_string())),
                }
            }
            Err(ChangeError::Append(error)) => {
                self.refuse_all(|| SubmitError::Storage(error.to_string()))
            }
            Err(ChangeError::Block(BlockError::Read(error))) => {
                self.refuse_all(|| error.clone().into())
            }
            Err(_) => self.shared.pool.release_not_ready(u64::MAX),
        }
        false
    }

    /// Seals one block with the ready transactions, even an empty one, at least `at_least` seconds
    /// after its parent.
    pub(super) fn seal_block(&mut self, at_least: u64) -> Result<Arc<Block>, ChangeError> {
        self.retry(|writer| writer.try_seal_block(at_least))
    }

    fn try_seal_block(&mut self, at_least: u64) -> Result<Arc<Block>, ChangeError> {
        let head = self.head();
        let environment = self.shared.next_environment(&head, at_least);
        let _span = block_span(&head);

        let first = self.preamble(&head, &environment);
        let candidate = self.candidate(&head, &environment, first)?;
        let (sealed, _) = self.seal_and_record(&head, &environment, candidate)?;
        Ok(self.publish_sealed(sealed))
    }

    /// Seals a block unless it would be empty. Returns whether the chain or the pool changed.
    fn seal_wanted(
        &mut self,
        head: &Arc<Head>,
        environment: &Environment,
    ) -> Result<bool, ChangeError> {
        let _span = block_span(head);
        let first = self.preamble(head, environment);
        let candidate = self.candidate(head, environment, first)?;
        if candidate.content.transactions.is_empty() {
            return Ok(self.leave_out(candidate.left_out));
        }

        let (sealed, stored_in) = self.seal_and_record(head, environment, candidate)?;
        // Only a cluster's writer derives its waits from this time.
        if self.shared.peers.get().is_some() {
            self.shared
                .arrivals
                .stored(stored_in, self.shared.pool.awaited());
        }

        self.publish_sealed(sealed);
        Ok(true)
    }

    /// Seals and records an executed candidate, and handles the transactions that it left out.
    /// Returns the time that recording took as well.
    pub(super) fn seal_and_record(
        &mut self,
        head: &Head,
        environment: &Environment,
        mut candidate: Candidate,
    ) -> Result<(Sealed, Duration), AppendError> {
        let left_out = std::mem::take(&mut candidate.left_out);
        let sealed = self.seal(head, environment, candidate);

        let began = Instant::now();
        self.record_sealed(&sealed)?;
        let stored_in = began.elapsed();

        // Only now: on top of another writer's block they may be executable.
        self.leave_out(left_out);
        Ok((sealed, stored_in))
    }

    /// Returns the preamble of the next block.
    pub(crate) fn preamble(&self, head: &Arc<Head>, environment: &Environment) -> Vec<Transaction> {
        let first = self
            .shared
            .phases
            .time(Phase::Preamble, || self.shared.preamble(head, environment));
        if !first.is_empty() {
            self.shared.timing.lock().preceded(environment.timestamp);
        }
        first
    }

    /// Executes `first` and the ready transactions. The caller [handles](Self::leave_out) those that
    /// are left out once the block is recorded: on top of another writer's block they may be
    /// executable.
    pub(super) fn candidate(
        &mut self,
        head: &Head,
        environment: &Environment,
        first: Vec<Transaction>,
    ) -> Result<Candidate, BlockError> {
        let built = self.shared.phases.time(Phase::Execute, || {
            let base_fee = environment.base_fee.unwrap_or(0);
            let mut pooled = self.shared.pool.ready(base_fee, MAX_OFFERED);
            self.unread.leave_out(&mut pooled);
            Candidate::build(head, environment, first, &pooled, None)
        });
        self.note_block(&built);
        built
    }

    /// Removes transactions that cannot be executed from the pool, and those whose state could not be
    /// read if their submitters still wait. The others were acknowledged, and are retried. Returns
    /// whether any was removed.
    pub(super) fn leave_out(&mut self, left_out: LeftOut) -> bool {
        let mut any_removed = false;
        for (hash, reason) in left_out.rejected {
            any_removed |= self.shared.pool.reject(hash, reason);
        }

        for unread in left_out.unread {
            let reason = unread.reason.to_string();
            if self.shared.pool.reject_awaited(unread.hash, unread.reason) {
                any_removed = true;
            } else {
                let is_first = self.unread.put_off(unread.sender, unread.hash, unread.took);
                if is_first {
                    tracing::warn!(hash = %unread.hash, reason, "a transaction waits for its state");
                }
            }
        }
        any_removed
    }

    /// Seals an executed candidate, and uses up the timestamp and the settings of the next block.
    pub(super) fn seal(
        &self,
        head: &Head,
        environment: &Environment,
        candidate: Candidate,
    ) -> Sealed {
        let mut state = head.state.clone();
        let phases = &self.shared.phases;
        let root = phases.time(Phase::Root, || state.apply(&candidate.changes));
        let changes = Arc::new(candidate.changes);

        let (block, (next, dropped)) = phases.time(Phase::Seal, || {
            let block = Arc::new(seal(environment, candidate.content, root));
            let extended = head.extended(
                block.clone(),
                changes.clone(),
                state,
                self.shared.history_limits,
            );
            (block, extended)
        });

        let mut timing = self.shared.timing.lock();
        let mut sealing = self.shared.sealing.lock();
        // To be restored if the log refuses the block.
        let timing_before = timing.clone();
        let sealing_before = *sealing;
        timing.sealed(head.block.header.timestamp, environment.timestamp);
        sealing.set.forget_next();

        Sealed {
            block,
            next,
            dropped,
            changes,
            shift: timing.shift(),
            timing_before,
            sealing_before,
        }
    }

    fn publish_sealed(&mut self, sealed: Sealed) -> Arc<Block> {
        let Sealed {
            block,
            next,
            dropped,
            ..
        } = sealed;

        self.publish(next, vec![block.clone()], Vec::new());

        // After the head: until then readers find these blocks by their hashes.
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        self.after_blocks();
        block
    }
}

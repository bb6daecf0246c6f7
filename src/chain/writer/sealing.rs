//! Sealing: from what the pool has ready to a block that is recorded and published.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use alloy_primitives::B256;
use tracing::span::EnteredSpan;

use super::{Writer, phases::Phase, schedule::Occasion, timing::Timing};
use crate::{
    block::{Block, Transaction},
    chain::{
        ChangeError, Head, Mining, SubmitError,
        block::{candidate::Candidate, seal::seal},
        shared::Sealing,
    },
    evm::{BlockError, Environment},
    log::{AppendError, Shift},
    state::Changes,
};

/// Transactions that one block is offered.
pub(in crate::chain) const MAX_OFFERED: usize = 50_000;

/// Senders that have something ready, gas that it may use, and blocks in a row, up to which sealing is quick enough for a
/// thread that has other things to do.
const FEW_SENDERS: usize = 64;
const LITTLE_GAS: u64 = 2_000_000;
const FEW_BLOCKS: usize = 4;
/// How long a single command may make blocks of what is ready.
const AT_ONCE: Duration = Duration::from_secs(1);

/// A block that was made on top of a head, and is not published.
pub(super) struct Sealed {
    pub(in crate::chain) block: Arc<Block>,
    pub(in crate::chain) next: Head,
    /// Blocks that the next head lets go of.
    pub(in crate::chain) dropped: Vec<Arc<Block>>,
    /// What it did to the state.
    pub(in crate::chain) changes: Arc<Changes>,
    /// How the chain's time differs from the clock's after it.
    pub(in crate::chain) shift: Shift,
    /// The time before it.
    pub(super) timing_before: Timing,
    /// The decisions for the next block before it.
    pub(super) sealing_before: Sealing,
}

/// What making a block is in a trace.
pub(super) fn block_span(parent: &Head) -> EnteredSpan {
    tracing::trace_span!(target: "tetrad::span", "block", block.number = parent.number() + 1).entered()
}

impl Writer {
    /// With instant sealing: makes blocks of what is ready. What arrives meanwhile, or is too much, comes afterwards.
    pub(super) fn seal_ready(&mut self) {
        self.schedule.look_for(Occasion::Transactions);
        let began = Instant::now();
        while self.schedule.orders.is_empty() && began.elapsed() < AT_ONCE && self.seal_next(false, true) {}
    }

    /// Whether the chain is about to end, so that nothing should be begun that takes long.
    pub(super) fn is_ending(&self) -> bool {
        self.shared.ending.load(Ordering::Acquire)
    }

    /// With instant sealing: makes blocks of what is ready where transactions arrived, as long as it is quick and waits
    /// for no disk and no other node. Returns whether it was.
    pub(in crate::chain) fn seal_few(&mut self) -> bool {
        if self.ended
            || !self.schedule.orders.is_empty()
            || self.recorder.journal.is_some()
            || self.head().state.base().is_some()
        {
            return false;
        }
        for _ in 0..FEW_BLOCKS {
            let head = self.head();
            let environment = self.shared.next_environment(&head, 0);
            if !self.shared.pool.has_little_ready(environment.base_fee.unwrap_or(0), FEW_SENDERS, LITTLE_GAS) {
                return false;
            }
            if self.mining() != Mining::Instant || !self.seal_after(&head, &environment, false, false) {
                return true;
            }
        }
        false
    }

    /// With instant sealing: makes a block if there is anything for it, and returns whether there may be more. With
    /// `alone` a due preamble is reason enough. With `gather` those that are about to arrive are given a moment.
    pub(super) fn seal_next(&mut self, alone: bool, gather: bool) -> bool {
        if self.mining() != Mining::Instant {
            return false;
        }
        let head = self.head();
        let environment = self.shared.next_environment(&head, 0);
        self.seal_after(&head, &environment, alone, gather)
    }

    fn seal_after(&mut self, head: &Arc<Head>, environment: &Environment, alone: bool, gather: bool) -> bool {
        let base_fee = environment.base_fee.unwrap_or(0);
        let wanted =
            self.shared.pool.has_executable(base_fee) || (alone && self.shared.preamble_wants_block(head, environment));
        if !wanted {
            self.shared.pool.release_unaffordable(base_fee);
            return false;
        }
        if gather {
            self.shared.arrivals.gather();
        }
        match self.seal_wanted(head, environment) {
            Ok(true) => return true,
            // Something is ready that no block has room for. Nobody should wait for that.
            Ok(false) => self.shared.pool.release_unaffordable(u64::MAX),
            // The next attempt finds the blocks of the other writer, and the same transactions in the pool.
            Err(ChangeError::Append(AppendError::Conflict { .. })) => match self.follow() {
                Ok(()) => return true,
                Err(error) => self.refuse_all(|| SubmitError::Storage(error.to_string())),
            },
            Err(ChangeError::Append(error)) => self.refuse_all(|| SubmitError::Storage(error.to_string())),
            Err(ChangeError::Block(BlockError::Read(error))) => self.refuse_all(|| error.clone().into()),
            Err(_) => self.shared.pool.release_unaffordable(u64::MAX),
        }
        false
    }

    /// Makes one block of whatever is ready, even of nothing. `at_least` is how many seconds later than its parent
    /// it must be.
    pub(super) fn seal_block(&mut self, at_least: u64) -> Result<Arc<Block>, ChangeError> {
        self.retry(|writer| writer.try_seal_block(at_least))
    }

    fn try_seal_block(&mut self, at_least: u64) -> Result<Arc<Block>, ChangeError> {
        let head = self.head();
        let environment = self.shared.next_environment(&head, at_least);
        let _span = block_span(&head);
        let first = self.preamble(&head, &environment);
        let mut candidate = self.candidate(&head, &environment, first)?;
        let rejected = std::mem::take(&mut candidate.rejected);
        let sealed = self.seal(&head, &environment, candidate);
        self.record_sealed(&sealed)?;
        self.reject(rejected);
        Ok(self.publish_sealed(sealed))
    }

    /// Makes a block if there is anything to put into it. Returns whether that changed anything.
    fn seal_wanted(&mut self, head: &Arc<Head>, environment: &Environment) -> Result<bool, ChangeError> {
        let _span = block_span(head);
        let first = self.preamble(head, environment);
        let mut candidate = self.candidate(head, environment, first)?;
        let rejected = std::mem::take(&mut candidate.rejected);
        if candidate.content.transactions.is_empty() {
            let has_any = !rejected.is_empty();
            self.reject(rejected);
            return Ok(has_any);
        }
        let sealed = self.seal(head, environment, candidate);
        self.record_sealed(&sealed)?;
        self.reject(rejected);
        self.publish_sealed(sealed);
        Ok(true)
    }

    /// What the next block begins with.
    pub(in crate::chain) fn preamble(&self, head: &Arc<Head>, environment: &Environment) -> Vec<Transaction> {
        let first = self.shared.phases.time(Phase::Preamble, || self.shared.preamble(head, environment));
        if !first.is_empty() {
            self.shared.timing.lock().preceded(environment.timestamp);
        }
        first
    }

    /// Executes `first` and what is ready in the pool. What cannot be executed is to be [rejected](Self::reject) once the
    /// block is recorded: on top of another writer's block it may be executable.
    pub(super) fn candidate(
        &mut self,
        head: &Head,
        environment: &Environment,
        first: Vec<Transaction>,
    ) -> Result<Candidate, BlockError> {
        let built = self.shared.phases.time(Phase::Execute, || {
            let pooled = self.shared.pool.executable(environment.base_fee.unwrap_or(0), MAX_OFFERED);
            Candidate::build(head, environment, first, &pooled, None)
        });
        self.note_block(&built);
        built
    }

    /// Takes transactions that cannot be executed out of the pool.
    pub(super) fn reject(&self, rejected: Vec<(B256, SubmitError)>) {
        for (hash, reason) in rejected {
            self.shared.pool.reject(hash, reason);
        }
    }

    /// Seals what was executed. The time and the decisions for the next block are used up.
    pub(super) fn seal(&self, head: &Head, environment: &Environment, candidate: Candidate) -> Sealed {
        let mut state = head.state.clone();
        let phases = &self.shared.phases;
        let root = phases.time(Phase::Root, || state.apply(&candidate.changes));
        let changes = Arc::new(candidate.changes);
        let (block, (next, dropped)) = phases.time(Phase::Seal, || {
            let block = Arc::new(seal(environment, candidate.content, root));
            let extended = head.extended(block.clone(), changes.clone(), state, self.shared.history_limits);
            (block, extended)
        });
        let (mut timing, mut sealing) = (self.shared.timing.lock(), self.shared.sealing.lock());
        let (timing_before, sealing_before) = (timing.clone(), *sealing);
        timing.sealed(head.block.header.timestamp, environment.timestamp);
        sealing.forget_next();
        Sealed { block, next, dropped, changes, shift: timing.shift(), timing_before, sealing_before }
    }

    fn publish_sealed(&mut self, sealed: Sealed) -> Arc<Block> {
        let Sealed { block, next, dropped, .. } = sealed;
        self.publish(next, vec![block.clone()], Vec::new());
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        self.after_blocks();
        block
    }
}

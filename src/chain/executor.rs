//! The one writer: turns what is ready into blocks, and makes every other change to the chain.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use alloy_primitives::Address;
use tracing::span::EnteredSpan;

use super::{
    ChangeError, Edit, Event, Head, Journal, Mining, Sealing, Shared, SubmitError, candidate::Candidate,
    failure::Failure, mining::Order, phases::Phase, seal::seal, timing::Timing,
};
use crate::{
    block::{Block, Transaction},
    evm::{BlockError, Environment},
    log::Shift,
    state::Changes,
};

/// Transactions that one block is offered.
pub(super) const MAX_OFFERED: usize = 50_000;

/// Senders that have something ready, gas that it may use, and blocks in a row, up to which sealing is quick enough for a
/// thread that has other things to do.
const FEW_SENDERS: usize = 64;
const LITTLE_GAS: u64 = 2_000_000;
const FEW_BLOCKS: usize = 4;
/// The shortest interval between blocks.
const LEAST_INTERVAL: Duration = Duration::from_millis(1);
/// How long a single command may make blocks of what is ready.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The chain as its only writer sees it.
pub struct Executor {
    pub(super) shared: Arc<Shared>,
    /// Where changes are recorded; none on a chain that lives in memory only.
    pub(super) journal: Option<Journal>,
    /// What the log says of the time.
    pub(super) recorded: Shift,
    /// Why the last block or other change could not be made, if none could since.
    pub(super) failure: Option<Failure>,
    /// Whether it was told to end.
    pub(super) ended: bool,
    /// When the next block is due, if at a time.
    pub(super) due: Option<Instant>,
    /// The pending reason to seal a block.
    pub(super) occasion: Occasion,
    /// Blocks that are being mined on demand, and when some of them were mined last.
    pub(super) orders: VecDeque<Order>,
    pub(super) mined: Instant,
    pub(super) snapshots: BTreeMap<u64, Snapshot>,
    pub(super) snapshots_taken: u64,
    /// What the node started with, and how many entries the log had then.
    pub(super) origin: (Arc<Head>, Sealing, u64),
}

/// A reason to seal a block with instant sealing, the lesser first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Occasion {
    #[default]
    Nothing,
    /// Transactions that are ready.
    Transactions,
    /// These, or else nothing but a preamble that is due.
    Preamble,
}

/// A block that was made on top of a head, and is not published.
pub(super) struct Sealed {
    pub(super) block: Arc<Block>,
    pub(super) next: Head,
    /// Blocks that the next head lets go of.
    pub(super) dropped: Vec<Arc<Block>>,
    /// What it did to the state.
    pub(super) changes: Arc<Changes>,
    /// How the chain's time differs from the clock's after it.
    pub(super) shift: Shift,
    /// The time and the decisions for the next block before it.
    pub(super) before: (Timing, Sealing),
}

/// What making a block is in a trace.
pub(super) fn block_span(parent: &Head) -> EnteredSpan {
    tracing::trace_span!(target: "tetrad::span", "block", block.number = parent.number() + 1).entered()
}

/// A state of the chain to come back to.
pub(super) struct Snapshot {
    pub(super) head: Arc<Head>,
    pub(super) timing: Timing,
    /// Entries of the log then.
    pub(super) height: u64,
}

impl Executor {
    /// A block is due an interval from now, if that is how blocks come about.
    pub(super) fn schedule(&mut self) {
        self.due = self.interval().map(|interval| Instant::now() + interval);
    }

    fn interval(&self) -> Option<Duration> {
        match self.mining() {
            Mining::Interval(interval) => Some(interval.max(LEAST_INTERVAL)),
            Mining::Instant | Mining::Manual => None,
        }
    }

    /// Does what nobody has to ask for: makes the block that is due, and a piece of what is under way. `is_awaited` says
    /// whether commands wait. Returns how long there is nothing else to do.
    pub(super) fn proceed(&mut self, is_awaited: impl FnOnce() -> bool) -> Option<Duration> {
        if self.due.is_some_and(|due| due <= Instant::now()) {
            self.seal_due();
        }
        if !self.orders.is_empty() {
            self.proceed_mining(is_awaited);
        } else if self.occasion != Occasion::Nothing {
            let alone = std::mem::take(&mut self.occasion) == Occasion::Preamble;
            if self.seal_next(alone, true) {
                self.look_for(Occasion::Transactions);
            }
        }
        match self.orders.is_empty() && self.occasion == Occasion::Nothing {
            true => self.due.map(|due| due.saturating_duration_since(Instant::now())),
            false => Some(Duration::ZERO),
        }
    }

    /// There may be something to make a block for.
    pub(super) fn look_for(&mut self, occasion: Occasion) {
        self.occasion = self.occasion.max(occasion);
    }

    /// The time for a block has come. The next one is due an interval after this one was, however long it took; those
    /// that are overdue by then are left out.
    fn seal_due(&mut self) {
        // A failure is remembered, and the next time is another chance.
        let _ = self.seal_block(0);
        if let (Some(due), Some(interval)) = (self.due, self.interval()) {
            let missed = u32::try_from(due.elapsed().as_nanos() / interval.as_nanos()).unwrap_or(u32::MAX);
            let later = interval.saturating_mul(missed.saturating_add(1));
            self.due = due.checked_add(later).or_else(|| Some(Instant::now() + interval));
        }
    }

    /// Nothing more is written.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.orders.clear();
        if let Some(journal) = self.journal.take() {
            journal.close();
        }
        self.shared.pool.clear(|| SubmitError::Stopped);
    }

    fn mining(&self) -> Mining {
        self.shared.sealing.lock().mining
    }

    /// The newest head.
    pub fn head(&self) -> Arc<Head> {
        self.shared.head.load_full()
    }

    /// With instant sealing: makes blocks of what is ready. What arrives meanwhile, or is too much, comes afterwards.
    pub(super) fn seal_ready(&mut self) {
        self.look_for(Occasion::Transactions);
        let began = Instant::now();
        while self.orders.is_empty() && began.elapsed() < AT_ONCE && self.seal_next(false, true) {}
    }

    /// Whether the chain is about to end, so that nothing should be begun that takes long.
    pub(super) fn is_ending(&self) -> bool {
        self.shared.ending.load(Ordering::Acquire)
    }

    /// With instant sealing: makes blocks of what is ready where transactions arrived, as long as it is quick and waits
    /// for no disk and no other node. Returns whether it was.
    pub(super) fn seal_few(&mut self) -> bool {
        if self.ended || !self.orders.is_empty() || self.journal.is_some() || self.head().state.base().is_some() {
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
    fn seal_next(&mut self, alone: bool, gather: bool) -> bool {
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
            Err(ChangeError::Append(error)) => self.refuse_all(|| SubmitError::Storage(error.to_string())),
            Err(ChangeError::Block(BlockError::Read(error))) => self.refuse_all(|| error.clone().into()),
            Err(_) => self.shared.pool.release_unaffordable(u64::MAX),
        }
        false
    }

    /// Makes one block of whatever is ready, even of nothing. `at_least` is how many seconds later than its parent
    /// it must be.
    pub fn seal_block(&mut self, at_least: u64) -> Result<Arc<Block>, ChangeError> {
        let head = self.head();
        let environment = self.shared.next_environment(&head, at_least);
        let _span = block_span(&head);
        let first = self.preamble(&head, &environment);
        let candidate = self.candidate(&head, &environment, first)?;
        let sealed = self.seal(&head, &environment, candidate);
        self.record_sealed(&sealed)?;
        Ok(self.publish_sealed(sealed))
    }

    /// Makes a block if there is anything to put into it. Returns whether that changed anything.
    fn seal_wanted(&mut self, head: &Arc<Head>, environment: &Environment) -> Result<bool, ChangeError> {
        let _span = block_span(head);
        let first = self.preamble(head, environment);
        let candidate = self.candidate(head, environment, first)?;
        if candidate.content.transactions.is_empty() {
            return Ok(!candidate.rejected.is_empty());
        }
        let sealed = self.seal(head, environment, candidate);
        self.record_sealed(&sealed)?;
        self.publish_sealed(sealed);
        Ok(true)
    }

    /// What the next block begins with.
    pub(super) fn preamble(&self, head: &Arc<Head>, environment: &Environment) -> Vec<Transaction> {
        let first = self.shared.phases.time(Phase::Preamble, || self.shared.preamble(head, environment));
        if !first.is_empty() {
            self.shared.timing.lock().preceded(environment.timestamp);
        }
        first
    }

    /// Executes `first` and what is ready in the pool, and takes out of the pool what cannot be executed.
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
        let mut candidate = built?;
        for (hash, reason) in std::mem::take(&mut candidate.rejected) {
            self.shared.pool.reject(hash, reason);
        }
        Ok(candidate)
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
        let before = (timing.clone(), *sealing);
        timing.sealed(head.block.header.timestamp, environment.timestamp);
        sealing.forget_next();
        Sealed { block, next, dropped, changes, shift: timing.shift(), before }
    }

    fn publish_sealed(&mut self, sealed: Sealed) -> Arc<Block> {
        let Sealed { block, next, dropped, .. } = sealed;
        self.publish(next, vec![block.clone()], Vec::new());
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        self.after_blocks();
        block
    }

    /// Makes `next` the head that everybody sees, then answers whoever waited for it.
    pub(super) fn publish(&mut self, next: Head, added: Vec<Arc<Block>>, removed: Vec<Arc<Block>>) {
        self.shared.phases.time(Phase::Publish, || {
            for block in &added {
                self.shared.index.insert(block);
                self.shared.produced.count(block);
                self.shared.arrivals.sealed(block.transactions.len());
            }
            let head = Arc::new(next.after(&self.head()));
            self.shared.undone.push(head.version(), &removed, self.shared.history_limits.bytes);
            self.shared.head.store(head.clone());
            // A nonce may be used by others than the account's own transactions: authorizations (EIP-7702), and
            // contracts that such an account creates.
            let changes = added.first().map(|first| head.changes_from(first.number()));
            let changed = changes.into_iter().flatten().flatten().flat_map(|changes| &changes.0);
            self.settle(changed.map(|change| change.address), &head);
            // Nobody may be listening.
            let _ = self.shared.events.send(Event::Head { head, added: added.into(), removed: removed.into() });
        });
    }

    /// Changes the chain between blocks, as development methods do: all of `edits`, or none if one of them fails.
    pub fn edit(&mut self, edits: &[Edit]) -> Result<(), ChangeError> {
        let head = self.head();
        let next = edits.iter().try_fold(Head::clone(&head), |head, edit| head.edit(edit))?;
        self.record_edits(&head, &next)?;
        self.publish(next, Vec::new(), Vec::new());
        let edited = self.head();
        let changes = edited.edits().iter().skip(head.edits().len()).flat_map(|changes| &changes.0);
        self.settle(changes.map(|change| change.address), &edited);
        Ok(())
    }

    /// Lets the pool know which of these accounts' transactions `head` has made pointless.
    fn settle(&self, accounts: impl IntoIterator<Item = Address>, head: &Head) {
        let is_included = |hash| self.shared.index.transaction(head, hash).is_some();
        self.shared.pool.settle(accounts, &head.state, is_included);
    }

    /// The same for every account that the pool knows, after the whole state was replaced.
    pub(super) fn settle_all(&self) {
        self.settle(self.shared.pool.senders(), &self.head());
    }
}

//! The one writer: a thread that turns what is ready into blocks, and makes every other change to the chain.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Instant,
};

use tokio::sync::oneshot;

use super::{
    ChangeError, Event, Head, Journal, Mining, Pooled, Shared, SubmitError, candidate::Candidate, seal::seal,
    timing::Timing,
};
use crate::{
    block::Block,
    evm::{Environment, Overlay},
    log::{AppendError, Entry, Shift},
    state::ReadError,
};

/// Snapshots that are kept; older ones are forgotten.
const MAX_SNAPSHOTS: usize = 4_096;
/// Transactions that one block is offered.
const MAX_OFFERED: usize = 50_000;

/// What the writer is asked to do.
pub(super) enum Command {
    /// There may be something to put into a block.
    Wake,
    /// A transaction that has to wait is to outlive the process.
    Keep(Waiting),
    /// The file of transactions that wait is to be written anew.
    TidyPool,
    /// Anything else. Runs between blocks; what it returns tells whoever asked, once the change is recorded.
    Run(Box<dyn FnOnce(&mut Executor) -> Answer + Send>),
    /// End.
    Stop,
}

/// Tells the outcome of a change to whoever asked for it, and whether what it did to the time is recorded.
pub(super) type Answer = Box<dyn FnOnce(bool) + Send>;

/// A transaction to keep, and who wants to know when it is.
pub(super) struct Waiting {
    pub(super) pooled: Arc<Pooled>,
    pub(super) kept: oneshot::Sender<Result<(), SubmitError>>,
}

/// The chain as its only writer sees it.
pub struct Executor {
    pub(super) shared: Arc<Shared>,
    pub(super) commands: Receiver<Command>,
    /// Commands that were received while looking for others.
    pub(super) deferred: VecDeque<Command>,
    /// Where changes are recorded; none on a chain that lives in memory only.
    pub(super) journal: Option<Journal>,
    /// What the log says of the time.
    pub(super) recorded: Shift,
    /// The last failure that was told of, so that one that lasts is told of once.
    pub(super) failure: Option<String>,
    /// When the next block is due, if at a time.
    pub(super) due: Option<Instant>,
    pub(super) snapshots: BTreeMap<u64, Snapshot>,
    pub(super) snapshots_taken: u64,
}

/// What became of an attempt to seal a block.
struct Sealed {
    block: Option<Arc<Block>>,
    /// Transactions that were turned down for good.
    rejected: usize,
}

/// A state of the chain to come back to.
pub(super) struct Snapshot {
    head: Arc<Head>,
    timing: Timing,
    /// Entries of the log then.
    height: u64,
}

impl Executor {
    /// Works until it is told to stop, or nobody is left to tell it.
    pub(super) fn run(mut self) {
        self.schedule();
        loop {
            let command = match (self.deferred.pop_front(), self.due) {
                (Some(command), _) => Ok(command),
                (None, None) => self.commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                (None, Some(at)) => self.commands.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match command {
                Ok(Command::Wake) => self.seal_ready(true),
                Ok(Command::Keep(waiting)) => self.keep(waiting),
                Ok(Command::TidyPool) => self.tidy_pool(true),
                Ok(Command::Run(change)) => {
                    let pool = self.shared.pool.version();
                    let answer = change(&mut self);
                    let recorded = self.record_time();
                    if self.shared.pool.version() != pool {
                        self.tidy_pool(true);
                    }
                    answer(recorded);
                    // Who moves the time or goes back to a snapshot does not ask for a block.
                    self.seal_ready(false);
                }
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = self.seal_block(0) {
                        self.tell(&error);
                    }
                    self.schedule();
                }
            }
        }
        if let Some(journal) = self.journal.take() {
            journal.close();
        }
        self.shared.pool.clear(|| SubmitError::Stopped);
    }

    /// Tells that no block could be sealed, unless that is known.
    fn tell(&mut self, error: &ChangeError) {
        let text = error.to_string();
        if self.failure.as_ref() != Some(&text) {
            tracing::error!(%error, "could not seal a block");
            self.failure = Some(text);
        }
    }

    /// Records a change before anybody sees it.
    fn record(&mut self, entry: impl FnOnce() -> Entry) -> Result<(), AppendError> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let entry = entry();
        journal.record(&entry)?;
        if let Entry::Block { shift, .. } | Entry::Time(shift) | Entry::Revert { shift, .. } = entry {
            self.recorded = shift;
        }
        Ok(())
    }

    /// Records what a development method made of the time, if no block tells of it, or takes that back.
    fn record_time(&mut self) -> bool {
        let shift = self.shared.timing.lock().shift();
        if self.journal.is_none() || shift == self.recorded || self.record(|| Entry::Time(shift)).is_ok() {
            return true;
        }
        self.shared.timing.lock().restore(self.recorded);
        false
    }

    /// Keeps transactions that have to wait: everybody's at once, so that all pay for one write together.
    fn keep(&mut self, first: Waiting) {
        let mut all = vec![first];
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Keep(waiting) => all.push(waiting),
                other => {
                    self.deferred.push_back(other);
                    break;
                }
            }
        }
        let kept: Vec<_> = all.iter().map(|waiting| waiting.pooled.kept()).collect();
        let outcome = self.journal.as_mut().map_or(Ok(()), |journal| journal.keep(&kept));
        for Waiting { pooled, kept } in all {
            let result = match &outcome {
                Ok(()) => Ok(()),
                Err(error) => {
                    let refusal = || SubmitError::Storage(error.to_string());
                    self.shared.pool.reject(pooled.transaction.hash(), refusal());
                    Err(refusal())
                }
            };
            // Whoever asked may have gone.
            let _ = kept.send(result);
        }
    }

    fn tidy_pool(&mut self, anyway: bool) {
        let shared = &self.shared;
        let waiting = || shared.pool.content().iter().map(|(pooled, _)| pooled.kept()).collect();
        if let Some(journal) = &mut self.journal {
            journal.tidy_pool(anyway, waiting);
        }
    }

    fn schedule(&mut self) {
        self.due = match self.mining() {
            Mining::Interval(interval) => Some(Instant::now() + interval),
            Mining::Instant | Mining::Manual => None,
        };
    }

    fn mining(&self) -> Mining {
        self.shared.sealing.lock().mining
    }

    /// How blocks come about from now on.
    pub fn set_mining(&mut self, mining: Mining) {
        self.shared.sealing.lock().mining = mining;
        self.schedule();
    }

    /// The base fee of the next block, in wei per gas, instead of what EIP-1559 says.
    pub fn set_next_base_fee(&mut self, base_fee: u64) {
        self.shared.sealing.lock().next_base_fee = Some(base_fee);
    }

    /// The newest head.
    pub fn head(&self) -> Arc<Head> {
        self.shared.head.load_full()
    }

    /// With instant sealing: makes blocks until nothing is left that could go into one. With `alone` a due preamble is
    /// reason enough for a block.
    fn seal_ready(&mut self, alone: bool) {
        while self.mining() == Mining::Instant {
            let head = self.head();
            let environment = self.shared.next_environment(&head, 0);
            let base_fee = environment.base_fee.unwrap_or(0);
            let wanted = self.shared.pool.has_executable(base_fee)
                || (alone && self.shared.preamble_wants_block(&head, &environment));
            if !wanted {
                self.shared.pool.release_unaffordable(base_fee);
                return;
            }
            match self.seal_on(&head, environment, true) {
                Ok(sealed) if sealed.block.is_some() || sealed.rejected > 0 => {}
                Ok(_) => {
                    // Something is ready that no block has room for. Nobody should wait for that.
                    self.shared.pool.release_unaffordable(u64::MAX);
                    return;
                }
                Err(error) => {
                    self.tell(&error);
                    if !matches!(error, ChangeError::Append(_)) {
                        self.shared.pool.release_unaffordable(u64::MAX);
                    }
                    return;
                }
            }
        }
    }

    /// Makes one block of whatever is ready, even of nothing. `at_least` is how many seconds later than its parent
    /// it must be.
    pub fn seal_block(&mut self, at_least: u64) -> Result<Arc<Block>, ChangeError> {
        let head = self.head();
        let environment = self.shared.next_environment(&head, at_least);
        Ok(self.seal_on(&head, environment, false)?.block.unwrap_or_else(|| head.block.clone()))
    }

    /// Executes, seals and publishes. Without `skip_empty` there is a block in any case.
    fn seal_on(&mut self, head: &Arc<Head>, environment: Environment, skip_empty: bool) -> Result<Sealed, ChangeError> {
        let first = self.shared.preamble(head, &environment);
        let pooled = self.shared.pool.executable(environment.base_fee.unwrap_or(0), MAX_OFFERED);
        let candidate = Candidate::build(head, &environment, first, &pooled)?;
        let rejected = candidate.rejected.len();
        for (hash, reason) in candidate.rejected {
            self.shared.pool.reject(hash, reason);
        }
        if skip_empty && candidate.content.transactions.is_empty() {
            return Ok(Sealed { block: None, rejected });
        }
        let mut state = head.state.clone();
        let root = state.apply(&candidate.changes);
        let block = Arc::new(seal(&environment, candidate.content, root));
        let changes = Arc::new(candidate.changes);
        let mut timing = self.shared.timing.lock().clone();
        timing.sealed(environment.timestamp);
        let shift = timing.shift();
        let entry = || Entry::Block { block: block.clone(), changes: changes.clone(), shift };
        if let Err(error) = self.record(entry) {
            let reason = || SubmitError::Storage(error.to_string());
            pooled.iter().for_each(|pooled| self.shared.pool.refuse(pooled.transaction.hash(), reason));
            return Err(error.into());
        }
        self.failure = None;
        let (next, dropped) = head.extended(block.clone(), changes, state, self.shared.history_limits);
        *self.shared.timing.lock() = timing;
        self.shared.sealing.lock().next_base_fee = None;
        self.publish(next, vec![block.clone()], Vec::new());
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        if let Some(journal) = &mut self.journal {
            journal.settled(&self.shared.head.load(), shift);
        }
        self.tidy_pool(false);
        Ok(Sealed { block: Some(block), rejected })
    }

    /// Makes `next` the head that everybody sees, then answers whoever waited for it.
    fn publish(&mut self, next: Head, added: Vec<Arc<Block>>, removed: Vec<Arc<Block>>) {
        added.iter().for_each(|block| self.shared.index.insert(block));
        let head = Arc::new(next);
        self.shared.head.store(head.clone());
        let senders = added.iter().flat_map(|block| &block.transactions).map(|transaction| transaction.sender);
        self.shared.pool.settle(senders, &head.state);
        // Nobody may be listening.
        let _ = self.shared.events.send(Event::Head { head, added: added.into(), removed: removed.into() });
    }

    /// Changes the state between blocks, as development methods do.
    pub fn edit<R>(&mut self, edit: impl FnOnce(&mut Overlay<'_>) -> Result<R, ReadError>) -> Result<R, ChangeError> {
        let head = self.head();
        let mut overlay = Overlay::new(&head.state, &*head);
        let result = edit(&mut overlay)?;
        let changes = Arc::new(overlay.into_changes());
        let mut state = head.state.clone();
        let root = state.apply(&changes);
        let next = head.edited(changes.clone(), state);
        self.record(|| Entry::Edit { changes, root })?;
        self.publish(next, Vec::new(), Vec::new());
        self.shared.pool.settle_all(&self.head().state);
        Ok(result)
    }

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

    /// Goes back to a snapshot, which is used up with all later ones. Returns whether there was such a snapshot.
    pub fn revert(&mut self, id: u64) -> Result<bool, ChangeError> {
        let Some(snapshot) = self.snapshots.get(&id) else { return Ok(false) };
        let (to, shift) = (snapshot.height, snapshot.timing.shift());
        self.record(|| Entry::Revert { to, shift })?;
        let Some(Snapshot { head, timing, .. }) = self.snapshots.split_off(&id).remove(&id) else { return Ok(false) };
        let current = self.head();
        let removed: Vec<_> = current.blocks_from(head.number() + 1).cloned().collect();
        removed.iter().for_each(|block| self.shared.index.remove(block));
        // What the newer head had let go of is held again.
        head.blocks_from(0).take_while(|block| block.number() < current.oldest()).for_each(|block| {
            self.shared.index.insert(block);
        });
        *self.shared.timing.lock() = timing;
        self.shared.sealing.lock().next_base_fee = None;
        self.publish(Head::clone(&head), Vec::new(), removed);
        self.shared.pool.settle_all(&head.state);
        Ok(true)
    }

    /// Puts a time on the next block. It may not be before the newest one.
    pub fn set_next_timestamp(&mut self, timestamp: u64) -> Result<(), u64> {
        let parent = self.head().block.header.timestamp;
        if timestamp < parent {
            return Err(parent);
        }
        self.shared.timing.lock().promise_next(timestamp);
        Ok(())
    }

    /// Moves the chain's time; returns by how many seconds it is now ahead of the clock.
    pub fn increase_time(&mut self, seconds: i64) -> i64 {
        self.shared.timing.lock().increase(seconds)
    }
}

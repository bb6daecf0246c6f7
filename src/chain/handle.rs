//! The handle to a chain: reads take the newest [`Head`], changes go to the writer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use alloy_primitives::{Address, B256};
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::{broadcast, oneshot};

use super::{
    Blobs, Change, ChangeError, Clock, Head, HistoryLimits, Mining, Missed, News, Outcome, Pace, Pool, PoolLimits,
    Preamble, Produced, Recovered, Seen, SnapshotInfo, Stopped, WriterThread,
    shared::{Sealing, Shared},
    view::{index::Index, news::Undone},
    writer::{
        Ledger, Recorder, Schedule, Writer, arrivals::Arrivals, journal::Journal, phases::Phases, seal_lock::SealLock,
        thread::Command, timing::Timing,
    },
};
use crate::{
    block::{Block, Transaction},
    evm::{ChainParams, Environment},
    metrics::Distribution,
    store::Found,
};

/// Events that a slow listener may fall behind by before it misses some.
const EVENT_BACKLOG: usize = 1_024;

/// How a chain behaves.
#[derive(Clone)]
pub struct ChainConfig {
    /// When blocks are sealed.
    pub mining: Mining,
    /// Gas limit of new blocks.
    pub gas_limit: u64,
    /// The account that gets the tips.
    pub beneficiary: Address,
    /// The least tip that the pool accepts, in wei per gas.
    pub min_tip: u128,
    /// The pool's limits.
    pub pool: PoolLimits,
    /// The limits of the history in memory.
    pub history: HistoryLimits,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
}

/// A change of the chain or of its pool.
#[derive(Clone, Debug)]
pub enum Event {
    /// A head was published.
    Head {
        /// The head.
        head: Arc<Head>,
        /// The blocks that it adds to the head before, oldest first.
        added: Arc<[Arc<Block>]>,
        /// The blocks of the head before that it undoes, oldest first.
        removed: Arc<[Arc<Block>]>,
    },
    /// The pool accepted a transaction.
    Pending(Arc<Transaction>),
}

/// A handle to the chain. Clones share it.
#[derive(Clone)]
pub struct Chain {
    pub(super) shared: Arc<Shared>,
    pub(super) writer: Arc<Mutex<Writer>>,
    pub(super) commands: mpsc::Sender<Command>,
}

impl Chain {
    /// Starts the writer on top of `head`. The chain lives in memory only.
    pub fn spawn(
        head: Head,
        config: ChainConfig,
        preamble: Option<Box<dyn Preamble>>,
    ) -> std::io::Result<(Self, WriterThread)> {
        Self::resume(Recovered::in_memory(head), config, preamble)
    }

    /// Starts the writer on top of a recovered chain, and records from there on.
    pub fn resume(
        recovered: Recovered,
        config: ChainConfig,
        preamble: Option<Box<dyn Preamble>>,
    ) -> std::io::Result<(Self, WriterThread)> {
        let Recovered { head, shift, journal, waiting } = recovered;
        let (commands, receiver) = mpsc::channel();
        let sealing = Sealing {
            mining: config.mining,
            gas_limit: config.gas_limit,
            gas_limit_at_once: false,
            beneficiary: config.beneficiary,
            min_tip: config.min_tip,
            next_base_fee: None,
            next_randomness: None,
        };
        let head = Arc::new(head);
        let pool = Pool::new(config.pool, config.clock.clone());
        let mut timing = Timing::new(config.clock);
        timing.restore(shift);
        timing.follow(&head);
        let origin_height = journal.as_ref().map_or(0, Journal::height);
        let shared = Arc::new(Shared {
            pool,
            arrivals: Arrivals::default(),
            seal_lock: SealLock::default(),
            woken: AtomicBool::new(false),
            ending: AtomicBool::new(false),
            blobs: Blobs::default(),
            index: Index::default(),
            undone: Undone::default(),
            events: broadcast::Sender::new(EVENT_BACKLOG),
            timing: Mutex::new(timing),
            sealing: Mutex::new(sealing),
            preamble,
            history_limits: config.history,
            history: journal.as_ref().and_then(Journal::history),
            keeps_pool: journal.as_ref().is_some_and(Journal::keeps_pool),
            pending: Mutex::default(),
            phases: Phases::default(),
            produced: Produced::default(),
            head: ArcSwap::new(head.clone()),
        });
        shared.head.load().blocks_from(0).for_each(|block| shared.index.insert(block));
        let writer = Arc::new(Mutex::new(Writer {
            shared: shared.clone(),
            ledger: Ledger::new(head, sealing, origin_height),
            schedule: Schedule::default(),
            recorder: Recorder::new(journal, shift),
            ended: false,
        }));
        let thread = WriterThread::start(writer.clone(), receiver)?;
        let chain = Self { shared, writer, commands };
        chain.wait_again(waiting);
        Ok((chain, thread))
    }

    /// The newest head. Take it once per request, so that the whole answer is about the same chain.
    pub fn head(&self) -> Arc<Head> {
        self.shared.head.load_full()
    }

    /// The chain's parameters: its id, forks and contracts of consensus.
    pub fn params(&self) -> Arc<ChainParams> {
        self.shared.head.load().params.clone()
    }

    /// The transactions that wait for a block.
    pub fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    /// The blobs of the newest transactions that had any.
    pub fn blobs(&self) -> &Blobs {
        &self.shared.blobs
    }

    /// The block and the position in it of the transaction with this hash.
    pub fn transaction(&self, head: &Head, hash: B256) -> Option<(Arc<Block>, usize)> {
        let recent = self.shared.index.transaction(head, hash).map(|(block, index)| (block.clone(), index));
        recent.or_else(|| match self.shared.history.as_ref()?.find(hash)? {
            Found::Transaction(block, index) if block.number() < head.oldest() => Some((block, index)),
            _ => None,
        })
    }

    /// Subscribes to events. A listener that falls behind learns how many it missed.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.shared.events.subscribe()
    }

    /// The base fee of the next block in wei per gas; none before London.
    pub fn next_base_fee(&self, head: &Head) -> Option<u64> {
        self.shared.next_environment(head, 0).base_fee
    }

    /// The environment of the next block.
    pub fn next_environment(&self, head: &Head) -> Environment {
        self.shared.next_environment(head, 0)
    }

    /// When blocks are sealed.
    pub fn mining(&self) -> Mining {
        self.shared.sealing.lock().mining
    }

    /// The chain's time, in seconds since the Unix epoch. The next block gets it, unless its parent is later.
    pub fn now(&self) -> u64 {
        self.shared.timing.lock().now()
    }

    /// The clock's time since the newest block was sealed, without the time that development methods skipped.
    pub fn idle(&self) -> Duration {
        self.shared.timing.lock().idle()
    }

    /// The account that gets the tips of new blocks.
    pub fn beneficiary(&self) -> Address {
        self.shared.sealing.lock().beneficiary
    }

    /// The least tip that the pool accepts, in wei per gas.
    pub fn min_tip(&self) -> u128 {
        self.shared.sealing.lock().min_tip
    }

    /// The limits of the history in memory.
    pub fn history_limits(&self) -> HistoryLimits {
        self.shared.history_limits
    }

    /// Wakes the writer: there may be transactions for a block.
    pub fn wake(&self) {
        if !self.shared.woken.swap(true, Ordering::AcqRel) {
            // Without a writer the chain has ended. The submitter learns that from the answer.
            let _ = self.commands.send(Command::Wake);
        }
    }

    /// Has the writer make a change between blocks, and waits for the outcome.
    pub async fn change(&self, change: Change) -> Result<Outcome, ChangeError> {
        self.ask(|reply| Command::Change(change, reply)).await?
    }

    /// Makes blocks of whatever is ready, even of nothing, and waits for them. A few are made at once, with nothing in
    /// between; many in pieces, between which other changes have their turn.
    pub async fn mine(&self, count: u64, pace: Pace) -> Result<(), ChangeError> {
        self.change(Change::Mine { count, pace }).await.map(drop)
    }

    /// Remembers the chain as it is. The result is the number to [revert](Self::revert) to.
    pub async fn snapshot(&self) -> Result<u64, ChangeError> {
        self.change(Change::Snapshot).await?.snapshot()
    }

    /// Goes back to a snapshot, which is used up with all later ones. Returns whether there was such a snapshot.
    pub async fn revert(&self, id: u64) -> Result<bool, ChangeError> {
        self.change(Change::Revert(id)).await?.found()
    }

    /// Moves the chain's time by so many seconds. Returns by how many it is ahead of the clock then.
    pub async fn increase_time(&self, seconds: i64) -> Result<i64, ChangeError> {
        self.change(Change::IncreaseTime(seconds)).await?.seconds()
    }

    /// Sets the chain's time, in seconds since the Unix epoch. Returns by how many seconds it jumped ahead.
    pub async fn set_time(&self, now: u64) -> Result<i64, ChangeError> {
        self.change(Change::SetTime(now)).await?.seconds()
    }

    /// Fixes the seconds from each block to the next, or lets the clock decide again. Returns whether they were fixed.
    pub async fn set_block_interval(&self, seconds: Option<u64>) -> Result<bool, ChangeError> {
        self.change(Change::SetBlockInterval(seconds)).await?.found()
    }

    /// The snapshots that can be gone back to, oldest first.
    pub async fn snapshots(&self) -> Result<Vec<SnapshotInfo>, Stopped> {
        self.ask(Command::Snapshots).await
    }

    /// The reason why no block can be sealed; none if the last attempt succeeded, or another one does.
    pub async fn obstacle(&self) -> Result<Option<String>, Stopped> {
        self.ask(Command::Obstacle).await
    }

    /// The head after all earlier requests to the writer, and by how many seconds the chain's time is ahead of the clock
    /// then.
    pub async fn present(&self) -> Result<(Arc<Head>, i64), Stopped> {
        self.ask(Command::Present).await
    }

    /// Sends a command to the writer and waits for the reply.
    async fn ask<R>(&self, command: impl FnOnce(oneshot::Sender<R>) -> Command) -> Result<R, Stopped> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).map_err(|_| Stopped::Ended)?;
        answer.await.map_err(|_| Stopped::Ended)
    }

    /// Cancels long work because the node is about to end. Short work is still done.
    pub fn wind_down(&self) {
        self.shared.ending.store(true, Ordering::Release);
    }

    /// Ends the writer after its current command.
    pub fn stop(&self) {
        self.wind_down();
        let _ = self.commands.send(Command::Stop);
    }

    /// The durations of the phases of sealing since the start, by name.
    pub fn block_phases(&self) -> Vec<(&'static str, Distribution)> {
        self.shared.phases.distributions()
    }

    /// Counts of the blocks sealed since the start, and of their transactions and gas. Undone blocks stay counted.
    pub fn produced(&self) -> &Produced {
        &self.shared.produced
    }

    /// Returns the changes since `seen` and moves `seen` to the present.
    pub fn news(&self, seen: &mut Seen) -> Result<News, Missed> {
        let head = self.head();
        let before = std::mem::replace(seen, Seen::of(&head));
        let (removed, next) = self.shared.undone.since(before, head.version())?;
        // On a fork, blocks before the first one belong to the other chain.
        let next = next.max(head.genesis.number());
        if next < head.oldest() {
            return Err(Missed(next));
        }
        Ok(News { removed, added: head.blocks_from(next).cloned().collect() })
    }
}

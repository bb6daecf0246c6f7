//! The handle to a chain: reads use the newest [`Head`], changes go to the writer.

use std::{
    sync::{Arc, atomic::Ordering, mpsc},
    time::{Duration, Instant},
};

use alloy_primitives::{Address, B256};
use parking_lot::{Mutex, RwLock};
use tetrad_evm::{ChainParams, Environment};
use tetrad_primitives::block::{Block, Impersonated, Mining};
use tetrad_stdx::metrics::Distribution;
use tetrad_store::{
    log::LogError,
    store::{Found, SnapshotInfo},
};
use tokio::sync::{broadcast, oneshot};

use super::{
    Blobs, ChainPosition, ChainUpdate, Change, ChangeError, ChangeOutcome, Event, Head,
    HistoryLimits, Pace, Pool, PositionExpired, Preamble, Produced, Recovered, Stopped,
    WriterThread,
    shared::{ChainConfig, SharedChain},
    writer::{
        ChainWriter, ChangeRecorder, RevertPoints, UnreadSenders, WriterSchedule, journal::Journal,
        thread::WriterCommand,
    },
};

/// A handle to the chain. Clones share it.
#[derive(Clone)]
pub struct Chain {
    pub(super) shared: Arc<SharedChain>,
    pub(super) writer: Arc<Mutex<ChainWriter>>,
    pub(super) commands: mpsc::Sender<WriterCommand>,
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
        let Recovered {
            head,
            shift,
            standing,
            journal,
            waiting,
        } = recovered;

        let head = Arc::new(head);
        let leads = config.leads;
        let height = journal.as_ref().map_or(0, Journal::height);
        let shared = Arc::new(SharedChain::new(
            head.clone(),
            shift,
            &standing.settings,
            journal.as_ref(),
            config,
            preamble,
        ));

        let (commands, receiver) = mpsc::channel();
        let writer = Arc::new(Mutex::new(ChainWriter {
            shared: shared.clone(),
            revert_points: RevertPoints::new(head, standing.snapshots, height),
            schedule: WriterSchedule::default(),
            recorder: ChangeRecorder::new(journal, shift, standing.settings),
            unread: UnreadSenders::new(),
            leads,
            ended: false,
        }));
        let thread = WriterThread::start(writer.clone(), receiver)?;

        let chain = Self {
            shared,
            writer,
            commands,
        };
        chain.restore_pool(waiting);
        Ok((chain, thread))
    }

    /// Returns the newest head. Take it once per request, so that the whole response is consistent.
    pub fn head(&self) -> Arc<Head> {
        self.shared.head.load_full()
    }

    /// Returns the chain's parameters: its id, forks and consensus contracts.
    pub fn params(&self) -> Arc<ChainParams> {
        self.shared.head.load().params.clone()
    }

    /// Returns the transaction pool.
    pub fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    /// Returns the blobs of the newest blob transactions.
    pub fn blobs(&self) -> &Blobs {
        &self.shared.blobs
    }

    /// Returns the block of the transaction with this Ethereum hash, and its position there.
    pub fn transaction(&self, head: &Head, hash: B256) -> Option<(Arc<Block>, usize)> {
        let found = self.transaction_by_any_hash(head, hash);
        found.filter(|(block, index)| {
            block
                .transactions
                .get(*index)
                .is_some_and(|found| found.hash() == hash)
        })
    }

    /// Returns the block of the transaction with this hash, which is its Ethereum hash or the
    /// Cosmos hash of a Cosmos transaction, and its position there.
    pub fn transaction_by_any_hash(&self, head: &Head, hash: B256) -> Option<(Arc<Block>, usize)> {
        let recent = self
            .shared
            .index
            .transaction(head, hash)
            .map(|(block, index)| (block.clone(), index));

        recent.or_else(|| match self.shared.history.as_ref()?.find(hash)? {
            Found::Transaction(block, index) if block.number() < head.oldest() => {
                Some((block, index))
            }
            _ => None,
        })
    }

    /// Iterates over the blocks before those in memory that changed an account, newest first. There
    /// are none without a data directory.
    pub fn older_blocks_changing<'a>(
        &'a self,
        head: &Head,
        address: Address,
    ) -> impl Iterator<Item = Result<Arc<Block>, LogError>> + 'a {
        let oldest = head.oldest();
        let history = self.shared.history.as_ref();
        history
            .into_iter()
            .flat_map(move |history| history.blocks_changing(address, oldest))
    }

    /// Subscribes to events. A subscriber that falls behind learns how many events it missed.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.shared.events.subscribe()
    }

    /// Returns the base fee of the next block in wei per gas, or `None` before London.
    pub fn next_base_fee(&self, head: &Head) -> Option<u64> {
        self.shared.next_environment(head, 0).base_fee
    }

    /// Returns the environment of the next block.
    pub fn next_environment(&self, head: &Head) -> Environment {
        self.shared.next_environment(head, 0)
    }

    /// Returns the condition for sealing a block.
    pub fn mining(&self) -> Mining {
        self.shared.sealing.lock().mining()
    }

    /// Returns the chain's time, in seconds since the Unix epoch: the timestamp of the next block,
    /// unless its parent is later.
    pub fn now(&self) -> u64 {
        self.shared.timing.lock().now()
    }

    /// Returns the clock's time since the newest block was sealed, without the time that
    /// development methods skipped.
    pub fn idle(&self) -> Duration {
        self.shared.timing.lock().idle()
    }

    /// Returns the account that receives the tips of new blocks.
    pub fn beneficiary(&self) -> Address {
        self.shared.sealing.lock().beneficiary()
    }

    /// Returns the minimum tip that the pool accepts, in wei per gas.
    pub fn min_tip(&self) -> u128 {
        self.shared.sealing.lock().min_tip()
    }

    /// Returns the accounts that development methods impersonate, as they are at any time.
    pub fn impersonated(&self) -> Arc<RwLock<Impersonated>> {
        self.shared.impersonated.clone()
    }

    /// Returns the limits of the history in memory.
    pub fn history_limits(&self) -> HistoryLimits {
        self.shared.history_limits
    }

    /// Wakes the writer: there may be transactions for a block.
    pub fn wake(&self) {
        if !self.shared.woken.swap(true, Ordering::AcqRel) {
            // Sending fails once the chain has stopped, of which the submitter learns through its
            // own channel.
            let _ = self.commands.send(WriterCommand::Wake);
        }
    }

    /// Makes a change and waits for the outcome: in a cluster the leader makes it, and this node's
    /// head includes it when this returns.
    pub async fn change(&self, change: Change) -> Result<ChangeOutcome, ChangeError> {
        match self.shared.peers.get() {
            Some(peers) => self.change_among(&**peers, change).await,
            None => self.change_here(change, None).await,
        }
    }

    /// Sends a change to this node's writer and waits for the outcome. In a cluster, the `request`
    /// for the change has an id, a random number that is the same whenever it is made again.
    pub async fn change_here(
        &self,
        change: Change,
        request: Option<u64>,
    ) -> Result<ChangeOutcome, ChangeError> {
        let asked = Instant::now();
        self.ask(|reply| WriterCommand::Change {
            change,
            request,
            asked,
            reply,
        })
        .await?
    }

    /// Seals blocks with the transactions that are ready, even empty ones, and waits for them. Many
    /// blocks are mined in pieces, between which other changes have their turn.
    pub async fn mine(&self, count: u64, pace: Pace) -> Result<(), ChangeError> {
        self.change(Change::Mine { count, pace }).await.map(drop)
    }

    /// Takes a snapshot of the chain. Returns the id to [revert](Self::revert) to.
    pub async fn snapshot(&self) -> Result<u64, ChangeError> {
        self.change(Change::Snapshot { name: None })
            .await?
            .snapshot()
    }

    /// Takes a snapshot with a name of at most 255 bytes. Returns the id to [revert](Self::revert)
    /// to.
    pub async fn named_snapshot(&self, name: &str) -> Result<u64, ChangeError> {
        self.change(Change::Snapshot {
            name: Some(name.into()),
        })
        .await?
        .snapshot()
    }

    /// Reverts to a snapshot, which is used up with all later ones. Returns whether it existed.
    pub async fn revert(&self, id: u64) -> Result<bool, ChangeError> {
        self.change(Change::Revert(id)).await?.found()
    }

    /// Moves the chain's time by this number of seconds. Returns the number by which it is then
    /// ahead of the clock.
    pub async fn increase_time(&self, seconds: i64) -> Result<i64, ChangeError> {
        self.change(Change::IncreaseTime(seconds)).await?.seconds()
    }

    /// Sets the chain's time, in seconds since the Unix epoch. Returns the number of seconds by
    /// which it moved.
    pub async fn set_time(&self, now: u64) -> Result<i64, ChangeError> {
        self.change(Change::SetTime(now)).await?.seconds()
    }

    /// Sets the seconds between blocks, or follows the clock again. Returns whether they were set
    /// before.
    pub async fn set_block_interval(&self, seconds: Option<u64>) -> Result<bool, ChangeError> {
        self.change(Change::SetBlockInterval(seconds))
            .await?
            .found()
    }

    /// Returns the snapshots, oldest first.
    pub async fn snapshots(&self) -> Result<Vec<SnapshotInfo>, Stopped> {
        self.ask(WriterCommand::Snapshots).await
    }

    /// Returns the reason why no block can be sealed, or `None` if the last attempt succeeded or a
    /// new one does.
    pub async fn obstacle(&self) -> Result<Option<String>, Stopped> {
        self.ask(WriterCommand::Obstacle).await
    }

    /// Returns the head after all earlier requests to the writer, and the number of seconds by
    /// which the chain's time is then ahead of the clock.
    pub async fn present(&self) -> Result<(Arc<Head>, i64), Stopped> {
        self.ask(WriterCommand::Present).await
    }

    /// Returns the head of a chain whose writer has ended, and the number of seconds by which its
    /// time is ahead of the clock.
    pub fn at_rest(&self) -> (Arc<Head>, i64) {
        (self.head(), self.shared.timing.lock().ahead())
    }

    /// Sends a command to the writer and waits for the reply.
    pub(super) async fn ask<R>(
        &self,
        command: impl FnOnce(oneshot::Sender<R>) -> WriterCommand,
    ) -> Result<R, Stopped> {
        let (reply, answer) = oneshot::channel();
        self.commands
            .send(command(reply))
            .map_err(|_| Stopped::Ended)?;
        answer.await.map_err(|_| Stopped::Ended)
    }

    /// Cancels long work because the node is shutting down. Short work is still done.
    pub fn wind_down(&self) {
        self.shared.ending.store(true, Ordering::Release);
    }

    /// Stops the writer after its current command.
    pub fn stop(&self) {
        self.wind_down();
        let _ = self.commands.send(WriterCommand::Stop);
    }

    /// Returns the durations of the phases of sealing since the start, by name.
    pub fn block_phases(&self) -> Vec<(&'static str, Distribution)> {
        self.shared.phases.distributions()
    }

    /// Returns the counts of blocks sealed since the start, and of their transactions and gas.
    /// Blocks that were removed later stay counted.
    pub fn produced(&self) -> &Produced {
        &self.shared.produced
    }

    /// Returns the changes since `seen`, and moves `seen` to the present head.
    pub fn update_since(&self, seen: &mut ChainPosition) -> Result<ChainUpdate, PositionExpired> {
        let head = self.head();
        let before = std::mem::replace(seen, ChainPosition::of(&head));

        let (removed, next) = self.shared.removed.since(before, head.version())?;
        // On a fork, blocks before the genesis block belong to the other chain.
        let next = next.max(head.genesis.number());
        if next < head.oldest() {
            return Err(PositionExpired(next));
        }

        Ok(ChainUpdate {
            removed,
            added: head.blocks_from(next).cloned().collect(),
        })
    }
}

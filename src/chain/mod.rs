//! The ledger: one writer, any number of readers.
//!
//! [`Chain`] is the handle that everything else holds. Reads take the current [`Head`], an immutable value, and never
//! wait for the writer; changes go to the writer's thread. Knows nothing of how it is asked: no HTTP, no wire codes.

mod apply;
mod arrivals;
mod baton;
mod blobs;
mod build;
mod built_states;
mod candidate;
mod clock;
mod dump;
mod edit;
mod error;
mod executor;
mod failure;
pub mod fees;
mod genesis;
mod head;
mod header;
mod index;
mod journal;
mod keyring;
mod log_windows;
mod maintain;
mod mining;
mod news;
mod ommers;
mod past;
mod phases;
mod pool;
mod produced;
mod record;
mod recover;
mod rewind;
mod seal;
mod shared;
mod simulate;
mod spine;
mod submit;
mod timing;
mod trail;
mod view;
mod writer;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use alloy_primitives::{Address, B256};
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::{broadcast, oneshot};

pub use crate::store::{LogKey, PRICES};
pub use apply::{Applied, ApplyError, ForeignBlock, Refusal, apply, recover};
pub use blobs::Blobs;
pub use build::{BuildError, BuildPlan, Built, build};
pub use clock::{Clock, ManualClock, SystemClock};
pub use dump::{Dump, DumpError, PreparedDump};
pub use edit::{Edit, RawSignature};
pub use error::{ChangeError, SubmitError};
pub use executor::Executor;
pub use genesis::{Genesis, GenesisAccount, GenesisError, Step};
pub use head::{Head, HistoryLimits, Pruned};
pub use header::{MAX_GAS_LIMIT, MIN_GAS_LIMIT};
pub use journal::Journal;
pub use keyring::{Keyring, UnsignedTransaction, sign_transaction};
pub use maintain::{MaintainError, Report, compact, export_blocks, repair, verify};
pub use mining::{MineError, Pace};
pub use news::{Missed, News, Seen};
pub use pool::{Accepted, Admission, Pool, PoolLimits, Pooled};
pub use produced::Produced;
pub use recover::{OpenError, Opening, Recovered, open};
pub use rewind::{ReorgError, RestartError, RollbackError};
pub use simulate::{
    BlockPlan, CallOutcome, MAX_SIMULATED_BLOCKS, PlannedCall, Simulated, SimulationError, SimulationOptions, simulate,
    without_signature,
};
pub use trail::Trail;
pub use view::{BlockId, View, ViewError};
pub use writer::Writer;

use self::{
    arrivals::Arrivals,
    baton::Baton,
    executor::Occasion,
    index::Index,
    news::Undone,
    phases::Phases,
    shared::{Sealing, Shared},
    timing::Timing,
    writer::{Answer, Command},
};
use crate::{
    block::{Block, Transaction},
    evm::{ChainParams, Environment},
    store::Found,
};

/// Events that a slow listener may fall behind by before it misses some.
const EVENT_BACKLOG: usize = 1_024;

/// When blocks are sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mining {
    /// As soon as there is something to include.
    Instant,
    /// At a fixed pace, even if there is nothing to include.
    Interval(Duration),
    /// Only on demand.
    Manual,
}

/// How a chain behaves.
#[derive(Clone)]
pub struct ChainConfig {
    /// When blocks are sealed.
    pub mining: Mining,
    /// Gas limit of new blocks.
    pub gas_limit: u64,
    /// Who gets the tips.
    pub beneficiary: Address,
    /// The least tip that the pool accepts, in wei per gas.
    pub min_tip: u128,
    /// How much the pool holds.
    pub pool: PoolLimits,
    /// How much of the past is held in memory.
    pub history: HistoryLimits,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
}

/// Transactions that the node itself puts first into a block, such as price updates.
///
/// An implementation answers from what it is given: the same questions come for blocks that are sealed and for the
/// pending one, which never is.
pub trait Preamble: Send + Sync {
    /// Whether a block with these circumstances should begin with some. Asked often; must be quick.
    fn is_due(&self, head: &Arc<Head>, environment: &Environment) -> bool;

    /// How often a block may be made for their sake alone, as the clock goes, when nobody else has anything to put into
    /// one; none if never.
    fn alone_every(&self) -> Option<Duration>;

    /// The transactions.
    fn transactions(&self, head: &Arc<Head>, environment: &Environment) -> Vec<Transaction>;
}

/// Something happened to the chain.
#[derive(Clone, Debug)]
pub enum Event {
    /// There is another head.
    Head {
        /// The head.
        head: Arc<Head>,
        /// Its blocks that the head before did not have, oldest first.
        added: Arc<[Arc<Block>]>,
        /// Blocks of the head before that it does not have, oldest first.
        removed: Arc<[Arc<Block>]>,
    },
    /// The pool accepted a transaction.
    Pending(Arc<Transaction>),
}

/// A handle to the chain. Clones share it.
#[derive(Clone)]
pub struct Chain {
    shared: Arc<Shared>,
    executor: Arc<Mutex<Executor>>,
    commands: mpsc::Sender<Command>,
}

/// The chain's writer does not do what it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// It has ended.
    #[error("the node is shutting down")]
    Ended,
    /// It could not record a change of the time, and took it back.
    #[error("the chain cannot be written: the time is unchanged")]
    Unrecorded,
}

impl Chain {
    /// Starts the writer on top of `head`. The chain lives in memory only.
    pub fn spawn(
        head: Head,
        config: ChainConfig,
        preamble: Option<Box<dyn Preamble>>,
    ) -> std::io::Result<(Self, Writer)> {
        Self::resume(Recovered::in_memory(head), config, preamble)
    }

    /// Starts the writer on top of what was recovered, and records from there on.
    pub fn resume(
        recovered: Recovered,
        config: ChainConfig,
        preamble: Option<Box<dyn Preamble>>,
    ) -> std::io::Result<(Self, Writer)> {
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
            baton: Baton::default(),
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
        let executor = Executor {
            shared: shared.clone(),
            journal,
            recorded: shift,
            failure: None,
            ended: false,
            due: None,
            occasion: Occasion::Nothing,
            orders: VecDeque::new(),
            mined: Instant::now(),
            snapshots: BTreeMap::new(),
            snapshots_taken: 0,
            origin: (head, sealing, origin_height),
        };
        let executor = Arc::new(Mutex::new(executor));
        let writer = Writer::start(executor.clone(), receiver)?;
        let chain = Self { shared, executor, commands };
        chain.wait_again(waiting);
        Ok((chain, writer))
    }

    /// The chain now. Take it once per request, so that the whole answer is about the same chain.
    pub fn head(&self) -> Arc<Head> {
        self.shared.head.load_full()
    }

    /// What holds for every block.
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

    /// Everything that happens from now on. A listener that falls behind is told how much it missed.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.shared.events.subscribe()
    }

    /// The base fee of the next block in wei per gas; none before London.
    pub fn next_base_fee(&self, head: &Head) -> Option<u64> {
        self.shared.next_environment(head, 0).base_fee
    }

    /// The circumstances of the next block.
    pub fn next_environment(&self, head: &Head) -> Environment {
        self.shared.next_environment(head, 0)
    }

    /// How blocks come about.
    pub fn mining(&self) -> Mining {
        self.shared.sealing.lock().mining
    }

    /// The chain's time, in seconds since the Unix epoch: what the next block gets, unless its parent is
    /// later.
    pub fn now(&self) -> u64 {
        self.shared.timing.lock().now()
    }

    /// How long the clock has run since the newest block was sealed. Time that a development method let the chain
    /// skip is no part of it.
    pub fn idle(&self) -> Duration {
        self.shared.timing.lock().idle()
    }

    /// Who gets the tips of new blocks.
    pub fn beneficiary(&self) -> Address {
        self.shared.sealing.lock().beneficiary
    }

    /// The least tip that the pool accepts, in wei per gas.
    pub fn min_tip(&self) -> u128 {
        self.shared.sealing.lock().min_tip
    }

    /// How much of the past is held.
    pub fn history_limits(&self) -> HistoryLimits {
        self.shared.history_limits
    }

    /// Tells the writer that there may be something to put into a block.
    pub fn wake(&self) {
        if !self.shared.woken.swap(true, Ordering::AcqRel) {
            // Without a writer the chain has ended; whoever submits learns that from the answer.
            let _ = self.commands.send(Command::Wake);
        }
    }

    /// Lets the writer make a change between blocks, and waits for the result.
    pub async fn change<R: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Executor) -> R + Send + 'static,
    ) -> Result<R, Stopped> {
        let (answer, result) = oneshot::channel();
        let run = Box::new(move |executor: &mut Executor| {
            let result = change(executor);
            Box::new(move |recorded| {
                // Whoever asked may have gone.
                let _ = answer.send(if recorded { Ok(result) } else { Err(Stopped::Unrecorded) });
            }) as Answer
        });
        self.commands.send(Command::Run(run)).map_err(|_| Stopped::Ended)?;
        result.await.unwrap_or(Err(Stopped::Ended))
    }

    /// Gives up what takes long, because the node is about to end. What is quick is still done.
    pub fn wind_down(&self) {
        self.shared.ending.store(true, Ordering::Release);
    }

    /// Ends the writer after what it is doing now.
    pub fn stop(&self) {
        self.wind_down();
        let _ = self.commands.send(Command::Stop);
    }
}

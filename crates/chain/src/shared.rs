//! The state that readers, submitters and the writer share, and the settings of the next block.

use std::{
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::{Duration, Instant},
};

use alloy_primitives::Address;
use arc_swap::ArcSwap;
use parking_lot::{Mutex, RwLock};
use tetrad_evm::Environment;
use tetrad_primitives::block::{
    DevSettings, Impersonated, Mining, SealingSettings, Setting, Transaction,
};
use tetrad_stdx::{clock::Clock, metrics::Counter};
use tetrad_store::{log::TimeShift, store::DiskHistory};
use tokio::sync::{broadcast, watch};

use super::{
    Blobs, Event, Head, HistoryLimits, Leadership, Peers, Pool, PoolLimits, Produced, View,
    block::header,
    view::{index::Index, updates::RemovedBlocks},
    writer::{
        arrivals::Arrivals, journal::Journal, phases::Phases, seal_lock::SealLock, timing::Timing,
    },
};

/// Most events that a slow subscriber may fall behind by before it misses some.
const EVENT_BACKLOG: usize = 1_024;
/// The time for which a pending block is shown that lacks transactions whose state could not be
/// read.
const INCOMPLETE_LIFETIME: Duration = Duration::from_secs(1);

/// Configuration of a chain.
#[derive(Clone)]
pub struct ChainConfig {
    /// The condition for sealing a block.
    pub mining: Mining,
    /// Gas limit of new blocks.
    pub gas_limit: u64,
    /// The account that receives the tips.
    pub beneficiary: Address,
    /// The minimum tip that the pool accepts, in wei per gas.
    pub min_tip: u128,
    /// The pool's limits.
    pub pool: PoolLimits,
    /// The limits of the history in memory.
    pub history: HistoryLimits,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// Whether the node seals blocks from the beginning. A node of a cluster only follows the log
    /// until it leads.
    pub leads: bool,
    /// Whether the time of a chain without blocks continues that of its first block, instead of the
    /// clock's.
    pub continues_time: bool,
    /// Whether anvil's conventions hold: the block after the first one has the same base fee, and the
    /// time may be set to one before the newest block's.
    pub anvil_conventions: bool,
    /// The number of blocks after which one is safe; twice as many after it, a block is final. With
    /// 0 each block is both at once.
    pub slots_in_an_epoch: u64,
}

/// A source of the node's own transactions at the beginning of a block, such as price updates.
///
/// An implementation depends on its arguments only: it is called for the pending block, which is
/// never sealed, as well as for sealed ones.
pub trait Preamble: Send + Sync {
    /// Returns the account that sends the transactions.
    fn account(&self) -> Address;

    /// Returns whether a block with this environment should begin with a preamble. Called often;
    /// must be quick.
    fn is_due(&self, head: &Arc<Head>, environment: &Environment) -> bool;

    /// Returns the least time on the clock between blocks that contain nothing but a preamble;
    /// `None` if there are no such blocks.
    fn alone_every(&self) -> Option<Duration>;

    /// Returns the transactions.
    fn transactions(&self, head: &Arc<Head>, environment: &Environment) -> Vec<Transaction>;
}

/// The state that readers, submitters and the writer share.
pub(super) struct SharedChain {
    pub(super) head: ArcSwap<Head>,
    pub(super) pool: Pool,
    pub(super) arrivals: Arrivals,
    pub(super) seal_lock: SealLock,
    /// Whether a wake-up of the writer is pending.
    pub(super) woken: AtomicBool,
    /// Whether a request to the writer to follow the log is pending.
    pub(super) summoned: AtomicBool,
    /// The leadership of the cluster.
    pub(super) leadership: watch::Sender<Leadership>,
    /// Height of the log that the published head includes, in a cluster.
    pub(super) height: watch::Sender<u64>,
    /// The other nodes of the cluster.
    pub(super) peers: OnceLock<Arc<dyn Peers>>,
    /// Height of the entry that reverts the chain to before the oldest checkpoint, as long as it
    /// cannot be followed.
    pub(super) needs_checkpoint_after: Mutex<Option<u64>>,
    /// Whether the chain is shutting down.
    pub(super) ending: AtomicBool,
    pub(super) blobs: Blobs,
    pub(super) index: Index,
    pub(super) removed: RemovedBlocks,
    pub(super) events: broadcast::Sender<Event>,
    pub(super) timing: Mutex<Timing>,
    pub(super) sealing: Mutex<Sealing>,
    /// The accounts for which the node sends transactions without a key.
    pub(super) impersonated: Arc<RwLock<Impersonated>>,
    pub(super) preamble: Option<Box<dyn Preamble>>,
    pub(super) history_limits: HistoryLimits,
    pub(super) slots_in_an_epoch: u64,
    /// The history on disk, with blocks that memory no longer holds.
    pub(super) history: Option<Arc<DiskHistory>>,
    /// Whether pending transactions are stored on disk.
    pub(super) stores_pool: bool,
    pub(super) pending: Mutex<Option<PendingBlock>>,
    pub(super) phases: Phases,
    pub(super) produced: Produced,
    /// Number of entries that the log refused because another writer was first.
    pub(super) conflicts: Counter,
}

/// The pending block, and the version of the pool from which it was built.
pub(super) struct PendingBlock {
    pub(super) pool_version: u64,
    /// Time at which building it began.
    pub(super) began: Instant,
    /// Whether it has all transactions whose state can be read, now or later.
    pub(super) is_complete: bool,
    pub(super) view: Arc<View>,
}

impl PendingBlock {
    /// Returns whether the same block would be built now.
    pub(super) fn is_current(&self, shared: &SharedChain, head: &Arc<Head>) -> bool {
        // An incomplete block is soon built again: the missing state may be readable by then.
        let is_fresh = self.is_complete || self.began.elapsed() < INCOMPLETE_LIFETIME;
        is_fresh
            && Arc::ptr_eq(&self.view.head, head)
            && self.pool_version == shared.pool.version()
            && self.view.environment == shared.next_environment(head, 0)
    }

    /// Returns whether the block can serve a caller that asked at this time: the same one would be
    /// built now, or building it began after the call.
    pub(super) fn serves(&self, shared: &SharedChain, head: &Arc<Head>, asked: Instant) -> bool {
        self.is_current(shared, head) || (Arc::ptr_eq(&self.view.head, head) && self.began >= asked)
    }
}

/// Settings of new blocks: those of the configuration, and those that development methods set
/// instead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealing {
    pub(super) configured: ConfiguredSealing,
    pub(super) set: SealingSettings,
}

/// The settings of new blocks in the configuration.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConfiguredSealing {
    pub(super) mining: Mining,
    /// The gas limit of new blocks; on a chain that follows Ethereum's rules the one towards which
    /// it moves.
    pub(super) gas_limit: u64,
    pub(super) beneficiary: Address,
    pub(super) min_tip: u128,
    /// Whether anvil's conventions hold.
    pub(super) anvil_conventions: bool,
}

impl Sealing {
    pub(super) fn mining(&self) -> Mining {
        self.set.mining.unwrap_or(self.configured.mining)
    }

    pub(super) fn beneficiary(&self) -> Address {
        self.set.beneficiary.unwrap_or(self.configured.beneficiary)
    }

    pub(super) fn min_tip(&self) -> u128 {
        self.set.min_tip.unwrap_or(self.configured.min_tip)
    }
}

impl SharedChain {
    /// Returns the shared state of a chain whose newest head is `head`.
    pub(super) fn new(
        head: Arc<Head>,
        shift: TimeShift,
        settings: &DevSettings,
        journal: Option<&Journal>,
        config: ChainConfig,
        preamble: Option<Box<dyn Preamble>>,
    ) -> Self {
        let pool = Pool::new(config.pool, config.clock.clone());
        let mut timing = Timing::new(config.clock, config.continues_time);
        timing.restore(shift);
        timing.start_at(&head);

        let sealing = Sealing {
            configured: ConfiguredSealing {
                mining: config.mining,
                gas_limit: config.gas_limit,
                beneficiary: config.beneficiary,
                min_tip: config.min_tip,
                anvil_conventions: config.anvil_conventions,
            },
            set: settings.sealing,
        };

        let index = Index::default();
        head.blocks_from(0).for_each(|block| index.insert(block));

        Self {
            head: ArcSwap::new(head),
            pool,
            arrivals: Arrivals::default(),
            seal_lock: SealLock::default(),
            woken: AtomicBool::new(false),
            summoned: AtomicBool::new(false),
            leadership: watch::Sender::new(Leadership {
                leads: config.leads,
                epoch: 0,
            }),
            height: watch::Sender::new(journal.map_or(0, Journal::height)),
            peers: OnceLock::new(),
            needs_checkpoint_after: Mutex::new(None),
            ending: AtomicBool::new(false),
            blobs: Blobs::default(),
            index,
            removed: RemovedBlocks::default(),
            events: broadcast::Sender::new(EVENT_BACKLOG),
            timing: Mutex::new(timing),
            sealing: Mutex::new(sealing),
            impersonated: Arc::new(RwLock::new(settings.impersonated.clone())),
            preamble,
            history_limits: config.history,
            slots_in_an_epoch: config.slots_in_an_epoch,
            history: journal.and_then(Journal::history),
            stores_pool: journal.is_some_and(Journal::stores_pool),
            pending: Mutex::default(),
            phases: Phases::default(),
            produced: Produced::default(),
            conflicts: Counter::default(),
        }
    }

    /// Returns the environment of the block after `head`, at least `at_least` seconds later.
    pub(super) fn next_environment(&self, head: &Head, at_least: u64) -> Environment {
        let standard = head.params.standard;
        let apart = u64::from(head.params.increasing_timestamps);
        let timestamp =
            self.timing
                .lock()
                .of_next_block(head.block.header.timestamp, apart, at_least);
        let sealing = *self.sealing.lock();

        let mut environment = head.next_environment(timestamp);
        environment.gas_limit = match (sealing.set.gas_limit, sealing.configured.gas_limit) {
            (Some(limit), _) => limit,
            // Other clients reject a block whose gas limit moves faster.
            (None, limit) if standard => {
                header::next_gas_limit(&head.block.header, limit, environment.rules)
            }
            (None, limit) => limit,
        };
        environment.beneficiary = sealing.beneficiary();
        environment.mix_hash = sealing.set.next_randomness.unwrap_or(environment.mix_hash);

        // Before London a header has no base fee, whatever was set.
        if environment.base_fee.is_some() {
            let is_second = head.number() == head.genesis.number() && head.state.base().is_none();
            // Other clients reject a block whose base fee is not that of EIP-1559.
            let is_kept = is_second && sealing.configured.anvil_conventions && !standard;
            let kept = head.block.header.base_fee_per_gas.filter(|_| is_kept);
            environment.base_fee = sealing.set.next_base_fee.or(kept).or(environment.base_fee);
        }

        environment
    }

    /// Makes a setting.
    pub(super) fn set(&self, setting: Setting) {
        let mut sealing = self.sealing.lock();
        let mut impersonated = self.impersonated.write();
        // Taken rather than cloned, so that the set of accounts is changed in its place.
        let mut settings = DevSettings {
            sealing: sealing.set,
            impersonated: std::mem::take(&mut impersonated),
        };
        settings.set(setting);
        sealing.set = settings.sealing;
        *impersonated = settings.impersonated;
    }

    /// Replaces the settings that development methods made.
    pub(super) fn adopt(&self, settings: DevSettings) {
        self.sealing.lock().set = settings.sealing;
        *self.impersonated.write() = settings.impersonated;
    }

    /// Returns the preamble of a block.
    pub(super) fn preamble(&self, head: &Arc<Head>, environment: &Environment) -> Vec<Transaction> {
        let due = self
            .preamble
            .as_ref()
            .filter(|preamble| preamble.is_due(head, environment));
        due.map(|preamble| preamble.transactions(head, environment))
            .unwrap_or_default()
    }

    /// Returns whether to seal a block with nothing but a preamble. The preamble is due by the
    /// chain's time, which blocks may advance, so the clock's time must have passed as well, lest
    /// each block cause the next. Settings that a development method made for the next block are
    /// left to the block that its caller is about to cause.
    pub(super) fn preamble_wants_block(&self, head: &Arc<Head>, environment: &Environment) -> bool {
        let Some(preamble) = &self.preamble else {
            return false;
        };
        let has_rested = preamble
            .alone_every()
            .is_some_and(|pace| self.timing.lock().since_preamble() >= pace);

        has_rested
            && preamble.is_due(head, environment)
            && !self.timing.lock().has_next_timestamp()
            && self.sealing.lock().set.next_base_fee.is_none()
    }
}

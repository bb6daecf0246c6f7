//! What readers, submitters and the writer share, and how the next block comes about.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use alloy_primitives::{Address, B256};
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::broadcast;

use super::{
    Blobs, Event, Head, HistoryLimits, Pool, Produced, View,
    block::header,
    view::{index::Index, news::Undone},
    writer::{arrivals::Arrivals, phases::Phases, seal_lock::SealLock, timing::Timing},
};
use crate::{block::Transaction, evm::Environment, store::History};

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

/// What readers, submitters and the writer share.
pub(super) struct Shared {
    pub(super) head: ArcSwap<Head>,
    pub(super) pool: Pool,
    pub(super) arrivals: Arrivals,
    pub(super) seal_lock: SealLock,
    /// Whether the writer was told to look at the pool and has not done so yet.
    pub(super) woken: AtomicBool,
    /// Whether the chain is about to end.
    pub(super) ending: AtomicBool,
    pub(super) blobs: Blobs,
    pub(super) index: Index,
    pub(super) undone: Undone,
    pub(super) events: broadcast::Sender<Event>,
    pub(super) timing: Mutex<Timing>,
    pub(super) sealing: Mutex<Sealing>,
    pub(super) preamble: Option<Box<dyn Preamble>>,
    pub(super) history_limits: HistoryLimits,
    /// Blocks that memory no longer holds.
    pub(super) history: Option<Arc<History>>,
    /// Whether transactions that wait are kept on disk.
    pub(super) keeps_pool: bool,
    pub(super) pending: Mutex<Option<PendingBlock>>,
    pub(super) phases: Phases,
    pub(super) produced: Produced,
}

/// The block that would come next, and what besides the head it was built from.
pub(super) struct PendingBlock {
    pub(super) pool_version: u64,
    /// When building it began.
    pub(super) began: Instant,
    pub(super) view: Arc<View>,
}

impl PendingBlock {
    /// Whether the same would be built now.
    pub(super) fn is_current(&self, shared: &Shared, head: &Arc<Head>) -> bool {
        Arc::ptr_eq(&self.view.head, head)
            && self.pool_version == shared.pool.version()
            && self.view.environment == shared.next_environment(head, 0)
    }
}

/// How new blocks come about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sealing {
    pub(super) mining: Mining,
    /// The gas limit of new blocks, or the one that it moves to.
    pub(super) gas_limit: u64,
    /// Whether a development method set it, for the very next block.
    pub(super) gas_limit_at_once: bool,
    pub(super) beneficiary: Address,
    pub(super) min_tip: u128,
    /// What a development method decided for the next block.
    pub(super) next_base_fee: Option<u64>,
    /// Likewise, what `PREVRANDAO` gives.
    pub(super) next_randomness: Option<B256>,
}

impl Sealing {
    /// The next block was made, or will be another one.
    pub(super) fn forget_next(&mut self) {
        (self.next_base_fee, self.next_randomness) = (None, None);
    }
}

impl Shared {
    /// The circumstances of the block after `head`, at least so many seconds later.
    pub(super) fn next_environment(&self, head: &Head, at_least: u64) -> Environment {
        let standard = head.params.standard;
        let at_least = if standard { at_least.max(1) } else { at_least };
        let timestamp = self.timing.lock().of_next_block(head.block.header.timestamp, at_least);
        let sealing = *self.sealing.lock();
        let mut environment = head.next_environment(timestamp);
        environment.gas_limit = match standard && !sealing.gas_limit_at_once {
            true => header::next_gas_limit(&head.block.header, sealing.gas_limit, environment.rules),
            false => sealing.gas_limit,
        };
        environment.beneficiary = sealing.beneficiary;
        environment.mix_hash = sealing.next_randomness.unwrap_or(environment.mix_hash);
        if environment.base_fee.is_some() {
            environment.base_fee = sealing.next_base_fee.or(environment.base_fee);
        }
        environment
    }

    /// What the block begins with.
    pub(super) fn preamble(&self, head: &Arc<Head>, environment: &Environment) -> Vec<Transaction> {
        let due = self.preamble_of(head).filter(|preamble| preamble.is_due(head, environment));
        due.map(|preamble| preamble.transactions(head, environment)).unwrap_or_default()
    }

    /// The preamble, but not on a fork: it belongs to the contracts of the node's own first block.
    fn preamble_of(&self, head: &Head) -> Option<&dyn Preamble> {
        self.preamble.as_deref().filter(|_| head.state.base().is_none())
    }

    /// Whether there should be a block even if it holds nothing but its preamble. The clock decides together with the
    /// preamble, which knows the chain's time only: blocks may move that, and must not bring about each other. What a
    /// development method promised the next block is for the block that its caller brings about.
    pub(super) fn preamble_wants_block(&self, head: &Arc<Head>, environment: &Environment) -> bool {
        let has_rested = |pace| self.timing.lock().since_preamble() >= pace;
        let wants = |preamble: &dyn Preamble| preamble.alone_every().is_some_and(has_rested);
        self.preamble_of(head).is_some_and(|preamble| wants(preamble) && preamble.is_due(head, environment))
            && !self.timing.lock().has_promise()
            && self.sealing.lock().next_base_fee.is_none()
    }
}

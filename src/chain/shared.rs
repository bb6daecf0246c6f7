//! What readers, submitters and the writer share, and how the next block comes about.

use std::sync::{Arc, atomic::AtomicBool};

use alloy_primitives::{Address, B256};
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::sync::broadcast;

use super::{
    Blobs, Event, Head, HistoryLimits, Mining, Pool, Preamble, Produced, arrivals::Arrivals, baton::Baton, header,
    index::Index, news::Undone, phases::Phases, timing::Timing, view::Pending,
};
use crate::{block::Transaction, evm::Environment, store::History};

/// What readers, submitters and the writer share.
pub(super) struct Shared {
    pub(super) head: ArcSwap<Head>,
    pub(super) pool: Pool,
    pub(super) arrivals: Arrivals,
    pub(super) baton: Baton,
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
    pub(super) pending: Mutex<Option<Pending>>,
    pub(super) phases: Phases,
    pub(super) produced: Produced,
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

//! The exchange as the chain has it, derived again whenever there is a new head and somebody asks.
//!
//! Prices and reserves are view calls at the head, so they are what `eth_call` answers there. What cannot be asked for,
//! because it is past, comes from blocks: the market keeps a [`History`](super::History) up to the head it last looked at, and catches
//! up with the blocks in between, or goes back first if some of its own are gone.

mod derive;
mod old;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use arc_swap::ArcSwapOption;
use tokio::sync::{Mutex, Notify, broadcast};

use self::derive::Progress;
use super::{
    feed::Simulation,
    history::{History, KeptHistory},
    news::Reader,
    snapshot::Snapshot,
    tick::Tick,
};
use crate::{
    block::Block,
    chain::{Chain, Mining},
    contracts::ReadContractError,
    network::Network,
    storage::Storage,
};

/// Ticks that a listener may fall behind by before it gets the latest prices instead.
const TICK_BACKLOG: usize = 32;

/// The market cannot be derived.
#[derive(Debug, thiserror::Error)]
pub enum MarketError {
    /// A contract does not answer.
    #[error(transparent)]
    Contract(#[from] ReadContractError),
    /// Deriving it was cut short.
    #[error("the market could not be derived: {0}")]
    Interrupted(String),
}

/// The exchange, for everybody who wants to know about it. Clones share it.
#[derive(Clone)]
pub struct Market(Arc<Shared>);

struct Shared {
    chain: Chain,
    network: Arc<Network>,
    simulation: Simulation,
    reader: Reader,
    /// Whether prices move by themselves.
    ticking: bool,
    latest: ArcSwapOption<Snapshot>,
    /// Held by whoever derives; others who want the same wait for the result.
    progress: Arc<Mutex<Option<Progress>>>,
    ticks: broadcast::Sender<Arc<Tick>>,
    /// Somebody began to listen to them.
    listened: Notify,
    /// Where the history is kept, and the height of the block that it was kept with last.
    kept: Option<(Arc<dyn Storage>, AtomicU64)>,
}

impl Market {
    /// The market of `network` on `chain`. What was before the first block is made up from `seed`; `ticking` says
    /// whether prices move by themselves. With a place to keep the history in, it outlives blocks that are let go of.
    pub fn new(chain: Chain, network: Arc<Network>, seed: u64, ticking: bool, kept: Option<Arc<dyn Storage>>) -> Self {
        Self(Arc::new(Shared {
            simulation: Simulation::new(seed, &network),
            reader: Reader::new(&network),
            chain,
            network,
            ticking,
            latest: ArcSwapOption::empty(),
            progress: Arc::default(),
            ticks: broadcast::Sender::new(TICK_BACKLOG),
            listened: Notify::new(),
            kept: kept.map(|storage| (storage, AtomicU64::new(u64::MAX))),
        }))
    }

    /// The network.
    pub fn network(&self) -> &Arc<Network> {
        &self.0.network
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.0.chain
    }

    /// The exchange as of the newest head. Takes no lock unless the head is new.
    ///
    /// # Errors
    /// See [`MarketError`]; on the network's own state nothing but a development method brings one about.
    pub async fn current(&self) -> Result<Arc<Snapshot>, MarketError> {
        if let Some(snapshot) = self.up_to_date() {
            return Ok(snapshot);
        }
        let mut progress = self.0.progress.clone().lock_owned().await;
        if let Some(snapshot) = self.up_to_date() {
            return Ok(snapshot);
        }
        let shared = self.0.clone();
        let derived = tokio::task::spawn_blocking(move || shared.derive(&mut progress)).await;
        derived.map_err(|error| MarketError::Interrupted(error.to_string()))?
    }

    /// Keeps the history up to now, where there is a place for it. A failure is logged, and costs no more than a start that
    /// reads more blocks.
    pub async fn keep(&self) {
        let Some((storage, last)) = self.0.kept.as_ref() else { return };
        let snapshot = match self.current().await {
            Ok(snapshot) => snapshot,
            Err(error) => return tracing::warn!(%error, "could not keep past prices"),
        };
        if last.swap(snapshot.number, Relaxed) == snapshot.number {
            return;
        }
        let (storage, network) = (storage.clone(), self.0.network.clone());
        let genesis = self.0.chain.head().genesis.hash;
        let saved = tokio::task::spawn_blocking(move || {
            let history = History::clone(&snapshot.history);
            KeptHistory { number: snapshot.number, hash: snapshot.hash, history }.save(&*storage, genesis, &network)
        });
        match saved.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "could not keep past prices"),
            Err(error) => tracing::warn!(%error, "could not keep past prices"),
        }
    }

    fn up_to_date(&self) -> Option<Arc<Snapshot>> {
        let head = self.0.chain.head();
        self.0.latest.load_full().filter(|snapshot| snapshot.is_of(&head))
    }

    /// Every tick from now on: what the blocks that are derived hold. Somebody has to keep asking for
    /// [`current`](Self::current), as [`follow`](super::follow) does.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Tick>> {
        let ticks = self.0.ticks.subscribe();
        self.0.listened.notify_one();
        ticks
    }

    /// Returns when somebody listens.
    pub(super) async fn listened(&self) {
        while !self.has_listeners() {
            self.0.listened.notified().await;
        }
    }

    /// Whether anybody listens.
    pub fn has_listeners(&self) -> bool {
        self.0.ticks.receiver_count() > 0
    }

    /// Whether listeners may have to hear of a new head with these blocks: of new prices, of a revert, or of a state that
    /// somebody changed without a block.
    pub fn is_concerned(&self, added: &[Arc<Block>], removed: &[Arc<Block>]) -> bool {
        added.is_empty() || !removed.is_empty() || added.iter().any(|block| self.0.reader.may_have_prices(block))
    }

    /// Whether every price may be acted on now.
    pub fn is_fresh(&self, snapshot: &Snapshot) -> bool {
        !snapshot.oracle.is_stale(self.time_of_prices(snapshot))
    }

    /// The time that prices are held against. It goes on without a block that could have refreshed them only if a
    /// development method let it pass: a chain on which nothing happens is not broken.
    pub(super) fn time_of_prices(&self, snapshot: &Snapshot) -> u64 {
        let chain = &self.0.chain;
        let waits = match chain.mining() {
            Mining::Manual => true,
            Mining::Instant => !self.0.ticking,
            // Blocks that are further apart than prices keep leave gaps by themselves.
            Mining::Interval(interval) => interval.as_secs() >= snapshot.oracle.max_age / 2,
        };
        let idle = if waits { chain.idle().as_secs() } else { 0 };
        chain.now().saturating_sub(idle).max(snapshot.time)
    }
}

//! The exchange as the chain has it, derived on demand for each new head.
//!
//! Prices and reserves are view calls at the head, equal to what `eth_call` returns there. The past
//! comes from blocks: the market keeps a [history](super::history) up to the head it last looked
//! at, and applies the blocks since then, after rewinding past those that a revert removed.

mod derive;
mod old;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use arc_swap::ArcSwapOption;
use tetrad_chain::{Chain, Mining};
use tetrad_contracts::contracts::ReadContractError;
use tetrad_network::network::Network;
use tetrad_primitives::block::Block;
use tetrad_store::storage::Storage;
use tokio::sync::{Mutex, Notify, broadcast};

use self::derive::DerivationProgress;
use super::{
    events::EventReader,
    feed::Simulation,
    history::{KeptHistory, PriceHistory},
    market_state::MarketState,
    price_message::PriceMessage,
};

/// Number of messages that a listener may fall behind before it gets the current prices instead.
const MESSAGE_BACKLOG: usize = 32;

/// The reason why the market could not be derived.
#[derive(Debug, thiserror::Error)]
pub enum MarketError {
    /// A contract could not be read.
    #[error(transparent)]
    Contract(#[from] ReadContractError),
    /// The task was cancelled or panicked.
    #[error("the market could not be derived: {0}")]
    Interrupted(String),
}

/// The state of the exchange, shared by the interfaces and the metrics. Clones share it.
#[derive(Clone)]
pub struct Market(Arc<SharedMarket>);

struct SharedMarket {
    chain: Chain,
    network: Arc<Network>,
    simulation: Simulation,
    reader: EventReader,
    /// Whether prices move by themselves.
    prices_move: bool,
    latest: ArcSwapOption<MarketState>,
    /// Held by the task that derives the market; other readers wait for its result.
    progress: Arc<Mutex<Option<DerivationProgress>>>,
    messages: broadcast::Sender<Arc<PriceMessage>>,
    /// Notified when a listener subscribes.
    listened: Notify,
    /// The storage of the history, and the height of the block that it was last saved at.
    kept: Option<(Arc<dyn Storage>, AtomicU64)>,
}

impl Market {
    /// The market of `network` on `chain`. The history before the first block is simulated from
    /// `seed`; `prices_move` says whether they move by themselves. With storage, the history
    /// outlives the blocks that are pruned.
    pub fn new(
        chain: Chain,
        network: Arc<Network>,
        seed: u64,
        prices_move: bool,
        kept: Option<Arc<dyn Storage>>,
    ) -> Self {
        Self(Arc::new(SharedMarket {
            simulation: Simulation::new(seed, &network),
            reader: EventReader::new(&network),
            chain,
            network,
            prices_move,
            latest: ArcSwapOption::empty(),
            progress: Arc::default(),
            messages: broadcast::Sender::new(MESSAGE_BACKLOG),
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
    /// See [`MarketError`]. Only development methods can bring the state of the network itself to
    /// that.
    pub async fn current(&self) -> Result<Arc<MarketState>, MarketError> {
        if let Some(state) = self.up_to_date() {
            return Ok(state);
        }

        let mut progress = self.0.progress.clone().lock_owned().await;
        // Another reader may have derived it meanwhile.
        if let Some(state) = self.up_to_date() {
            return Ok(state);
        }

        // On a thread of its own, so that a client that disconnects does not interrupt it.
        let shared = self.0.clone();
        let derived = tokio::task::spawn_blocking(move || shared.derive(&mut progress)).await;
        derived.map_err(|error| MarketError::Interrupted(error.to_string()))?
    }

    /// Saves the history, if there is storage for it. A failure is logged; its only cost is that
    /// the next start reads more blocks.
    pub async fn keep(&self) {
        let Some((storage, last)) = self.0.kept.as_ref() else {
            return;
        };

        let state = match self.current().await {
            Ok(state) => state,
            Err(error) => return tracing::warn!(%error, "could not keep past prices"),
        };

        let number = state.number;
        if last.load(Relaxed) == number {
            return;
        }

        let storage = storage.clone();
        let network = self.0.network.clone();
        let genesis = self.0.chain.head().genesis.hash;
        let saved = tokio::task::spawn_blocking(move || {
            let history = PriceHistory::clone(&state.history);
            KeptHistory {
                number,
                hash: state.hash,
                history,
            }
            .save(&*storage, genesis, &network)
        });

        match saved.await {
            Ok(Ok(())) => last.store(number, Relaxed),
            Ok(Err(error)) => tracing::warn!(%error, "could not keep past prices"),
            Err(error) => tracing::warn!(%error, "could not keep past prices"),
        }
    }

    fn up_to_date(&self) -> Option<Arc<MarketState>> {
        let head = self.0.chain.head();
        self.0.latest.load_full().filter(|state| state.is_of(&head))
    }

    /// Subscribes to price messages. They are sent while blocks are derived, so
    /// [`current`](Self::current) has to be called regularly, as [`follow`](super::follow) does.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<PriceMessage>> {
        let messages = self.0.messages.subscribe();
        self.0.listened.notify_one();
        messages
    }

    /// Waits for a listener.
    pub(super) async fn listened(&self) {
        while !self.has_listeners() {
            self.0.listened.notified().await;
        }
    }

    /// Whether there are listeners.
    pub(crate) fn has_listeners(&self) -> bool {
        self.0.messages.receiver_count() > 0
    }

    /// Whether a new head with these blocks may concern listeners: it has price updates, is a
    /// revert, or changed the state without a block.
    pub(crate) fn is_concerned(&self, added: &[Arc<Block>], removed: &[Arc<Block>]) -> bool {
        added.is_empty()
            || !removed.is_empty()
            || added
                .iter()
                .any(|block| self.0.reader.may_have_prices(block))
    }

    /// Whether every price may be acted on now.
    pub fn is_fresh(&self, state: &MarketState) -> bool {
        !state.oracle.is_stale(self.time_of_prices(state))
    }

    /// The time that the age of prices is measured at. While no block could have refreshed them it
    /// advances only through development methods: an idle chain is not broken.
    pub(super) fn time_of_prices(&self, state: &MarketState) -> u64 {
        let chain = &self.0.chain;
        let waits = match chain.mining() {
            Mining::Manual => true,
            Mining::Instant | Mining::Mixed(_) => !self.0.prices_move,
            // Blocks further apart than the lifetime of prices cause gaps by themselves.
            Mining::Interval(interval) => interval.as_secs() >= state.oracle.max_age / 2,
        };

        let idle = if waits { chain.idle().as_secs() } else { 0 };
        chain.now().saturating_sub(idle).max(state.time)
    }
}

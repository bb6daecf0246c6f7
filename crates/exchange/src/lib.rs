//! The exchange: prices, swaps and quotes (see the book, "Exchange").
//!
//! ```text
//! source -> updater -> block -> PriceUpdated logs -> market -> REST bodies and WebSocket messages
//! ```
//!
//! The [`Updater`] asks a [source](feed::Source) and puts prices on the chain. The [`Market`] reads
//! them back from the chain: clients see the prices that swaps are executed at, also after a revert
//! or a restart.
//!
//! The crate knows nothing of the other interfaces. No price in it is a float:
//!
//! ```
//! use tetrad_exchange::feed::{PricePath, usd_e8};
//!
//! let from = usd_e8("3512.35").expect("a price");
//! assert_eq!(from, 351_235_000_000);
//!
//! let path = PricePath { from, to: 2 * from, begins: 1_000, seconds: 60 };
//! assert_eq!(path.at(1_030), from + from / 2);
//! assert_eq!(path.at(2_000), 2 * from);
//! ```
//!
//! # Prices
//!
//! A source has a price or none; the set of sources falls back to the next one or takes the median.
//! A price that no source confirms becomes stale instead of being pushed again as fresh.
//!
//! Each price of an update has a target, the source's price, and the oracle halts the token while
//! the two differ by more than 1 % (`plan.rs`). So a price that takes several updates is not
//! tradable on its way, and a restart, a revert or a new leader continues from what the chain says.
//! An oracle without `getHalts`, on a chain begun before tokens could be halted, is updated without
//! targets.
//!
//! A price that is further from its source's than half the vault's fee is updated in the next
//! block, not at the tick: until then every swap could gain from the difference. The updater's
//! transaction goes first in a block, so that nothing in the block trades at a price that is about
//! to change. A chain that begins without a tick (`exchange.price-tick = 0`) has prices that never
//! age, instead of a refresh in users' blocks.
//!
//! Prices are decoded from the oracle's logs, so that the services agree with the chain after a
//! revert or a jump in time. Past prices are stored by the minute for a month, as far back as the
//! log. Swaps are found through the index of logs, newest first, with a bounded number of blocks
//! for each page.

mod bodies;
mod config;
mod events;
pub mod feed;
pub mod genesis;
mod history;
mod manual_prices;
mod market;
mod market_state;
mod minutes;
mod oracle;
mod plan;
mod price_message;
mod query;
mod quote;
mod rest;
mod socket;
mod socket_request;
mod updater;

use std::{sync::Arc, time::Duration};

use axum::Router;
use tetrad_chain::Event;
use tetrad_stdx::{calendar::HOUR, clock::Clock};
use tetrad_store::storage::Storage;
use tetrad_web::{Operation, RateLimit, Shutdown, WebSockets, socket_operation};
use tokio::{
    sync::broadcast::error::RecvError,
    time::{Instant, interval_at},
};

pub use config::ExchangeConfig;
pub use manual_prices::{ManualPriceError, ManualPrices, ShareHolds};
pub use market::{Market, MarketError};
pub use market_state::MarketState;
pub use oracle::{Feed, OracleRoles, OracleState, TokenHalt};
pub use plan::{PlannedPrice, UpdatePlan};
pub use updater::{UpdatePace, Updater};

use self::bodies::BodyCache;

/// Send buffer of each connection of a listener for price WebSockets, in bytes: a minute's prices.
/// A larger one would only hold prices that are outdated when a slow client reads them.
pub const SEND_BUFFER: u32 = 64 << 10;

/// The interfaces of the exchange. Clones share it.
#[derive(Clone)]
pub struct Exchange {
    market: Market,
    bodies: BodyCache,
    manual_prices: Arc<ManualPrices>,
    clock: Arc<dyn Clock>,
    started_ms: u64,
    tick: Option<Duration>,
    sockets: WebSockets,
}

impl Exchange {
    /// The interfaces to `market`, whose prices are updated each `tick`.
    pub fn new(
        market: Market,
        manual_prices: ManualPrices,
        tick: Option<Duration>,
        max_sockets_per_client: usize,
        clock: Arc<dyn Clock>,
        shutdown: Shutdown,
    ) -> Self {
        Self {
            market,
            bodies: BodyCache::default(),
            manual_prices: Arc::new(manual_prices),
            started_ms: clock.now_ms(),
            clock,
            tick,
            sockets: socket::web_sockets(max_sockets_per_client, shutdown),
        }
    }

    /// The market behind the interfaces.
    pub fn market(&self) -> &Market {
        &self.market
    }

    /// The price WebSockets.
    pub fn sockets(&self) -> &WebSockets {
        &self.sockets
    }

    /// The condition of each price source.
    pub fn sources(&self) -> Vec<feed::Condition> {
        self.manual_prices.conditions()
    }

    /// REST under `/api`, within a limit of requests per minute and client (0 for none), and the
    /// price WebSocket at `/ws`, with their description.
    pub fn router(&self, rate_limit: u32) -> (Router, Vec<Operation>) {
        let rest = rest::router(self.clone());
        let (rest, mut operations) = RateLimit::protect(rate_limit, self.clock.clone(), rest);

        // Not within that limit: there is one on the number of sockets.
        let socket = socket_operation("Exchange", "/ws", "Prices as they change, over WebSocket.");
        operations.push(socket.named("openPriceSocket"));
        (rest.merge(socket::router(self.clone())), operations)
    }

    /// The price WebSocket at any path.
    pub fn socket_router(&self) -> Router {
        socket::any_path(self.clone())
    }
}

/// Keeps the market up to date while it has listeners, until shutdown. Blocks without price updates
/// are skipped.
pub async fn follow(market: Market, mut shutdown: Shutdown) {
    loop {
        tokio::select! {
            () = market.listened() => {}
            () = shutdown.begun() => return,
        }
        let mut events = market.chain().subscribe();
        // Blocks before the subscription count as well.
        let mut concerned = true;
        while market.has_listeners() {
            if concerned && let Err(error) = market.current().await {
                tracing::debug!(%error, "the market could not be brought up to date");
            }
            let event = tokio::select! {
                event = events.recv() => event,
                () = shutdown.begun() => return,
            };
            concerned = match &event {
                Ok(Event::Head { added, removed, .. }) => market.is_concerned(added, removed),
                Ok(Event::Pending(_)) => false,
                Err(RecvError::Lagged(_)) => true,
                Err(RecvError::Closed) => return,
            };
        }
    }
}

/// Interval at which the history is saved: the most that a crash loses of the prices of pruned
/// blocks.
const KEEP_INTERVAL: Duration = Duration::from_secs(HOUR);
const FIRST_KEPT: Duration = Duration::from_secs(60);

/// The newest block whose prices are saved in the directory of a chain; none if there is no such
/// file.
pub fn prices_kept_until(storage: &dyn Storage) -> Option<u64> {
    history::kept_until(storage)
}

/// Saves the market's history at intervals, until shutdown.
pub async fn keep(market: Market, mut shutdown: Shutdown) {
    // The first time is soon: the file states which blocks are still needed.
    let mut timer = interval_at(Instant::now() + FIRST_KEPT, KEEP_INTERVAL);
    loop {
        tokio::select! {
            _ = timer.tick() => market.keep().await,
            () = shutdown.begun() => return,
        }
    }
}

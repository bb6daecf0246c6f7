//! The exchange: prices, swaps, and what is told about them (specification, 4.2 to 4.4).
//!
//! ```text
//! source -> updater -> block -> PriceUpdated logs -> market -> REST bodies and WebSocket messages
//! ```
//!
//! The [`Updater`] asks a [source](feed::Source) and puts prices on the chain. Everything that is told comes from there
//! again, through the [`Market`]: what clients see is what swaps are executed at, after a revert and after a restart as
//! well.

mod bodies;
mod config;
mod desk;
pub mod feed;
pub mod genesis;
mod history;
mod market;
mod minutes;
mod news;
mod oracle;
mod query;
mod quote;
mod rest;
mod snapshot;
mod socket;
mod socket_request;
mod tick;
mod updater;

use std::{sync::Arc, time::Duration};

use axum::Router;
use tokio::{
    sync::{Semaphore, broadcast::error::RecvError},
    time::{Instant, interval_at},
};

pub use config::ExchangeConfig;
pub use desk::{Desk, DeskError};
pub use history::{Bar, History};
pub use market::{Market, MarketError};
pub use news::News;
pub use oracle::{Feed, OracleState, price_update};
pub use quote::Quote;
pub use snapshot::Snapshot;
pub use tick::Tick;
pub use updater::{Pace, Updater};

use crate::{
    chain::{Clock, Event},
    log::Storage,
    web::{ClientAddresses, Operation, RateLimit, Shutdown, WebSockets, socket_operation},
};

/// Bytes that the system should hold for each connection of a listener for price WebSockets: a minute's prices. What it
/// holds is old by the time a slow client reads it.
pub const SEND_BUFFER: u32 = 64 << 10;

/// Quotes that execute at a time.
const MAX_QUOTES: usize = 32;

/// The interfaces of the exchange. Clones share it.
#[derive(Clone)]
pub struct Exchange {
    market: Market,
    desk: Arc<Desk>,
    clock: Arc<dyn Clock>,
    started_ms: u64,
    tick: Option<Duration>,
    rate_limit: u32,
    addresses: ClientAddresses,
    sockets: WebSockets,
    /// Quotes that are asked for at a time.
    quotes: Arc<Semaphore>,
}

impl Exchange {
    /// The interfaces to `market`.
    pub fn new(market: Market, desk: Desk, config: &ExchangeConfig, clock: Arc<dyn Clock>, shutdown: Shutdown) -> Self {
        let addresses = ClientAddresses::new(config.trusted_proxies.clone());
        Self {
            market,
            desk: Arc::new(desk),
            started_ms: clock.now_ms(),
            clock,
            tick: config.price_tick,
            rate_limit: config.rate_limit,
            sockets: socket::web_sockets(config.max_sockets_per_client, addresses.clone(), shutdown),
            addresses,
            quotes: Arc::new(Semaphore::new(MAX_QUOTES)),
        }
    }

    /// The market that they tell of.
    pub fn market(&self) -> &Market {
        &self.market
    }

    /// The price WebSockets.
    pub fn sockets(&self) -> &WebSockets {
        &self.sockets
    }

    /// How the sources of prices do.
    pub fn sources(&self) -> Vec<feed::Condition> {
        self.desk.conditions()
    }

    /// REST under `/api`, within the rate limit, and the price WebSocket at `/ws`; and what there is to say about the
    /// former.
    pub fn router(&self) -> (Router, Vec<Operation>) {
        let rest = rest::router(self.clone());
        let (rest, mut operations) =
            RateLimit::protect(self.rate_limit, self.addresses.clone(), self.clock.clone(), rest);
        operations.push(socket_operation("Exchange", "/ws", "Prices as they change, over WebSocket."));
        (rest.merge(socket::router(self.clone())), operations)
    }

    /// The price WebSocket at any path.
    pub fn socket_router(&self) -> Router {
        socket::any_path(self.clone())
    }
}

/// Keeps the market up to date while somebody listens to it, until the end begins. Nobody is woken for a block that
/// nobody wants to hear of.
pub async fn follow(market: Market, mut shutdown: Shutdown) {
    loop {
        tokio::select! {
            () = market.listened() => {}
            () = shutdown.begun() => return,
        }
        let mut events = market.chain().subscribe();
        // What happened until now is heard of as well.
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

/// How often the history is kept while the node runs: what a crash costs when it comes to blocks that were let go of.
const KEEP_INTERVAL: Duration = Duration::from_secs(3_600);
const FIRST_KEPT: Duration = Duration::from_secs(60);

/// The newest block whose prices are kept beside the chain in a directory; none if there are no such prices.
pub fn prices_kept_until(storage: &dyn Storage) -> Option<u64> {
    history::kept_until(storage)
}

/// Keeps the market's history now and then, until the end begins.
pub async fn keep(market: Market, mut shutdown: Shutdown) {
    // For the first time soon, so that there is a file that says which blocks are needed for what it lacks.
    let mut timer = interval_at(Instant::now() + FIRST_KEPT, KEEP_INTERVAL);
    loop {
        tokio::select! {
            _ = timer.tick() => market.keep().await,
            () = shutdown.begun() => return,
        }
    }
}

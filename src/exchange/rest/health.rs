//! Health of the exchange.

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use super::Exchange;
use crate::{
    exchange::{bodies::Envelope, feed::Condition, oracle::Feed, snapshot::Snapshot},
    web::{Checked, NoStore},
};

/// The body of `/api/health`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    status: &'static str,
    /// Milliseconds since the Unix epoch.
    timestamp: u64,
    success: bool,
    /// Seconds.
    uptime: u64,
    services: Services,
}

/// The body of `/api/status`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Status {
    server: Server,
    services: Services,
    database: Database,
}

#[derive(Serialize, JsonSchema)]
struct Server {
    status: &'static str,
    version: &'static str,
    /// Seconds.
    uptime: u64,
    /// Milliseconds since the Unix epoch.
    timestamp: u64,
}

/// The chain, which takes the place of the database of the live network's service.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Database {
    status: &'static str,
    block_number: u64,
    /// Milliseconds since the Unix epoch.
    block_timestamp: u64,
}

/// The state of the services of the exchange.
#[derive(Serialize, JsonSchema)]
struct Services {
    /// ok, stale or unavailable.
    prices: &'static str,
    websocket: Sockets,
    /// Safeguards against wrong prices; none if the oracle cannot be read.
    guards: Option<Guards>,
}

#[derive(Serialize, JsonSchema)]
struct Sockets {
    status: &'static str,
    clients: usize,
}

/// Safeguards against wrong prices.
#[derive(Serialize, JsonSchema)]
struct Guards {
    staleness: Staleness,
    deviation: Deviation,
    /// The price sources in order.
    sources: Vec<Condition>,
}

/// Staleness of prices, by the oracle's own rule at the newest block.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Staleness {
    /// Seconds for which a price is valid.
    max_age: u64,
    /// Seconds since the oldest price was set.
    oldest_age: u64,
    /// Symbols of the tokens whose price is no longer valid.
    stale: Vec<String>,
}

/// Limits of price moves: the oracle rejects an update that goes further.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Deviation {
    /// How far one update may move a price, in basis points.
    max_move_bps: u64,
    /// Updates rejected within a day.
    rejected24h: u64,
    /// Symbols of the tokens whose sources differ by more than that: their prices follow in several updates.
    behind: Vec<String>,
}

/// `GET /api/health`: 503 if prices are too old to trade on.
pub(super) async fn health(State(exchange): State<Exchange>) -> Checked<Health> {
    let services = exchange.services().await;
    let passed = services.prices == FRESH;
    let body = Health {
        status: if passed { "ok" } else { "degraded" },
        timestamp: exchange.clock.now_ms(),
        success: passed,
        uptime: exchange.uptime(),
        services,
    };
    Checked { passed, body }
}

/// `GET /api/status`.
pub(super) async fn status(State(exchange): State<Exchange>) -> NoStore<Envelope<Status>> {
    let block = exchange.market.chain().head().block.clone();
    let server = Server {
        status: "running",
        version: env!("CARGO_PKG_VERSION"),
        uptime: exchange.uptime(),
        timestamp: exchange.clock.now_ms(),
    };
    let database = Database {
        status: "connected",
        block_number: block.number(),
        block_timestamp: block.header.timestamp.saturating_mul(1_000),
    };
    NoStore(Envelope::new(Status { server, services: exchange.services().await, database }))
}

/// Prices may be traded on.
const FRESH: &str = "ok";

impl Exchange {
    async fn services(&self) -> Services {
        let (prices, guards) = match self.market.current().await {
            Ok(snapshot) => {
                let prices = if self.market.is_fresh(&snapshot) { FRESH } else { "stale" };
                (prices, Some(self.guards(&snapshot)))
            }
            Err(_) => ("unavailable", None),
        };
        Services { prices, websocket: Sockets { status: "ok", clients: self.sockets.open() }, guards }
    }

    fn guards(&self, snapshot: &Snapshot) -> Guards {
        let (oracle, time) = (&snapshot.oracle, self.market.time_of_prices(snapshot));
        let feeds = oracle.feeds.iter().zip(&self.market.network().tokens);
        let opinions = self.manual_prices.opinions();
        let is_behind = |feed: &Feed, opinion: &Option<u64>| {
            opinion.is_some_and(|opinion| {
                u128::from(opinion.abs_diff(feed.price)) * 10_000
                    > u128::from(feed.price) * u128::from(oracle.max_move_bps)
            })
        };
        let pairs = self.market.network().tokens.iter().zip(oracle.feeds.iter().zip(&opinions));
        let behind = pairs.filter(|(_, (feed, opinion))| is_behind(feed, opinion));
        let stale = feeds.filter(|(feed, _)| oracle.is_feed_stale(feed, time));
        Guards {
            staleness: Staleness {
                max_age: oracle.max_age,
                oldest_age: time.saturating_sub(oracle.oldest()),
                stale: stale.map(|(_, token)| token.symbol.clone()).collect(),
            },
            deviation: Deviation {
                max_move_bps: oracle.max_move_bps,
                rejected24h: snapshot.history.rejections_24h(snapshot.time),
                behind: behind.map(|(token, _)| token.symbol.clone()).collect(),
            },
            sources: self.manual_prices.conditions(),
        }
    }

    /// Seconds since the start.
    fn uptime(&self) -> u64 {
        self.clock.now_ms().saturating_sub(self.started_ms) / 1_000
    }
}

//! Health of the exchange.
//!
//! Members of the live network's service for which a node has no value are left out instead of
//! invented.

use std::{sync::Arc, time::Duration};

use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use tetrad_web::{Checked, NoStore};
use tokio::time::timeout;

use super::Exchange;
use crate::{bodies::Envelope, feed::Condition, market_state::MarketState, oracle::Feed};

/// Time after which a writer that does not answer counts as stuck.
const WRITER_TIMEOUT: Duration = Duration::from_secs(5);

/// The body of `/api/health`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    status: &'static str,
    /// The status in words.
    message: String,
    /// Milliseconds since the Unix epoch.
    timestamp: u64,
    success: bool,
    /// Seconds.
    uptime: u64,
    services: HealthServices,
}

/// The services of the exchange, also as the switches that the live network's clients read.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HealthServices {
    #[serde(flatten)]
    services: Services,
    /// Whether all prices may be traded on.
    price_service: bool,
    /// Whether the oracle can be read.
    oracle_service: bool,
    /// Whether the price WebSocket accepts clients.
    websocket_service: bool,
    /// Whether the chain, which takes the place of a database, can seal blocks.
    database_service: bool,
}

/// The body of `/api/status`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Status {
    server: Server,
    services: StatusServices,
    database: Database,
}

/// The services of the exchange, also as the live network's clients read them.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StatusServices {
    #[serde(flatten)]
    services: Services,
    price_service: PriceService,
    oracle_service: OracleService,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PriceService {
    /// ok, stale or unavailable.
    status: &'static str,
    /// When a price was last set, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_update: Option<u64>,
    /// Milliseconds between updates, if prices move.
    #[serde(skip_serializing_if = "Option::is_none")]
    update_interval: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OracleService {
    /// ok or unavailable.
    status: &'static str,
    contract_address: String,
    /// When a price was last set, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_update: Option<u64>,
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
    total_tokens: usize,
    /// Past prices by the minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_price_records: Option<u64>,
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
    /// Symbols of the tokens whose sources differ by more than that: their prices follow in several
    /// updates.
    behind: Vec<String>,
}

/// `GET /api/health`: 503 if prices are too old to trade on.
pub(super) async fn health(State(exchange): State<Exchange>) -> Checked<Health> {
    let (services, _) = exchange.services().await;
    let passed = services.prices == FRESH;
    let obstacle = timeout(WRITER_TIMEOUT, exchange.market.chain().obstacle()).await;

    let body = Health {
        status: if passed { "ok" } else { "degraded" },
        message: services.message(),
        timestamp: exchange.clock.now_ms(),
        success: passed,
        uptime: exchange.uptime(),
        services: HealthServices {
            price_service: passed,
            oracle_service: services.guards.is_some(),
            websocket_service: exchange.sockets.are_accepted(),
            database_service: matches!(obstacle, Ok(Ok(None))),
            services,
        },
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

    let (services, state) = exchange.services().await;
    let network = exchange.market.network();
    let last_update = state
        .as_ref()
        .map(|state| state.oracle.newest().saturating_mul(1_000));

    let price_service = PriceService {
        status: services.prices,
        last_update,
        update_interval: exchange
            .tick
            .and_then(|tick| u64::try_from(tick.as_millis()).ok()),
    };

    let oracle_service = OracleService {
        status: if state.is_some() { FRESH } else { UNAVAILABLE },
        contract_address: network.contracts.oracle.to_checksum(None),
        last_update,
    };

    let tokens = network.tokens.len();
    let database = Database {
        status: "connected",
        block_number: block.number(),
        block_timestamp: block.header.timestamp.saturating_mul(1_000),
        total_tokens: tokens,
        total_price_records: state
            .map(|state| state.history.prices_held().saturating_mul(tokens as u64)),
    };

    let services = StatusServices {
        services,
        price_service,
        oracle_service,
    };
    NoStore(Envelope::new(Status {
        server,
        services,
        database,
    }))
}

/// Prices may be traded on.
const FRESH: &str = "ok";
/// Prices or the oracle cannot be read.
const UNAVAILABLE: &str = "unavailable";

impl Services {
    /// The state of prices in words.
    fn message(&self) -> String {
        match &self.guards {
            None => "the oracle cannot be read".to_owned(),
            Some(_) if self.prices == FRESH => "all prices are up to date".to_owned(),
            Some(guards) => format!("prices are stale: {}", guards.staleness.stale.join(", ")),
        }
    }
}

/// Whether the source's price is further from that on chain than one update may move it.
fn is_behind(feed: &Feed, opinion: Option<u64>, max_move_bps: u64) -> bool {
    opinion.is_some_and(|opinion| {
        u128::from(opinion.abs_diff(feed.price)) * 10_000
            > u128::from(feed.price) * u128::from(max_move_bps)
    })
}

impl Exchange {
    /// The state of the services, and the state of the market from which it follows: none if the
    /// contracts cannot be read.
    async fn services(&self) -> (Services, Option<Arc<MarketState>>) {
        let state = self.market.current().await.ok();
        let (prices, guards) = match &state {
            Some(state) => {
                let prices = if self.market.is_fresh(state) {
                    FRESH
                } else {
                    "stale"
                };
                (prices, Some(self.guards(state)))
            }
            None => (UNAVAILABLE, None),
        };

        let websocket = Sockets {
            status: "ok",
            clients: self.sockets.open(),
        };
        (
            Services {
                prices,
                websocket,
                guards,
            },
            state,
        )
    }

    fn guards(&self, state: &MarketState) -> Guards {
        let oracle = &state.oracle;
        let time = self.market.time_of_prices(state);
        let tokens = &self.market.network().tokens;
        let opinions = self.manual_prices.opinions();

        let stale = tokens
            .iter()
            .zip(&oracle.feeds)
            .filter(|(_, feed)| oracle.is_feed_stale(feed, time))
            .map(|(token, _)| token.symbol.clone())
            .collect();
        let behind = tokens
            .iter()
            .zip(oracle.feeds.iter().zip(&opinions))
            .filter(|(_, (feed, opinion))| is_behind(feed, **opinion, oracle.max_move_bps))
            .map(|(token, _)| token.symbol.clone())
            .collect();

        Guards {
            staleness: Staleness {
                max_age: oracle.max_age,
                oldest_age: time.saturating_sub(oracle.oldest()),
                stale,
            },
            deviation: Deviation {
                max_move_bps: oracle.max_move_bps,
                rejected24h: state.history.rejections_24h(state.time),
                behind,
            },
            sources: self.manual_prices.conditions(),
        }
    }

    /// Seconds since the start.
    fn uptime(&self) -> u64 {
        self.clock.now_ms().saturating_sub(self.started_ms) / 1_000
    }
}

//! The REST interface (specification, 4.2, and what the live network's clients call besides).

use axum::{
    Json, Router,
    extract::{Path, Query, State, rejection::PathRejection, rejection::QueryRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use serde::Serialize;

use super::{
    Exchange, MarketError,
    query::{address, history_query},
};
use crate::web::{Keep, Rendered, RestError, method_not_allowed, not_found};

/// Routes under `/api`, and the answer to whatever else is asked for there.
pub(super) fn router(exchange: Exchange) -> Router {
    Router::new()
        .route("/api/health", get(health))
        .route("/api/status", get(status))
        .route("/api/prices", get(prices))
        .route("/api/prices/{address}", get(price))
        .route("/api/prices/{address}/history", get(history))
        .route("/api/tokens", get(tokens))
        .route("/api/tokens/swap", get(swap_tokens))
        .method_not_allowed_fallback(method_not_allowed)
        .route("/api", any(not_found))
        .route("/api/", any(not_found))
        .route("/api/{*rest}", any(not_found))
        .with_state(exchange)
}

impl From<MarketError> for RestError {
    fn from(error: MarketError) -> Self {
        match error {
            MarketError::Contract(error) => Self::Unavailable(format!("the contracts cannot be read: {error}")),
            MarketError::Interrupted(what) => Self::Internal(what),
        }
    }
}

impl Exchange {
    fn respond(&self, request: &HeaderMap, body: &Rendered) -> Response {
        // Prices that stand still tell nothing about how long the rest holds.
        let keep = self.tick.map_or(Keep::Seconds(0), |tick| Keep::Seconds(tick.as_secs()));
        body.respond(request, keep, self.clock.now_ms())
    }

    fn token(&self, text: &str) -> Result<usize, RestError> {
        let wanted = address(text)?;
        let found = self.market.network().tokens.iter().position(|token| token.address == wanted);
        found.ok_or_else(|| RestError::NotFound(format!("no token {wanted}")))
    }
}

async fn prices(State(exchange): State<Exchange>, headers: HeaderMap) -> Result<Response, RestError> {
    let snapshot = exchange.market.current().await?;
    Ok(exchange.respond(&headers, snapshot.prices_body(exchange.clock.now_ms())))
}

async fn tokens(State(exchange): State<Exchange>, headers: HeaderMap) -> Result<Response, RestError> {
    let snapshot = exchange.market.current().await?;
    Ok(exchange.respond(&headers, snapshot.tokens_body(exchange.clock.now_ms())))
}

async fn swap_tokens(State(exchange): State<Exchange>, headers: HeaderMap) -> Result<Response, RestError> {
    let snapshot = exchange.market.current().await?;
    Ok(exchange.respond(&headers, snapshot.swap_tokens_body(exchange.clock.now_ms())))
}

async fn price(
    State(exchange): State<Exchange>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, RestError> {
    let token = exchange.token(&path?.0)?;
    let snapshot = exchange.market.current().await?;
    let body = snapshot.price_body(token, exchange.clock.now_ms());
    body.map(|body| exchange.respond(&headers, body)).ok_or_else(no_quote)
}

async fn history(
    State(exchange): State<Exchange>,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, RestError> {
    let token = exchange.token(&path?.0)?;
    let (timeframe, count) = history_query(&query?.0)?;
    let snapshot = exchange.market.current().await?;
    let body = snapshot.history_body(token, timeframe, count, exchange.clock.now_ms());
    body.map(|body| exchange.respond(&headers, &body)).ok_or_else(no_quote)
}

fn no_quote() -> RestError {
    RestError::Internal("a token without a quote".to_owned())
}

/// The answer of `/api/health` (specification, 2.4), with what some clients read besides.
#[derive(Serialize)]
struct Health {
    status: &'static str,
    timestamp: u64,
    success: bool,
    uptime: u64,
    services: Services,
}

/// The answer of `/api/status`.
#[derive(Serialize)]
struct Status {
    success: bool,
    data: StatusData,
}

#[derive(Serialize)]
struct StatusData {
    server: Server,
    services: Services,
    database: Database,
}

#[derive(Serialize)]
struct Server {
    status: &'static str,
    version: &'static str,
    uptime: u64,
    timestamp: u64,
}

/// What a database is to the live network's service, the chain is to this one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Database {
    status: &'static str,
    block_number: u64,
    block_timestamp: u64,
}

/// How the parts of the exchange are.
#[derive(Serialize)]
struct Services {
    prices: &'static str,
    websocket: Sockets,
}

#[derive(Serialize)]
struct Sockets {
    status: &'static str,
    clients: usize,
}

/// Whether the exchange can be traded on: 503 if prices are too old for that.
async fn health(State(exchange): State<Exchange>) -> Response {
    let services = exchange.services().await;
    let (status, text) = match services.prices {
        FRESH => (StatusCode::OK, "ok"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "degraded"),
    };
    let body = Health {
        status: text,
        timestamp: exchange.clock.now_ms(),
        success: status.is_success(),
        uptime: exchange.uptime(),
        services,
    };
    no_store(status, body)
}

async fn status(State(exchange): State<Exchange>) -> Response {
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
    let data = StatusData { server, services: exchange.services().await, database };
    no_store(StatusCode::OK, Status { success: true, data })
}

fn no_store(status: StatusCode, body: impl Serialize) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

/// Prices may be traded on.
const FRESH: &str = "ok";

impl Exchange {
    async fn services(&self) -> Services {
        let prices = match self.market.current().await {
            Ok(snapshot) if self.market.is_fresh(&snapshot) => FRESH,
            Ok(_) => "stale",
            Err(_) => "unavailable",
        };
        Services { prices, websocket: Sockets { status: "ok", clients: self.sockets.taken() } }
    }

    /// Seconds since the start.
    fn uptime(&self) -> u64 {
        self.clock.now_ms().saturating_sub(self.started_ms) / 1_000
    }
}

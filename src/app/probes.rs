//! `/health` and `/ready`, the probes of orchestrators.

use std::time::Duration;

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    chain::Chain,
    exchange::Market,
    web::{Api, Operation, method_not_allowed},
};

/// Time after which a writer that does not answer counts as stuck; longer than any block takes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Body of `/health`.
#[derive(Serialize, JsonSchema)]
struct Alive {
    status: &'static str,
}

/// Body of `/ready`.
#[derive(Serialize, JsonSchema)]
struct Ready {
    status: &'static str,
    chain: &'static str,
    prices: &'static str,
    /// The reason why no block can be sealed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Returns `/health` and `/ready` with their documentation. Without a market only the chain is checked.
pub(super) fn router(chain: Chain, market: Option<Market>) -> (Router, Vec<Operation>) {
    let about = |summary| Operation::new("Node", summary);
    Api::default()
        .get("/health", health, about("Whether the process is alive.").returns::<Alive>())
        .get(
            "/ready",
            ready,
            about("Whether requests should be sent here.")
                .returns::<Ready>()
                .answers::<Ready>(StatusCode::SERVICE_UNAVAILABLE, "Something does not work."),
        )
        .and(|router| router.method_not_allowed_fallback(method_not_allowed))
        .with_state((chain, market))
}

/// Succeeds whenever the process answers.
async fn health() -> Response {
    answer(StatusCode::OK, Alive { status: "ok" })
}

/// Succeeds if the chain's writer answers and can seal blocks, and prices are fresh enough to trade at.
async fn ready(State((chain, market)): State<(Chain, Option<Market>)>) -> Response {
    let reason = match timeout(PATIENCE, chain.obstacle()).await {
        Ok(Ok(obstacle)) => obstacle,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some("the chain's writer does not answer".to_owned()),
    };
    let prices_ok = match &market {
        Some(market) => market.current().await.is_ok_and(|snapshot| market.is_fresh(&snapshot)),
        None => true,
    };
    let word = |ok: bool| if ok { "ok" } else { "unavailable" };
    let (status, text) = match reason.is_none() && prices_ok {
        true => (StatusCode::OK, "ready"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready"),
    };
    answer(status, Ready { status: text, chain: word(reason.is_none()), prices: word(prices_ok), reason })
}

fn answer(status: StatusCode, body: impl Serialize) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

//! What orchestrators ask: is the node alive, and should it get traffic?

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

/// How long the writer may take to answer before the chain counts as stuck: longer than any block.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the process answers.
#[derive(Serialize, JsonSchema)]
struct Alive {
    status: &'static str,
}

/// Whether requests should be sent here.
#[derive(Serialize, JsonSchema)]
struct Ready {
    status: &'static str,
    chain: &'static str,
    prices: &'static str,
    /// The reason why the chain cannot go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// `/health` and `/ready`, and what there is to say about them. Without a market only the chain counts.
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

/// Alive: the process answers.
async fn health() -> Response {
    answer(StatusCode::OK, Alive { status: "ok" })
}

/// Ready: the chain's writer answers and can seal blocks, and prices may be traded on.
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

//! What orchestrators ask: is the node alive, and should it get traffic?

use std::time::Duration;

use axum::{Router, extract::State};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    chain::Chain,
    exchange::Market,
    web::{Api, Checked, NoStore, Operation, method_not_allowed},
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
    Api::new("Node")
        .get("/health", health, "Whether the process is alive.")
        .get("/ready", ready, "Whether requests should be sent here.")
        .and(|router| router.method_not_allowed_fallback(method_not_allowed))
        .with_state((chain, market))
}

/// Alive: the process answers.
async fn health() -> NoStore<Alive> {
    NoStore(Alive { status: "ok" })
}

/// Ready: the chain's writer answers and can seal blocks, and prices may be traded on.
async fn ready(State((chain, market)): State<(Chain, Option<Market>)>) -> Checked<Ready> {
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
    let passed = reason.is_none() && prices_ok;
    let status = if passed { "ready" } else { "not ready" };
    let body = Ready { status, chain: word(reason.is_none()), prices: word(prices_ok), reason };
    Checked { passed, body }
}

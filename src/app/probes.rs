//! `/health` and `/ready`, the probes of orchestrators.

use std::time::Duration;

use axum::{Router, extract::State};
use schemars::JsonSchema;
use serde::Serialize;
use tetrad_chain::Chain;
use tetrad_cluster::{Cluster, ClusterState};
use tetrad_exchange::Market;
use tetrad_web::{Api, Checked, NoStore, Operation, method_not_allowed};
use tokio::time::timeout;

/// Time after which a writer that does not answer counts as stuck; longer than any block takes.
const WRITER_TIMEOUT: Duration = Duration::from_secs(5);

/// Body of `/health`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Alive {
    status: &'static str,
    /// The state of the cluster, for a node of one.
    #[serde(flatten)]
    cluster: Option<ClusterState>,
}

impl Alive {
    /// Returns the body of a node that is in no cluster, or not yet.
    pub(super) fn alone() -> Self {
        Self {
            status: "ok",
            cluster: None,
        }
    }
}

/// The parts of the node that the probes report on.
#[derive(Clone)]
struct Probed {
    chain: Chain,
    cluster: Option<Cluster>,
    market: Option<Market>,
}

/// Body of `/ready`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Ready {
    status: &'static str,
    chain: &'static str,
    prices: &'static str,
    /// The reason why no block can be sealed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Ready {
    /// Returns the body of a node that starts.
    pub(super) fn not_yet(reason: String) -> Self {
        Self {
            status: "not ready",
            chain: "unavailable",
            prices: "unavailable",
            reason: Some(reason),
        }
    }
}

/// Returns `/health` and `/ready` with their documentation. Without a market only the chain is
/// checked.
pub(super) fn router(
    chain: Chain,
    cluster: Option<Cluster>,
    market: Option<Market>,
) -> (Router, Vec<Operation>) {
    Api::new("Node")
        .get("/health", health, "Whether the process is alive.")
        .get(
            "/ready",
            ready,
            "Readiness: 503 if the node cannot serve requests.",
        )
        .named("getReadiness")
        .and(|router| router.method_not_allowed_fallback(method_not_allowed))
        .with_state(Probed {
            chain,
            cluster,
            market,
        })
}

/// Succeeds whenever the process answers.
async fn health(State(Probed { chain, cluster, .. }): State<Probed>) -> NoStore<Alive> {
    NoStore(Alive {
        status: "ok",
        cluster: cluster.map(|cluster| cluster.state(&chain)),
    })
}

/// Succeeds if the chain's writer answers and can seal blocks, and prices are fresh enough to trade
/// at.
async fn ready(
    State(Probed {
        chain,
        cluster,
        market,
    }): State<Probed>,
) -> Checked<Ready> {
    let reason = match cluster.and_then(|cluster| cluster.obstacle(&chain)) {
        Some(reason) => Some(reason),
        None => match timeout(WRITER_TIMEOUT, chain.obstacle()).await {
            Ok(Ok(obstacle)) => obstacle,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the chain's writer does not answer".to_owned()),
        },
    };

    let prices_ok = match &market {
        Some(market) => market
            .current()
            .await
            .is_ok_and(|state| market.is_fresh(&state)),
        None => true,
    };

    let passed = reason.is_none() && prices_ok;
    let status = if passed { "ready" } else { "not ready" };
    let body = Ready {
        status,
        chain: availability(reason.is_none()),
        prices: availability(prices_ok),
        reason,
    };
    Checked { passed, body }
}

fn availability(ok: bool) -> &'static str {
    if ok { "ok" } else { "unavailable" }
}

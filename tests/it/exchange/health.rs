//! The exchange's health.

use alloy::primitives::Address;
use serde_json::Value;
use tetrad_contracts::contracts::bindings::PriceOracle;

use crate::support::{TestNode, chain::ORACLE, manual_clock, node, node_at, ticking_node};

async fn health(node: &TestNode) -> (u16, Value) {
    let response = node.get("/api/health").await;
    assert_eq!(response.headers()["cache-control"], "no-store");
    (
        response.status().as_u16(),
        response.json().await.expect("JSON"),
    )
}

#[tokio::test]
async fn a_new_node_is_healthy() {
    let node = node().await;
    let (status, body) = health(&node).await;
    assert_eq!(
        (status, &body["status"], &body["success"]),
        (200, &"ok".into(), &true.into())
    );
    assert!(
        body["timestamp"]
            .as_u64()
            .is_some_and(|ms| ms > 1_600_000_000_000)
    );
    assert!(body["uptime"].is_u64() && body["services"].is_object());
    assert_eq!(node.get("/health").await.status(), 200);
    assert_eq!(node.get("/ready").await.status(), 200);
    node.end().await;
}

#[tokio::test]
async fn a_jump_in_time_makes_prices_stale_until_the_next_block() {
    let node = node_at(manual_clock(), |_| {}).await;
    node.let_prices_age().await;
    node.increase_time(600).await;
    assert_eq!(health(&node).await.0, 200);
    node.increase_time(1_000).await;
    let (status, body) = health(&node).await;
    assert_eq!(
        (status, &body["status"], &body["success"]),
        (503, &"degraded".into(), &false.into())
    );
    assert_eq!(node.get("/ready").await.status(), 503);
    assert_eq!(
        node.get("/health").await.status(),
        200,
        "the node is alive all the same"
    );
    node.mine().await;
    assert_eq!(health(&node).await.0, 200);
    assert_eq!(node.get("/ready").await.status(), 200);
    node.end().await;
}

#[tokio::test]
async fn an_idle_chain_is_healthy() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |_| {}).await;
    node.increase_time(86_400).await;
    assert_eq!(health(&node).await.0, 200, "frozen prices do not age");
    node.let_prices_age().await;
    node.mine().await;
    clock.advance(86_400_000);
    assert_eq!(health(&node).await.0, 200);
    node.increase_time(601).await;
    assert_eq!(health(&node).await.0, 503);
    node.end().await;
}

#[tokio::test]
async fn prices_without_updates_are_reported_as_stale() {
    let (node, clock) = ticking_node().await;
    let call = PriceOracle::setUpdaterCall {
        newUpdater: Address::ZERO,
    };
    assert!(node.send(&node.treasury(), ORACLE, call).await.status());
    clock.advance(601_000);
    node.mine().await;
    let (status, body) = health(&node).await;
    assert_eq!(
        (status, &body["services"]["prices"]),
        (503, &"stale".into())
    );
    node.end().await;
}

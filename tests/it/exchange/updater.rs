//! Prices on the chain: when they move, and how they are kept from growing old.

use std::{path::Path, sync::Arc, time::Duration};

use alloy::{consensus::Transaction as _, sol_types::SolEvent};
use serde_json::{Value, json};
use tetrad_chain::Event;
use tetrad_contracts::contracts::bindings::PriceOracle;
use tetrad_primitives::block::Block;
use tetrad_stdx::clock::ManualClock;

use crate::support::{
    TestNode,
    chain::{ORACLE, token},
    manual_clock, node_at, number, ticking_node,
};

/// Tokens and prices that the newest block pushed. No price may have been rejected.
fn pushed(block: &Block) -> Vec<(alloy::primitives::Address, u64)> {
    let mut pushed = Vec::new();
    for at in block.logs().filter(|at| at.log.address == ORACLE) {
        assert!(
            PriceOracle::PriceRejected::decode_log_data(&at.log.data).is_err(),
            "a price was rejected"
        );
        if let Ok(event) = PriceOracle::PriceUpdated::decode_log_data(&at.log.data) {
            pushed.push((event.token, event.price.to()));
        }
    }
    pushed
}

fn newest(node: &TestNode) -> Arc<Block> {
    node.chain().head().block.clone()
}

async fn all_fresh(node: &TestNode) -> bool {
    for token in &node.config().network.tokens {
        if !node.is_fresh(token).await {
            return false;
        }
    }
    true
}

#[tokio::test]
async fn prices_move_every_tick_and_not_before() {
    let (node, clock) = ticking_node().await;
    clock.advance(1_000);
    node.wake().await;
    assert_eq!(node.block_number().await, 0);
    clock.advance(1_000);
    node.wake().await;
    assert_eq!(node.block_number().await, 1);
    let block = newest(&node);
    assert_eq!(block.transactions.len(), 1);
    assert_eq!(block.transactions[0].envelope.to(), Some(ORACLE));
    assert!(pushed(&block).len() >= 10);
    node.wake().await;
    assert_eq!(node.block_number().await, 1, "once a tick");
    node.end().await;
}

#[tokio::test]
async fn the_update_is_the_first_transaction_of_a_block() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.no_mining = true;
    });
    let node = node.await;
    clock.advance(2_000);
    let from = node.account(0);
    let to = node.account(1);
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{ "from": from, "to": to, "value": "0x1" }]),
        )
        .await;
    node.mine().await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(number(&receipt["transactionIndex"]), 1);
    assert!(!pushed(&newest(&node)).is_empty());
    node.end().await;
}

/// The prices of a seed after some updates.
async fn prices_of(seed: u64) -> Value {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.seed = seed;
    });
    let node = node.await;
    for _ in 0..4 {
        clock.advance(2_000);
        node.wake().await;
    }

    let prices = node.get_json("/api/prices").await;
    node.end().await;
    prices["data"].clone()
}

#[tokio::test]
async fn a_seed_determines_the_market() {
    let (one, again, other) = tokio::join!(prices_of(1), prices_of(1), prices_of(2));
    assert_eq!(one, again);
    assert_ne!(one, other);
}

#[tokio::test]
async fn frozen_prices_do_not_age() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |_| {}).await;
    let before = node.oracle_price(&token("WETH")).await;
    for seconds in [300, 601, 315_360_000] {
        clock.advance(1_000 * seconds);
        node.increase_time(seconds).await;
        let from = node.account(0);
        let to = node.account(1);
        node.rpc(
            "eth_sendTransaction",
            json!([{ "from": from, "to": to, "value": "0x1" }]),
        )
        .await;
        assert_eq!(newest(&node).transactions.len(), 1, "only the user's");
        assert!(all_fresh(&node).await, "after {seconds} s");
    }
    assert_eq!(node.oracle_price(&token("WETH")).await, before);
    node.end().await;
}

/// A node whose chain is in a directory, and whose prices move at this interval.
async fn node_in(directory: &Path, clock: &Arc<ManualClock>, tick: Option<Duration>) -> TestNode {
    node_at(clock.clone(), |config| {
        config.data_dir = Some(directory.to_owned());
        config.exchange.price_tick = tick;
    })
    .await
}

#[tokio::test]
async fn prices_frozen_later_are_refreshed_in_the_block_that_needs_it() {
    let clock = manual_clock();
    let directory = tempfile::tempdir().unwrap();
    let tick = Duration::from_secs(3_600);
    let moving = node_in(directory.path(), &clock, Some(tick)).await;
    moving.end().await;

    let node = node_in(directory.path(), &clock, None).await;
    let before = node.oracle_price(&token("WETH")).await.0;
    clock.advance(299_000);
    node.mine().await;
    assert!(pushed(&newest(&node)).is_empty(), "still young");

    clock.advance(1_000);
    node.wake().await;
    node.rpc("evm_snapshot", json!([])).await;
    assert_eq!(node.block_number().await, 1, "no block of its own");

    let from = node.account(0);
    let to = node.account(1);
    node.rpc(
        "eth_sendTransaction",
        json!([{ "from": from, "to": to, "value": "0x1" }]),
    )
    .await;

    let block = newest(&node);
    assert_eq!((block.transactions.len(), pushed(&block).len()), (2, 12));
    assert_eq!(
        node.oracle_price(&token("WETH")).await,
        (before, block.header.timestamp)
    );
    node.end().await;
}

#[tokio::test]
async fn no_jump_in_time_leaves_stale_prices() {
    for ticking in [true, false] {
        let clock = manual_clock();
        let node = node_at(clock.clone(), |config| {
            config.exchange.price_tick = ticking.then_some(Duration::from_secs(2));
        });
        let node = node.await;
        for seconds in [599, 601, 86_400, 315_360_000, 1] {
            let before = node.oracle_price(&token("UNI")).await.0;
            node.increase_time(seconds).await;
            node.mine().await;
            assert!(all_fresh(&node).await, "after {seconds} s");
            let after = node.oracle_price(&token("UNI")).await.0;
            assert!(after.abs_diff(before) <= before / 4, "{before} to {after}");
            pushed(&newest(&node));
        }
        node.end().await;
    }
}

#[tokio::test]
async fn prices_continue_after_a_time_jump_is_reverted() {
    let (node, clock) = ticking_node().await;
    clock.advance(2_000);
    node.wake().await;
    let before = node.oracle_price(&token("SOL")).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    node.increase_time(86_400).await;
    node.mine().await;
    assert_ne!(node.oracle_price(&token("SOL")).await, before);
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    assert_eq!(
        node.oracle_price(&token("SOL")).await,
        before,
        "nothing was sealed since"
    );
    clock.advance(2_000);
    node.wake().await;
    assert_eq!(newest(&node).header.timestamp, before.1 + 2);
    assert_ne!(node.oracle_price(&token("SOL")).await, before);
    assert!(all_fresh(&node).await);
    node.end().await;
}

#[tokio::test]
async fn thousands_of_blocks_at_once_are_fresh_at_the_end() {
    let (node, _clock) = ticking_node().await;
    node.rpc("evm_mine", json!([{ "blocks": 3_000 }])).await;
    assert_eq!(node.block_number().await, 3_000);
    assert!(all_fresh(&node).await);
    let body = node.price_entry(&token("WETH")).await;
    let (price, updated_at) = node.oracle_price(&token("WETH")).await;
    assert_eq!(
        (
            crate::support::chain::usd_e8(&body["price"]),
            &body["timestamp"]
        ),
        (price, &(updated_at * 1_000).into())
    );
    node.end().await;
}

#[tokio::test]
async fn manual_mining_includes_prices_in_its_blocks() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.no_mining = true;
    });
    let node = node.await;
    clock.advance(5_000);
    node.wake().await;
    assert_eq!(node.block_number().await, 0);
    node.mine().await;
    assert!(!pushed(&newest(&node)).is_empty());
    node.end().await;
}

#[tokio::test]
async fn interval_mining_includes_prices_in_its_blocks() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.block_time = Some(Duration::from_millis(20));
    });
    let node = node.await;
    let mut events = node.chain().subscribe();
    clock.advance(2_000);
    loop {
        if let Event::Head { added, .. } = events.recv().await.expect("an event")
            && let Some(block) = added.iter().find(|block| !pushed(block).is_empty())
        {
            assert_eq!(block.transactions.len(), 1);
            break;
        }
    }
    node.end().await;
}

#[tokio::test]
async fn the_pending_block_begins_with_the_price_update_of_the_sealed_one() {
    let (node, clock) = ticking_node().await;
    // The node's own timer, which does not follow the manual clock, may push the prices before the
    // request. Twice in a row is rare.
    for attempt in 0.. {
        clock.advance(700_000);
        let pending = node
            .rpc("eth_getBlockByNumber", json!(["pending", true]))
            .await;
        node.wake().await;
        if u128::from(newest(&node).number()) == number(&pending["number"]) {
            assert_eq!(pending["transactions"].as_array().map(Vec::len), Some(1));
            let hash = pending["transactions"][0]["hash"].as_str().expect("a hash");
            assert_eq!(newest(&node).transactions[0].hash().to_string(), hash);
            break;
        }
        assert!(attempt < 5, "the timer is always first");
    }
    node.end().await;
}

#[tokio::test]
async fn the_timer_moves_prices_without_requests() {
    let node = node_at(
        std::sync::Arc::new(tetrad_stdx::clock::SystemClock),
        |config| {
            config.exchange.price_tick = Some(Duration::from_secs(1));
        },
    );
    let node = node.await;
    let mut events = node.chain().subscribe();
    loop {
        if let Event::Head { added, .. } = events.recv().await.expect("an event") {
            assert!(!pushed(&added[0]).is_empty());
            break;
        }
    }
    node.end().await;
}

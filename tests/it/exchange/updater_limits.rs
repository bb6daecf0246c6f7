//! Updates under rules that the owner or the user sets.

use alloy::{
    primitives::{Address, U256, Uint},
    sol_types::SolEvent,
};
use serde_json::json;
use tetrad_contracts::contracts::bindings::PriceOracle;

use crate::support::{
    TestNode,
    chain::{ORACLE, token},
    number, ticking_node,
};

#[tokio::test]
async fn the_market_continues_from_a_price_that_the_owner_sets() {
    let (node, clock) = ticking_node().await;
    let weth = token("WETH");
    let wsteth = token("wstETH");
    let crashed = weth.reference_price / 2;
    let call = PriceOracle::setPriceCall {
        token: weth.address,
        price: U256::from(crashed),
    };
    assert!(node.send(&node.treasury(), ORACLE, call).await.status());

    let mut steps = Vec::new();
    for _ in 0..6 {
        clock.advance(2_000);
        node.wake().await;
        let block = node.chain().head().block.clone();
        assert!(
            block
                .logs()
                .all(|at| PriceOracle::PriceRejected::decode_log_data(&at.log.data).is_err())
        );
        steps.push(node.oracle_price(&wsteth).await.0);
    }

    let price = node.oracle_price(&weth).await.0;
    assert!(price.abs_diff(crashed) < crashed / 50, "{price}");
    assert!(
        steps[0] > steps[1],
        "its followers move in steps: {steps:?}"
    );

    let ratio = wsteth.reference_price as f64 / weth.reference_price as f64;
    let last = steps[5] as f64 / price as f64;
    assert!((last / ratio - 1.0).abs() < 0.01, "{steps:?}");
    node.end().await;
}

#[tokio::test]
async fn moves_respect_the_limit_of_the_owner() {
    let (node, clock) = ticking_node().await;
    assert!(
        node.send(
            &node.treasury(),
            ORACLE,
            PriceOracle::setMaxMoveBpsCall { newBps: 1 }
        )
        .await
        .status()
    );
    let before = node.oracle_price(&token("UNI")).await.0;
    clock.advance(86_400_000);
    node.wake().await;
    let block = node.chain().head().block.clone();
    assert!(
        block
            .logs()
            .all(|at| PriceOracle::PriceRejected::decode_log_data(&at.log.data).is_err())
    );
    let after = node.oracle_price(&token("UNI")).await.0;
    assert!(
        after != before && after.abs_diff(before) <= before / 10_000,
        "{before} to {after}"
    );
    node.end().await;
}

#[tokio::test]
async fn a_shorter_maximum_age_is_respected() {
    let (node, clock) = ticking_node().await;
    let call = PriceOracle::setMaxAgeCall {
        newSeconds: Uint::from(10),
    };
    assert!(node.send(&node.treasury(), ORACLE, call).await.status());
    for seconds in [1, 9, 11, 1_000] {
        clock.advance(seconds * 1_000);
        node.mine().await;
        assert!(node.is_fresh(&token("USDC")).await, "after {seconds} s");
    }
    node.end().await;
}

/// Gives the oracle another updater. Returns the number of the block.
async fn set_updater(node: &TestNode, new_updater: Address) -> u64 {
    let call = PriceOracle::setUpdaterCall {
        newUpdater: new_updater,
    };
    assert!(node.send(&node.treasury(), ORACLE, call).await.status());
    node.block_number().await
}

#[tokio::test]
async fn an_oracle_with_another_updater_gets_no_updates() {
    let (node, clock) = ticking_node().await;

    let number = set_updater(&node, Address::ZERO).await;
    for _ in 0..3 {
        clock.advance(2_000);
        node.wake().await;
    }
    assert_eq!(node.block_number().await, number);

    let number = set_updater(&node, node.updater()).await;
    clock.advance(2_000);
    node.wake().await;
    assert_eq!(node.block_number().await, number + 1);
    node.end().await;
}

#[tokio::test]
async fn a_set_time_applies_to_the_block_of_a_user() {
    let (node, clock) = ticking_node().await;
    // Set before the clock advances: the node wakes the chain by itself as well.
    let set_time = 1_700_000_500;
    node.rpc("evm_setNextBlockTimestamp", json!([set_time]))
        .await;
    clock.advance(10_000);
    node.wake().await;
    assert_eq!(node.block_number().await, 0);
    let from = node.account(0);
    let to = node.account(1);
    node.rpc(
        "eth_sendTransaction",
        json!([{ "from": from, "to": to, "value": "0x1" }]),
    )
    .await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    assert_eq!(
        (number(&block["timestamp"]), number(&block["number"])),
        (set_time, 1)
    );
    assert_eq!(
        block["transactions"].as_array().map(Vec::len),
        Some(2),
        "with prices of that time"
    );
    node.end().await;
}

#[tokio::test]
async fn a_block_time_interval_does_not_let_updates_trigger_each_other() {
    let (node, clock) = ticking_node().await;
    clock.advance(2_000);
    node.wake().await;

    for interval in [60, 2, 86_400] {
        node.rpc("anvil_setBlockTimestampInterval", json!([interval]))
            .await;
        let before = node.chain().head().block.clone();
        for ticks in 1..=3 {
            clock.advance(2_000);
            for _ in 0..5 {
                node.wake().await;
            }
            let newest = node.chain().head().block.clone();
            assert_eq!(
                newest.number(),
                before.number() + ticks,
                "one block each tick of the clock"
            );
            assert_eq!(
                newest.header.timestamp,
                before.header.timestamp + ticks * interval
            );
        }
    }

    // Without the interval, time and prices continue from where they are.
    node.rpc("anvil_removeBlockTimestampInterval", json!([]))
        .await;
    let before = node.chain().head().block.clone();
    clock.advance(2_000);
    node.wake().await;
    let newest = node.chain().head().block.clone();
    assert_eq!(newest.number(), before.number() + 1);
    assert_eq!(newest.header.timestamp, before.header.timestamp + 2);
    node.end().await;
}

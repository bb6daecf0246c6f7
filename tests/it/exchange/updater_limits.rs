//! Updates under rules that somebody else decides about.

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
async fn a_price_that_the_owner_sets_is_where_the_market_goes_on() {
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
        "what follows it follows in steps: {steps:?}"
    );

    let ratio = wsteth.reference_price as f64 / weth.reference_price as f64;
    let last = steps[5] as f64 / price as f64;
    assert!((last / ratio - 1.0).abs() < 0.01, "{steps:?}");
    node.end().await;
}

#[tokio::test]
async fn moves_keep_within_what_the_owner_allows() {
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
async fn a_shorter_age_is_kept_as_well() {
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
async fn a_time_that_is_set_is_for_the_block_that_somebody_brings_about() {
    let (node, clock) = ticking_node().await;
    // Promised first: the node wakes the chain by itself as well.
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
async fn blocks_that_move_the_time_do_not_let_updates_bring_about_each_other() {
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

    // Without the interval time goes on from where it is, and so do prices.
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

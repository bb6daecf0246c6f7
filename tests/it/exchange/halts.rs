//! Tokens that are halted while their price is on its way to the source's.

use std::{path::Path, sync::Arc, time::Duration};

use alloy::{
    primitives::{Bytes, U256},
    sol_types::{SolCall, SolError, SolEvent},
};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{self, PriceOracle, Vault, VaultErrors};
use tetrad_exchange::feed::SourceSpec;
use tetrad_network::network::Token;
use tetrad_stdx::clock::ManualClock;

use crate::support::{
    TestNode,
    chain::{ORACLE, VAULT, key, token, units},
    manual_clock, node_at, number,
};

/// Seconds after the first block at which the recorded price falls.
const FALL: u64 = 9;
const BEFORE: u64 = 351_235_000_000;

/// A node whose WETH falls to `after` dollars, and whose other prices are simulated.
async fn falling(directory: &Path, clock: Arc<ManualClock>, after: &str, mining: bool) -> TestNode {
    let file = directory.join("prices.csv");
    std::fs::write(&file, format!("time,WETH\n0,3512.35\n{FALL},{after}\n")).unwrap();
    let node = node_at(clock, |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.exchange.price_sources = vec![SourceSpec::Replay(file), SourceSpec::Simulation];
        config.rate_limit = 0;
        config.no_mining = !mining;
        config.data_dir = Some(directory.join("chain"));
    });
    node.await
}

async fn halted(node: &TestNode, token: &Token) -> bool {
    let halted = node
        .view(
            ORACLE,
            PriceOracle::haltedCall {
                token: token.address,
            },
        )
        .await;
    let entry = node.price_entry(token).await;
    assert_eq!(
        entry["halted"],
        if halted { json!(true) } else { Value::Null },
        "{entry}"
    );
    halted
}

fn swap(from: &str, to: &str, amount: U256) -> Vault::swapExactTokensForTokensCall {
    Vault::swapExactTokensForTokensCall {
        _tokenIn: token(from).address,
        _tokenOut: token(to).address,
        _amountIn: amount,
        _minAmountOut: U256::ZERO,
    }
}

async fn swap_error(node: &TestNode, from: &str, to: &str) -> Bytes {
    let input = Bytes::from(swap(from, to, units(&token(from), 1)).abi_encode());
    let call = json!({ "from": node.account(0), "to": VAULT, "data": input });
    let error = node.rpc_error("eth_call", json!([call, "latest"])).await;
    error["data"]
        .as_str()
        .expect("revert data")
        .parse()
        .expect("bytes")
}

async fn tick(node: &TestNode, clock: &ManualClock) {
    clock.advance(2_000);
    node.wake().await;
}

#[tokio::test]
async fn a_fall_that_takes_several_steps_halts_the_token_and_those_that_follow_it() {
    let place = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = falling(place.path(), clock.clone(), "1931.79", true).await;
    let weth = token("WETH");
    let usdc = token("USDC");
    clock.advance(8_000);
    node.wake().await;
    assert!(!halted(&node, &weth).await);
    let mut socket = node.price_socket().await;

    tick(&node, &clock).await;
    assert_eq!(node.oracle_price(&weth).await.0, BEFORE / 10 * 8);
    for symbol in ["WETH", "wstETH", "stETH"] {
        assert!(halted(&node, &token(symbol)).await, "{symbol}");
    }
    assert!(!halted(&node, &usdc).await);
    let message = loop {
        let message = socket.prices().await;
        if message["data"][key(&weth)]["halted"] == true {
            break message;
        }
    };
    assert_eq!(
        message["data"][key(&usdc)]["halted"],
        Value::Null,
        "{message}"
    );
    let tokens = node.get_json("/api/tokens/swap").await;
    let listed = tokens["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["halted"] == true)
        .count();
    assert_eq!(listed, 3);

    let expected: Bytes = VaultErrors::TokenHalted {
        token: weth.address,
    }
    .abi_encode()
    .into();
    assert_eq!(swap_error(&node, "WETH", "USDC").await, expected);
    assert_eq!(swap_error(&node, "USDC", "WETH").await, expected);
    let quote = node
        .get_json("/api/quote?tokenIn=WETH&tokenOut=USDC&amountIn=1000000000000000000")
        .await;
    assert_eq!(
        (&quote["data"]["status"], &quote["data"]["executable"]),
        (&json!("halted"), &json!(false))
    );

    tick(&node, &clock).await;
    assert!(halted(&node, &weth).await);
    tick(&node, &clock).await;
    assert!(!halted(&node, &weth).await);
    assert_eq!(node.oracle_price(&weth).await.0, 193_179_000_000);
    while socket.prices().await["data"][key(&weth)]["halted"] == true {}
    let quote = node
        .get_json("/api/quote?tokenIn=WETH&tokenOut=USDC&amountIn=1000000000000000000")
        .await;
    assert_eq!(quote["data"]["status"], "ok");
    node.end().await;
}

/// Sends a swap of one WETH with ten times the tip of any other transaction, and seals a block.
async fn race(node: &TestNode) -> Value {
    let input = Bytes::from(swap("WETH", "USDC", units(&token("WETH"), 1)).abi_encode());
    let request = json!({
        "from": node.account(0), "to": VAULT, "data": input, "gas": "0x100000", "gasPrice": "0x2540be4000",
    });
    let hash = node.rpc("eth_sendTransaction", json!([request])).await;
    node.mine().await;
    node.rpc("eth_getTransactionReceipt", json!([hash])).await
}

async fn approve(node: &TestNode) {
    let call = bindings::Token::approveCall {
        spender: VAULT,
        value: U256::MAX,
    };
    let request = json!({
        "from": node.account(0), "to": token("WETH").address, "data": Bytes::from(call.abi_encode()),
    });
    node.rpc("eth_sendTransaction", json!([request])).await;
    node.mine().await;
}

#[tokio::test]
async fn no_tip_buys_a_place_before_the_update_that_halts() {
    let place = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = falling(place.path(), clock.clone(), "1931.79", false).await;
    clock.advance(8_000);
    approve(&node).await;
    clock.advance(2_000);
    let receipt = race(&node).await;
    assert_eq!(
        (
            number(&receipt["transactionIndex"]),
            number(&receipt["status"])
        ),
        (1, 0)
    );
    let block = node.chain().head().block.clone();
    assert!(
        block.receipts[0]
            .logs
            .iter()
            .any(|log| PriceOracle::TokenHalted::decode_log_data(&log.data).is_ok())
    );
    assert_eq!(
        swap_error(&node, "WETH", "USDC").await,
        VaultErrors::TokenHalted {
            token: token("WETH").address
        }
        .abi_encode()
    );
    node.end().await;
}

#[tokio::test]
async fn a_fall_of_one_step_is_on_the_chain_before_any_swap() {
    let place = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = falling(place.path(), clock.clone(), "2985.5", false).await;

    clock.advance(8_000);
    approve(&node).await;
    assert_eq!(node.oracle_price(&token("WETH")).await.0, BEFORE);

    // Half a tick later: the regular update is not due yet.
    clock.advance(1_000);
    let receipt = race(&node).await;
    assert_eq!(
        (
            number(&receipt["transactionIndex"]),
            number(&receipt["status"])
        ),
        (1, 1)
    );

    let block = node.chain().head().block.clone();
    let priced = block.receipts[1]
        .logs
        .iter()
        .find_map(|log| Vault::SwapPriced::decode_log_data(&log.data).ok());
    assert_eq!(
        priced.expect("the swap's price").priceIn,
        U256::from(298_550_000_000u64)
    );

    // Nothing else moved.
    let updates = block.receipts[0]
        .logs
        .iter()
        .filter_map(|log| PriceOracle::PriceUpdated::decode_log_data(&log.data).ok());
    let moved: Vec<_> = updates.map(|event| event.token).collect();
    let expected = ["wstETH", "WETH", "stETH"].map(|symbol| token(symbol).address);
    assert_eq!(moved, expected);
    node.end().await;
}

#[tokio::test]
async fn a_walk_continues_after_a_revert_and_after_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = falling(place.path(), clock.clone(), "1931.79", true).await;
    let weth = token("WETH");
    clock.advance(10_000);
    node.wake().await;
    assert!(halted(&node, &weth).await);
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    for _ in 0..2 {
        tick(&node, &clock).await;
    }
    assert!(!halted(&node, &weth).await);
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    assert!(halted(&node, &weth).await);
    node.end().await;

    let node = falling(place.path(), clock.clone(), "1931.79", true).await;
    assert!(halted(&node, &weth).await);
    for _ in 0..2 {
        tick(&node, &clock).await;
    }
    assert!(!halted(&node, &weth).await);
    assert_eq!(node.oracle_price(&weth).await.0, 193_179_000_000);
    node.end().await;
}

#[tokio::test]
async fn a_halt_by_the_owner_outlasts_updates() {
    let place = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = falling(place.path(), clock.clone(), "3600", true).await;
    let weth = token("WETH");
    let call = PriceOracle::haltCall {
        token: weth.address,
        target: U256::ZERO,
    };
    assert!(node.send(&node.treasury(), ORACLE, call).await.status());
    for _ in 0..6 {
        tick(&node, &clock).await;
        assert!(halted(&node, &weth).await);
    }
    assert_eq!(node.oracle_price(&weth).await.0, 360_000_000_000);
    assert!(
        node.send(
            &node.treasury(),
            ORACLE,
            PriceOracle::resumeCall {
                token: weth.address
            }
        )
        .await
        .status()
    );
    assert!(!halted(&node, &weth).await);
    node.end().await;
}

#[tokio::test]
async fn a_price_set_by_hand_is_tradable_at_once_and_its_followers_once_they_arrive() {
    let place = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = falling(place.path(), clock.clone(), "3600", true).await;

    let url = format!(
        "{}/api/admin/prices/{}",
        node.rest_url(),
        key(&token("WETH"))
    );
    let response = node
        .http
        .post(url)
        .json(&json!({ "price": 1756.175 }))
        .send()
        .await
        .expect("an answer");
    assert_eq!(response.status(), 200);

    assert_eq!(node.oracle_price(&token("WETH")).await.0, BEFORE / 2);
    assert!(!halted(&node, &token("WETH")).await);
    assert!(halted(&node, &token("wstETH")).await);

    for _ in 0..3 {
        tick(&node, &clock).await;
    }
    assert!(!halted(&node, &token("wstETH")).await);

    let ratio = token("wstETH").reference_price as f64 / BEFORE as f64;
    let price = node.oracle_price(&token("wstETH")).await.0 as f64;
    assert!(
        (price / (BEFORE / 2) as f64 / ratio - 1.0).abs() < 0.01,
        "{price}"
    );
    node.end().await;
}

/// WETH moves in every block: by its source, so much that it does not wait for the tick, or by the
/// owner.
#[tokio::test]
async fn a_price_that_moves_in_every_block_defers_no_other() {
    for by_owner in [false, true] {
        let place = tempfile::tempdir().unwrap();
        let clock = manual_clock();
        let file = place.path().join("prices.csv");

        let falls = (1..60).map(|second| {
            if by_owner {
                format!("{second},3512.35,70\n")
            } else {
                format!("{second},{},70\n", 3_512 - second * 30)
            }
        });
        std::fs::write(
            &file,
            format!(
                "time,WETH,SOL\n0,3512.35,187.65\n{}",
                falls.collect::<String>()
            ),
        )
        .unwrap();

        let node = node_at(clock.clone(), |config| {
            config.exchange.price_tick = Some(Duration::from_secs(2));
            config.exchange.price_sources = vec![SourceSpec::Replay(file), SourceSpec::Simulation];
            config.rate_limit = 0;
        });
        let node = node.await;

        let weth = token("WETH");
        let sol = token("SOL");
        let uni = token("UNI");
        let genesis = node.chain().head().genesis.header.timestamp;
        let mut was = [0; 2];
        let mut weth_moves = 0;
        let mut uni_moves = 0;

        for second in 1..=16 {
            clock.advance(1_000);
            if by_owner {
                let price = U256::from(BEFORE + second % 2);
                let call = PriceOracle::setPriceCall {
                    token: weth.address,
                    price,
                };
                node.send(&node.treasury(), ORACLE, call).await;
            } else {
                node.mine().await;
            }

            let now = [
                node.oracle_price(&weth).await.1,
                node.oracle_price(&uni).await.1,
            ];
            (weth_moves, uni_moves) = (
                weth_moves + u32::from(now[0] != was[0]),
                uni_moves + u32::from(now[1] != was[1]),
            );
            was = now;

            // A fifth at once, and with every tick. The price itself may cause a block before the
            // one that is asked for, which is then a second later.
            let since = node.chain().head().block.header.timestamp - genesis;
            assert_eq!(halted(&node, &sol).await, since < 8, "second {since}");
        }

        assert_eq!(weth_moves, 16, "every block");
        assert!(uni_moves >= 8, "{uni_moves} of 8 ticks");
        assert_eq!(node.oracle_price(&sol).await.0, 7_000_000_000);
        node.end().await;
    }
}

//! Effects of scenarios on the chain.

use std::{path::Path, sync::Arc};

use alloy::{
    primitives::{Bytes, U256},
    sol_types::{SolCall, SolError},
};
use serde_json::{Value, json};
use tetrad::scenario::READY_MADE;
use tetrad_contracts::contracts::bindings::{LendingPool, Token, Vault, VaultErrors};
use tetrad_stdx::clock::ManualClock;

use super::{done, play, scenario, start, stop, until};
use crate::support::{
    TestNode,
    chain::{VAULT, token, units, usd_e8},
    decimal, manual_clock, node_at, ticking_node,
};

fn ready_made(name: &str) -> &'static str {
    READY_MADE
        .iter()
        .find(|(known, _)| *known == name)
        .expect("a scenario")
        .1
}

async fn price(node: &TestNode, symbol: &str) -> u64 {
    node.oracle_price(&token(symbol)).await.0
}

const CRASH: &str = r#"
name = "crash"
lasts = "2m"
[[step]]
at = "0s"
price = { tokens = ["WETH"], change = "-40%", over = "60s" }
"#;

#[tokio::test]
async fn a_price_follows_its_path_and_is_released_at_the_end() {
    let (node, clock) = ticking_node().await;
    let before = price(&node, "WETH").await;
    let id = start(&node, CRASH).await;
    done(&node, id, 0).await;
    let fall = before - (u128::from(before) * 6 / 10) as u64;
    for seconds in [20u64, 40, 60] {
        clock.advance(20_000);
        node.wake().await;
        let expected = before - (u128::from(fall) * u128::from(seconds) / 60) as u64;
        assert_eq!(price(&node, "WETH").await, expected, "after {seconds} s");
    }
    clock.advance(20_000);
    node.wake().await;
    assert_eq!(
        price(&node, "WETH").await,
        before - fall,
        "the price stays there"
    );
    clock.advance(50_000);
    until(&node, id, |found| found["state"] == "finished").await;
    for _ in 0..5 {
        clock.advance(10_000);
        node.wake().await;
    }
    assert_ne!(
        price(&node, "WETH").await,
        before - fall,
        "the market continues from there"
    );
    node.end().await;
}

#[tokio::test]
async fn the_end_of_an_earlier_step_keeps_the_price_of_a_later_one() {
    let (node, clock) = ticking_node().await;
    let document = r#"
        name = "two steps"
        lasts = "1m"
        [[step]]
        at = "0s"
        price = { tokens = ["WETH"], to = 3400, for = "4s" }
        [[step]]
        at = "2s"
        price = { tokens = ["WETH"], to = 3410 }
    "#;
    let id = start(&node, document).await;
    play(&node, &clock, id, (0, 20_000)).await;
    assert_eq!(price(&node, "WETH").await, 341_000_000_000);
    node.end().await;
}

#[tokio::test]
async fn a_crash_also_moves_the_tokens_of_staked_ether() {
    let (node, clock) = ticking_node().await;
    let symbols = ["WETH", "wstETH", "stETH"];
    let mut before = Vec::new();
    for symbol in symbols {
        before.push(price(&node, symbol).await);
    }
    let id = start(&node, ready_made("price-crash")).await;
    play(&node, &clock, id, (0, 62_000)).await;
    for (symbol, before) in symbols.into_iter().zip(before) {
        assert_eq!(
            price(&node, symbol).await,
            (u128::from(before) * 6 / 10) as u64,
            "{symbol}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn the_same_scenario_makes_the_same_chain() {
    let mut heads = Vec::new();
    for _ in 0..2 {
        let (node, clock) = ticking_node().await;
        let id = start(&node, CRASH).await;
        play(&node, &clock, id, (0, 30_000)).await;
        let block = node
            .rpc("eth_getBlockByNumber", json!(["latest", false]))
            .await;
        heads.push((block["number"].clone(), block["hash"].clone()));
        node.end().await;
    }
    assert_eq!(heads[0], heads[1]);
}

async fn open(directory: &Path, clock: &Arc<ManualClock>) -> TestNode {
    node_at(clock.clone(), |config| {
        config.data_dir = Some(directory.to_owned());
        config.exchange.price_tick = Some(std::time::Duration::from_secs(2));
    })
    .await
}

#[tokio::test]
async fn the_log_replays_without_the_scenario() {
    let place = tempfile::tempdir().expect("a directory");
    let clock = manual_clock();

    let node = open(place.path(), &clock).await;
    let id = start(&node, CRASH).await;
    play(&node, &clock, id, (0, 10_000)).await;

    let paused = start(&node, ready_made("paused-vault")).await;
    done(&node, paused, 0).await;
    assert!(node.view(VAULT, Vault::pausedCall {}).await);

    let head = node.chain().head().clone();
    let price_then = price(&node, "WETH").await;
    node.end().await;

    let node = open(place.path(), &clock).await;
    let kept = node
        .rpc("eth_getBlockByHash", json!([head.block.hash, false]))
        .await;
    assert_eq!(
        crate::support::number(&kept["number"]),
        u128::from(head.number())
    );

    assert_eq!(price(&node, "WETH").await, price_then);
    assert!(
        !node.view(VAULT, Vault::pausedCall {}).await,
        "the steps at the end are performed at shutdown, too"
    );
    assert_eq!(
        node.get_json("/api/admin/scenarios").await["data"],
        json!([]),
        "the scenario is not resumed"
    );
    node.end().await;
}

#[tokio::test]
async fn a_silent_source_lets_a_price_become_stale() {
    let (node, clock) = ticking_node().await;
    let id = start(&node, ready_made("stale-feed")).await;
    play(&node, &clock, id, (0, 2_000)).await;
    clock.advance(2_000);
    node.wake().await;
    assert!(!node.is_fresh(&token("WETH")).await);
    assert!(
        node.is_fresh(&token("USDC")).await,
        "the others are updated"
    );
    let health: Value = node.get("/api/health").await.json().await.expect("JSON");
    assert_eq!(
        health["services"]["guards"]["staleness"]["stale"],
        json!(["WETH"]),
        "{health}"
    );
    assert_eq!(stop(&node, id).await["state"], "stopped");
    clock.advance(2_000);
    node.wake().await;
    assert!(node.is_fresh(&token("WETH")).await);
    node.end().await;
}

#[tokio::test]
async fn a_jump_takes_several_steps() {
    let (node, clock) = ticking_node().await;
    let before = price(&node, "SOL").await;
    let id = start(&node, ready_made("halted-token")).await;
    done(&node, id, 0).await;

    clock.advance(2_000);
    node.wake().await;
    let first = price(&node, "SOL").await;
    assert!(
        first < before && first > before / 2,
        "one update has a maximum step: {before}, {first}"
    );
    assert_eq!(node.price_entry(&token("SOL")).await["halted"], true);

    let quote = || node.get_json("/api/quote?tokenIn=SOL&tokenOut=USDC&amountIn=1000000");
    assert_eq!(quote().await["data"]["status"], "halted");

    let token_in = token("SOL").address;
    let token_out = token("USDC").address;
    let swap = Vault::swapExactTokensForTokensCall {
        _tokenIn: token_in,
        _tokenOut: token_out,
        _amountIn: U256::from(1_000_000),
        _minAmountOut: U256::ZERO,
    };

    let call =
        json!({ "from": node.account(0), "to": VAULT, "data": Bytes::from(swap.abi_encode()) });
    let error = node.rpc_error("eth_call", json!([call, "latest"])).await;
    let halted = VaultErrors::TokenHalted { token: token_in }.abi_encode();
    assert_eq!(error["data"], json!(Bytes::from(halted)), "{error}");

    play(&node, &clock, id, (0, 20_000)).await;
    assert_eq!(
        price(&node, "SOL").await,
        (u128::from(before) * 4_000 / 10_000) as u64
    );
    assert_eq!(quote().await["data"]["status"], "ok");
    node.end().await;
}

#[tokio::test]
async fn a_depeg_ends_at_a_dollar() {
    let (node, clock) = ticking_node().await;
    let id = start(&node, ready_made("depeg")).await;
    play(&node, &clock, id, (0, 30_000)).await;
    assert_eq!(
        usd_e8(&node.price_entry(&token("USDC")).await["price"]),
        90_000_000
    );
    play(&node, &clock, id, (30_000, 310_000)).await;
    assert_eq!(price(&node, "USDC").await, 100_000_000);
    node.end().await;
}

#[tokio::test]
async fn a_paused_vault_resumes_when_the_scenario_is_stopped() {
    let (node, _clock) = ticking_node().await;
    let id = start(&node, ready_made("paused-vault")).await;
    done(&node, id, 0).await;
    assert!(node.view(VAULT, Vault::pausedCall {}).await);
    let stopped = stop(&node, id).await;
    assert_eq!(
        (&stopped["state"], &stopped["steps"][1]["state"]),
        (&"stopped".into(), &"done".into())
    );
    assert!(!node.view(VAULT, Vault::pausedCall {}).await);
    assert_eq!(stop(&node, id).await, stopped, "it was stopped before");
    node.end().await;
}

#[tokio::test]
async fn a_bank_run_empties_the_pool_whatever_others_have_deposited() {
    let (node, clock) = ticking_node().await;
    let user = node.signer(4);
    let weth = token("WETH");
    let amount = units(&weth, 20);
    let pool = node.config().network.contracts.lending_pool;
    let approve = Token::approveCall {
        spender: pool,
        value: amount,
    };
    assert!(node.send(&user, weth.address, approve).await.status());
    let deposit = LendingPool::depositCall {
        asset: weth.address,
        amount,
    };
    assert!(node.send(&user, pool, deposit).await.status());

    let id = start(&node, ready_made("bank-run")).await;
    play(&node, &clock, id, (0, 20_000)).await;

    let reserve = node.get_json("/api/pools/WETH").await;
    assert_eq!(reserve["utilisation"], "100.00", "{reserve}");
    assert!(decimal(&reserve["availableLiquidity"]) < 1e-9, "{reserve}");

    let stopped = stop(&node, id).await;
    let steps = stopped["steps"].as_array().expect("a list");
    assert!(
        stopped["state"] == "stopped" && steps.iter().all(|step| step["state"] == "done"),
        "{stopped:#}"
    );

    let reserve = node.get_json("/api/pools/WETH").await;
    assert!(decimal(&reserve["utilisation"]) < 50.0, "{reserve}");
    node.end().await;
}

#[tokio::test]
async fn a_cascade_liquidates_one_borrower_after_the_other_and_can_be_repeated() {
    let (node, clock) = ticking_node().await;
    for run in 1..=2 {
        let id = start(&node, ready_made("liquidation-cascade")).await;
        play(&node, &clock, id, (0, 110_000)).await;
        let stopped = stop(&node, id).await;
        let steps = stopped["steps"].as_array().expect("a list");
        assert!(
            steps.iter().all(|step| step["state"] == "done"),
            "{stopped:#}"
        );
        for borrower in 1..=3 {
            let path = format!("/api/user/{}/history", node.account(borrower));
            let history = node.get_json(&path).await;
            let events = history["data"].as_array().expect("a list");
            let liquidations = events
                .iter()
                .filter(|event| event["type"] == "liquidation")
                .count();
            assert_eq!(liquidations, run, "account {borrower}: {history:#}");
        }
    }
    node.end().await;
}

async fn balance(node: &TestNode, account: usize) -> U256 {
    let balance = node
        .rpc("eth_getBalance", json!([node.account(account), "latest"]))
        .await;
    balance.as_str().expect("text").parse().expect("a number")
}

/// A node that seals blocks on demand only, so that only the test and the scenario seal blocks.
async fn node_without_mining() -> (TestNode, Arc<ManualClock>) {
    let clock = manual_clock();
    (
        node_at(clock.clone(), |config| config.no_mining = true).await,
        clock,
    )
}

async fn step_is(node: &TestNode, id: u64, step: usize, state: &str) -> Value {
    until(node, id, |found| found["steps"][step]["state"] == state).await
}

#[tokio::test]
async fn a_reorganisation_takes_transactions_back() {
    let (node, clock) = node_without_mining().await;

    let before = balance(&node, 2).await;

    let document = r#"
        name = "reorganisation"
        lasts = "1m"
        [[step]]
        block = 0
        transaction = { from = "account 1", to = "account 2", value = "1.5" }
        [[step]]
        at = "2s"
        reorg = 1
        [[step]]
        at = "4s"
        reorg = 64
    "#;
    let id = start(&node, document).await;

    let sent = step_is(&node, id, 0, "sent").await;
    node.mine().await;

    assert_eq!(
        step_is(&node, id, 0, "done").await["steps"][0]["detail"],
        sent["steps"][0]["detail"]
    );
    assert_eq!(
        balance(&node, 2).await - before,
        U256::from(1_500_000_000_000_000_000u64)
    );

    let old = node.chain().head().block.hash;
    clock.advance(2_000);
    step_is(&node, id, 1, "done").await;

    assert_eq!(
        node.rpc("eth_getBlockByHash", json!([old, false])).await,
        Value::Null
    );
    assert_eq!(balance(&node, 2).await, before);
    let hash = &sent["steps"][0]["detail"];
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([hash])).await,
        Value::Null
    );

    clock.advance(2_000);
    let failed = step_is(&node, id, 2, "failed").await;
    assert!(
        failed["steps"][2]["detail"]
            .as_str()
            .is_some_and(|detail| detail.contains("blocks")),
        "{failed}"
    );

    node.end().await;
}

#[tokio::test]
async fn the_bundled_reorganisation_removes_all_its_transfers() {
    let (node, _clock) = node_without_mining().await;
    let filter = node
        .rpc(
            "eth_newFilter",
            json!([{ "address": token("WETH").address }]),
        )
        .await;

    let id = start(&node, ready_made("reorganisation")).await;
    for step in 0..3 {
        step_is(&node, id, step, "sent").await;
        node.mine().await;
        step_is(&node, id, step, "done").await;
    }

    let logs = node.rpc("eth_getFilterChanges", json!([filter])).await;
    assert_eq!(logs.as_array().map(Vec::len), Some(3), "{logs}");
    for _ in 3..6 {
        assert_eq!(scenario(&node, id).await["steps"][3]["state"], "waiting");
        node.mine().await;
    }

    let found = step_is(&node, id, 3, "done").await;
    for step in 0..3 {
        let receipt = node
            .rpc(
                "eth_getTransactionReceipt",
                json!([found["steps"][step]["detail"]]),
            )
            .await;
        assert_eq!(receipt, Value::Null);
    }

    let logs = node.rpc("eth_getFilterChanges", json!([filter])).await;
    let logs = logs.as_array().expect("a list");
    assert!(
        logs.len() == 3 && logs.iter().all(|log| log["removed"] == true),
        "{logs:?}"
    );
    node.end().await;
}

#[tokio::test]
async fn a_transaction_that_reverts_later_fails_its_step() {
    let (node, _clock) = node_without_mining().await;
    let document = r#"
        name = "no permission"
        lasts = "1m"
        [[step]]
        block = 2
        transaction = { from = "account 1", to = "vault", call = "pause()" }
    "#;
    let id = start(&node, document).await;
    node.mine().await;
    assert_eq!(scenario(&node, id).await["steps"][0]["state"], "waiting");
    node.mine().await;
    step_is(&node, id, 0, "sent").await;
    node.mine().await;
    let failed = step_is(&node, id, 0, "failed").await;
    assert!(
        failed["steps"][0]["detail"]
            .as_str()
            .is_some_and(|detail| detail.ends_with("reverted")),
        "{failed}"
    );
    node.end().await;
}

#[tokio::test]
async fn a_step_that_fails_does_not_end_the_scenario() {
    let (node, _clock) = ticking_node().await;
    let document = r#"
        name = "failures"
        lasts = "1m"
        [[step]]
        at = "0s"
        transaction = { from = "account 1", to = "vault", call = "pause()" }
        [[step]]
        at = "0s"
        transaction = { from = "account 1", to = "account 2", value = "1000000" }
        [[step]]
        at = "0s"
        transaction = { from = "owner", to = "vault", call = "pause()" }
        [[step]]
        block = 1000000
        advance = "1s"
    "#;
    let id = start(&node, document).await;
    let found = until(&node, id, |found| found["steps"][2]["state"] == "done").await;
    let detail = |step: usize| found["steps"][step]["detail"].as_str().expect("text");
    assert!(
        detail(0).ends_with("reverted") && detail(1).contains("insufficient funds"),
        "{found:#}"
    );
    assert_eq!(stop(&node, id).await["steps"][3]["state"], "skipped");
    node.end().await;
}

//! The chain's one writer serves all of its work: scheduled blocks, long tasks, and other requests
//! meanwhile.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use alloy::eips::{
    eip2935::HISTORY_STORAGE_ADDRESS, eip4788::BEACON_ROOTS_ADDRESS,
    eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS,
};
use serde_json::{Value, json};
use tetrad_chain::Event;

use crate::support::{
    TestNode, chain::token, node, node_with, number, process::Running, ticking_node,
};

/// Code that always reverts.
const REVERTS: &str = "0x5f5ffd";
/// Code that loops until its gas is used up.
const LOOPS: &str = "0x5b5f56";
const CONTRACT: &str = "0x00000000000000000000000000000000000000cc";

async fn length(node: &TestNode, block: &str) -> usize {
    let block = node
        .rpc("eth_getBlockByNumber", json!([block, false]))
        .await;
    block["transactions"].as_array().unwrap().len()
}

/// Sends this many transactions like `transaction`, a thousand in each batch.
async fn send_many(node: &TestNode, count: usize, transaction: &Value) {
    for first in (0..count).step_by(1_000) {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_sendTransaction", "params": [transaction]});
        let batch: Vec<_> = (first..count.min(first + 1_000))
            .map(|_| &request)
            .collect();
        let answers = node.post(json!(batch).to_string()).await;
        assert!(
            answers
                .as_array()
                .unwrap()
                .iter()
                .all(|answer| answer["result"].is_string()),
            "{answers}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scheduled_blocks_are_on_time_under_load() {
    let place = tempfile::tempdir().unwrap();
    let node = node_with(|config| {
        config.block_time = Some(Duration::from_millis(50));
        config.data_dir = Some(place.path().join("chain"));
    });
    let node = Arc::new(node.await);
    let mut events = node.chain().subscribe();
    let over = Arc::new(AtomicBool::new(false));

    // There is always a command and, among the commands, transactions to store.
    let clients: Vec<_> = (0..4)
        .map(|client| {
            let node = node.clone();
            let over = over.clone();
            tokio::spawn(async move {
                while !over.load(Ordering::Relaxed) {
                    node.rpc(
                        "anvil_setBalance",
                        json!([node.account(client), "0xde0b6b3a7640000"]),
                    )
                    .await;
                    node.send_wei(client).await;
                }
            })
        })
        .collect();

    for _ in 0..5 {
        while !matches!(events.recv().await.unwrap(), Event::Head { added, .. } if !added.is_empty())
        {
        }
    }

    over.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
}

#[tokio::test]
async fn other_requests_are_answered_while_many_blocks_are_mined() {
    let node = Arc::new(node().await);
    let miner = node.clone();
    let mining = tokio::spawn(async move { miner.request("anvil_mine", json!([100_000])).await });
    while node.height().await == 0 {
        tokio::task::yield_now().await;
    }
    let hash = node.send_wei(0).await;
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([hash])).await["status"],
        "0x1"
    );
    assert_eq!(
        node.rpc("anvil_setBalance", json!([CONTRACT, "0x1"])).await,
        Value::Null
    );
    assert_eq!(node.get("/ready").await.status(), 200);
    assert!(!mining.is_finished());
    // A closing node does not mine the rest.
    node.chain().wind_down();
    let answer = mining.await.unwrap();
    assert_eq!(
        answer["error"]["message"], "the node is shutting down",
        "{answer}"
    );
    assert!(node.height().await < 100_000);
}

/// The response to a body.
async fn post(url: String, body: &'static str) -> Value {
    let request = reqwest::Client::new()
        .post(url)
        .header("content-type", "application/json")
        .body(body);
    request.send().await.unwrap().json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_ends_a_node_that_mines_many_blocks() {
    let node = Running::start(&[]).await;
    let url = node.ready["rpc"].as_str().unwrap().to_owned();
    let mining = tokio::spawn(post(
        url.clone(),
        r#"{"jsonrpc":"2.0","id":1,"method":"anvil_mine","params":[100000]}"#,
    ));

    let head = r#"{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}"#;
    while number(&post(url.clone(), head).await["result"]) < 100 {}

    let (ok, printed) = tokio::task::spawn_blocking(|| node.end("-TERM"))
        .await
        .unwrap();
    assert!(ok, "{printed}");
    // The request was answered, and not cut off at the node's shutdown timeout.
    let answer = mining.await.unwrap();
    assert_eq!(
        answer["error"]["message"], "the node is shutting down",
        "{answer}"
    );
}

#[tokio::test]
async fn mining_in_pieces_mines_the_requested_number_of_blocks() {
    let node = node().await;
    let mine = |blocks: u64| node.rpc("anvil_mine", json!([blocks, 2]));
    let sends = async {
        for _ in 0..20 {
            node.send_wei(0).await;
        }
    };
    tokio::join!(mine(1_500), mine(700), sends);
    assert!(node.height().await >= 2_200);
    let nonce = node
        .rpc(
            "eth_getTransactionCount",
            json!([node.account(0), "latest"]),
        )
        .await;
    assert_eq!((nonce, node.chain().pool().len()), (json!("0x14"), 0));
}

#[tokio::test]
async fn mining_many_blocks_advances_the_clock() {
    let (node, clock) = ticking_node().await;
    node.rpc("anvil_mine", json!(["0x3e8"])).await;
    let mined = node.chain().head().block.header.timestamp;
    assert_eq!(
        node.chain().now(),
        mined,
        "time continues from the newest block"
    );
    let (_, updated) = node.oracle_price(&token("WETH")).await;
    clock.advance(2_000);
    node.wake().await;
    assert_eq!(node.height().await, 1_001);
    assert_eq!(node.oracle_price(&token("WETH")).await.1, mined + 2);
    assert!(updated <= mined);
}

#[tokio::test]
async fn contracts_that_blocks_merely_notify_may_fail() {
    let node = node().await;
    for contract in [BEACON_ROOTS_ADDRESS, HISTORY_STORAGE_ADDRESS] {
        for code in [REVERTS, "0xfe", LOOPS] {
            node.rpc("anvil_setCode", json!([contract, code])).await;
            let hash = node.send_wei(0).await;
            assert_eq!(
                node.rpc("eth_getTransactionReceipt", json!([hash])).await["status"],
                "0x1",
                "{code}"
            );
        }
    }
    assert_eq!(node.get("/ready").await.status(), 200);
}

#[tokio::test]
async fn a_node_that_cannot_seal_is_not_ready_and_gives_the_reason() {
    let node = node().await;
    let contract = WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS;
    let code = node.rpc("eth_getCode", json!([contract, "latest"])).await;
    node.rpc("anvil_setCode", json!([contract, REVERTS])).await;
    assert_eq!(
        node.get("/ready").await.status(),
        200,
        "nothing has failed yet"
    );

    let error = node.rpc_error("evm_mine", json!([])).await;
    assert!(error.to_string().contains("system call"), "{error}");

    let response = node.get("/ready").await;
    assert_eq!(response.status(), 503);
    let body: Value = response.json().await.unwrap();
    assert_eq!(
        (&body["chain"], &body["prices"]),
        (&json!("unavailable"), &json!("ok")),
        "{body}"
    );
    let reason = body["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("no block can be sealed: system call to 0x00000961"),
        "{reason}"
    );

    // The node resumes without any further transaction.
    node.rpc("anvil_setCode", json!([contract, code])).await;
    let response = node.get("/ready").await;
    assert_eq!(response.status(), 200);
    assert_eq!(
        response.json::<Value>().await.unwrap()["reason"],
        Value::Null
    );
    node.mine().await;
}

#[tokio::test]
async fn the_pending_block_is_offered_the_same_transactions_as_a_sealed_one() {
    let node = node().await;
    node.rpc("evm_setAutomine", json!([false])).await;
    node.rpc("evm_setBlockGasLimit", json!([1_000_000_000]))
        .await;
    const COUNT: usize = 10_500;
    let from = node.account(0);
    let to = node.account(1);
    send_many(
        &node,
        COUNT,
        &json!({"from": from, "to": to, "value": "0x1", "gas": "0x5208"}),
    )
    .await;
    assert_eq!(length(&node, "pending").await, COUNT);
    node.mine().await;
    assert_eq!(length(&node, "latest").await, COUNT);
    // Settings for the next block are visible in it at once.
    node.rpc("hardhat_setNextBlockBaseFeePerGas", json!(["0x77"]))
        .await;
    let pending = node
        .rpc("eth_getBlockByNumber", json!(["pending", false]))
        .await;
    assert_eq!(pending["baseFeePerGas"], "0x77");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pending_block_of_slow_transactions_delays_no_request() {
    let node = node().await;
    node.rpc("evm_setAutomine", json!([false])).await;
    node.rpc("evm_setBlockGasLimit", json!([i64::MAX])).await;
    node.rpc("anvil_setCode", json!([CONTRACT, LOOPS])).await;
    let slow = json!({"from": node.account(0), "to": CONTRACT, "gas": "0xf42400"});
    const COUNT: usize = 2_000;
    send_many(&node, COUNT, &slow).await;
    let read = || async { length(&node, "pending").await };
    let (first, second, third, _) = tokio::join!(read(), read(), read(), async {
        for _ in 0..100 {
            node.height().await;
        }
    });
    for length in [first, second, third] {
        assert!(length > 0 && length < COUNT, "{length}");
    }
}

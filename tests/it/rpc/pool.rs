//! The transactions that a full pool keeps, and their expiry.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    TestNode, node_with, number,
    sign::{raw, transfer},
};

const GWEI: u128 = 1_000_000_000;

async fn send(node: &TestNode, from: usize, nonce: u64, gwei: u128) -> Value {
    let mut transaction = transfer(nonce);
    (
        transaction.max_fee_per_gas,
        transaction.max_priority_fee_per_gas,
    ) = (gwei * GWEI, gwei * GWEI);
    node.request("eth_sendRawTransaction", json!([raw(transaction, from)]))
        .await
}

async fn status(node: &TestNode) -> (u128, u128) {
    let status = node.rpc("txpool_status", json!([])).await;
    (number(&status["pending"]), number(&status["queued"]))
}

#[tokio::test]
async fn a_full_pool_accepts_higher_fees() {
    let node = node_with(|config| {
        config.no_mining = true;
        config.pool.transactions = 20;
    })
    .await;
    for nonce in 0..20 {
        assert!(send(&node, 0, nonce, 10).await["error"].is_null());
    }
    let best = send(&node, 1, 0, 100).await["result"].clone();
    assert_eq!(status(&node).await, (20, 0));
    assert!(
        node.rpc("eth_getTransactionByHash", json!([best]))
            .await
            .is_object()
    );
    // The last transaction of the account with the lowest fee made room, so that none lost its
    // predecessor.
    let content = node.rpc("txpool_content", json!([])).await;
    let left = content["pending"][node.account(0).to_string()]
        .as_object()
        .unwrap();
    assert_eq!((left.len(), left.contains_key("19")), (19, false));

    let error = send(&node, 2, 0, 10).await["error"].clone();
    assert_eq!(
        error["data"].as_str().or(error["message"].as_str()),
        Some("transaction underpriced: txpool is full")
    );
    let error = send(&node, 2, 5, 100).await["error"].to_string();
    assert!(
        error.contains("future transaction tries to replace pending"),
        "{error}"
    );
    // A replacement needs no room.
    assert!(send(&node, 0, 3, 12).await["error"].is_null());
    node.rpc("evm_mine", json!([])).await;
    assert_eq!(status(&node).await, (0, 0));
}

#[tokio::test]
async fn a_full_pool_drops_queued_transactions_first() {
    let node = node_with(|config| {
        config.no_mining = true;
        config.pool.transactions = 4;
    })
    .await;
    for nonce in [7, 8] {
        send(&node, 0, nonce, 100).await;
        send(&node, 1, nonce - 7, 10).await;
    }
    assert_eq!(status(&node).await, (2, 2));
    assert!(send(&node, 2, 0, 10).await["error"].is_null());
    assert_eq!(status(&node).await, (3, 1));
    let content = node.rpc("txpool_content", json!([])).await;
    assert!(
        content["queued"][node.account(0).to_string()]["7"].is_object(),
        "{content}"
    );
}

#[tokio::test]
async fn an_account_at_its_limit_can_still_fill_its_nonce_gap() {
    let node = node_with(|config| config.pool.per_account = 3).await;
    for nonce in [1, 2, 3] {
        send(&node, 0, nonce, 10).await;
    }
    let error = send(&node, 0, 4, 10).await["error"].to_string();
    assert!(
        error.contains("account limit exceeded: 3 transactions of this sender"),
        "{error}"
    );
    assert!(send(&node, 0, 0, 10).await["error"].is_null());
    assert_eq!(
        number(
            &node
                .rpc(
                    "eth_getTransactionCount",
                    json!([node.account(0), "latest"])
                )
                .await
        ),
        3
    );
    assert_eq!(status(&node).await, (0, 0));
}

#[tokio::test]
async fn queued_transactions_expire_and_executable_ones_do_not() {
    let node = node_with(|config| {
        config.no_mining = true;
        config.pool.lifetime = Some(Duration::from_millis(400));
    })
    .await;
    send(&node, 0, 0, 10).await;
    send(&node, 0, 2, 10).await;
    send(&node, 1, 3, 10).await;

    // No block can include it at the present base fee.
    let mut cheap = transfer(0);
    (cheap.max_fee_per_gas, cheap.max_priority_fee_per_gas) = (1, 1);
    node.rpc("eth_sendRawTransaction", json!([raw(cheap, 2)]))
        .await;

    let mut left = status(&node).await;
    while left != (1, 0) {
        assert!(left.0 >= 1, "an executable transaction expired");
        tokio::time::sleep(Duration::from_millis(20)).await;
        left = status(&node).await;
    }

    // The nonces can be used again.
    assert!(send(&node, 1, 0, 10).await["error"].is_null());
    assert_eq!(
        number(
            &node
                .rpc(
                    "eth_getTransactionCount",
                    json!([node.account(0), "pending"])
                )
                .await
        ),
        1
    );
}

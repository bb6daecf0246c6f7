//! Forks in the middle of a block: before one of its transactions, or after it.

use serde_json::{Value, json};

use super::fork_of;
use crate::support::{TestNode, node_with, number};

/// A node whose newest block has three transfers of a wei each, and their hashes.
async fn block_of_three() -> (TestNode, Vec<Value>) {
    let node = node_with(|_| {}).await;
    node.send_wei(0).await;
    node.rpc("evm_setAutomine", json!([false])).await;
    let mut hashes = Vec::new();
    for from in 1..4 {
        let request = json!([{"from": node.account(from), "to": node.account(9), "value": "0x1"}]);
        hashes.push(node.rpc("eth_sendTransaction", request).await);
    }
    node.rpc("evm_mine", json!([])).await;

    let block = node.latest().await;
    assert_eq!(block["transactions"].as_array().unwrap().len(), 3);
    // In the order of the block.
    (node, block["transactions"].as_array().unwrap().clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn earlier_transactions_are_replayed_in_the_same_environment() {
    let (upstream, hashes) = block_of_three().await;
    let block = upstream.latest().await;
    for (side, position, count) in [("before", 0, 0), ("before", 2, 2), ("after", 2, 3)] {
        let hash = hashes[position].as_str().unwrap();
        let fork = fork_of(&upstream.rpc_url(), |config| {
            config.fork.block = format!("{side}:{hash}").parse().unwrap();
            // The balances of development accounts are unchanged.
            config.accounts = 0;
        })
        .await;

        let replayed = fork.latest().await;
        for field in [
            "number",
            "timestamp",
            "baseFeePerGas",
            "mixHash",
            "miner",
            "parentHash",
        ] {
            assert_eq!(replayed[field], block[field], "{side} {position} {field}");
        }
        assert_eq!(
            replayed["transactions"].as_array().unwrap(),
            &hashes[..count],
            "{side} {position}"
        );
        for hash in &hashes[..count] {
            let receipt = fork.rpc("eth_getTransactionReceipt", json!([hash])).await;
            assert_eq!(receipt["status"], "0x1");
        }

        // The next transaction is executed as it was on the other chain.
        let mut count = count;
        if let Some(next) = hashes.get(count) {
            let raw = upstream
                .rpc("eth_getRawTransactionByHash", json!([next]))
                .await;
            assert_eq!(
                fork.rpc("eth_sendRawTransaction", json!([raw])).await,
                *next
            );
            count += 1;
        }
        let paid = json!([upstream.account(9), "latest"]);
        let balance = number(&fork.rpc("eth_getBalance", paid.clone()).await);
        let all = number(&upstream.rpc("eth_getBalance", paid).await);
        assert_eq!(all - balance, 3 - count as u128, "{side} {position}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_of_impersonated_accounts_are_replayed() {
    let upstream = node_with(|_| {}).await;
    let sender = "0x00000000000000000000000000000000000000aa";
    upstream
        .rpc("anvil_impersonateAccount", json!([sender]))
        .await;
    upstream
        .rpc("anvil_setBalance", json!([sender, "0xde0b6b3a7640000"]))
        .await;
    let request = json!([{"from": sender, "to": upstream.account(9), "value": "0x1"}]);
    let hash = upstream.rpc("eth_sendTransaction", request).await;

    let fork = fork_of(&upstream.rpc_url(), |config| {
        config.fork.block = format!("after:{}", hash.as_str().unwrap()).parse().unwrap();
    })
    .await;
    let found = fork.rpc("eth_getTransactionByHash", json!([hash])).await;
    assert_eq!(found["from"], sender);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_in_no_block_is_named() {
    let upstream = node_with(|_| {}).await;
    let hash = format!("0x{}", "ab".repeat(32));
    let mut config = tetrad::Config::test();
    config.fork.url = Some(upstream.rpc_url().parse().unwrap());
    config.fork.block = format!("before:{hash}").parse().unwrap();
    let Err(error) = tetrad::Node::spawn(config).await else {
        panic!("it starts");
    };
    let error = error.to_string();
    assert!(error.contains(&hash), "{error}");
}

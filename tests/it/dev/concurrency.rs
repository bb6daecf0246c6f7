//! Concurrent clients.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::json;

use crate::support::{node, number};

#[tokio::test]
async fn transactions_without_a_nonce_never_collide() {
    let node = node().await;
    let hashes = join_all((0..200).map(|_| node.send_wei(0))).await;
    let distinct: BTreeSet<_> = hashes.iter().map(|hash| hash.as_str().unwrap()).collect();
    assert_eq!(distinct.len(), 200);
    let count = node
        .rpc(
            "eth_getTransactionCount",
            json!([node.account(0), "latest"]),
        )
        .await;
    assert_eq!(number(&count), 200);
    let receipts = join_all(
        hashes
            .iter()
            .map(|hash| node.rpc("eth_getTransactionReceipt", json!([hash]))),
    )
    .await;
    assert!(receipts.iter().all(|receipt| receipt["status"] == "0x1"));
}

#[tokio::test]
async fn transactions_in_any_order_are_all_included() {
    let node = node().await;
    // 97 and 200 share no factor, so every nonce is sent once, far from its neighbours.
    let orders = (0..200u64).map(|at| at * 97 % 200);
    let requests = orders.map(|nonce| {
        let nonce = format!("{nonce:#x}");
        let request =
            json!([{"from": node.account(3), "to": node.account(4), "value": "0x1", "gas": "0x5208", "nonce": nonce}]);
        node.rpc("eth_sendTransaction", request)
    });
    let hashes = join_all(requests).await;
    // The last one to arrive made all others executable.
    node.wake().await;
    let receipts = join_all(
        hashes
            .iter()
            .map(|hash| node.rpc("eth_getTransactionReceipt", json!([hash]))),
    )
    .await;
    assert!(receipts.iter().all(|receipt| receipt["status"] == "0x1"));
    assert!(node.chain().pool().is_empty());
}

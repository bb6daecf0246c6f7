//! Reverting blocks.

use serde_json::{Value, json};

use super::UNUSED_ADDRESS;
use crate::support::{TestNode, node, number};

async fn receipt(node: &TestNode, hash: &Value) -> Value {
    node.rpc("eth_getTransactionReceipt", json!([hash])).await
}

#[tokio::test]
async fn a_rollback_removes_the_newest_blocks() {
    let node = node().await;
    let kept = node.send_wei(0).await;
    let there = node.latest().await;
    let gone = node.send_wei(0).await;
    node.rpc("anvil_mine", json!([300])).await;
    node.rpc("anvil_setBalance", json!([UNUSED_ADDRESS, "0x1"]))
        .await;

    node.rpc("anvil_rollback", json!([301])).await;
    assert_eq!(node.latest().await, there);
    assert_eq!(receipt(&node, &gone).await, Value::Null);
    assert_eq!(receipt(&node, &kept).await["status"], "0x1");
    assert_eq!(
        node.rpc(
            "eth_getTransactionCount",
            json!([node.account(0), "latest"])
        )
        .await,
        "0x1"
    );
    assert_eq!(
        node.rpc("eth_getBalance", json!([UNUSED_ADDRESS, "latest"]))
            .await,
        "0x0"
    );

    node.send_wei(0).await;
    node.rpc("anvil_rollback", json!([])).await;
    assert_eq!(node.latest().await, there);

    let error = node.rpc_error("anvil_rollback", json!([2])).await;
    assert_eq!(
        error["data"],
        "Rollback depth must not exceed current chain height: current height 1, depth 2"
    );
}

#[tokio::test]
async fn a_rollback_restores_the_chain_id_of_the_block() {
    let node = node().await;
    node.send_wei(0).await;
    node.rpc("anvil_setChainId", json!([31337])).await;
    node.rpc("anvil_mine", json!([2])).await;
    node.rpc("anvil_rollback", json!([1])).await;
    assert_eq!(
        node.rpc("eth_chainId", json!([])).await,
        "0x7a69",
        "the chain id was set before this block"
    );
    node.rpc("anvil_rollback", json!([1])).await;
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");
    node.send_wei(0).await;
}

#[tokio::test]
async fn a_reorg_replaces_blocks_up_to_the_same_height() {
    let node = node().await;
    let gone = node.send_wei(0).await;
    node.rpc("anvil_mine", json!([4])).await;
    let before: Vec<_> = [
        node.latest().await["hash"].clone(),
        node.rpc("eth_getBlockByNumber", json!(["0x1", false]))
            .await["hash"]
            .clone(),
    ]
    .into();

    let filter = node.rpc("eth_newBlockFilter", json!([])).await;
    let transfer = json!({"from": node.account(1), "to": UNUSED_ADDRESS, "value": "0x7"});
    let another = json!({"from": node.account(1), "to": UNUSED_ADDRESS, "value": "0x8"});
    node.rpc("anvil_reorg", json!([5, [[transfer, 0], [another, 4]]]))
        .await;

    assert_eq!(node.height().await, 5);
    assert_ne!(node.latest().await["hash"], before[0]);
    let first = node.rpc("eth_getBlockByNumber", json!(["0x1", true])).await;
    assert_ne!(first["hash"], before[1]);
    assert_eq!(first["transactions"][0]["value"], "0x7");
    assert_eq!(
        node.rpc("eth_getBalance", json!([UNUSED_ADDRESS, "latest"]))
            .await,
        "0xf"
    );
    assert_eq!(receipt(&node, &gone).await, Value::Null);
    assert_eq!(
        node.rpc("eth_getFilterChanges", json!([filter]))
            .await
            .as_array()
            .unwrap()
            .len(),
        5
    );

    // By name, as one client library sends it.
    node.rpc("anvil_reorg", json!({"depth": 1, "txBlockPairs": []}))
        .await;
    assert_eq!(
        node.rpc("eth_getBalance", json!([UNUSED_ADDRESS, "latest"]))
            .await,
        "0x7"
    );
}

#[tokio::test]
async fn a_reorg_of_no_blocks_does_not_affect_the_next_block() {
    let node = node().await;
    node.rpc("anvil_mine", json!([2])).await;
    let before = node.latest().await;
    node.rpc("anvil_reorg", json!([0, []])).await;
    assert_eq!(node.latest().await, before);
    node.rpc("anvil_mine", json!([])).await;
    assert_ne!(node.latest().await["mixHash"], before["hash"]);
}

#[tokio::test]
async fn an_invalid_reorg_changes_nothing() {
    let node = node().await;
    node.rpc("anvil_mine", json!([3])).await;
    let before = node.latest().await;
    node.rpc("anvil_setNextBlockBaseFeePerGas", json!(["0x77359400"]))
        .await;
    let impossible =
        json!({"from": node.account(1), "to": UNUSED_ADDRESS, "nonce": "0x9", "gas": "0x5208"});
    node.rpc_error("anvil_reorg", json!([2, [[impossible, 0]]]))
        .await;
    let late = json!({"from": node.account(1), "to": UNUSED_ADDRESS});
    let error = node.rpc_error("anvil_reorg", json!([2, [[late, 2]]])).await;
    assert_eq!(error["code"], -32602, "{error}");
    assert_eq!(
        node.rpc_error("anvil_reorg", json!([4, []])).await["code"],
        -32602
    );
    node.rpc("anvil_rollback", json!([0])).await;
    assert_eq!(node.latest().await, before);
    node.rpc("anvil_mine", json!([])).await;
    assert_eq!(node.latest().await["baseFeePerGas"], "0x77359400");
}

#[tokio::test]
async fn a_reset_returns_to_the_first_block() {
    let node = node().await;
    let first = node.latest().await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    node.rpc("anvil_setChainId", json!([31337])).await;
    node.rpc("anvil_setCoinbase", json!([UNUSED_ADDRESS])).await;
    node.rpc("evm_increaseTime", json!([1_000_000])).await;
    node.rpc("anvil_autoImpersonateAccount", json!([true]))
        .await;
    node.send_wei(0).await;

    for params in [
        json!([]),
        json!([{}]),
        json!([{"forking": {"blockNumber": null}}]),
    ] {
        assert_eq!(node.rpc("anvil_reset", params).await, Value::Null);
    }

    assert_eq!(node.latest().await, first);
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");
    assert_eq!(
        node.rpc(
            "eth_getTransactionCount",
            json!([node.account(0), "latest"])
        )
        .await,
        "0x0"
    );

    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, false);
    node.rpc_error(
        "eth_sendTransaction",
        json!([{"from": UNUSED_ADDRESS, "to": UNUSED_ADDRESS}]),
    )
    .await;

    node.send_wei(0).await;
    let latest = node.latest().await;
    assert!(number(&latest["timestamp"]) < number(&first["timestamp"]) + 500_000);
    assert_ne!(latest["miner"], UNUSED_ADDRESS);
}

#[tokio::test]
async fn snapshots_have_names_and_are_listed_until_they_are_used_up() {
    let node = node().await;
    let plain = node.rpc("evm_snapshot", json!([])).await;
    node.send_wei(0).await;
    let named = node
        .rpc("tetrad_snapshot", json!(["  before the upgrade "]))
        .await;
    node.send_wei(0).await;
    let latest = node.latest().await;
    let again = node
        .rpc("tetrad_snapshot", json!(["before the upgrade"]))
        .await;

    let listed = node.rpc("tetrad_snapshots", json!([])).await;
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|taken| (&taken["id"], &taken["name"]))
        .collect();
    let name = json!("before the upgrade");
    assert_eq!(
        names,
        [(&plain, &json!(null)), (&named, &name), (&again, &name)]
    );

    assert_eq!(listed[1]["blockNumber"], "0x1");
    assert_eq!(listed[2]["blockHash"], latest["hash"]);
    assert_eq!(listed[2]["timestamp"], latest["timestamp"]);

    for wrong in [
        json!([]),
        json!([""]),
        json!(["  "]),
        json!(["a\u{7}"]),
        json!(["a".repeat(61)]),
        json!([7]),
    ] {
        assert_eq!(
            node.rpc_error("tetrad_snapshot", wrong).await["code"],
            -32602
        );
    }

    assert_eq!(node.rpc("evm_revert", json!([named])).await, true);
    let listed = node.rpc("tetrad_snapshots", json!([])).await;
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

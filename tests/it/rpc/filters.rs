//! Filters that clients poll.

use serde_json::{Value, json};

use crate::support::{TestNode, node, node_with};

async fn transfer_token(node: &TestNode) -> Value {
    transfer_tokens(node, 1).await
}

async fn transfer_tokens(node: &TestNode, amount: u64) -> Value {
    let token = node.config().network.tokens[0].address;
    // transfer(0x…aa, amount)
    let data = format!("0xa9059cbb{:0>64}{amount:064x}", "aa");
    node.rpc("eth_sendTransaction", json!([{"from": node.account(0), "to": token, "data": data}])).await
}

async fn changes(node: &TestNode, id: &Value) -> Vec<Value> {
    node.rpc("eth_getFilterChanges", json!([id])).await.as_array().unwrap().clone()
}

#[tokio::test]
async fn a_block_filter_tells_each_block_once() {
    let node = node().await;
    let id = node.rpc("eth_newBlockFilter", json!([])).await;
    assert!(changes(&node, &id).await.is_empty());
    let mut hashes = Vec::new();
    for _ in 0..3 {
        node.rpc("evm_mine", json!([])).await;
        hashes.push(node.rpc("eth_getBlockByNumber", json!(["latest", false])).await["hash"].clone());
    }
    assert_eq!(changes(&node, &id).await, hashes);
    assert!(changes(&node, &id).await.is_empty());
}

#[tokio::test]
async fn a_log_filter_tells_new_logs_and_takes_back_what_a_revert_undid() {
    let node = node().await;
    let token = node.config().network.tokens[0].address;
    let id = node.rpc("eth_newFilter", json!([{"address": token}])).await;
    let other = node.rpc("eth_newFilter", json!([{"address": node.account(3)}])).await;
    let kept = transfer_token(&node).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    let undone = transfer_token(&node).await;
    let logs = changes(&node, &id).await;
    assert_eq!(
        logs.iter().map(|log| log["transactionHash"].clone()).collect::<Vec<_>>(),
        [kept.clone(), undone.clone()]
    );
    assert!(logs.iter().all(|log| log["removed"] == false));

    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    // The same transaction at the same time would make the very block that was undone.
    let again = transfer_tokens(&node, 2).await;
    let logs = changes(&node, &id).await;
    let told: Vec<_> = logs.iter().map(|log| (log["transactionHash"].clone(), log["removed"] == true)).collect();
    assert_eq!(told, [(undone, true), (again.clone(), false)]);
    assert!(changes(&node, &other).await.is_empty());

    let all = node.rpc("eth_newFilter", json!([{"address": token, "fromBlock": "earliest"}])).await;
    let all = node.rpc("eth_getFilterLogs", json!([all])).await;
    let told: Vec<_> = all.as_array().unwrap().iter().map(|log| log["transactionHash"].clone()).collect();
    assert_eq!(told, [kept, again]);
}

#[tokio::test]
async fn a_pending_filter_tells_what_the_pool_accepted() {
    let node = node_with(|config| config.no_mining = true).await;
    let before = transfer_token(&node).await;
    let id = node.rpc("eth_newPendingTransactionFilter", json!([])).await;
    let (first, second) = (transfer_token(&node).await, transfer_token(&node).await);
    assert_eq!(changes(&node, &id).await, [first, second]);
    assert!(!changes(&node, &id).await.contains(&before));
}

#[tokio::test]
async fn an_uninstalled_filter_is_gone() {
    let node = node().await;
    let id = node.rpc("eth_newBlockFilter", json!([])).await;
    assert_eq!(node.rpc("eth_uninstallFilter", json!([id])).await, true);
    assert_eq!(node.rpc("eth_uninstallFilter", json!([id])).await, false);
    let gone = json!({"code": -32000, "message": "filter not found"});
    assert_eq!(node.rpc_error("eth_getFilterChanges", json!([id])).await, gone);
    assert_eq!(node.rpc_error("eth_getFilterLogs", json!([id])).await, gone);
    let blocks = node.rpc("eth_newBlockFilter", json!([])).await;
    assert_eq!(node.rpc_error("eth_getFilterLogs", json!([blocks])).await, gone);
}

#[tokio::test]
async fn there_are_only_so_many_filters() {
    let node = node_with(|config| config.rpc.max_filters = 3).await;
    for _ in 0..3 {
        node.rpc("eth_newBlockFilter", json!([])).await;
    }
    let error = node.rpc_error("eth_newFilter", json!([{}])).await;
    assert_eq!(error, json!({"code": -32000, "message": "too many filters: at most 3"}));
}

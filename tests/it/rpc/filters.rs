//! Filters that clients poll.

use serde_json::{Value, json};

use crate::support::{TestNode, node, node_with, number};

async fn transfer_token(node: &TestNode) -> Value {
    transfer_tokens(node, 1).await
}

async fn transfer_tokens(node: &TestNode, amount: u64) -> Value {
    let token = node.config().network.tokens[0].address;
    // transfer(0x…aa, amount)
    let data = format!("0xa9059cbb{:0>64}{amount:064x}", "aa");
    node.rpc(
        "eth_sendTransaction",
        json!([{"from": node.account(0), "to": token, "data": data}]),
    )
    .await
}

async fn changes(node: &TestNode, id: &Value) -> Vec<Value> {
    node.rpc("eth_getFilterChanges", json!([id]))
        .await
        .as_array()
        .unwrap()
        .clone()
}

#[tokio::test]
async fn a_block_filter_returns_each_block_once() {
    let node = node().await;
    let id = node.rpc("eth_newBlockFilter", json!([])).await;
    assert!(changes(&node, &id).await.is_empty());
    let mut hashes = Vec::new();
    for _ in 0..3 {
        node.rpc("evm_mine", json!([])).await;
        hashes.push(
            node.rpc("eth_getBlockByNumber", json!(["latest", false]))
                .await["hash"]
                .clone(),
        );
    }
    assert_eq!(changes(&node, &id).await, hashes);
    assert!(changes(&node, &id).await.is_empty());
}

#[tokio::test]
async fn a_log_filter_returns_new_logs_and_those_that_a_revert_removed() {
    let node = node().await;
    let token = node.config().network.tokens[0].address;
    let id = node.rpc("eth_newFilter", json!([{"address": token}])).await;
    let other = node
        .rpc("eth_newFilter", json!([{"address": node.account(3)}]))
        .await;
    let kept = transfer_token(&node).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    let undone = transfer_token(&node).await;
    let logs = changes(&node, &id).await;
    assert_eq!(
        logs.iter()
            .map(|log| log["transactionHash"].clone())
            .collect::<Vec<_>>(),
        [kept.clone(), undone.clone()]
    );
    assert!(logs.iter().all(|log| log["removed"] == false));

    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    // The same transaction at the same time would make the removed block again.
    let again = transfer_tokens(&node, 2).await;
    let logs = changes(&node, &id).await;
    let reported: Vec<_> = logs
        .iter()
        .map(|log| (log["transactionHash"].clone(), log["removed"] == true))
        .collect();
    assert_eq!(reported, [(undone, true), (again.clone(), false)]);
    assert!(changes(&node, &other).await.is_empty());

    let all = node
        .rpc(
            "eth_newFilter",
            json!([{"address": token, "fromBlock": "earliest"}]),
        )
        .await;
    let all = node.rpc("eth_getFilterLogs", json!([all])).await;
    let reported: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|log| log["transactionHash"].clone())
        .collect();
    assert_eq!(reported, [kept, again]);
}

#[tokio::test]
async fn a_pending_filter_returns_accepted_transactions() {
    let node = node_with(|config| config.no_mining = true).await;
    let before = transfer_token(&node).await;
    let id = node.rpc("eth_newPendingTransactionFilter", json!([])).await;
    let first = transfer_token(&node).await;
    let second = transfer_token(&node).await;
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
    assert_eq!(
        node.rpc_error("eth_getFilterChanges", json!([id])).await,
        gone
    );
    assert_eq!(node.rpc_error("eth_getFilterLogs", json!([id])).await, gone);
    let blocks = node.rpc("eth_newBlockFilter", json!([])).await;
    assert_eq!(
        node.rpc_error("eth_getFilterLogs", json!([blocks])).await,
        gone
    );
}

#[tokio::test]
async fn an_identifier_cannot_be_guessed() {
    let node = node().await;
    let mut ids = std::collections::BTreeSet::new();
    for method in [
        "eth_newBlockFilter",
        "eth_newPendingTransactionFilter",
        "eth_newBlockFilter",
    ] {
        ids.insert(number(&node.rpc(method, json!([])).await));
    }
    let all: Vec<_> = ids.iter().copied().collect();
    // The chance that one of them begins with four zero bytes is one in a billion.
    assert!(
        all.len() == 3 && all.iter().all(|id| id >> 96 != 0),
        "{all:x?}"
    );
    for near in [all[0] - 1, all[0] + 1, 1, u128::MAX] {
        let error = node
            .rpc_error("eth_getFilterChanges", json!([format!("{near:#x}")]))
            .await;
        assert_eq!(error["message"], "filter not found");
    }
}

#[tokio::test]
async fn an_idle_filter_expires() {
    let node = node_with(|config| {
        config.rpc.max_filters = 2;
        config.rpc.filter_lifetime = std::time::Duration::from_secs(1);
    })
    .await;
    let idle = node.rpc("eth_newBlockFilter", json!([])).await;
    let polled = node.rpc("eth_newBlockFilter", json!([])).await;
    // A polled filter stays; the idle one makes room for a third.
    let third = loop {
        changes(&node, &polled).await;
        let made = node.request("eth_newBlockFilter", json!([])).await;
        if made["error"].is_null() {
            break made["result"].clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    assert_eq!(
        node.rpc_error("eth_getFilterChanges", json!([idle])).await["message"],
        "filter not found"
    );
    changes(&node, &third).await;
    changes(&node, &polled).await;
}

/// The response to a request for a filter, from a client with this address according to a proxy.
async fn new_filter(node: &TestNode, client: &str) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_newBlockFilter", "params": []});
    node.http
        .post(node.rpc_url())
        .header("content-type", "application/json")
        .header("x-forwarded-for", client)
        .body(body.to_string())
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap()
}

#[tokio::test]
async fn filters_per_client_are_limited() {
    let node = node_with(|config| {
        config.rpc.max_filters_per_client = 2;
        config.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()];
    })
    .await;

    let first = new_filter(&node, "1.1.1.1").await["result"].clone();
    assert!(new_filter(&node, "1.1.1.1").await["error"].is_null());
    assert_eq!(
        new_filter(&node, "1.1.1.1").await["error"]["message"],
        "too many filters of this client: at most 2"
    );
    assert!(new_filter(&node, "2.2.2.2").await["error"].is_null());
    assert_eq!(node.rpc("eth_uninstallFilter", json!([first])).await, true);
    assert!(new_filter(&node, "1.1.1.1").await["error"].is_null());
}

#[tokio::test]
async fn a_filter_with_many_alternatives_counts_as_several() {
    let node = node_with(|config| config.rpc.max_filters = 5).await;
    let addresses: Vec<_> = (0..90u64).map(|n| format!("{n:#042x}")).collect();
    node.rpc("eth_newFilter", json!([{"address": addresses}]))
        .await;
    let error = node.rpc_error("eth_newBlockFilter", json!([])).await;
    assert_eq!(error["message"], "too many filters: at most 5");
}

#[tokio::test]
async fn a_filter_that_missed_blocks_reports_it_and_continues() {
    let node = node_with(|config| config.history.blocks = 8).await;
    let blocks = node.rpc("eth_newBlockFilter", json!([])).await;
    let logs = node.rpc("eth_newFilter", json!([{}])).await;
    node.rpc("anvil_mine", json!([20])).await;
    for id in [&blocks, &logs] {
        let error = node.rpc_error("eth_getFilterChanges", json!([id])).await;
        assert_eq!(error["code"], 4444, "{error}");
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains("no longer held"),
            "{error}"
        );
    }
    node.rpc("evm_mine", json!([])).await;
    assert_eq!(changes(&node, &blocks).await.len(), 1);
    assert!(changes(&node, &logs).await.is_empty());
}

#[tokio::test]
async fn a_filter_keeps_no_blocks_in_memory() {
    let node = node_with(|config| config.history.blocks = 8).await;
    transfer_token(&node).await;
    let head = node.chain().head();
    let block = std::sync::Arc::downgrade(&head.block);
    drop(head);
    node.rpc("eth_newBlockFilter", json!([])).await;
    node.rpc("eth_newFilter", json!([{}])).await;
    node.rpc("anvil_mine", json!([20])).await;
    // Other services read each new head, and then release the one before.
    for _ in 0..600 {
        if block.strong_count() == 0 {
            return;
        }
        node.rpc("evm_mine", json!([])).await;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("a block outlives the history");
}

#[tokio::test]
async fn a_filter_follows_several_reverts_between_two_polls() {
    let node = node().await;
    let token = node.config().network.tokens[0].address;
    let id = node.rpc("eth_newFilter", json!([{"address": token}])).await;
    let seen = transfer_tokens(&node, 1).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    let undone = transfer_tokens(&node, 2).await;
    changes(&node, &id).await;
    transfer_tokens(&node, 3).await;
    node.rpc("evm_revert", json!([snapshot])).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    transfer_tokens(&node, 4).await;
    node.rpc("evm_revert", json!([snapshot])).await;
    let new = transfer_tokens(&node, 5).await;
    let reported: Vec<_> = changes(&node, &id).await;
    let reported: Vec<_> = reported
        .iter()
        .map(|log| (log["transactionHash"].clone(), log["removed"] == true))
        .collect();
    assert_eq!(reported, [(undone, true), (new.clone(), false)]);
    assert_ne!(seen, new);
}

#[tokio::test]
async fn the_number_of_filters_is_limited() {
    let node = node_with(|config| config.rpc.max_filters = 3).await;
    for _ in 0..3 {
        node.rpc("eth_newBlockFilter", json!([])).await;
    }
    let error = node.rpc_error("eth_newFilter", json!([{}])).await;
    assert_eq!(
        error,
        json!({"code": -32000, "message": "too many filters: at most 3"})
    );
}

async fn numbers(node: &TestNode, method: &str, id: &Value) -> Vec<u128> {
    let logs = node.rpc(method, json!([id])).await;
    logs.as_array()
        .unwrap()
        .iter()
        .map(|log| number(&log["blockNumber"]))
        .collect()
}

#[tokio::test]
async fn a_log_filter_applies_its_block_range_to_each_log() {
    let node = node().await;
    transfer_token(&node).await;
    let filter = async |bounds: Value| node.rpc("eth_newFilter", json!([bounds])).await;

    let past = filter(json!({"fromBlock": "0x0", "toBlock": "0x1"})).await;
    let within = filter(json!({"fromBlock": "0x2", "toBlock": "0x3"})).await;
    let from = filter(json!({"fromBlock": "0x3"})).await;
    let until = filter(json!({"fromBlock": "earliest", "toBlock": "0x2"})).await;
    let new = filter(json!({"fromBlock": "latest", "toBlock": "latest"})).await;
    let later = filter(json!({"fromBlock": "0x9", "toBlock": "0x9"})).await;

    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    for _ in 0..3 {
        transfer_token(&node).await;
    }

    for (id, changes, all) in [
        (&past, vec![], vec![1]),
        (&within, vec![2, 3], vec![2, 3]),
        (&from, vec![3, 4], vec![3, 4]),
        (&until, vec![2], vec![1, 2]),
        (&new, vec![2, 3, 4], vec![4]),
        (&later, vec![], vec![]),
    ] {
        assert_eq!(numbers(&node, "eth_getFilterChanges", id).await, changes);
        assert_eq!(numbers(&node, "eth_getFilterLogs", id).await, all);
    }

    // Removed logs are within the same bounds.
    node.rpc("evm_revert", json!([snapshot])).await;
    assert_eq!(
        numbers(&node, "eth_getFilterChanges", &within).await,
        [2, 3]
    );
    assert_eq!(numbers(&node, "eth_getFilterChanges", &until).await, [2]);
    assert_eq!(numbers(&node, "eth_getFilterLogs", &within).await, []);
}

#[tokio::test]
async fn a_log_filter_of_a_block_has_only_logs_of_that_block() {
    let node = node().await;
    transfer_token(&node).await;
    let hash = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await["hash"]
        .clone();
    let id = node
        .rpc("eth_newFilter", json!([{"blockHash": hash}]))
        .await;
    transfer_token(&node).await;
    assert_eq!(numbers(&node, "eth_getFilterChanges", &id).await, []);
    assert_eq!(numbers(&node, "eth_getFilterLogs", &id).await, [1]);
}

#[tokio::test]
async fn filters_of_ranges_that_never_match_are_refused_as_by_get_logs() {
    let node = node().await;
    node.rpc("anvil_mine", json!(["0x3"])).await;
    for bounds in [
        json!({"fromBlock": "0x2", "toBlock": "0x1"}),
        json!({"fromBlock": "latest", "toBlock": "0x2"}),
        json!({"toBlock": "0x2"}),
        json!({"fromBlock": "0x1", "toBlock": "earliest"}),
        json!({"fromBlock": "pending"}),
        json!({"toBlock": "pending"}),
        json!({"blockHash": format!("0x{:064x}", 7)}),
    ] {
        let expected = node.rpc_error("eth_getLogs", json!([bounds])).await;
        assert_eq!(
            node.rpc_error("eth_newFilter", json!([bounds])).await,
            expected,
            "{bounds}"
        );
    }
}

#[tokio::test]
async fn a_pending_filter_returns_full_transactions_on_request() {
    let node = node_with(|config| config.no_mining = true).await;
    let whole = node
        .rpc("eth_newPendingTransactionFilter", json!([true]))
        .await;
    let hashes = node
        .rpc("eth_newPendingTransactionFilter", json!([false]))
        .await;

    let first = transfer_token(&node).await;
    let second = transfer_token(&node).await;
    assert_eq!(
        changes(&node, &hashes).await,
        [first.clone(), second.clone()]
    );

    let reported = changes(&node, &whole).await;
    let expected =
        [&first, &second].map(|hash| node.rpc("eth_getTransactionByHash", json!([hash])));
    assert_eq!(reported, futures_util::future::join_all(expected).await);
    assert!(
        reported
            .iter()
            .all(|transaction| transaction["blockHash"].is_null())
    );

    // A block may come before the poll.
    let third = transfer_token(&node).await;
    node.rpc("evm_mine", json!([])).await;
    let reported = changes(&node, &whole).await;
    assert_eq!(
        (
            reported.len(),
            &reported[0]["hash"],
            &reported[0]["blockNumber"]
        ),
        (1, &third, &Value::Null)
    );
    assert!(changes(&node, &whole).await.is_empty());
}

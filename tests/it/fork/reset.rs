//! Changes of the forked block and chain.

use serde_json::json;

use super::{fork_of, upstream};
use crate::support::{node, node_with};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_forks_another_block_or_leaves_the_fork() {
    let upstream = upstream().await;
    let fork = fork_of(&upstream.rpc_url(), |config| {
        config.fork.block = tetrad_rpc::fork::ForkBlock::Number(2)
    })
    .await;
    let info = fork.rpc("anvil_nodeInfo", json!([])).await;
    assert_eq!(info["forkConfig"]["forkBlockNumber"], 2);
    assert_eq!(
        info["forkConfig"]["forkUrl"],
        upstream.rpc_url().replace("/rpc", "/…")
    );
    assert_eq!(info["forkConfig"]["forkRetryBackoff"], 1);
    let second = upstream
        .rpc("eth_getBlockByNumber", json!(["0x2", false]))
        .await;
    let network = fork.rpc("hardhat_metadata", json!([])).await["forkedNetwork"].clone();
    assert_eq!(
        network,
        json!({"chainId": 125, "forkBlockNumber": 2, "forkBlockHash": second["hash"]})
    );
    assert_ne!(
        fork.token_balance(3, "latest").await,
        60,
        "the transfer came later"
    );
    let filter = fork.rpc("eth_newBlockFilter", json!([])).await;
    fork.rpc("anvil_mine", json!(["0x3"])).await;

    // The newest block, of the same node.
    fork.rpc("anvil_reset", json!([{"forking": {}}])).await;
    assert_eq!(fork.latest().await, upstream.latest().await);
    assert_eq!(fork.token_balance(3, "latest").await, 60);
    assert!(
        fork.rpc("eth_getFilterChanges", json!([filter]))
            .await
            .is_array()
    );
    // An older one again.
    fork.rpc(
        "hardhat_reset",
        json!([{"forking": {"jsonRpcUrl": upstream.rpc_url(), "blockNumber": 1}}]),
    )
    .await;
    assert_eq!(fork.height().await, 1);
    // A chain of its own.
    fork.rpc("anvil_reset", json!([])).await;
    assert_eq!(fork.height().await, 0);
    assert_eq!(
        fork.rpc("anvil_nodeInfo", json!([])).await["forkConfig"]["forkUrl"],
        json!(null)
    );
    assert_eq!(
        fork.rpc("anvil_metadata", json!([])).await["forkedNetwork"],
        json!(null)
    );
    fork.send_wei(0).await;
    assert_eq!(fork.height().await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_turns_an_independent_chain_into_a_fork_and_back() {
    let (upstream, node) = tokio::join!(upstream(), node());

    upstream.rpc("anvil_setChainId", json!([4_242])).await;
    node.send_wei(0).await;

    let error = node
        .rpc_error("anvil_reset", json!([{"forking": {"blockNumber": 1}}]))
        .await;
    assert!(
        error["message"].as_str().unwrap().contains("no URL"),
        "{error}"
    );

    for (url, what) in [
        (json!("nowhere"), "jsonRpcUrl"),
        (json!("ftp://localhost"), "http"),
        (json!(7), "string"),
    ] {
        let error = node
            .rpc_error("anvil_reset", json!([{"forking": {"jsonRpcUrl": url}}]))
            .await;
        assert!(error.to_string().contains(what), "{error}");
    }

    assert_eq!(node.height().await, 1, "the failed resets change nothing");

    node.rpc(
        "anvil_reset",
        json!([{"forking": {"jsonRpcUrl": upstream.rpc_url()}}]),
    )
    .await;
    assert_eq!(node.latest().await, upstream.latest().await);
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x1092");
    node.send_wei(0).await;

    // The services answer from the chain, whatever its content, without internal errors.
    for path in [
        "/api/prices",
        "/api/pools",
        "/health",
        "/api/network",
        "/cosmos/base/tendermint/v1beta1/blocks/latest",
    ] {
        let status = node.get(path).await.status();
        assert!(status != 500, "{path}: {status}");
    }

    node.rpc("anvil_reset", json!([{}])).await;
    assert_eq!(
        (
            node.height().await,
            node.rpc("eth_chainId", json!([])).await
        ),
        (0, json!("0x7d"))
    );

    let prices = node.get_json("/api/prices").await;
    assert!(prices.to_string().contains("WETH"), "{prices}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_url_of_the_same_chain_gets_later_requests() {
    let upstream = upstream().await;
    let fork = fork_of(&upstream.rpc_url(), |config| config.fork.retries = 0).await;
    fork.rpc("anvil_setRpcUrl", json!(["http://127.0.0.1:1"]))
        .await;
    let unused = json!(["0x0000000000000000000000000000000000000abc", "latest"]);
    let error = fork.rpc_error("eth_getBalance", unused.clone()).await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("eth_getBalance"),
        "{error}"
    );
    fork.rpc("anvil_setRpcUrl", json!([upstream.rpc_url()]))
        .await;
    assert_eq!(fork.rpc("eth_getBalance", unused).await, "0x0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_on_disk_cannot_become_a_fork() {
    let upstream = upstream().await;
    let folder = tempfile::tempdir().unwrap();
    let node = node_with(|config| config.data_dir = Some(folder.path().to_owned())).await;
    node.send_wei(0).await;
    let error = node
        .rpc_error(
            "anvil_reset",
            json!([{"forking": {"jsonRpcUrl": upstream.rpc_url()}}]),
        )
        .await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("data directory"),
        "{error}"
    );
    assert_eq!(node.height().await, 1);
    assert_eq!(
        node.rpc("anvil_nodeInfo", json!([])).await["forkConfig"]["forkUrl"],
        json!(null)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_of_a_fork_loads_elsewhere() {
    let upstream = upstream().await;
    let fork = fork_of(&upstream.rpc_url(), |_| {}).await;
    fork.transfer_token(3, 60).await;
    let dump = fork.rpc("anvil_dumpState", json!([])).await;
    let other = fork_of(&upstream.rpc_url(), |_| {}).await;
    assert_eq!(other.token_balance(3, "latest").await, 60);
    other.rpc("anvil_loadState", json!([dump])).await;
    assert_eq!(other.token_balance(3, "latest").await, 0);
    assert_eq!(other.height().await, fork.height().await);
}

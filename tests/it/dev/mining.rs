//! When blocks are mined, and their fields.

use serde_json::{Value, json};
use tetrad_chain::MAX_MINED_BLOCKS;

use super::UNUSED_ADDRESS;
use crate::support::{node, number};

#[tokio::test]
async fn blocks_are_mined_on_demand() {
    let node = node().await;
    assert_eq!(node.rpc("anvil_mine", json!([])).await, Value::Null);
    node.rpc("hardhat_mine", json!(["0x3"])).await;
    assert_eq!(node.height().await, 4);
    let before = number(&node.latest().await["timestamp"]);
    node.rpc("anvil_mine", json!([10, 60])).await;
    let after = number(&node.latest().await["timestamp"]);
    assert!(
        (before + 600 - 5..before + 660).contains(&after),
        "{after} after {before}"
    );
    node.rpc("anvil_mine", json!(["0x0"])).await;
    assert_eq!(node.height().await, 14);
    let mined = node.rpc("evm_mine_detailed", json!([{"blocks": 2}])).await;
    assert_eq!(mined.as_array().unwrap().len(), 2);
    assert_eq!(
        mined[1],
        node.rpc("eth_getBlockByNumber", json!(["latest", true]))
            .await
    );
    assert_eq!(
        node.rpc_error("anvil_mine", json!([100_001])).await["code"],
        -32602
    );
}

#[tokio::test]
async fn thousands_of_blocks_keep_their_place_in_history() {
    let node = node().await;
    node.rpc("anvil_setAutomine", json!([false])).await;
    let hash = node.send_wei(0).await;
    node.rpc("anvil_mine", json!([5_000, 12])).await;
    assert_eq!(node.height().await, 5_000);

    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([hash])).await["blockNumber"],
        "0x1"
    );

    for height in [1u64, 511, 512, 513, 2_500, 5_000] {
        let block = node
            .rpc(
                "eth_getBlockByNumber",
                json!([format!("{height:#x}"), false]),
            )
            .await;
        assert_eq!(number(&block["number"]), u128::from(height));
        assert_eq!(
            node.rpc("eth_getBlockByHash", json!([block["hash"], false]))
                .await,
            block
        );

        let parent = node
            .rpc(
                "eth_getBlockByNumber",
                json!([format!("{:#x}", height - 1), false]),
            )
            .await;
        assert_eq!(block["parentHash"], parent["hash"]);

        let nonce = node
            .rpc(
                "eth_getTransactionCount",
                json!([node.account(0), format!("{height:#x}")]),
            )
            .await;
        assert_eq!(nonce, "0x1");
    }
}

#[tokio::test]
async fn the_sealing_mode_can_be_switched() {
    let node = node().await;
    assert_eq!(node.rpc("anvil_getAutomine", json!([])).await, true);
    assert_eq!(
        node.rpc("evm_setAutomine", json!([false])).await,
        Value::Null
    );
    assert_eq!(node.rpc("hardhat_getAutomine", json!([])).await, false);

    // anvil's are seconds, and hardhat's milliseconds.
    for (method, interval, seconds) in [
        ("anvil_setIntervalMining", json!(1_000), 1_000),
        ("anvil_setIntervalMining", json!(3.5), 3),
        ("evm_setIntervalMining", json!(999), 999),
        ("evm_setIntervalMining", json!("0x3e8"), 1),
        ("evm_setIntervalMining", json!(1_000_000), 1_000),
    ] {
        node.rpc(method, json!([interval])).await;
        assert_eq!(
            node.rpc("anvil_getIntervalMining", json!([])).await,
            seconds
        );
        node.rpc(method, json!([0])).await;
        assert_eq!(
            node.rpc("anvil_getIntervalMining", json!([])).await,
            Value::Null
        );
    }

    assert_eq!(
        node.rpc("anvil_getIntervalMining", json!([])).await,
        Value::Null
    );

    let waiting = node.send_wei(0).await;
    assert_eq!(node.height().await, 0);
    node.rpc("evm_setAutomine", json!([true])).await;
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([waiting]))
            .await["blockNumber"],
        "0x1"
    );

    // An invalid interval changes nothing.
    node.rpc("evm_setIntervalMining", json!([0])).await;
    assert_eq!(node.rpc("anvil_getAutomine", json!([])).await, true);
}

/// Its requests do not delay those of other clients either.
#[tokio::test]
async fn mining_stops_for_a_disconnected_client() {
    let node = node().await;
    let request_body =
        |count: u64| json!({"jsonrpc": "2.0", "id": 1, "method": "anvil_mine", "params": [count]});
    let clients: Vec<_> = (0..2)
        .map(|_| {
            let request = reqwest::Client::new()
                .post(node.rpc_url())
                .json(&request_body(MAX_MINED_BLOCKS));
            tokio::spawn(request.send())
        })
        .collect();
    while node.height().await == 0 {}
    for client in clients {
        client.abort();
    }

    // The requests of the disconnected clients do not hold up this one for long.
    node.rpc("anvil_mine", json!([1])).await;
    assert!(node.height().await < u128::from(MAX_MINED_BLOCKS));
}

#[tokio::test]
async fn the_next_block_has_the_configured_fields() {
    let node = node().await;
    node.rpc("anvil_setCoinbase", json!([UNUSED_ADDRESS])).await;
    node.rpc("hardhat_setNextBlockBaseFeePerGas", json!(["0x2540be400"]))
        .await;
    assert_eq!(
        node.rpc("evm_setBlockGasLimit", json!(["0x1c9c380"])).await,
        true
    );
    let randomness = format!("0x{:064x}", 77);
    node.rpc("hardhat_setPrevRandao", json!([randomness])).await;
    node.mine().await;
    let block = node.latest().await;
    assert_eq!(block["miner"], UNUSED_ADDRESS);
    assert_eq!(block["baseFeePerGas"], "0x2540be400");
    assert_eq!(block["gasLimit"], "0x1c9c380");
    assert_eq!(block["mixHash"], json!(randomness));
    node.mine().await;
    let block = node.latest().await;
    assert_ne!(block["baseFeePerGas"], "0x2540be400");
    assert_ne!(block["mixHash"], json!(randomness));
    assert_eq!(
        node.rpc_error("anvil_setMinGasPrice", json!(["0x1"])).await["code"],
        -32602
    );
    assert_eq!(
        node.rpc_error("evm_setBlockGasLimit", json!(["0x0"])).await["code"],
        -32602
    );
}

#[tokio::test]
async fn transactions_can_be_dropped() {
    let node = node().await;
    node.rpc("evm_setAutomine", json!([false])).await;
    let hashes = [
        node.send_wei(0).await,
        node.send_wei(0).await,
        node.send_wei(1).await,
        node.send_wei(2).await,
    ];
    assert_eq!(
        node.rpc("anvil_dropTransaction", json!([hashes[1]])).await,
        hashes[1]
    );
    assert_eq!(
        node.rpc("anvil_dropTransaction", json!([hashes[1]])).await,
        Value::Null
    );
    assert_eq!(
        node.rpc("hardhat_dropTransaction", json!([hashes[1]]))
            .await,
        false
    );
    node.rpc("anvil_removePoolTransactions", json!([node.account(1)]))
        .await;
    node.mine().await;
    let mined = node.latest().await["transactions"].clone();
    assert_eq!(mined.as_array().unwrap().len(), 2);
    node.send_wei(0).await;
    node.rpc("anvil_dropAllTransactions", json!([])).await;
    assert!(node.chain().pool().is_empty());
}

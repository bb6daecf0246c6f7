//! The other chain's blocks, up to the one that is forked.

use alloy_primitives::{Address, Bytes, keccak256};
use serde_json::{Value, json};

use super::{fork_of, upstream};
use crate::support::{number, sign};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_blocks_are_those_of_the_other_node() {
    let upstream = upstream().await;
    let fork = fork_of(&upstream.rpc_url(), |_| {}).await;

    let latest = upstream.latest().await;
    let number = latest["number"].clone();
    let hash = latest["hash"].clone();
    let transaction = latest["transactions"][0].clone();

    let old = upstream
        .rpc("eth_getBlockByNumber", json!(["0x1", false]))
        .await;

    let token = upstream.token();
    let account = upstream.account(0);
    let call = json!({"to": token, "data": "0x18160ddd"});

    let requests = |newest: &str| {
        vec![
            ("eth_getBlockByNumber", json!([newest, true])),
            ("eth_getBlockByNumber", json!(["0x0", false])),
            ("eth_getBlockByNumber", json!(["earliest", false])),
            ("eth_getBlockByHash", json!([hash, true])),
            ("eth_getBlockByHash", json!([old["hash"], false])),
            ("eth_getBlockTransactionCountByNumber", json!([newest])),
            ("eth_getBlockReceipts", json!([newest])),
            ("eth_getBlockReceipts", json!([{"blockHash": hash}])),
            ("eth_getTransactionByHash", json!([transaction])),
            ("eth_getTransactionReceipt", json!([transaction])),
            ("eth_getRawTransactionByHash", json!([transaction])),
            (
                "eth_getTransactionByBlockNumberAndIndex",
                json!([newest, "0x0"]),
            ),
            ("eth_feeHistory", json!(["0x3", newest, [50]])),
            ("eth_getBalance", json!([account, "0x1"])),
            ("eth_getTransactionCount", json!([account, "0x0"])),
            ("eth_getStorageAt", json!([token, "0x2", old["hash"]])),
            ("eth_call", json!([call, "0x1"])),
            ("eth_getProof", json!([account, [], newest])),
            ("debug_getRawBlock", json!([newest])),
            (
                "debug_traceTransaction",
                json!([transaction, {"tracer": "callTracer"}]),
            ),
            (
                "debug_traceBlockByNumber",
                json!(["0x1", {"tracer": "callTracer"}]),
            ),
            ("trace_block", json!([newest])),
            ("trace_transaction", json!([transaction])),
            (
                "trace_filter",
                json!([{"fromBlock": "0x0", "toBlock": newest}]),
            ),
            ("ots_getBlockDetails", json!([newest])),
            ("ots_getBlockDetails", json!([1])),
            ("debug_getRawBlock", json!([1])),
            (
                "eth_getLogs",
                json!([{"fromBlock": "0x0", "toBlock": newest, "address": token}]),
            ),
            ("eth_getLogs", json!([{"blockHash": old["hash"]}])),
        ]
    };

    let number = number.as_str().unwrap();
    for newest in ["latest", number] {
        for (method, params) in requests(newest) {
            let ours = fork.request(method, params.clone()).await;
            let theirs = upstream.request(method, params.clone()).await;
            assert_eq!(ours, theirs, "{method} {params}");
            assert!(
                theirs["result"] != json!(null),
                "{method} {params}: {theirs}"
            );
        }
    }

    fork.rpc("anvil_mine", json!(["0x2"])).await;
    for (method, params) in requests(number) {
        assert_eq!(
            fork.rpc(method, params.clone()).await,
            upstream.rpc(method, params.clone()).await,
            "{method} {params}"
        );
    }

    // Items that neither node has.
    assert_eq!(
        fork.rpc(
            "eth_getTransactionByHash",
            json!([format!("0x{}", "7".repeat(64))])
        )
        .await,
        json!(null)
    );
    assert_eq!(
        fork.rpc("eth_getBlockByNumber", json!(["0x7777", false]))
            .await,
        json!(null)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn methods_of_explorers_and_debuggers_reach_the_other_chains_blocks() {
    let upstream = upstream().await;
    let fork = fork_of(&upstream.rpc_url(), |_| {}).await;
    fork.rpc("anvil_mine", json!(["0x2"])).await;

    let block = upstream.latest().await;
    let newest = block["number"].clone();
    let hash = block["hash"].clone();
    let token = upstream.token();
    let code = upstream.rpc("eth_getCode", json!([token, "latest"])).await;
    let code_hash = keccak256(code.as_str().unwrap().parse::<Bytes>().unwrap());
    let raw = sign::raw(sign::transfer(0), 3);

    for (method, params) in [
        ("ots_getHeaderByNumber", json!([newest])),
        ("erigon_getHeaderByNumber", json!([newest])),
        ("debug_storageRangeAt", json!([hash, 0, token, "0x", 2])),
        ("debug_codeByHash", json!([code_hash, newest])),
        ("trace_rawTransaction", json!([raw, ["trace"], "0x1"])),
    ] {
        let theirs = upstream.rpc(method, params.clone()).await;
        assert!(!theirs.is_null(), "{method}");
        assert_eq!(
            fork.rpc(method, params.clone()).await,
            theirs,
            "{method} {params}"
        );
    }

    // No block of either node has an access list, but the other node knows the block.
    let method = "debug_getRawBlockAccessList";
    let theirs = upstream.rpc_error(method, json!([newest])).await;
    assert_eq!(theirs["code"], -32001, "{theirs}");
    assert_eq!(fork.rpc_error(method, json!([newest])).await, theirs);

    // The fork's own blocks are not requested from the other node.
    let own = fork.latest().await;
    let header = fork
        .rpc("ots_getHeaderByNumber", json!([own["number"]]))
        .await;
    assert_eq!(header["hash"], own["hash"]);
    assert!(
        upstream
            .rpc("ots_getHeaderByNumber", json!([own["number"]]))
            .await
            .is_null()
    );
}

/// A query for a token's transfers within a range of blocks.
fn transfers(token: Address, range: Value) -> Value {
    let transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    let mut filter = json!({"address": [token], "topics": [transfer, null]});
    filter
        .as_object_mut()
        .unwrap()
        .extend(range.as_object().unwrap().clone());
    json!([filter])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_of_both_chains_are_returned_in_order() {
    let upstream = upstream().await;
    let fork = fork_of(&upstream.rpc_url(), |_| {}).await;

    let forked = fork.height().await;
    fork.transfer_token(3, 1).await;
    fork.transfer_token(3, 2).await;

    // One that the fork must not see.
    upstream.transfer_token(3, 9).await;

    let token = upstream.token();
    let logs = fork
        .rpc("eth_getLogs", transfers(token, json!({"fromBlock": "0x1"})))
        .await;
    let amounts: Vec<_> = logs
        .as_array()
        .unwrap()
        .iter()
        .map(|log| log["data"].as_str().unwrap()[64..].to_owned())
        .collect();
    assert_eq!(amounts, ["28", "01", "02"]);

    let filter = fork
        .rpc(
            "eth_newFilter",
            transfers(token, json!({"fromBlock": "0x1", "toBlock": "latest"})),
        )
        .await;
    assert_eq!(fork.rpc("eth_getFilterLogs", json!([filter])).await, logs);

    let own = fork
        .rpc(
            "eth_getLogs",
            transfers(token, json!({"fromBlock": format!("{:#x}", forked + 1)})),
        )
        .await;
    assert_eq!(own.as_array().unwrap()[..], logs.as_array().unwrap()[1..]);

    let reversed = fork
        .rpc_error(
            "eth_getLogs",
            transfers(token, json!({"fromBlock": "0x3", "toBlock": "0x1"})),
        )
        .await;
    assert_eq!(reversed["code"], -32602);

    let spanning = fork
        .rpc_error(
            "trace_filter",
            json!([{"fromBlock": "0x1", "toBlock": "latest"}]),
        )
        .await;
    assert!(spanning.to_string().contains("apart"), "{spanning}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fee_history_covers_both_chains() {
    let upstream = upstream().await;
    let at = number(&upstream.latest().await["number"]) as u64;
    let fork = fork_of(&upstream.rpc_url(), |_| {}).await;

    for _ in 0..2 {
        fork.send_wei(0).await;
    }
    let newest = at + 2;

    let history = fork
        .rpc("eth_feeHistory", json!(["0x4", "latest", [10, 90]]))
        .await;
    assert_eq!(history["oldestBlock"], format!("{:#x}", newest - 3));

    let theirs = upstream
        .rpc("eth_feeHistory", json!(["0x2", "latest", [10, 90]]))
        .await;
    let ours = fork
        .rpc("eth_feeHistory", json!(["0x2", "latest", [10, 90]]))
        .await;

    for name in [
        "baseFeePerGas",
        "baseFeePerBlobGas",
        "gasUsedRatio",
        "blobGasUsedRatio",
        "reward",
    ] {
        let mut joined = theirs[name].as_array().unwrap()[..2].to_vec();
        joined.extend(ours[name].as_array().unwrap().clone());
        assert_eq!(history[name], Value::from(joined), "{name}");
    }

    for (index, block) in (newest - 3..=newest).enumerate() {
        let block = fork
            .rpc(
                "eth_getBlockByNumber",
                json!([format!("{block:#x}"), false]),
            )
            .await;
        assert_eq!(history["baseFeePerGas"][index], block["baseFeePerGas"]);
    }

    assert_eq!(history["baseFeePerGas"].as_array().unwrap().len(), 5);

    let all = fork
        .rpc("eth_feeHistory", json!(["0x400", "pending", []]))
        .await;
    assert_eq!(
        (&all["oldestBlock"], &all["reward"]),
        (&json!("0x0"), &Value::Null)
    );
    assert_eq!(
        all["gasUsedRatio"].as_array().unwrap().len() as u64,
        newest + 1
    );
}

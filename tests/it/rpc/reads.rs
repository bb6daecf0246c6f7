//! Reading blocks, accounts and fees, now and at every block of the past.

use alloy::primitives::{Address, B256, U256, b256, keccak256};
use serde_json::{Value, json};

use crate::support::{node, node_with, number};

#[tokio::test]
async fn the_node_identifies_itself() {
    let node = node().await;
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");
    assert_eq!(node.rpc("net_version", json!([])).await, "125");
    assert_eq!(node.rpc("net_listening", json!([])).await, true);
    assert_eq!(node.rpc("net_peerCount", json!([])).await, "0x0");
    assert_eq!(node.rpc("eth_syncing", json!([])).await, false);
    assert!(
        node.rpc("web3_clientVersion", json!([]))
            .await
            .as_str()
            .unwrap()
            .contains("tetrad")
    );

    let hash = node
        .rpc("web3_sha3", json!(["0x68656c6c6f20776f726c64"]))
        .await;
    assert_eq!(hash, json!(keccak256("hello world")));

    assert_eq!(
        node.rpc("eth_accounts", json!([]))
            .await
            .as_array()
            .unwrap()
            .len(),
        10
    );

    assert_eq!(
        node.rpc("eth_accounts", json!([])).await,
        node.rpc("personal_listAccounts", json!([])).await
    );
    assert_eq!(
        node.rpc("eth_coinbase", json!([])).await,
        json!(Address::ZERO)
    );
}

#[tokio::test]
async fn a_flag_sets_the_chain_id() {
    let node = node_with(|config| config.chain_id = 229).await;
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0xe5");
    assert_eq!(node.rpc("net_version", json!([])).await, "229");
}

#[tokio::test]
async fn every_past_block_is_readable() {
    let node = node().await;
    let from = node.account(0);
    let to = Address::with_last_byte(0xaa);

    const BLOCKS: u64 = 300;

    let mut hashes = Vec::new();
    for _ in 0..BLOCKS {
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": from, "to": to, "value": "0x1", "gas": "0x5208"}]),
        )
        .await;

        hashes.push(
            node.rpc("eth_getBlockByNumber", json!(["latest", false]))
                .await["hash"]
                .clone(),
        );
    }

    for number in 0..=BLOCKS {
        let tag = json!(format!("{number:#x}"));
        let expected = json!(format!("{number:#x}"));

        assert_eq!(
            node.rpc("eth_getBalance", json!([to, tag])).await,
            expected,
            "block {number}"
        );
        assert_eq!(
            node.rpc("eth_getTransactionCount", json!([from, tag]))
                .await,
            expected
        );
    }

    for (index, hash) in hashes.iter().enumerate() {
        let expected = json!(format!("{:#x}", index + 1));
        for id in [
            hash.clone(),
            json!({"blockHash": hash}),
            json!({"blockHash": hash, "requireCanonical": true}),
            json!({"blockNumber": expected}),
        ] {
            assert_eq!(node.rpc("eth_getBalance", json!([to, id])).await, expected);
        }
    }
    assert_eq!(
        node.rpc("eth_getBalance", json!([to, "earliest"])).await,
        "0x0"
    );
    for tag in ["latest", "safe", "finalized", "pending"] {
        assert_eq!(
            node.rpc("eth_getBalance", json!([to, tag])).await,
            json!(format!("{BLOCKS:#x}"))
        );
    }

    let error = node
        .rpc_error("eth_getBalance", json!([to, format!("{:#x}", BLOCKS + 1)]))
        .await;
    assert_eq!(
        error,
        json!({"code": -32000, "message": "header not found"})
    );
}

#[tokio::test]
async fn blocks_beyond_the_history_are_refused() {
    let node = node_with(|config| config.history.blocks = 10).await;
    for _ in 0..30 {
        node.rpc("evm_mine", json!([])).await;
    }
    let account = node.account(0);
    assert!(
        node.rpc("eth_getBalance", json!([account, "0x19"]))
            .await
            .is_string()
    );
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["0x5", false]))
            .await,
        Value::Null
    );
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["earliest", false]))
            .await["number"],
        "0x0"
    );
    let error = node
        .rpc_error("eth_getBalance", json!([account, "0x5"]))
        .await;
    assert_eq!(error["code"], 4444, "{error}");
}

#[tokio::test]
async fn blocks_link_to_their_parents_and_show_their_transactions() {
    let node = node().await;
    let from = node.account(0);
    let to = node.account(1);
    for _ in 0..3 {
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": from, "to": to, "value": "0x1"}]),
        )
        .await;
    }

    let mut parent = node
        .rpc("eth_getBlockByNumber", json!(["earliest", true]))
        .await;
    for number in 1..=3u64 {
        let by_number = node
            .rpc(
                "eth_getBlockByNumber",
                json!([format!("{number:#x}"), true]),
            )
            .await;
        let by_hash = node
            .rpc("eth_getBlockByHash", json!([by_number["hash"], true]))
            .await;
        assert_eq!(by_number, by_hash);
        assert_eq!(by_number["parentHash"], parent["hash"]);

        let hashes = node
            .rpc(
                "eth_getBlockByNumber",
                json!([format!("{number:#x}"), false]),
            )
            .await;
        assert_eq!(
            hashes["transactions"][0],
            by_number["transactions"][0]["hash"]
        );

        let block = json!(by_number["hash"]);
        assert_eq!(
            node.rpc("eth_getBlockTransactionCountByHash", json!([block]))
                .await,
            "0x1"
        );
        assert_eq!(
            node.rpc(
                "eth_getBlockTransactionCountByNumber",
                json!([by_number["number"]])
            )
            .await,
            "0x1"
        );
        assert_eq!(
            node.rpc("eth_getUncleCountByBlockHash", json!([block]))
                .await,
            "0x0"
        );
        assert_eq!(
            node.rpc(
                "eth_getUncleCountByBlockNumber",
                json!([by_number["number"]])
            )
            .await,
            "0x0"
        );

        let transaction = &by_number["transactions"][0];
        assert_eq!(
            &node
                .rpc(
                    "eth_getTransactionByBlockHashAndIndex",
                    json!([block, "0x0"])
                )
                .await,
            transaction
        );
        assert_eq!(
            &node
                .rpc(
                    "eth_getTransactionByBlockNumberAndIndex",
                    json!([by_number["number"], "0x0"])
                )
                .await,
            transaction
        );
        assert_eq!(
            &node
                .rpc("eth_getTransactionByHash", json!([transaction["hash"]]))
                .await,
            transaction
        );

        assert_eq!(
            node.rpc(
                "eth_getTransactionByBlockNumberAndIndex",
                json!([by_number["number"], "0x1"])
            )
            .await,
            Value::Null
        );

        let receipts = node
            .rpc("eth_getBlockReceipts", json!([by_number["number"]]))
            .await;
        assert_eq!(
            receipts[0],
            node.rpc("eth_getTransactionReceipt", json!([transaction["hash"]]))
                .await
        );
        assert_eq!(
            receipts,
            node.rpc("eth_getBlockReceipts", json!([block])).await
        );

        parent = by_number;
    }
}

#[tokio::test]
async fn unknown_items_are_null() {
    let node = node().await;
    let hash = json!(B256::repeat_byte(7));
    for (method, params) in [
        ("eth_getBlockByNumber", json!(["0x99", true])),
        ("eth_getBlockByHash", json!([hash, true])),
        ("eth_getTransactionByHash", json!([hash])),
        ("eth_getTransactionReceipt", json!([hash])),
        ("eth_getBlockReceipts", json!(["0x99"])),
        ("eth_getBlockTransactionCountByHash", json!([hash])),
        ("eth_getBlockTransactionCountByNumber", json!(["0x99"])),
        (
            "eth_getTransactionByBlockHashAndIndex",
            json!([hash, "0x0"]),
        ),
        (
            "eth_getTransactionByBlockNumberAndIndex",
            json!(["0x99", "0x0"]),
        ),
    ] {
        assert_eq!(node.rpc(method, params).await, Value::Null, "{method}");
    }
}

#[tokio::test]
async fn code_and_storage_are_readable() {
    let node = node().await;

    // Stores 7 in slot 1, and has no code.
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "data": "0x600760015500"}]),
        )
        .await;
    let contract =
        node.rpc("eth_getTransactionReceipt", json!([hash])).await["contractAddress"].clone();

    let seven = json!(B256::from(U256::from(7)));
    for slot in [
        "0x1",
        "0x01",
        "0x0000000000000000000000000000000000000000000000000000000000000001",
    ] {
        assert_eq!(
            node.rpc("eth_getStorageAt", json!([contract, slot, "latest"]))
                .await,
            seven,
            "{slot}"
        );
    }

    assert_eq!(
        node.rpc("eth_getStorageAt", json!([contract, "0x2", "latest"]))
            .await,
        json!(B256::ZERO)
    );
    assert_eq!(
        node.rpc("eth_getStorageAt", json!([contract, "0x1", "0x0"]))
            .await,
        json!(B256::ZERO)
    );

    for slot in [
        "0x",
        "1",
        "0xg",
        "0x00000000000000000000000000000000000000000000000000000000000000001",
    ] {
        assert_eq!(
            node.rpc_error("eth_getStorageAt", json!([contract, slot, "latest"]))
                .await["code"],
            -32602,
            "{slot}"
        );
    }

    assert_eq!(
        node.rpc("eth_getCode", json!([node.account(0), "latest"]))
            .await,
        "0x"
    );
    let vault = node.config().network.contracts.vault;
    assert!(
        node.rpc("eth_getCode", json!([vault, "latest"]))
            .await
            .as_str()
            .unwrap()
            .len()
            > 1_000
    );
}

#[tokio::test]
async fn contracts_that_tools_expect_are_deployed() {
    let node = node().await;
    let deployer = node
        .rpc(
            "eth_getCode",
            json!(["0x4e59b44847b379578588920cA78FbF26c0B4956C", "latest"]),
        )
        .await;
    // The hash that block explorers show for the deterministic deployment proxy.
    let expected = b256!("0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989");
    let code: alloy::primitives::Bytes = serde_json::from_value(deployer).unwrap();
    assert_eq!(keccak256(&code), expected);

    // Through it, code that returns one byte of code is deployed to the address of CREATE2.
    let init = "60016000f3";
    let data = format!("0x{}{init}", "00".repeat(32));
    let factory: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C"
        .parse()
        .unwrap();

    node.rpc(
        "eth_sendTransaction",
        json!([{"from": node.account(0), "to": factory, "data": data}]),
    )
    .await;

    let created = factory.create2_from_code(B256::ZERO, alloy::hex::decode(init).unwrap());
    assert_eq!(
        node.rpc("eth_getCode", json!([created, "latest"])).await,
        "0x00"
    );

    // Multicall3.getChainId()
    let multicall = json!([{"to": "0xcA11bde05977b3631167028862bE2a173976CA11", "data": "0x3408e470"}, "latest"]);
    assert_eq!(
        node.rpc("eth_call", multicall).await,
        json!(B256::from(U256::from(125)))
    );
}

#[tokio::test]
async fn fees_follow_eip_1559() {
    let node = node().await;
    let base = |block: &Value| number(&block["baseFeePerGas"]);
    let mut parent = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    assert_eq!(base(&parent), 1_000_000_000);
    for _ in 0..5 {
        node.rpc("evm_mine", json!([])).await;
        let block = node
            .rpc("eth_getBlockByNumber", json!(["latest", false]))
            .await;
        assert_eq!(base(&block), base(&parent) - base(&parent) / 8);
        parent = block;
    }
    let next = base(&parent) - base(&parent) / 8;
    assert_eq!(
        number(&node.rpc("eth_maxPriorityFeePerGas", json!([])).await),
        1_000_000_000
    );
    assert_eq!(
        number(&node.rpc("eth_gasPrice", json!([])).await),
        1_000_000_000 + next
    );
    assert_eq!(node.rpc("eth_blobBaseFee", json!([])).await, "0x1");

    let history = node
        .rpc("eth_feeHistory", json!(["0x3", "latest", [50]]))
        .await;
    assert_eq!(history["oldestBlock"], "0x3");
    let fees: Vec<_> = history["baseFeePerGas"]
        .as_array()
        .unwrap()
        .iter()
        .map(number)
        .collect();
    assert_eq!((fees.len(), fees[2], fees[3]), (4, base(&parent), next));
    assert_eq!(history["gasUsedRatio"], json!([0.0, 0.0, 0.0]));
    assert_eq!(history["reward"], json!([["0x0"], ["0x0"], ["0x0"]]));
    for (params, code) in [
        (json!(["0x1", "0x99", []]), -32000),
        (json!(["0x1", "latest", [101]]), -32602),
        (json!(["0x1", "latest", [50, 20]]), -32602),
        (json!(["0x1", "latest", [20, 20]]), -32602),
    ] {
        assert_eq!(node.rpc_error("eth_feeHistory", params).await["code"], code);
    }
}

#[tokio::test]
async fn roots_match_the_contents() {
    use alloy::consensus::{TxEnvelope, proofs::calculate_transaction_root};
    let node = node_with(|config| config.no_mining = true).await;

    for _ in 0..20 {
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "to": node.account(1), "value": "0x1", "gas": "0x5208"}]),
        )
        .await;
    }
    node.rpc("evm_mine", json!([])).await;

    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", true]))
        .await;
    let transactions: Vec<TxEnvelope> =
        serde_json::from_value(block["transactions"].clone()).unwrap();
    assert_eq!(
        json!(calculate_transaction_root(&transactions)),
        block["transactionsRoot"]
    );

    // The client library's own types parse the block and compute the same hash.
    let typed: alloy::rpc::types::Block = serde_json::from_value(block.clone()).unwrap();
    assert_eq!(json!(typed.header.inner.hash_slow()), block["hash"]);

    let receipts = node.rpc("eth_getBlockReceipts", json!(["latest"])).await;
    let typed: Vec<alloy::rpc::types::TransactionReceipt> =
        serde_json::from_value(receipts).unwrap();
    let consensus: Vec<alloy::consensus::ReceiptEnvelope> = typed
        .into_iter()
        .map(|receipt| receipt.inner.map_logs(|log| log.inner))
        .collect();
    assert_eq!(
        json!(alloy::consensus::proofs::calculate_receipt_root(&consensus)),
        block["receiptsRoot"]
    );
}

#[tokio::test]
async fn integers_are_accepted_for_tools_and_in_the_ethereum_dialect() {
    let network = node();
    let ethereum = node_with(|config| config.rpc.dialect = tetrad_rpc::rpc::Dialect::Ethereum);
    let (network, ethereum) = tokio::join!(network, ethereum);

    for node in [&network, &ethereum] {
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "to": node.account(1), "value": "0x1"}]),
        )
        .await;

        for (method, params) in [
            ("ots_getBlockDetails", json!([1])),
            ("ots_getBlockTransactions", json!([1, 0, 10])),
            ("trace_block", json!([1])),
            (
                "debug_traceBlockByNumber",
                json!([1, {"tracer": "callTracer"}]),
            ),
            (
                "debug_traceCall",
                json!([{"to": node.account(1), "type": 2, "gas": 100_000}, 1]),
            ),
            ("debug_getRawHeader", json!([0])),
            ("anvil_setNonce", json!([node.account(2), 5])),
        ] {
            node.rpc(method, params).await;
        }
    }

    let account = ethereum.account(0);
    for (method, params) in [
        ("eth_getBalance", json!([account, 0])),
        ("eth_getBalance", json!([account, {"blockNumber": 0}])),
        ("eth_getStorageAt", json!([account, 3, 1])),
        ("eth_getBlockByNumber", json!([1, false])),
        ("eth_getLogs", json!([{"fromBlock": 0, "toBlock": 1}])),
        (
            "eth_estimateGas",
            json!([{"from": account, "to": account, "value": 1, "type": 2, "nonce": 1}]),
        ),
        ("eth_call", json!([{"to": account}, 1, {}, {"number": 7}])),
    ] {
        ethereum.rpc(method, params.clone()).await;
        // The network's dialect requires the notation of the specification.
        assert_eq!(
            network.rpc_error(method, params).await["code"],
            -32602,
            "{method}"
        );
    }

    for wrong in [json!(1.5), json!(-1), json!("1"), json!(1e30), json!(true)] {
        let error = ethereum
            .rpc_error("eth_getBalance", json!([account, wrong]))
            .await;
        assert_eq!(error["code"], -32602, "{wrong}: {error}");
    }
}

/// The parser of large numbers skips underscores, and takes a text without digits for zero.
#[tokio::test]
async fn a_number_has_nothing_but_digits() {
    let node = node().await;
    let account = node.account(0);
    for (method, params) in [
        ("eth_getBlockByNumber", json!(["0x1_0", false])),
        ("eth_getBalance", json!([account, "0x_"])),
        ("eth_getStorageAt", json!([account, "0x1_0", "latest"])),
        ("anvil_setBalance", json!([account, "0x1_0"])),
        ("anvil_setBalance", json!([account, "0x"])),
        ("anvil_setBalance", json!([account, "1_0"])),
        ("anvil_setBalance", json!([account, ""])),
    ] {
        let error = node.rpc_error(method, params.clone()).await;
        assert_eq!(error["code"], -32602, "{method} {params}: {error}");
    }

    for path in [
        format!("/cosmos/evm/vm/v1/storage/{account}/0x1_0"),
        "/api?module=block&action=getblockreward&blockno=0x1_0".to_owned(),
    ] {
        let response = node.get(&path).await;
        let status = response.status();
        let body: Value = response.json().await.unwrap();
        assert!(status == 400 || body["status"] == "0", "{path}: {body}");
    }
    node.end().await;
}

#[tokio::test]
async fn the_pending_block_has_neither_hash_nor_nonce() {
    let node = node_with(|config| config.no_mining = true).await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["pending", false]))
        .await;
    let header = node.rpc("eth_getHeaderByNumber", json!(["pending"])).await;
    for name in ["hash", "nonce"] {
        assert_eq!(
            (&block[name], &header[name]),
            (&Value::Null, &Value::Null),
            "{name}"
        );
    }
    assert_eq!(
        (&header["number"], &header["parentHash"]),
        (&block["number"], &block["parentHash"])
    );
    let sealed = node.rpc("eth_getHeaderByNumber", json!(["latest"])).await;
    assert!(
        sealed["hash"].is_string() && sealed["nonce"].is_string(),
        "{sealed}"
    );
}

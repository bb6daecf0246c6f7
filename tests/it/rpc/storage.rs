//! The state in the order of its trie: codes by hash, storage in ranges.

use alloy_primitives::{B256, U256, keccak256};
use serde_json::{Value, json};

use crate::support::node;

#[tokio::test]
async fn codes_are_found_by_their_hash() {
    let node = node().await;
    let code = node
        .rpc(
            "eth_getCode",
            json!([node.config().network.contracts.vault, "latest"]),
        )
        .await;

    let bytes = alloy_primitives::hex::decode(code.as_str().unwrap()).unwrap();
    let hash = keccak256(&bytes);
    assert_eq!(node.rpc("debug_codeByHash", json!([hash])).await, code);
    assert_eq!(
        node.rpc("debug_codeByHash", json!([hash, "0x0"])).await,
        code
    );
    assert_eq!(
        node.rpc(
            "debug_dbGet",
            json!([format!("0x63{}", &hash.to_string()[2..])])
        )
        .await,
        code
    );

    assert_eq!(
        node.rpc("debug_codeByHash", json!([B256::repeat_byte(1)]))
            .await,
        "0x"
    );

    let error = node.rpc_error("debug_dbGet", json!(["0x1234"])).await;
    assert!(
        error["message"].as_str().unwrap().starts_with("not found"),
        "{error}"
    );
}

#[tokio::test]
async fn storage_ranges_show_the_state_before_a_transaction() {
    let node = node().await;
    let contract = "0x00000000000000000000000000000000000000c0";

    // CALLDATALOAD(0) into slot 0: PUSH0 CALLDATALOAD PUSH0 SSTORE.
    node.rpc("anvil_setCode", json!([contract, "0x5f355f5500"]))
        .await;
    for slot in 0..5u64 {
        let (slot, value) = (
            B256::from(U256::from(slot)),
            B256::from(U256::from(slot + 1)),
        );
        node.rpc("anvil_setStorageAt", json!([contract, slot, value]))
            .await;
    }

    let value = B256::from(U256::from(77));
    let request =
        json!([{"from": node.account(0), "to": contract, "data": value, "gas": "0x30d40"}]);
    let hash = node.rpc("eth_sendTransaction", request).await;
    let block = node.rpc("eth_getTransactionReceipt", json!([hash])).await["blockHash"].clone();

    let range = async |index: u64, start: Value, count: u64| {
        node.rpc(
            "debug_storageRangeAt",
            json!([block, format!("{index:#x}"), contract, start, count]),
        )
        .await
    };

    let mut start = json!("0x");
    let mut found = Vec::new();
    while start != json!(null) {
        let part = range(0, start, 2).await;
        let slots = part["storage"].as_object().unwrap();
        assert!(slots.len() <= 2);

        found.extend(
            slots
                .iter()
                .map(|(key, slot)| (key.clone(), slot["key"].clone(), slot["value"].clone())),
        );
        start = part["nextKey"].clone();
    }

    assert!(found.is_sorted_by_key(|(key, ..)| key.clone()));
    assert_eq!(found.len(), 5);
    for (key, slot, value) in &found {
        let slot: U256 = slot.as_str().unwrap().parse().unwrap();
        assert_eq!(*key, keccak256(slot.to_be_bytes::<32>()).to_string());
        assert_eq!(
            *value,
            B256::from(slot + U256::from(1)).to_string(),
            "before the transaction"
        );
    }

    let first = keccak256(B256::ZERO).to_string();
    let after = range(1, json!(first), 1).await;
    assert_eq!(after["storage"][&first]["value"], value.to_string());

    for (index, address, what) in [
        ("0x5", contract, "out of range"),
        (
            "0x0",
            "0x00000000000000000000000000000000000000c1",
            "does not exist",
        ),
    ] {
        let error = node
            .rpc_error(
                "debug_storageRangeAt",
                json!([block, index, address, "0x", 1]),
            )
            .await;
        assert!(error["message"].as_str().unwrap().contains(what), "{error}");
    }
}

#[tokio::test]
async fn headers_and_raw_transactions_match_their_blocks() {
    let node = node().await;
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "to": node.account(1), "value": "0x1"}]),
        )
        .await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;

    let header = node.rpc("eth_getHeaderByNumber", json!(["latest"])).await;
    assert_eq!(
        header,
        node.rpc("eth_getHeaderByHash", json!([block["hash"]]))
            .await
    );
    for (name, value) in header.as_object().unwrap() {
        assert_eq!(*value, block[name], "{name}");
    }

    let raw = node.rpc("eth_getRawTransactionByHash", json!([hash])).await;
    assert_eq!(
        node.rpc(
            "eth_getRawTransactionByBlockNumberAndIndex",
            json!(["0x1", "0x0"])
        )
        .await,
        raw
    );
    assert_eq!(
        node.rpc(
            "eth_getRawTransactionByBlockHashAndIndex",
            json!([block["hash"], "0x0"])
        )
        .await,
        raw
    );

    for (method, params) in [
        (
            "eth_getRawTransactionByBlockNumberAndIndex",
            json!(["0x1", "0x1"]),
        ),
        ("eth_getUncleByBlockNumberAndIndex", json!(["0x1", "0x0"])),
        ("eth_getHeaderByNumber", json!(["0x77"])),
    ] {
        assert_eq!(node.rpc(method, params).await, json!(null), "{method}");
    }

    // Proof-of-work methods always fail.
    let word = format!("0x{}", "0".repeat(64));
    for (method, params) in [
        ("eth_getWork", json!([])),
        ("eth_submitWork", json!(["0x0000000000000001", word, word])),
        ("eth_submitHashrate", json!(["0x5", word])),
    ] {
        assert_eq!(
            node.rpc_error(method, params).await["code"],
            -32_000,
            "{method}"
        );
    }
}

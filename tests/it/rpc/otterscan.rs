//! The `ots` namespace, whose responses Otterscan computes with.

use alloy_primitives::{Bytes, hex};
use serde_json::{Value, json};

use crate::{
    explorer::STRANGER,
    support::{TestNode, chain::token, node_with, number},
};

/// A node with a block of three transactions, one of which has a long input and a log.
async fn node_with_a_block() -> (TestNode, Value) {
    let node = node_with(|config| config.no_mining = true).await;
    let from = node.account(0);
    for value in 1..3 {
        node.submit(from, Some(STRANGER), value, Bytes::new()).await;
    }
    node.pay("USDC", from, STRANGER, 7.try_into().unwrap())
        .await;
    node.rpc("evm_mine", json!([])).await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", true]))
        .await;
    (node, block)
}

#[tokio::test]
async fn the_number_of_transactions_is_a_number() {
    let (node, block) = node_with_a_block().await;
    let height = number(&block["number"]) as u64;
    for (method, params, member) in [
        ("ots_getBlockDetails", json!([height]), "block"),
        ("ots_getBlockDetailsByHash", json!([block["hash"]]), "block"),
        (
            "ots_getBlockTransactions",
            json!([height, 0, 25]),
            "fullblock",
        ),
    ] {
        let response = node.rpc(method, params).await;
        assert_eq!(response[member]["transactionCount"], json!(3), "{method}");
    }
    assert_eq!(node.rpc("ots_getApiLevel", json!([])).await, json!(8));
    node.end().await;
}

#[tokio::test]
async fn receipts_of_searches_have_the_time_of_their_blocks() {
    let (node, block) = node_with_a_block().await;
    let time = number(&block["timestamp"]) as u64;
    for method in [
        "ots_searchTransactionsBefore",
        "ots_searchTransactionsAfter",
    ] {
        let found = node.rpc(method, json!([STRANGER, 0, 25])).await;
        let receipts = found["receipts"].as_array().unwrap();
        assert_eq!(receipts.len(), 2, "{method}");
        for (receipt, transaction) in receipts.iter().zip(found["txs"].as_array().unwrap()) {
            assert_eq!(receipt["timestamp"], json!(time), "{method}");
            let mut own = receipt.clone();
            own.as_object_mut().unwrap().remove("timestamp");
            assert_eq!(
                own,
                node.rpc("eth_getTransactionReceipt", json!([transaction["hash"]]))
                    .await,
                "{method}"
            );
        }
    }
    node.end().await;
}

#[tokio::test]
async fn transactions_of_a_block_are_brief() {
    let (node, block) = node_with_a_block().await;
    let page = node
        .rpc("ots_getBlockTransactions", json!([block["number"], 0, 2]))
        .await;
    let listed = page["fullblock"]["transactions"].as_array().unwrap();
    let whole = block["transactions"].as_array().unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!(
        (&listed[1]["hash"], &listed[1]["to"]),
        (&whole[2]["hash"], &json!(token("USDC").address))
    );
    assert_eq!(listed[1]["input"], hex::encode_prefixed(hex!("a9059cbb")));
    assert_eq!(listed[0]["input"], "0x");
    for receipt in page["receipts"].as_array().unwrap() {
        assert!(
            receipt["logs"].is_null() && receipt["logsBloom"].is_null(),
            "{receipt}"
        );
        assert_eq!(
            (&receipt["status"], &receipt["blockHash"]),
            (&json!("0x1"), &block["hash"])
        );
    }
    node.end().await;
}

#[tokio::test]
async fn kinds_of_internal_operations_are_numbers() {
    let node = node_with(|_| {}).await;
    // Creates a contract with the one byte of its creation code, STOP, and sends it nothing.
    let hash = node
        .submit(
            node.account(0),
            None,
            0,
            hex!("5f5f53600160005ff0505f5ff3").to_vec(),
        )
        .await;
    let operations = node.rpc("ots_getInternalOperations", json!([hash])).await;
    let created = operations
        .as_array()
        .unwrap()
        .iter()
        .find(|operation| operation["type"] == json!(2));
    assert!(created.is_some(), "{operations}");
    node.end().await;
}

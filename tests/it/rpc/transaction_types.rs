//! The fields of a transaction object decide its type, in sends and in calls alike.

use alloy::primitives::Address;
use serde_json::{Value, json};

use crate::support::{TestNode, node, node_with, number};

fn authorization() -> Value {
    json!({"chainId": "0x7d", "address": Address::repeat_byte(1), "nonce": "0x0", "yParity": "0x0", "r": "0x1", "s": "0x1"})
}

/// A versioned hash (EIP-4844).
fn blob_hash() -> String {
    format!("0x01{}", "0".repeat(62))
}

/// A transaction with these fields from the first account to the second.
fn transaction(node: &TestNode, fields: Value) -> Value {
    let mut transaction = json!({"from": node.account(0), "to": node.account(1)});
    transaction
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    transaction
}

/// Every method that runs or sends a transaction object.
fn requests(transaction: &Value) -> Vec<(&'static str, Value)> {
    vec![
        ("eth_sendTransaction", json!([transaction])),
        ("eth_sendTransactionSync", json!([transaction])),
        ("eth_signTransaction", json!([transaction])),
        ("eth_fillTransaction", json!([transaction])),
        ("eth_sendUnsignedTransaction", json!([transaction])),
        ("eth_call", json!([transaction, "latest"])),
        ("eth_estimateGas", json!([transaction])),
        ("eth_createAccessList", json!([transaction])),
        (
            "eth_callMany",
            json!([[{"transactions": [transaction]}], {"blockNumber": "latest"}]),
        ),
        (
            "eth_simulateV1",
            json!([{"blockStateCalls": [{"calls": [transaction]}]}]),
        ),
        ("debug_traceCall", json!([transaction, "latest"])),
        ("trace_call", json!([transaction, ["trace"]])),
        (
            "trace_callMany",
            json!([[[transaction, ["trace"]]], "latest"]),
        ),
    ]
}

fn text(error: &Value) -> String {
    format!("{} {}", error["message"], error["data"])
}

#[tokio::test]
async fn fields_of_different_types_are_refused_everywhere() {
    let node = node().await;
    for (fields, expected) in [
        (
            json!({"gasPrice": "0x77359400", "maxPriorityFeePerGas": "0x1"}),
            "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified",
        ),
        (
            json!({"gasPrice": "0x77359400", "authorizationList": [authorization()]}),
            "both gasPrice and authorizationList specified",
        ),
        (
            json!({"gasPrice": "0x77359400", "blobVersionedHashes": [blob_hash()]}),
            "both gasPrice and blobVersionedHashes specified",
        ),
        (
            json!({"blobVersionedHashes": [blob_hash()], "authorizationList": [authorization()]}),
            "both blobVersionedHashes and authorizationList specified",
        ),
        (
            json!({"type": "0x0", "maxFeePerGas": "0x77359400"}),
            "a transaction of type 0x0 has no maxFeePerGas",
        ),
        (
            json!({"type": "0x2", "gasPrice": "0x77359400"}),
            "a transaction of type 0x2 has no gasPrice",
        ),
        (
            json!({"to": null, "data": "0x00", "authorizationList": [authorization()]}),
            "must not be a create transaction",
        ),
        (
            json!({"to": null, "data": "0x00", "blobVersionedHashes": [blob_hash()]}),
            "blob transaction of type create",
        ),
        (
            json!({"authorizationList": []}),
            "EIP-7702 transaction with empty auth list",
        ),
        (
            json!({"blobs": ["0x00"]}),
            "blobs[0]: expected 131072 bytes, got 1",
        ),
    ] {
        for (method, params) in requests(&transaction(&node, fields.clone())) {
            let error = node.rpc_error(method, params).await;
            assert!(
                text(&error).contains(expected),
                "{method} {fields}: {error}"
            );
        }
    }

    assert_eq!(node.block_number().await, 0);
}

#[tokio::test]
async fn fields_decide_the_type_of_a_sent_transaction() {
    let node = node().await;
    for (fields, kind) in [
        (json!({}), "0x2"),
        (json!({"gasPrice": "0x77359400"}), "0x0"),
        (json!({"gasPrice": "0x77359400", "accessList": []}), "0x1"),
        (json!({"type": "0x1"}), "0x1"),
        (json!({"accessList": []}), "0x2"),
        (json!({"maxFeePerGas": "0x77359400"}), "0x2"),
        (json!({"authorizationList": [authorization()]}), "0x4"),
    ] {
        let hash = node
            .rpc(
                "eth_sendTransaction",
                json!([transaction(&node, fields.clone())]),
            )
            .await;
        let sent = node.rpc("eth_getTransactionByHash", json!([hash])).await;
        assert_eq!(sent["type"], kind, "{fields}");
        if let Some(list) = fields["authorizationList"].as_array() {
            assert_eq!(
                sent["authorizationList"].as_array().unwrap().len(),
                list.len()
            );
        }
    }
    let blob = transaction(&node, json!({"blobVersionedHashes": [blob_hash()]}));
    let error = node.rpc_error("eth_sendTransaction", json!([blob])).await;
    assert_eq!(error["message"], "missing sidecar in blob transaction");
}

#[tokio::test]
async fn a_tip_alone_needs_no_gas_limit() {
    let node = node().await;
    let transaction = transaction(
        &node,
        json!({"maxPriorityFeePerGas": "0x3b9aca00", "value": "0x1"}),
    );
    for (method, params) in requests(&transaction) {
        node.rpc(method, params).await;
    }
    let filled = node.rpc("eth_fillTransaction", json!([transaction])).await["tx"].clone();
    let next = number(&node.rpc("eth_baseFee", json!([])).await);
    assert_eq!(number(&filled["maxFeePerGas"]), 2 * next + 1_000_000_000);
    assert_eq!(
        (&filled["maxPriorityFeePerGas"], &filled["gas"]),
        (&json!("0x3b9aca00"), &json!("0x5208"))
    );
    // The largest tip overflows nothing.
    let largest = json!({"from": node.account(0), "to": node.account(1), "maxPriorityFeePerGas": format!("{:#x}", u128::MAX)});
    for (method, params) in requests(&largest) {
        node.request(method, params).await;
    }
}

#[tokio::test]
async fn blob_hashes_need_no_fee_in_calls() {
    let node = node().await;
    // BLOBHASH of 0 and BLOBBASEFEE, as the output.
    let code = "0x5f495f524a60205260405ff3";
    let target = Address::repeat_byte(0x77);
    node.rpc("anvil_setCode", json!([target, code])).await;

    let call = json!({"from": node.account(0), "to": target, "blobVersionedHashes": [blob_hash()]});
    let output = node.rpc("eth_call", json!([call, "latest"])).await;
    assert_eq!(
        output.as_str().unwrap(),
        format!("{}{}", blob_hash(), "0".repeat(64))
    );

    for (method, params) in requests(&call)
        .into_iter()
        .skip_while(|(method, _)| *method != "eth_call")
    {
        node.rpc(method, params).await;
    }

    let simulated = node
        .rpc(
            "eth_simulateV1",
            json!([{"blockStateCalls": [{"calls": [call]}]}]),
        )
        .await;
    assert_eq!(simulated[0]["calls"][0]["status"], "0x1");

    // A stated fee counts, and validation requires one.
    let validated = json!({"blockStateCalls": [{"calls": [call]}], "validation": true});
    node.rpc_error("eth_simulateV1", json!([validated])).await;

    let without = json!({"from": node.account(0), "to": target});
    let output = node.rpc("eth_call", json!([without, "latest"])).await;
    assert_eq!(
        output.as_str().unwrap(),
        format!("0x{}{:064x}", "0".repeat(64), 1)
    );
}

#[tokio::test]
async fn an_access_list_with_a_gas_price_is_kept_in_simulations() {
    let node = node().await;
    let list = json!([{"address": node.account(5), "storageKeys": []}]);
    let call = transaction(&node, json!({"gasPrice": "0x0", "accessList": list}));
    let payload = json!({"blockStateCalls": [{"calls": [call]}], "returnFullTransactions": true});
    let simulated = node.rpc("eth_simulateV1", json!([payload])).await;
    let listed = &simulated[0]["transactions"][0];
    assert_eq!(
        (&listed["type"], &listed["accessList"]),
        (&json!("0x1"), &list)
    );
    assert_eq!(simulated[0]["calls"][0]["gasUsed"], "0x5b68");
}

#[tokio::test]
async fn a_replacement_must_describe_the_whole_transaction() {
    let node = node_with(|config| config.no_mining = true).await;
    let list = json!([{"address": node.account(5), "storageKeys": []}]);
    let sent = transaction(
        &node,
        json!({"nonce": "0x0", "gas": "0x10000", "accessList": list}),
    );
    node.rpc("eth_sendTransaction", json!([sent])).await;
    for wrong in [
        json!({"accessList": []}),
        json!({"authorizationList": [authorization()]}),
        json!({"type": "0x0"}),
    ] {
        let described = transaction(&node, json!({"nonce": "0x0"}));
        let mut described = described.as_object().unwrap().clone();
        described.extend(wrong.as_object().unwrap().clone());
        let error = node
            .rpc_error("eth_resend", json!([described, "0x2540be400"]))
            .await;
        assert!(text(&error).contains("not found"), "{wrong}: {error}");
    }
    let hash = node.rpc("eth_resend", json!([sent, "0x2540be400"])).await;
    assert_eq!(
        node.rpc("eth_getTransactionByHash", json!([hash])).await["accessList"],
        list
    );
}

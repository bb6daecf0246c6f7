//! Signatures with keys that the node holds, checked by a library that clients use.

use alloy::{
    consensus::TxEnvelope,
    eips::eip2718::Decodable2718,
    primitives::{Address, Bytes, Signature, eip191_hash_message},
};
use serde_json::{Value, json};

use crate::support::node;

fn parsed<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

#[tokio::test]
async fn messages_are_signed_in_the_way_that_no_transaction_is() {
    let node = node().await;
    let message = b"pay everything";
    let data = Bytes::from_static(message);
    for (method, params) in [
        ("eth_sign", json!([node.account(1), data])),
        ("personal_sign", json!([data, node.account(1)])),
        ("personal_sign", json!([data, node.account(1), "password"])),
    ] {
        let raw: Bytes = parsed(&node.rpc(method, params).await);
        let signature = Signature::from_raw(&raw).unwrap();
        let signer = signature.recover_address_from_prehash(&eip191_hash_message(message)).unwrap();
        assert_eq!(signer, node.account(1));
        assert!(matches!(raw.last(), Some(27 | 28)));
        assert_eq!(
            node.rpc("personal_ecRecover", json!([data, raw])).await,
            json!(signer).to_string().trim_matches('"').to_lowercase()
        );
    }
    let stranger = node.rpc_error("eth_sign", json!([Address::repeat_byte(7), "0x"])).await;
    assert_eq!(stranger["message"], "unknown account");
    assert_eq!(node.rpc_error("personal_ecRecover", json!(["0x", "0x1234"])).await["code"], -32602);
}

/// The example of EIP-712, signed by its key: the hash of the word "cow".
#[tokio::test]
async fn typed_data_is_signed_as_the_standard_shows() {
    let node = node().await;
    let person = json!([{"name": "name", "type": "string"}, {"name": "wallet", "type": "address"}]);
    let data = json!({
        "types": {
            "EIP712Domain": [{"name": "name", "type": "string"}, {"name": "chainId", "type": "uint256"}],
            "Person": person,
            "Mail": [{"name": "from", "type": "Person"}, {"name": "contents", "type": "string"}],
        },
        "primaryType": "Mail",
        "domain": {"name": "Ether Mail", "chainId": 125},
        "message": {"from": {"name": "Cow", "wallet": node.account(2)}, "contents": "Hello, Bob!"},
    });
    let typed: alloy_dyn_abi::TypedData = parsed(&data);
    for params in [json!([node.account(2), data]), json!([node.account(2), data.to_string()])] {
        for method in ["eth_signTypedData", "eth_signTypedData_v3", "eth_signTypedData_v4"] {
            let raw: Bytes = parsed(&node.rpc(method, params.clone()).await);
            let hash = typed.eip712_signing_hash().unwrap();
            let signer = Signature::from_raw(&raw).unwrap().recover_address_from_prehash(&hash).unwrap();
            assert_eq!(signer, node.account(2));
        }
    }
    let error = node.rpc_error("eth_signTypedData_v4", json!([node.account(2), {"types": {}}])).await;
    assert_eq!(error["code"], -32602);
}

#[tokio::test]
async fn a_signed_transaction_can_be_sent() {
    let node = node().await;
    let request = json!({"from": node.account(3), "to": node.account(4), "value": "0x5"});
    let signed = node.rpc("eth_signTransaction", json!([request])).await;
    let raw: Bytes = parsed(&signed["raw"]);
    let envelope = TxEnvelope::decode_2718_exact(&raw).unwrap();
    let signer = envelope.signature().recover_address_from_prehash(&envelope.signature_hash()).unwrap();
    assert_eq!(signer, node.account(3));
    assert_eq!(signed["tx"]["hash"], json!(envelope.tx_hash()));
    assert_eq!(node.rpc("eth_sendRawTransaction", json!([raw])).await, signed["tx"]["hash"]);
    let filled = node.rpc("eth_fillTransaction", json!([request])).await;
    assert_eq!((&filled["tx"]["nonce"], &filled["tx"]["gas"]), (&json!("0x1"), &json!("0x5208")));
    assert_eq!((&filled["tx"]["r"], &filled["tx"]["v"]), (&json!("0x0"), &json!("0x0")));
}

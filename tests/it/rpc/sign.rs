//! Signatures with keys that the node holds, checked by a library that clients use.

use alloy::{
    consensus::TxEnvelope,
    eips::eip2718::Decodable2718,
    primitives::{Address, Bytes, Signature, b256, eip191_hash_message, keccak256},
};
use serde_json::{Value, json};

use crate::support::node;

fn parsed<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}

#[tokio::test]
async fn messages_are_signed_as_in_eip_191() {
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
        let signer = signature
            .recover_address_from_prehash(&eip191_hash_message(message))
            .unwrap();
        assert_eq!(signer, node.account(1));
        assert!(matches!(raw.last(), Some(27 | 28)));
        assert_eq!(
            node.rpc("personal_ecRecover", json!([data, raw])).await,
            json!(signer).to_string().trim_matches('"').to_lowercase()
        );
    }
    let stranger = node
        .rpc_error("eth_sign", json!([Address::repeat_byte(7), "0x"]))
        .await;
    assert_eq!(stranger["message"], "unknown account");
    assert_eq!(
        node.rpc_error("personal_ecRecover", json!(["0x", "0x1234"]))
            .await["code"],
        -32602
    );
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
    for params in [
        json!([node.account(2), data]),
        json!([node.account(2), data.to_string()]),
    ] {
        for method in [
            "eth_signTypedData",
            "eth_signTypedData_v3",
            "eth_signTypedData_v4",
        ] {
            let raw: Bytes = parsed(&node.rpc(method, params.clone()).await);
            let hash = typed.eip712_signing_hash().unwrap();
            let signer = Signature::from_raw(&raw)
                .unwrap()
                .recover_address_from_prehash(&hash)
                .unwrap();
            assert_eq!(signer, node.account(2));
        }
    }

    let error = node
        .rpc_error(
            "eth_signTypedData_v4",
            json!([node.account(2), {"types": {}}]),
        )
        .await;
    assert_eq!(error["code"], -32602);
}

/// Fields of a type that are texts.
fn text_fields(names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| json!({"name": name, "type": "string"}))
        .collect()
}

/// The hash is that of `@metamask/eth-sig-util`.
#[tokio::test]
async fn typed_data_may_have_the_domain_of_cosmos_chains() {
    let node = node().await;

    let mut domain = text_fields(&["name", "version", "verifyingContract", "salt"]);
    domain
        .as_array_mut()
        .unwrap()
        .insert(2, json!({"name": "chainId", "type": "uint256"}));

    let mut data = json!({
        "types": {
            "EIP712Domain": domain,
            "Tx": [{"name": "memo", "type": "string"}, {"name": "msgs", "type": "Msg[]"}],
            "Msg": text_fields(&["type"]),
        },
        "primaryType": "Tx",
        "domain": {"name": "Cosmos Web3", "version": "1.0.0", "chainId": "125", "verifyingContract": "cosmos", "salt": "0"},
        "message": {"memo": "hi", "msgs": [{"type": "a"}, {"type": "b"}]},
    });

    let hash = b256!("53f1582b561f6d3f035b5d9a4c3bd841e694006839c9ca1735e85983072f0e9b");
    for params in [
        json!([node.account(2), data]),
        json!([node.account(2), data.to_string()]),
    ] {
        let raw: Bytes = parsed(&node.rpc("eth_signTypedData_v4", params).await);
        let signer = Signature::from_raw(&raw)
            .unwrap()
            .recover_address_from_prehash(&hash)
            .unwrap();
        assert_eq!(signer, node.account(2));
    }

    // A message that is the domain itself is not signed a second time, in either form of domain.
    let mut alone = data.clone();
    (alone["primaryType"], alone["message"]) = ("EIP712Domain".into(), data["domain"].clone());
    alone["domain"] = json!({});
    let domain = parsed::<alloy_dyn_abi::TypedData>(&alone)
        .hash_struct()
        .unwrap();
    alone["domain"] = data["domain"].clone();

    let raw: Bytes = parsed(
        &node
            .rpc("eth_signTypedData_v4", json!([node.account(2), alone]))
            .await,
    );
    let hash = keccak256([b"\x19\x01", domain.as_slice()].concat());
    assert_eq!(
        Signature::from_raw(&raw)
            .unwrap()
            .recover_address_from_prehash(&hash)
            .unwrap(),
        node.account(2)
    );

    // Neither is a domain of any chain.
    data["types"]["EIP712Domain"][3]["type"] = "address".into();
    let error = node
        .rpc_error("eth_signTypedData_v4", json!([node.account(2), data]))
        .await;
    assert_eq!(error["code"], -32602, "{error}");

    data["types"]["EIP712Domain"][3]["type"] = format!("uint8{}", "[]".repeat(200_000)).into();
    let error = node
        .rpc_error("eth_signTypedData_v4", json!([node.account(2), data]))
        .await;
    assert!(
        error.to_string().contains("nested more than 64 deep"),
        "{error}"
    );

    let text = format!(
        r#"{{"types": {{}}, "primaryType": "A", "message": {{"all": [{}0]}}}}"#,
        "0,".repeat(200_000)
    );
    let error = node
        .rpc_error("eth_signTypedData_v4", json!([node.account(2), text]))
        .await;
    assert!(
        error
            .to_string()
            .contains("the JSON may have at most 200000 values"),
        "{error}"
    );
    node.end().await;
}

/// Types of which each but the last has this many members of the next one.
fn chain_of_types(length: usize, uses: usize) -> Value {
    let member =
        |next: usize, at: usize| json!({"name": format!("m{at}"), "type": format!("T{next}[]")});
    let members = |next: usize| (0..uses).map(|at| member(next, at)).collect::<Value>();
    let types = (0..length).map(|at| (format!("T{at}"), members(at + 1)));
    let last = (
        format!("T{length}"),
        json!([{"name": "a", "type": "uint8"}]),
    );
    Value::Object(types.chain([last]).collect())
}

/// Types are resolved recursively: without limits these overflow the stack, or are as large as two
/// to the number of types.
#[tokio::test]
async fn typed_data_with_excessive_types_is_refused() {
    let node = node().await;
    let member = |kind: String| json!({"T0": [{"name": "m0", "type": kind}]});
    for (types, reason) in [
        (
            member(format!("uint8{}", "[]".repeat(65))),
            "nested more than 64 deep",
        ),
        (
            member(format!("uint8{}", "[]".repeat(200_000))),
            "nested more than 64 deep",
        ),
        (chain_of_types(20_000, 1), "nested more than 64 deep"),
        (member("T0[]".to_owned()), "contain themselves"),
        (chain_of_types(15, 4), "types take more than 65536 bytes"),
    ] {
        let mut data = json!({"primaryType": "T0", "domain": {}, "message": {"m0": [], "m1": [], "m2": [], "m3": []}});
        data["types"] = types;
        let error = node
            .rpc_error("eth_signTypedData_v4", json!([node.account(2), data]))
            .await;
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error.to_string().contains(reason), "{error}");

        data["types"] = member(format!("uint8{}", "[]".repeat(31)));
        data["message"] = json!({"m0": []});
        node.rpc("eth_signTypedData_v4", json!([node.account(2), data]))
            .await;

        data["primaryType"] = json!(format!("uint8{}", "[]".repeat(200_000)));
        node.rpc_error("eth_signTypedData_v4", json!([node.account(2), data]))
            .await;
    }
    node.end().await;
}

#[tokio::test]
async fn a_signed_transaction_can_be_sent() {
    let node = node().await;
    let request = json!({"from": node.account(3), "to": node.account(4), "value": "0x5"});
    let signed = node.rpc("eth_signTransaction", json!([request])).await;
    let raw: Bytes = parsed(&signed["raw"]);
    let envelope = TxEnvelope::decode_2718_exact(&raw).unwrap();
    let signer = envelope
        .signature()
        .recover_address_from_prehash(&envelope.signature_hash())
        .unwrap();
    assert_eq!(signer, node.account(3));
    assert_eq!(signed["tx"]["hash"], json!(envelope.tx_hash()));
    assert_eq!(
        node.rpc("eth_sendRawTransaction", json!([raw])).await,
        signed["tx"]["hash"]
    );
    let filled = node.rpc("eth_fillTransaction", json!([request])).await;
    assert_eq!(
        (&filled["tx"]["nonce"], &filled["tx"]["gas"]),
        (&json!("0x1"), &json!("0x5208"))
    );
    assert_eq!(
        (&filled["tx"]["r"], &filled["tx"]["v"]),
        (&json!("0x0"), &json!("0x0"))
    );
}

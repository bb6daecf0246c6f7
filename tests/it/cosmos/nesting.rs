//! Nested messages: within the limit they are rendered, beyond it they are refused, or written as
//! bytes if a block already has them.

use alloy_primitives::{Address, hex};
use base64ct::{Base64, Encoding};
use prost::Message;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tetrad_primitives::block::{
    Transaction,
    cosmos::{
        DecodedTx, MAX_MESSAGE_LEVELS,
        proto::{Any, Fee, TxBody},
    },
};

use super::signing::{Mode, PRICE, Unsigned, bech32, coins, send};
use crate::support::{TestNode, grpc::GrpcClient, node, node_with};

const TO: Address = Address::repeat_byte(0xaa);
const TYPE: &str = "/cosmos.tx.v1beta1.TxBody";
const GAS: u64 = 1_000_000;
/// Levels above the value of an extension option: the transaction, its body and the option.
const ABOVE: usize = 3;

fn any(value: Vec<u8>) -> Any {
    Any {
        type_url: TYPE.to_owned(),
        value,
    }
}

/// `TxBody{messages: [Any{TxBody{messages: …}}]}`, with `count` nested `Any`.
fn nested(count: usize) -> Vec<u8> {
    (0..count).fold(Vec::new(), |value, _| {
        TxBody {
            messages: vec![any(value)],
            ..TxBody::default()
        }
        .encode_to_vec()
    })
}

/// A transfer with an extension option that the chain may ignore.
async fn with_option(node: &TestNode, value: Vec<u8>) -> Unsigned {
    let mut unsigned = node.unsigned(0, vec![send(node.account(0), TO, 1)]).await;
    unsigned.non_critical_extension_options = vec![any(value)];
    unsigned.fee = Fee {
        gas_limit: GAS,
        amount: coins(u128::from(GAS) * PRICE),
        ..Fee::default()
    };
    unsigned
}

fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    prost::encoding::encode_key(number, prost::encoding::WireType::LengthDelimited, &mut out);
    prost::encoding::encode_varint(bytes.len() as u64, &mut out);
    out.extend_from_slice(bytes);
    out
}

#[tokio::test]
async fn a_transaction_that_nests_too_deeply_is_refused_on_every_interface() {
    let node = node().await;
    let mut grpc = GrpcClient::connect(node.address()).await;
    for count in [(MAX_MESSAGE_LEVELS - ABOVE) / 2 + 1, 100, 2_000] {
        let raw = with_option(&node, nested(count)).await.sign(Mode::Direct);
        let text = Base64::encode_string(&raw);
        let what =
            format!("messages nest more than {MAX_MESSAGE_LEVELS} levels deep: tx parse error");

        let refused = node.broadcast(&raw).await;
        assert_eq!(
            (&refused["code"], &refused["raw_log"]),
            (&2.into(), &what.clone().into()),
            "{count}"
        );
        let (status, simulated) = node
            .post_json("/cosmos/tx/v1beta1/simulate", json!({ "tx_bytes": text }))
            .await;
        assert_eq!(status, 500);
        assert!(
            simulated["message"].as_str().unwrap().starts_with(&what),
            "{simulated}"
        );

        let request = [field(1, &raw), vec![0x10, 2]].concat();
        let answer = grpc
            .call("/cosmos.tx.v1beta1.Service/BroadcastTx", &request, None)
            .await;
        assert!(
            String::from_utf8_lossy(&answer.body).contains(&what),
            "{}",
            answer.message
        );
        let answer = grpc
            .call("/cosmos.tx.v1beta1.Service/Simulate", &field(2, &raw), None)
            .await;
        // The message of a status is in a header.
        let message = answer.message.replace("%20", " ");
        assert!(answer.code == 2 && message.starts_with(&what), "{message}");

        for method in ["check_tx", "broadcast_tx_sync"] {
            let result = node.comet(method, json!({ "tx": text })).await["result"].clone();
            assert_eq!(
                (&result["code"], &result["log"]),
                (&2.into(), &what.clone().into()),
                "{method}"
            );
        }
        let committed = node
            .comet("broadcast_tx_commit", json!({ "tx": text }))
            .await["result"]
            .clone();
        assert_eq!(committed["check_tx"]["log"], what);
        node.comet("broadcast_tx_async", json!({ "tx": text }))
            .await;
        let query = json!({ "path": "/cosmos.tx.v1beta1.Service/Simulate", "data": hex::encode(field(2, &raw)) });
        let response = node.comet("abci_query", query).await["result"]["response"].clone();
        assert!(
            response["log"].as_str().unwrap().contains(&what),
            "{response}"
        );

        // As Ethereum's interface would return it from a block.
        let DecodedTx::Bank(tx) = DecodedTx::decode(&raw).unwrap() else {
            panic!("an Ethereum transaction")
        };
        let encoded = hex::encode_prefixed(Transaction::from_cosmos(&tx).unwrap().encode());
        let error = node
            .rpc_error("eth_sendRawTransaction", json!([encoded]))
            .await;
        assert!(error.to_string().contains(&what), "{error}");
    }
    assert_eq!(node.block_number().await, 0, "nothing got into a block");
    node.end().await;
}

#[tokio::test]
async fn messages_nested_within_the_limit_are_rendered_completely() {
    let node = node().await;
    let count = (MAX_MESSAGE_LEVELS - ABOVE - 1) / 2;
    let raw = with_option(&node, nested(count)).await.sign(Mode::Direct);
    let answer = node.broadcast(&raw).await;
    assert_eq!(answer["code"], 0, "{answer}");
    let found = node
        .get_json(&format!(
            "/cosmos/tx/v1beta1/txs/{}",
            answer["txhash"].as_str().unwrap()
        ))
        .await;
    let mut option = &found["tx"]["body"]["non_critical_extension_options"][0];
    for _ in 0..count {
        assert_eq!(option["@type"], TYPE);
        option = &option["messages"][0];
    }
    assert_eq!(
        (&option["@type"], &option["messages"]),
        (&TYPE.into(), &json!([]))
    );
    node.end().await;
}

/// Looks a transaction up in every way that renders it, and checks that its extension option is
/// written as bytes.
async fn check_rendering(node: &TestNode, raw: &[u8], value: &[u8]) {
    let hash = hex::encode_upper(Sha256::digest(raw));
    let as_bytes = json!({ "@type": TYPE, "value": Base64::encode_string(value) });
    let option = |tx: &Value| tx["body"]["non_critical_extension_options"][0].clone();

    let found = node
        .get_json(&format!("/cosmos/tx/v1beta1/txs/{hash}"))
        .await;
    assert_eq!(
        (option(&found["tx"]), option(&found["tx_response"]["tx"])),
        (as_bytes.clone(), as_bytes.clone())
    );
    let query = format!("transfer.recipient='{}'", bech32(TO));
    let url = format!("{}/cosmos/tx/v1beta1/txs", node.rest_url());
    let url = reqwest::Url::parse_with_params(&url, [("query", &query)]).unwrap();
    let body: Value = node
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert_eq!(
        (
            option(&body["txs"][0]),
            option(&body["tx_responses"][0]["tx"])
        ),
        (as_bytes.clone(), as_bytes.clone())
    );
    let block = node.get_json("/cosmos/tx/v1beta1/txs/block/1").await;
    assert_eq!(option(&block["txs"][0]), as_bytes);

    let searched = node.comet("tx_search", json!({ "query": query })).await["result"].clone();
    assert_eq!(
        (&searched["total_count"], &searched["txs"][0]["hash"]),
        (&"1".into(), &hash.clone().into())
    );
    let mut grpc = GrpcClient::connect(node.address()).await;
    for (method, request) in [
        ("GetTx", field(1, hash.as_bytes())),
        ("GetTxsEvent", field(6, query.as_bytes())),
    ] {
        let answer = grpc
            .call(
                &format!("/cosmos.tx.v1beta1.Service/{method}"),
                &request,
                None,
            )
            .await;
        assert_eq!(answer.code, 0, "{method}: {}", answer.message);
        assert!(
            answer.body.windows(value.len()).any(|part| part == value),
            "{method}"
        );
    }
}

#[tokio::test]
async fn a_block_with_a_too_deeply_nested_transaction_is_valid_and_shows_bytes() {
    let place = tempfile::tempdir().unwrap();
    let open =
        async || node_with(|config| config.data_dir = Some(place.path().join("chain"))).await;
    let node = open().await;
    let value = nested(2_000);
    let raw = with_option(&node, value.clone()).await.sign(Mode::Direct);
    node.include(&raw).await;
    check_rendering(&node, &raw, &value).await;
    node.end().await;

    let node = open().await;
    check_rendering(&node, &raw, &value).await;
    node.end().await;
}

#[tokio::test]
async fn messages_with_disproportionately_large_json_are_shown_as_bytes() {
    let node = node().await;
    // A list of empty validators, each of which has thirteen fields with default values.
    let value = [0x0a, 0x00].repeat(20_000);
    let mut unsigned = with_option(&node, value.clone()).await;
    let type_url = "/cosmos.staking.v1beta1.QueryValidatorsResponse";
    unsigned.non_critical_extension_options[0].type_url = type_url.to_owned();
    let answer = node.broadcast(&unsigned.sign(Mode::Direct)).await;
    assert_eq!(answer["code"], 0, "{answer}");
    let found = node
        .get_json(&format!(
            "/cosmos/tx/v1beta1/txs/{}",
            answer["txhash"].as_str().unwrap()
        ))
        .await;
    let option = &found["tx"]["body"]["non_critical_extension_options"][0];
    assert_eq!(
        *option,
        json!({ "@type": type_url, "value": Base64::encode_string(&value) })
    );
    node.end().await;
}

#[tokio::test]
async fn a_transaction_with_too_many_extension_options_is_refused() {
    let node = node().await;
    let mut unsigned = with_option(&node, Vec::new()).await;
    unsigned.non_critical_extension_options = vec![any(Vec::new()); 101];
    let answer = node.check(&unsigned.sign(Mode::Direct)).await;
    assert!(
        answer["log"]
            .as_str()
            .unwrap()
            .starts_with("101 extension options, more than 100"),
        "{answer}"
    );
    unsigned.non_critical_extension_options.pop();
    assert_eq!(node.check(&unsigned.sign(Mode::Direct)).await["code"], 0);
    node.end().await;
}

#[tokio::test]
async fn deeply_nested_json_bodies_are_answered() {
    let node = node().await;
    for count in [1, 10, 30, 55, 60, 1_000] {
        // Written as text, since a document this deep cannot be built and dropped without
        // recursion.
        let open = format!(r#"{{"@type":"{TYPE}","messages":["#).repeat(count);
        let body = format!(
            r#"{{"tx":{{"body":{{"messages":[{open}{}]}}}}}}"#,
            "]}".repeat(count)
        );
        let url = format!("{}/cosmos/tx/v1beta1/simulate", node.rest_url());
        let request = node
            .http
            .post(url)
            .header("content-type", "application/json")
            .body(body);
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        assert!(matches!(status, 400 | 500), "{count}: {text}");
        let expected = if count <= 60 {
            "unsupported message"
        } else {
            "recursion limit exceeded"
        };
        assert!(text.contains(expected), "{count}: {text}");
    }
    node.end().await;
}

//! Transactions found by hash, by their events and by subscription.

use std::path::PathBuf;

use alloy_primitives::{Address, hex};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use tetrad_primitives::block::cosmos::proto::Any;

use super::signing::{Mode, bech32, cosmos_hash, multi_send, send};
use crate::support::{
    TestNode, node, node_with,
    sign::{raw, signer, transfer},
    socket::PriceSocket,
};

const TO: Address = Address::repeat_byte(0xaa);
const OTHER: Address = Address::repeat_byte(0xbb);

/// Sends a Cosmos transaction. Returns its hash.
async fn send_cosmos(node: &TestNode, index: usize, message: Any) -> String {
    let raw = node.unsigned(index, vec![message]).await.sign(Mode::Direct);
    let response = node.broadcast(&raw).await;
    assert_eq!(response["code"], 0, "{response}");
    assert_eq!(response["txhash"], cosmos_hash(&raw));
    cosmos_hash(&raw)
}

async fn send_ethereum(node: &TestNode, index: usize, nonce: u64) -> String {
    let hash = node
        .rpc(
            "eth_sendRawTransaction",
            json!([raw(transfer(nonce), index)]),
        )
        .await;
    hash.as_str().unwrap().to_owned()
}

async fn search(node: &TestNode, query: &str) -> Vec<String> {
    let result = node
        .comet("tx_search", json!({ "query": query, "per_page": "100" }))
        .await["result"]
        .clone();
    let txs = result["txs"]
        .as_array()
        .unwrap_or_else(|| panic!("{query}: {result}"));
    assert_eq!(result["total_count"], txs.len().to_string(), "{query}");

    // The gateway has the same.
    let ours: Vec<_> = txs
        .iter()
        .map(|tx| tx["hash"].as_str().unwrap().to_owned())
        .collect();

    let url = format!("{}/cosmos/tx/v1beta1/txs", node.rest_url());
    let url = reqwest::Url::parse_with_params(&url, [("query", query)]).unwrap();
    let body: Value = node
        .http
        .get(url)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();

    let theirs: Vec<_> = body["tx_responses"]
        .as_array()
        .unwrap_or_else(|| panic!("{query}: {body}"))
        .iter()
        .collect();

    assert_eq!(
        theirs
            .iter()
            .map(|tx| tx["txhash"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ours,
        "{query}"
    );
    assert_eq!(
        (&body["total"], body["txs"].as_array().unwrap().len()),
        (&ours.len().to_string().into(), ours.len())
    );
    ours
}

#[tokio::test]
async fn a_transaction_is_found_by_its_hashes_on_every_interface() {
    let node = node().await;
    let from = node.account(0);
    let cosmos = send_cosmos(&node, 0, send(from, TO, 5)).await;
    let ethereum = send_ethereum(&node, 1, 0).await;

    let block = node.rpc("eth_getBlockByNumber", json!(["0x1", true])).await;
    let other_hash = block["transactions"][0]["hash"]
        .as_str()
        .unwrap()
        .trim_start_matches("0x")
        .to_owned();

    let shown =
        node.comet("block", json!({ "height": "2" })).await["result"]["block"]["data"]["txs"][0]
            .clone();
    let shown = Base64::decode_vec(shown.as_str().unwrap()).unwrap();

    for (hashes, height) in [
        ([cosmos, other_hash], "1"),
        ([cosmos_hash(&shown), ethereum[2..].to_owned()], "2"),
    ] {
        let found = node
            .get_json(&format!("/cosmos/tx/v1beta1/txs/{}", hashes[0]))
            .await;

        let response = &found["tx_response"];
        assert_eq!(
            (&response["height"], &response["code"]),
            (&height.into(), &0.into()),
            "{found}"
        );

        assert_eq!(response["txhash"], hashes[0]);
        assert_eq!(response["tx"]["@type"], "/cosmos.tx.v1beta1.Tx");
        assert_eq!(response["tx"]["body"], found["tx"]["body"]);
        assert!(response["timestamp"].as_str().unwrap().ends_with('Z'));

        let by_other_hash = node
            .get_json(&format!("/cosmos/tx/v1beta1/txs/{}", hashes[1]))
            .await;
        assert_eq!(by_other_hash, found);

        let bytes = Base64::encode_string(&hex::decode(&hashes[0]).unwrap());
        let result = node.comet("tx", json!({ "hash": bytes })).await["result"].clone();
        assert_eq!(
            (&result["hash"], &result["height"]),
            (&hashes[0].clone().into(), &height.into())
        );
        assert_eq!(result["tx_result"]["events"], response["events"]);
        assert_eq!(
            cosmos_hash(&Base64::decode_vec(result["tx"].as_str().unwrap()).unwrap()),
            hashes[0]
        );

        assert_eq!(
            search(&node, &format!("tx.hash='{}'", hashes[0])).await,
            [hashes[0].clone()]
        );

        // Ethereum clients know the Ethereum hash only.
        let known = node
            .rpc(
                "eth_getTransactionByHash",
                json!([format!("0x{}", hashes[1])]),
            )
            .await;
        assert!(known.is_object());
        assert!(
            node.rpc(
                "eth_getTransactionByHash",
                json!([format!("0x{}", hashes[0])])
            )
            .await
            .is_null()
        );
    }

    let message =
        node.get_json("/cosmos/tx/v1beta1/txs/block/1").await["txs"][0]["body"]["messages"][0]
            .clone();
    assert_eq!(
        (&message["@type"], &message["to_address"]),
        (&"/cosmos.bank.v1beta1.MsgSend".into(), &bech32(TO).into())
    );

    let message =
        node.get_json("/cosmos/tx/v1beta1/txs/block/2").await["txs"][0]["body"]["messages"][0]
            .clone();

    let encoded = node
        .rpc("eth_getRawTransactionByHash", json!([ethereum]))
        .await;
    assert_eq!(
        (&message["@type"], &message["raw"]),
        (&"/cosmos.evm.vm.v1.MsgEthereumTx".into(), &encoded)
    );

    for path in [
        "tx/v1beta1/txs/block/-1",
        "base/tendermint/v1beta1/abci_query?height=-1",
    ] {
        assert_eq!(
            node.get(&format!("/cosmos/{path}")).await.status(),
            400,
            "{path}"
        );
    }

    let unknown = "00".repeat(32);
    assert_eq!(
        node.get(&format!("/cosmos/tx/v1beta1/txs/{unknown}"))
            .await
            .status(),
        404
    );
    assert_eq!(node.get("/cosmos/tx/v1beta1/txs/00").await.status(), 400);
    assert_eq!(
        node.comet("tx", json!({ "hash": unknown })).await["error"]["code"],
        -32603
    );
    node.end().await;
}

/// A node in memory, or in a directory with a history of three blocks.
async fn open(data_dir: Option<PathBuf>) -> TestNode {
    node_with(|config| {
        if data_dir.is_some() {
            config.history.blocks = 3;
        }
        config.data_dir = data_dir;
    })
    .await
}

/// The answers are the same from memory, from disk, and after a restart.
#[tokio::test]
async fn transactions_are_found_by_their_events() {
    let place = tempfile::tempdir().unwrap();
    for data_dir in [None, Some(place.path().join("chain"))] {
        let is_on_disk = data_dir.is_some();
        let mut node = open(data_dir.clone()).await;

        let first = node.account(0);
        let second = node.account(1);
        let a = send_cosmos(&node, 0, send(first, TO, 5)).await;
        let b = send_cosmos(&node, 0, multi_send(first, &[(OTHER, 1), (TO, 2)])).await;
        let c = send_cosmos(&node, 1, send(second, TO, 7)).await;
        let ethereum = send_ethereum(&node, 2, 0).await;

        for nonce in 1..6 {
            send_ethereum(&node, 2, nonce).await;
        }

        for _ in 0..if is_on_disk { 2 } else { 1 } {
            let [to, other, from] = [TO, OTHER, first].map(bech32);
            for (query, expected) in [
                (format!("transfer.recipient='{to}'"), vec![&a, &b, &c]),
                (format!("coin_received.receiver = '{other}'"), vec![&b]),
                (format!("message.sender='{from}'"), vec![&a, &b]),
                (
                    format!("message.sender='{from}' AND transfer.recipient='{other}'"),
                    vec![&b],
                ),
                (format!("message.sender='{from}' AND tx.height>1"), vec![&b]),
                (
                    format!("transfer.recipient='{to}' AND tx.height<=1"),
                    vec![&a],
                ),
                ("tx.height=3".to_owned(), vec![&c]),
                ("tx.height>=2 AND tx.height<4".to_owned(), vec![&b, &c]),
                (
                    "message.action='/cosmos.bank.v1beta1.MsgMultiSend'".to_owned(),
                    vec![&b],
                ),
                ("transfer.recipient='nobody'".to_owned(), vec![]),
                ("tx.height=99".to_owned(), vec![]),
            ] {
                assert_eq!(
                    search(&node, &query).await.iter().collect::<Vec<_>>(),
                    expected,
                    "{query}"
                );
            }

            let found = search(&node, &format!("ethereum_tx.ethereumTxHash='{ethereum}'")).await;
            assert_eq!(found.len(), 1);

            let sender = bech32(signer(2).address());
            assert_eq!(
                search(
                    &node,
                    &format!("message.sender='{sender}' AND message.module='evm'")
                )
                .await
                .len(),
                6
            );

            let params =
                json!({ "query": "tx.height>0", "page": "2", "per_page": "2", "order_by": "desc" });
            let page = node.comet("tx_search", params).await["result"].clone();
            assert_eq!(page["total_count"], "9");
            assert_eq!(
                page["txs"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|tx| &tx["height"])
                    .collect::<Vec<_>>(),
                ["7", "6"]
            );

            let path =
                "/cosmos/tx/v1beta1/txs?events=tx.height>0&page=2&limit=2&order_by=ORDER_BY_DESC";
            let body = node.get_json(path).await;
            let heights: Vec<_> = body["tx_responses"]
                .as_array()
                .unwrap()
                .iter()
                .map(|tx| &tx["height"])
                .collect();
            assert_eq!(heights, ["7", "6"]);
            assert_eq!(body["total"], "9");

            let blocks = node
                .comet(
                    "block_search",
                    json!({ "query": "block.height>=8 AND block.height<=99" }),
                )
                .await;
            assert_eq!(blocks["result"]["total_count"], "2");
            assert_eq!(
                blocks["result"]["blocks"][0]["block"]["header"]["height"],
                "9"
            );

            node.end().await;
            if !is_on_disk {
                break;
            }

            node = open(data_dir.clone()).await;
        }
    }
}

#[tokio::test]
async fn malformed_searches_are_explained() {
    let node = node().await;

    for (params, what) in [
        (json!({ "query": "" }), "the query is empty"),
        (json!({ "query": "tx.height" }), "expected a comparison"),
        (
            json!({ "query": "tx.height=1", "page": "0" }),
            "page should be within",
        ),
        (
            json!({ "query": "tx.height=1", "page": "2" }),
            "within [1, 1] range, given 2",
        ),
        (
            json!({ "query": "tx.height=1", "order_by": "up" }),
            "order_by",
        ),
    ] {
        let error = node.comet("tx_search", params.clone()).await["error"].clone();
        assert!(
            error["data"]
                .as_str()
                .is_some_and(|data| data.contains(what)),
            "{params}: {error}"
        );
    }

    for path in ["", "?query=tx.height", "?query=a='b'%20OR%20c='d'"] {
        assert_eq!(
            node.get(&format!("/cosmos/tx/v1beta1/txs{path}"))
                .await
                .status(),
            400,
            "{path}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn a_reverted_transaction_is_not_found() {
    let node = node().await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    let cosmos = send_cosmos(&node, 0, send(node.account(0), TO, 5)).await;
    send_ethereum(&node, 1, 0).await;
    let shown =
        node.comet("block", json!({ "height": "2" })).await["result"]["block"]["data"]["txs"][0]
            .clone();
    let ethereum = cosmos_hash(&Base64::decode_vec(shown.as_str().unwrap()).unwrap());
    for is_there in [true, false] {
        for hash in [&cosmos, &ethereum] {
            let status = node
                .get(&format!("/cosmos/tx/v1beta1/txs/{hash}"))
                .await
                .status();
            assert_eq!(status, if is_there { 200 } else { 404 }, "{hash}");
        }
        assert_eq!(
            search(&node, "tx.height>0").await.len(),
            if is_there { 2 } else { 0 }
        );
        if is_there {
            node.rpc("evm_revert", json!([snapshot])).await;
        }
    }
    node.end().await;
}

#[tokio::test]
async fn subscribers_learn_of_the_transactions_that_match_their_query() {
    let node = node().await;
    let mut socket = PriceSocket::connect(&format!("ws://{}/websocket", node.address())).await;

    let hers = format!("tm.event='Tx' AND transfer.recipient='{}'", bech32(TO));
    for (id, query) in [
        (1, "tm.event = 'Tx'"),
        (2, hers.as_str()),
        (3, "tm.event='NewBlock' AND block.height>2"),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "subscribe", "params": { "query": query } });
        socket.send(request.to_string()).await;
        assert_eq!(socket.json().await["result"], json!({}), "{query}");
    }

    let cosmos = send_cosmos(&node, 0, send(node.account(0), TO, 5)).await;
    send_ethereum(&node, 1, 0).await;
    send_ethereum(&node, 1, 1).await;

    let mut seen = Vec::new();
    while seen.len() < 5 {
        let message = socket.json().await;
        let id = message["id"].as_u64().unwrap();
        let data = &message["result"]["data"];

        if id == 3 {
            assert_eq!(data["value"]["block"]["header"]["height"], "3");
            seen.push((id, "3".to_owned()));
            continue;
        }

        assert_eq!(data["type"], "tendermint/event/Tx");
        let result = &data["value"]["TxResult"];
        let height = result["height"].as_str().unwrap().to_owned();
        let events = &message["result"]["events"];
        assert_eq!(
            (&events["tx.height"][0], &events["tm.event"][0]),
            (&height.clone().into(), &"Tx".into())
        );

        let raw = Base64::decode_vec(result["tx"].as_str().unwrap()).unwrap();
        assert_eq!(events["tx.hash"][0], cosmos_hash(&raw));

        if id == 2 {
            assert_eq!(cosmos_hash(&raw), cosmos);
            assert!(
                result["result"]["events"]
                    .as_array()
                    .is_some_and(|events| !events.is_empty())
            );
        }

        seen.push((id, height));
    }

    seen.sort_unstable();
    let expected = [(1, "1"), (1, "2"), (1, "3"), (2, "1"), (3, "3")]
        .map(|(id, height)| (id, height.to_owned()));
    assert_eq!(seen, expected);

    node.end().await;
}

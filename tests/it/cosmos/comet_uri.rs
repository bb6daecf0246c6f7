//! CometBFT's methods over `GET`, with the other interfaces and on a separate port.

use serde_json::{Value, json};

use super::free;
use crate::support::{TestNode, node_with};

async fn get(node: &TestNode, base: &str, path: &str) -> (u16, Value) {
    let response = node
        .http
        .get(format!("{base}{path}"))
        .send()
        .await
        .expect("an answer");
    (
        response.status().as_u16(),
        response
            .json()
            .await
            .unwrap_or_else(|error| panic!("{path}: {error}")),
    )
}

async fn post(node: &TestNode, base: &str, body: Value) -> Value {
    node.http
        .post(base)
        .json(&body)
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON")
}

#[tokio::test]
async fn every_method_answers_a_get_like_json_rpc() {
    let node = node_with(|config| config.comet_listen = free()).await;
    node.mine().await;
    let own = node.comet_url().expect("its own port");
    let hash = node.get_json("/block").await["result"]["block_id"]["hash"]
        .as_str()
        .expect("text")
        .to_owned();
    let prefix = "/abci_query?path=\"/cosmos.auth.v1beta1.Query/Bech32Prefix\"";

    for (path, method, params) in [
        ("/abci_info".to_owned(), "abci_info", json!({})),
        (
            prefix.to_owned(),
            "abci_query",
            json!({ "path": "/cosmos.auth.v1beta1.Query/Bech32Prefix" }),
        ),
        (
            format!("{prefix}&data=0x"),
            "abci_query",
            json!({ "path": "/cosmos.auth.v1beta1.Query/Bech32Prefix" }),
        ),
        (
            "/abci_query?path=\"/cosmos.bank.v1beta1.Query/SupplyOf\"&data=0x0a0461687078&height=1"
                .to_owned(),
            "abci_query",
            json!({ "path": "/cosmos.bank.v1beta1.Query/SupplyOf", "data": "0a0461687078", "height": "1" }),
        ),
        (
            "/block?height=1".to_owned(),
            "block",
            json!({ "height": "1" }),
        ),
        (
            "/block?height=\"1\"".to_owned(),
            "block",
            json!({ "height": "1" }),
        ),
        (
            format!("/block_by_hash?hash=0x{hash}"),
            "block_by_hash",
            json!({ "hash": hash }),
        ),
        (
            "/block_results?height=1".to_owned(),
            "block_results",
            json!({ "height": "1" }),
        ),
        (
            "/blockchain?minHeight=0&maxHeight=1".to_owned(),
            "blockchain",
            json!({ "minHeight": 0, "maxHeight": 1 }),
        ),
        (
            "/commit?height=1".to_owned(),
            "commit",
            json!({ "height": "1" }),
        ),
        (
            "/consensus_params".to_owned(),
            "consensus_params",
            json!({}),
        ),
        ("/genesis".to_owned(), "genesis", json!({})),
        (
            "/header?height=1".to_owned(),
            "header",
            json!({ "height": "1" }),
        ),
        (
            format!("/header_by_hash?hash=0x{hash}"),
            "header_by_hash",
            json!({ "hash": hash }),
        ),
        ("/net_info".to_owned(), "net_info", json!({})),
        (
            "/num_unconfirmed_txs".to_owned(),
            "num_unconfirmed_txs",
            json!({}),
        ),
        ("/status".to_owned(), "status", json!({})),
        (
            "/tx_search?query=\"tx.height=1\"&prove=false&page=1".to_owned(),
            "tx_search",
            json!({ "query": "tx.height=1" }),
        ),
        (
            "/unconfirmed_txs?limit=5".to_owned(),
            "unconfirmed_txs",
            json!({}),
        ),
        (
            "/validators?height=1&page=1&per_page=5".to_owned(),
            "validators",
            json!({ "height": "1" }),
        ),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": -1, "method": method, "params": params });
        let expected = post(&node, &node.rest_url(), request.clone()).await;
        assert!(expected.get("result").is_some(), "{method}: {expected}");
        assert_eq!(post(&node, &own, request).await, expected, "{method}");

        for base in [&node.rest_url(), &own] {
            assert_eq!(
                get(&node, base, &path).await,
                (200, expected.clone()),
                "{path}"
            );
        }
    }

    assert_eq!(
        get(&node, &own, "/health").await,
        (200, json!({ "jsonrpc": "2.0", "id": -1, "result": {} }))
    );
    assert_eq!(
        node.get_json("/health").await["status"],
        "ok",
        "the node's own address"
    );
    node.end().await;
}

#[tokio::test]
async fn wrong_arguments_are_named() {
    let node = node_with(|config| config.comet_listen = free()).await;
    let own = node.comet_url().expect("its own port");

    for (path, code, what) in [
        ("/block?height=x", -32602, "height: expected a number"),
        ("/block?height=-1", -32602, "height: expected a number"),
        ("/block?height=9", -32603, "must be less than or equal"),
        (
            "/abci_query?path=/a",
            -32602,
            "path: expected a text in double quotes",
        ),
        (
            "/abci_query?path=\"/a\"&data=zz",
            -32602,
            "data: expected 0x",
        ),
        (
            "/block_by_hash?hash=0x00",
            -32602,
            "hash: expected 32 bytes",
        ),
        ("/tx?hash=0x00", -32602, "hash: expected 32 bytes"),
        ("/broadcast_tx_sync?tx=0", -32602, "tx: expected 0x"),
        ("/tx_search?query=\"x\"", -32602, "expected a comparison"),
    ] {
        for base in [&node.rest_url(), &own] {
            let (status, body) = get(&node, base, path).await;
            assert_eq!(
                (status, &body["error"]["code"]),
                (500, &code.into()),
                "{path}: {body}"
            );
            assert!(
                body["error"]["data"].as_str().expect("text").contains(what),
                "{path}: {body}"
            );
        }
    }

    let batch = post(
        &node,
        &own,
        json!([{ "method": "health" }, { "method": "x" }, 5]),
    )
    .await;
    assert_eq!(
        (&batch[0]["result"], &batch[1]["error"]["code"]),
        (&json!({}), &json!(-32601))
    );
    assert_eq!(batch[2]["error"]["code"], -32600);

    assert_eq!(get(&node, &node.rest_url(), "/api/network").await.0, 200);
    let response = node
        .http
        .get(format!("{own}/api/network"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(response.status(), 404, "the port serves nothing else");
    node.end().await;
}

#[tokio::test]
async fn the_gateway_can_have_a_separate_port() {
    let node = node_with(|config| config.cosmos_rest_listen = free()).await;
    let own = node.cosmos_rest_url().expect("its own port");
    let path = "/cosmos/bank/v1beta1/params";
    assert_eq!(
        get(&node, &own, path).await,
        (200, node.get_json(path).await)
    );
    for path in [
        "/",
        "/api/network",
        "/evmos/erc20/v1/params",
        "/cosmos/nft/v1beta1/classes",
        "/x",
    ] {
        let expected = json!({ "code": 12, "message": "Not Implemented", "details": [] });
        assert_eq!(get(&node, &own, path).await, (501, expected), "{path}");
    }
    node.end().await;
}

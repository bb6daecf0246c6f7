//! CometBFT's WebSocket.

use serde_json::{Value, json};

use crate::support::{TestNode, node, socket::PriceSocket};

async fn connect(node: &TestNode) -> PriceSocket {
    PriceSocket::connect(&format!("ws://{}/websocket", node.address())).await
}

async fn ask(socket: &mut PriceSocket, body: Value) -> Value {
    socket.send(body.to_string()).await;
    socket.json().await
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[tokio::test]
async fn new_blocks_are_sent_to_subscribers() {
    let node = node().await;
    let mut socket = connect(&node).await;

    let query = "tm.event='NewBlock'";
    assert_eq!(
        ask(
            &mut socket,
            request(7, "subscribe", json!({ "query": query }))
        )
        .await,
        json!({ "jsonrpc": "2.0", "id": 7, "result": {} })
    );

    let headers = request(8, "subscribe", json!(["tm.event = 'NewBlockHeader'"]));
    assert_eq!(ask(&mut socket, headers).await["result"], json!({}));

    for height in 1..=3 {
        node.mine().await;
        for _ in 0..2 {
            let message = socket.json().await;
            let data = &message["result"]["data"];
            let (header, kind) = match message["id"].as_u64() {
                Some(7) => (&data["value"]["block"]["header"], "NewBlock"),
                _ => (&data["value"]["header"], "NewBlockHeader"),
            };

            assert_eq!(data["type"], format!("tendermint/event/{kind}"));
            assert_eq!(
                (&header["height"], &header["chain_id"]),
                (&height.to_string().into(), &"hyperpax_125-1".into())
            );
        }
    }

    // Nothing is sent after the subscriptions have ended.
    assert_eq!(
        ask(&mut socket, request(9, "unsubscribe_all", json!({}))).await["id"],
        9
    );

    node.mine().await;
    assert_eq!(
        ask(&mut socket, request(10, "status", json!({}))).await["id"],
        10,
        "no event arrived in between"
    );
    node.end().await;
}

#[tokio::test]
async fn an_invalid_message_is_refused_and_the_connection_stays_open() {
    let node = node().await;
    let mut socket = connect(&node).await;

    let status = ask(&mut socket, request(1, "status", json!({}))).await;
    assert_eq!(
        status["result"]["node_info"],
        node.get_json("/status").await["result"]["node_info"]
    );
    assert_eq!(
        ask(&mut socket, request(2, "health", json!(null))).await["result"],
        json!({})
    );

    for (body, code) in [
        (
            request(3, "broadcast_tx_sync", json!({ "tx": "&" })),
            -32602,
        ),
        (
            request(4, "subscribe", json!({ "query": "tm.event='Vote'" })),
            -32603,
        ),
        (
            request(4, "subscribe", json!({ "query": "tm.event=Tx" })),
            -32602,
        ),
        (
            request(
                4,
                "subscribe",
                json!({ "query": format!("tm.event='Tx'{}", " ".repeat(500)) }),
            ),
            -32603,
        ),
        (request(5, "subscribe", json!({})), -32602),
        (
            request(6, "unsubscribe", json!({ "query": "tm.event='NewBlock'" })),
            -32603,
        ),
    ] {
        let answer = ask(&mut socket, body.clone()).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&code.into(), &body["id"]),
            "{answer}"
        );
    }

    // A message that is no request at all.
    let long_id = json!({ "id": "1".repeat(2_000), "method": "health" }).to_string();
    for garbage in [
        "",
        "{",
        "[]",
        "null",
        r#"{"method":1}"#,
        r#"{"id":[1],"method":"health"}"#,
        &long_id,
    ] {
        socket.send(garbage).await;
        assert_eq!(socket.json().await["error"]["code"], -32700, "{garbage}");
    }

    node.end().await;
}

/// Sends a request like CosmJS: to the node's address without a path, like Ethereum's clients.
async fn post(node: &TestNode, body: Value) -> Value {
    let request = node.http.post(node.rest_url()).json(&body);
    request
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON")
}

#[tokio::test]
async fn both_kinds_of_json_rpc_share_an_address() {
    let node = node().await;
    node.mine().await;

    let status = post(&node, request(5, "status", json!({}))).await;
    assert_eq!(
        (
            &status["id"],
            &status["result"]["sync_info"]["latest_block_height"]
        ),
        (&5.into(), &"1".into())
    );

    assert_eq!(
        post(&node, request(6, "eth_blockNumber", json!([]))).await["result"],
        "0x1"
    );
    assert_eq!(
        post(&node, request(7, "nonsense", json!([]))).await["error"]["code"],
        -32601
    );
    assert_eq!(
        post(&node, request(7, "subscribe", json!([]))).await["error"]["code"],
        -32601,
        "not over HTTP"
    );

    let batch = json!([request(8, "eth_chainId", json!([]))]);
    assert_eq!(post(&node, batch).await[0]["result"], "0x7d");

    // `/rpc` serves Ethereum's methods only.
    assert_eq!(
        node.request("health", json!([])).await["error"]["code"],
        -32601
    );
    node.end().await;
}

#[tokio::test]
async fn reading_methods_return_a_result() {
    let node = node().await;
    node.mine().await;

    for (method, params, member) in [
        ("health", json!({}), ""),
        ("net_info", json!({}), "/n_peers"),
        (
            "genesis",
            json!({}),
            "/genesis/consensus_params/block/max_gas",
        ),
        ("abci_info", json!({}), "/response/last_block_height"),
        ("block", json!({ "height": "1" }), "/block/header/height"),
        ("block", json!([0]), "/block/header/height"),
        (
            "block",
            json!({ "height": "1", "more": { "than": [{ "it": "takes" }] } }),
            "/block/header/height",
        ),
        ("header", json!({}), "/header/app_hash"),
        (
            "blockchain",
            json!({ "minHeight": "0", "maxHeight": "5" }),
            "/block_metas/1/header/height",
        ),
        (
            "commit",
            json!({ "height": "1" }),
            "/signed_header/commit/block_id/hash",
        ),
        ("block_results", json!({ "height": "1" }), "/txs_results"),
        ("validators", json!({}), "/validators"),
        ("consensus_params", json!({}), "/consensus_params/validator"),
        ("tx_search", json!({ "query": "tx.height=1" }), "/txs"),
        ("num_unconfirmed_txs", json!(null), "/n_txs"),
    ] {
        let answer = post(&node, request(1, method, params)).await;
        assert!(
            answer["result"].pointer(member).is_some(),
            "{method}: {answer}"
        );
    }

    let block = post(&node, request(1, "block", json!({}))).await["result"].clone();
    let hash = block["block_id"]["hash"].clone();
    assert_eq!(
        post(&node, request(1, "block_by_hash", json!({ "hash": hash }))).await["result"],
        block
    );
    node.end().await;
}

async fn abci_query(node: &TestNode, path: &str, data: &str) -> Value {
    let params = json!({ "path": path, "data": data });
    let answer = post(node, request(1, "abci_query", params)).await;
    answer["result"]["response"].clone()
}

#[tokio::test]
async fn failed_requests_are_explained() {
    let node = node().await;

    for (method, params, code, what) in [
        (
            "block",
            json!({ "height": "9" }),
            -32603,
            "must be less than or equal to the current blockchain height 0",
        ),
        (
            "block",
            json!({ "height": "x" }),
            -32602,
            "height: expected a number",
        ),
        (
            "block_by_hash",
            json!({ "hash": "00" }),
            -32602,
            "hash: expected 32 bytes",
        ),
        (
            "blockchain",
            json!({ "minHeight": "3" }),
            -32603,
            "min height 3",
        ),
        (
            "abci_query",
            json!({ "path": 5 }),
            -32602,
            "path: expected a text",
        ),
        (
            "abci_query",
            json!({ "path": {} }),
            -32602,
            "path: expected a text",
        ),
        (
            "health",
            vec![json!({ "": 0 }); 1_000].into(),
            -32700,
            "more than 32 parameters",
        ),
        (
            "tx",
            json!({ "hash": "AB".repeat(32) }),
            -32603,
            "not found",
        ),
        (
            "broadcast_tx_sync",
            json!({ "tx": "&" }),
            -32602,
            "tx: expected base64",
        ),
    ] {
        let error = post(&node, request(1, method, params)).await["error"].clone();

        assert_eq!(error["code"], code, "{method}: {error}");
        assert!(
            error["data"].as_str().expect("text").contains(what),
            "{method}: {error}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn rejected_abci_queries_have_the_codes_of_the_sdk() {
    let node = node().await;

    for (path, data, code, what) in [
        ("/store/bank/key", "", 6, "unknown query path"),
        (
            "/cosmos.nft.v1beta1.Query/Classes",
            "",
            6,
            "unknown query path",
        ),
        ("/cosmos.auth.v1beta1.Query/Account", "zz", 18, "not hex"),
        (
            "/cosmos.auth.v1beta1.Query/Account",
            "0a05",
            18,
            "no message of this query",
        ),
        (
            "/cosmos.auth.v1beta1.Query/Account",
            "0a0161",
            18,
            "invalid address",
        ),
        (
            "/cosmos.bank.v1beta1.Query/Balance",
            "",
            18,
            "invalid address",
        ),
        (
            "/cosmos.tx.v1beta1.Service/Simulate",
            "",
            18,
            "empty txBytes",
        ),
    ] {
        let response = abci_query(&node, path, data).await;
        assert_eq!(
            (&response["code"], &response["codespace"]),
            (&code.into(), &"sdk".into()),
            "{path}: {response}"
        );
        assert!(
            response["log"].as_str().expect("text").contains(what),
            "{path}: {response}"
        );
    }

    node.end().await;
}

#[tokio::test]
async fn a_closing_node_announces_its_end() {
    let node = node().await;
    let mut socket = connect(&node).await;
    ask(&mut socket, request(1, "health", json!({}))).await;
    node.end().await;
    assert_eq!(u16::from(socket.close_code().await), 1001);
}

//! Requests, responses and each row of the specification's error table (section 7).

use serde_json::{Value, json};

use crate::support::{TestNode, node, node_with};

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

async fn error_of(node: &TestNode, body: impl Into<reqwest::Body>) -> (i64, String, Value) {
    let response = node.post(body).await;
    let error = &response["error"];
    assert_eq!(response["jsonrpc"], "2.0", "{response}");
    (
        error["code"].as_i64().unwrap(),
        error["message"].as_str().unwrap().to_owned(),
        response["id"].clone(),
    )
}

#[tokio::test]
async fn invalid_json_is_a_parse_error() {
    let node = node().await;
    for body in ["", "{", "[1,", "{\"jsonrpc\":\"2.0\"", "\u{0}", "hello"] {
        assert_eq!(
            error_of(&node, body).await,
            (-32700, "Parse error".to_owned(), Value::Null),
            "{body}"
        );
    }
    assert_eq!(
        error_of(&node, &b"{\"jsonrpc\":\"2.0\xff\"}"[..]).await.0,
        -32700
    );
}

fn with(request: &Value, key: &str, value: Value) -> Value {
    let mut changed = request.clone();
    changed[key] = value;
    changed
}

fn without(request: &Value, key: &str) -> Value {
    let mut changed = request.clone();
    changed.as_object_mut().unwrap().remove(key);
    changed
}

#[tokio::test]
async fn json_other_than_a_request_is_an_invalid_request() {
    let node = node().await;
    let good = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []});
    let wrong = [
        json!(1),
        json!("eth_chainId"),
        json!(null),
        json!({}),
        without(&good, "jsonrpc"),
        without(&good, "id"),
        without(&good, "method"),
        with(&good, "jsonrpc", json!("1.0")),
        with(&good, "jsonrpc", json!(2.0)),
        with(&good, "id", json!(null)),
        with(&good, "id", json!(1.5)),
        with(&good, "id", json!({})),
        with(&good, "method", json!(7)),
        with(&good, "params", json!("latest")),
        with(&good, "params", json!(1)),
        with(&good, "params", json!(null)),
        json!([]),
    ];

    for body in wrong {
        let expected = (-32600, "Invalid request".to_owned(), Value::Null);
        assert_eq!(error_of(&node, body.to_string()).await, expected, "{body}");
    }
}

#[tokio::test]
async fn a_method_that_does_not_exist_is_not_found() {
    let node = node().await;
    for method in ["eth_nope", "", "eth_chainId ", "ETH_CHAINID", "rpc.x"] {
        let (code, message, id) = error_of(&node, request(method, json!([])).to_string()).await;
        assert_eq!(
            (code, message.as_str(), id),
            (-32601, "Method not found", json!(1)),
            "{method}"
        );
    }
}

#[tokio::test]
async fn invalid_params_are_named_with_their_position() {
    let node = node().await;
    let address = json!("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    for (method, params, data) in [
        ("eth_getBalance", json!([]), "params[0]: missing"),
        ("eth_getBalance", json!([address]), "params[1]: missing"),
        (
            "eth_getBalance",
            json!([7, "latest"]),
            "params[0]: expected a string, got a number",
        ),
        (
            "eth_getBalance",
            json!([null, "latest"]),
            "params[0]: expected a string, got null",
        ),
        (
            "eth_getBalance",
            json!(["f39f", "latest"]),
            "params[0]: expected hex data with 0x prefix",
        ),
        (
            "eth_getBalance",
            json!(["0xf39", "latest"]),
            "params[0]: expected hex data of even length",
        ),
        (
            "eth_getBalance",
            json!(["0xf39fd6e51aad88f6f4ce6ab8827279cfffb922", "latest"]),
            "params[0]: expected a 20-byte address, got 19 bytes",
        ),
        (
            "eth_getBalance",
            json!(["0xzz9fd6e51aad88f6f4ce6ab8827279cfffb92266", "latest"]),
            "params[0]: expected hex data, got a character that is no hex digit",
        ),
        (
            "eth_getBalance",
            json!([address, "newest"]),
            "params[1]: expected a quantity with 0x prefix, or one of latest, earliest, pending, safe, finalized",
        ),
        (
            "eth_getBalance",
            json!([address, "0x01"]),
            "params[1]: expected a quantity without leading zeros, or one of latest, earliest, pending, safe, finalized",
        ),
        (
            "eth_getBalance",
            json!([address, 1]),
            "params[1]: expected a string, got a number",
        ),
        (
            "eth_getBalance",
            json!([address, {}]),
            "params[1]: expected an object with blockNumber or blockHash",
        ),
        (
            "eth_getBalance",
            json!([address, "latest", 1]),
            "too many params: expected at most 2, got 3",
        ),
        (
            "eth_chainId",
            json!([1]),
            "too many params: expected at most 0, got 1",
        ),
        ("eth_chainId", json!({}), "params: expected an array"),
        (
            "eth_getTransactionByHash",
            json!(["0x12"]),
            "params[0]: expected a 32-byte hash, got 1 bytes",
        ),
        (
            "eth_call",
            json!(["0x12", "latest"]),
            "params[0]: expected a transaction object, got a string",
        ),
        (
            "eth_call",
            json!([{"to": "0x12"}, "latest"]),
            "params[0]: to: expected a 20-byte address, got 1 bytes",
        ),
        (
            "eth_call",
            json!([{"value": "7"}, "latest"]),
            "params[0]: value: expected a quantity with 0x prefix",
        ),
        (
            "eth_call",
            json!([{"data": "0x12", "input": "0x13"}, "latest"]),
            "params[0]: data and input differ; give one of them",
        ),
        (
            "eth_getLogs",
            json!([[]]),
            "params[0]: expected a filter object, got an array",
        ),
        (
            "eth_getLogs",
            json!([{"topics": ["0x12"]}]),
            "params[0]: topics: [0]: expected a 32-byte hash, got 1 bytes",
        ),
        (
            "eth_sendTransaction",
            json!([{}]),
            "params[0].from: missing",
        ),
    ] {
        let error = node.rpc_error(method, params.clone()).await;
        assert_eq!(
            error,
            json!({"code": -32602, "message": "Invalid params", "data": data}),
            "{method} {params}"
        );
    }
}

#[tokio::test]
async fn a_failure_of_the_node_is_an_internal_error() {
    // A chain whose withdrawal-request contract is broken: the next block cannot be built.
    let genesis = json!({
        "config": {"chainId": 7, "terminalTotalDifficulty": 0, "londonBlock": 0, "shanghaiTime": 0, "cancunTime": 0, "pragueTime": 0,
            "homesteadBlock": 0, "eip150Block": 0, "eip155Block": 0, "eip158Block": 0, "byzantiumBlock": 0,
            "constantinopleBlock": 0, "petersburgBlock": 0, "istanbulBlock": 0, "berlinBlock": 0},
        "gasLimit": "0x1c9c380", "difficulty": "0x0", "timestamp": "0x0",
        "alloc": {
            "0x00000961ef480eb55e80d19ad83579a64c007002": {"balance": "0x0", "code": "0xfe"},
            "0x0000bbddc7ce488642fb579f8b00f3a590007251": {"balance": "0x0", "code": "0x00"},
        },
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), genesis.to_string()).unwrap();
    let node = node_with(|config| config.genesis = Some(file.path().to_owned())).await;
    let error = node
        .rpc_error("eth_getBlockByNumber", json!(["pending", false]))
        .await;
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32603), &json!("Internal error"))
    );
    assert!(
        error["data"].as_str().unwrap().contains("system call"),
        "{error}"
    );
    node.end().await;
}

#[tokio::test]
async fn identifiers_are_returned_unchanged() {
    let node = node().await;
    for id in [
        "1",
        "0",
        "-5",
        "123456789012345678901234567890",
        "\"a\\\"b\"",
        "\"\"",
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"eth_chainId"}}"#);
        let text = node
            .http
            .post(node.rpc_url())
            .header("content-type", "application/json")
            .body(body);
        let text = text.send().await.unwrap().text().await.unwrap();
        assert_eq!(
            text,
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"0x7d"}}"#)
        );
    }
}

#[tokio::test]
async fn a_batch_with_errors_is_answered_in_order() {
    let node = node().await;
    let hash = "0x00000000000000000000000000000000000000000000000000000000deadbeef";
    let batch = json!([
        request("eth_chainId", json!([])),
        1,
        // Runs on a thread of its own, so that its response is written after the others.
        {"jsonrpc": "2.0", "id": 2, "method": "txpool_content"},
        {"jsonrpc": "2.0", "id": "x", "method": "eth_call", "params": [{"to": node.account(1)}, "latest"]},
        {"jsonrpc": "2.0", "id": 3, "method": "nope"},
        {"jsonrpc": "2.0", "id": 4, "method": "eth_getTransactionByHash", "params": [hash]},
    ]);

    let answers = node.post(batch.to_string()).await;
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 6);

    assert_eq!(answers[0]["result"], "0x7d");
    assert_eq!(
        (&answers[1]["id"], &answers[1]["error"]["code"]),
        (&Value::Null, &json!(-32600))
    );
    assert_eq!(
        (&answers[2]["id"], &answers[2]["result"]["queued"]),
        (&json!(2), &json!({}))
    );
    assert_eq!(
        (&answers[3]["id"], &answers[3]["result"]),
        (&json!("x"), &json!("0x"))
    );
    assert_eq!(
        (&answers[4]["id"], &answers[4]["error"]["code"]),
        (&json!(3), &json!(-32601))
    );
    assert_eq!(
        (&answers[5]["id"], &answers[5]["result"]),
        (&json!(4), &Value::Null)
    );
}

#[tokio::test]
async fn a_batch_over_the_limit_is_refused_as_a_whole() {
    let node = node().await;
    let batch = |count| Value::from(vec![request("eth_chainId", json!([])); count]).to_string();
    assert_eq!(
        node.post(batch(1_000)).await.as_array().unwrap().len(),
        1_000
    );
    let refused = node.post(batch(1_001)).await;
    assert_eq!(
        refused["error"],
        json!({"code": -32600, "message": "Invalid request", "data": "batch too large: at most 1000"})
    );
}

#[tokio::test]
async fn a_batch_of_sends_from_one_account_fits_into_blocks_together() {
    let node = node().await;
    let from = node.account(0);
    let to = node.account(1);
    let send = |id| json!({"jsonrpc": "2.0", "id": id, "method": "eth_sendTransaction", "params": [{"from": from, "to": to, "value": "0x1", "gas": "0x5208"}]});
    let answers = node
        .post(Value::from((0..20).map(send).collect::<Vec<_>>()).to_string())
        .await;
    for answer in answers.as_array().unwrap() {
        let receipt = node
            .rpc("eth_getTransactionReceipt", json!([answer["result"]]))
            .await;
        assert_eq!(receipt["status"], "0x1", "{answer}");
    }
    assert_eq!(
        node.rpc("eth_getTransactionCount", json!([from, "latest"]))
            .await,
        "0x14"
    );
}

/// A node for clients of go-ethereum.
async fn ethereum_node() -> TestNode {
    node_with(|config| config.rpc.dialect = tetrad_rpc::rpc::Dialect::Ethereum).await
}

/// The status, content type and body of the response to a body.
async fn response_to(node: &TestNode, body: &str) -> (u16, String, String) {
    let request = node
        .http
        .post(node.rpc_url())
        .header("content-type", "application/json")
        .body(body.to_owned());
    let response = request.send().await.unwrap();
    let content_type = response.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    (
        response.status().as_u16(),
        content_type,
        response.text().await.unwrap(),
    )
}

#[tokio::test]
async fn the_ethereum_dialect_accepts_null_identifiers_and_parameters() {
    let node = ethereum_node().await;
    for id in ["null", "1.5", "1e3", "7", "\"x\""] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"eth_chainId","params":null}}"#);
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"0x7d"}}"#);
        assert_eq!(response_to(&node, &body).await.2, expected);
        let batch = response_to(&node, &format!("[{body}]")).await.2;
        assert_eq!(batch, format!("[{expected}]"));
    }
    let error = node
        .post(r#"{"jsonrpc":"2.0","id":null,"method":"eth_getBalance"}"#)
        .await;
    assert_eq!(
        (&error["id"], &error["error"]["message"]),
        (&Value::Null, &json!("params[0]: missing"))
    );
    for id in ["true", "{}", "[]"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"eth_chainId"}}"#);
        assert_eq!(node.post(body).await["error"]["code"], -32600, "{id}");
    }
}

#[tokio::test]
async fn the_ethereum_dialect_executes_notifications_without_a_response() {
    let node = ethereum_node().await;
    let nothing = (200, "application/json".to_owned(), String::new());

    let mine = r#"{"jsonrpc":"2.0","method":"evm_mine"}"#;
    assert_eq!(response_to(&node, mine).await, nothing);
    assert_eq!(
        response_to(&node, &format!("[{mine},{mine}]")).await,
        nothing
    );
    assert_eq!(node.block_number().await, 3);

    // Errors, long executions and long results are not answered either.
    for silent in [
        r#"{"jsonrpc":"2.0","method":"eth_nope"}"#,
        r#"{"jsonrpc":"2.0","method":"eth_getBalance"}"#,
        r#"{"jsonrpc":"2.0","method":"txpool_content"}"#,
        r#"{"jsonrpc":"2.0","method":"eth_call","params":[{}]}"#,
    ] {
        assert_eq!(response_to(&node, silent).await, nothing, "{silent}");
        assert_eq!(
            response_to(&node, &format!("[{silent}]")).await,
            nothing,
            "{silent}"
        );
    }

    // An invalid request is still an error, and the rest of a batch is answered.
    assert_eq!(
        node.post(r#"{"jsonrpc":"2.0","params":[]}"#).await["error"]["code"],
        -32600
    );

    let chain_id = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    let txpool = r#"{"jsonrpc":"2.0","id":2,"method":"txpool_content"}"#;
    let batch = node
        .post(format!("[{mine},{txpool},{mine},{chain_id},1,{mine}]"))
        .await;
    let answers: Vec<_> = batch
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["id"].clone())
        .collect();

    assert_eq!(answers, [json!(2), json!(1), Value::Null]);
    assert_eq!(node.block_number().await, 6);
}

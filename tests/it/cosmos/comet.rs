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
async fn new_blocks_are_told_to_subscribers() {
    let node = node().await;
    let mut socket = connect(&node).await;
    let query = "tm.event='NewBlock'";
    assert_eq!(
        ask(&mut socket, request(7, "subscribe", json!({ "query": query }))).await,
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
    assert_eq!(ask(&mut socket, request(9, "unsubscribe_all", json!({}))).await["id"], 9);
    node.mine().await;
    assert_eq!(ask(&mut socket, request(10, "status", json!({}))).await["id"], 10, "nothing came in between");
    node.end().await;
}

#[tokio::test]
async fn what_is_not_understood_is_refused_and_the_connection_stays() {
    let node = node().await;
    let mut socket = connect(&node).await;
    let status = ask(&mut socket, request(1, "status", json!({}))).await;
    assert_eq!(status["result"]["node_info"], node.get_json("/status").await["result"]["node_info"]);
    assert_eq!(ask(&mut socket, request(2, "health", json!(null))).await["result"], json!({}));
    for (body, code) in [
        (request(3, "broadcast_tx_sync", json!({ "tx": "" })), -32601),
        (request(4, "subscribe", json!({ "query": "tm.event='Tx'" })), -32603),
        (request(5, "subscribe", json!({})), -32602),
        (request(6, "unsubscribe", json!({ "query": "tm.event='NewBlock'" })), -32603),
    ] {
        let answer = ask(&mut socket, body.clone()).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&code.into(), &body["id"]), "{answer}");
    }
    for garbage in ["", "{", "[]", "null", r#"{"method":1}"#] {
        socket.send(garbage).await;
        assert_eq!(socket.json().await["error"]["code"], -32700, "{garbage}");
    }
    node.end().await;
}

#[tokio::test]
async fn the_end_of_the_node_is_announced() {
    let node = node().await;
    let mut socket = connect(&node).await;
    ask(&mut socket, request(1, "health", json!({}))).await;
    node.end().await;
    assert_eq!(u16::from(socket.close_code().await), 1001);
}

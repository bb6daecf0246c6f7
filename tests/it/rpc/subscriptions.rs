//! WebSocket: requests and subscriptions.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, client_async, connect_async,
    tungstenite::{Message, protocol::frame::coding::CloseCode},
};

use crate::support::{TestNode, node, node_with};

struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    async fn connect(node: &TestNode) -> Self {
        Self(connect_async(node.ws_url()).await.unwrap().0)
    }

    async fn send(&mut self, text: impl ToString) {
        self.0.send(Message::text(text.to_string())).await.unwrap();
    }

    /// The next message other than a ping.
    async fn next(&mut self) -> Value {
        loop {
            match self.0.next().await.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn rpc(&mut self, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            .await;
        let answer = self.next().await;
        answer
            .get("result")
            .unwrap_or_else(|| panic!("{method}: {answer}"))
            .clone()
    }

    async fn notification(&mut self, subscription: &Value) -> Value {
        let message = self.next().await;
        assert_eq!(
            (&message["jsonrpc"], &message["method"]),
            (&json!("2.0"), &json!("eth_subscription"))
        );
        assert_eq!(
            &message["params"]["subscription"], subscription,
            "{message}"
        );
        message["params"]["result"].clone()
    }
}

#[tokio::test]
async fn requests_and_batches_are_answered_as_over_http() {
    let node = node().await;
    let mut socket = Socket::connect(&node).await;
    assert_eq!(socket.rpc("eth_chainId", json!([])).await, "0x7d");
    socket.send("{").await;
    assert_eq!(socket.next().await["error"]["code"], -32700);
    socket
        .send(
            r#"[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},{"jsonrpc":"2.0","id":2,"method":"eth_blockNumber"}]"#,
        )
        .await;
    assert_eq!(socket.next().await.as_array().unwrap().len(), 2);
    socket
        .0
        .send(Message::binary(
            br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#.to_vec(),
        ))
        .await
        .unwrap();
    assert_eq!(socket.next().await["result"], "0x7d");
}

#[tokio::test]
async fn new_heads_have_the_shape_of_blocks() {
    let node = node().await;
    let mut socket = Socket::connect(&node).await;
    let id = socket.rpc("eth_subscribe", json!(["newHeads"])).await;
    for _ in 0..3 {
        node.rpc("evm_mine", json!([])).await;
        let head = socket.notification(&id).await;
        let block = node
            .rpc("eth_getBlockByNumber", json!(["latest", false]))
            .await;
        for (key, value) in head.as_object().unwrap() {
            assert_eq!(value, &block[key], "{key}");
        }
        assert!(head.get("transactions").is_none());
    }
}

#[tokio::test]
async fn logs_are_sent_when_added_and_when_removed() {
    let node = node().await;
    let token = node.config().network.tokens[0].address;
    let mut socket = Socket::connect(&node).await;
    let id = socket
        .rpc("eth_subscribe", json!(["logs", {"address": token}]))
        .await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    let data = format!("0xa9059cbb{:0>64}{:0>64}", "aa", "1");
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "to": token, "data": data}]),
        )
        .await;
    let log = socket.notification(&id).await;
    assert_eq!(
        (&log["transactionHash"], &log["removed"]),
        (&hash, &json!(false))
    );
    node.rpc("evm_revert", json!([snapshot])).await;
    let log = socket.notification(&id).await;
    assert_eq!(
        (&log["transactionHash"], &log["removed"]),
        (&hash, &json!(true))
    );
}

#[tokio::test]
async fn pending_transactions_are_sent_as_hashes_or_in_full() {
    let node = node_with(|config| config.no_mining = true).await;
    let mut hashes = Socket::connect(&node).await;
    let mut whole = Socket::connect(&node).await;
    let of_hashes = hashes
        .rpc("eth_subscribe", json!(["newPendingTransactions"]))
        .await;
    let of_whole = whole
        .rpc("eth_subscribe", json!(["newPendingTransactions", true]))
        .await;
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "to": node.account(1)}]),
        )
        .await;
    assert_eq!(hashes.notification(&of_hashes).await, hash);
    let transaction = whole.notification(&of_whole).await;
    assert_eq!(
        (&transaction["hash"], &transaction["blockHash"]),
        (&hash, &Value::Null)
    );
}

#[tokio::test]
async fn an_unsubscribed_client_gets_no_more_events() {
    let node = node().await;
    let mut socket = Socket::connect(&node).await;
    let id = socket.rpc("eth_subscribe", json!(["newHeads"])).await;
    assert_eq!(socket.rpc("eth_unsubscribe", json!([id])).await, true);
    node.rpc("evm_mine", json!([])).await;
    assert_eq!(socket.rpc("eth_chainId", json!([])).await, "0x7d");
    socket
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "eth_unsubscribe", "params": [id]}))
        .await;
    assert_eq!(
        socket.next().await["error"],
        json!({"code": -32000, "message": "subscription not found"})
    );
}

#[tokio::test]
async fn a_method_is_known_however_its_name_is_escaped() {
    let node = node().await;
    let mut socket = Socket::connect(&node).await;
    socket
        .send(r#"{"jsonrpc":"2.0","id":1,"method":"eth_\u0073ubscribe","params":["newHeads"]}"#)
        .await;
    let id = socket.next().await["result"].clone();
    assert_eq!(socket.rpc("eth_unsubscribe", json!([id])).await, true);
}

#[tokio::test]
async fn invalid_subscriptions_are_named() {
    let node = node_with(|config| config.rpc.max_subscriptions = 1).await;
    let mut socket = Socket::connect(&node).await;
    for (params, data) in [
        (json!([]), "params[0]: missing"),
        (json!(["nope"]), "params[0]: no \"nope\" subscription"),
        (
            json!(["logs", {"address": "0x12"}]),
            "params[1]: address: expected a 20-byte address, got 1 bytes",
        ),
    ] {
        socket
            .send(json!({"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": params}))
            .await;
        assert_eq!(
            socket.next().await["error"],
            json!({"code": -32602, "message": "Invalid params", "data": data})
        );
    }
    socket.rpc("eth_subscribe", json!(["newHeads"])).await;
    socket
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"]}))
        .await;
    assert_eq!(
        socket.next().await["error"]["message"],
        "too many subscriptions: at most 1 for a connection"
    );
    let over_http = node.rpc_error("eth_subscribe", json!(["newHeads"])).await;
    assert_eq!(over_http["code"], -32601);
}

#[tokio::test]
async fn a_subscription_with_many_alternatives_counts_as_several() {
    let node = node_with(|config| config.rpc.max_subscriptions = 5).await;
    let mut socket = Socket::connect(&node).await;
    let addresses: Vec<_> = (0..90u64).map(|n| format!("{n:#042x}")).collect();
    socket
        .rpc("eth_subscribe", json!(["logs", {"address": addresses}]))
        .await;
    socket
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"]}))
        .await;
    assert_eq!(
        socket.next().await["error"]["message"],
        "too many subscriptions: at most 5 for a connection"
    );
}

#[tokio::test]
async fn a_message_over_the_limit_ends_the_connection() {
    let node = node_with(|config| config.rpc.max_body = 10_000).await;
    let mut socket = Socket::connect(&node).await;
    let _ = socket.0.send(Message::text("x".repeat(20_000))).await;
    while let Some(Ok(message)) = socket.0.next().await {
        assert!(
            matches!(message, Message::Close(_) | Message::Ping(_)),
            "{message:?}"
        );
    }
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");
}

#[tokio::test]
async fn a_shutdown_is_announced() {
    let node = node().await;
    let mut socket = Socket::connect(&node).await;
    socket.rpc("eth_subscribe", json!(["newHeads"])).await;
    let end = tokio::spawn(node.end());
    loop {
        match socket.0.next().await.unwrap().unwrap() {
            Message::Close(Some(frame)) => {
                assert_eq!(frame.code, CloseCode::Away);
                break;
            }
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
    drop(socket);
    end.await.unwrap();
}

#[tokio::test]
async fn no_block_of_many_at_once_is_missed() {
    let node = node().await;
    let mut socket = Socket::connect(&node).await;
    let subscription = socket.rpc("eth_subscribe", json!(["newHeads"])).await;
    let first = node.chain().head().number();
    // More than the chain holds for receivers that fall behind.
    node.rpc("evm_mine", json!([{"blocks": 3_000}])).await;
    for number in first + 1..=first + 3_000 {
        assert_eq!(
            socket.notification(&subscription).await["number"],
            format!("{number:#x}")
        );
    }
}

/// A client that stops reading costs the node only the system's buffers, and gets the reason of its
/// disconnection when it reads again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_disconnected_with_a_reason() {
    let node =
        node_with(|config| config.rpc.write_timeout = std::time::Duration::from_millis(50)).await;

    let address = node
        .ws_url()
        .trim_start_matches("ws://")
        .trim_end_matches("/rpc")
        .parse()
        .unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    let stream = MaybeTlsStream::Plain(socket.connect(address).await.unwrap());

    let mut socket = Socket(client_async(node.ws_url(), stream).await.unwrap().0);
    socket.rpc("eth_subscribe", json!(["newHeads"])).await;

    let mut mined = 0;
    while !node
        .get("/metrics")
        .await
        .text()
        .await
        .unwrap()
        .contains("tetrad_rpc_sockets_cut_total 1")
    {
        node.rpc("anvil_mine", json!(["0x400"])).await;
        mined += 1_024;
        assert!(
            mined < 1 << 17,
            "{mined} blocks, and the client is still connected"
        );
    }

    let mut read = 0;
    let frame = loop {
        match socket.0.next().await.unwrap().unwrap() {
            Message::Close(frame) => break frame.unwrap(),
            _ => read += 1,
        }
    };

    assert_eq!(
        (frame.code, frame.reason.as_str()),
        (CloseCode::Policy, "the connection reads too slowly")
    );
    assert!(read < mined, "{read} of {mined} messages were kept");

    while !node
        .get("/metrics")
        .await
        .text()
        .await
        .unwrap()
        .contains("tetrad_rpc_sockets 0")
    {
        tokio::task::yield_now().await;
    }

    node.end().await;
}

#[tokio::test]
async fn a_batch_may_subscribe_and_unsubscribe() {
    let node = node().await;
    let mut socket = Socket::connect(&node).await;
    let request = |id: usize, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    // The block is sealed before the batch is answered, and its header comes after the answer.
    socket
        .send(json!([
            request(1, "eth_subscribe", json!(["newHeads"])),
            request(2, "evm_mine", json!([])),
            request(3, "eth_subscribe", json!(["nonsense"])),
            1,
            request(4, "eth_subscribe", json!(["logs"])),
        ]))
        .await;
    let answers = socket.next().await;
    let ids: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["id"].clone())
        .collect();
    assert_eq!(ids, [json!(1), json!(2), json!(3), Value::Null, json!(4)]);
    assert_eq!(answers[2]["error"]["code"], -32602);
    let heads = answers[0]["result"].clone();
    let logs = answers[4]["result"].clone();
    assert_eq!(socket.notification(&heads).await["number"], "0x1");

    socket
        .send(json!([
            request(1, "eth_unsubscribe", json!([heads])),
            request(2, "eth_unsubscribe", json!([logs])),
            request(3, "eth_unsubscribe", json!([heads])),
            request(4, "evm_mine", json!([])),
        ]))
        .await;
    let answers = socket.next().await;
    assert_eq!(
        (&answers[0]["result"], &answers[1]["result"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(answers[2]["error"]["message"], "subscription not found");
    assert_eq!(socket.rpc("eth_blockNumber", json!([])).await, "0x2");
}

#[tokio::test]
async fn the_ethereum_dialect_does_not_answer_notifications_over_websocket() {
    let node = node_with(|config| config.rpc.dialect = tetrad_rpc::rpc::Dialect::Ethereum).await;
    let mut socket = Socket::connect(&node).await;
    socket
        .send(r#"{"jsonrpc":"2.0","method":"evm_mine"}"#)
        .await;
    socket.send(r#"[{"jsonrpc":"2.0","method":"evm_mine"},{"jsonrpc":"2.0","method":"eth_unsubscribe"}]"#).await;
    socket
        .send(r#"{"jsonrpc":"2.0","method":"eth_subscribe","params":["newHeads"]}"#)
        .await;
    // The subscription's identifier is unknown to the client, but it has one.
    while node.block_number().await < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    socket
        .send(r#"{"jsonrpc":"2.0","id":null,"method":"eth_chainId"}"#)
        .await;
    let answer = loop {
        let message = socket.next().await;
        if message["method"] != "eth_subscription" {
            break message;
        }
    };
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": null, "result": "0x7d"})
    );
}

#[tokio::test]
async fn a_log_subscription_applies_its_block_range() {
    let node = node().await;
    let mut socket = Socket::connect(&node).await;
    let within = socket
        .rpc(
            "eth_subscribe",
            json!(["logs", {"fromBlock": "0x2", "toBlock": "0x3"}]),
        )
        .await;

    let token = node.config().network.tokens[0].address;
    let data = format!("0xa9059cbb{:0>64}{:064x}", "aa", 1);
    for _ in 0..4 {
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "to": token, "data": data}]),
        )
        .await;
    }

    for block in ["0x2", "0x3"] {
        assert_eq!(socket.notification(&within).await["blockNumber"], block);
    }

    // No event of the fourth block precedes the response to this request.
    assert_eq!(socket.rpc("eth_blockNumber", json!([])).await, "0x4");

    for (bounds, what) in [
        (
            json!({"fromBlock": "0x5", "toBlock": "0x4"}),
            "invalid block range params",
        ),
        (json!({"toBlock": "0x3"}), "invalid block range params"),
        (
            json!({"fromBlock": "pending"}),
            "pending logs are not supported",
        ),
        (
            json!({"blockHash": format!("0x{:064x}", 7)}),
            "unknown block",
        ),
    ] {
        socket.send(json!({"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["logs", bounds]})).await;
        let error = socket.next().await["error"].clone();
        assert!(
            [&error["data"], &error["message"]].contains(&&json!(what)),
            "{bounds}: {error}"
        );
    }
}

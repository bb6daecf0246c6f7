//! Slow and failing requests, and WebSockets that are cut.

use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tetrad::scenario::READY_MADE;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_tungstenite::{connect_async, tungstenite::Message};

use super::{done, start, stop};
use crate::support::{TestNode, manual_clock, node, node_at, node_with};

const REQUEST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;

async fn call(node: &TestNode, query: &str) -> (u16, Value) {
    let request = node
        .http
        .post(format!("{}{query}", node.rpc_url()))
        .header("content-type", "application/json");
    let response = request.body(REQUEST).send().await.expect("an answer");
    (
        response.status().as_u16(),
        response.json().await.expect("JSON"),
    )
}

fn fault(fields: &str) -> String {
    format!("name = \"fault\"\nlasts = \"1h\"\n[[step]]\nat = \"0s\"\nfault = {{ {fields} }}")
}

#[tokio::test]
async fn requests_of_one_client_fail_at_regular_intervals() {
    let node = node().await;
    let id = start(
        &node,
        &fault("client = \"wallet\", errors = \"50%\", status = 502"),
    )
    .await;
    done(&node, id, 0).await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let (status, body) = call(&node, "?client=wallet").await;
        if status == 502 {
            assert_eq!(body["error"]["code"], -32603);
        }
        statuses.push(status);
        assert_eq!(
            call(&node, "").await,
            (200, json!({"jsonrpc": "2.0", "id": 1, "result": "0x7d"}))
        );
        assert_eq!(call(&node, "?client=other").await.0, 200);
    }
    assert_eq!(statuses, [200, 502, 200, 502]);
    assert_eq!(stop(&node, id).await["state"], "stopped");
    for _ in 0..3 {
        assert_eq!(call(&node, "?client=wallet").await.0, 200);
    }
    node.end().await;
}

#[tokio::test]
async fn a_client_is_also_identified_by_header_and_by_address() {
    let node = node().await;
    let id = start(&node, &fault("client = \"wallet\", errors = \"100%\"")).await;
    done(&node, id, 0).await;
    let named = node
        .http
        .post(node.rpc_url())
        .header("content-type", "application/json")
        .header("x-client", "wallet");
    assert_eq!(
        named
            .body(REQUEST)
            .send()
            .await
            .expect("an answer")
            .status(),
        503
    );
    stop(&node, id).await;
    let id = start(&node, &fault("client = \"127.0.0.0/8\", errors = \"100%\"")).await;
    done(&node, id, 0).await;
    assert_eq!(call(&node, "").await.0, 503);
    // REST still works, and the scenario can be stopped.
    assert_eq!(node.get("/api/prices").await.status(), 200);
    stop(&node, id).await;
    assert_eq!(call(&node, "").await.0, 200);
    node.end().await;
}

#[tokio::test]
async fn failing_rest_requests_have_the_shape_of_rest_errors() {
    let node = node_with(|config| config.rate_limit = 0).await;
    let id = start(
        &node,
        &fault("interface = \"rest\", errors = \"100%\", status = 500"),
    )
    .await;
    done(&node, id, 0).await;
    let response = node.get("/api/prices").await;
    assert_eq!(response.status(), 500);
    let body: Value = response.json().await.expect("JSON");
    assert_eq!(
        (&body["success"], &body["error"]),
        (&false.into(), &"scenario".into())
    );
    let metrics = node.get("/metrics").await.text().await.expect("text");
    let counted = r#"tetrad_http_requests_total{interface="exchange",status="500"} 1"#;
    assert!(
        metrics.contains(counted),
        "failing requests are counted: {metrics}"
    );
    assert_eq!(call(&node, "").await.0, 200);
    for path in ["/health", "/ready", "/metrics"] {
        assert_eq!(node.get(path).await.status(), 200, "{path}");
    }
    node.end().await;
}

/// Without these headers a browser hides the status from the page.
#[tokio::test]
async fn pages_can_read_failed_responses() {
    let node = node().await;
    for interface in ["rpc", "rest"] {
        let fields = format!("interface = \"{interface}\", errors = \"100%\"");
        done(&node, start(&node, &fault(&fields)).await, 0).await;
    }
    let rpc = node
        .http
        .post(node.rpc_url())
        .header("content-type", "application/json")
        .body(REQUEST);
    for request in [
        rpc,
        node.http.get(format!("{}/api/prices", node.rest_url())),
    ] {
        let response = request
            .header("origin", "https://dapp.example")
            .send()
            .await
            .expect("an answer");
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["access-control-allow-origin"], "*");
    }
    node.end().await;
}

/// hyper waits for the rest of the body, which a disconnected client never sends.
#[tokio::test]
async fn a_client_that_disconnects_before_a_late_response_frees_its_connection() {
    // The second connection belongs to the client that starts the scenario. It is idle afterwards,
    // and stays open.
    let node = node_with(|config| {
        config.listener.connections = 2;
        config.listener.header_timeout = Duration::from_secs(3_600);
    })
    .await;
    let id = start(
        &node,
        &fault("interface = \"rest\", client = \"wallet\", latency = \"60s\""),
    )
    .await;
    done(&node, id, 0).await;
    let mut stream = TcpStream::connect(node.address())
        .await
        .expect("a connection");
    let head = "GET /api/prices?client=wallet HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\nexpect: 100-continue";
    stream
        .write_all(format!("{head}\r\n\r\n").as_bytes())
        .await
        .expect("sent");
    drop(stream);

    let mut stream = TcpStream::connect(node.address())
        .await
        .expect("a connection");
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .expect("sent");
    let mut answer = String::new();
    let read = timeout(Duration::from_secs(30), stream.read_to_string(&mut answer)).await;
    read.expect("the place of the disconnected client")
        .expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    node.end().await;
}

/// The JSON of a message that must arrive.
fn parsed(message: Option<Result<Message, tokio_tungstenite::tungstenite::Error>>) -> Value {
    let message = message.expect("an open connection").expect("a message");
    serde_json::from_str(message.to_text().expect("text")).expect("JSON")
}

#[tokio::test]
async fn a_late_websocket_keeps_its_order() {
    let node = node().await;
    let (mut socket, _) = connect_async(format!("{}?client=wallet", node.ws_url()))
        .await
        .expect("a WebSocket");
    let id = start(&node, &fault("client = \"wallet\", latency = \"200ms\"")).await;
    done(&node, id, 0).await;
    let subscribe = r#"{"jsonrpc":"2.0","id":7,"method":"eth_subscribe","params":["newHeads"]}"#;
    socket.send(Message::text(subscribe)).await.expect("sent");

    // Blocks are mined until the first message comes, so some of them are reported while the answer
    // is late.
    let first = loop {
        tokio::select! {
            message = socket.next() => break message,
            () = node.mine() => {}
        }
    };

    node.mine().await;
    node.mine().await;

    assert_eq!(parsed(first)["id"], 7);
    let one = parsed(socket.next().await);
    let other = parsed(socket.next().await);
    let number = |event: &Value| crate::support::number(&event["params"]["result"]["number"]);
    assert_eq!(number(&one) + 1, number(&other));
    node.end().await;
}

#[tokio::test]
async fn a_bad_connection_affects_one_client_only() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |_| {}).await;
    let document = READY_MADE
        .iter()
        .find(|(name, _)| *name == "bad-connection")
        .expect("a scenario")
        .1;
    let id = start(&node, document).await;
    done(&node, id, 0).await;

    let calls = (0..5).map(|_| call(&node, "?client=wallet"));
    let failed = futures_util::future::join_all(calls)
        .await
        .iter()
        .filter(|(status, _)| *status == 503)
        .count();
    assert_eq!(failed, 1);
    assert_eq!(call(&node, "").await.0, 200);

    let (mut other, _) = connect_async(node.ws_url()).await.expect("a WebSocket");
    for seconds in [30, 90] {
        let (mut socket, _) = connect_async(format!("{}?client=wallet", node.ws_url()))
            .await
            .expect("a WebSocket");
        socket.send(Message::text(REQUEST)).await.expect("sent");
        assert!(socket.next().await.expect("an open connection").is_ok());
        clock.advance(seconds * 1_000);
        assert!(!closed_properly(&mut socket).await);
    }

    other.send(Message::text(REQUEST)).await.expect("sent");
    assert!(other.next().await.expect("an open connection").is_ok());
    node.end().await;
}

#[tokio::test]
async fn responses_are_late_over_http_and_websocket() {
    let node = node().await;
    let (mut socket, _) = connect_async(format!("{}?client=wallet", node.ws_url()))
        .await
        .expect("a WebSocket");
    let id = start(&node, &fault("client = \"wallet\", latency = \"300ms\"")).await;
    done(&node, id, 0).await;
    let began = Instant::now();
    assert_eq!(call(&node, "?client=wallet").await.0, 200);
    assert!(began.elapsed() >= Duration::from_millis(300));
    let began = Instant::now();
    socket.send(Message::text(REQUEST)).await.expect("sent");
    let answer = socket
        .next()
        .await
        .expect("an open connection")
        .expect("a message");
    assert!(answer.to_text().expect("text").contains("0x7d"));
    assert!(began.elapsed() >= Duration::from_millis(300));
    stop(&node, id).await;
    node.end().await;
}

/// Waits for the end of a connection. Returns whether there was a close frame.
async fn closed_properly<S>(socket: &mut S) -> bool
where
    S: StreamExt<Item = Result<Message, tokio_tungstenite::tungstenite::Error>> + Unpin,
{
    let ending = async {
        loop {
            match socket.next().await {
                Some(Ok(Message::Close(_))) => return true,
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return false,
            }
        }
    };
    tokio::time::timeout(super::WAIT_TIMEOUT, ending)
        .await
        .expect("an end in time")
}

#[tokio::test]
async fn websockets_of_a_client_are_cut_without_a_close_frame() {
    let node = node().await;
    let (mut cut, _) = connect_async(format!("{}?client=wallet", node.ws_url()))
        .await
        .expect("a WebSocket");
    let (mut other, _) = connect_async(node.ws_url()).await.expect("a WebSocket");
    let mut prices = node.price_socket().await;

    let id = start(&node, &fault("client = \"wallet\", cut = true")).await;
    assert!(!closed_properly(&mut cut).await);
    done(&node, id, 0).await;

    other.send(Message::text(REQUEST)).await.expect("sent");
    let answer = other
        .next()
        .await
        .expect("an open connection")
        .expect("a message");
    assert!(answer.to_text().expect("text").contains("0x7d"));

    prices.send(r#"{"type":"ping"}"#).await;
    assert_eq!(prices.json().await["type"], "pong");

    // A new connection is accepted.
    let (mut again, _) = connect_async(format!("{}?client=wallet", node.ws_url()))
        .await
        .expect("a WebSocket");
    again.send(Message::text(REQUEST)).await.expect("sent");
    assert!(again.next().await.expect("an open connection").is_ok());

    let all = start(&node, &fault("interface = \"prices\", cut = true")).await;
    done(&node, all, 0).await;
    let (mut late, _) = connect_async(node.exchange_ws_url())
        .await
        .expect("a WebSocket");
    start(&node, &fault("interface = \"prices\", cut = true")).await;
    assert!(!closed_properly(&mut late).await);
    node.end().await;
}

#[tokio::test]
async fn a_message_that_fails_loses_its_websocket() {
    let node = node().await;
    let (mut socket, _) = connect_async(format!("{}?client=wallet", node.ws_url()))
        .await
        .expect("a WebSocket");
    let id = start(&node, &fault("client = \"wallet\", errors = \"100%\"")).await;
    done(&node, id, 0).await;
    let head = node.block_number().await;
    socket
        .send(Message::text(
            r#"{"jsonrpc":"2.0","id":1,"method":"evm_mine","params":[]}"#,
        ))
        .await
        .expect("sent");
    assert!(!closed_properly(&mut socket).await);
    assert_eq!(node.block_number().await, head, "the request has no effect");
    // The upgrade of another WebSocket is a request, and fails as well.
    assert!(
        connect_async(format!("{}?client=wallet", node.ws_url()))
            .await
            .is_err()
    );
    node.end().await;
}

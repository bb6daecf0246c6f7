//! The number of connections of a listener.

use std::time::Duration;

use futures_util::{FutureExt, SinkExt, StreamExt};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{connect_async, tungstenite::Message};

use crate::support::{node, node_with};

/// Upper limit of a wait.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// A WebSocket takes one of the listener's places for as long as it is open.
#[tokio::test]
async fn a_web_socket_counts_until_it_ends() {
    let node = node_with(|config| config.listener.connections = 1).await;
    for path in ["/rpc", "/ws"] {
        let (mut socket, _) = connect_async(format!("ws://{}{path}", node.address()))
            .await
            .expect("a socket");
        let request = tokio::spawn(node.http.get(format!("{}/health", node.rest_url())).send());
        let mut request = std::pin::pin!(request);

        // The request would have been answered long before.
        for _ in 0..50 {
            socket
                .send(Message::Ping(Default::default()))
                .await
                .expect("the message is sent");
            while !matches!(socket.next().await, Some(Ok(Message::Pong(_)))) {}
        }
        assert!(request.as_mut().now_or_never().is_none(), "{path}");

        drop(socket);
        let response = request.await.expect("no panic").expect("an answer");
        assert_eq!(response.status(), 200);

        // The connection is kept alive, and it is the only one that is allowed.
        assert_eq!(response.headers().get("connection"), None);
        drop(response);
        node.http
            .get(format!("{}/health", node.rest_url()))
            .header("connection", "close")
            .send()
            .await
            .expect("an answer");
    }
    node.end().await;
}

/// While hyper has a request, it does not read further, and so not the end of the stream either.
#[tokio::test]
async fn the_disconnection_of_a_pipelining_client_is_noticed() {
    let node = node_with(|config| config.listener.connections = 1).await;
    // A contract that never ends, a hundred times.
    let endless = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [{"data": "0x5b5f56"}, "latest"]});
    let body = json!(vec![endless; 100]).to_string();
    let head = "POST /rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
    let request = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let mut stream = TcpStream::connect(node.address())
        .await
        .expect("a connection");
    stream
        .write_all(request.repeat(2).as_bytes())
        .await
        .expect("the requests are sent");
    drop(stream);

    let request = node
        .http
        .get(format!("{}/health", node.rest_url()))
        .timeout(RESPONSE_TIMEOUT)
        .send();
    assert_eq!(
        request
            .await
            .expect("the place of the disconnected client")
            .status(),
        200
    );
    node.end().await;
}

/// Reads the head of a response and its body, which has a content length.
async fn response(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let mut byte = [0];
    while !read.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut byte).await.expect("no reset");
        assert_eq!(
            count,
            1,
            "the connection was closed: {}",
            String::from_utf8_lossy(&read)
        );
        read.push(byte[0]);
    }
    let head = String::from_utf8(read).expect("text").to_ascii_lowercase();
    let length = head
        .split("content-length: ")
        .nth(1)
        .and_then(|rest| rest.lines().next());
    let mut body = vec![0; length.expect("a length").parse().expect("a number")];
    stream.read_exact(&mut body).await.expect("a body");
    head
}

/// Requests that are refused before their body is read: by host, path, content type, encoding and
/// length.
const REFUSED: [(&str, &str, &str); 5] = [
    (
        "POST /rpc",
        "host: foreign.example\r\ncontent-type: application/json",
        "403",
    ),
    ("POST /nothing", "host: localhost", "404"),
    (
        "POST /rpc",
        "host: localhost\r\ncontent-type: text/plain",
        "415",
    ),
    (
        "POST /rpc",
        "host: localhost\r\ncontent-type: application/json\r\ncontent-encoding: gzip",
        "415",
    ),
    (
        "POST /api/faucet",
        "host: localhost\r\ncontent-type: application/json",
        "413",
    ),
];

#[tokio::test]
async fn an_early_refusal_leaves_the_connection_usable() {
    let node = node().await;
    let mut stream = TcpStream::connect(node.address())
        .await
        .expect("a connection");
    for (request, headers, status) in REFUSED {
        let head = format!("{request} HTTP/1.1\r\n{headers}\r\ncontent-length: 300000\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("room");
        stream.write_all(&[b' '; 300_000]).await.expect("room");
        let head = response(&mut stream).await;
        assert!(
            head.starts_with(&format!("http/1.1 {status}")),
            "{request}: {head}"
        );
        assert!(!head.contains("connection: close"), "{request}: {head}");
    }
    node.end().await;
}

#[tokio::test]
async fn a_refusal_announces_that_it_closes_the_connection() {
    let node = node().await;
    for (request, headers, status) in REFUSED {
        // The client waits for the response in the middle of its body.
        let mut stream = TcpStream::connect(node.address())
            .await
            .expect("a connection");
        let head = format!("{request} HTTP/1.1\r\n{headers}\r\ncontent-length: 300000\r\n\r\n123");
        stream.write_all(head.as_bytes()).await.expect("room");
        let head = response(&mut stream).await;
        assert!(
            head.starts_with(&format!("http/1.1 {status}")),
            "{request}: {head}"
        );
        assert!(head.contains("connection: close"), "{request}: {head}");
        assert_eq!(stream.read(&mut [0]).await.expect("no reset"), 0);
    }
    node.end().await;
}

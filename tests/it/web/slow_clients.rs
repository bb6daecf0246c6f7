//! Clients that send slowly, or do not read their responses, hold a limited amount of memory for a
//! limited time.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tetrad_web::Budget;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use crate::support::{TestNode, node_with};

const AT: &str = "0x00000000000000000000000000000000000000aa";
const HEAD: &str =
    "POST /rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ";

/// A request whose response has this many megabytes, more than any system buffers.
fn long_answer(megabytes: usize) -> String {
    // PUSH3 2^19, PUSH0, RETURN.
    let params = json!([{"to": AT, "gas": "0xffffff"}, "latest", {AT: {"code": "0x620800005ff3"}}]);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": params});
    if megabytes == 1 {
        call.to_string()
    } else {
        Value::Array(vec![call; megabytes]).to_string()
    }
}

/// A connection with a small receive buffer.
async fn narrow(node: &TestNode) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    socket.connect(node.address()).await.unwrap()
}

async fn request_long_response(stream: &mut (impl AsyncWrite + Unpin)) {
    let body = long_answer(30);
    stream
        .write_all(format!("{HEAD}{}\r\n\r\n{body}", body.len()).as_bytes())
        .await
        .unwrap();
}

/// Reads until the connection ends, and returns the number of bytes.
async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> usize {
    let mut bytes = Vec::new();
    // The connection may end with a reset.
    let _ = stream.read_to_end(&mut bytes).await;
    bytes.len()
}

/// A node with one place for a connection: the next one is served when the first has ended.
async fn node_with_short_write_timeout(change: impl FnOnce(&mut tetrad::Config)) -> TestNode {
    node_with(|config| {
        config.listener.connections = 1;
        config.listener.write_timeout = Duration::from_millis(300);
        change(config);
    })
    .await
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_disconnected() {
    let node = node_with_short_write_timeout(|_| {}).await;
    let mut stream = narrow(&node).await;
    request_long_response(&mut stream).await;
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");
    assert!(rest(&mut stream).await < 30 << 20);
}

/// Posts a body, and returns the head of the response.
async fn post(client: &reqwest::Client, url: &str, body: String) -> reqwest::Response {
    client
        .post(url)
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_tls_client_that_reads_nothing_is_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let files = tetrad::config::TlsFiles {
        certificate: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&files.certificate, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let node = node_with_short_write_timeout(|config| config.tls = Some(files)).await;
    let certificate = reqwest::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
    let client = reqwest::Client::builder()
        .tls_certs_only([certificate])
        .http1_only()
        .build()
        .unwrap();
    let url = format!("https://localhost:{}/rpc", node.address().port());
    let unread = post(&client, &url, long_answer(30)).await;
    let chain_id = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}).to_string();
    assert_eq!(post(&client, &url, chain_id).await.status(), 200);
    assert!(unread.bytes().await.is_err());
}

#[cfg(unix)]
#[tokio::test]
async fn a_unix_socket_client_that_reads_nothing_is_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.sock");
    let own = path.clone();
    let node = node_with_short_write_timeout(|config| config.listen_unix = Some(own)).await;
    let mut stream = tokio::net::UnixStream::connect(&path).await.unwrap();
    request_long_response(&mut stream).await;
    let mut next = tokio::net::UnixStream::connect(&path).await.unwrap();
    next.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    assert!(rest(&mut next).await > 0);
    assert!(rest(&mut stream).await < 30 << 20);
    node.end().await;
}

/// The connection itself may be active: each HTTP/2 request has a separate window.
#[tokio::test]
async fn an_http2_stream_that_is_not_read_is_reset() {
    let node = node_with(|config| {
        config.listener.write_timeout = Duration::from_millis(300);
        config.rpc.budget = Budget::new(64 << 20);
    })
    .await;
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .build()
        .unwrap();
    let unread = post(&client, &node.rpc_url(), long_answer(30)).await;
    assert_eq!(unread.status(), 200);

    // There is room for the same response again once the node has released the first one.
    while post(&client, &node.rpc_url(), long_answer(30))
        .await
        .bytes()
        .await
        .unwrap()
        .len()
        < 30 << 20
    {}
    assert!(unread.bytes().await.is_err());
}

/// A request after this many blanks.
fn padded(blanks: usize) -> String {
    format!(
        "{}{}",
        " ".repeat(blanks),
        json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"})
    )
}

#[tokio::test]
async fn long_bodies_share_a_budget_and_short_ones_are_still_accepted() {
    let node = node_with(|config| config.rpc.budget = Budget::new(1 << 20)).await;

    let mut holding = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(node.address()).await.unwrap();
        stream
            .write_all(format!("{HEAD}600000\r\n\r\n").as_bytes())
            .await
            .unwrap();
        stream.write_all(&[b' '; 150_000]).await.unwrap();
        holding.push(stream);
    }

    let url = node.rpc_url();
    let long = padded(900_000);
    let refused = loop {
        let answer = post(&node.http, &url, long.clone()).await;
        // Until the node has read what the others sent.
        if answer.status() != 200 {
            break answer;
        }
    };

    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (503, &"1".parse().unwrap())
    );
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");

    // There is room for a body that needs no more than others hold.
    let answer = post(&node.http, &url, padded(150_000)).await;
    assert_eq!(answer.status(), 200);
    drop(holding);
    while post(&node.http, &url, long.clone()).await.status() != 200 {}
}

/// The next message with content.
async fn next(socket: &mut WebSocketStream<TcpStream>) -> Message {
    loop {
        match socket
            .next()
            .await
            .expect("the connection is open")
            .expect("a message")
        {
            Message::Ping(_) => {}
            message => return message,
        }
    }
}

#[tokio::test]
async fn a_message_of_a_web_socket_counts_before_it_is_complete() {
    let budget = Budget::new(1 << 20);
    let own = budget.clone();
    let node = node_with(|config| config.rpc.budget = own).await;
    let socket = |stream| client_async(format!("ws://{}/rpc", node.address()), stream);
    let (mut first, _) = socket(TcpStream::connect(node.address()).await.unwrap())
        .await
        .unwrap();

    // The head of a frame with 2,000,000 bytes of text, and half of them.
    let mut begun = vec![0x81, 0xff];
    begun.extend_from_slice(&2_000_000_u64.to_be_bytes());
    begun.extend_from_slice(&[0; 4]);
    begun.extend_from_slice(&vec![b' '; 900_000]);
    first.get_mut().write_all(&begun).await.unwrap();
    while budget.hold(500_000).await.is_some() {
        tokio::task::yield_now().await;
    }

    // Short messages of other clients are still accepted.
    let (mut second, _) = socket(TcpStream::connect(node.address()).await.unwrap())
        .await
        .unwrap();
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}).to_string();
    second.send(Message::text(request)).await.unwrap();
    let answer = next(&mut second).await;
    assert!(answer.to_text().unwrap().contains("0x7d"));

    drop(first);
    while budget.hold(1_000_000).await.is_none() {}

    // A response without room is an error.
    let all = budget.hold(1 << 20).await.unwrap();
    second.send(Message::text(long_answer(1))).await.unwrap();
    let refusal = next(&mut second).await;
    assert!(
        refusal
            .to_text()
            .unwrap()
            .contains("response too large for the memory that is left"),
        "{refusal}"
    );
    drop(all);
}

#[tokio::test]
async fn responses_of_a_batch_count_while_they_are_made() {
    let budget = Budget::new(32 << 20);
    let own = budget.clone();
    let node = node_with(|config| config.rpc.budget = own).await;
    let answers = node.post(long_answer(10)).await;
    let refused = answers
        .as_array()
        .unwrap()
        .iter()
        .filter(|answer| answer.get("error").is_some())
        .count();
    assert_eq!(refused, 0, "{answers}");
    let held = budget.hold(20 << 20).await.unwrap();
    let answers = node.post(long_answer(10)).await;
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 10);
    let given = answers
        .iter()
        .filter(|answer| answer.get("result").is_some())
        .count();
    assert!((1..8).contains(&given), "{given}");
    assert_eq!(answers[9]["error"]["code"], -32003);
    drop(held);
    assert!(budget.hold(32 << 20).await.is_some());
}

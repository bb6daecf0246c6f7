//! Host names of requests: a page whose own name resolves to the node's address (DNS rebinding) is
//! not the node's page.

use std::net::SocketAddr;

use tetrad::config::MetricsAt;
use tetrad_web::Hosts;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UnixStream},
};

use crate::support::{TestNode, node, node_with};

const CHAIN_ID: &str = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;

/// The expected status and the text of a request that a page may cause, with `NAME` for the host
/// name.
struct Request(&'static str, String);

fn post(path: &str, more: &str) -> String {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: NAME\r\nconnection: close\r\n{more}content-type: application/json"
    );
    format!(
        "{head}\r\ncontent-length: {}\r\n\r\n{CHAIN_ID}",
        CHAIN_ID.len()
    )
}

fn upgrade(path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nhost: NAME\r\norigin: http://NAME\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
}

fn requests() -> [Request; 5] {
    [
        Request("200", post("/rpc", "")),
        Request("200", post("/", "origin: http://NAME\r\n")),
        Request(
            "200",
            "GET /api/prices HTTP/1.1\r\nhost: NAME\r\nconnection: close\r\n\r\n".to_owned(),
        ),
        Request("101", upgrade("/rpc")),
        Request("101", upgrade("/ws")),
    ]
}

/// The head of the response to a request with this name, and the beginning of its body.
async fn asked(address: SocketAddr, request: &str, name: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream
        .write_all(request.replace("NAME", name).as_bytes())
        .await
        .expect("the request is sent");
    let mut answer = vec![0; 4 << 10];
    let mut length = 0;
    // A WebSocket stays open; other connections end.
    while !answer[..length].windows(4).any(|end| end == b"\r\n\r\n")
        || answer.starts_with(b"HTTP/1.1 403")
    {
        match stream.read(&mut answer[length..]).await.expect("an answer") {
            0 => break,
            more => length += more,
        }
        if String::from_utf8_lossy(&answer[..length]).contains("allowed-hosts") {
            break;
        }
    }
    String::from_utf8_lossy(&answer[..length]).into_owned()
}

async fn assert_refused(address: SocketAddr, request: &str, name: &str) {
    let answer = asked(address, request, name).await;
    assert!(
        answer.starts_with("HTTP/1.1 403 ") && answer.contains("allowed-hosts"),
        "{name}: {request}{answer}"
    );
}

fn prices_address(node: &TestNode) -> SocketAddr {
    node.exchange_ws_url()
        .trim_start_matches("ws://")
        .parse()
        .expect("an address")
}

#[tokio::test]
async fn a_foreign_host_name_is_refused_on_every_route_and_listener() {
    let free = std::net::TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("an address");
    let node = node_with(|config| config.metrics = MetricsAt::Own(free)).await;

    let own = node.address();
    let scrape = "GET /metrics HTTP/1.1\r\nhost: NAME\r\nconnection: close\r\n\r\n";

    for name in [
        "evil.example",
        "evil.example:8545",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
    ] {
        for Request(_, request) in requests() {
            assert_refused(own, &request, name).await;
        }
        assert_refused(prices_address(&node), &requests()[4].1, name).await;
        assert_refused(free, scrape, name).await;
    }

    for name in [
        "localhost",
        "LOCALHOST:8545",
        "dapp.localhost",
        "127.0.0.1:8545",
        "[::1]:8545",
        "192.0.2.7",
        "",
    ] {
        for Request(status, request) in requests() {
            let answer = asked(own, &request, name).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{name}: {request}{answer}"
            );
        }
        assert!(
            asked(prices_address(&node), &requests()[4].1, name)
                .await
                .starts_with("HTTP/1.1 101 "),
            "{name}"
        );
        assert!(
            asked(free, scrape, name).await.starts_with("HTTP/1.1 200 "),
            "{name}"
        );
    }

    // One valid name does not permit another.
    let two = "GET /health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n";
    assert_refused(own, two, "").await;
    let absolute = "GET http://evil.example/health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    assert_refused(own, absolute, "").await;

    // Probes of proxies may have no host name.
    let unnamed = asked(own, "GET /health HTTP/1.0\r\n\r\n", "").await;
    assert!(unnamed.starts_with("HTTP/1.0 200 "), "{unnamed}");
    node.end().await;
}

#[tokio::test]
async fn http2_accepts_the_same_names() {
    let node = node().await;
    for (name, status) in [("evil.example", 403), ("node.localhost", 200)] {
        let client = reqwest::Client::builder()
            .http2_prior_knowledge()
            .resolve(name, node.address());
        let url = format!("http://{name}:{}/rpc", node.address().port());
        let request = client
            .build()
            .expect("a client")
            .post(url)
            .header("content-type", "application/json");
        assert_eq!(
            request
                .body(CHAIN_ID)
                .send()
                .await
                .expect("an answer")
                .status(),
            status,
            "{name}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn listed_names_are_accepted_and_a_star_allows_every_name() {
    let listed = Hosts::Listed(vec!["Node.Example.org".parse().expect("a name")]);
    let node = node_with(|config| config.hosts = listed).await;
    let request = &requests()[0].1;
    assert!(
        asked(node.address(), request, "node.example.ORG:443")
            .await
            .starts_with("HTTP/1.1 200 ")
    );
    assert_refused(node.address(), request, "example.org").await;
    node.end().await;
    let node = node_with(|config| config.hosts = Hosts::Any).await;
    assert!(
        asked(node.address(), request, "evil.example")
            .await
            .starts_with("HTTP/1.1 200 ")
    );
    node.end().await;
}

#[cfg(unix)]
#[tokio::test]
async fn clients_of_a_unix_socket_may_use_any_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("node.sock");
    let node = node_with(|config| config.listen_unix = Some(path.clone())).await;
    let mut stream = UnixStream::connect(&path).await.expect("a connection");
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: tetrad\r\nconnection: close\r\n\r\n")
        .await
        .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    node.end().await;
}

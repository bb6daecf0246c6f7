//! HTTP/2 on the same ports: negotiated with TLS, or with prior knowledge.

use std::time::Duration;

use axum::{body::Bytes, http::Request};
use futures_util::future::join_all;
use http_body_util::Full;
use hyper::{Response, body::Incoming, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use reqwest::Version;
use serde_json::{Value, json};
use tetrad_web::Budget;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use crate::support::{node, node_with};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The response by HTTP/2 to a call with this id.
async fn call_with_id(client: &reqwest::Client, url: String, id: u64) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": id, "method": "eth_chainId"}).to_string();
    let request = client
        .post(url)
        .header("content-type", "application/json")
        .body(body);
    let response = request.send().await.unwrap();
    assert_eq!(response.version(), Version::HTTP_2);
    response.json().await.unwrap()
}

#[tokio::test]
async fn clients_with_prior_knowledge_share_a_connection() {
    // Two connections would not fit.
    let node = node_with(|config| config.listener.connections = 1).await;
    let client = reqwest::Client::builder()
        .http2_prior_knowledge()
        .build()
        .unwrap();

    let calls = (0..100).map(|id| call_with_id(&client, node.rpc_url(), id));
    for (id, answer) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(
            answer,
            json!({"jsonrpc": "2.0", "id": id, "result": "0x7d"})
        );
    }

    // Every interface is available, with its limits.
    let prices = client
        .get(format!("{}/api/prices", node.rest_url()))
        .send()
        .await
        .unwrap();
    assert_eq!(
        (prices.status().as_u16(), prices.version()),
        (200, Version::HTTP_2)
    );

    let large = client
        .post(node.rpc_url())
        .header("content-type", "application/json")
        .body(vec![b' '; 6 << 20]);
    assert_eq!(large.send().await.unwrap().status(), 413);

    // The shutdown does not wait for an idle connection.
    node.end().await;
}

#[tokio::test]
async fn tls_negotiates_http2_with_clients_that_offer_it() {
    let folder = tempfile::tempdir().unwrap();
    let files = tetrad::config::TlsFiles {
        certificate: folder.path().join("cert.pem"),
        key: folder.path().join("key.pem"),
    };
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&files.certificate, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let node = node_with(|config| config.tls = Some(files)).await;
    let url = format!("https://localhost:{}/health", node.address().port());
    for (http1_only, version) in [(false, Version::HTTP_2), (true, Version::HTTP_11)] {
        let certificate = reqwest::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
        let client = reqwest::Client::builder().tls_certs_only([certificate]);
        let client = if http1_only {
            client.http1_only()
        } else {
            client
        };
        let response = client.build().unwrap().get(&url).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), response.version()),
            (200, version)
        );
    }
    node.end().await;
}

#[tokio::test]
async fn short_responses_that_wait_for_a_window_count_together() {
    // With a window of one byte, hyper passes a whole response to the connection, which holds it.
    for (window, calls, budget) in [
        (0, 200, 256 << 10),
        (1, 200, 256 << 10),
        (0, 1, 32 << 10),
        (1, 1, 32 << 10),
    ] {
        short_responses_count_together(window, calls, budget).await;
    }
}

/// Sends a body on a connection, and returns the head of the response.
async fn post(
    sender: &http2::SendRequest<Full<Bytes>>,
    url: String,
    body: &str,
) -> Response<Incoming> {
    let request = Request::post(url)
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body.to_owned())))
        .unwrap();
    let mut sender = sender.clone();
    sender.send_request(request).await.expect("a response")
}

/// `calls` decides the length of a response. There is memory for 32 of them.
async fn short_responses_count_together(window: u32, calls: usize, budget: usize) {
    const RESPONSES: usize = 100;

    let node = node_with(|config| {
        config.rpc.budget = Budget::new(budget);
        config.listener.write_timeout = Duration::from_secs(1);
    })
    .await;

    let stream = tokio::net::TcpStream::connect(node.address())
        .await
        .unwrap();
    stream.set_nodelay(true).unwrap();
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(window);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);

    // Each is too short to be counted alone.
    let batch = vec![json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}); calls];
    let body = Value::from(batch).to_string();

    // One after another, since streams without a response count as well.
    let mut responses = Vec::new();
    for _ in 0..RESPONSES {
        responses.push(post(&sender, node.rpc_url(), &body).await);
    }

    let served = responses
        .iter()
        .filter(|response| response.status() == 200)
        .count();
    assert!(
        (16..64).contains(&served),
        "window {window}, {calls} calls: {served} of {RESPONSES} responses"
    );

    // The streams end because they are not read, and their memory is released.
    let again = async { while post(&sender, node.rpc_url(), &body).await.status() != 200 {} };
    timeout(Duration::from_secs(30), again).await.expect("room");
    drop((responses, sender));
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");
    node.end().await;
}

#[tokio::test]
async fn garbage_after_the_preface_ends_only_its_connection() {
    let node = node().await;
    for nonsense in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 64], b""] {
        let mut stream = tokio::net::TcpStream::connect(node.address())
            .await
            .unwrap();
        stream.write_all(PREFACE).await.unwrap();
        stream.write_all(nonsense).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1"));
    }
    assert_eq!(node.get("/health").await.status(), 200);
    node.end().await;
}

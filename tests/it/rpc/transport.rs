//! HTTP around JSON-RPC: statuses, limits, and misbehaving clients.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{TestNode, node, node_with};

const CHAIN_ID: &str = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;

/// Whether the node still answers.
async fn serves(node: &TestNode) {
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");
}

async fn raw(node: &TestNode) -> TcpStream {
    TcpStream::connect(node.address()).await.unwrap()
}

/// The bytes up to the end of the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn both_paths_accept_post() {
    let node = node().await;
    for path in ["/", "/rpc", "/rpc/"] {
        let url = format!("{}{path}", node.rest_url());
        let request = node
            .http
            .post(url)
            .header("content-type", "application/json; charset=utf-8")
            .body(CHAIN_ID);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(
            response.text().await.unwrap(),
            r#"{"jsonrpc":"2.0","id":1,"result":"0x7d"}"#
        );
    }
}

#[tokio::test]
async fn a_slash_after_the_path_of_an_interface_makes_no_difference() {
    let node = node().await;
    let rpc = format!("{}/rpc/", node.rest_url());
    // Pages are answered by the router, programs before it.
    for origin in [None, Some("https://dapp.example")] {
        let request = node
            .http
            .post(&rpc)
            .header("content-type", "application/json")
            .body(CHAIN_ID);
        let request = origin
            .into_iter()
            .fold(request, |request, origin| request.header("origin", origin));
        assert_eq!(
            request.send().await.unwrap().text().await.unwrap(),
            r#"{"jsonrpc":"2.0","id":1,"result":"0x7d"}"#
        );
    }

    assert_eq!(
        node.http.get(&rpc).send().await.unwrap().status(),
        StatusCode::METHOD_NOT_ALLOWED
    );

    for path in ["/rpc/", "/ws/"] {
        let url = format!("{}{path}", node.rest_url()).replace("http", "ws");
        assert!(
            tokio_tungstenite::connect_async(url).await.is_ok(),
            "{path}"
        );
    }

    let query = json!({"query": "{chainID}"}).to_string();
    let graphql = node.http.post(format!("{}/graphql/", node.rest_url()));
    let answer = graphql
        .header("content-type", "application/json")
        .body(query)
        .send()
        .await
        .unwrap();
    assert_eq!(
        answer.text().await.unwrap(),
        r#"{"data":{"chainID":"0x7d"}}"#
    );

    for path in ["/rpc//", "/rpc/x"] {
        let request = node.http.post(format!("{}{path}", node.rest_url()));
        let status = request
            .header("content-type", "application/json")
            .body(CHAIN_ID)
            .send()
            .await
            .unwrap()
            .status();
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn errors_of_json_rpc_have_status_200() {
    let node = node().await;
    for body in ["{", "{}", r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#] {
        let request = node
            .http
            .post(node.rpc_url())
            .header("content-type", "application/json")
            .body(body);
        assert_eq!(
            request.send().await.unwrap().status(),
            StatusCode::OK,
            "{body}"
        );
    }
}

#[tokio::test]
async fn wrong_methods_and_content_types_are_refused() {
    let node = node().await;
    for method in ["GET", "PUT", "DELETE", "PATCH", "HEAD"] {
        let response = node
            .http
            .request(method.parse().unwrap(), node.rpc_url())
            .send()
            .await
            .unwrap();
        assert_eq!(
            response.status(),
            StatusCode::METHOD_NOT_ALLOWED,
            "{method}"
        );
        assert!(
            response.headers()["allow"]
                .to_str()
                .unwrap()
                .contains("POST")
        );
    }

    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "",
    ] {
        let request = node
            .http
            .post(node.rpc_url())
            .header("content-type", content_type)
            .body(CHAIN_ID);
        assert_eq!(
            request.send().await.unwrap().status(),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "{content_type}"
        );
    }
}

fn post(node: &TestNode, body: impl Into<reqwest::Body>) -> reqwest::RequestBuilder {
    node.http
        .post(node.rpc_url())
        .header("content-type", "application/json")
        .body(body)
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_with_or_without_a_length() {
    let node = node_with(|config| config.rpc.max_body = 10_000).await;

    let fits = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"eth_chainId","x":"{}"}}"#,
        "a".repeat(9_900)
    );
    assert_eq!(
        post(&node, fits).send().await.unwrap().status(),
        StatusCode::OK
    );
    assert_eq!(
        post(&node, "a".repeat(10_001))
            .send()
            .await
            .unwrap()
            .status(),
        StatusCode::PAYLOAD_TOO_LARGE
    );

    let mut stream = raw(&node).await;
    let head = "POST /rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..11 {
        let chunk = format!("3e8\r\n{}\r\n", " ".repeat(1_000));
        if stream.write_all(chunk.as_bytes()).await.is_err() {
            break;
        }
    }
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 413"));
    serves(&node).await;
}

#[tokio::test]
async fn a_body_without_a_length_that_is_too_large_is_read_on_before_it_is_refused() {
    let node = node_with(|config| config.rpc.max_body = 10_000).await;
    let mut stream = raw(&node).await;
    let head = "POST /rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    // Far more than the buffers of both sides hold.
    let chunk = format!("186a0\r\n{}\r\n", " ".repeat(100_000));
    for _ in 0..100 {
        stream
            .write_all(chunk.as_bytes())
            .await
            .expect("it is read");
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 413"));
}

/// A request of exactly this many bytes.
fn body_of(bytes: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"eth_chainId","x":"{}"}}"#,
        "a".repeat(bytes - 54)
    )
}

#[tokio::test]
async fn the_default_limit_is_five_mebibytes() {
    let node = node().await;
    assert_eq!(body_of(5 << 20).len(), 5 << 20);
    assert_eq!(node.post(body_of(5 << 20)).await["result"], "0x7d");
    let request = post(&node, body_of((5 << 20) + 1));
    assert_eq!(
        request.send().await.unwrap().status(),
        StatusCode::PAYLOAD_TOO_LARGE
    );
}

#[tokio::test]
async fn deep_nesting_is_answered() {
    let node = node().await;
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{deep}]}}"#);
    assert_eq!(node.post(body).await["error"]["code"], -32602);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{{"topics":{deep}}}]}}"#
    );
    assert_eq!(node.post(body).await["error"]["code"], -32602);
    assert_eq!(node.post(deep).await[0]["error"]["code"], -32600);
    serves(&node).await;
}

#[tokio::test]
async fn an_endless_request_head_is_cut_off() {
    let node =
        node_with(|config| config.listener.header_timeout = Duration::from_millis(200)).await;
    let mut silent = raw(&node).await;
    let mut slow = raw(&node).await;
    slow.write_all(b"POST /rpc HTTP/1.1\r\nhost:")
        .await
        .unwrap();
    for stream in [&mut silent, &mut slow] {
        let answer = rest(stream).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 408"),
            "{answer}"
        );
    }
    serves(&node).await;
}

#[tokio::test]
async fn a_client_that_disconnects_mid_request_affects_no_other() {
    let node = node().await;
    let mut stream = raw(&node).await;
    let head = "POST /rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    drop(stream);

    let mut half = raw(&node).await;
    half.write_all(head.as_bytes()).await.unwrap();
    half.shutdown().await.unwrap();
    // An incomplete request ends the connection, with or without an error response.
    let answer = rest(&mut half).await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
        "{answer}"
    );
    serves(&node).await;
}

#[tokio::test]
async fn a_client_that_closes_its_sending_side_gets_its_response() {
    let node = node().await;
    let mut stream = raw(&node).await;
    let request = format!(
        "POST /rpc HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{CHAIN_ID}",
        CHAIN_ID.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    assert!(
        rest(&mut stream)
            .await
            .ends_with(r#"{"jsonrpc":"2.0","id":1,"result":"0x7d"}"#)
    );
}

/// The bytes of a request, the last one of which asks the node to close the connection.
fn pipelined(id: u32, last: bool) -> String {
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"eth_chainId"}}"#);
    let connection = if last { "close" } else { "keep-alive" };
    format!(
        "POST /rpc HTTP/1.1\r\nhost: localhost\r\nconnection: {connection}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let node = node().await;
    let mut stream = raw(&node).await;

    let requests: String = (0..10).map(|id| pipelined(id, id == 9)).collect();
    stream.write_all(requests.as_bytes()).await.unwrap();

    let answers = rest(&mut stream).await;
    let ids: Vec<_> = answers
        .split("\"id\":")
        .skip(1)
        .map(|rest| rest.split(',').next().unwrap().to_owned())
        .collect();
    assert_eq!(ids, (0..10).map(|id| id.to_string()).collect::<Vec<_>>());
}

/// The error of a node whose port another node uses.
async fn spawn_error(
    change: fn(&mut tetrad::Config, std::net::SocketAddr),
    address: std::net::SocketAddr,
) -> String {
    let mut config = tetrad::Config::test();
    change(&mut config, address);
    match tetrad::Node::spawn(config).await {
        Ok(_) => panic!("two nodes on one port"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_taken_port_is_an_error_that_names_the_flag() {
    let node = node().await;
    let error = spawn_error(|config, address| config.listen = address, node.address()).await;
    assert!(
        error.starts_with(&format!("--listen: cannot listen on {}", node.address())),
        "{error}"
    );

    let error = spawn_error(
        |config, address| config.ws_listen = Some(address),
        node.address(),
    )
    .await;
    assert!(
        error.starts_with("--ws-listen: cannot listen on"),
        "{error}"
    );
}

//! Limits of the price WebSocket.

use serde_json::{Value, json};
use tokio_tungstenite::{
    connect_async,
    tungstenite::{
        Error, Message, client::IntoClientRequest, handshake::client::Request,
        protocol::frame::coding::CloseCode,
    },
};

use crate::support::{
    TestNode,
    chain::{key, token, usd_e8},
    node, node_with,
    socket::PriceSocket,
    ticking_node,
};

#[tokio::test]
async fn messages_are_limited_to_four_kibibytes() {
    let node = node().await;
    let mut socket = node.price_socket().await;
    socket.send(format!("{:4096}", r#"{"type":"ping"}"#)).await;
    assert_eq!(socket.json().await["type"], "pong");
    socket.send(format!("{:4097}", r#"{"type":"ping"}"#)).await;
    assert_eq!(socket.close_code().await, CloseCode::Size);

    let mut socket = node.price_socket().await;
    socket.send_message(Message::binary(vec![0; 1 << 16])).await;
    assert_eq!(socket.close_code().await, CloseCode::Size);
    node.end().await;
}

#[tokio::test]
async fn a_client_that_floods_is_disconnected() {
    let node = node().await;
    let mut socket = node.price_socket().await;
    for _ in 0..200 {
        socket.send(r#"{"type":"ping"}"#).await;
    }
    assert_eq!(socket.close_code().await, CloseCode::Policy);
    node.end().await;
}

#[tokio::test]
async fn sockets_per_client_are_limited() {
    let node = node_with(|config| config.max_sockets_per_client = 2).await;
    let first = node.price_socket().await;
    let _second = node.price_socket().await;
    let Err(Error::Http(refusal)) = connect_async(node.exchange_ws_url()).await else {
        panic!("a third socket")
    };
    assert_eq!(refusal.status(), 429);
    let body: Value =
        serde_json::from_slice(refusal.body().as_deref().unwrap_or_default()).expect("JSON");
    assert_eq!(
        (&body["success"], &body["error"]),
        (&false.into(), &"too_many_connections".into())
    );

    // The node notices the end of a connection with some delay; then there is room.
    drop(first);
    loop {
        match connect_async(node.exchange_ws_url()).await {
            Ok(_) => break,
            Err(Error::Http(refusal)) => assert_eq!(refusal.status(), 429),
            Err(error) => panic!("{error}"),
        }
    }
    node.end().await;
}

/// The request for a price WebSocket that a proxy sends for a client.
fn forwarded(node: &TestNode, client: &str) -> Request {
    let mut request = node
        .exchange_ws_url()
        .into_client_request()
        .expect("a request");
    request
        .headers_mut()
        .insert("x-forwarded-for", client.parse().expect("a header"));
    request
}

#[tokio::test]
async fn a_trusted_proxy_identifies_clients() {
    let node = node_with(|config| {
        config.max_sockets_per_client = 1;
        config.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
    });
    let node = node.await;

    let one = connect_async(forwarded(&node, "203.0.113.1")).await;
    let other = connect_async(forwarded(&node, "203.0.113.2")).await;
    let _sockets = (one.expect("a socket"), other.expect("a socket"));
    let again = connect_async(forwarded(&node, "203.0.113.1")).await;
    assert!(again.is_err());
    node.end().await;
}

#[tokio::test]
async fn a_plain_request_opens_no_price_socket() {
    let node = node().await;
    let url = node.exchange_ws_url().replace("ws://", "http://");
    let response = node.http.get(&url).send().await.expect("an answer");
    assert!(response.status().is_client_error(), "{}", response.status());
    let response = node.http.post(&url).send().await.expect("an answer");
    assert!(response.status().is_client_error(), "{}", response.status());
    assert!(node.get("/ws").await.status().is_client_error());
    node.end().await;
}

/// While a client does not read, it misses thousands of prices; afterwards it gets a few messages
/// and the current prices, not all that it missed.
#[tokio::test]
async fn a_slow_client_gets_the_latest_prices() {
    let (node, _clock) = ticking_node().await;
    let mut socket = PriceSocket::connect_narrow(&node.exchange_ws_url()).await;
    assert_eq!(socket.json().await["type"], "connection");
    for _ in 0..4 {
        node.rpc("evm_mine", json!([{ "blocks": 400 }])).await;
    }
    let weth = token("WETH");
    let (price, updated_at) = node.oracle_price(&weth).await;
    let mut messages = 0;
    loop {
        messages += 1;
        let message = socket.prices().await;
        let entry = &message["data"][key(&weth)];
        if entry["timestamp"] == updated_at * 1_000 {
            assert_eq!(usd_e8(&entry["price"]), price);
            break;
        }
        // No price is sent twice or out of order.
        assert!(
            entry["timestamp"]
                .as_u64()
                .is_some_and(|at| at < updated_at * 1_000)
        );
    }
    assert!(messages < 400, "{messages} messages for 800 updates");
    node.end().await;
}

#[tokio::test]
async fn the_node_shuts_down_with_open_sockets() {
    let node = node().await;
    let silent = PriceSocket::connect(&node.exchange_ws_url()).await;
    // It never reads and never answers the closing handshake.
    node.end().await;
    drop(silent);
}

//! The price WebSocket: the messages that clients receive, and those that they may send.

use alloy::sol_types::SolEvent;
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::PriceOracle;
use tokio_tungstenite::tungstenite::{Message, protocol::frame::coding::CloseCode};

use crate::support::{
    TestNode,
    chain::{ORACLE, key, token, usd_e8},
    node,
    socket::PriceSocket,
    ticking_node,
};

/// The prices in the newest block's logs, in the shape of a message's `data` without the changes.
fn logged(node: &TestNode) -> Vec<(String, u64, u64)> {
    let block = node.chain().head().block.clone();
    let logs = block.logs().filter(|at| at.log.address == ORACLE);
    let mut entries: Vec<_> = logs
        .filter_map(|at| PriceOracle::PriceUpdated::decode_log_data(&at.log.data).ok())
        .map(|event| {
            (
                event.token.to_string().to_lowercase(),
                event.price.to(),
                event.timestamp.to::<u64>() * 1_000,
            )
        })
        .collect();
    entries.sort_unstable();
    entries
}

/// The prices in a message, in the same shape.
fn received(message: &Value) -> Vec<(String, u64, u64)> {
    let data = message["data"].as_object().expect("an object");
    let mut entries: Vec<_> = data
        .iter()
        .map(|(address, entry)| {
            assert_eq!(entry["address"], address.as_str());
            assert!(entry["symbol"].is_string() && entry["change24h"].is_number());
            (
                address.clone(),
                usd_e8(&entry["price"]),
                entry["timestamp"].as_u64().expect("a time"),
            )
        })
        .collect();
    entries.sort_unstable();
    entries
}

#[tokio::test]
async fn a_new_client_gets_a_greeting_and_every_price() {
    let node = node().await;
    for url in [
        node.exchange_ws_url(),
        format!("{}/any/path?at=all", node.exchange_ws_url()),
        format!("ws://{}/ws", node.address()),
    ] {
        let mut socket = PriceSocket::connect(&url).await;
        let welcome = socket.json().await;
        assert_eq!(
            (&welcome["type"], &welcome["status"]),
            (&"connection".into(), &"connected".into())
        );
        assert!(welcome["clientId"].is_string() && welcome["timestamp"].is_u64());

        let message = socket.prices().await;
        let entries = received(&message);
        assert_eq!(entries.len(), 12);
        for info in &node.config().network.tokens {
            let (price, updated_at) = node.oracle_price(info).await;
            assert!(
                entries.contains(&(key(info), price, updated_at * 1_000)),
                "{}",
                info.symbol
            );
        }

        assert_eq!(
            message["timestamp"],
            node.chain().head().block.header.timestamp * 1_000
        );
    }
    node.end().await;
}

#[tokio::test]
async fn pushed_prices_match_the_chain() {
    let (node, clock) = ticking_node().await;
    let mut one = node.price_socket().await;
    let mut two = node.price_socket().await;
    for _ in 0..3 {
        clock.advance(2_000);
        node.wake().await;
        let message = one.prices().await;
        assert_eq!(received(&message), logged(&node));
        assert_eq!(
            message["timestamp"],
            node.chain().head().block.header.timestamp * 1_000
        );
        assert_eq!(
            two.prices().await,
            message,
            "all clients get the same message"
        );

        let weth = token("WETH");
        let rest = node.price_entry(&weth).await;
        assert_eq!(message["data"][key(&weth)]["price"], rest["price"]);
        assert_eq!(message["data"][key(&weth)]["change24h"], rest["change24h"]);
        assert_eq!(usd_e8(&rest["price"]), node.oracle_price(&weth).await.0);
    }
    node.end().await;
}

#[tokio::test]
async fn only_changed_prices_are_pushed() {
    let node = node().await;
    let mut socket = node.price_socket().await;
    // A block without prices causes no message; a price that the owner sets does.
    node.mine().await;
    let sol = token("SOL");
    let call = PriceOracle::setPriceCall {
        token: sol.address,
        price: alloy::primitives::U256::from(20_000_000_000u64),
    };
    assert!(node.send(&node.treasury(), ORACLE, call).await.status());
    let entries = received(&socket.prices().await);
    assert_eq!(entries, logged(&node));
    assert_eq!(
        (entries.len(), &entries[0].0, entries[0].1),
        (1, &key(&sol), 20_000_000_000)
    );
    node.end().await;
}

#[tokio::test]
async fn a_subscription_filters_by_token() {
    let (node, clock) = ticking_node().await;
    let mut socket = node.price_socket().await;
    let weth = key(&token("WETH"));
    socket
        .send(
            json!({ "type": "subscribe", "tokens": [weth.to_uppercase().replace("0X", "0x")] })
                .to_string(),
        )
        .await;
    let confirmation = socket.json().await;
    assert_eq!(
        (&confirmation["type"], &confirmation["tokens"]),
        (&"subscribed".into(), &json!([weth]))
    );
    assert_eq!(
        received(&socket.prices().await).len(),
        1,
        "the current price of the subscribed token"
    );
    clock.advance(2_000);
    node.wake().await;
    let entries = received(&socket.prices().await);
    assert_eq!(
        entries
            .iter()
            .map(|entry| entry.0.as_str())
            .collect::<Vec<_>>(),
        [weth.as_str()]
    );

    socket.send(r#"{"type":"subscribe","tokens":[]}"#).await;
    assert_eq!(socket.json().await["tokens"], json!([]));
    assert_eq!(received(&socket.prices().await).len(), 12);
    clock.advance(2_000);
    node.wake().await;
    assert_eq!(received(&socket.prices().await), logged(&node));
    node.end().await;
}

#[tokio::test]
async fn a_ping_is_answered() {
    let node = node().await;
    let mut socket = node.price_socket().await;
    socket.send(r#"{"type":"ping"}"#).await;
    assert_eq!(socket.json().await["type"], "pong");
    socket
        .send_message(Message::Ping(b"1".to_vec().into()))
        .await;
    assert_eq!(socket.message().await, Message::Pong(b"1".to_vec().into()));
    node.end().await;
}

#[tokio::test]
async fn garbage_is_answered_once_and_the_connection_stays() {
    let (node, clock) = ticking_node().await;
    let mut socket = node.price_socket().await;
    for garbage in [
        "",
        "{",
        "null",
        r#"{"type":"unsubscribe"}"#,
        r#"{"type":"subscribe","tokens":["DOGE"]}"#,
    ] {
        socket.send(garbage).await;
        let answer = socket.json().await;
        assert_eq!(answer["type"], "error", "{garbage}");
        assert!(
            answer["message"]
                .as_str()
                .is_some_and(|message| !message.is_empty())
        );
    }
    socket.send_message(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(socket.json().await["type"], "error");
    clock.advance(2_000);
    node.wake().await;
    assert_eq!(received(&socket.prices().await), logged(&node));
    node.end().await;
}

#[tokio::test]
async fn a_revert_restores_earlier_prices() {
    let (node, clock) = ticking_node().await;
    clock.advance(2_000);
    node.wake().await;
    let mut socket = node.price_socket().await;
    let before = logged(&node);
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    for _ in 0..2 {
        clock.advance(2_000);
        node.wake().await;
        socket.prices().await;
    }
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    assert_eq!(received(&socket.prices().await), before);
    clock.advance(2_000);
    node.wake().await;
    assert_eq!(received(&socket.prices().await), logged(&node));
    node.end().await;
}

#[tokio::test]
async fn a_shutdown_is_announced() {
    let node = node().await;
    let mut sockets = Vec::new();
    for _ in 0..3 {
        sockets.push(node.price_socket().await);
    }
    let (_, codes) = tokio::join!(
        node.end(),
        futures_util::future::join_all(sockets.iter_mut().map(PriceSocket::close_code)),
    );
    assert_eq!(codes, [CloseCode::Away; 3]);
}

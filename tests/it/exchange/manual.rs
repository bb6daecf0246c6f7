//! Prices that are set by hand.

use std::time::Duration;

use serde_json::{Value, json};
use tetrad::{Config, Node, config::Profile};

use crate::support::{
    TestNode,
    chain::{key, token, usd_e8},
    manual_clock, node_at, node_with,
};

async fn ask(node: &TestNode, method: reqwest::Method, symbol: &str, body: Value) -> (u16, Value) {
    let url = format!(
        "{}/api/admin/prices/{}",
        node.rest_url(),
        key(&token(symbol))
    );
    let response = node
        .http
        .request(method, url)
        .json(&body)
        .send()
        .await
        .expect("an answer");
    (
        response.status().as_u16(),
        response.json().await.expect("JSON"),
    )
}

async fn set_price(node: &TestNode, price: u64) -> (u16, Value) {
    ask(
        node,
        reqwest::Method::POST,
        "WETH",
        json!({ "price": price }),
    )
    .await
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let node = node_with(|_| {}).await;
    let price = "1".repeat(100_000);
    let (status, body) = ask(
        &node,
        reqwest::Method::POST,
        "WETH",
        json!({ "price": price }),
    )
    .await;
    assert_eq!(
        (status, &body["error"]),
        (413, &json!("invalid_body")),
        "{body}"
    );
}

/// If another price were held, the next update would move to it.
#[tokio::test]
async fn the_last_of_two_simultaneous_prices_is_held() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.rate_limit = 0;
    });
    let node = node.await;
    for price in (3_000..3_010).step_by(2) {
        let ((one, _), (other, _)) =
            tokio::join!(set_price(&node, price), set_price(&node, price + 1));
        assert_eq!((one, other), (200, 200));
        let last = node.oracle_price(&token("WETH")).await.0;
        clock.advance(2_000);
        node.wake().await;
        assert_eq!(node.oracle_price(&token("WETH")).await.0, last);
    }
    node.end().await;
}

#[tokio::test]
async fn a_price_set_by_hand_is_held_until_released() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.rate_limit = 0;
    });
    let node = node.await;

    let mut socket = node.price_socket().await;
    let weth = token("WETH");
    let address = key(&token("WETH"));

    // Further than any update of the feed may move.
    let (status, body) = ask(
        &node,
        reqwest::Method::POST,
        "WETH",
        json!({ "price": 1000.5 }),
    )
    .await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(node.oracle_price(&weth).await.0, 100_050_000_000);

    let receipt = node
        .rpc(
            "eth_getTransactionReceipt",
            json!([body["data"]["transactionHash"]]),
        )
        .await;
    assert_eq!(receipt["status"], "0x1");

    while usd_e8(&socket.prices().await["data"][&address]["price"]) != 100_050_000_000 {}
    for _ in 0..5 {
        clock.advance(400_000);
        node.wake().await;
        assert_eq!(
            node.oracle_price(&weth).await.0,
            100_050_000_000,
            "the price is held"
        );
        assert!(node.is_fresh(&weth).await, "a held price stays fresh");
    }

    let moved = node.price_entry(&token("WBTC")).await;
    assert_ne!(
        usd_e8(&moved["price"]),
        token("WBTC").reference_price,
        "other prices continue to move"
    );

    let (status, body) = ask(&node, reqwest::Method::DELETE, "WETH", json!(null)).await;
    assert_eq!((status, &body["data"]["released"]), (200, &true.into()));
    clock.advance(400_000);
    node.wake().await;
    let price = node.oracle_price(&weth).await.0;
    assert!(
        price != 100_050_000_000 && price.abs_diff(100_050_000_000) < 5_000_000_000,
        "the price continues from the held one"
    );
    assert_eq!(
        ask(&node, reqwest::Method::DELETE, "WETH", json!(null))
            .await
            .1["data"]["released"],
        false
    );
    node.end().await;
}

#[tokio::test]
async fn invalid_prices_are_rejected() {
    let node = node_with(|config| config.rate_limit = 0).await;
    for body in [
        json!({}),
        json!({ "price": 0 }),
        json!({ "price": -1 }),
        json!({ "price": "x" }),
        json!([1]),
        json!({ "price": 1e30 }),
    ] {
        let (status, answer) = ask(&node, reqwest::Method::POST, "WETH", body.clone()).await;
        assert_eq!(
            (status, &answer["error"]),
            (400, &"invalid_parameter".into()),
            "{body}"
        );
    }
    let (_, answer) = ask(
        &node,
        reqwest::Method::POST,
        "DOT",
        json!({ "price": "7.25" }),
    )
    .await;
    assert_eq!(answer["data"]["price"], 7.25);
    node.end().await;
}

#[tokio::test]
async fn a_price_that_the_chain_rejects_keeps_the_held_one() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.rate_limit = 0;
    });
    let node = node.await;
    let weth = token("WETH");
    let (status, body) = set_price(&node, 1_000).await;
    assert_eq!(status, 200, "{body}");

    // Its owner cannot pay for the transaction.
    node.rpc(
        "anvil_setBalance",
        json!([node.treasury().address(), "0x0"]),
    )
    .await;
    let (status, body) = set_price(&node, 2_000).await;
    assert_ne!(status, 200, "{body}");

    for _ in 0..3 {
        clock.advance(400_000);
        node.wake().await;
        assert_eq!(node.oracle_price(&weth).await.0, 100_000_000_000);
    }
    node.end().await;
}

#[tokio::test]
async fn production_nodes_have_no_route_to_set_prices() {
    let mut config = Config::of(Profile::Production);
    (config.listen, config.ws_listen) = (Config::test().listen, None);
    let node = Node::spawn(config).await.expect("the node starts");
    let url = format!(
        "{}/api/admin/prices/{}",
        node.rest_url(),
        key(&token("WETH"))
    );
    let response = reqwest::Client::new()
        .post(url)
        .json(&json!({ "price": 1 }))
        .send()
        .await
        .expect("an answer");
    assert_eq!(response.status(), 404);
    node.shut_down().await.unwrap();
}

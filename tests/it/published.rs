//! Clients of the live network with only the host name changed: what each reads and does follows
//! its published description.
//!
//! Other tests pin some behaviours: the swap client (`exchange::swap`), the lists of tokens
//! and the shape of errors (`exchange::rest`), the rate limit's headers (`web::rate_limit`), the
//! price WebSocket (`exchange::socket`), the pools and users of lending (`lending::pools`,
//! `lending::users`), and Keplr (`cosmos::keplr`). The explorer's REST API is not covered: a node
//! has none.

use alloy::{
    primitives::{Address, U256, address},
    sol,
};
use serde_json::Value;
use tetrad_contracts::contracts::bindings::Token;

use crate::support::{
    TestNode,
    chain::{key, token, units, usd_e8},
    decimal, manual_clock, node, node_at, ticking_node,
};

sol! {
    /// The lending pool as the network's wallet calls it.
    interface WalletPool {
        function deposit(address asset, uint256 amount);
        function withdraw(address asset, uint256 amount);
        function borrow(address asset, uint256 amount);
        function repay(address asset, uint256 amount);
    }
}

/// The pool's address in the wallet's source.
const WALLET_POOL: Address = address!("0xa0fE00Da13cD944F2e41531E1E23aCcF12deAE4a");

async fn history(node: &TestNode, query: &str) -> Value {
    node.get_json(&format!(
        "/api/prices/{}/history{query}",
        key(&token("WETH"))
    ))
    .await
}

/// The price × 10^12, as the published documentation defines it.
fn adjusted(price: &Value) -> String {
    format!("{}0000", usd_e8(price))
}

#[tokio::test]
async fn the_wallet_reads_the_list_of_a_timeframe() {
    let node = node().await;
    let body = history(&node, "?timeframe=24h&limit=50").await;
    // `data.map(point => ({ x: point.timestamp, y: point.price }))`
    let points = body["data"].as_array().expect("the list itself");
    assert_eq!(
        (&body["success"], &body["count"]),
        (&true.into(), &points.len().into())
    );
    assert!(points.len() > 40);
    for point in points {
        assert!(
            point["timestamp"]
                .as_u64()
                .is_some_and(|ms| ms > 1_600_000_000_000),
            "{point}"
        );
        assert_eq!(
            point["adjustedPrice"].to_string(),
            adjusted(&point["price"])
        );
        assert_eq!(point.as_object().map(|point| point.len()), Some(3));
    }
    assert_eq!(body["timeframe"], "24h");
    let weth = token("WETH");
    let named = serde_json::json!({ "address": key(&weth), "symbol": "WETH", "name": weth.name });
    assert_eq!(body["token"], named);
    node.end().await;
}

/// The time and the price of each point, without what only one of the two shapes has.
fn prices(points: &[Value]) -> Vec<(Value, Value)> {
    points
        .iter()
        .map(|point| (point["timestamp"].clone(), point["price"].clone()))
        .collect()
}

#[tokio::test]
async fn scripts_read_the_object_of_a_period() {
    let node = node().await;
    let body = history(&node, "?period=24h&limit=50").await;
    let points = body["data"]["prices"].as_array().expect("a list");
    assert_eq!(body["count"], points.len());
    assert!(
        points
            .iter()
            .all(|point| point.as_object().map(|point| point.len()) == Some(2))
    );

    assert_eq!(
        (&body["timeframe"], &body["token"]),
        (&"24h".into(), &key(&token("WETH")).as_str().into())
    );

    // Both shapes have the same prices.
    let list = history(&node, "?timeframe=24h&limit=50").await;
    assert_eq!(
        prices(points),
        prices(list["data"].as_array().expect("a list"))
    );

    // Without a timeframe it is the object, of a day.
    assert_eq!(history(&node, "?limit=50").await, body);
    node.end().await;
}

#[tokio::test]
async fn the_documented_members_of_a_price_are_exact() {
    let node = node().await;
    let prices = node.get_json("/api/prices").await;
    for (address, entry) in prices["data"].as_object().expect("an object") {
        assert_eq!(
            &entry["address"], address,
            "lower case, in the key as in the entry"
        );
        assert_eq!(
            entry["adjustedPrice"].to_string(),
            adjusted(&entry["price"])
        );
        let seconds = entry["lastUpdated"].as_u64().expect("seconds");
        assert_eq!(entry["timestamp"], seconds * 1_000);
        let single = node.get_json(&format!("/api/prices/{address}")).await;
        assert_eq!(single["data"]["adjustedPrice"], entry["adjustedPrice"]);
        assert!(single["data"]["volume24h"].is_number());
    }
    node.end().await;
}

#[tokio::test]
async fn a_price_can_be_asked_for_by_symbol() {
    let node = node().await;
    let by_address = node
        .get_json(&format!("/api/prices/{}", key(&token("wstETH"))))
        .await;
    for symbol in ["wstETH", "WSTETH", "wsteth"] {
        assert_eq!(
            node.get_json(&format!("/api/prices/{symbol}")).await,
            by_address,
            "{symbol}"
        );
    }
    assert_eq!(
        node.get_json("/api/prices/weth/history?limit=5").await,
        history(&node, "?limit=5").await
    );
    assert_eq!(node.get("/api/prices/DOGE").await.status(), 404);
    node.end().await;
}

#[tokio::test]
async fn a_monitor_reads_named_services_and_a_message() {
    let node = node_at(manual_clock(), |_| {}).await;
    let body = node.get_json("/api/health").await;
    assert_eq!(
        (&body["status"], &body["success"]),
        (&"ok".into(), &true.into())
    );
    assert!(
        body["timestamp"]
            .as_u64()
            .is_some_and(|ms| ms >= 1_600_000_000_000)
            && body["uptime"].is_u64()
    );
    assert!(
        body["message"]
            .as_str()
            .is_some_and(|message| !message.is_empty())
    );

    for service in [
        "priceService",
        "oracleService",
        "websocketService",
        "databaseService",
    ] {
        assert_eq!(body["services"][service], true, "{service}");
    }

    // There is no cache that could fail, and so nothing to report.
    assert!(body["services"].get("cacheService").is_none());

    node.let_prices_age().await;
    node.increase_time(601).await;
    let body: Value = node.get("/api/health").await.json().await.expect("JSON");
    assert_eq!(
        (&body["status"], &body["services"]["priceService"]),
        (&"degraded".into(), &false.into()),
        "{body}"
    );
    assert!(
        body["message"]
            .as_str()
            .is_some_and(|message| message.contains("WETH")),
        "{body}"
    );
    assert_eq!(body["services"]["oracleService"], true);
    node.end().await;
}

#[tokio::test]
async fn a_status_page_reads_server_services_and_database() {
    let (node, _clock) = ticking_node().await;
    let body = node.get_json("/api/status").await;
    let data = &body["data"];
    assert!(data["server"]["uptime"].is_u64());

    let prices = &data["services"]["priceService"];
    let oracle = &data["services"]["oracleService"];
    assert_eq!(
        (&prices["status"], &prices["updateInterval"]),
        (&"ok".into(), &2_000.into())
    );
    assert_eq!(oracle["status"], "ok");

    assert_eq!(
        oracle["contractAddress"],
        "0x6e5da6d7a89c6B7cB0e5c64fcf326292F76A0352"
    );

    let (_, updated_at) = node.oracle_price(&token("WETH")).await;
    assert_eq!(
        (&prices["lastUpdate"], &oracle["lastUpdate"]),
        (&(updated_at * 1_000).into(), &prices["lastUpdate"])
    );

    assert_eq!(
        (
            &data["database"]["status"],
            &data["database"]["totalTokens"]
        ),
        (&"connected".into(), &12.into())
    );
    assert!(
        data["database"]["totalPriceRecords"]
            .as_u64()
            .is_some_and(|records| records > 12 * 1_440)
    );
    node.end().await;
}

#[tokio::test]
async fn the_wallet_lends_at_the_address_in_its_source() {
    let node = node().await;
    let user = node.signer(3);
    let usdc = token("USDC");
    let weth = token("WETH");
    for asset in [&usdc, &weth] {
        let approve = Token::approveCall {
            spender: WALLET_POOL,
            value: U256::MAX,
        };
        assert!(node.send(&user, asset.address, approve).await.status());
    }

    let collateral = units(&weth, 10);
    let loan = units(&usdc, 1_000);
    let deposit = WalletPool::depositCall {
        asset: weth.address,
        amount: collateral,
    };
    assert!(node.send(&user, WALLET_POOL, deposit).await.status());
    let borrow = WalletPool::borrowCall {
        asset: usdc.address,
        amount: loan,
    };
    assert!(node.send(&user, WALLET_POOL, borrow).await.status());

    // The wallet also shows strings that it parses as numbers.
    let summary = node
        .get_json(&format!("/api/user/{}", user.address()))
        .await;
    let borrowed = decimal(&summary["amountBorrowed"]);
    assert!((1_000.0..1_000.1).contains(&borrowed), "{summary}");
    let power = decimal(&summary["borrowingPower"]);
    let available = decimal(&summary["availableToBorrow"]);
    assert!((power - borrowed - available).abs() < 0.01);
    assert!(summary["creditScore"].is_u64());

    let repay = WalletPool::repayCall {
        asset: usdc.address,
        amount: units(&usdc, 2_000),
    };
    assert!(node.send(&user, WALLET_POOL, repay).await.status());
    let withdraw = WalletPool::withdrawCall {
        asset: weth.address,
        amount: U256::MAX,
    };
    assert!(node.send(&user, WALLET_POOL, withdraw).await.status());
    assert!(
        node.balance(&weth, user.address()).await + U256::from(1)
            >= units(&weth, weth.development_balance)
    );
    node.end().await;
}

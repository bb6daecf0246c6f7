//! Every route of the exchange, as the live network's clients read it.

use serde_json::Value;

use crate::support::{
    TestNode,
    chain::{key, token, usd_e8},
    node, node_with,
};

const TOKENS: [&str; 12] = [
    "WBTC", "wstETH", "WETH", "BNB", "UNI", "DOT", "TON", "CRO", "stETH", "USDT", "SOL", "USDC",
];

fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

/// The body of an error, whose shape is always the same.
async fn error(node: &TestNode, path: &str, status: u16) -> Value {
    let response = node.get(path).await;
    assert_eq!(response.status(), status, "{path}");
    assert_eq!(response.headers()["content-type"], "application/json");
    let body: Value = response.json().await.expect("JSON");
    assert_eq!(members(&body), ["error", "message", "success", "timestamp"]);
    assert_eq!(body["success"], false);
    assert!(
        body["timestamp"]
            .as_u64()
            .is_some_and(|ms| ms > 1_600_000_000_000)
    );
    body
}

#[tokio::test]
async fn prices_match_the_oracle() {
    let node = node().await;
    let body = node.get_json("/api/prices").await;
    assert_eq!(
        members(&body),
        ["cached", "count", "data", "success", "timestamp"]
    );
    assert_eq!(
        (&body["success"], &body["count"], &body["cached"]),
        (&true.into(), &12.into(), &false.into())
    );
    assert_eq!(node.get_json("/api/prices").await["cached"], true);

    for symbol in TOKENS {
        let token = token(symbol);
        let entry = &body["data"][key(&token)];
        let names = [
            "address",
            "adjustedPrice",
            "change24h",
            "decimals",
            "lastUpdated",
            "name",
            "price",
            "symbol",
            "timestamp",
        ];
        assert_eq!(members(entry), names, "{symbol}");
        assert_eq!(entry["address"], key(&token).as_str());
        assert_eq!(
            (&entry["symbol"], &entry["name"]),
            (&symbol.into(), &token.name.as_str().into())
        );
        assert_eq!(entry["decimals"], token.decimals);

        let (price, updated_at) = node.oracle_price(&token).await;
        assert_eq!(usd_e8(&entry["price"]), price, "{symbol}");
        assert_eq!(entry["timestamp"], updated_at * 1_000);
        assert!(entry["change24h"].is_number());
    }
    node.end().await;
}

#[tokio::test]
async fn a_price_is_found_by_its_address_in_any_case() {
    let node = node().await;
    let address = key(&token("wstETH"));
    let lower = node.get_json(&format!("/api/prices/{address}")).await;
    assert_eq!(members(&lower), ["data", "success", "timestamp"]);

    let names = [
        "address",
        "adjustedPrice",
        "change24h",
        "decimals",
        "lastUpdated",
        "name",
        "price",
        "symbol",
        "timestamp",
        "volume24h",
    ];
    assert_eq!(members(&lower["data"]), names);

    assert_eq!(
        (&lower["data"]["symbol"], &lower["data"]["address"]),
        (&"wstETH".into(), &address.as_str().into())
    );

    let upper = format!("0x{}", address[2..].to_uppercase());
    for spelling in [
        upper.as_str(),
        &token("wstETH").address.to_checksum(None),
        &address.to_uppercase(),
    ] {
        assert_eq!(
            node.get_json(&format!("/api/prices/{spelling}")).await,
            lower,
            "{spelling}"
        );
    }
    node.end().await;
}

fn symbols(body: &Value) -> Vec<&str> {
    let list = body["data"].as_array().expect("a list");
    list.iter()
        .map(|entry| entry["symbol"].as_str().expect("text"))
        .collect()
}

#[tokio::test]
async fn both_token_lists_are_served() {
    let node = node().await;
    let plain = node.get_json("/api/tokens").await;
    assert_eq!(members(&plain), ["count", "data", "success", "timestamp"]);

    let swap = node.get_json("/api/tokens/swap").await;
    assert_eq!(
        members(&swap),
        ["cached", "count", "data", "success", "timestamp"]
    );
    assert_eq!(symbols(&plain), TOKENS);
    assert_eq!(symbols(&swap), TOKENS);

    assert_eq!(
        members(&plain["data"][0]),
        ["address", "coinGeckoId", "decimals", "name", "symbol"]
    );
    let names = [
        "address",
        "decimals",
        "liquidity",
        "name",
        "price",
        "priceChange24h",
        "symbol",
        "volume24h",
    ];
    assert_eq!(members(&swap["data"][0]), names);
    assert_eq!(plain["data"][0]["coinGeckoId"], "wrapped-bitcoin");

    // Ten million dollars of each.
    assert!(
        swap["data"]
            .as_array()
            .expect("a list")
            .iter()
            .all(|entry| {
                usd_e8(&entry["liquidity"]).abs_diff(1_000_000_000_000_000) < 100_000_000_000
            })
    );
    node.end().await;
}

#[tokio::test]
async fn the_status_names_server_services_and_database() {
    let node = node().await;
    let body = node.get_json("/api/status").await;
    assert_eq!(members(&body), ["data", "success"]);
    assert_eq!(members(&body["data"]), ["database", "server", "services"]);
    node.end().await;
}

#[tokio::test]
async fn errors_have_one_shape() {
    let node = node_with(|config| config.rate_limit = 0).await;
    let known = key(&token("WETH"));
    for bad in [
        "x",
        "0x12",
        "0xzz0000000000000000000000000000000000000z",
        "%00",
        "%ff",
        "pax1qqq",
    ] {
        let path = format!("/api/prices/{bad}");
        let body = error(&node, &path, 400).await;
        assert_eq!(body["error"], "invalid_parameter", "{path}");
    }

    for (query, name) in [
        ("period=2h", "period"),
        ("timeframe=", "timeframe"),
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=1441", "limit"),
        ("limit=ten", "limit"),
        ("limit=99999999999999999999999", "limit"),
        ("period=1h&timeframe=24h", "timeframe"),
    ] {
        let body = error(&node, &format!("/api/prices/{known}/history?{query}"), 400).await;
        let message = body["message"].as_str().expect("text");
        assert!(
            message.starts_with(&format!("{name}: ")),
            "{query}: {message}"
        );
    }

    let stranger = "0x00000000000000000000000000000000000000aa";
    assert_eq!(
        error(&node, &format!("/api/prices/{stranger}"), 404).await["error"],
        "not_found"
    );
    error(&node, &format!("/api/prices/{stranger}/history"), 404).await;

    for path in [
        "/api/",
        "/api/nothing",
        "/api/prices/",
        "/api/prices/a/b/c",
        "/api/swap",
    ] {
        error(&node, path, 404).await;
    }
    node.end().await;
}

#[tokio::test]
async fn other_methods_are_not_allowed() {
    let node = node_with(|config| config.rate_limit = 0).await;
    for path in [
        "/api/prices",
        "/api/health",
        "/api/tokens/swap",
        "/api/pools",
        "/api/network",
        "/health",
        "/ready",
    ] {
        let url = format!("{}{path}", node.rest_url());
        for request in [
            node.http.post(&url),
            node.http.delete(&url),
            node.http.put(&url).body("{}"),
        ] {
            let response = request.send().await.expect("an answer");
            assert_eq!(response.status(), 405, "{path}");
            assert_eq!(response.headers()["allow"], "GET,HEAD", "{path}");
            let body: Value = response.json().await.expect("JSON");
            assert_eq!(
                (&body["success"], &body["error"]),
                (&false.into(), &"method_not_allowed".into())
            );
        }
    }

    for (path, allowed) in [
        ("/api/faucet", "GET,HEAD,POST"),
        ("/api/admin/prices/WETH", "POST,DELETE"),
    ] {
        let request = node.http.put(format!("{}{path}", node.rest_url()));
        let response = request.body("{}").send().await.expect("an answer");
        assert_eq!(response.status(), 405, "{path}");
        assert_eq!(response.headers()["allow"], allowed, "{path}");
    }
    node.end().await;
}

#[tokio::test]
async fn a_matching_entity_tag_answers_304() {
    let node = node_with(|config| {
        config.exchange.price_tick = Some(std::time::Duration::from_secs(3_600))
    })
    .await;
    let first = node.get("/api/prices").await;
    assert_eq!(first.headers()["cache-control"], "public, max-age=3600");
    let etag = first.headers()["etag"].clone();
    assert!(etag.to_str().expect("text").starts_with('"'), "strong");
    assert!(first.headers().contains_key("last-modified") && first.headers().contains_key("age"));

    let url = format!("{}/api/prices", node.rest_url());
    let again = node
        .http
        .get(&url)
        .header("if-none-match", &etag)
        .send()
        .await
        .expect("an answer");
    assert_eq!(again.status(), 304);
    assert!(again.headers().contains_key("etag") && again.headers().contains_key("cache-control"));
    assert_eq!(again.bytes().await.expect("a body").len(), 0);

    let other = node
        .http
        .get(&url)
        .header("if-none-match", "\"other\"")
        .send()
        .await
        .expect("an answer");
    assert_eq!(other.status(), 200);

    let head = node.http.head(&url).send().await.expect("an answer");
    assert_eq!(head.status(), 200);
    assert!(head.headers().contains_key("etag"));

    // A new block changes the body.
    node.mine().await;
    let changed = node
        .http
        .get(&url)
        .header("if-none-match", &etag)
        .send()
        .await
        .expect("an answer");
    assert_eq!(changed.status(), 200);
    assert_eq!(
        changed.json::<Value>().await.expect("JSON")["cached"],
        false
    );
    node.end().await;
}

#[tokio::test]
async fn concurrent_requests_share_one_body() {
    let node = node_with(|config| config.rate_limit = 0).await;
    let asked = (0..50).map(|_| node.get_json("/api/prices"));
    let bodies = futures_util::future::join_all(asked).await;
    assert_eq!(
        bodies.iter().filter(|body| body["cached"] == false).count(),
        1
    );
    assert!(bodies.iter().all(|body| body["data"] == bodies[0]["data"]));
    node.end().await;
}

#[tokio::test]
async fn another_chain_has_no_exchange_routes() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let genesis = r#"{"config":{"chainId":9,"terminalTotalDifficulty":0,"shanghaiTime":0},"gasLimit":"0x1c9c380","difficulty":"0x0","alloc":{}}"#;
    std::fs::write(file.path(), genesis).expect("the file is written");
    let node = node_with(|config| config.genesis = Some(file.path().to_owned())).await;
    for path in [
        "/api/prices",
        "/api/pools",
        "/api/network",
        "/api/health",
        "/ws",
    ] {
        assert_eq!(node.get(path).await.status(), 404, "{path}");
    }
    assert_eq!(node.get("/health").await.status(), 200);
    assert_eq!(node.get("/ready").await.status(), 200);
    assert_eq!(
        node.get("/cosmos/auth/v1beta1/accounts/0x00000000000000000000000000000000000000aa")
            .await
            .status(),
        404
    );
    node.end().await;
}

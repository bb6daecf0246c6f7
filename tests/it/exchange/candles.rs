//! `GET /api/prices/<address>/candles`.

use alloy::{primitives::U256, sol_types::SolEvent};
use serde_json::Value;
use tetrad_contracts::contracts::bindings::{PriceOracle, Vault};

use crate::support::{
    TestNode,
    chain::{VAULT, key, token, units, usd_e8},
    node, ticking_node,
};

async fn candles(node: &TestNode, symbol: &str, query: &str) -> Vec<Value> {
    let body = node
        .get_json(&format!(
            "/api/prices/{}/candles{query}",
            key(&token(symbol))
        ))
        .await;
    let candles = body["data"].as_array().expect("a list").clone();
    assert_eq!(body["count"], candles.len());
    candles
}

#[tokio::test]
async fn candles_match_the_logs() {
    let (node, clock) = ticking_node().await;

    let weth = token("WETH");
    for _ in 0..70 {
        clock.advance(7_000);
        node.wake().await;
    }

    let mut logged = vec![(
        node.chain().head().genesis.header.timestamp,
        weth.reference_price,
    )];
    for number in 1..=node.block_number().await {
        let block = node.chain().head().block(number).expect("a block").clone();

        let updates = block
            .logs()
            .filter_map(|at| PriceOracle::PriceUpdated::decode_log_data(&at.log.data).ok());
        let own = updates.filter(|event| event.token == weth.address);
        logged.extend(own.map(|event| (event.timestamp.to::<u64>(), event.price.to::<u64>())));
    }

    let start = logged[0].0;

    for (interval, seconds) in [("1m", 60), ("5m", 300)] {
        let mut compared = 0;
        for candle in candles(&node, "WETH", &format!("?interval={interval}")).await {
            let begin = candle["timestamp"].as_u64().expect("a time") / 1_000;
            if begin < start {
                continue;
            }

            let open = logged
                .iter()
                .rev()
                .find(|(time, _)| *time <= begin)
                .expect("a price")
                .1;
            let within = logged
                .iter()
                .filter(|(time, _)| *time > begin && *time < begin + seconds);
            let prices: Vec<u64> = std::iter::once(open)
                .chain(within.map(|(_, price)| *price))
                .collect();

            let expected = [
                Some(&open),
                prices.iter().max(),
                prices.iter().min(),
                prices.last(),
            ];
            let names = ["open", "high", "low", "close"];
            assert_eq!(
                names.map(|name| usd_e8(&candle[name])),
                expected.map(|price| *price.expect("a price"))
            );

            compared += 1;
        }

        assert!(compared >= 1, "{interval}");
    }
    node.end().await;
}

#[tokio::test]
async fn volume_is_the_swapped_amount() {
    let node = node().await;
    let user = node.signer(0);
    node.approve_all(&user, VAULT).await;
    let weth = token("WETH");
    let usdc = token("USDC");
    let swap = Vault::swapExactTokensForTokensCall {
        _tokenIn: weth.address,
        _tokenOut: usdc.address,
        _amountIn: units(&weth, 2),
        _minAmountOut: U256::ZERO,
    };
    assert!(node.send(&user, VAULT, swap).await.status());
    let now = candles(&node, "WETH", "?interval=1m")
        .await
        .pop()
        .expect("a candle");
    let day = candles(&node, "WETH", "?interval=1d")
        .await
        .pop()
        .expect("a candle");
    assert_eq!(usd_e8(&now["volume"]), 2 * weth.reference_price);
    assert_eq!(now["volume"], day["volume"]);
    assert_eq!(node.price_entry(&weth).await["price"], now["close"]);
    let single = node.get_json(&format!("/api/prices/{}", key(&weth))).await;
    assert_eq!(single["data"]["volume24h"], now["volume"]);
    node.end().await;
}

#[tokio::test]
async fn a_new_chain_has_a_month_of_candles() {
    let node = node().await;
    for (query, count) in [
        ("", 100),
        ("?interval=1m&limit=1440", 1_440),
        ("?interval=5m&limit=1000", 1_000),
        ("?interval=1h&limit=700", 700),
        ("?interval=1d&limit=29", 29),
    ] {
        let candles = candles(&node, "SOL", query).await;
        assert_eq!(candles.len(), count, "{query}");
        for candle in &candles {
            let [open, high, low, close] =
                ["open", "high", "low", "close"].map(|name| usd_e8(&candle[name]));
            assert!(
                low <= open.min(close) && open.max(close) <= high && low > 0,
                "{candle}"
            );
        }
    }
    for query in ["?interval=2m", "?interval=", "?limit=0", "?limit=1441"] {
        let path = format!("/api/prices/{}/candles{query}", key(&token("SOL")));
        assert_eq!(node.get(&path).await.status(), 400, "{query}");
    }
    node.end().await;
}

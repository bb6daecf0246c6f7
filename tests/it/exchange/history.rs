//! Past prices and volumes.

use alloy::{primitives::U256, sol_types::SolEvent};
use proptest::prelude::*;
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{PriceOracle, Token, Vault};
use tetrad_exchange::Market;

use crate::support::{
    TestNode,
    chain::{ORACLE, VAULT, key, token, units, usd_e8},
    node, ticking_node,
};

async fn history(node: &TestNode, symbol: &str, query: &str) -> Value {
    node.get_json(&format!(
        "/api/prices/{}/history{query}",
        key(&token(symbol))
    ))
    .await
}

fn times(body: &Value) -> Vec<u64> {
    let prices = body["data"]["prices"].as_array().expect("a list");
    prices
        .iter()
        .map(|point| point["timestamp"].as_u64().expect("a time"))
        .collect()
}

#[tokio::test]
async fn a_new_chain_has_price_history() {
    let node = node().await;
    let now = node.chain().head().block.header.timestamp * 1_000;
    for (query, timeframe, span, count) in [
        ("", "24h", 86_400_000, 100),
        ("?period=1h", "1h", 3_600_000, 60),
        ("?period=24h&limit=1440", "24h", 86_400_000, 1_440),
        ("?period=7d", "7d", 604_800_000, 100),
        (
            "?period=30d&timeframe=30d&limit=720",
            "30d",
            2_592_000_000,
            700,
        ),
        ("?limit=1", "24h", 0, 1),
    ] {
        let body = history(&node, "WETH", query).await;
        assert_eq!(body["success"], true);
        assert_eq!(
            (&body["timeframe"], &body["token"]),
            (&timeframe.into(), &key(&token("WETH")).as_str().into())
        );

        let times = times(&body);
        assert_eq!(body["count"], times.len());
        assert!(
            times.len() as u64 >= count - 1 && times.is_sorted_by(|a, b| a < b),
            "{query}: {}",
            times.len()
        );

        assert_eq!(times.last(), Some(&now), "the last is the current price");
        let first = times[0];
        assert!(
            first + span + 60_000 >= now && first + span <= now + 3_600_000 + span / 50,
            "{query}"
        );
        assert!(
            body["data"]["prices"]
                .as_array()
                .expect("a list")
                .iter()
                .all(|point| usd_e8(&point["price"]) > 0)
        );
    }
    node.end().await;
}

#[tokio::test]
async fn the_change_covers_one_day() {
    let (node, clock) = ticking_node().await;
    let weth = token("WETH");
    // A day later, the price of the first block is the one to compare with.
    clock.advance(86_400_000);
    node.mine().await;
    clock.advance(90_000);
    node.mine().await;
    let entry = node.price_entry(&weth).await;
    let price = i128::from(usd_e8(&entry["price"]));
    let before = i128::from(weth.reference_price);
    let hundredths = ((price - before) as f64 * 10_000.0 / before as f64).round();
    assert_eq!(
        (entry["change24h"].as_f64().expect("a number") * 100.0).round(),
        hundredths
    );
    node.end().await;
}

#[tokio::test]
async fn history_matches_the_logs() {
    let (node, clock) = ticking_node().await;
    for _ in 0..5 {
        clock.advance(61_000);
        node.wake().await;
    }
    let weth = token("WETH");
    let mut logged = Vec::new();
    for number in 1..=node.block_number().await {
        let block = node.chain().head().block(number).expect("a block").clone();
        let updates = block
            .logs()
            .filter_map(|at| PriceOracle::PriceUpdated::decode_log_data(&at.log.data).ok());
        let own = updates.filter(|event| event.token == weth.address);
        logged.extend(own.map(|event| (event.timestamp.to::<u64>(), event.price.to::<u64>())));
    }
    assert_eq!(logged.len(), 5);
    let body = history(&node, "WETH", "?period=1h&limit=1440").await;
    for point in body["data"]["prices"].as_array().expect("a list") {
        let time = point["timestamp"].as_u64().expect("a time") / 1_000;
        let price = usd_e8(&point["price"]);
        if let Some((_, expected)) = logged.iter().rev().find(|(at, _)| *at <= time) {
            assert_eq!(price, *expected, "at {time}");
        }
    }
    node.end().await;
}

/// A random event of a chain. Whether the market is read afterwards is drawn separately.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Time passes and a block is sealed.
    Block {
        seconds: u64,
    },
    /// Several blocks at once.
    Blocks {
        count: u64,
    },
    Swap {
        whole: u64,
    },
    Snapshot,
    Revert {
        which: usize,
    },
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0u64..400).prop_map(|seconds| Event::Block { seconds }),
        1 => (3_000u64..200_000).prop_map(|seconds| Event::Block { seconds }),
        1 => Just(Event::Block { seconds: 90_000_000 }),
        2 => (1u64..40).prop_map(|count| Event::Blocks { count }),
        3 => (1u64..5).prop_map(|whole| Event::Swap { whole }),
        2 => Just(Event::Snapshot),
        3 => any::<usize>().prop_map(|which| Event::Revert { which }),
    ]
}

/// Asserts that the followed market and a new one have the same quotes and series.
async fn assert_same(followed: &Market, node: &TestNode) {
    let config = node.config();
    // The node may seal a block by itself in between.
    let (followed, fresh) = loop {
        let fresh = Market::new(
            node.chain().clone(),
            followed.network().clone(),
            config.seed,
            true,
            None,
        );
        let known = followed.current().await.expect("a market");
        let fresh = fresh.current().await.expect("a market");
        if known.number == fresh.number && known.time == fresh.time {
            break (known, fresh);
        }
    };

    assert_eq!(followed.quotes, fresh.quotes);
    for (token, quote) in followed.quotes.iter().enumerate() {
        for (seconds, count) in [(3_600, 1_440), (86_400, 1_440), (2_592_000, 1_440)] {
            let [one, other] = [&followed, &fresh].map(|market| {
                market
                    .history
                    .series(token, quote.price, market.time, seconds, count)
            });
            assert_eq!(one, other, "token {token}, {seconds} s");
        }
    }
}

async fn run(events: Vec<(Event, bool)>) {
    let (node, clock) = ticking_node().await;

    let user = node.signer(0);
    let weth = token("WETH");
    let approve = Token::approveCall {
        spender: VAULT,
        value: U256::MAX,
    };
    node.send(&user, weth.address, approve).await;

    let network = std::sync::Arc::new(node.config().network.clone());
    let market = Market::new(
        node.chain().clone(),
        network,
        node.config().seed,
        true,
        None,
    );

    let mut snapshots = Vec::new();
    for (event, looked_at) in events {
        match event {
            Event::Block { seconds } => {
                clock.advance(seconds * 1_000);
                node.mine().await;
            }
            Event::Blocks { count } => {
                node.rpc("evm_mine", json!([{ "blocks": count }])).await;
            }
            Event::Swap { whole } => {
                let swap = Vault::swapExactTokensForTokensCall {
                    _tokenIn: weth.address,
                    _tokenOut: token("USDC").address,
                    _amountIn: units(&weth, whole),
                    _minAmountOut: U256::ZERO,
                };
                // It may revert: reserves and balances are limited.
                node.send_anyway(&user, VAULT, swap).await;
            }
            Event::Snapshot => snapshots.push(node.rpc("evm_snapshot", json!([])).await),
            Event::Revert { which } if !snapshots.is_empty() => {
                let at = which % snapshots.len();
                assert_eq!(node.rpc("evm_revert", json!([snapshots[at]])).await, true);
                snapshots.truncate(at);
            }
            Event::Revert { .. } => {}
        }

        if looked_at {
            assert_same(&market, &node).await;
        }
    }
    assert_same(&market, &node).await;

    // After a revert a price update may be due, in a block of its own.
    node.wake().await;
    let (price, _) = node.oracle_price(&weth).await;
    assert_eq!(
        market.current().await.expect("a market").quotes[2].price,
        price
    );
    node.end().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// A market's content depends on the chain alone, not on how and when it was read before.
    #[test]
    fn a_market_that_followed_the_chain_equals_a_new_one(
        events in prop::collection::vec((event(), any::<bool>()), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        runtime.expect("a runtime").block_on(run(events));
    }
}

/// The oracle is at its published address.
#[tokio::test]
async fn rest_reads_the_published_oracle() {
    let node = node().await;
    let price = node
        .view(
            ORACLE,
            PriceOracle::getPriceCall {
                token: token("SOL").address,
            },
        )
        .await;
    assert_eq!(
        usd_e8(&node.price_entry(&token("SOL")).await["price"]),
        price.price.to::<u64>()
    );
    node.end().await;
}

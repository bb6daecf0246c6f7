//! `GET /api/pools/<asset>/history`.

use serde_json::Value;
use tetrad::{decimal::with_point, lending::yearly_percent};

use crate::{
    contracts::abi_lending::LendingLens,
    support::{
        abi::Pool,
        chain::{token, units},
        manual_clock, node, node_at,
    },
};

#[tokio::test]
async fn each_sample_is_the_view_of_its_block() {
    let node = node_at(manual_clock(), |_| {}).await;
    let user = node.signer(1);
    let contracts = node.config().network.contracts;
    node.approve_all(&user, contracts.lending_pool).await;
    let usdc = token("USDC");
    for step in 1..=6 {
        node.increase_time(3_600).await;
        let deposit = Pool::depositCall { asset: usdc.address, amount: units(&usdc, step * 10_000) };
        assert!(node.send(&user, contracts.lending_pool, deposit).await.status());
        node.mine().await;
    }
    let now = node.chain().head().block.header.timestamp * 1_000;
    for (query, least) in [("", 6), ("?period=24h&limit=500", 7), ("?timeframe=1h&limit=10", 1), ("?limit=1", 1)] {
        let body = node.get_json(&format!("/api/pools/USDC/history{query}")).await;
        let samples = body["history"].as_array().expect("a list");
        assert_eq!(body["count"], samples.len());
        assert!(samples.len() >= least, "{query}: {}", samples.len());
        assert!(samples.is_sorted_by(|a, b| a["blockNumber"].as_u64() < b["blockNumber"].as_u64()));
        assert_eq!(samples.last().expect("a sample")["timestamp"], now, "the present is the last");
        for sample in samples {
            let height = sample["blockNumber"].as_u64().expect("a number");
            let call = LendingLens::getPoolCall { asset: usdc.address };
            let view = node.view_at(contracts.lending_lens, call, height).await;
            assert_eq!(sample["totalSupplied"], with_point(view.totalSupplied, 6));
            assert_eq!(sample["totalBorrowed"], with_point(view.totalDebt, 6));
            assert_eq!(sample["supplyApy"], yearly_percent(view.supplyRate));
            assert_eq!(sample["borrowApy"], yearly_percent(view.borrowRates[0]));
        }
        let utilisation =
            |sample: &Value| sample["utilisation"].as_str().expect("text").parse::<f64>().expect("a number");
        assert!(samples.is_sorted_by(|a, b| utilisation(a) >= utilisation(b)), "deposits lower it");
    }
    // What is asked for again comes from memory, and is the same.
    let first = node.get_json("/api/pools/USDC/history").await;
    assert_eq!(node.get_json("/api/pools/USDC/history").await, first);
    node.end().await;
}

#[tokio::test]
async fn what_is_asked_for_is_checked() {
    let node = node().await;
    for query in ["limit=0", "limit=501", "period=2h", "period=1h&timeframe=7d"] {
        assert_eq!(node.get(&format!("/api/pools/WETH/history?{query}")).await.status(), 400, "{query}");
    }
    node.end().await;
}

//! `GET /api/pools/<asset>/history`.

use std::{path::Path, sync::Arc};

use tetrad_contracts::contracts::bindings::{LendingLens, LendingPool};
use tetrad_lending::lending::yearly_percent;
use tetrad_stdx::{clock::ManualClock, decimal::with_point};

use crate::support::{
    TestNode,
    chain::{token, units},
    decimal, manual_clock, node, node_at,
};

#[tokio::test]
async fn each_sample_matches_the_view_of_its_block() {
    let node = node_at(manual_clock(), |_| {}).await;
    let user = node.signer(1);
    let contracts = node.config().network.contracts;
    node.approve_all(&user, contracts.lending_pool).await;

    let usdc = token("USDC");
    for step in 1..=6 {
        node.increase_time(3_600).await;
        let deposit = LendingPool::depositCall {
            asset: usdc.address,
            amount: units(&usdc, step * 10_000),
        };
        assert!(
            node.send(&user, contracts.lending_pool, deposit)
                .await
                .status()
        );
        node.mine().await;
    }

    let now = node.chain().head().block.header.timestamp * 1_000;
    for (query, least) in [
        ("", 6),
        ("?period=24h&limit=500", 7),
        ("?timeframe=1h&limit=10", 1),
        ("?limit=1", 1),
    ] {
        let body = node
            .get_json(&format!("/api/pools/USDC/history{query}"))
            .await;

        let samples = body["history"].as_array().expect("a list");
        assert_eq!(body["count"], samples.len());
        assert!(samples.len() >= least, "{query}: {}", samples.len());
        assert!(samples.is_sorted_by(|a, b| a["blockNumber"].as_u64() < b["blockNumber"].as_u64()));
        assert_eq!(
            samples.last().expect("a sample")["timestamp"],
            now,
            "the last sample is the current state"
        );

        for sample in samples {
            let height = sample["blockNumber"].as_u64().expect("a number");
            let call = LendingLens::getPoolCall {
                asset: usdc.address,
            };
            let view = node.view_at(contracts.lending_lens, call, height).await;
            assert_eq!(sample["totalSupplied"], with_point(view.totalSupplied, 6));
            assert_eq!(sample["totalBorrowed"], with_point(view.totalDebt, 6));
            assert_eq!(sample["supplyApy"], yearly_percent(view.supplyRate));
            assert_eq!(sample["borrowApy"], yearly_percent(view.borrowRates[0]));
        }

        assert!(
            samples.is_sorted_by(|a, b| decimal(&a["utilisation"]) >= decimal(&b["utilisation"])),
            "deposits lower the utilisation"
        );
    }

    // A repeated request is answered from memory, with the same result.
    let first = node.get_json("/api/pools/USDC/history").await;
    assert_eq!(node.get_json("/api/pools/USDC/history").await, first);
    node.end().await;
}

/// A node with its chain in a directory and this many blocks in memory.
async fn start(clock: &Arc<ManualClock>, directory: &Path, blocks: u64) -> TestNode {
    node_at(clock.clone(), |config| {
        config.data_dir = Some(directory.to_owned());
        config.history.blocks = blocks;
    })
    .await
}

#[tokio::test]
async fn samples_of_states_on_disk_equal_those_of_states_in_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let clock = manual_clock();

    let node = start(&clock, directory.path(), 100_000).await;
    let (pool, lens) = {
        let contracts = &node.config().network.contracts;
        (contracts.lending_pool, contracts.lending_lens)
    };

    let user = node.signer(1);
    node.approve_all(&user, pool).await;
    let usdc = token("USDC");
    let weth = token("WETH");

    for step in 1..=8u64 {
        node.increase_time(2_000 * step).await;
        let deposit = LendingPool::depositCall {
            asset: usdc.address,
            amount: units(&usdc, step * 1_000),
        };
        assert!(node.send(&user, pool, deposit).await.status());

        node.increase_time(777).await;
        if step % 2 == 0 {
            let deposit = LendingPool::depositCall {
                asset: weth.address,
                amount: units(&weth, 1),
            };
            assert!(node.send(&user, pool, deposit).await.status());
        }

        if step == 5 {
            let view = node
                .view(
                    lens,
                    LendingLens::getPoolCall {
                        asset: weth.address,
                    },
                )
                .await;
            let mut parameters = view.parameters;
            (parameters.slope1Bps, parameters.reserveFactorBps) = (900, 2_500);
            let change = LendingPool::setParametersCall {
                asset: weth.address,
                parameters,
            };
            assert!(node.send(&node.treasury(), pool, change).await.status());
        }

        // Interest accrues in blocks that do not touch the pool.
        node.increase_time(1_234).await;
        node.mine().await;
    }

    let paths =
        ["USDC", "WETH"].map(|symbol| format!("/api/pools/{symbol}/history?period=24h&limit=500"));
    let mut before = Vec::new();
    for path in &paths {
        before.push(
            node.get_json(path).await["history"]
                .as_array()
                .expect("a list")
                .clone(),
        );
    }
    node.end().await;

    let node = start(&clock, directory.path(), 4).await;
    let oldest = node.chain().head().oldest();
    for (path, before) in paths.iter().zip(&before) {
        let after = node.get_json(path).await["history"]
            .as_array()
            .expect("a list")
            .clone();

        let gone = after
            .iter()
            .filter(|sample| sample["blockNumber"].as_u64() < Some(oldest))
            .count();
        assert!(gone > 10, "{gone} samples of {path} are older than memory");
        assert_eq!(after, *before, "{path}");
    }
    node.end().await;
}

#[tokio::test]
async fn parameters_are_validated() {
    let node = node().await;
    for query in [
        "limit=0",
        "limit=501",
        "period=2h",
        "period=1h&timeframe=7d",
    ] {
        assert_eq!(
            node.get(&format!("/api/pools/WETH/history?{query}"))
                .await
                .status(),
            400,
            "{query}"
        );
    }
    node.end().await;
}

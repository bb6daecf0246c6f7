//! Prices from a recording.

use std::{path::Path, time::Duration};

use tetrad::{Config, Node};
use tetrad_exchange::feed::{Recording, SourceSpec};
use tetrad_network::network::Network;

use crate::support::{
    chain::{token, usd_e8},
    manual_clock, node_at,
};

fn sample(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("config")
        .join(name)
}

#[test]
fn the_shipped_samples_are_equal() {
    let network = Network::default();
    let csv = Recording::read(&sample("prices.csv"), &network).expect("a recording");
    assert_eq!(
        csv,
        Recording::read(&sample("prices.json"), &network).expect("a recording")
    );
    assert!(csv.at(0).iter().all(Option::is_some));
}

#[tokio::test]
async fn a_recording_sets_the_prices_of_the_chain() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(Duration::from_secs(2));
        config.exchange.price_sources = vec![SourceSpec::Replay(sample("prices.csv"))];
        config.rate_limit = 0;
    });
    let node = node.await;

    let recording =
        Recording::read(&sample("prices.csv"), &node.config().network).expect("a recording");
    let weth = token("WETH");

    for minute in 1..60u64 {
        clock.advance(60_000);
        node.wake().await;
        let expected = recording.at(minute * 60)[2].expect("a price");
        assert_eq!(
            node.oracle_price(&weth).await.0,
            expected,
            "minute {minute}"
        );
        assert_eq!(usd_e8(&node.price_entry(&weth).await["price"]), expected);
    }

    let body = node.get_json("/api/status").await;
    let source = &body["data"]["services"]["guards"]["sources"][0];
    assert_eq!(source["status"], "ok");
    assert!(
        source["name"]
            .as_str()
            .expect("text")
            .starts_with("replay:")
    );

    // After the end the last prices hold and stay fresh.
    clock.advance(3_600_000);
    node.wake().await;
    assert!(node.is_fresh(&weth).await);
    node.end().await;
}

#[tokio::test]
async fn a_recording_that_cannot_be_played_is_an_error_at_the_start() {
    for (content, expected) in [
        (None, "No such file"),
        (Some("time,DOGE\n"), "line 1: no token `DOGE`"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("prices.csv");
        if let Some(content) = content {
            std::fs::write(&file, content).expect("the file is written");
        }
        let mut config = Config::test();
        config.exchange.price_sources = vec![SourceSpec::Replay(file)];
        let error = Node::spawn(config)
            .await
            .err()
            .expect("an error")
            .to_string();
        assert!(
            error.contains("exchange.price-sources") && error.contains(expected),
            "{error}"
        );
    }
}

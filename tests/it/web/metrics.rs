//! `GET /metrics`, read the way Prometheus reads it.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    time::Duration,
};

use serde_json::json;
use tetrad::config::MetricsAt;
use tokio_tungstenite::connect_async;

use crate::support::{TestNode, node, node_with, ticking_node};

/// Samples by name and labels, as they stand in the text. Fails on what Prometheus would refuse.
async fn scrape(node: &TestNode) -> BTreeMap<String, f64> {
    let response = node.get("/metrics").await;
    assert_eq!(
        response.headers()["content-type"],
        "text/plain; version=0.0.4; charset=utf-8"
    );
    let text = response.text().await.expect("text");

    let mut samples = BTreeMap::new();
    let mut kinds = BTreeMap::new();
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a name and a kind");
            assert!(
                kinds.insert(name.to_owned(), kind.to_owned()).is_none(),
                "{name} comes twice"
            );
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            let family = name.split('{').next().expect("a name");
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| {
                family
                    .strip_suffix(suffix)
                    .filter(|base| kinds.get(*base).is_some_and(|kind| kind == "histogram"))
            });
            let kind = kinds
                .get(base.unwrap_or(family))
                .unwrap_or_else(|| panic!("{line} has no type"));
            assert_eq!(kind == "counter", family.ends_with("_total"), "{line}");

            let before = samples.insert(name.to_owned(), value.parse().expect("a number"));
            assert!(before.is_none(), "{name} comes twice");
        }
    }

    samples
}

/// The number of requests of a method, as samples have it.
fn requests_of(samples: &BTreeMap<String, f64>, method: &str) -> f64 {
    samples[&format!("tetrad_rpc_request_duration_seconds_count{{method=\"{method}\"}}")]
}

#[tokio::test]
async fn requests_and_errors_are_counted_by_method_and_code() {
    let node = node().await;
    for _ in 0..3 {
        node.rpc("eth_blockNumber", json!([])).await;
    }
    node.rpc("evm_mine", json!([])).await;
    node.rpc_error("eth_nothing", json!([])).await;
    node.rpc_error("eth_getBalance", json!(["nonsense", "latest"]))
        .await;
    let batch =
        json!([1, 2].map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "eth_chainId"})));
    node.post(batch.to_string()).await;

    let samples = scrape(&node).await;
    for (method, requests) in [
        ("eth_blockNumber", 3.0),
        ("evm_mine", 1.0),
        ("eth_chainId", 2.0),
        ("eth_getBalance", 1.0),
    ] {
        assert_eq!(requests_of(&samples, method), requests, "{method}");
    }
    assert_eq!(samples["tetrad_rpc_errors_total{code=\"-32601\"}"], 1.0);
    assert_eq!(samples["tetrad_rpc_errors_total{code=\"-32602\"}"], 1.0);
    assert!(
        !samples.keys().any(|name| name.contains("eth_nothing")),
        "names that clients make up are no labels"
    );
    let endless = samples["tetrad_rpc_request_duration_seconds_bucket{method=\"eth_blockNumber\",le=\"+Inf\"}"];
    assert_eq!(endless, 3.0);
    node.end().await;
}

#[tokio::test]
async fn the_chain_and_the_process_are_described() {
    let node = node().await;
    let before = scrape(&node).await;
    node.rpc("evm_mine", json!([{ "blocks": 4 }])).await;
    // The counters follow the chain's events.
    let after = loop {
        let samples = scrape(&node).await;
        if samples["tetrad_blocks_total"] >= 4.0 {
            break samples;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(
        after["tetrad_head_block"] - before["tetrad_head_block"],
        4.0
    );
    assert_eq!(after["tetrad_head_gas_limit"], 60_000_000.0);
    assert_eq!(after["tetrad_pool_transactions"], 0.0);
    assert!(after["process_start_time_seconds"] > 1.6e9);
    if cfg!(target_os = "linux") {
        assert!(after["process_resident_memory_bytes"] > 1e6 && after["process_open_fds"] > 3.0);
        assert!(after["process_cpu_seconds_total"] >= before["process_cpu_seconds_total"]);
    }
    node.end().await;
}

#[tokio::test]
async fn rest_requests_count_by_status_and_prices_by_age() {
    let (node, clock) = ticking_node().await;
    node.get("/api/prices").await;
    node.get("/api/nothing").await;
    node.get("/api/pools").await;
    let samples = scrape(&node).await;
    assert_eq!(
        samples["tetrad_http_requests_total{interface=\"exchange\",status=\"200\"}"],
        1.0
    );
    assert_eq!(
        samples["tetrad_http_requests_total{interface=\"exchange\",status=\"404\"}"],
        1.0
    );
    assert_eq!(
        samples["tetrad_http_request_duration_seconds_count{interface=\"lending\"}"],
        1.0
    );
    assert_eq!(samples["tetrad_prices_fresh"], 1.0);
    assert_eq!(samples["tetrad_price_usd{token=\"USDC\"}"].round(), 1.0);
    clock.advance(1_000);
    let later = scrape(&node).await;
    let age = |samples: &BTreeMap<String, f64>| samples["tetrad_price_age_seconds{token=\"WBTC\"}"];
    assert_eq!(age(&later) - age(&samples), 1.0);
    node.end().await;
}

#[tokio::test]
async fn sockets_count_while_they_are_open() {
    let node = node().await;
    let (rpc, _) = connect_async(node.ws_url()).await.expect("a socket");
    let prices = node.price_socket().await;
    let open = scrape(&node).await;
    assert_eq!(
        (open["tetrad_rpc_sockets"], open["tetrad_price_sockets"]),
        (1.0, 1.0)
    );
    drop((rpc, prices));
    while scrape(&node).await["tetrad_rpc_sockets"] > 0.0
        || scrape(&node).await["tetrad_price_sockets"] > 0.0
    {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    node.end().await;
}

#[tokio::test]
async fn metrics_may_have_a_separate_listener_or_none() {
    // A port that was free a moment ago.
    let address: SocketAddr = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|one| one.local_addr())
        .expect("a port");
    let own = node_with(|config| config.metrics = MetricsAt::Own(address)).await;
    assert_eq!(own.get("/metrics").await.status(), 404);
    let text = own
        .http
        .get(format!("http://{address}/metrics"))
        .send()
        .await
        .expect("an answer");
    assert!(
        text.text()
            .await
            .expect("text")
            .contains("tetrad_head_block 0\n")
    );
    let other = own
        .http
        .get(format!("http://{address}/api/prices"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(other.status(), 404);
    own.end().await;

    let off = node_with(|config| config.metrics = MetricsAt::Off).await;
    assert_eq!(off.get("/metrics").await.status(), 404);
    off.end().await;
}

#[tokio::test]
async fn phases_of_blocks_and_the_data_directory_are_described() {
    let directory = tempfile::tempdir().expect("a directory");
    let node = node_with(|config| {
        config.data_dir = Some(directory.path().join("chain"));
        config.checkpoint_bytes = 1;
    })
    .await;

    for _ in 0..3 {
        node.rpc("evm_mine", json!([])).await;
    }

    // Checkpoints are written in the background.
    let samples = loop {
        let samples = scrape(&node).await;
        if samples
            .get("tetrad_checkpoint_height")
            .is_some_and(|height| *height >= 1.0)
        {
            break samples;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };

    for phase in ["preamble", "execute", "root", "seal", "append", "publish"] {
        let count =
            samples[&format!("tetrad_block_phase_duration_seconds_count{{phase=\"{phase}\"}}")];
        assert!(count >= 3.0, "{phase}: {count}");
    }

    assert_eq!(samples["tetrad_store_files{kind=\"log\"}"], 1.0);
    assert!(samples["tetrad_store_bytes{kind=\"log\"}"] > 1_000.0);
    assert!(samples["tetrad_store_files{kind=\"checkpoint\"}"] >= 1.0);
    assert!(samples["tetrad_checkpoint_timestamp_seconds"] > 1.6e9);
    assert!(samples["tetrad_state_accounts"] > 20.0 && samples["tetrad_history_bytes"] > 0.0);
    node.end().await;
}

/// Prefixes of metrics that only nodes of a cluster and forks have, which their tests check.
const OF_OTHERS: [&str; 2] = ["tetrad_cluster_", "tetrad_fork_"];

fn is_of_others(name: &str) -> bool {
    OF_OTHERS.iter().any(|prefix| name.starts_with(prefix))
}

/// The dashboard and the book name only existing metrics, and the book names all of them.
#[tokio::test]
async fn the_dashboard_and_the_book_name_existing_metrics() {
    let directory = tempfile::tempdir().expect("a directory");
    let node = node_with(|config| {
        config.data_dir = Some(directory.path().join("chain"));
        config.checkpoint_bytes = 1;
    })
    .await;

    node.rpc("evm_mine", json!([])).await;
    let text = loop {
        let text = node.get("/metrics").await.text().await.expect("text");
        if text.contains("tetrad_checkpoint_height") {
            break text;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };

    let kinds = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let known: BTreeSet<&str> = kinds.filter(|name| name.starts_with("tetrad_")).collect();

    let book = include_str!("../../../docs/src/interfaces/metrics.md");
    let sources = [
        ("grafana.json", include_str!("../../../config/grafana.json")),
        ("metrics.md", book),
        (
            "monitoring.md",
            include_str!("../../../docs/src/operations/monitoring.md"),
        ),
    ];

    for (file, text) in sources {
        for name in names(text).filter(|name| !is_of_others(name)) {
            let base = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|suffix| name.strip_suffix(suffix));
            assert!(
                known.contains(base.unwrap_or(name)) || known.contains(name),
                "{file}: there is no {name}"
            );
        }
    }

    let documented: BTreeSet<&str> = names(book).filter(|name| !is_of_others(name)).collect();
    assert_eq!(
        known.difference(&documented).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "the book leaves these out"
    );
    node.end().await;
}

/// The names of metrics in a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("tetrad_").map(|(at, _)| {
        let end = text[at..].find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
        end.map_or(&text[at..], |end| &text[at..at + end])
    })
}

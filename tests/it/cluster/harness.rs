//! Tests of the harness itself: a checker that cannot find violations proves nothing.

mod forged;
mod proxied;
mod servers;

use std::path::Path;

use serde_json::json;

use super::checker::{Endpoints, Options, Workload, check, seed};
use crate::support::{
    node,
    process::{Running, tetrad},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_node_passes_the_checker() {
    let node = node().await;
    let endpoints = Endpoints::new(vec![Some(node.rpc_url())]);
    let workload = Workload::start(endpoints.clone(), Options::new(seed())).await;
    workload.progress(400).await;
    let history = workload.finish().await;
    assert!(
        history
            .acknowledged
            .iter()
            .all(|acknowledged| acknowledged.own.is_some()),
        "every own write was read"
    );
    assert!(history.heads.len() > 10, "heads were read");
    let report = check(&history, &endpoints.urls()).await;
    println!("{report}");
    assert!(report.violations.is_empty(), "{report}");
    node.end().await;
}

/// Runs a node whose chain and log are in this directory.
async fn run_in(directory: &Path) -> Running {
    let mut command = tetrad(&["--listen", "127.0.0.1:0", "--ws-listen", "off"]);
    command.arg("--data-dir").arg(directory.join("chain"));
    Running::run_with_log(command, &directory.join("log")).await
}

/// Clients resend the same transactions until the node is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_node_passes_the_checker() {
    let directory = tempfile::tempdir().unwrap();
    let url = |node: &Running| node.ready["rpc"].as_str().map(str::to_owned);
    let mut node = run_in(directory.path()).await;
    let endpoints = Endpoints::new(vec![url(&node)]);
    let workload = Workload::start(endpoints.clone(), Options::new(seed())).await;

    for _ in 0..3 {
        workload.progress(50).await;
        // SIGKILL.
        drop(node);
        endpoints.set(0, None);
        node = run_in(directory.path()).await;
        endpoints.set(0, url(&node));
    }

    workload.progress(50).await;

    let report = check(&workload.finish().await, &endpoints.urls()).await;
    println!("{report}");
    assert!(report.violations.is_empty(), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_loses_blocks_fails_the_checker() {
    let node = node().await;
    let endpoints = Endpoints::new(vec![Some(node.rpc_url())]);
    let workload = Workload::start(endpoints.clone(), Options::new(seed())).await;
    workload.progress(20).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    workload.progress(50).await;
    node.rpc("evm_revert", json!([snapshot])).await;
    workload.progress(10).await;
    let report = check(&workload.finish().await, &endpoints.urls()).await;
    assert!(
        report
            .violations
            .iter()
            .any(|violation| violation.ends_with("is lost")),
        "{report}"
    );
    node.end().await;
}

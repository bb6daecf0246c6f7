//! The requests of a fork to the other node, their number, and the cache on disk.

use std::path::Path;

use axum::http::StatusCode;
use serde_json::{Value, json};
use tetrad::{Node, SpawnError};
use tetrad_rpc::fork::{ForkBlock, ForkCache, ForkPace};

use super::{
    fork_of,
    proxy::{Behaviour, Proxy},
    upstream,
};
use crate::support::{
    TestNode, number,
    process::{Running, tetrad},
};

/// A call that reads a dozen pools, with their tokens and prices.
async fn pools(node: &TestNode, of: &TestNode) -> Value {
    let network: Value = of.get("/api/network").await.json().await.unwrap();
    let call = json!({"to": network["lendingLens"], "data": "0x673a2a1f"});
    node.rpc("eth_call", json!([call, "latest"])).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_takes_few_requests_and_a_repeated_one_none() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    // A block at the time of the fork's: interest accrues.
    let expected = pools(&upstream, &upstream).await;

    for (behaviour, most) in [
        (Behaviour::Forwards, 4),
        (Behaviour::Lacks(&["debug_traceCall"]), 6),
        (
            Behaviour::Lacks(&["debug_traceCall", "eth_createAccessList"]),
            24,
        ),
    ] {
        proxy.set(behaviour.clone());
        let fork = fork_of(&proxy.url, |_| {}).await;
        proxy.requests();

        let found = pools(&fork, &upstream).await;
        assert_eq!(
            found.as_str().unwrap().len(),
            expected.as_str().unwrap().len()
        );
        let requests = proxy.requests();
        assert!((1..=most).contains(&requests), "{behaviour:?}: {requests}");

        assert_eq!(pools(&fork, &upstream).await, found);
        assert_eq!(proxy.requests(), 0, "{behaviour:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_are_the_same_without_prefetching() {
    let upstream = upstream().await;
    let url = upstream.rpc_url();
    let with = fork_of(&url, |_| {}).await;
    let without = fork_of(&url, |config| config.fork.prefetch = false).await;

    let block = with
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    let later = number(&block["timestamp"]) as u64 + 1_000;
    for fork in [&with, &without] {
        assert_eq!(fork.token_balance(3, "latest").await, 60);
        // The time of a block is part of the state: contracts keep it.
        fork.rpc("evm_setNextBlockTimestamp", json!([later])).await;
        fork.transfer_token(3, 7).await;
        assert_eq!(fork.token_balance(3, "latest").await, 53);
    }
    let receipts = [&with, &without].map(|fork| async {
        let block = fork
            .rpc("eth_getBlockByNumber", json!(["latest", false]))
            .await;
        (
            block["gasUsed"].clone(),
            block["receiptsRoot"].clone(),
            block["stateRoot"].clone(),
        )
    });
    let [with, without] = receipts;
    assert_eq!(with.await, without.await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_fail_at_batches_get_other_requests() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let limited = json!({"code": -32005, "message": "slow down"});
    for behaviour in [
        Behaviour::RefusesBatches,
        Behaviour::ConfusesIds,
        Behaviour::Limits(40, limited),
    ] {
        proxy.set(behaviour.clone());
        let fork = fork_of(&proxy.url, |_| {}).await;
        assert_eq!(fork.token_balance(3, "latest").await, 60, "{behaviour:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hashes_of_blocks_are_read_together() {
    let upstream = upstream().await;
    upstream.rpc("anvil_mine", json!(["0x20"])).await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&proxy.url, |_| {}).await;

    // PUSH1 0; for each block before this one PUSH1 distance, NUMBER, SUB, BLOCKHASH, XOR; then it is returned.
    let reads = (1..=30).map(|distance| format!("60{distance:02x}43034018"));
    let code = format!("0x6000{}60005260206000f3", reads.collect::<String>());
    let call = json!([{"data": code}, "latest"]);
    let expected = upstream.rpc("eth_call", call.clone()).await;

    proxy.requests();
    assert_eq!(fork.rpc("eth_call", call.clone()).await, expected);
    let requests = proxy.requests();
    assert!((1..=4).contains(&requests), "{requests}");
    assert_eq!(fork.rpc("eth_call", call).await, expected);
    assert_eq!(proxy.requests(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_read_nothing_twice() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    let fork = fork_of(&proxy.url, |_| {}).await;
    fork.transfer_token(3, 1).await;
    proxy.requests();

    // The contracts that every block calls are already known.
    fork.transfer_token(3, 2).await;
    fork.rpc("anvil_mine", json!(["0x3"])).await;
    assert_eq!(proxy.requests(), 0);
}

/// A fork of the fourth block that caches its reads in a directory.
async fn start(proxy: &Proxy, directory: &Path) -> TestNode {
    fork_of(&proxy.url, |config| {
        config.fork.block = ForkBlock::Number(4);
        config.fork.cache = ForkCache::At(directory.into());
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_of_a_numbered_block_is_cached_for_the_next_start() {
    let directory = tempfile::tempdir().unwrap();
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;

    let fork = start(&proxy, directory.path()).await;
    let found = pools(&fork, &upstream).await;
    let old = fork.rpc("eth_getBlockByNumber", json!(["0x2", true])).await;
    fork.transfer_token(3, 1).await;
    proxy.asked();

    // Also while the first one runs.
    let again = start(&proxy, directory.path()).await;
    assert_eq!(
        proxy.asked(),
        [
            "eth_chainId",
            "eth_getBlockByNumber",
            "web3_clientVersion",
            "eth_getBlockByNumber"
        ]
    );
    assert_eq!(
        pools(&again, &upstream).await.as_str().unwrap().len(),
        found.as_str().unwrap().len()
    );
    assert_eq!(
        again
            .rpc("eth_getBlockByNumber", json!(["0x2", true]))
            .await,
        old
    );
    again.transfer_token(3, 1).await;
    assert_eq!(proxy.asked(), Vec::<String>::new());
    assert_eq!(tetrad_rpc::fork::list(directory.path()).unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_of_the_newest_block_is_not_cached() {
    let directory = tempfile::tempdir().unwrap();
    let upstream = upstream().await;
    let url = upstream.rpc_url();
    let latest = fork_of(&url, |config| {
        config.fork.cache = ForkCache::At(directory.path().into());
    });
    assert_eq!(latest.await.token_balance(3, "latest").await, 60);
    assert_eq!(tetrad_rpc::fork::list(directory.path()).unwrap(), []);
}

/// Nothing is cached in the default directory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forks_of_development_nodes_are_cached_in_a_named_directory_only() {
    let directory = tempfile::tempdir().unwrap();
    let caches = directory.path().join("tetrad/forks");
    let upstream = upstream().await;
    let url = upstream.rpc_url();
    let named = caches.to_str().unwrap();

    for (cache, kept) in [("usual", 0), (named, 1), ("off", 1)] {
        let arguments = [
            "--fork-url",
            &url,
            "--fork-block",
            "3",
            "--fork-cache",
            cache,
        ];
        let mut command = tetrad(&arguments);
        command.args(["--listen", "127.0.0.1:0", "--ws-listen", "off"]);
        command.env("XDG_CACHE_HOME", directory.path());
        drop(Running::run(command).await);
        assert_eq!(
            tetrad_rpc::fork::list(&caches).unwrap().len(),
            kept,
            "{cache}"
        );
    }

    // The commands show and remove it.
    for (verb, line) in [
        ("list", "1 block,"),
        ("clear", "1 block,"),
        ("list", "0 blocks,"),
    ] {
        let mut command = tetrad(&["fork", "cache", verb]);
        let output = command
            .env("XDG_CACHE_HOME", directory.path())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let last = printed.lines().last().unwrap();
        assert!(last.starts_with(line), "{verb}: {printed}");
        assert_eq!(
            printed.contains("chain 125, block 3 ("),
            (verb, line) == ("list", "1 block,")
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_are_named_in_several_ways() {
    let upstream = upstream().await;
    let hash = upstream
        .rpc("eth_getBlockByNumber", json!(["0x3", false]))
        .await["hash"]
        .clone();
    let newest = upstream.rpc("eth_blockNumber", json!([])).await;
    let newest = u64::from_str_radix(&newest.as_str().unwrap()[2..], 16).unwrap();

    for (text, number) in [
        ("2", 2),
        ("-1", newest - 1),
        ("latest", newest),
        (hash.as_str().unwrap(), 3),
    ] {
        let url = upstream.rpc_url();
        let fork = fork_of(&url, |config| {
            config.fork.block = text.parse().unwrap();
        });
        let fork = fork.await;
        assert_eq!(
            fork.rpc("eth_blockNumber", json!([])).await,
            json!(format!("{number:#x}")),
            "{text}"
        );
    }
    for wrong in [
        "",
        "-",
        "--1",
        "0x5",
        "pending",
        "1.5",
        "99999999999999999999",
    ] {
        assert!(wrong.parse::<ForkBlock>().is_err(), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_node_takes_over_from_one_that_fails() {
    let upstream = upstream().await;
    let [first, second] = [
        Proxy::to(upstream.rpc_url()).await,
        Proxy::to(upstream.rpc_url()).await,
    ];
    let fork = fork_of(&first.url, |config| {
        config.fork.others = vec![second.url.parse().unwrap()];
    });
    let fork = fork.await;

    first.set(Behaviour::Fails(usize::MAX, StatusCode::TOO_MANY_REQUESTS));
    assert_eq!(fork.token_balance(3, "latest").await, 60);
    first.set(Behaviour::Forwards);
    second.set(Behaviour::Fails(usize::MAX, StatusCode::BAD_GATEWAY));
    let found = fork.token_balance(9, "latest").await;
    assert_eq!(found, upstream.token_balance(9, "latest").await);

    let stats = fork.rpc("tetrad_forkStats", json!([])).await;
    assert!(stats["requests"].as_u64().unwrap() > 0, "{stats}");
    assert!(
        stats["calls"]["eth_getStorageAt"].as_u64().unwrap() > 0,
        "{stats}"
    );

    let metrics = fork.get("/metrics").await.text().await.unwrap();
    for name in [
        "requests_total",
        "retries_total",
        "received_bytes_total",
        "waited_seconds_total",
    ] {
        assert!(metrics.contains(&format!("tetrad_fork_{name} ")), "{name}");
    }
    assert!(metrics.contains("tetrad_fork_calls_total{method=\"eth_getStorageAt\"}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_of_another_chain_are_refused_at_the_start() {
    let upstream = upstream().await;
    let other = super::node_with(|config| config.chain_id = 77).await;
    let mut config = tetrad::Config::test();
    config.fork.url = Some(upstream.rpc_url().parse().unwrap());
    config.fork.others = vec![other.rpc_url().parse().unwrap()];
    match Node::spawn(config).await {
        Err(error @ SpawnError::Fork(_)) => {
            let message = error.to_string();
            assert!(message.contains("it has no block"), "{message}");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the node started"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_respect_the_pace() {
    let upstream = upstream().await;
    let proxy = Proxy::to(upstream.rpc_url()).await;
    // Each slot is a call.
    proxy.set(Behaviour::Lacks(&[
        "debug_traceCall",
        "eth_createAccessList",
    ]));
    let fork = fork_of(&proxy.url, |config| {
        config.fork.pace = Some(ForkPace::Calls(60));
        // The state that the call reads is unknown before.
        config.bare = true;
    })
    .await;

    let began = std::time::Instant::now();
    proxy.asked();
    let found = pools(&fork, &upstream).await;
    assert!(found.as_str().unwrap().len() > 1_000);
    let calls = proxy.asked().len() as f64;
    // The calls of one second may be sent at once.
    let least = calls / 60.0 - 1.0;
    assert!(least > 0.0, "{calls} calls");
    assert!(began.elapsed().as_secs_f64() >= least, "{calls} calls");
}

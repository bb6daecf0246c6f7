//! Nodes whose newest entries the servers lost and replaced by others.

use std::{fs, path::Path, time::Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    LOG, POLL, WAIT_TIMEOUT,
    nats::NatsServers,
    nodes::Cluster,
    serving::{ask, cluster, submit},
    streams::copy,
};
use crate::support::{number, process::output};

/// Replaces the directory of a server that has ended by an earlier copy of it.
fn restore(from: &Path, to: &Path) {
    fs::remove_dir_all(to).unwrap();
    copy(from, to);
}

/// Deletes the messages of the log after a sequence, as servers lose messages in a crash.
async fn lose_after(nats: &NatsServers, kept: u64) {
    let stream = async_nats::jetstream::new(nats.client().await)
        .get_stream(LOG)
        .await
        .unwrap();
    let last = stream.get_info().await.unwrap().state.last_sequence;
    for sequence in kept + 1..=last {
        stream.delete_message(sequence).await.unwrap();
    }
}

/// Waits until a node has another node's block with this number, and includes a transaction in it
/// or before.
async fn until_same(cluster: &Cluster, nodes: [usize; 2], hashes: &[Value]) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        let [there, here] = nodes.map(|node| cluster.rpc(node).to_owned());

        let newest = ask(&there, "eth_getBlockByNumber", json!(["latest", false])).await;
        let own = ask(
            &here,
            "eth_getBlockByNumber",
            json!([newest["number"], false]),
        )
        .await;

        let mut missing = Vec::new();
        for hash in hashes {
            let receipt = ask(&here, "eth_getTransactionReceipt", json!([hash])).await;
            if receipt.is_null()
                || receipt != ask(&there, "eth_getTransactionReceipt", json!([hash])).await
            {
                missing.push(hash);
            }
        }

        if own["hash"] == newest["hash"] && missing.is_empty() {
            return;
        }

        assert!(
            Instant::now() < deadline,
            "{} and {} without {missing:?}",
            own["hash"],
            newest["hash"]
        );
        sleep(POLL).await;
    }
}

/// The servers lose the leader's newest two entries. Another node leads meanwhile and seals other
/// blocks, before the first one returns from suspension or restarts.
async fn a_fork_ends(suspended: bool) {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, forked, other) = cluster(&nats, &[]).await;
    let third = (0..3).find(|node| ![forked, other].contains(node)).unwrap();
    let mut hashes = Vec::new();
    for nonce in 0..3 {
        hashes.push(submit(&cluster, other, nonce, 0).await);
    }
    cluster.terminate(third).await;
    cluster.terminate(other).await;

    let stream = async_nats::jetstream::new(nats.client().await)
        .get_stream(LOG)
        .await
        .unwrap();
    let kept = stream.get_info().await.unwrap().state.last_sequence;
    let snapshot = ask(cluster.rpc(forked), "evm_snapshot", json!([])).await;
    for nonce in 3..5 {
        hashes.push(submit(&cluster, forked, nonce, 0).await);
    }
    let lost = ask(
        cluster.rpc(forked),
        "eth_getBlockByNumber",
        json!(["latest", false]),
    )
    .await;
    if suspended {
        cluster.stop(forked);
    } else {
        cluster.kill(forked);
    }
    lose_after(&nats, kept).await;
    cluster.restart(other).await;
    for nonce in 0..6 {
        hashes.push(submit(&cluster, other, nonce, 1).await);
    }

    if suspended {
        cluster.cont(forked);
    } else {
        cluster.restart(forked).await;
    }
    until_same(&cluster, [other, forked], &hashes).await;
    let url = cluster.rpc(forked).to_owned();
    assert_eq!(
        ask(&url, "eth_getBlockByHash", json!([lost["hash"], false])).await,
        Value::Null
    );
    let replaced = ask(&url, "eth_getBlockByNumber", json!([lost["number"], false])).await;
    assert_ne!(replaced["hash"], lost["hash"]);
    let logs = ask(&url, "eth_getBlockReceipts", json!([lost["number"]])).await;
    assert_eq!(logs[0]["blockHash"], replaced["hash"]);
    // The snapshot does not belong to the present chain.
    assert_eq!(ask(&url, "evm_revert", json!([snapshot])).await, false);

    // The node takes part as before, and its directory is usable.
    cluster.terminate(other).await;
    hashes.push(submit(&cluster, forked, 6, 1).await);
    let newest = number(&ask(&url, "eth_blockNumber", json!([])).await);
    let directory = cluster.data_dir(forked);
    cluster.terminate(forked).await;
    let (done, found, error) = output(&["chain", "--data-dir", &directory, "verify"]);
    assert!(done, "{found}{error}");
    cluster.restart(forked).await;
    cluster.restart(other).await;
    until_same(&cluster, [forked, other], &hashes).await;
    assert!(number(&ask(cluster.rpc(other), "eth_blockNumber", json!([])).await) >= newest);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_gives_up_the_entries_that_the_servers_lost_and_keeps_their_transactions() {
    a_fork_ends(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_of_a_node_that_was_suspended_ends_while_it_runs() {
    a_fork_ends(true).await;
}

/// The sequence of a lost entry belongs to another entry when the writer of the lost one returns
/// and appends to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_follows_a_lost_one_is_void() {
    let Some(mut nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, forked, other) = cluster(&nats, &["--block-time", "0.1"]).await;
    let third = (0..3).find(|node| ![forked, other].contains(node)).unwrap();
    let mut hashes = vec![submit(&cluster, other, 0, 0).await];
    cluster.terminate(third).await;
    cluster.terminate(other).await;
    let store = nats.store(0);
    let directory = tempfile::tempdir().unwrap();
    let old = directory.path().join("old");
    nats.kill(0);
    copy(&store, &old);
    nats.start_again(0).await;
    hashes.push(submit(&cluster, forked, 1, 0).await);
    until_same(&cluster, [forked, forked], &hashes).await;

    // The server has its earlier state, and the other node's entries take the place of the lost
    // ones.
    cluster.stop(forked);
    nats.kill(0);
    restore(&old, &store);
    nats.start_again(0).await;
    cluster.restart(other).await;
    cluster.leader().await;
    cluster.cont(forked);
    hashes.push(submit(&cluster, other, 0, 1).await);
    hashes.push(submit(&cluster, forked, 0, 2).await);
    until_same(&cluster, [other, forked], &hashes).await;
    cluster.restart(third).await;
    until_same(&cluster, [other, third], &hashes).await;
}

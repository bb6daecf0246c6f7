//! Behaviour of nodes whose streams lack messages, have foreign ones, or deliver none.

use std::{fs, path::Path, time::Instant};

use async_nats::jetstream;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    LOG, POLL, POOL, WAIT_TIMEOUT,
    nats::NatsServers,
    nodes::Cluster,
    serving::{ask, cluster, submit},
};
use crate::support::sign::{raw, signer, transfer};

/// Transactions that wait for another one.
pub(super) const WAITING: u64 = 30;

/// Submits transactions of the first account that wait for its next one. Returns their hashes.
pub(super) async fn submit_waiting(cluster: &Cluster, node: usize) -> Vec<Value> {
    let mut hashes = Vec::new();
    for nonce in 1..=WAITING {
        hashes.push(
            ask(
                cluster.rpc(node),
                "eth_sendRawTransaction",
                json!([raw(transfer(nonce), 0)]),
            )
            .await,
        );
    }
    hashes
}

/// Waits until the stream has this many messages.
pub(super) async fn until_stored(nats: &NatsServers, messages: u64) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        let found = nats.messages(POOL).await;
        if found == Some(messages) {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "the stream has {found:?} messages instead of {messages}"
        );
        sleep(POLL).await;
    }
}

/// Submits the missing transaction, and waits until all of them are in blocks.
pub(super) async fn expect_included(cluster: &Cluster, node: usize, hashes: &[Value]) {
    submit(cluster, node, 0, 0).await;
    let deadline = Instant::now() + WAIT_TIMEOUT;
    for hash in hashes {
        while ask(
            cluster.rpc(node),
            "eth_getTransactionReceipt",
            json!([hash]),
        )
        .await
        .is_null()
        {
            assert!(Instant::now() < deadline, "{hash} is lost");
            sleep(POLL).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_leader_restores_waiting_transactions_that_their_stream_lost() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, leader, follower) = cluster(&nats, &[]).await;
    let hashes = submit_waiting(&cluster, leader).await;
    until_stored(&nats, WAITING).await;

    let jetstream = async_nats::jetstream::new(nats.client().await);
    let stream = jetstream.get_stream(POOL).await.unwrap();
    stream.purge().sequence(WAITING / 2).await.unwrap();
    until_stored(&nats, WAITING).await;
    stream.purge().await.unwrap();
    until_stored(&nats, WAITING).await;

    cluster.kill(leader);
    cluster.leader().await;
    expect_included(&cluster, follower, &hashes).await;
}

/// Publishes an invalid message in the place of a waiting transaction.
async fn publish_junk(context: &jetstream::Context, hash: &str) {
    context
        .publish(
            format!("tetrad.test.pool.{hash}"),
            b"junk".as_slice().into(),
        )
        .await
        .unwrap()
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_messages_do_not_replace_waiting_transactions_and_are_deleted() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, leader, follower) = cluster(&nats, &[]).await;
    let hashes = submit_waiting(&cluster, leader).await;
    until_stored(&nats, WAITING).await;

    let jetstream = async_nats::jetstream::new(nats.client().await);
    for hash in &hashes {
        let hash = hash.as_str().unwrap().trim_start_matches("0x");
        publish_junk(&jetstream, hash).await;
        publish_junk(&jetstream, &hash.to_uppercase()).await;
    }
    publish_junk(&jetstream, &"ab".repeat(32)).await;
    publish_junk(&jetstream, "elsewhere").await;
    until_stored(&nats, WAITING).await;

    // All messages are the original ones again, so that restarted nodes find them.
    let stream = jetstream.get_stream(POOL).await.unwrap();
    let deadline = Instant::now() + WAIT_TIMEOUT;
    for hash in &hashes {
        let subject = format!(
            "tetrad.test.pool.{}",
            hash.as_str().unwrap().trim_start_matches("0x")
        );
        while stream
            .get_last_raw_message_by_subject(&subject)
            .await
            .unwrap()
            .payload
            .len()
            < 10
        {
            assert!(Instant::now() < deadline, "{subject} is still invalid");
            sleep(POLL).await;
        }
    }
    for node in 0..3 {
        cluster.kill(node);
    }
    for node in 0..3 {
        cluster.restart(node).await;
    }
    cluster.leader().await;
    expect_included(&cluster, follower, &hashes).await;
}

/// Copies a directory.
pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_nodes_complete_a_stream_that_lost_its_end() {
    let Some(mut nats) = NatsServers::start(1).await else {
        return;
    };
    let (cluster, leader, _) = cluster(&nats, &[]).await;
    submit(&cluster, leader, 0, 0).await;
    let store = nats.store(0);
    let directory = tempfile::tempdir().unwrap();
    let old = directory.path().join("old");
    nats.kill(0);
    copy(&store, &old);
    nats.start_again(0).await;
    for nonce in 1..5 {
        submit(&cluster, leader, nonce, 0).await;
    }

    // The server has its earlier state again.
    nats.kill(0);
    fs::remove_dir_all(&store).unwrap();
    copy(&old, &store);
    nats.start_again(0).await;
    submit(&cluster, leader, 5, 0).await;
    let deadline = Instant::now() + WAIT_TIMEOUT;
    for node in 0..3 {
        while ask(
            cluster.rpc(node),
            "eth_getTransactionCount",
            json!([signer(0).address(), "latest"]),
        )
        .await
            != "0x6"
        {
            assert!(Instant::now() < deadline, "node {node} does not catch up");
            sleep(POLL).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_replaces_a_consumer_that_delivers_no_messages() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (cluster, leader, follower) = cluster(&nats, &[]).await;
    let client = nats.client().await;
    let stream = jetstream::new(client.clone())
        .get_stream(LOG)
        .await
        .unwrap();
    let names: Vec<String> = stream.consumer_names().map(Result::unwrap).collect().await;
    for name in names {
        let paused = json!({ "pause_until": "2100-01-01T00:00:00Z" }).to_string();
        let subject = format!("$JS.API.CONSUMER.PAUSE.tetrad-test.{name}");
        let Ok(answer) = client.request(subject, paused.into()).await else {
            return println!("nats-server before 2.11 cannot pause a consumer");
        };
        let answer: Value = serde_json::from_slice(&answer.payload).unwrap();
        assert_eq!(answer["paused"], true, "{answer}");
    }
    ask(cluster.rpc(leader), "anvil_mine", json!(["0x3"])).await;
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while ask(cluster.rpc(follower), "eth_blockNumber", json!([])).await != "0x3" {
        assert!(
            Instant::now() < deadline,
            "{}",
            cluster.health(follower).await
        );
        sleep(POLL).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_joins_a_cluster_whose_log_has_lost_entries() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, leader, _) = cluster(&nats, &[]).await;
    // An entry of more than one part, and others.
    let address = "0x00000000000000000000000000000000000000aa";
    let code = format!("0x{}", "5b".repeat(900_000));
    ask(cluster.rpc(leader), "anvil_setCode", json!([address, code])).await;
    ask(cluster.rpc(leader), "anvil_mine", json!(["0x20"])).await;
    let stream = jetstream::new(nats.client().await)
        .get_stream(LOG)
        .await
        .unwrap();
    let last = stream.cached_info().state.last_sequence;
    for sequence in 2..last - 10 {
        stream.delete_message(sequence).await.unwrap();
    }

    let newcomer = cluster.add(&nats).await;
    let newcomer = cluster.rpc(newcomer);
    let leader = cluster.rpc(leader);
    let head = json!(["0x20", false]);
    let expected = ask(leader, "eth_getBlockByNumber", head.clone()).await;
    assert_eq!(ask(newcomer, "eth_getBlockByNumber", head).await, expected);
    assert_eq!(
        ask(newcomer, "eth_getCode", json!([address, "latest"])).await,
        code
    );
    // The new node's log has the missing ones as well.
    let old = json!(["0x3", false]);
    assert_eq!(
        ask(newcomer, "eth_getBlockByNumber", old.clone()).await,
        ask(leader, "eth_getBlockByNumber", old).await
    );
}

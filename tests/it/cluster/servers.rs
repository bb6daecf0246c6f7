//! What several NATS servers beneath a cluster do that fail: these need the versions that nodes accept of several.

use std::time::Instant;

use async_nats::jetstream;
use serde_json::json;
use tokio::time::sleep;

use super::{
    PATIENCE, POLL,
    nats::NatsServers,
    serving::{ask, cluster, submit},
    streams::{POOL, WAITING, expect_included, submit_waiting, until_stored},
};
use crate::support::sign::{raw, transfer};

/// The stream of the log.
const LOG: &str = "tetrad-test";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_that_wait_survive_a_crash_of_all_servers_and_nodes() {
    let Some(mut nats) = NatsServers::start(3).await else { return };
    let (mut cluster, leader, follower) = cluster(&nats, &[]).await;
    let hashes = submit_waiting(&cluster, follower).await;
    // Others that waited are in a block by now, and the leader deletes their messages.
    for nonce in (0..10).rev() {
        ask(cluster.rpc(leader), "eth_sendRawTransaction", json!([raw(transfer(nonce), 1)])).await;
    }
    until_stored(&nats, WAITING).await;

    for server in 0..3 {
        nats.kill(server);
    }
    for node in 0..3 {
        cluster.kill(node);
    }
    for server in 0..3 {
        nats.start_again(server).await;
    }
    nats.await_stream_leader(POOL).await;
    for node in 0..3 {
        cluster.restart(node).await;
    }
    cluster.leader().await;
    expect_included(&cluster, follower, &hashes).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_of_a_server_that_is_cut_off_go_to_another_one() {
    let Some(nats) = NatsServers::start(3).await else { return };
    let (cluster, ..) = cluster(&nats, &[]).await;
    nats.isolate((nats.await_stream_leader(LOG).await + 1) % 3);

    for node in 0..3 {
        submit(&cluster, node, node as u64, 0).await;
    }
    let deadline = Instant::now() + PATIENCE;
    for node in 0..3 {
        let ready = format!("{}/ready", cluster.rest(node));
        while reqwest::get(&ready).await.unwrap().status() != 200 {
            assert!(Instant::now() < deadline, "node {node} does not become ready");
            sleep(POLL).await;
        }
    }
    nats.reconnect();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_servers_are_asked_for_another_leader_of_a_stream_that_lacks_what_it_had() {
    let Some(nats) = NatsServers::start(3).await else { return };
    let (mut cluster, leader, _) = cluster(&nats, &[]).await;
    ask(cluster.rpc(leader), "anvil_mine", json!(["0x3"])).await;
    for node in 0..3 {
        cluster.kill(node);
    }
    let stream = jetstream::new(nats.client().await).get_stream("tetrad-test").await.unwrap();
    stream.purge().await.unwrap();

    let before = nats.await_stream_leader("tetrad-test").await;
    let starting = cluster.begin(leader, &[]);
    let deadline = Instant::now() + PATIENCE;
    while nats.await_stream_leader("tetrad-test").await == before {
        assert!(Instant::now() < deadline, "n{before} still leads the stream");
        sleep(POLL).await;
    }
    drop(starting);
}

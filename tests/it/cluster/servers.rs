//! Failures of clustered NATS servers. Most of these tests need a version that nodes accept in a
//! cluster of servers.

use std::{
    fs::{self, File},
    time::Instant,
};

use async_nats::jetstream;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::watch,
    time::sleep,
};

use super::{
    LOG, POLL, POOL, WAIT_TIMEOUT,
    nats::NatsServers,
    serving::{ask, cluster, submit},
    streams::{WAITING, expect_included, submit_waiting, until_stored},
};
use crate::support::{
    process::tetrad,
    sign::{raw, transfer},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_transactions_survive_a_crash_of_all_servers_and_nodes() {
    let Some(mut nats) = NatsServers::start(3).await else {
        return;
    };
    let (mut cluster, leader, follower) = cluster(&nats, &[]).await;
    let hashes = submit_waiting(&cluster, follower).await;
    // The other waiting transactions are in a block by now, and the leader deletes their messages.
    for nonce in (0..10).rev() {
        ask(
            cluster.rpc(leader),
            "eth_sendRawTransaction",
            json!([raw(transfer(nonce), 1)]),
        )
        .await;
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
async fn nodes_of_an_isolated_server_connect_to_another_one() {
    let Some(nats) = NatsServers::start(3).await else {
        return;
    };
    let (cluster, ..) = cluster(&nats, &[]).await;
    nats.isolate((nats.await_stream_leader(LOG).await + 1) % 3);

    for node in 0..3 {
        submit(&cluster, node, node as u64, 0).await;
    }
    let deadline = Instant::now() + WAIT_TIMEOUT;
    for node in 0..3 {
        let ready = format!("{}/ready", cluster.rest(node));
        while reqwest::get(&ready).await.unwrap().status() != 200 {
            assert!(
                Instant::now() < deadline,
                "node {node} does not become ready"
            );
            sleep(POLL).await;
        }
    }
    nats.reconnect();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_lacks_entries_gets_another_leader() {
    let Some(nats) = NatsServers::start(3).await else {
        return;
    };
    let (mut cluster, leader, _) = cluster(&nats, &[]).await;
    ask(cluster.rpc(leader), "anvil_mine", json!(["0x3"])).await;
    for node in 0..3 {
        cluster.kill(node);
    }
    let stream = jetstream::new(nats.client().await)
        .get_stream(LOG)
        .await
        .unwrap();
    stream.purge().await.unwrap();

    let before = nats.await_stream_leader(LOG).await;
    let starting = cluster.begin(leader, &[]);
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while nats.await_stream_leader(LOG).await == before {
        assert!(
            Instant::now() < deadline,
            "n{before} still leads the stream"
        );
        sleep(POLL).await;
    }
    drop(starting);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_warns_of_a_second_server_whose_version_loses_messages() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let old = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let servers = format!("{},nats://{}", nats.urls()[0], old.local_addr().unwrap());
    let info = json!({
        "server_id": "old", "server_name": "old", "version": "2.10.25", "cluster": "old", "proto": 1, "headers": true,
        "max_payload": 1 << 20
    });

    // The old server is silent until the node is connected to the other one: nodes try their
    // servers in any order.
    let connected = watch::Sender::new(false);
    let listening = connected.clone();
    tokio::spawn(async move {
        loop {
            let (mut connection, _) = old.accept().await.unwrap();
            let mut connected = listening.subscribe();
            let greeting = format!("INFO {info}\r\nPONG\r\n");
            tokio::spawn(async move {
                connected.wait_for(|connected| *connected).await.unwrap();
                connection.write_all(greeting.as_bytes()).await.unwrap();
                // Until the node leaves.
                while connection
                    .read(&mut [0; 1_024])
                    .await
                    .is_ok_and(|length| length > 0)
                {}
            });
        }
    });

    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let output = File::create(&log).unwrap();
    let mut command = tetrad(&[
        "--cluster",
        &servers,
        "--cluster-name",
        "test",
        "--listen",
        "127.0.0.1:0",
    ]);
    command
        .args(["--ws-listen", "127.0.0.1:0", "--data-dir"])
        .arg(directory.path().join("chain"));
    let mut node = command
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .spawn()
        .unwrap();

    let deadline = Instant::now() + WAIT_TIMEOUT;
    let warned = loop {
        let logged = fs::read_to_string(&log).unwrap();
        connected.send_replace(logged.contains("connected to NATS"));
        let warned =
            logged.contains("the NATS server old has version 2.10.25, which is older than 2.10.26");
        if warned || Instant::now() > deadline || node.try_wait().unwrap().is_some() {
            break warned.then_some(()).ok_or(logged);
        }
        sleep(POLL).await;
    };

    node.kill().unwrap();
    node.wait().unwrap();
    warned.unwrap();
}

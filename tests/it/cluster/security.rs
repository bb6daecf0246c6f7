//! Access of other clients to the NATS servers of a cluster, and how nodes recover from misuse.

use std::time::{Duration, Instant};

use alloy::{
    consensus::{SignableTransaction, TxEip1559},
    eips::eip2718::Encodable2718,
    primitives::{Address, Bytes, Signature, TxKind, U256, keccak256},
};
use async_nats::{Client, HeaderMap, jetstream};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    POLL, WAIT_TIMEOUT,
    nats::NatsServers,
    nodes::{Cluster, Options},
};
use crate::support::{
    process::output,
    sign::{raw, transfer},
};

async fn ask(url: &str, method: &str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let client = reqwest::Client::new();
    let answer: Value = client
        .post(url)
        .json(&request)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
    answer["result"].clone()
}

async fn nodes(nats: &NatsServers, count: usize, arguments: &[&str]) -> Cluster {
    let arguments = arguments
        .iter()
        .map(|argument| (*argument).to_owned())
        .collect();
    Cluster::start(
        nats,
        count,
        Options {
            arguments,
            ..Options::default()
        },
    )
    .await
}

/// Waits until a node is ready for clients, or not.
async fn until_ready(cluster: &Cluster, index: usize, expected: bool) -> String {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    loop {
        let ready = reqwest::get(format!("{}/ready", cluster.rest(index)))
            .await
            .unwrap();
        let is_ready = ready.status().is_success();
        let text = ready.text().await.unwrap();
        if is_ready == expected {
            return text;
        }
        assert!(Instant::now() < deadline, "node-{index}: {text}");
        sleep(POLL).await;
    }
}

/// A message of a node that spends an account's money without a signature: an impersonated
/// transaction in the pool.
fn unsigned(from: Address, nonce: u64) -> (String, Bytes) {
    let transaction = TxEip1559 {
        chain_id: 125,
        nonce,
        gas_limit: 21_000,
        max_fee_per_gas: 2_000_000_000_000,
        to: TxKind::Call(Address::repeat_byte(0xbb)),
        value: U256::from(1),
        ..Default::default()
    };
    let signature = Signature::new(U256::from_be_slice(from.as_slice()), U256::ZERO, false);
    let encoded = transaction.into_signed(signature).encoded_2718();
    let mut message = vec![1, 2, 0, 1];
    message.extend(from);
    message.push(encoded.len() as u8);
    message.extend(&encoded);
    assert!(encoded.len() < 128);
    (
        format!("tetrad.test.pool.{:x}", keccak256(&encoded)),
        message.into(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_production_cluster_works_with_the_shipped_permissions_and_takes_signed_transactions_only()
 {
    let Some(nats) = NatsServers::start_secured().await else {
        return;
    };
    let mut cluster = nodes(
        &nats,
        2,
        &["--profile", "production", "--exchange-price-tick", "0"],
    )
    .await;
    let leader = cluster.leader().await;
    for index in 0..2 {
        until_ready(&cluster, index, true).await;
    }
    // The nodes share the generated key of the treasury, which owns the vault.
    let vault = "0x49B0f9a0554da1A7243A9C8ac5B45245A66D90ff";
    let owner = json!([{ "to": vault, "data": "0x8da5cb5b" }, "latest"]);
    let word = ask(cluster.rpc(leader), "eth_call", owner).await;
    let treasury: Address = format!("0x{}", &word.as_str().unwrap()[26..])
        .parse()
        .unwrap();

    let (subject, message) = unsigned(treasury, 0);
    let client = nats.client().await;
    jetstream::new(client.clone())
        .publish(subject, message.0)
        .await
        .unwrap()
        .await
        .unwrap();
    // The leader removes the message of a transaction that is not in its pool.
    let deadline = Instant::now() + WAIT_TIMEOUT;
    let mut pool = jetstream::new(client)
        .get_stream("tetrad-test-pool")
        .await
        .unwrap();
    while pool.info().await.unwrap().state.messages > 0 {
        assert!(Instant::now() < deadline, "the message is still there");
        sleep(POLL).await;
    }
    assert_eq!(
        ask(
            cluster.rpc(leader),
            "eth_getBalance",
            json!([Address::repeat_byte(0xbb), "latest"])
        )
        .await,
        "0x0"
    );

    let servers = nats.urls().join(",");
    for command in ["status", "compact", "step-down"] {
        let (done, said, error) = output(&[
            "cluster",
            command,
            "--cluster",
            &servers,
            "--cluster-name",
            "test",
        ]);
        assert!(done, "{command}: {said}{error}");
    }

    cluster.kill(leader);
    cluster.leader().await;
}

/// The error of a node that cannot start.
fn error_of_start(data_dir: &str, more: &[&str]) -> String {
    let arguments = [
        "--listen",
        "127.0.0.1:0",
        "--ws-listen",
        "127.0.0.1:0",
        "--data-dir",
        data_dir,
        "--node-name",
        "a",
    ];
    let (done, said, error) = output(&[&arguments[..], more].concat());
    assert!(!done, "{said}{error}");
    error
}

#[test]
fn a_wrong_password_or_an_unusable_file_is_a_clear_error() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(nats) = runtime.block_on(NatsServers::start_secured()) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    std::fs::write(path("empty.pem"), "").unwrap();
    let chain = path("chain");
    let run = |more: &[&str]| error_of_start(&chain, more);

    let wrong = format!("nats://node:unlikely@{}", nats.address(0));
    let error = run(&["--cluster", &wrong]);
    assert!(
        error.to_lowercase().contains("authorization violation"),
        "{error}"
    );
    assert!(!error.contains("unlikely"), "{error}");

    let error = run(&[
        "--cluster",
        &format!("{wrong},nats://other:password@127.0.0.1:1"),
    ]);
    assert!(error.contains("different users"), "{error}");

    let secure = format!("tls://{}", nats.address(0));
    for (file, what) in [
        ("empty.pem", "no such PEM section"),
        ("missing.pem", "No such file"),
    ] {
        let error = run(&["--cluster", &secure, "--cluster-tls-ca-file", &path(file)]);
        assert!(
            error.contains("--cluster-tls-ca-file") && error.contains(file) && error.contains(what),
            "{error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_answers_requests_of_others_in_inboxes_only() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let cluster = nodes(&nats, 2, &["--exchange-price-tick", "0"]).await;
    let leader = cluster.leader().await;
    let client = nats.client().await;

    let bucket = jetstream::new(client.clone())
        .get_key_value("tetrad-test")
        .await
        .unwrap();
    let lease: Value =
        serde_json::from_slice(&bucket.get("leader").await.unwrap().unwrap()).unwrap();

    let requests = format!(
        "tetrad.test.node.node-{leader}.{:016x}",
        lease["instance"].as_u64().unwrap()
    );
    let subjects = [requests, format!("tetrad.test.command.node-{leader}")];

    for reply in ["tetrad.test.log", "$KV.tetrad-test.leader"] {
        for subject in &subjects {
            client
                .publish_with_reply(subject.clone(), reply, "\x07".into())
                .await
                .unwrap();
        }
    }

    // Once this one is answered, the ones before it have been handled.
    for subject in subjects {
        client.request(subject, "\x07".into()).await.unwrap();
    }

    // Requests to another process with the same name have no receiver, nor have those to a process
    // known only from the nodes' announcements.
    for instance in [
        format!("{:016x}", 1),
        announced_instance(&cluster, leader).await,
    ] {
        let other = client
            .request(
                format!("tetrad.test.node.node-{leader}.{instance}"),
                "\x07".into(),
            )
            .await;
        assert_eq!(
            other.unwrap_err().kind(),
            async_nats::client::RequestErrorKind::NoResponders
        );
    }

    for index in 0..2 {
        ask(
            cluster.rpc(index),
            "eth_sendRawTransaction",
            json!([raw(transfer(0), index)]),
        )
        .await;
        until_ready(&cluster, index, true).await;
    }
}

/// The process that a node announces.
async fn announced_instance(cluster: &Cluster, node: usize) -> String {
    let health = cluster.health(node).await;
    let nodes = health["nodes"]
        .as_array()
        .unwrap_or_else(|| panic!("{health}"));
    let own = nodes
        .iter()
        .find(|other| other["node"] == format!("node-{node}"))
        .unwrap();
    own["instance"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods_of_messages_do_not_prevent_writes() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let cluster = nodes(&nats, 2, &["--exchange-price-tick", "0"]).await;
    let leader = cluster.leader().await;
    let instance = announced_instance(&cluster, leader).await;
    let subjects = [
        format!("tetrad.test.node.node-{leader}.{instance}"),
        format!("tetrad.test.command.node-{leader}"),
        "tetrad.test.state".to_owned(),
    ];

    let mut flood = tokio::task::JoinSet::new();
    for subject in subjects {
        let client = nats.client().await;
        flood.spawn(async move {
            // 20,000 in a second, since other tests run concurrently.
            let mut ticks = tokio::time::interval(Duration::from_millis(5));
            loop {
                ticks.tick().await;
                for _ in 0..100 {
                    let reply = client.new_inbox();
                    client
                        .publish_with_reply(subject.clone(), reply, vec![7; 200].into())
                        .await
                        .unwrap();
                }
            }
        });
    }

    for nonce in 0..20 {
        ask(
            cluster.rpc(1 - leader),
            "eth_sendRawTransaction",
            json!([raw(transfer(nonce), 0)]),
        )
        .await;
    }

    for index in 0..2 {
        until_ready(&cluster, index, true).await;
    }
    flood.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_cannot_be_read_counts_as_vacant() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let cluster = nodes(&nats, 2, &["--exchange-price-tick", "0"]).await;
    cluster.leader().await;
    let store = jetstream::new(nats.client().await)
        .get_key_value("tetrad-test")
        .await
        .unwrap();
    let garbage = store.put("leader", "{no".into()).await.unwrap();
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while store.entry("leader").await.unwrap().unwrap().revision <= garbage {
        assert!(Instant::now() < deadline, "no node takes the lease");
        sleep(POLL).await;
    }
    cluster.leader().await;
    ask(
        cluster.rpc(0),
        "eth_sendRawTransaction",
        json!([raw(transfer(0), 0)]),
    )
    .await;
}

/// Publishes a message on the log's subject.
async fn publish(client: &Client, headers: HeaderMap, payload: Vec<u8>) -> u64 {
    let context = jetstream::new(client.clone());
    let stored = context
        .publish_with_headers("tetrad.test.log", headers, payload.into())
        .await
        .unwrap();
    stored.await.unwrap().sequence
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_continue_once_a_foreign_message_is_removed_from_the_log() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let mut cluster = nodes(&nats, 2, &["--exchange-price-tick", "0"]).await;
    let client = nats.client().await;

    let mut nonce = 0;
    for is_entry in [false, true] {
        let leader = cluster.leader().await;
        for _ in 0..3 {
            ask(
                cluster.rpc(leader),
                "eth_sendRawTransaction",
                json!([raw(transfer(nonce), 0)]),
            )
            .await;
            nonce += 1;
        }

        let mut stream = jetstream::new(client.clone())
            .get_stream("tetrad-test")
            .await
            .unwrap();
        let last = stream.info().await.unwrap().state.last_sequence;
        let newest = stream.get_raw_message(last).await.unwrap();

        let sequence = if is_entry {
            // The header of the next entry, with modified content of the newest one.
            let header = newest.headers.get("Tetrad-Entry").unwrap().to_string();
            let height: u64 = header.split(' ').nth(1).unwrap().parse().unwrap();
            let mut headers = HeaderMap::new();
            headers.insert("Tetrad-Entry", format!("1 {} 0 1 ab 1", height + 1));

            let mut payload = newest.payload.to_vec();
            let middle = payload.len() / 2;
            payload[middle] ^= 1;
            publish(&client, headers, payload).await
        } else {
            publish(&client, HeaderMap::new(), b"foreign".to_vec()).await
        };

        until_ready(&cluster, 1 - leader, false).await;

        for index in 0..2 {
            cluster.kill(index);
        }

        assert!(stream.delete_message(sequence).await.unwrap());
        for index in 0..2 {
            cluster.restart(index).await;
        }

        let leader = cluster.leader().await;
        ask(
            cluster.rpc(leader),
            "eth_sendRawTransaction",
            json!([raw(transfer(nonce), 0)]),
        )
        .await;
        nonce += 1;

        for index in 0..2 {
            until_ready(&cluster, index, true).await;
        }
    }
}

//! Responses of a cluster's nodes, which must not depend on the node that a client uses.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use alloy::consensus::TxEip1559;
use alloy_primitives::{Address, hex, keccak256};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    nats::{NatsServers, free_address},
    nodes::{Cluster, Options},
    proxy::{End, Proxy},
};
use crate::{
    cosmos::signing::{Mode, Unsigned, bech32, send},
    support::{
        number,
        process::{Running, output},
        sign::{raw, signer, transfer},
    },
};

pub(super) async fn call(url: &str, method: &str, params: Value) -> Result<Value, Value> {
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
    match answer.get("error") {
        Some(error) => Err(error.clone()),
        None => Ok(answer["result"].clone()),
    }
}

pub(super) async fn ask(url: &str, method: &str, params: Value) -> Value {
    call(url, method, params.clone())
        .await
        .unwrap_or_else(|error| panic!("{method} {params}: {error}"))
}

/// Submits a transfer, repeatedly until it is acknowledged. Returns its hash.
pub(super) async fn submit(cluster: &Cluster, node: usize, nonce: u64, account: usize) -> Value {
    let raw = raw(transfer(nonce), account);
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    loop {
        match call(cluster.rpc(node), "eth_sendRawTransaction", json!([raw])).await {
            Ok(hash) => return hash,
            // An unacknowledged attempt may have been included.
            Err(error)
                if error["message"]
                    .as_str()
                    .is_some_and(|message| message.contains("nonce too low")) =>
            {
                return json!(keccak256(raw));
            }
            Err(error) => assert!(Instant::now() < deadline, "node {node}: {error}"),
        }
        sleep(super::POLL).await;
    }
}

pub(super) async fn cluster(nats: &NatsServers, arguments: &[&str]) -> (Cluster, usize, usize) {
    // Without price transactions, only a test's own changes cause blocks.
    let arguments = ["--exchange-price-tick", "0"]
        .iter()
        .chain(arguments)
        .map(|argument| (*argument).to_owned())
        .collect();
    let cluster = Cluster::start(
        nats,
        3,
        Options {
            arguments,
            ..Options::default()
        },
    )
    .await;
    let leader = cluster.leader().await;
    let follower = (0..3).find(|index| *index != leader).unwrap();
    (cluster, leader, follower)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_accepts_transactions_and_returns_them_at_once() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (cluster, _, follower) = cluster(&nats, &[]).await;
    let url = cluster.rpc(follower);
    for nonce in 0..5 {
        let hash = ask(
            url,
            "eth_sendRawTransaction",
            json!([raw(transfer(nonce), 0)]),
        )
        .await;
        assert_eq!(
            ask(url, "eth_getTransactionReceipt", json!([hash])).await["status"],
            "0x1"
        );
        let count = ask(
            url,
            "eth_getTransactionCount",
            json!([signer(0).address(), "latest"]),
        )
        .await;
        assert_eq!(count, format!("{:#x}", nonce + 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_accepts_cosmos_transactions_and_returns_them_at_once() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (cluster, _, follower) = cluster(&nats, &[]).await;

    let rest = cluster.rest(follower).to_owned();
    let http = reqwest::Client::new();

    let key = signer(0);
    let account = reqwest::get(format!(
        "{rest}/cosmos/auth/v1beta1/accounts/{}",
        bech32(key.address())
    ))
    .await
    .unwrap();
    let account: Value = account.json().await.unwrap();
    let number = account["account"]["base_account"]["account_number"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();

    for sequence in 0..3 {
        let message = send(key.address(), Address::repeat_byte(0xaa), 5);
        let raw = Unsigned::new(key.clone(), number, sequence, vec![message]).sign(Mode::Direct);
        let body =
            json!({ "tx_bytes": Base64::encode_string(&raw), "mode": "BROADCAST_MODE_SYNC" });
        let sent = http
            .post(format!("{rest}/cosmos/tx/v1beta1/txs"))
            .json(&body)
            .send()
            .await
            .unwrap();
        let sent: Value = sent.json().await.unwrap();
        assert_eq!(sent["tx_response"]["code"], 0, "{sent}");

        let path = format!(
            "{rest}/cosmos/tx/v1beta1/txs/{}",
            sent["tx_response"]["txhash"].as_str().unwrap()
        );
        let found: Value = reqwest::get(path).await.unwrap().json().await.unwrap();
        assert_eq!(found["tx_response"]["code"], 0, "{found}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_rejects_a_transaction_with_the_same_error() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (cluster, leader, follower) = cluster(&nats, &[]).await;
    ask(
        cluster.rpc(leader),
        "eth_sendRawTransaction",
        json!([raw(transfer(0), 0)]),
    )
    .await;
    let sent = json!([raw(transfer(0), 0)]);
    let of_leader = call(cluster.rpc(leader), "eth_sendRawTransaction", sent.clone())
        .await
        .unwrap_err();
    // The follower has the block of the first one by now, or asks the leader.
    let of_follower = call(cluster.rpc(follower), "eth_sendRawTransaction", sent)
        .await
        .unwrap_err();
    assert_eq!(of_leader, of_follower);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn development_methods_work_on_every_node() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (cluster, leader, follower) = cluster(&nats, &[]).await;

    let there = cluster.rpc(leader);
    let here = cluster.rpc(follower);
    let account = "0x00000000000000000000000000000000000000aa";

    ask(here, "anvil_setBalance", json!([account, "0x5"])).await;
    assert_eq!(
        ask(here, "eth_getBalance", json!([account, "latest"])).await,
        "0x5"
    );

    let before = ask(here, "eth_blockNumber", json!([])).await;
    let snapshot = ask(here, "evm_snapshot", json!([])).await;
    ask(here, "anvil_mine", json!(["0x3"])).await;
    ask(here, "anvil_setBalance", json!([account, "0x6"])).await;

    assert_eq!(
        ask(there, "eth_getBalance", json!([account, "latest"])).await,
        "0x6"
    );

    assert_eq!(ask(here, "evm_revert", json!([snapshot])).await, true);
    assert_eq!(ask(here, "eth_blockNumber", json!([])).await, before);
    assert_eq!(
        ask(here, "eth_getBalance", json!([account, "latest"])).await,
        "0x5"
    );

    assert_eq!(
        ask(there, "eth_getBalance", json!([account, "latest"])).await,
        "0x5"
    );
}

/// The settings of development methods as a node reports them: whether it mines, the miner, the gas
/// limit, the base fee, and whether it impersonates the account.
async fn settings(url: &str, account: &str) -> Value {
    let pending = ask(url, "eth_getBlockByNumber", json!(["pending", false])).await;
    let accounts = ask(url, "eth_accounts", json!([])).await;
    json!([
        ask(url, "anvil_getAutomine", json!([])).await,
        pending["miner"],
        pending["gasLimit"],
        pending["baseFeePerGas"],
        accounts.as_array().unwrap().contains(&json!(account)),
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_of_development_methods_apply_to_all_nodes_and_survive_the_leader() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, leader, follower) = cluster(&nats, &[]).await;

    let account = "0x00000000000000000000000000000000000000aa";
    let miner = "0x00000000000000000000000000000000000000bb";
    let here = cluster.rpc(follower).to_owned();

    ask(
        &here,
        "anvil_setBalance",
        json!([account, "0xde0b6b3a7640000"]),
    )
    .await;
    ask(&here, "evm_setAutomine", json!([false])).await;
    ask(&here, "anvil_setCoinbase", json!([miner])).await;
    ask(&here, "evm_setBlockGasLimit", json!(["0x1c9c380"])).await;
    ask(
        &here,
        "anvil_setNextBlockBaseFeePerGas",
        json!(["0x77359400"]),
    )
    .await;
    ask(&here, "anvil_impersonateAccount", json!([account])).await;
    let expected = json!([false, miner, "0x1c9c380", "0x77359400", true]);
    assert_eq!(settings(&here, account).await, expected);

    // The next leader, the former one, and a joining node have them as well.
    cluster.kill(leader);
    let next = cluster.leader().await;
    assert_eq!(settings(cluster.rpc(next), account).await, expected);
    let sent = json!([{ "from": account, "to": miner, "value": "0x1" }]);
    let hash = ask(&here, "eth_sendTransaction", sent).await;
    assert!(
        ask(&here, "eth_getTransactionReceipt", json!([hash]))
            .await
            .is_null()
    );
    let newcomer = cluster.add(&nats).await;
    assert_eq!(settings(cluster.rpc(newcomer), account).await, expected);
    cluster.restart(leader).await;
    assert_eq!(settings(cluster.rpc(leader), account).await, expected);
    cluster.terminate(next).await;
    assert_eq!(
        settings(cluster.rpc(cluster.leader().await), account).await,
        expected
    );

    // The base fee was for one block. A reset discards the rest.
    let last = cluster.rpc(newcomer).to_owned();
    ask(&last, "anvil_mine", json!(["0x1"])).await;
    let block = ask(&last, "eth_getBlockByNumber", json!(["latest", false])).await;
    assert_eq!(
        (&block["baseFeePerGas"], &block["miner"]),
        (&json!("0x77359400"), &json!(miner))
    );
    assert_ne!(settings(&last, account).await[3], expected[3]);
    ask(&last, "anvil_reset", json!([])).await;
    let after = settings(&last, account).await;
    assert_eq!(
        (&after[0], &after[4]),
        (&json!(true), &json!(false)),
        "{after}"
    );
    assert_ne!(after[1], expected[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_transactions_survive_the_leader() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let (mut cluster, leader, follower) = cluster(&nats, &[]).await;

    // The transaction before it is missing.
    let hash = ask(
        cluster.rpc(leader),
        "eth_sendRawTransaction",
        json!([raw(transfer(1), 0)]),
    )
    .await;

    let other = ask(
        cluster.rpc(follower),
        "eth_sendRawTransaction",
        json!([raw(transfer(1), 1)]),
    )
    .await;
    assert_eq!(
        ask(
            cluster.rpc(follower),
            "eth_getTransactionByHash",
            json!([other])
        )
        .await["blockHash"],
        Value::Null
    );

    cluster.kill(leader);
    let next = cluster.leader().await;

    for index in [0, 1] {
        ask(
            cluster.rpc(next),
            "eth_sendRawTransaction",
            json!([raw(transfer(0), index)]),
        )
        .await;
    }

    for hash in [hash, other] {
        let deadline = Instant::now() + super::WAIT_TIMEOUT;
        while ask(
            cluster.rpc(next),
            "eth_getTransactionReceipt",
            json!([hash]),
        )
        .await
        .is_null()
        {
            assert!(Instant::now() < deadline, "{hash} is lost");
            sleep(super::POLL).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_waiting_for_a_block_or_a_lower_fee_survive_the_leader() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let (mut cluster, leader, follower) = cluster(&nats, &["--no-mining"]).await;

    let mut hashes = Vec::new();
    for (node, index) in [(leader, 0), (follower, 1)] {
        let url = cluster.rpc(node);
        for nonce in 0..3 {
            hashes.push(
                ask(
                    url,
                    "eth_sendRawTransaction",
                    json!([raw(transfer(nonce), index)]),
                )
                .await,
            );

            // An acknowledged transaction counts at once.
            let count = ask(
                url,
                "eth_getTransactionCount",
                json!([signer(index).address(), "pending"]),
            )
            .await;
            assert_eq!(count, format!("{:#x}", nonce + 1));
        }

        let cheap = TxEip1559 {
            max_fee_per_gas: 1,
            max_priority_fee_per_gas: 1,
            ..transfer(3)
        };
        hashes.push(ask(url, "eth_sendRawTransaction", json!([raw(cheap, index)])).await);
    }

    cluster.kill(leader);
    let next = cluster.leader().await;

    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    for hash in &hashes {
        while ask(cluster.rpc(next), "eth_getTransactionByHash", json!([hash]))
            .await
            .is_null()
        {
            assert!(Instant::now() < deadline, "{hash} is lost");
            sleep(super::POLL).await;
        }
    }

    ask(cluster.rpc(next), "anvil_mine", json!(["0x1"])).await;
    for (at, hash) in hashes.iter().enumerate() {
        let receipt = ask(
            cluster.rpc(next),
            "eth_getTransactionReceipt",
            json!([hash]),
        )
        .await;
        assert_eq!(receipt.is_null(), at % 4 == 3, "{at}: {receipt}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_accepted_transaction_that_became_unacceptable_survives_restarts() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, leader, _) = cluster(&nats, &[]).await;
    let url = cluster.rpc(leader);
    ask(url, "evm_setAutomine", json!([false])).await;
    let cheap = TxEip1559 {
        max_fee_per_gas: 1,
        max_priority_fee_per_gas: 1,
        ..transfer(0)
    };
    let hash = ask(url, "eth_sendRawTransaction", json!([raw(cheap, 0)])).await;
    ask(url, "evm_setAutomine", json!([true])).await;
    for node in 0..3 {
        cluster.terminate(node).await;
        cluster.restart(node).await;
    }
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    for node in 0..3 {
        while ask(cluster.rpc(node), "eth_getTransactionByHash", json!([hash]))
            .await
            .is_null()
        {
            assert!(
                Instant::now() < deadline,
                "node {node} lost the transaction"
            );
            sleep(super::POLL).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_one_process_of_a_name_makes_changes() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, leader, _) = cluster(&nats, &[]).await;
    let name = format!("node-{leader}");
    let servers = nats.urls().join(",");
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().display().to_string();
    let (done, _, error) = output(&[
        "--cluster",
        &servers,
        "--cluster-name",
        "test",
        "--node-name",
        &name,
        "--data-dir",
        &data,
    ]);
    assert!(
        !done && error.contains("is in the cluster already"),
        "{error}"
    );

    // A suspended process loses its name.
    cluster.stop(leader);
    let next = cluster.leader().await;
    let other = cluster.add_process(&nats, &name).await;
    cluster.cont(leader);

    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    let ready = format!("{}/ready", cluster.rest(leader));
    while !reqwest::get(&ready)
        .await
        .unwrap()
        .text()
        .await
        .unwrap()
        .contains("has left the cluster")
    {
        assert!(Instant::now() < deadline, "the old process still runs");
        sleep(super::POLL).await;
    }

    let url = cluster.rpc((0..3).find(|node| ![leader, next].contains(node)).unwrap());
    let before = number(&ask(url, "eth_blockNumber", json!([])).await);
    for _ in 0..20 {
        ask(url, "anvil_mine", json!(["0x2"])).await;
    }
    assert_eq!(
        number(&ask(url, "eth_blockNumber", json!([])).await),
        before + 40
    );

    assert_eq!(
        ask(cluster.rpc(other), "eth_chainId", json!([])).await,
        "0x7d"
    );
}

/// Loses the bytes that the servers sent to a node with held connections, together with these.
async fn lose_what_is_held(cluster: &Cluster, node: usize) {
    sleep(std::time::Duration::from_millis(300)).await;
    cluster.proxies(node).iter().for_each(Proxy::cut);
    cluster.proxies(node).iter().for_each(Proxy::restore);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_whose_request_was_lost_is_resent() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let arguments = ["--exchange-price-tick", "0"].map(str::to_owned).to_vec();
    let cluster = Cluster::start(
        &nats,
        3,
        Options {
            arguments,
            proxied: true,
            ..Options::default()
        },
    )
    .await;

    let leader = cluster.leader().await;
    let follower = (leader + 1) % 3;
    let url = cluster.rpc(follower).to_owned();

    for nonce in 0..3 {
        cluster.proxies(leader).iter().for_each(Proxy::hold);
        let own = url.clone();
        let asked = tokio::spawn(async move {
            call(
                &own,
                "eth_sendRawTransaction",
                json!([raw(transfer(nonce), 0)]),
            )
            .await
        });

        lose_what_is_held(&cluster, leader).await;
        let hash = asked.await.unwrap().unwrap();
        assert_eq!(
            ask(&url, "eth_getTransactionReceipt", json!([hash])).await["status"],
            "0x1"
        );
    }
}

/// The number of requests that a node has resent.
async fn sent_again(cluster: &Cluster, node: usize) -> u64 {
    let metrics = reqwest::get(format!("{}/metrics", cluster.rest(node)))
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let count = metrics
        .lines()
        .find_map(|line| line.strip_prefix("tetrad_cluster_retried_total "))
        .unwrap();
    count.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delayed_request_for_a_known_transaction_is_acknowledged() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let arguments = ["--exchange-price-tick", "0"].map(str::to_owned).to_vec();
    let cluster = Cluster::start(
        &nats,
        3,
        Options {
            arguments,
            proxied: true,
            ..Options::default()
        },
    )
    .await;

    let leader = cluster.leader().await;
    let follower = (leader + 1) % 3;

    // It waits for another one.
    let sent = json!([raw(transfer(1), 0)]);
    let before = sent_again(&cluster, follower).await;

    cluster
        .proxies(follower)
        .iter()
        .for_each(|proxy| proxy.hold_to(End::Server));
    let url = cluster.rpc(follower).to_owned();
    let params = sent.clone();
    let asked = tokio::spawn(async move { call(&url, "eth_sendRawTransaction", params).await });

    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    while sent_again(&cluster, follower).await == before {
        assert!(Instant::now() < deadline, "no request is sent again");
        sleep(super::POLL).await;
    }

    // A node that has the transaction may have stored it for all nodes, and a later request may be
    // executed before an earlier one.
    let hash = ask(cluster.rpc(leader), "eth_sendRawTransaction", sent).await;
    cluster.proxies(follower).iter().for_each(Proxy::restore);
    assert_eq!(asked.await.unwrap().unwrap(), hash);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_sent_while_mining_is_turned_off_stays_pending() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let arguments = ["--exchange-price-tick", "0"].map(str::to_owned).to_vec();
    let cluster = Cluster::start(
        &nats,
        3,
        Options {
            arguments,
            proxied: true,
            ..Options::default()
        },
    )
    .await;

    let leader = cluster.leader().await;
    let url = cluster.rpc(leader).to_owned();

    // The setting takes effect once the servers have stored it.
    let delay = std::time::Duration::from_millis(300);
    cluster
        .proxies(leader)
        .iter()
        .for_each(|proxy| proxy.delay(delay));

    let own = url.clone();
    let turned_off =
        tokio::spawn(async move { call(&own, "evm_setAutomine", json!([false])).await });
    sleep(delay / 3).await;

    let began = Instant::now();
    let hash = ask(&url, "eth_sendRawTransaction", json!([raw(transfer(0), 0)])).await;
    assert!(
        began.elapsed() < std::time::Duration::from_secs(8),
        "the request waited for a block until it timed out"
    );

    turned_off.await.unwrap().unwrap();
    cluster.proxies(leader).iter().for_each(Proxy::restore);
    assert!(
        ask(&url, "eth_getTransactionReceipt", json!([hash]))
            .await
            .is_null()
    );

    ask(&url, "evm_mine", json!([])).await;
    assert_eq!(
        ask(&url, "eth_getTransactionReceipt", json!([hash])).await["status"],
        "0x1"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_starting_node_reports_that_it_is_not_ready() {
    let Some(mut nats) = NatsServers::start(1).await else {
        return;
    };

    let (mut cluster, _, follower) = cluster(&nats, &[]).await;
    cluster.terminate(follower).await;
    nats.kill(0);

    // It waits for the servers.
    let address = free_address();
    let running = cluster.begin(follower, &["--listen", &address.to_string()]);
    let url = |path: &str| format!("http://{address}{path}");

    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    let ready = loop {
        match reqwest::get(url("/ready")).await {
            Ok(response) => break response,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
    };

    assert_eq!(ready.status(), 503);
    let body: Value = ready.json().await.unwrap();
    assert!(
        body["reason"]
            .as_str()
            .unwrap()
            .contains("connects to the NATS servers"),
        "{body}"
    );

    assert_eq!(reqwest::get(url("/health")).await.unwrap().status(), 200);

    let asked = reqwest::Client::new()
        .post(url("/rpc"))
        .json(&json!({}))
        .send()
        .await
        .unwrap();
    assert_eq!(
        (asked.status().as_u16(), &asked.headers()["retry-after"]),
        (503, &"1".parse().unwrap())
    );

    nats.start_again(0).await;
    let running = running.await;
    assert_eq!(ask(&url("/rpc"), "eth_chainId", json!([])).await, "0x7d");
    drop(running);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_whose_request_or_answer_is_lost_is_made_once() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let arguments = ["--exchange-price-tick", "0"].map(str::to_owned).to_vec();
    let cluster = Cluster::start(
        &nats,
        3,
        Options {
            arguments,
            proxied: true,
            ..Options::default()
        },
    )
    .await;

    let leader = cluster.leader().await;
    let follower = (leader + 1) % 3;
    let url = cluster.rpc(follower).to_owned();

    let account = "0x00000000000000000000000000000000000000aa";

    let before = number(&ask(&url, "eth_blockNumber", json!([])).await);
    let start = u128::from(
        std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_secs(),
    );

    for round in 1..4 {
        ask(&url, "anvil_setBlockTimestampInterval", json!([1])).await;

        // Requests are lost between the node and the servers or the servers and the leader, or
        // answers are.
        let silent = if round == 2 { leader } else { follower };
        match round {
            3 => cluster
                .proxies(silent)
                .iter()
                .for_each(|proxy| proxy.hold_to(End::Client)),
            _ => cluster.proxies(silent).iter().for_each(Proxy::hold),
        }

        let changes = [
            ("anvil_mine", json!(["0x5"])),
            ("anvil_addBalance", json!([account, "0x1"])),
            ("evm_snapshot", json!([])),
            (
                "evm_setTime",
                json!([format!("{:#x}", start + 10_000 * round)]),
            ),
            ("anvil_removeBlockTimestampInterval", json!([])),
        ];
        let asked = changes.map(|(method, params)| {
            let url = url.clone();
            tokio::spawn(async move { call(&url, method, params).await })
        });

        lose_what_is_held(&cluster, silent).await;

        let mut answers = Vec::new();
        for asked in asked {
            answers.push(asked.await.unwrap().unwrap());
        }

        assert_eq!(
            number(&ask(&url, "eth_blockNumber", json!([])).await),
            before + 5 * round
        );
        assert_eq!(
            number(&ask(&url, "eth_getBalance", json!([account, "latest"])).await),
            round
        );
        assert_eq!(number(&answers[2]), round - 1, "the id of the snapshot");

        let moved = answers[3].as_i64().unwrap();
        assert!(
            (9_000..=10_000).contains(&moved),
            "the time moved by {moved} s"
        );
        assert_eq!(answers[4], true, "there was an interval");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_leader_knows_a_change_after_any_number_of_later_entries() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let arguments = ["--exchange-price-tick", "0"].map(str::to_owned).to_vec();
    let cluster = Cluster::start(
        &nats,
        3,
        Options {
            arguments,
            proxied: true,
            ..Options::default()
        },
    )
    .await;

    for attempt in 1..=3 {
        let account = format!("{:#042x}", 0xaa + attempt);
        let (outcome, until_restored) =
            change_that_the_next_leader_answers(&nats, &cluster, &account).await;
        let balance = json!([account, "latest"]);
        let leader = cluster.leader().await;
        assert_eq!(
            ask(cluster.rpc(leader), "eth_getBalance", balance).await,
            "0x1"
        );

        let Err(error) = outcome else { return };
        // The follower gives up after nine seconds, four of which may pass before it repeats the
        // request.
        let was_too_slow = until_restored > Duration::from_secs(4);
        assert!(
            was_too_slow && error.to_string().contains("does not answer"),
            "{error} after {until_restored:?}"
        );
    }
    println!("this machine is too slow for the next leader to answer in time");
}

/// Adds 1 wei to an account on a follower, which loses the leader's answer. Returns the next
/// leader's answer, and the time until that leader could be reached.
async fn change_that_the_next_leader_answers(
    nats: &NatsServers,
    cluster: &Cluster,
    account: &str,
) -> (Result<Value, Value>, Duration) {
    let leader = cluster.leader().await;
    let follower = (leader + 1) % 3;
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    while cluster.health(follower).await["leader"] != format!("node-{leader}") {
        assert!(Instant::now() < deadline, "node-{follower} has no leader");
        sleep(super::POLL).await;
    }

    cluster
        .proxies(follower)
        .iter()
        .for_each(|proxy| proxy.hold_to(End::Client));
    let url = cluster.rpc(follower).to_owned();
    let change = json!([account, "0x1"]);
    let began = Instant::now();
    let asked = tokio::spawn(async move { call(&url, "anvil_addBalance", change).await });

    let balance = json!([account, "latest"]);
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    while ask(cluster.rpc(leader), "eth_getBalance", balance.clone()).await == "0x0" {
        assert!(Instant::now() < deadline, "the change is not made");
        sleep(super::POLL).await;
    }
    ask(cluster.rpc(leader), "anvil_mine", json!(["0x500"])).await;

    let servers = nats.urls().join(",");
    let (done, _, error) = output(&[
        "cluster",
        "step-down",
        "--cluster",
        &servers,
        "--cluster-name",
        "test",
    ]);
    assert!(done, "{error}");
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    while cluster.leader().await == leader {
        assert!(Instant::now() < deadline, "node-{leader} still leads");
        sleep(super::POLL).await;
    }

    cluster.proxies(follower).iter().for_each(Proxy::cut);
    cluster.proxies(follower).iter().for_each(Proxy::restore);
    let until_restored = began.elapsed();
    (asked.await.unwrap(), until_restored)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_do_not_wait_for_each_other_while_the_servers_are_silent() {
    let Some(mut nats) = NatsServers::start(1).await else {
        return;
    };
    let (cluster, leader, _) = cluster(&nats, &[]).await;
    nats.stop(0);
    let began = Instant::now();
    let asked: Vec<_> = (0..4)
        .map(|_| {
            let url = cluster.rpc(leader).to_owned();
            let params = json!(["0x00000000000000000000000000000000000000aa", "0x1"]);
            tokio::spawn(async move { call(&url, "anvil_addBalance", params).await })
        })
        .collect();
    for asked in asked {
        assert!(asked.await.unwrap().is_err(), "nothing is stored");
    }
    // Each would wait for eight seconds.
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "they waited for {:?}",
        began.elapsed()
    );
    nats.cont(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_is_larger_than_a_message_is_made_on_the_leader() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let arguments = ["--exchange-price-tick", "0", "--rpc-max-body", "16000000"]
        .map(str::to_owned)
        .to_vec();
    let cluster = Cluster::start(
        &nats,
        3,
        Options {
            arguments,
            proxied: true,
            ..Options::default()
        },
    )
    .await;

    let leader = cluster.leader().await;
    let follower = (leader + 1) % 3;
    let url = cluster.rpc(follower).to_owned();
    let account = "0x00000000000000000000000000000000000000aa";

    for round in 1..3 {
        let code = vec![round; 3_000_000];
        if round == 2 {
            cluster.proxies(leader).iter().for_each(Proxy::hold);
        }

        let own = url.clone();
        let params = json!([account, hex::encode_prefixed(&code)]);
        let asked = tokio::spawn(async move { call(&own, "anvil_setCode", params).await });

        if round == 2 {
            lose_what_is_held(&cluster, leader).await;
        }
        asked.await.unwrap().unwrap();

        let proof = ask(&url, "eth_getProof", json!([account, [], "latest"])).await;
        assert_eq!(proof["codeHash"], json!(keccak256(&code)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_leader_mines_the_blocks_that_a_killed_leader_did_not() {
    const BLOCKS: u128 = 5_000;
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, leader, follower) = cluster(&nats, &[]).await;
    let url = cluster.rpc(follower).to_owned();
    let before = number(&ask(&url, "eth_blockNumber", json!([])).await);
    let own = url.clone();
    let asked =
        tokio::spawn(
            async move { call(&own, "anvil_mine", json!([format!("{BLOCKS:#x}")])).await },
        );
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    while number(&ask(&url, "eth_blockNumber", json!([])).await) < before + 10 {
        assert!(Instant::now() < deadline, "nothing is mined");
        sleep(super::POLL).await;
    }
    cluster.kill(leader);
    asked.await.unwrap().unwrap();
    assert_eq!(
        number(&ask(&url, "eth_blockNumber", json!([])).await),
        before + BLOCKS
    );
}

/// Waits until a node has a transaction, or no longer has it.
async fn until_known(url: &str, hash: &Value, is_known: bool) {
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    while ask(url, "eth_getTransactionByHash", json!([hash]))
        .await
        .is_null()
        == is_known
    {
        assert!(Instant::now() < deadline, "at {url}");
        sleep(super::POLL).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_dropped_on_one_node_is_dropped_on_all() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, leader, follower) = cluster(&nats, &[]).await;

    let hash = ask(
        cluster.rpc(follower),
        "eth_sendRawTransaction",
        json!([raw(transfer(1), 0)]),
    )
    .await;
    for index in 0..3 {
        until_known(cluster.rpc(index), &hash, true).await;
    }

    let another = (0..3)
        .find(|index| ![leader, follower].contains(index))
        .unwrap();
    ask(cluster.rpc(another), "anvil_dropTransaction", json!([hash])).await;
    for index in 0..3 {
        until_known(cluster.rpc(index), &hash, false).await;
    }

    // The next leader does not have it either.
    cluster.kill(leader);
    let next = cluster.leader().await;
    ask(
        cluster.rpc(next),
        "eth_sendRawTransaction",
        json!([raw(transfer(0), 0)]),
    )
    .await;
    assert!(
        ask(cluster.rpc(next), "eth_getTransactionByHash", json!([hash]))
            .await
            .is_null()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_returning_node_catches_up_and_an_empty_node_joins() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (mut cluster, leader, follower) = cluster(&nats, &[]).await;

    cluster.terminate(follower).await;
    for nonce in 0..20 {
        ask(
            cluster.rpc(leader),
            "eth_sendRawTransaction",
            json!([raw(transfer(nonce), 0)]),
        )
        .await;
    }

    let head = ask(
        cluster.rpc(leader),
        "eth_getBlockByNumber",
        json!(["0x14", false]),
    )
    .await;

    cluster.restart(follower).await;
    assert_eq!(
        ask(
            cluster.rpc(follower),
            "eth_getBlockByNumber",
            json!(["0x14", false])
        )
        .await["hash"],
        head["hash"]
    );

    let newcomer = cluster.add(&nats).await;
    assert_eq!(
        ask(
            cluster.rpc(newcomer),
            "eth_getBlockByNumber",
            json!(["0x14", false])
        )
        .await["hash"],
        head["hash"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_nats_reads_succeed_and_writes_fail_with_a_clear_error() {
    let Some(mut nats) = NatsServers::start(1).await else {
        return;
    };
    let (cluster, leader, follower) = cluster(&nats, &[]).await;

    ask(
        cluster.rpc(leader),
        "eth_sendRawTransaction",
        json!([raw(transfer(0), 0)]),
    )
    .await;

    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    while ask(cluster.rpc(follower), "eth_blockNumber", json!([])).await != "0x1" {
        assert!(Instant::now() < deadline, "the follower does not follow");
        sleep(super::POLL).await;
    }

    nats.kill(0);
    for index in [leader, follower] {
        let error = call(
            cluster.rpc(index),
            "eth_sendRawTransaction",
            json!([raw(transfer(1), 0)]),
        )
        .await
        .unwrap_err();
        let message = error["message"].as_str().unwrap().to_owned() + &error["data"].to_string();
        assert!(
            message.contains("cluster") || message.contains("log"),
            "{error}"
        );

        assert_eq!(
            ask(cluster.rpc(index), "eth_blockNumber", json!([])).await,
            "0x1"
        );

        let ready = reqwest::get(cluster.rest(index).to_owned() + "/ready")
            .await
            .unwrap();
        assert_eq!(ready.status(), 503);
        let body: Value = ready.json().await.unwrap();
        assert!(body["reason"].as_str().unwrap().contains("NATS"), "{body}");
    }

    nats.start_again(0).await;
    cluster.leader().await;
    // The outcome of the first attempts is unknown: the first transaction may be in a block.
    for (nonce, index) in [(1, leader), (2, follower)] {
        submit(&cluster, index, nonce, 0).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_book_documents_exactly_the_metrics_of_a_cluster() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let (cluster, leader, _) = cluster(&nats, &[]).await;
    let text = reqwest::get(cluster.rest(leader).to_owned() + "/metrics")
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let shown: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let shown: BTreeSet<_> = shown
        .into_iter()
        .filter(|name| name.starts_with("tetrad_cluster_"))
        .collect();
    let book = include_str!("../../../docs/src/interfaces/metrics.md");
    let documented: BTreeSet<_> = book
        .split('`')
        .filter(|name| name.starts_with("tetrad_cluster_"))
        .collect();
    assert_eq!(shown, documented);
    assert!(text.contains("tetrad_cluster_leader 1"), "{text}");
}

/// Runs `tetrad cluster` with this command.
fn cluster_command(servers: &str, command: &str, more: &[&str]) -> (bool, String, String) {
    let mut arguments = vec![
        "cluster",
        command,
        "--cluster",
        servers,
        "--cluster-name",
        "test",
    ];
    arguments.extend(more);
    output(&arguments)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_founds_a_cluster_that_commands_maintain() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let chain = directory.path().join("chain").display().to_string();

    // Without price updates the number of blocks is known.
    let settings = ["--chain-id", "31337", "--exchange-price-tick", "0"];
    let single = Running::start(&[&settings[..], &["--data-dir", &chain]].concat()).await;
    ask(
        single.ready["rpc"].as_str().unwrap(),
        "anvil_mine",
        json!(["0x32"]),
    )
    .await;
    assert!(single.end("-TERM").0);

    let servers = nats.urls().join(",");
    assert!(
        cluster_command(&servers, "status", &[])
            .1
            .contains("no chain")
    );

    let init = ["--data-dir", &chain, "--node-name", "old"];
    let (done, said, error) = cluster_command(&servers, "init", &init);
    assert!(done && said.contains("has the chain"), "{said}{error}");
    let (done, _, error) = cluster_command(&servers, "init", &init);
    assert!(!done && error.contains("has a chain already"), "{error}");

    // New nodes join from the checkpoint, and have all blocks.
    let arguments = settings.map(str::to_owned).to_vec();
    let mut cluster = Cluster::start(
        &nats,
        2,
        Options {
            arguments,
            ..Options::default()
        },
    )
    .await;
    let leader = cluster.leader().await;
    for index in 0..2 {
        assert_eq!(
            number(&ask(cluster.rpc(index), "eth_blockNumber", json!([])).await),
            50
        );
    }
    let (_, before, _) = cluster_command(&servers, "status", &[]);
    assert!(
        before.contains(&format!("leader      node-{leader}")),
        "{before}"
    );

    // Nothing precedes the only checkpoint, so nothing is removed, and further nodes can join.
    let (done, said, error) = cluster_command(&servers, "compact", &[]);
    assert!(done && said.contains("begins at entry 0"), "{said}{error}");
    let newcomer = cluster.add(&nats).await;
    assert_eq!(
        number(&ask(cluster.rpc(newcomer), "eth_blockNumber", json!([])).await),
        50
    );

    assert!(cluster_command(&servers, "step-down", &[]).0);
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    while cluster_command(&servers, "status", &[])
        .1
        .contains(&format!("leader      node-{leader}"))
    {
        assert!(Instant::now() < deadline, "node-{leader} still leads");
    }

    let next = cluster.leader().await;
    let leave = ["--node-name", &format!("node-{next}")];
    let (done, _, error) = cluster_command(&servers, "leave", &leave);
    assert!(done, "{error}");
    let ready = reqwest::get(cluster.rest(next).to_owned() + "/ready")
        .await
        .unwrap();
    assert_eq!(ready.status(), 503);
    assert!(ready.text().await.unwrap().contains("has left the cluster"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_joining_node_has_the_blocks_before_its_checkpoint_and_reverts_to_them() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let directory = tempfile::tempdir().unwrap();
    let chain = directory.path().join("chain");
    let settings = [
        "--chain-id",
        "31337",
        "--exchange-price-tick",
        "0",
        "--limits-checkpoint-kilobytes",
        "16",
    ];

    let single =
        Running::start(&[&settings[..], &["--data-dir", &chain.display().to_string()]].concat())
            .await;
    let url = single.ready["rpc"].as_str().unwrap();

    ask(url, "anvil_mine", json!(["0x5"])).await;
    let snapshot = ask(url, "evm_snapshot", json!([])).await;
    // Blocks until the chain has several checkpoints.
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    while checkpoints(&chain) < 3 {
        assert!(
            Instant::now() < deadline,
            "{} checkpoints",
            checkpoints(&chain)
        );
        ask(url, "anvil_mine", json!(["0x20"])).await;
    }
    let block = ask(url, "eth_getBlockByNumber", json!(["0x3", false])).await;
    assert!(single.end("-TERM").0);

    let servers = nats.urls().join(",");
    let chain = chain.display().to_string();
    let init = [
        "cluster",
        "init",
        "--cluster",
        &servers,
        "--cluster-name",
        "test",
        "--data-dir",
        &chain,
    ];
    let (done, said, error) = output(&init);
    assert!(done, "{said}{error}");

    let arguments = settings.map(str::to_owned).to_vec();
    let cluster = Cluster::start(
        &nats,
        2,
        Options {
            arguments,
            ..Options::default()
        },
    )
    .await;

    let leader = cluster.leader().await;
    for index in 0..2 {
        assert_eq!(
            ask(
                cluster.rpc(index),
                "eth_getBlockByNumber",
                json!(["0x3", false])
            )
            .await,
            block
        );
    }

    assert_eq!(
        ask(cluster.rpc(1 - leader), "evm_revert", json!([snapshot])).await,
        true
    );
    for index in 0..2 {
        let deadline = Instant::now() + super::WAIT_TIMEOUT;
        while ask(cluster.rpc(index), "eth_blockNumber", json!([])).await != "0x5" {
            assert!(Instant::now() < deadline, "node-{index}");
            sleep(super::POLL).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_joins_a_cluster_whose_log_was_compacted() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let settings = [
        "--exchange-price-tick",
        "0",
        "--limits-checkpoint-kilobytes",
        "16",
    ];
    let arguments = settings.map(str::to_owned).to_vec();
    let mut cluster = Cluster::start(
        &nats,
        2,
        Options {
            arguments,
            ..Options::default()
        },
    )
    .await;

    let leader = cluster.leader().await;
    let servers = nats.urls().join(",");

    let hash = ask(
        cluster.rpc(leader),
        "eth_sendRawTransaction",
        json!([raw(transfer(0), 0)]),
    )
    .await;

    // The leader offers its checkpoints at intervals.
    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    let begins = loop {
        assert!(Instant::now() < deadline, "nothing is removed");
        ask(cluster.rpc(leader), "anvil_mine", json!(["0x20"])).await;

        let (done, said, error) = output(&[
            "cluster",
            "compact",
            "--cluster",
            &servers,
            "--cluster-name",
            "test",
        ]);

        // There is no checkpoint before the leader has offered the first.
        assert!(done || error.contains("no checkpoint"), "{said}{error}");

        match said
            .trim()
            .rsplit(' ')
            .next()
            .and_then(|height| height.parse::<u128>().ok())
        {
            Some(height) if height > 1 => break height,
            _ => sleep(super::POLL).await,
        }
    };

    let newcomer = cluster.add(&nats).await;

    let head = number(&ask(cluster.rpc(leader), "eth_blockNumber", json!([])).await);
    assert!(begins <= head, "{begins} > {head}");

    // The new node begins later if the leader has offered another checkpoint meanwhile.
    let mut first_held = None;
    for block in begins..=head {
        let wanted = json!([format!("{block:#x}"), false]);
        let expected = ask(cluster.rpc(leader), "eth_getBlockByNumber", wanted.clone()).await;
        let found = ask(cluster.rpc(newcomer), "eth_getBlockByNumber", wanted).await;
        if found.is_null() && first_held.is_none() {
            continue;
        }
        assert_eq!(found, expected, "{block}");
        first_held.get_or_insert(block);
    }
    assert!(first_held.is_some(), "no block from {begins} to {head}");

    // Earlier blocks cannot be fetched from the log; the state is complete.
    assert_eq!(
        ask(
            cluster.rpc(newcomer),
            "eth_getTransactionReceipt",
            json!([hash])
        )
        .await,
        Value::Null
    );

    for (nonce, index) in [(1, newcomer), (2, leader)] {
        let hash = ask(
            cluster.rpc(index),
            "eth_sendRawTransaction",
            json!([raw(transfer(nonce), 0)]),
        )
        .await;

        assert_eq!(
            ask(
                cluster.rpc(index),
                "eth_getTransactionReceipt",
                json!([hash])
            )
            .await["status"],
            "0x1"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_cannot_follow_a_revert_takes_a_checkpoint_after_it() {
    let Some(nats) = NatsServers::start(1).await else {
        return;
    };

    let settings = [
        "--exchange-price-tick",
        "0",
        "--limits-checkpoint-kilobytes",
        "16",
    ];
    let arguments = settings.map(str::to_owned).to_vec();
    let mut cluster = Cluster::start(
        &nats,
        1,
        Options {
            arguments,
            ..Options::default()
        },
    )
    .await;

    let leader = cluster.leader().await;
    let url = cluster.rpc(leader).to_owned();

    ask(&url, "anvil_mine", json!(["0x5"])).await;
    let snapshot = ask(&url, "evm_snapshot", json!([])).await;
    let servers = nats.urls().join(",");

    let deadline = Instant::now() + super::WAIT_TIMEOUT;
    loop {
        assert!(Instant::now() < deadline, "nothing is removed");
        ask(&url, "anvil_mine", json!(["0x20"])).await;

        let (_, said, _) = output(&[
            "cluster",
            "compact",
            "--cluster",
            &servers,
            "--cluster-name",
            "test",
        ]);

        let begins = said
            .trim()
            .rsplit(' ')
            .next()
            .and_then(|height| height.parse::<u128>().ok());

        if begins.is_some_and(|height| height > 20) {
            break;
        }
        sleep(super::POLL).await;
    }

    let running = cluster.add(&nats).await;
    let stopped = cluster.add(&nats).await;
    cluster.terminate(stopped).await;

    // The leader holds the chain at the snapshot. The others have only later blocks.
    assert_eq!(ask(&url, "evm_revert", json!([snapshot])).await, true);

    ask(&url, "eth_sendRawTransaction", json!([raw(transfer(0), 0)])).await;
    let head = ask(&url, "eth_getBlockByNumber", json!(["0x6", false])).await["hash"].clone();

    cluster.restart(stopped).await;
    for node in [running, stopped] {
        let deadline = Instant::now() + super::WAIT_TIMEOUT;
        while ask(
            cluster.rpc(node),
            "eth_getBlockByNumber",
            json!(["latest", false]),
        )
        .await["hash"]
            != head
        {
            assert!(Instant::now() < deadline, "{}", cluster.health(node).await);
            sleep(super::POLL).await;
        }
    }

    // They continue as before, and can lead.
    cluster.kill(leader);
    let next = cluster.leader().await;
    let hash = ask(
        cluster.rpc(next),
        "eth_sendRawTransaction",
        json!([raw(transfer(1), 0)]),
    )
    .await;
    assert_eq!(
        ask(
            cluster.rpc(next),
            "eth_getTransactionReceipt",
            json!([hash])
        )
        .await["blockNumber"],
        "0x7"
    );
}

/// The number of checkpoints in the directory of a chain.
fn checkpoints(chain: &std::path::Path) -> usize {
    std::fs::read_dir(chain)
        .unwrap()
        .filter(|file| is_checkpoint(file.as_ref().unwrap()))
        .count()
}

fn is_checkpoint(file: &std::fs::DirEntry) -> bool {
    file.file_name()
        .to_string_lossy()
        .starts_with("checkpoint-")
}

//! Responses to clients while the chain cannot be written.

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256, keccak256};
use serde_json::{Value, json};
use tetrad_chain::{Change, Edit, Mining, Recovered};
use tetrad_primitives::state::{AccountChange, Changes};
use tetrad_store::{
    log::{ChainIdentity, Durability, Fault, LocalLogs, LogEntry, LogStore, MemoryLog, ReadLog},
    storage::Storage,
};

use super::{
    disk::Disk,
    ledger::{first_head, nonce, send, start, transfer},
};
use crate::support::{
    chain::seal,
    process::{Running, tetrad},
};

const TO: Address = Address::repeat_byte(9);

#[tokio::test]
async fn a_full_disk_refuses_transactions_until_there_is_room_again() {
    let log = MemoryLog::default();
    let faults = log.faults();
    let (chain, _writer) = start(
        Recovered::recorded(first_head(), Box::new(log)),
        Mining::Instant,
    );
    send(&chain, transfer(0, 0, TO)).await.unwrap();
    faults.lock().extend([Fault::Full]);
    let error = send(&chain, transfer(0, 1, TO))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the chain cannot be written: memory: "),
        "{error}"
    );
    assert_eq!(
        (nonce(&chain, 0), chain.head().number()),
        (1, 1),
        "reads are served, and the chain is unchanged"
    );
    assert!(
        chain.pool().is_empty(),
        "refused transactions are not restored"
    );
    send(&chain, transfer(0, 1, TO)).await.unwrap();
    assert_eq!((nonce(&chain, 0), chain.head().number()), (2, 2));
}

#[tokio::test]
async fn a_full_disk_refuses_changes_of_development_methods() {
    let log = MemoryLog::default();
    let faults = log.faults();
    let (chain, _writer) = start(
        Recovered::recorded(first_head(), Box::new(log)),
        Mining::Instant,
    );
    let id = chain.snapshot().await.unwrap();
    send(&chain, transfer(0, 0, TO)).await.unwrap();
    faults
        .lock()
        .extend([Fault::Unknown, Fault::Full, Fault::Full]);
    let edit = Change::Edit(vec![Edit::Nonce(TO, 5)]);
    assert!(chain.change(edit).await.is_err());
    assert!(chain.revert(id).await.is_err());
    assert!(seal(&chain, 0).await.is_err());
    assert_eq!((nonce(&chain, 0), chain.head().number()), (1, 1));
    assert!(
        chain.revert(id).await.unwrap(),
        "the snapshot is not used up"
    );
    assert_eq!(chain.head().number(), 0);
}

#[tokio::test]
async fn a_chain_that_cannot_be_written_is_reported_until_it_can_be() {
    let log = MemoryLog::default();
    let faults = log.faults();
    let (chain, _writer) = start(
        Recovered::recorded(first_head(), Box::new(log)),
        Mining::Instant,
    );
    let obstacle = || async { chain.obstacle().await.unwrap() };
    assert_eq!(obstacle().await, None);
    faults.lock().extend([Fault::Full, Fault::Full]);
    send(&chain, transfer(0, 0, TO)).await.unwrap_err();
    let reason = obstacle().await.expect("still full");
    assert!(
        reason.starts_with("the chain cannot be written: memory: "),
        "{reason}"
    );
    assert_eq!(
        obstacle().await,
        None,
        "there is room again, which is noticed without a transaction"
    );
    send(&chain, transfer(0, 0, TO)).await.unwrap();
    assert_eq!(obstacle().await, None);
}

#[tokio::test]
async fn a_small_change_that_fits_on_a_full_disk_does_not_end_the_failure() {
    let log = MemoryLog::default();
    let faults = log.faults();
    let entries = log.clone();
    let (chain, _writer) = start(
        Recovered::recorded(first_head(), Box::new(log)),
        Mining::Instant,
    );
    let obstacle = || async { chain.obstacle().await.unwrap() };

    faults
        .lock()
        .extend([Fault::Full, Fault::None, Fault::Full, Fault::Full]);
    send(&chain, transfer(0, 0, TO)).await.unwrap_err();

    let before = entries.heights().end;
    assert!(
        chain
            .change(Change::Edit(vec![Edit::Nonce(TO, 5)]))
            .await
            .is_ok()
    );

    for _ in 0..2 {
        assert!(
            obstacle().await.is_some(),
            "the refused change would be refused again"
        );
    }

    assert_eq!(obstacle().await, None);
    assert_eq!(
        entries.heights().end,
        before + 1,
        "probing for room leaves nothing in the log"
    );
}

/// An entry of about this many times 64 bytes.
fn entry(slots: u64) -> LogEntry {
    let value = |slot: u64| U256::from_be_bytes(keccak256(slot.to_be_bytes()).0);
    let change = AccountChange {
        address: TO,
        key: keccak256(TO),
        after: None,
        storage_wiped: false,
        storage: (0..slots)
            .map(|slot| (value(slot), value(slot + 1)))
            .collect(),
        public_key: None,
    };
    LogEntry::Edit {
        changes: Arc::new(Changes(vec![change])),
        root: B256::ZERO,
        parameters: None,
    }
}

/// The size of all files.
fn used(storage: &dyn Storage) -> u64 {
    let names = storage.names().unwrap();
    names
        .iter()
        .map(|name| storage.open(name).unwrap().length().unwrap())
        .sum()
}

#[test]
fn a_log_is_obstructed_until_there_is_room_for_the_refused_entry() {
    for durability in [Durability::Fsync, Durability::Os] {
        let disk = Disk::new(1);
        let storage: Arc<dyn Storage> = Arc::new(disk.clone());

        let identity = ChainIdentity {
            chain_id: 125,
            genesis: B256::repeat_byte(7),
        };
        let logs = LocalLogs::new(storage.clone()).with_durability(durability);

        let mut log = logs.open(identity, 0).unwrap();
        log.append(0, &entry(1).to_bytes()).unwrap();
        log.sync().unwrap();

        disk.limit(Some(used(&*storage) + 1_000));
        log.append(1, &entry(4_000).to_bytes()).unwrap_err();
        assert!(log.is_obstructed());

        log.append(1, &entry(2).to_bytes()).unwrap();
        assert!(
            log.is_obstructed(),
            "the success of a small entry proves nothing for a large one"
        );

        // Room for the smallest probe, but not for the refused entry.
        for room in [500, 100_000, 200_000] {
            disk.limit(Some(used(&*storage) + room));

            let names = storage.names().unwrap();
            let before = used(&*storage);
            log.probe().unwrap_err();
            assert!(log.is_obstructed());
            assert_eq!(
                (storage.names().unwrap(), used(&*storage), log.end()),
                (names, before, 2),
                "the probe leaves nothing"
            );
        }

        disk.limit(None);
        log.probe().unwrap();
        assert!(!log.is_obstructed());
        log.append(2, &entry(4_000).to_bytes()).unwrap();

        // An entry as large as the refused one ends the failure, too. Syncing frees the reserved
        // room.
        log.sync().unwrap();
        disk.limit(Some(used(&*storage)));
        log.append(3, &entry(4_000).to_bytes()).unwrap_err();
        disk.limit(None);
        log.append(3, &entry(4_000).to_bytes()).unwrap();
        assert!(!log.is_obstructed());

        drop(log);
        assert_eq!(
            logs.open(identity, 0)
                .unwrap()
                .reader()
                .stream(0)
                .unwrap()
                .count(),
            4
        );
    }
}

/// The whole response to a JSON-RPC request.
async fn response(http: &reqwest::Client, url: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let request = http
        .post(url)
        .header("content-type", "application/json")
        .body(body);
    request.send().await.unwrap().json().await.unwrap()
}

/// The response to a transaction with this many bytes of data.
async fn send_data(http: &reqwest::Client, url: &str, from: &Value, bytes: usize) -> Value {
    let data = format!("0x{}", "11".repeat(bytes));
    let transaction = json!({"from": from, "to": from, "gas": "0x500000", "data": data});
    response(http, url, "eth_sendTransaction", json!([transaction])).await
}

/// The status of the node's readiness.
async fn ready_status(http: &reqwest::Client, url: &str) -> u16 {
    let request = http.get(url.replace("/rpc", "/ready"));
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_node_that_cannot_write_large_blocks_is_not_ready_and_warns_once() {
    let place = tempfile::tempdir().unwrap();

    // No file may grow beyond three megabytes or, depending on the shell's units, six.
    let mut command = std::process::Command::new("/bin/sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 6144; exec \"$0\" \"$@\""])
        .arg(tetrad(&[]).get_program());
    command.env_clear().stdin(std::process::Stdio::null());
    command.args([
        "--listen",
        "127.0.0.1:0",
        "--ws-listen",
        "127.0.0.1:0",
        "--exchange-price-tick",
        "0",
        "--data-dir",
    ]);

    let node = Running::run({
        command.arg(place.path());
        command
    })
    .await;

    let http = reqwest::Client::new();
    let url = node.ready["rpc"].as_str().unwrap().to_owned();
    let accounts = response(&http, &url, "eth_accounts", json!([])).await;
    let from = &accounts["result"][0];

    assert_eq!(ready_status(&http, &url).await, 200);
    let mut sent = 0;
    let refusal = loop {
        let answer = send_data(&http, &url, from, 100_000).await;
        if answer["error"].is_object() {
            break answer.to_string();
        }
        sent += 1;
        assert!(sent < 100, "the log never reached its limit");
    };
    assert!(refusal.contains("the chain cannot be written"), "{refusal}");

    let log = place.path().join("log-00000000000000000000");
    let mut small = 0;
    for _ in 0..8 {
        let length = std::fs::metadata(&log).unwrap().len();
        assert_eq!(ready_status(&http, &url).await, 503);
        assert!(
            std::fs::metadata(&log).unwrap().len() <= length,
            "probing for room leaves nothing in the log"
        );
        let answer = send_data(&http, &url, from, 10).await;
        small += u32::from(answer["result"].is_string());
        assert_eq!(ready_status(&http, &url).await, 503);
    }
    assert!(small > 0, "small blocks still fit");

    let printed = node.log();
    assert_eq!(
        printed.matches("the chain cannot be written").count(),
        1,
        "{printed}"
    );
    assert!(
        !printed.contains("the chain can be written again"),
        "{printed}"
    );
}

//! Compaction keeps the remaining blocks and states unchanged, and refuses requests for removed
//! ones.

use std::{path::Path, sync::Arc};

use serde_json::json;
use tetrad_chain::{Chain, Pace, compact, repair, verify};
use tetrad_store::{
    storage::{Directory, Storage, read_file, replace_file},
    store::checkpoints,
};

use super::{
    commands::chain,
    kept_in,
    ledger::{never, recover, start},
};
use crate::support::{TestNode, node_with};

const X: &str = "0x00000000000000000000000000000000000000a1";
const Y: &str = "0x00000000000000000000000000000000000000b2";

async fn node_on(directory: &Path) -> TestNode {
    node_with(|config| {
        config.data_dir = Some(directory.to_owned());
        config.checkpoint_bytes = 64 << 10;
    })
    .await
}

async fn mine(node: &TestNode, count: u64) {
    node.rpc("evm_mine", json!([{"blocks": count}])).await;
}

async fn pay(node: &TestNode, to: &str, value: &str) {
    let from = node.account(0);
    node.rpc(
        "eth_sendTransaction",
        json!([{"from": from, "to": to, "value": value}]),
    )
    .await;
}

async fn verified(directory: &Path) -> String {
    let (ok, printed) = chain(directory, &["verify"]);
    assert!(ok, "{printed}");
    printed
}

#[tokio::test]
async fn every_remaining_block_has_its_state_and_older_ones_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let node = node_on(place.path()).await;
    mine(&node, 300).await;
    pay(&node, Y, "0x1").await;
    mine(&node, 100).await;
    pay(&node, X, "0x7").await;
    node.end().await;
    assert_eq!(
        chain(place.path(), &["compact", "--keep", "256"]),
        (true, "the oldest block is now 147".to_owned())
    );
    let printed = verified(place.path()).await;
    assert!(
        printed.starts_with("blocks 147 to 402: 256 entries, ") && printed.ends_with("in order"),
        "{printed}"
    );

    for restarted in [false, true] {
        let node = node_on(place.path()).await;
        let from = node.account(0);

        for number in (147..=402).step_by(15).chain([300, 301, 401, 402]) {
            let at = json!(format!("{number:#x}"));
            let held = [
                node.rpc("eth_getBalance", json!([X, at])).await,
                node.rpc("eth_getBalance", json!([Y, at])).await,
            ];
            let expected = [
                if number < 402 { "0x0" } else { "0x7" },
                if number < 301 { "0x0" } else { "0x1" },
            ];
            assert_eq!(held, expected, "block {number}");

            let sent = u64::from(number >= 301) + u64::from(number >= 402);
            let nonce = node.rpc("eth_getTransactionCount", json!([from, at])).await;
            assert_eq!(nonce, format!("{sent:#x}"), "block {number}");
        }

        for number in [1, 144, 145] {
            let error = node
                .rpc_error("eth_getBalance", json!([X, format!("{number:#x}")]))
                .await;
            assert_eq!(error["code"], 4444, "block {number}: {error}");
        }

        let trace = node
            .rpc(
                "debug_traceBlockByNumber",
                json!(["0x93", {"tracer": "callTracer"}]),
            )
            .await;
        assert!(
            trace.is_array(),
            "the oldest block runs on the state before it: {trace}"
        );
        node.end().await;

        if !restarted {
            // There is nothing left to remove.
            let again = chain(place.path(), &["compact", "--keep", "256"]);
            assert_eq!(again, (true, "the oldest block is now 147".to_owned()));
        }
    }
}

/// Removes all checkpoints except the newest. Returns the height of the oldest one before.
fn remove_older_checkpoints(directory: &Path) -> u64 {
    let heights = checkpoints(&Directory::new(directory).unwrap()).unwrap();
    let (_, others) = heights.split_last().unwrap();
    for height in others {
        std::fs::remove_file(directory.join(format!("checkpoint-{height:020}"))).unwrap();
    }
    others[0]
}

/// Like directories that were compacted when the log did not yet begin with a checkpoint.
#[tokio::test]
async fn states_without_an_earlier_checkpoint_are_refused_and_verify_reports_it() {
    let place = tempfile::tempdir().unwrap();
    let node = node_on(place.path()).await;
    mine(&node, 300).await;
    pay(&node, Y, "0x1").await;
    mine(&node, 100).await;
    node.end().await;
    assert!(chain(place.path(), &["compact", "--keep", "256"]).0);
    assert_eq!(remove_older_checkpoints(place.path()), 145);

    let printed = verified(place.path()).await;
    assert!(
        printed.starts_with("blocks 146 to 401: 256 entries, "),
        "{printed}"
    );
    assert!(
        printed.ends_with("in order; no states before block 402"),
        "{printed}"
    );

    let node = node_on(place.path()).await;
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["0x92", false]))
            .await["number"],
        "0x92"
    );

    let error = node.rpc_error("eth_getBalance", json!([Y, "0x92"])).await;
    assert_eq!(error["code"], 4444, "{error}");
    let error = node
        .rpc_error(
            "debug_traceBlockByNumber",
            json!(["0x92", {"tracer": "callTracer"}]),
        )
        .await;
    assert!(error.to_string().contains("not available"), "{error}");

    assert_eq!(node.rpc("eth_getBalance", json!([Y, "0x191"])).await, "0x1");
    pay(&node, Y, "0x1").await;
    assert_eq!(node.rpc("eth_getBalance", json!([Y, "0x191"])).await, "0x1");
    node.end().await;

    // The remaining entries are verified, with or without states.
    let log = place.path().join("log-00000000000000000145");
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[2_000] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let (ok, printed) = chain(place.path(), &["verify"]);
    assert!(!ok && printed.contains("damaged at byte"), "{printed}");
}

#[tokio::test]
async fn a_chain_does_not_begin_with_reverted_blocks() {
    let place = tempfile::tempdir().unwrap();
    let live = place.path().join("live");
    let copy = place.path().join("copy");
    let node = node_on(&live).await;
    mine(&node, 600).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    mine(&node, 400).await;
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    pay(&node, X, "0x7").await;
    mine(&node, 9).await;
    // A backup of the whole directory, including checkpoints of reverted blocks.
    let (ok, printed) = chain(&live, &["backup", copy.to_str().unwrap()]);
    assert!(ok, "{printed}");
    let printed = verified(&copy).await;
    assert!(
        printed.starts_with("blocks 1 to 610: 1012 entries, "),
        "{printed}"
    );
    node.end().await;

    assert_eq!(
        chain(&live, &["compact", "--keep", "10"]),
        (true, "the oldest block is now 355".to_owned())
    );
    assert!(
        verified(&live)
            .await
            .starts_with("blocks 355 to 610: 658 entries, ")
    );
    let copy = place.path().join("compacted");
    assert!(chain(&live, &["backup", copy.to_str().unwrap()]).0);
    verified(&copy).await;

    let node = node_on(&live).await;
    assert_eq!(node.rpc("eth_getBalance", json!([X, "0x258"])).await, "0x0");
    assert_eq!(node.rpc("eth_getBalance", json!([X, "0x259"])).await, "0x7");

    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    mine(&node, 900).await;
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    mine(&node, 5).await;
    let newest = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    node.end().await;
    verified(&live).await;

    let node = node_on(&live).await;
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["latest", false]))
            .await,
        newest
    );
    assert_eq!(
        (
            node.block_number().await,
            node.rpc("eth_getBalance", json!([X, "latest"])).await
        ),
        (615, json!("0x7"))
    );
    node.end().await;

    assert_eq!(
        chain(&live, &["repair"]).1,
        "no entry is damaged, and the log can be followed to its end"
    );
}

#[tokio::test]
async fn a_rollback_to_the_block_of_a_start_survives_restarts() {
    let place = tempfile::tempdir().unwrap();
    let balance = |value: &str| json!([X, value]);

    let node = node_on(place.path()).await;
    mine(&node, 300).await;
    node.rpc("anvil_setBalance", balance("0x5")).await;
    node.end().await;

    // The only remaining checkpoint has the state that a development method set after the newest
    // block.
    assert!(chain(place.path(), &["compact", "--keep", "1"]).0);
    remove_older_checkpoints(place.path());

    let node = node_on(place.path()).await;
    mine(&node, 1).await;
    for block in ["0x12c", "0x12d"] {
        assert_eq!(
            node.rpc("eth_getBalance", json!([X, block])).await,
            "0x5",
            "{block}"
        );
    }

    node.rpc("anvil_rollback", json!([1])).await;
    node.rpc("anvil_setBalance", json!([Y, "0x6"])).await;
    mine(&node, 2).await;
    let newest = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    node.end().await;

    verified(place.path()).await;
    let node = node_on(place.path()).await;
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["latest", false]))
            .await,
        newest
    );
    assert_eq!(
        node.rpc("eth_getBalance", json!([X, "latest"])).await,
        "0x5"
    );
    assert_eq!(
        node.rpc("eth_getBalance", json!([Y, "latest"])).await,
        "0x6"
    );
}

/// Seals this many blocks.
async fn seal(chain: &Chain, count: u64) {
    let pace = Pace {
        at_least: 1,
        ..Pace::default()
    };
    chain.mine(count, pace).await.unwrap();
}

fn storage_in(directory: &Path) -> Arc<dyn Storage> {
    Arc::new(Directory::new(directory).unwrap())
}

#[tokio::test]
async fn repair_continues_from_the_last_usable_checkpoint() {
    let place = tempfile::tempdir().unwrap();
    let storage = || storage_in(place.path());

    let (running, writer) = start(recover(storage()).unwrap(), never());

    seal(&running, 20).await;

    let snapshot = running.snapshot().await.unwrap();

    let mut newest = 20;
    // Checkpoints are written when the writer is idle.
    let taken_back = loop {
        if let Some(height) = checkpoints(&*storage())
            .unwrap()
            .into_iter()
            .find(|height| *height > 20)
        {
            break format!("checkpoint-{height:020}");
        }
        seal(&running, 1).await;
        newest += 1;
        assert!(newest < 100_000, "no checkpoint is written");
    };

    let content = read_file(&*storage(), &taken_back).unwrap().unwrap();
    let before = running.head().block.hash;

    assert!(running.revert(snapshot).await.unwrap());
    running.stop();
    tokio::task::spawn_blocking(move || writer.join())
        .await
        .unwrap();

    // Earlier versions could leave only checkpoints of reverted blocks, which are now removed.
    replace_file(&*storage(), &taken_back, &content).unwrap();
    for height in checkpoints(&*storage())
        .unwrap()
        .iter()
        .filter(|height| **height <= 20)
    {
        storage()
            .remove(&format!("checkpoint-{height:020}"))
            .unwrap();
    }

    let error = recover(storage()).err().expect("a refusal").to_string();
    assert!(
        error.contains("only of entries that were reverted later")
            && error.contains("tetrad chain repair"),
        "{error}"
    );

    let error = verify(&kept_in(storage())).unwrap_err().to_string();
    assert!(
        error.contains("only of entries that were reverted later"),
        "{error}"
    );

    let done = repair(&kept_in(storage())).unwrap().unwrap();
    assert_eq!(
        (done.end, done.what),
        (
            newest + 1,
            "it reverts to a state of which no checkpoint is left"
        )
    );

    assert_eq!(repair(&kept_in(storage())).unwrap(), None);

    let recovered = recover(storage()).unwrap();
    assert_eq!(
        (recovered.head.number(), recovered.head.block.hash),
        (newest, before)
    );
    drop(recovered);

    verify(&kept_in(storage())).unwrap();
    compact(&kept_in(storage()), 1, None).unwrap();
}

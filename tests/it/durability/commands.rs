//! `tetrad chain …`

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::json;
use tetrad_contracts::contracts::bindings::{LendingPool, Token};

use crate::support::{
    chain::{token, units},
    node_on,
};

pub(crate) fn chain(directory: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetrad"));
    command
        .args(["chain", "--data-dir"])
        .arg(directory)
        .args(arguments)
        .env_clear();
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = String::from_utf8(if status.success() { stdout } else { stderr }).unwrap();
    (status.success(), text.trim().to_owned())
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test]
async fn a_chain_is_exported_to_a_file_and_imported() {
    let place = tempfile::tempdir().unwrap();
    let old = place.path().join("old");
    let new = place.path().join("new");
    let file = place.path().join("chain.tetrad");
    let node = node_on(&old).await;
    let from = node.account(0);
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": from, "to": from, "value": "0x1"}]),
        )
        .await;
    node.mine().await;
    let newest = node
        .rpc("eth_getBlockByNumber", json!(["latest", true]))
        .await;

    let (ok, printed) = chain(&old, &["export", path(&file)]);
    assert!(
        !ok && printed.contains("in use by another process"),
        "{printed}"
    );
    node.end().await;
    assert_eq!(
        chain(&old, &["export", path(&file)]),
        (true, format!("2 entries in {}", file.display()))
    );
    assert_eq!(
        chain(&new, &["import", path(&file)]),
        (true, "2 entries up to block 2, all in order".to_owned())
    );
    let prices = |directory: &Path| std::fs::read(directory.join("prices")).unwrap();
    assert!(
        prices(&old) == prices(&new),
        "past prices were not exported"
    );
    let (ok, printed) = chain(&new, &["import", path(&file)]);
    assert!(
        !ok && printed.ends_with("the directory is not empty"),
        "{printed}"
    );
    let (ok, printed) = chain(&new, &["verify"]);
    assert!(
        ok && printed.starts_with("blocks 1 to 2: 2 entries, 1 transactions, "),
        "{printed}"
    );

    let node = node_on(&new).await;
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["latest", true]))
            .await,
        newest
    );
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([hash])).await["status"],
        "0x1"
    );
    node.end().await;

    let blocks = place.path().join("blocks.rlp");
    assert_eq!(
        chain(&new, &["export", "--rlp", path(&blocks)]),
        (true, format!("2 blocks in {}", blocks.display()))
    );
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() - 20;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let (ok, printed) = chain(&place.path().join("other"), &["import", path(&file)]);
    assert!(!ok && printed.contains("checksum"), "{printed}");
}

/// Imports the chain of an earlier version into `directory`: three transfers of one unit to one
/// address.
fn import_earlier_version(place: &Path, directory: &Path) {
    let file = place.join("chain.tetrad");
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/chain-v1.tetrad.gz");
    let mut unpacked = flate2::read::GzDecoder::new(std::fs::File::open(packed).unwrap());
    std::io::copy(&mut unpacked, &mut std::fs::File::create(&file).unwrap()).unwrap();
    assert_eq!(
        chain(directory, &["import", path(&file)]),
        (true, "3 entries up to block 3, all in order".to_owned())
    );
}

/// The file's version is older than past prices.
#[tokio::test]
async fn a_file_of_the_previous_version_is_read() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("chain");
    import_earlier_version(place.path(), &directory);
    let node = node_on(&directory).await;
    let to = "0x00000000000000000000000000000000000000aa";
    assert_eq!(
        node.rpc("eth_getBalance", json!([to, "latest"])).await,
        "0x3"
    );
    assert_eq!(node.rpc("eth_getBalance", json!([to, "0x1"])).await, "0x1");
    node.end().await;
    // Exported again, it has the present version and the same content.
    let again = place.path().join("again.tetrad");
    assert_eq!(
        chain(&directory, &["export", path(&again)]),
        (true, format!("3 entries in {}", again.display()))
    );
    let copy = place.path().join("copy");
    assert_eq!(
        chain(&copy, &["import", path(&again)]),
        (true, "3 entries up to block 3, all in order".to_owned())
    );
}

/// The lending pool had another address when that chain began.
#[tokio::test]
async fn a_chain_of_an_earlier_version_keeps_its_lending_pool() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("chain");
    import_earlier_version(place.path(), &directory);

    for _ in 0..2 {
        let node = node_on(&directory).await;
        let pool = node.config().network.contracts.lending_pool;
        assert_eq!(
            pool,
            alloy::primitives::address!("0x975005cc98c1aA494aBf9fC666F7f5c5628801FC")
        );
        assert_eq!(
            node.get_json("/api/network").await["lendingPool"],
            pool.to_checksum(None)
        );
        assert_eq!(
            node.get_json("/api/pools").await.as_array().map(Vec::len),
            Some(12)
        );

        let user = node.signer(4);
        let weth = token("WETH");
        let amount = units(&weth, 1);
        assert!(
            node.send(
                &user,
                weth.address,
                Token::approveCall {
                    spender: pool,
                    value: amount
                }
            )
            .await
            .status()
        );
        let deposit = LendingPool::depositCall {
            asset: weth.address,
            amount,
        };
        assert!(node.send(&user, pool, deposit).await.status());

        let activity = node
            .get_json(&format!("/api/user/{}/history", user.address()))
            .await;
        assert_eq!(activity["data"][0]["type"], "deposit", "{activity}");

        let positions = node
            .get_json(&format!("/api/user/{}/positions", user.address()))
            .await;
        let entry = &positions["positions"][0];
        assert_eq!(
            (&entry["symbol"], &entry["collateral"]),
            (&json!("WETH"), &json!(true)),
            "{positions}"
        );
        let asset = node.get_json("/api/pools/WETH").await;
        assert_eq!(
            (&asset["symbol"], &asset["supplyCap"]),
            (&json!("WETH"), &json!(null)),
            "{asset}"
        );
        // The wallet's address has no contract on that chain.
        let published = json!(["0xa0fE00Da13cD944F2e41531E1E23aCcF12deAE4a", "latest"]);
        assert_eq!(node.rpc("eth_getCode", published).await, "0x");
        node.end().await;
    }
}

#[tokio::test]
async fn a_copy_of_a_live_directory_is_consistent() {
    let place = tempfile::tempdir().unwrap();
    let live = place.path().join("live");
    let copy = place.path().join("copy");
    let node = node_on(&live).await;
    node.rpc("evm_mine", json!([{"blocks": 300}])).await;
    let writing = async {
        for _ in 0..20 {
            node.rpc("evm_mine", json!([{"blocks": 20}])).await;
        }
    };
    let source = live.clone();
    let target = copy.clone();
    let copying = tokio::task::spawn_blocking(move || chain(&source, &["backup", path(&target)]));
    let ((), copied) = tokio::join!(writing, copying);
    let (ok, printed) = copied.unwrap();
    assert!(ok, "{printed}");
    let (ok, printed) = chain(&copy, &["verify"]);
    assert!(ok, "{printed}");
    let copied = node_on(&copy).await;
    let number = copied.block_number().await;
    assert!((300..=700).contains(&number), "{number}");
    let id = json!([format!("{number:#x}"), false]);
    assert_eq!(
        copied.rpc("eth_getBlockByNumber", id.clone()).await,
        node.rpc("eth_getBlockByNumber", id).await
    );
}

#[tokio::test]
async fn a_backup_is_restored_and_the_replaced_chain_is_kept() {
    let place = tempfile::tempdir().unwrap();
    let live = place.path().join("live");
    let copy = place.path().join("copy");
    let node = node_on(&live).await;
    node.rpc("evm_mine", json!([{"blocks": 20}])).await;
    let (ok, printed) = chain(&live, &["backup", path(&copy)]);
    assert!(ok, "{printed}");
    node.rpc("evm_mine", json!([{"blocks": 7}])).await;
    let (ok, printed) = chain(&live, &["restore", path(&copy)]);
    assert!(!ok && printed.contains("in use"), "{printed}");
    let newest = node
        .rpc("eth_getBlockByNumber", json!(["0x14", false]))
        .await;
    node.end().await;

    let (ok, printed) = chain(&live, &["restore", path(&live)]);
    assert!(
        !ok && printed.contains("from itself") && !live.join("replaced-1").exists(),
        "{printed}"
    );

    // A source that is not a backup does no harm.
    let (ok, printed) = chain(&live, &["restore", path(&place.path().join("nothing"))]);
    assert!(!ok && !live.join("replaced-1").exists(), "{printed}");

    let (ok, printed) = chain(&live, &["restore", path(&copy)]);
    assert!(
        ok && printed.contains("up to block 20") && printed.contains("replaced-1"),
        "{printed}"
    );

    let node = node_on(&live).await;
    assert_eq!(node.block_number().await, 20);
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["0x14", false]))
            .await,
        newest
    );
    node.end().await;

    // The replaced chain is still complete and can be restored; on a new machine nothing is
    // replaced.
    for (target, source, last) in [("live", live.join("replaced-1"), 27), ("new", copy, 20)] {
        let (ok, printed) = chain(&place.path().join(target), &["restore", path(&source)]);
        assert!(
            ok && printed.contains(&format!("up to block {last}"))
                && printed.contains("replaced-2") == (target == "live"),
            "{printed}"
        );
    }
}

#[tokio::test]
async fn compaction_removes_old_blocks_only() {
    let place = tempfile::tempdir().unwrap();
    let node = node_on(place.path()).await;
    let from = node.account(0);
    node.rpc(
        "eth_sendTransaction",
        json!([{"from": from, "to": from, "value": "0x1"}]),
    )
    .await;
    node.rpc("evm_mine", json!([{"blocks": 400}])).await;
    let balance = node.rpc("eth_getBalance", json!([from, "latest"])).await;
    node.end().await;
    assert_eq!(
        chain(place.path(), &["compact", "--keep", "10"]),
        (true, "the oldest block is now 146".to_owned())
    );
    let (ok, printed) = chain(place.path(), &["verify"]);
    assert!(ok, "{printed}");

    let node = node_on(place.path()).await;
    assert_eq!(
        node.rpc("eth_getBalance", json!([from, "latest"])).await,
        balance
    );
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["0x92", false]))
            .await["number"],
        "0x92"
    );

    // The block before it is part of the checkpoint with which the log begins.
    assert!(
        node.rpc("eth_getBlockByNumber", json!(["0x90", false]))
            .await
            .is_null()
    );
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["0x0", false]))
            .await["number"],
        "0x0"
    );

    let error = node
        .rpc_error(
            "eth_getLogs",
            json!([{"fromBlock": "0x1", "toBlock": "latest"}]),
        )
        .await;
    assert!(
        error
            .to_string()
            .contains("history before block 145 is not available"),
        "{error}"
    );

    node.rpc("evm_mine", json!([{"blocks": 5}])).await;
    node.end().await;
    let (ok, printed) = chain(place.path(), &["verify"]);
    assert!(ok, "{printed}");
    assert_eq!(node_on(place.path()).await.block_number().await, 406);
}

#[test]
fn a_missing_directory_is_not_created() {
    let place = tempfile::tempdir().unwrap();
    let missing = place.path().join("missing");
    let (ok, printed) = chain(&missing, &["verify"]);
    assert!(!ok && printed.contains("No such file"), "{printed}");
    assert!(!missing.exists());
    let (ok, printed) = chain(place.path(), &["verify"]);
    assert!(!ok && printed.contains("there is no chain"), "{printed}");
}

#[tokio::test]
async fn a_damaged_chain_continues_after_a_repair() {
    let place = tempfile::tempdir().unwrap();
    let node = node_on(place.path()).await;

    let mut hashes = Vec::new();
    for _ in 0..20 {
        node.mine().await;
        hashes.push(
            node.rpc("eth_getBlockByNumber", json!(["latest", false]))
                .await["hash"]
                .clone(),
        );
    }
    node.end().await;

    assert_eq!(
        chain(place.path(), &["repair"]),
        (
            true,
            "no entry is damaged, and the log can be followed to its end".to_owned()
        )
    );

    let log = place.path().join("log-00000000000000000000");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, &bytes).unwrap();

    let (ok, printed) = chain(place.path(), &["verify"]);
    assert!(
        !ok && printed.contains("damaged at byte") && printed.contains("tetrad chain repair"),
        "{printed}"
    );

    let (ok, printed) = chain(place.path(), &["repair"]);
    assert!(
        ok && printed.contains("entries; the next one cannot be used: "),
        "{printed}"
    );

    let aside = printed.lines().last().unwrap().trim();
    assert!(
        bytes.ends_with(&std::fs::read(aside).unwrap()),
        "the removed entries are saved: {printed}"
    );
    let (ok, printed) = chain(place.path(), &["verify"]);
    assert!(ok, "{printed}");

    let node = node_on(place.path()).await;
    let newest = node.block_number().await;
    assert!((5..15).contains(&newest), "{newest}");
    let hash = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await["hash"]
        .clone();
    assert_eq!(hash, hashes[newest as usize - 1]);
    node.mine().await;
    node.end().await;
}

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
async fn a_chain_travels_in_a_file() {
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

    let (ok, told) = chain(&old, &["export", path(&file)]);
    assert!(!ok && told.contains("in use by another process"), "{told}");
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
        "past prices did not travel along"
    );
    let (ok, told) = chain(&new, &["import", path(&file)]);
    assert!(
        !ok && told.ends_with("the directory is not empty"),
        "{told}"
    );
    let (ok, told) = chain(&new, &["verify"]);
    assert!(
        ok && told.starts_with("blocks 1 to 2: 2 entries, 1 transactions, "),
        "{told}"
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
    let (ok, told) = chain(&place.path().join("other"), &["import", path(&file)]);
    assert!(!ok && told.contains("checksum"), "{told}");
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

/// The file is of the version before past prices were part of it.
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
    // Written again, it is of today's version, and says the same.
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
        // The wallet's address has no contract there.
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
    let (ok, told) = copied.unwrap();
    assert!(ok, "{told}");
    let (ok, told) = chain(&copy, &["verify"]);
    assert!(ok, "{told}");
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
async fn a_backup_is_restored_and_what_was_there_put_aside() {
    let place = tempfile::tempdir().unwrap();
    let live = place.path().join("live");
    let copy = place.path().join("copy");
    let node = node_on(&live).await;
    node.rpc("evm_mine", json!([{"blocks": 20}])).await;
    let (ok, told) = chain(&live, &["backup", path(&copy)]);
    assert!(ok, "{told}");
    node.rpc("evm_mine", json!([{"blocks": 7}])).await;
    let (ok, told) = chain(&live, &["restore", path(&copy)]);
    assert!(!ok && told.contains("in use"), "{told}");
    let newest = node
        .rpc("eth_getBlockByNumber", json!(["0x14", false]))
        .await;
    node.end().await;

    let (ok, told) = chain(&live, &["restore", path(&live)]);
    assert!(
        !ok && told.contains("from itself") && !live.join("replaced-1").exists(),
        "{told}"
    );

    // Something that is no backup harms nothing.
    let (ok, told) = chain(&live, &["restore", path(&place.path().join("nothing"))]);
    assert!(!ok && !live.join("replaced-1").exists(), "{told}");

    let (ok, told) = chain(&live, &["restore", path(&copy)]);
    assert!(
        ok && told.contains("up to block 20") && told.contains("replaced-1"),
        "{told}"
    );

    let node = node_on(&live).await;
    assert_eq!(node.block_number().await, 20);
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["0x14", false]))
            .await,
        newest
    );
    node.end().await;

    // What was there before is still a chain, and can be gone back to; a new machine has nothing to
    // put aside.
    for (target, source, last) in [("live", live.join("replaced-1"), 27), ("new", copy, 20)] {
        let (ok, told) = chain(&place.path().join(target), &["restore", path(&source)]);
        assert!(
            ok && told.contains(&format!("up to block {last}"))
                && told.contains("replaced-2") == (target == "live"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn compacting_lets_go_of_old_blocks_only() {
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
    let (ok, told) = chain(place.path(), &["verify"]);
    assert!(ok, "{told}");

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

    // The one before is part of the checkpoint that the log begins on.
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
    let (ok, told) = chain(place.path(), &["verify"]);
    assert!(ok, "{told}");
    assert_eq!(node_on(place.path()).await.block_number().await, 406);
}

#[test]
fn a_directory_that_does_not_exist_is_not_made() {
    let place = tempfile::tempdir().unwrap();
    let missing = place.path().join("missing");
    let (ok, told) = chain(&missing, &["verify"]);
    assert!(!ok && told.contains("No such file"), "{told}");
    assert!(!missing.exists());
    let (ok, told) = chain(place.path(), &["verify"]);
    assert!(!ok && told.contains("there is no chain"), "{told}");
}

#[tokio::test]
async fn a_damaged_chain_goes_on_from_what_is_left() {
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

    let (ok, told) = chain(place.path(), &["verify"]);
    assert!(
        !ok && told.contains("damaged at byte") && told.contains("tetrad chain repair"),
        "{told}"
    );

    let (ok, told) = chain(place.path(), &["repair"]);
    assert!(
        ok && told.contains("entries; the next one cannot be used: "),
        "{told}"
    );

    let aside = told.lines().last().unwrap().trim();
    assert!(
        bytes.ends_with(&std::fs::read(aside).unwrap()),
        "what is given up is not lost: {told}"
    );
    let (ok, told) = chain(place.path(), &["verify"]);
    assert!(ok, "{told}");

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

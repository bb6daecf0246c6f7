//! Unusable directories, and the program's errors for them.

use std::{fs, path::Path, sync::Arc};

use serde_json::json;
use tetrad::{Config, Node};
use tetrad_store::storage::{Directory, Storage};

use super::ledger::recover;
use crate::support::{chain::seal, node_with};

const LOG: &str = "log-00000000000000000000";

/// A directory with a few blocks.
async fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let node = node_with(|config| config.data_dir = Some(directory.path().to_owned())).await;
    for _ in 0..3 {
        node.mine().await;
    }
    node.end().await;
    directory
}

async fn refusal(directory: &Path, change: impl FnOnce(&mut Config)) -> String {
    let mut config = Config::test();
    config.exchange.price_tick = None;
    config.data_dir = Some(directory.to_owned());
    change(&mut config);
    match Node::spawn(config).await {
        Ok(_) => panic!("the node started"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_directory_serves_one_process_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let node = node_with(|config| config.data_dir = Some(directory.path().to_owned())).await;
    let error = refusal(directory.path(), |_| {}).await;
    let expected = format!("in use by another process (process {})", std::process::id());
    assert!(
        error.starts_with("--data-dir ") && error.ends_with(&expected),
        "{error}"
    );
    node.end().await;
    let node = node_with(|config| config.data_dir = Some(directory.path().to_owned())).await;
    node.end().await;
}

#[tokio::test]
async fn the_error_for_another_chain_names_the_difference() {
    let directory = directory().await;
    let error = refusal(directory.path(), |config| config.chain_id = 229).await;
    assert!(
        error.ends_with("chain.json: the chain was created with --chain-id 125, not 229"),
        "{error}"
    );
    let error = refusal(directory.path(), |config| config.accounts = 3).await;
    assert!(
        error.ends_with("the chain was created with --accounts 10, not 3"),
        "{error}"
    );
    let genesis = directory.path().join("genesis.json");
    fs::write(
        &genesis,
        json!({"config": {"chainId": 5}, "difficulty": "0x0", "gasLimit": "0x1000000", "alloc": {}}).to_string(),
    )
    .unwrap();
    let error = refusal(directory.path(), |config| {
        config.genesis = Some(genesis.clone())
    })
    .await;
    assert!(error.contains("the chain was created with --"), "{error}");
}

#[tokio::test]
async fn a_directory_of_a_newer_version_is_not_changed() {
    let directory = directory().await;
    let file = directory.path().join("chain.json");
    let newer = fs::read_to_string(&file)
        .unwrap()
        .replace("\"format\": 1", "\"format\": 2");
    fs::write(&file, newer).unwrap();
    let error = refusal(directory.path(), |_| {}).await;
    assert!(
        error.ends_with(
            "chain.json: written by a newer version (format 2, this program reads up to 1)"
        ),
        "{error}"
    );
    fs::remove_file(&file).unwrap();
    let error = refusal(directory.path(), |_| {}).await;
    assert!(
        error.ends_with("chain.json is missing, but the directory has a log"),
        "{error}"
    );
}

#[tokio::test]
async fn an_incomplete_write_is_saved_aside_and_a_flipped_bit_is_refused() {
    let directory = directory().await;
    let file = directory.path().join(LOG);
    let intact = fs::read(&file).unwrap();
    fs::write(&file, &intact[..intact.len() - 3]).unwrap();
    let node = node_with(|config| config.data_dir = Some(directory.path().to_owned())).await;
    assert_eq!(node.block_number().await, 2);
    node.end().await;
    let aside = |name: &str| name.starts_with("torn-log-");
    let names = fs::read_dir(directory.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| aside(name)).count(), 1);

    let mut rotten = intact.clone();
    rotten[intact.len() / 2] ^= 4;
    fs::write(&file, &rotten).unwrap();
    let error = refusal(directory.path(), |_| {}).await;
    assert!(
        error.contains(LOG) && error.contains("damaged at byte") && error.contains("height"),
        "{error}"
    );
    assert_eq!(fs::read(&file).unwrap(), rotten, "the file is unchanged");
}

#[tokio::test]
async fn a_missing_log_is_detected() {
    let directory = tempfile::tempdir().unwrap();
    let storage = || Arc::new(Directory::new(directory.path()).unwrap());
    let (chain, writer) = super::ledger::start(recover(storage()).unwrap(), super::ledger::never());

    for _ in 0..40 {
        seal(&chain, 1).await.unwrap();
    }
    chain.stop();
    tokio::task::spawn_blocking(move || writer.join())
        .await
        .unwrap();

    let checkpoints = tetrad_store::store::checkpoints(&*storage()).unwrap();
    assert!(checkpoints.len() > 1, "{checkpoints:?}");

    // The first of several files; then one in the middle.
    let names = storage().names().unwrap();
    let mut firsts: Vec<u64> = names
        .iter()
        .filter_map(|name| name.strip_prefix("log-")?.parse().ok())
        .collect();
    firsts.sort_unstable();
    assert!(firsts.len() > 3, "{firsts:?}");

    let aside = directory.path().join("aside");
    let middle = directory.path().join(format!("log-{:020}", firsts[1]));
    fs::rename(&middle, &aside).unwrap();
    let error = recover(storage()).err().expect("a refusal").to_string();
    assert!(
        error.starts_with(&format!(
            "entries {} to {} are missing from",
            firsts[1], firsts[2]
        )),
        "{error}"
    );

    fs::rename(&aside, &middle).unwrap();
    fs::remove_file(directory.path().join(LOG)).unwrap();
    let error = recover(storage()).err().expect("a refusal").to_string();
    assert!(
        error.starts_with("entries 0 to ") && error.contains("are missing from"),
        "{error}"
    );
}

#[tokio::test]
async fn damaged_checkpoints_are_skipped() {
    let directory = tempfile::tempdir().unwrap();
    let storage = || Arc::new(Directory::new(directory.path()).unwrap());
    let (chain, writer) = super::ledger::start(recover(storage()).unwrap(), super::ledger::never());
    for _ in 0..200 {
        seal(&chain, 1).await.unwrap();
    }
    chain.stop();
    tokio::task::spawn_blocking(move || writer.join())
        .await
        .unwrap();
    let heights = tetrad_store::store::checkpoints(&*storage()).unwrap();
    let (first, others) = heights.split_first().unwrap();
    for height in others {
        let file = directory.path().join(format!("checkpoint-{height:020}"));
        let mut bytes = fs::read(&file).unwrap();
        let last = bytes.len() - 40;
        bytes[last] ^= 1;
        fs::write(&file, bytes).unwrap();
    }
    assert_eq!(recover(storage()).unwrap().head.number(), 200);
    fs::remove_file(directory.path().join(format!("checkpoint-{first:020}"))).unwrap();
    let error = recover(storage()).err().expect("a refusal").to_string();
    assert!(
        error.contains("checkpoint-") && error.contains("damaged"),
        "{error}"
    );
}

#[tokio::test]
async fn the_error_for_a_damaged_pool_names_the_remedy() {
    let directory = directory().await;
    let file = directory.path().join("pool");
    let mut rotten = fs::read(&file).unwrap();
    rotten[30] ^= 4;
    fs::write(&file, &rotten).unwrap();
    let error = refusal(directory.path(), |_| {}).await;
    assert!(
        error.contains("pool: damaged at its beginning. Nothing was changed: "),
        "{error}"
    );
    assert!(
        error.ends_with("move it away to start without the transactions that wait for a block"),
        "{error}"
    );
    assert_eq!(fs::read(&file).unwrap(), rotten);
    // The remedy works.
    fs::rename(&file, directory.path().join("pool.damaged")).unwrap();
    let node = node_with(|config| config.data_dir = Some(directory.path().to_owned())).await;
    assert_eq!(node.block_number().await, 3);
    node.end().await;
}

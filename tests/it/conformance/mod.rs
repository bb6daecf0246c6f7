//! The public chain for tests of clients: 54 blocks from frontier rules to the newest fork.
//!
//! The files belong to others and are not part of this project. Where they are missing, the tests
//! say so and pass, except in CI.

mod blocks;
mod cases;
mod consensus;

use std::path::PathBuf;

use serde_json::json;

use crate::support::{TestNode, node_with, skip};

/// The folder with the suite, if it exists.
pub(crate) fn suite() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance");
    if !folder.is_dir() {
        skip(&format!("{} is not there", folder.display()));
        return None;
    }
    Some(folder)
}

async fn imported() -> Option<TestNode> {
    let folder = suite()?;
    let node = node_with(|config| {
        config.genesis = Some(folder.join("genesis.json"));
        config.import = vec![folder.join("chain.rlp")];
        config.no_mining = true;
        config.rpc.dialect = tetrad_rpc::rpc::Dialect::Ethereum;
    });
    Some(node.await)
}

#[tokio::test]
async fn the_chain_is_imported_to_its_head() {
    let Some(node) = imported().await else { return };
    let head = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    assert_eq!(head["number"], "0x36");
    assert_eq!(
        head["hash"],
        "0xd226371d0b1551adb03fb52b71f08e3e11247fe9b1af994768af8cdaa8e7dcd7"
    );
    assert_eq!(
        head["stateRoot"],
        "0x6da8f636cdc85dbe8c1b5299e5db22f462c041febaf3b78cac1040152ee30b3b"
    );
    assert_eq!(node.chain().head().state.len(), 114);
}

#[tokio::test]
async fn a_changed_block_stops_the_import_with_its_number_and_the_reason() {
    let Some(folder) = suite() else { return };
    let chain = std::fs::read(folder.join("chain.rlp")).unwrap();
    // Inside a block in the middle of the file: any change makes the block differ from its header.
    for at in [chain.len() / 3, chain.len() / 2, chain.len() - 10] {
        let mut changed = chain.clone();
        changed[at] ^= 0x40;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &changed).unwrap();
        let mut config = tetrad::Config::test();
        config.genesis = Some(folder.join("genesis.json"));
        config.import = vec![file.path().to_owned()];
        let Err(error) = tetrad::Node::spawn(config).await else {
            panic!("byte {at} has no effect")
        };
        let error = error.to_string();
        assert!(
            error.starts_with("--import ") && error.contains("block"),
            "{error}"
        );
    }
}

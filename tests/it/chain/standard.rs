//! Chains from a genesis file: their blocks, their files and their imports.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use alloy::consensus::TxLegacy;
use alloy_eips::{eip2935, eip4788, eip7002, eip7251};
use alloy_primitives::{Address, Bytes, TxKind, U256, address, hex, keccak256};
use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};
use tetrad::genesis::file::parse;
use tetrad_chain::{ForeignBlock, Head};
use tetrad_primitives::block::Block;

use crate::support::{TestNode, node_with, number, process::tetrad, sign};

/// A genesis file with every fork up to Osaka from the first block on and a funded account,
/// modified by `change`.
fn genesis(change: impl FnOnce(&mut Value)) -> Value {
    let mut config = json!({"chainId": 7, "terminalTotalDifficulty": 0});
    for fork in [
        "homestead",
        "eip150",
        "eip155",
        "eip158",
        "byzantium",
        "constantinople",
        "petersburg",
        "istanbul",
        "berlin",
        "london",
    ] {
        config[format!("{fork}Block")] = json!(0);
    }
    for fork in ["shanghai", "cancun", "prague", "osaka"] {
        config[format!("{fork}Time")] = json!(0);
    }

    let contract = |code: &Bytes| json!({"balance": "0x0", "nonce": "0x1", "code": code});
    let mut genesis = json!({
        "config": config,
        "gasLimit": "0x4c4b40",
        "difficulty": "0x0",
        "timestamp": "0x65000000",
        "alloc": {
            sign::signer(0).address().to_string(): {"balance": "0xd3c21bcecceda1000000"},
            eip4788::BEACON_ROOTS_ADDRESS.to_string(): contract(&eip4788::BEACON_ROOTS_CODE),
            eip2935::HISTORY_STORAGE_ADDRESS.to_string(): contract(&eip2935::HISTORY_STORAGE_CODE),
            eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS.to_string(): contract(&eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_CODE),
            eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS.to_string(): contract(&eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_CODE),
        },
    });

    change(&mut genesis);
    genesis
}

/// As [`genesis`], with the rules before the merge, up to the fork `last`.
fn mined(last: &str, change: impl FnOnce(&mut Value)) -> Value {
    genesis(|genesis| {
        let all = [
            "homesteadBlock",
            "eip150Block",
            "eip155Block",
            "eip158Block",
            "byzantiumBlock",
        ];
        let until = all.iter().position(|field| *field == last).unwrap();
        genesis["config"] = json!({"chainId": 7});
        all[..=until]
            .iter()
            .for_each(|field| genesis["config"][*field] = json!(0));
        genesis["difficulty"] = json!("0x20000");
        change(genesis);
    })
}

fn saved(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

/// A node on a genesis file that seals on demand.
async fn begin(genesis: &Value) -> TestNode {
    begin_with(genesis, |_| {}).await
}

async fn begin_with(genesis: &Value, change: impl FnOnce(&mut tetrad::Config)) -> TestNode {
    let file = saved(genesis.to_string().as_bytes());
    node_with(|config| {
        config.genesis = Some(file.path().to_owned());
        config.no_mining = true;
        config.rpc.dialect = tetrad_rpc::rpc::Dialect::Ethereum;
        change(config);
    })
    .await
}

/// The error with which a node fails to start on a genesis file with these blocks.
async fn refusal(genesis: &Value, import: Vec<PathBuf>) -> String {
    let file = saved(genesis.to_string().as_bytes());
    let mut config = tetrad::Config::test();
    (config.genesis, config.import) = (Some(file.path().to_owned()), import);
    match tetrad::Node::spawn(config).await {
        Ok(_) => panic!("the node starts"),
        Err(error) => error.to_string(),
    }
}

/// The blocks of a node after the first, each as RLP.
fn blocks(node: &TestNode) -> Vec<Bytes> {
    node.chain()
        .head()
        .blocks_from(1)
        .map(|block| block.encode())
        .collect()
}

async fn mine(node: &TestNode, count: u64) {
    node.rpc("anvil_mine", json!([count])).await;
}

async fn newest(node: &TestNode) -> Value {
    node.rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await
}

#[tokio::test]
async fn a_genesis_file_may_number_its_first_block_unless_the_chain_is_on_disk() {
    let numbered = |number: u64| genesis(|genesis| genesis["number"] = json!(number));
    let node = begin(&numbered(73)).await;
    assert_eq!(node.rpc("eth_blockNumber", json!([])).await, "0x49");
    mine(&node, 2).await;
    let parent = node
        .rpc("eth_getBlockByNumber", json!(["0x49", false]))
        .await;
    let child = node
        .rpc("eth_getBlockByNumber", json!(["0x4a", false]))
        .await;
    assert_eq!(child["parentHash"], parent["hash"]);
    assert_eq!(newest(&node).await["number"], "0x4b");

    let error = refusal(&numbered(u64::MAX / 2), Vec::new()).await;
    assert!(error.contains("number: expected at most "), "{error}");

    let directory = TempDir::new().unwrap();
    let file = saved(numbered(73).to_string().as_bytes());
    let mut config = tetrad::Config::test();
    config.genesis = Some(file.path().to_owned());
    config.data_dir = Some(directory.path().to_owned());
    let error = tetrad::Node::spawn(config).await.err().expect("no node");
    let error = error.to_string();
    assert!(
        error.contains("a chain on disk begins with block 0"),
        "{error}"
    );
}

#[tokio::test]
async fn a_configured_chain_id_replaces_that_of_a_genesis_file() {
    let genesis = genesis(|_| {});
    let node = begin(&genesis).await;
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7");

    let node = begin_with(&genesis, |config| config.fork.chain_id = Some(300)).await;
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x12c");
    assert_eq!(node.rpc("net_version", json!([])).await, "300");
    node.send_wei(0).await;
}

#[tokio::test]
async fn other_clients_accept_mined_blocks() {
    let genesis = genesis(|_| {});
    let node = begin(&genesis).await;
    mine(&node, 3).await;

    node.rpc(
        "eth_sendTransaction",
        json!([{"from": node.account(0), "to": node.account(1), "value": "0x1"}]),
    )
    .await;
    mine(&node, 1).await;

    let headers: Vec<_> = node
        .chain()
        .head()
        .blocks_from(0)
        .map(|block| block.header.clone())
        .collect();

    for pair in headers.windows(2) {
        // On the way to 60 million, by less than 1/1024 a block.
        assert_eq!(
            pair[1].gas_limit,
            pair[0].gas_limit + pair[0].gas_limit / 1_024 - 1
        );
        assert!(pair[1].timestamp > pair[0].timestamp);
    }

    let file = saved(&blocks(&node).concat());
    let other = begin_with(&genesis, |config| {
        config.import = vec![file.path().to_owned()]
    })
    .await;
    assert_eq!(
        other.chain().head().block.hash,
        node.chain().head().block.hash
    );

    // A development method may break the rule; other clients reject the block then.
    node.rpc("evm_setBlockGasLimit", json!(["0x3938700"])).await;
    mine(&node, 1).await;
    assert_eq!(newest(&node).await["gasLimit"], "0x3938700");
    let file = saved(&blocks(&node).concat());
    let error = refusal(&genesis, vec![file.path().to_owned()]).await;
    assert!(error.contains("block 5: gasLimit: expected 501"), "{error}");
    node.end().await;
    other.end().await;
}

#[tokio::test]
async fn proof_of_work_blocks_have_the_difficulty_that_the_rules_demand() {
    for fork in ["homesteadBlock", "byzantiumBlock"] {
        let genesis = mined(fork, |_| {});
        let node = begin(&genesis).await;
        mine(&node, 5).await;
        let file = saved(&blocks(&node).concat());
        let other = begin_with(&genesis, |config| {
            config.import = vec![file.path().to_owned()]
        })
        .await;
        assert_eq!(
            other.chain().head().block.hash,
            node.chain().head().block.hash
        );
        node.end().await;
        other.end().await;
    }
}

/// Applies a block in which something was changed.
fn apply_changed(
    head: &Head,
    block: &Block,
    change: &dyn Fn(&mut ForeignBlock),
) -> Result<(), String> {
    let mut foreign: ForeignBlock = alloy_rlp::Decodable::decode(&mut &block.encode()[..]).unwrap();
    change(&mut foreign);
    tetrad_chain::apply(head, foreign)
        .map(drop)
        .map_err(|error| error.to_string())
}

#[tokio::test]
async fn an_import_rejects_invalid_headers_and_names_the_field() {
    let genesis = genesis(|_| {});
    let node = begin(&genesis).await;
    mine(&node, 1).await;
    let block = node.chain().head().block.clone();
    let head = node.chain().head().rewound(0).unwrap();

    assert_eq!(apply_changed(&head, &block, &|_| {}), Ok(()));

    type Change = Box<dyn Fn(&mut ForeignBlock)>;
    let changes: [(&str, Change); 16] = [
        ("number", Box::new(|block| block.header.number = 2)),
        (
            "parentHash",
            Box::new(|block| block.header.parent_hash = keccak256("other")),
        ),
        (
            "timestamp",
            Box::new(|block| block.header.timestamp = 0x6500_0000),
        ),
        // The first second of the year 10000.
        (
            "timestamp",
            Box::new(|block| block.header.timestamp = 253_402_300_800),
        ),
        (
            "gasLimit",
            Box::new(|block| block.header.gas_limit = 5_000_000 + 5_000_000 / 1_024),
        ),
        ("gasLimit", Box::new(|block| block.header.gas_limit = 4_999)),
        (
            "gasLimit",
            Box::new(|block| block.header.gas_limit = 1 << 63),
        ),
        ("gasUsed", Box::new(|block| block.header.gas_used = 1 << 40)),
        (
            "extraData",
            Box::new(|block| block.header.extra_data = vec![0; 33].into()),
        ),
        (
            "difficulty",
            Box::new(|block| block.header.difficulty = U256::from(1)),
        ),
        (
            "nonce",
            Box::new(|block| block.header.nonce = 1u64.to_be_bytes().into()),
        ),
        (
            "sha3Uncles",
            Box::new(|block| block.body.ommers = vec![block.header.clone()]),
        ),
        (
            "withdrawalsRoot",
            Box::new(|block| block.header.withdrawals_root = None),
        ),
        (
            "withdrawalsRoot",
            Box::new(|block| block.body.withdrawals = None),
        ),
        (
            "blobGasUsed",
            Box::new(|block| block.header.blob_gas_used = Some(1)),
        ),
        (
            "requestsHash",
            Box::new(|block| block.header.requests_hash = None),
        ),
    ];

    for (field, change) in changes {
        let error = apply_changed(&head, &block, &*change).unwrap_err();
        assert!(error.contains(&format!(": {field}")), "{field}: {error}");
    }
    node.end().await;
}

#[tokio::test]
async fn a_system_call_has_thirty_million_gas() {
    // GAS, PUSH0, SSTORE in place of the contract that stores beacon roots.
    let code = json!({"balance": "0x0", "nonce": "0x1", "code": "0x5a5f5500"});
    let genesis =
        genesis(|genesis| genesis["alloc"][eip4788::BEACON_ROOTS_ADDRESS.to_string()] = code);
    let node = begin(&genesis).await;
    mine(&node, 1).await;
    let stored = node
        .rpc(
            "eth_getStorageAt",
            json!([eip4788::BEACON_ROOTS_ADDRESS, "0x0", "latest"]),
        )
        .await;
    assert_eq!(
        U256::from_str_radix(&stored.as_str().unwrap()[2..], 16).unwrap(),
        U256::from(30_000_000 - 2)
    );
    node.end().await;
}

#[tokio::test]
async fn a_failing_contract_for_beacon_roots_does_not_stop_the_chain() {
    let code = json!({"balance": "0x0", "nonce": "0x1", "code": "0xfe"});
    let genesis =
        genesis(|genesis| genesis["alloc"][eip4788::BEACON_ROOTS_ADDRESS.to_string()] = code);
    let node = begin(&genesis).await;
    mine(&node, 2).await;
    assert_eq!(newest(&node).await["number"], "0x2");
    node.end().await;
}

#[tokio::test]
async fn no_contract_is_created_at_an_address_with_storage() {
    let sender = sign::signer(0).address();
    let created = sender.create(0);
    let genesis = genesis(|genesis| {
        genesis["alloc"][created.to_string()] =
            json!({"balance": "0x1", "storage": {"0x00": "0x01"}});
    });

    let node = begin(&genesis).await;

    // The account looks as it always did.
    let code_hash = hex::decode(format!("73{created:x}3f5f5260205ff3")).unwrap();
    let seen = node
        .rpc(
            "eth_call",
            json!([{"data": Bytes::from(code_hash)}, "latest"]),
        )
        .await;
    assert_eq!(seen, json!(keccak256([])));

    let request = json!([{"from": sender, "data": "0x00", "gas": "0x186a0"}]);
    let hash = node.rpc("eth_sendTransaction", request).await;
    mine(&node, 1).await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(
        (&receipt["status"], &receipt["gasUsed"]),
        (&json!("0x0"), &json!("0x186a0"))
    );

    assert_eq!(
        number(
            &node
                .rpc("eth_getTransactionCount", json!([created, "latest"]))
                .await
        ),
        0
    );
    assert_eq!(
        number(&node.rpc("eth_getBalance", json!([created, "latest"])).await),
        1
    );
    let stored = node
        .rpc("eth_getStorageAt", json!([created, "0x0", "latest"]))
        .await;
    assert!(stored.as_str().unwrap().ends_with('1'), "{stored}");

    // It can receive coins, and loses nothing by it.
    node.rpc(
        "eth_sendTransaction",
        json!([{"from": sender, "to": created, "value": "0x1"}]),
    )
    .await;
    mine(&node, 1).await;

    let proof = node
        .rpc("eth_getProof", json!([created, [], "latest"]))
        .await;
    assert_eq!(
        (&proof["codeHash"], &proof["balance"]),
        (&json!(keccak256([])), &json!("0x2"))
    );
    node.end().await;
}

#[tokio::test]
async fn fields_of_a_genesis_file_that_would_be_ignored_are_named() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 13] = [
        (
            "config.terminalTotalDifficulty: a merge at a total",
            |genesis| genesis["config"]["terminalTotalDifficulty"] = json!(100),
        ),
        ("config.amsterdamTime: ", |genesis| {
            genesis["config"]["amsterdamTime"] = json!(5)
        }),
        ("config.verkleTime: no fork of this name", |genesis| {
            genesis["config"]["verkleTime"] = json!(5)
        }),
        ("config.ewasmBlock: no fork of this name", |genesis| {
            genesis["config"]["ewasmBlock"] = json!(5)
        }),
        ("config.eip155Block: must be the same", |genesis| {
            genesis["config"]["eip155Block"] = json!(3)
        }),
        (
            "config.londonBlock: 0 is before berlinBlock at 7",
            |genesis| genesis["config"]["berlinBlock"] = json!(7),
        ),
        (
            "config.pragueTime: 0 is before cancunTime at 7",
            |genesis| genesis["config"]["cancunTime"] = json!(7),
        ),
        ("config.blobSchedule.bpo3: missing", |genesis| {
            genesis["config"]["bpo3Time"] = json!(5)
        }),
        ("config.blobSchedule.osaka: expected target", |genesis| {
            genesis["config"]["blobSchedule"] =
                json!({"osaka": {"target": 9, "max": 6, "baseFeeUpdateFraction": 1}});
        }),
        ("config.blobSchedule.osaka: expected target", |genesis| {
            genesis["config"]["blobSchedule"] =
                json!({"osaka": {"target": 3, "max": 6, "baseFeeUpdateFraction": 0}});
        }),
        ("config.clique: ", |genesis| {
            genesis["config"]["terminalTotalDifficulty"] = Value::Null;
            genesis["config"]["clique"] = json!({"period": 5, "epoch": 30000});
        }),
        ("gasLimit: expected 5000 to", |genesis| {
            genesis["gasLimit"] = json!("0x1")
        }),
        (
            "alloc: 0x00000961Ef480Eb55e80D19ad83579A64c007002 has no code",
            |genesis| {
                genesis["alloc"][eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS.to_string()] =
                    json!({"balance": "0x1"});
            },
        ),
    ];

    for (expected, change) in changes {
        let error = refusal(&genesis(change), Vec::new()).await;
        assert!(
            error.starts_with("--genesis ") && error.contains(expected),
            "{expected}: {error}"
        );
    }
}

#[test]
fn every_fork_begins_as_scheduled_in_the_genesis_file() {
    let text = genesis(|genesis| {
        let config = &mut genesis["config"];
        (config["bpo1Time"], config["bpo3Time"], config["bpo5Time"]) = (
            json!(1_800_000_000),
            json!(1_800_000_100),
            json!(1_800_000_200),
        );
        config["blobSchedule"] = json!({
            "bpo3": {"target": 20, "max": 30, "baseFeeUpdateFraction": 20_609_697},
            "bpo5": {"target": 30, "max": 45, "baseFeeUpdateFraction": 30_000_000},
        });
        // Some tools write this for "never".
        config["amsterdamTime"] = json!(u64::MAX);
    });
    let forks = parse(&text.to_string()).unwrap().1.forks;
    let max = |time| forks.at(1, time).blobs.unwrap().max_blob_count;
    assert_eq!(
        [1_700_000_000, 1_800_000_000, 1_800_000_100, 1_800_000_200].map(max),
        [9, 15, 30, 45]
    );
}

/// A transfer that is signed for one chain, or for any.
fn legacy_transfer(chain_id: Option<u64>) -> TxLegacy {
    TxLegacy {
        chain_id,
        nonce: 0,
        gas_price: 5_000_000_000,
        gas_limit: 21_000,
        to: TxKind::Call(Address::with_last_byte(0xaa)),
        value: U256::from(1),
        ..Default::default()
    }
}

#[tokio::test]
async fn signatures_have_no_chain_id_before_eip_158() {
    let node = begin(&mined("eip150Block", |_| {})).await;

    let error = node
        .rpc_error(
            "eth_sendRawTransaction",
            json!([sign::raw(legacy_transfer(Some(7)), 0)]),
        )
        .await;
    assert_eq!(error["message"], "invalid transaction v, r, s values");

    node.rpc(
        "eth_sendRawTransaction",
        json!([sign::raw(legacy_transfer(None), 0)]),
    )
    .await;

    // The node signs for its own accounts in the same way.
    node.rpc(
        "eth_sendTransaction",
        json!([{"from": node.account(0), "to": node.account(1), "value": "0x1", "gas": "0x5208"}]),
    )
    .await;

    mine(&node, 1).await;
    assert_eq!(
        newest(&node).await["transactions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );

    node.end().await;
}

#[tokio::test]
async fn the_dao_fork_moves_balances_and_marks_ten_blocks() {
    let dao = address!("0xbb9bc244d798123fde783fcc1c72d3bb8c189413");
    let genesis = mined("homesteadBlock", |genesis| {
        genesis["alloc"][dao.to_string()] = json!({"balance": "0x64"});
        genesis["config"]["daoForkBlock"] = json!(2);
        genesis["config"]["daoForkSupport"] = json!(true);
    });
    let node = begin(&genesis).await;
    mine(&node, 12).await;

    let marked: Vec<u64> = node
        .chain()
        .head()
        .blocks_from(1)
        .filter(|block| **block.header.extra_data == *b"dao-hard-fork")
        .map(|block| block.number())
        .collect();
    assert_eq!(marked, (2..12).collect::<Vec<_>>());

    let refund = "0xbf4ed7b27f1d666546e30d74d50d173d20bca754";
    for (address, block, balance) in [
        (dao.to_string(), "0x1", 100),
        (dao.to_string(), "0x2", 0),
        (refund.to_owned(), "0x2", 100),
    ] {
        assert_eq!(
            number(&node.rpc("eth_getBalance", json!([address, block])).await),
            balance
        );
    }

    let file = saved(&blocks(&node).concat());
    let mut against = genesis.clone();
    against["config"]["daoForkSupport"] = json!(false);
    let error = refusal(&against, vec![file.path().to_owned()]).await;
    assert!(
        error.contains("block 2: extraData: expected anything but"),
        "{error}"
    );
    node.end().await;
}

/// More transactions than a block holds, by their size but not by their gas.
const LARGE_TRANSACTIONS: usize = 66;

/// Sends large transactions, and returns the block with them.
async fn mine_large_transactions(node: &TestNode) -> Arc<Block> {
    for nonce in 0..LARGE_TRANSACTIONS as u64 {
        let transaction = TxLegacy {
            chain_id: Some(7),
            nonce,
            gas_price: 5_000_000_000,
            gas_limit: 1_400_000,
            to: TxKind::Call(Address::with_last_byte(0xaa)),
            input: vec![0; 130_000].into(),
            ..Default::default()
        };
        node.rpc("eth_sendRawTransaction", json!([sign::raw(transaction, 0)]))
            .await;
    }

    mine(node, 1).await;
    node.chain().head().block.clone()
}

/// Sets the gas limit of blocks to a thousand million.
fn with_large_blocks(genesis: &mut Value) {
    genesis["gasLimit"] = json!("0x3b9aca00");
}

/// As [`with_large_blocks`], before Osaka.
fn with_large_blocks_of_prague(genesis: &mut Value) {
    with_large_blocks(genesis);
    genesis["config"]["osakaTime"] = Value::Null;
}

#[tokio::test]
async fn a_block_of_osaka_has_at_most_eight_mebibytes() {
    let osaka = genesis(with_large_blocks);
    let prague = genesis(with_large_blocks_of_prague);

    let node = begin_with(&osaka, |config| config.gas_limit = 1_000_000_000).await;
    let block = mine_large_transactions(&node).await;
    assert!(
        block.size() <= 8 << 20 && block.size() > 8_000_000,
        "{}",
        block.size()
    );
    let left = LARGE_TRANSACTIONS - block.transactions.len();
    mine(&node, 1).await;
    assert_eq!(node.chain().head().block.transactions.len(), left);
    node.end().await;

    let node = begin_with(&prague, |config| config.gas_limit = 1_000_000_000).await;
    let block = mine_large_transactions(&node).await;
    assert_eq!(block.transactions.len(), LARGE_TRANSACTIONS);
    let file = saved(&blocks(&node).concat());
    let error = refusal(&osaka, vec![file.path().to_owned()]).await;
    assert!(
        error.contains("block 1: size: expected at most 8388608 bytes"),
        "{error}"
    );
    node.end().await;
}

/// Three blocks in separate files, the middle one with a change.
async fn three_files(
    genesis: &Value,
    change: impl FnOnce(&mut Vec<u8>),
) -> (TempDir, Vec<PathBuf>) {
    let node = begin(genesis).await;
    mine(&node, 3).await;
    let directory = TempDir::new().unwrap();
    let mut all: Vec<Vec<u8>> = blocks(&node).iter().map(|block| block.to_vec()).collect();
    change(&mut all[1]);
    let paths: Vec<PathBuf> = (0..3)
        .map(|index| directory.path().join(format!("{index}.rlp")))
        .collect();
    paths
        .iter()
        .zip(&all)
        .for_each(|(path, block)| std::fs::write(path, block).unwrap());
    node.end().await;
    (directory, paths)
}

#[tokio::test]
async fn several_files_are_imported_in_sequence() {
    let genesis = genesis(|_| {});
    let (_directory, paths) = three_files(&genesis, |_| {}).await;
    let node = begin_with(&genesis, |config| config.import = paths).await;
    assert_eq!(node.chain().head().number(), 3);
    node.end().await;
}

#[tokio::test]
async fn an_import_can_skip_invalid_blocks() {
    let genesis = genesis(|_| {});
    let (_directory, paths) = three_files(&genesis, |block| {
        let length = block.len();
        block[length / 2] ^= 1;
    })
    .await;
    let error = refusal(&genesis, paths.clone()).await;
    assert!(error.contains("1.rlp: block 2"), "{error}");
    let node = begin_with(&genesis, |config| {
        (config.import, config.import_continue) = (paths.clone(), true)
    })
    .await;
    assert_eq!(node.chain().head().number(), 1);
    node.end().await;

    // The valid blocks of a file are imported, even between invalid ones.
    let (_directory, good) = three_files(&genesis, |_| {}).await;
    let [first, second, third] = [0, 1, 2].map(|index| std::fs::read(&good[index]).unwrap());
    let mut wrong = second.clone();
    wrong[second.len() / 2] ^= 1;
    let mixed = saved(
        &[
            &first[..],
            &[0xc3, 1, 2, 3],
            &wrong,
            &second,
            &third,
            &[0xff, 0xff],
        ]
        .concat(),
    );
    let node = begin_with(&genesis, |config| {
        (config.import, config.import_continue) = (vec![mixed.path().to_owned()], true);
    })
    .await;
    assert_eq!(node.chain().head().number(), 3);
    node.end().await;
}

/// Starts a node that imports blocks. Returns its exit code and its standard error.
fn run_import(genesis: &Path, import: &str) -> (Option<i32>, String) {
    let arguments = [
        "--listen",
        "127.0.0.1:0",
        "--ws-listen",
        "off",
        "--genesis",
        genesis.to_str().unwrap(),
        "--import",
        import,
    ];
    let output = tetrad(&arguments).output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[tokio::test]
async fn a_failed_import_has_an_exit_code_of_its_own() {
    let genesis = genesis(|_| {});
    let (directory, paths) = three_files(&genesis, |block| block.truncate(20)).await;
    let file = saved(genesis.to_string().as_bytes());
    let all: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();

    let (failed, message) = run_import(file.path(), &all.join(","));
    assert_eq!(failed, Some(3), "{message}");
    assert!(
        message.contains("1.rlp: not the RLP of a block after 0 blocks"),
        "{message}"
    );

    let none = directory.path().join("none");
    let (missing, message) = run_import(file.path(), none.to_str().unwrap());
    assert_eq!(missing, Some(3), "{message}");
    assert_eq!(run_import(&none, all[0]).0, Some(1));
}

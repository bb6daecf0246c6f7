//! The index against a simple model, which reads the whole chain again for each list: over random
//! blocks, reverts, restarts and kills.

use std::{collections::BTreeSet, fs, path::Path};

use alloy_primitives::{Address, Bytes, U256, b256};
use serde_json::{Value, json};

use super::{STRANGER, each};
use crate::{
    contracts::random::Random,
    durability::commands::chain,
    support::{
        TestNode,
        chain::token,
        node_on, node_with,
        process::{Running, signal, tetrad},
    },
};

const TRANSFER: alloy_primitives::B256 =
    b256!("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// The lists of an address: hashes of transactions, and of the transactions of token transfers,
/// oldest first.
#[derive(Debug, Default, PartialEq)]
struct Lists {
    transactions: Vec<Value>,
    transfers: Vec<Value>,
}

/// The lists of an address according to the chain, read over JSON-RPC.
async fn expected(node: &TestNode, address: Address) -> Lists {
    let mut lists = Lists::default();
    for number in 0..=node.chain().head().number() {
        let number = format!("{number:#x}");
        let block = node
            .rpc("eth_getBlockByNumber", json!([number, true]))
            .await;
        let own = json!(address);
        for transaction in block["transactions"].as_array().unwrap() {
            if transaction["from"] == own || transaction["to"] == own {
                lists.transactions.push(transaction["hash"].clone());
            }
        }
        let logs = node
            .rpc(
                "eth_getLogs",
                json!([{ "fromBlock": number, "toBlock": number, "topics": [TRANSFER] }]),
            )
            .await;
        let word = json!(address.into_word());
        let touching = logs
            .as_array()
            .unwrap()
            .iter()
            .filter(|log| log["topics"][1] == word || log["topics"][2] == word);
        lists
            .transfers
            .extend(touching.map(|log| log["transactionHash"].clone()));
    }
    lists
}

/// The members of the items of an address's list, oldest first.
async fn indexed_list(node: &TestNode, address: Address, name: &str, member: &str) -> Vec<Value> {
    let items = node
        .all_items(&format!("/api/v2/addresses/{address}/{name}"))
        .await;
    each(&items, member).into_iter().rev().cloned().collect()
}

async fn indexed(node: &TestNode, address: Address) -> Lists {
    Lists {
        transactions: indexed_list(node, address, "transactions", "hash").await,
        transfers: indexed_list(node, address, "token-transfers", "transaction_hash").await,
    }
}

async fn compare(node: &TestNode) {
    let weth = token("WETH").address;
    let holders = node
        .all_items(&format!("/api/v2/tokens/{weth}/holders"))
        .await;

    for address in [node.account(0), node.account(1), node.account(2), STRANGER] {
        let lists = indexed(node, address).await;
        assert_eq!(lists, expected(node, address).await, "{address}");

        let counters = node
            .get_json(&format!("/api/v2/addresses/{address}/counters"))
            .await;
        assert_eq!(
            counters["transactions_count"],
            lists.transactions.len().to_string()
        );
        assert_eq!(
            counters["token_transfers_count"],
            lists.transfers.len().to_string()
        );

        let call = json!([{ "to": weth, "data": format!("0x70a08231{}", alloy_primitives::hex::encode(address.into_word())) }, "latest"]);
        let balance = node.rpc("eth_call", call).await;
        let balance =
            U256::from_str_radix(balance.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();

        let hash = json!(address.to_checksum(None));
        let held = holders
            .iter()
            .find(|holder| holder["address"]["hash"] == hash);
        let held = held.map_or(U256::ZERO, |held| {
            held["value"].as_str().unwrap().parse().unwrap()
        });
        assert_eq!(held, balance, "{address}");
    }

    let distinct: BTreeSet<_> = holders
        .iter()
        .map(|holder| holder["address"]["hash"].to_string())
        .collect();
    assert_eq!(distinct.len(), holders.len());
}

/// Applies one random event to a chain.
async fn apply_random_event(node: &TestNode, random: &mut Random, snapshots: &mut Vec<Value>) {
    let accounts = [node.account(0), node.account(1), node.account(2), STRANGER];
    let from = accounts[random.below(3) as usize];
    let to = random.pick(&accounts);
    match random.below(10) {
        0..=3 => drop(
            node.submit(from, Some(to), random.below(5), Bytes::new())
                .await,
        ),
        4..=6 => drop(
            node.pay("WETH", from, to, U256::from(random.below(5)))
                .await,
        ),
        7 => snapshots.push(node.rpc("evm_snapshot", json!([])).await),
        8 => {
            if let Some(snapshot) = snapshots.pop() {
                assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
            }
        }
        _ => drop(
            node.rpc("anvil_mine", json!([format!("{:#x}", random.below(4))]))
                .await,
        ),
    }
}

#[tokio::test]
async fn the_index_agrees_with_the_chain_over_reverts_and_restarts() {
    for seed in 0..3 {
        let directory = tempfile::tempdir().unwrap();
        let random = &mut Random::new(seed);
        let mut snapshots = Vec::new();
        let mut node = node_on(directory.path()).await;
        for _ in 0..4 {
            for _ in 0..12 {
                apply_random_event(&node, random, &mut snapshots).await;
                if random.chance(20) {
                    // The index follows into blocks that are then reverted.
                    node.get_json(&format!("/api/v2/addresses/{STRANGER}/counters"))
                        .await;
                }
            }
            compare(&node).await;
            if random.chance(50) {
                node.end().await;
                node = node_on(directory.path()).await;
                compare(&node).await;
            }
        }
        node.end().await;
        let (ok, output) = chain(directory.path(), &["verify"]);
        assert!(
            ok && output.contains("blocks in the index of addresses"),
            "{output}"
        );
    }
}

#[tokio::test]
async fn a_damaged_or_missing_index_is_built_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("explorer");

    let node = node_on(directory.path()).await;
    for value in 0..5 {
        node.submit(node.account(0), Some(node.account(1)), value, Bytes::new())
            .await;
        node.pay("WETH", node.account(0), STRANGER, U256::from(value))
            .await;
    }

    let calls = node.all_items("/api/v2/internal-transactions").await;
    compare(&node).await;
    node.end().await;

    let whole = fs::read(&file).unwrap();
    for damaged in [
        None,
        Some(Vec::new()),
        Some(b"nothing".to_vec()),
        Some(vec![0; whole.len()]),
        Some(whole[..whole.len() / 2].to_vec()),
    ] {
        match &damaged {
            None => fs::remove_file(&file).unwrap(),
            Some(bytes) => fs::write(&file, bytes).unwrap(),
        }

        let node = node_on(directory.path()).await;
        compare(&node).await;
        assert_eq!(node.all_items("/api/v2/internal-transactions").await, calls);
        node.end().await;
    }

    let (ok, output) = chain(directory.path(), &["verify"]);
    assert!(ok, "{output}");

    fs::write(&file, vec![1; whole.len()]).unwrap();
    let (ok, output) = chain(directory.path(), &["verify"]);
    assert!(
        !ok && output.contains("delete the file to have it built again"),
        "{output}"
    );
}

#[tokio::test]
async fn a_chain_in_memory_keeps_no_rows_of_blocks_that_it_dropped() {
    let node = node_with(|config| config.history.blocks = 10).await;
    let mut hashes = Vec::new();
    for value in 0..30 {
        hashes.insert(
            0,
            json!(
                node.submit(node.account(0), Some(STRANGER), value, Bytes::new())
                    .await
            ),
        );
    }
    let items = node
        .all_items(&format!("/api/v2/addresses/{STRANGER}/transactions"))
        .await;
    assert_eq!(
        each(&items, "hash"),
        hashes.iter().take(10).collect::<Vec<_>>()
    );
    let counters = node
        .get_json(&format!("/api/v2/addresses/{STRANGER}/counters"))
        .await;
    assert_eq!(counters["transactions_count"], "10");
    node.end().await;
}

#[tokio::test]
async fn a_chain_on_disk_lists_blocks_that_memory_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_owned();
    let node = node_with(|config| {
        config.data_dir = Some(path);
        config.history.blocks = 5;
    })
    .await;
    for value in 0..20 {
        node.pay("WETH", node.account(0), STRANGER, U256::from(value))
            .await;
    }
    compare(&node).await;
    let calls = node
        .all_items(&format!("/api/v2/addresses/{STRANGER}/token-transfers"))
        .await;
    assert_eq!(calls.len(), 20);
    node.end().await;
}

async fn start(directory: &Path) -> Running {
    let mut command = tetrad(&[
        "--listen",
        "127.0.0.1:0",
        "--ws-listen",
        "off",
        "--quiet",
        "--exchange-price-tick",
        "0",
    ]);
    command.arg("--data-dir").arg(directory);
    Running::run(command).await
}

/// The result of a JSON-RPC request to a node's process.
async fn call(http: &reqwest::Client, url: &Value, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = http
        .post(url.as_str().unwrap())
        .header("content-type", "application/json")
        .body(body.to_string());
    request.send().await.unwrap().json::<Value>().await.unwrap()["result"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_node_restores_the_whole_index() {
    tetrad_stdx::tls::install_provider();
    let directory = tempfile::tempdir().unwrap();
    let http = reqwest::Client::new();

    let mut sent = Vec::new();

    for round in 0..5_u64 {
        let mut node = start(directory.path()).await;
        let rpc = node.ready["rpc"].clone();
        let rest = node.ready["rest"].as_str().unwrap().to_owned();

        let from = call(&http, &rpc, "eth_accounts", json!([])).await[0].clone();
        for value in 0..20 + round {
            let transaction =
                json!([{ "from": from, "to": STRANGER, "value": format!("{value:#x}") }]);
            sent.push(call(&http, &rpc, "eth_sendTransaction", transaction).await);
        }

        let mut listed = Vec::new();
        let mut query = String::new();
        loop {
            let url = format!("{rest}/api/v2/addresses/{STRANGER}/transactions?{query}");
            let page: Value = http.get(url).send().await.unwrap().json().await.unwrap();
            listed.extend(
                page["items"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|item| item["hash"].clone()),
            );

            let next = &page["next_page_params"];
            if next.is_null() {
                break;
            }
            query = format!(
                "block_number={}&index={}",
                next["block_number"], next["index"]
            );
        }

        listed.reverse();
        assert_eq!(listed, sent);

        signal(node.child.id(), "-KILL");
        node.child.wait().unwrap();
    }

    let (ok, output) = chain(directory.path(), &["verify"]);
    assert!(ok, "{output}");
}

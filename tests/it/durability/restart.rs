//! A node that is stopped and restarted on its directory is unchanged.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tetrad::Config;
use tetrad_contracts::contracts::bindings::Vault;
use tetrad_stdx::clock::ManualClock;
use tetrad_store::storage::{Directory, Storage};

use crate::support::{TestNode, manual_clock, node_at};

async fn node_on(
    directory: &Path,
    clock: &Arc<ManualClock>,
    change: impl FnOnce(&mut Config),
) -> TestNode {
    node_at(clock.clone(), |config| {
        config.data_dir = Some(directory.to_owned());
        config.rate_limit = 0;
        change(config);
    })
    .await
}

/// All data that clients may have seen.
async fn seen(node: &TestNode, accounts: &[String], transactions: &[Value]) -> Vec<Value> {
    let mut seen = Vec::new();
    let newest = node.block_number().await;
    let token = crate::support::chain::token("WETH");

    for number in 0..=newest {
        let block = json!(format!("{number:#x}"));
        seen.push(node.rpc("eth_getBlockByNumber", json!([block, true])).await);

        // The states of most blocks are read from the log.
        for account in accounts {
            seen.push(node.rpc("eth_getBalance", json!([account, block])).await);
        }

        // totalSupply()
        seen.push(
            node.rpc(
                "eth_call",
                json!([{"to": token.address, "data": "0x18160ddd"}, block]),
            )
            .await,
        );

        if number > 0 {
            seen.push(
                node.rpc(
                    "debug_traceBlockByNumber",
                    json!([block, {"tracer": "callTracer"}]),
                )
                .await,
            );
        }
    }

    for hash in transactions {
        seen.push(node.rpc("eth_getTransactionReceipt", json!([hash])).await);
        seen.push(node.rpc("eth_getTransactionByHash", json!([hash])).await);
    }

    for account in accounts {
        seen.push(
            node.get_json(&format!("/cosmos/auth/v1beta1/accounts/{account}"))
                .await,
        );
        seen.push(
            node.rpc("eth_getTransactionCount", json!([account, "latest"]))
                .await,
        );
        seen.push(node.rpc("eth_getBalance", json!([account, "latest"])).await);
    }
    seen.push(
        node.rpc(
            "eth_getLogs",
            json!([{"fromBlock": "0x0", "toBlock": "latest"}]),
        )
        .await,
    );
    seen.push(node.get_json("/api/prices").await["data"].clone());

    let token = crate::support::chain::key(&token);
    for period in ["1h", "24h", "7d"] {
        seen.push(
            node.get_json(&format!(
                "/api/prices/{token}/history?timeframe={period}&limit=500"
            ))
            .await["data"]
                .clone(),
        );
    }
    seen
}

async fn pay(node: &TestNode, to: &str, value: u64) -> Value {
    let from = node.account(0);
    node.rpc(
        "eth_sendTransaction",
        json!([{"from": from, "to": to, "value": format!("{value:#x}")}]),
    )
    .await
}

/// Lets prices move, and most blocks be read from disk, before a restart and after it.
fn ticking(config: &mut Config) {
    config.exchange.price_tick = Some(Duration::from_secs(2));
    config.history.blocks = 5;
    config.checkpoint_bytes = 8 << 10;
}

#[tokio::test]
async fn blocks_accounts_prices_and_their_history_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = node_on(directory.path(), &clock, ticking).await;

    let a = "0x00000000000000000000000000000000000000a1";
    let b = "0x00000000000000000000000000000000000000b2";
    let mut transactions = Vec::new();
    for round in 0..8 {
        transactions.push(pay(&node, if round % 2 == 0 { a } else { b }, 1 + round).await);
        clock.advance(2_000);
        node.wake().await;
    }
    let accounts = [a.to_owned(), b.to_owned(), node.account(0).to_string()];
    let before = seen(&node, &accounts[..], &transactions).await;
    node.end().await;

    let node = node_on(directory.path(), &clock, ticking).await;
    let after = seen(&node, &accounts[..], &transactions).await;
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    clock.advance(2_000);
    node.wake().await;
    assert_eq!(node.block_number().await, 17, "prices continue to move");
}

#[tokio::test]
async fn any_code_that_was_set_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let with_checkpoints = |config: &mut Config| config.checkpoint_bytes = 1 << 10;
    // Code of a contract, and code that begins like a delegation (EIP-7702) without being one: too
    // short, of another version, too long.
    let codes = [
        "0x6001".to_owned(),
        "0xef01".to_owned(),
        "0xef0100".to_owned(),
        format!("0xef0101{}", "aa".repeat(20)),
        format!("0xef0100{}", "aa".repeat(21)),
    ];
    let account = |at: usize| format!("0x{:040x}", 0xa100 + at);

    let node = node_on(directory.path(), &clock, with_checkpoints).await;
    for (at, code) in codes.iter().enumerate() {
        node.rpc("anvil_setCode", json!([account(at), code])).await;
        node.rpc("evm_mine", json!([])).await;
    }
    node.end().await;

    // From the log and then from a checkpoint.
    for _ in 0..2 {
        let node = node_on(directory.path(), &clock, with_checkpoints).await;
        for (at, code) in codes.iter().enumerate() {
            let read = node
                .rpc("eth_getCode", json!([account(at), "latest"]))
                .await;
            assert_eq!(read, *code);
        }
        node.rpc("anvil_mine", json!(["0x20"])).await;
        node.end().await;
    }
}

/// The past of WETH's price and of trading, as a user sees it.
async fn past_prices(node: &TestNode) -> Vec<Value> {
    let mut past = Vec::new();
    let token = crate::support::chain::key(&crate::support::chain::token("WETH"));
    for query in [
        "history?period=24h&limit=1440",
        "history?period=30d&limit=700",
        "candles?interval=1h&limit=500",
    ] {
        past.push(node.get_json(&format!("/api/prices/{token}/{query}")).await["data"].clone());
    }
    past.push(node.get_json("/api/tokens/swap").await["data"].clone());
    past
}

#[tokio::test]
async fn past_prices_outlive_their_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = node_on(directory.path(), &clock, ticking).await;

    let user = node.signer(0);
    node.approve_all(&user, crate::support::chain::VAULT).await;
    let weth = crate::support::chain::token("WETH");

    for round in 0..300u64 {
        clock.advance(40_000);
        node.wake().await;
        if round % 100 == 50 {
            let swap = Vault::swapExactTokensForTokensCall {
                _tokenIn: weth.address,
                _tokenOut: crate::support::chain::token("USDC").address,
                _amountIn: crate::support::chain::units(&weth, 1),
                _minAmountOut: alloy_primitives::U256::ZERO,
            };
            assert!(
                node.send(&user, crate::support::chain::VAULT, swap)
                    .await
                    .status()
            );
        }
    }

    let before = past_prices(&node).await;
    node.end().await;

    // All blocks except the newest 256 are removed, and then a node continues without a regular end
    // in between.
    let storage: Arc<dyn Storage> = Arc::new(Directory::new(directory.path()).unwrap());
    let chain = super::kept_in(storage.clone());
    let kept_until = tetrad_exchange::prices_kept_until(&*storage);
    // Blocks that the file lacks are not removed.
    assert_eq!(tetrad_chain::compact(&chain, 1, Some(10)).unwrap(), 11);
    assert!(tetrad_chain::compact(&chain, 1, kept_until).unwrap() > 20);
    let node = node_on(directory.path(), &clock, ticking).await;
    assert_eq!(past_prices(&node).await, before);
    for _ in 0..10 {
        clock.advance(40_000);
        node.wake().await;
    }
    let grown = past_prices(&node).await;
    assert_ne!(grown, before);
    // A killed node leaves the file as of its start.
    let copy = copy_of(directory.path());
    node.end().await;
    let node = node_on(copy.path(), &clock, ticking).await;
    assert_eq!(past_prices(&node).await, grown);
    node.end().await;

    // Without the file, or with a damaged one, the past begins with the remaining blocks.
    let file = copy.path().join("prices");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let node = node_on(copy.path(), &clock, ticking).await;
    let shorter = past_prices(&node).await;
    assert_ne!(shorter, grown);
    assert_eq!(
        shorter[0]["prices"].as_array().unwrap().last(),
        grown[0]["prices"].as_array().unwrap().last(),
        "the present price"
    );
    node.end().await;
}

#[tokio::test]
async fn the_effects_of_development_methods_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = node_on(directory.path(), &clock, |_| {}).await;
    let to = "0x00000000000000000000000000000000000000a1";
    pay(&node, to, 1).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    let gone = pay(&node, to, 2).await;
    node.increase_time(1_000).await;
    node.mine().await;
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    let kept = pay(&node, to, 4).await;
    node.increase_time(500).await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", true]))
        .await;
    let now = node.chain().now();
    node.end().await;

    let node = node_on(directory.path(), &clock, |_| {}).await;
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["latest", true]))
            .await,
        block
    );
    assert_eq!(node.chain().now(), now);
    assert_eq!(
        node.rpc("eth_getBalance", json!([to, "latest"])).await,
        "0x5"
    );
    assert_eq!(
        node.rpc("eth_getBalance", json!([to, "0x1"])).await,
        "0x1",
        "the state of an older block"
    );
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([gone])).await,
        Value::Null
    );
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([kept])).await["blockNumber"],
        "0x2"
    );
    assert_eq!(
        node.rpc("evm_revert", json!([snapshot])).await,
        false,
        "the snapshot was used up before"
    );
}

#[tokio::test]
async fn a_set_time_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let node = node_on(directory.path(), &clock, |_| {}).await;
    node.rpc("evm_setNextBlockTimestamp", json!([1_800_000_000]))
        .await;
    node.end().await;
    let node = node_on(directory.path(), &clock, |_| {}).await;
    node.mine().await;
    assert_eq!(
        node.rpc("eth_getBlockByNumber", json!(["latest", false]))
            .await["timestamp"],
        "0x6b49d200"
    );
    clock.advance(5_000);
    node.mine().await;
    assert_eq!(
        node.chain().head().block.header.timestamp,
        1_800_000_005,
        "time continues from there"
    );
}

/// The time of such a chain continues that of its first block, unless it is moved.
#[tokio::test]
async fn a_time_moved_before_the_first_block_survives_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let begin = |config: &mut Config| config.genesis_time = Some(1_000);
    let node = node_on(directory.path(), &clock, begin).await;
    node.rpc("evm_increaseTime", json!([86_400])).await;
    node.end().await;

    let node = node_on(directory.path(), &clock, begin).await;
    node.mine().await;
    assert_eq!(node.chain().head().block.header.timestamp, 87_400);
}

fn production(config: &mut Config) {
    config.profile = tetrad::config::Profile::Production;
    config.accounts = 0;
    config.exchange.price_tick = Some(Duration::from_secs(2));
}

#[tokio::test]
async fn a_production_node_keeps_its_generated_keys() {
    let directory = tempfile::tempdir().unwrap();
    let clock = manual_clock();

    for restarts in 0..2u64 {
        let node = node_on(directory.path(), &clock, production).await;
        clock.advance(2_000);
        node.wake().await;
        let head = node.chain().head();
        assert_eq!(
            (head.number(), head.block.receipts[0].succeeded()),
            (restarts + 1, true)
        );
        node.end().await;
    }
}

/// Copies the files in the directory of a running node, without its lock. Starts over if the node
/// replaces a file meanwhile.
fn copy_of(directory: &Path) -> TempDir {
    loop {
        let copy = tempfile::tempdir().unwrap();
        let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
        let mut files =
            entries.filter(|entry| entry.path().is_file() && entry.file_name() != "lock");
        match files.try_for_each(|file| {
            std::fs::copy(file.path(), copy.path().join(file.file_name())).map(drop)
        }) {
            Ok(()) => return copy,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}"),
        }
    }
}

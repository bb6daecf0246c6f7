//! The state in which a fork begins, and its own changes.

use serde_json::json;

use super::{fork_of, upstream};
use crate::support::{TestNode, number, sign};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_begins_with_the_state_of_the_other_chain() {
    let upstream = upstream().await;
    let fork = fork_of(&upstream.rpc_url(), |_| {}).await;

    assert_eq!(fork.rpc("eth_chainId", json!([])).await, "0x7d");
    assert_eq!(
        fork.rpc("eth_blockNumber", json!([])).await,
        upstream.rpc("eth_blockNumber", json!([])).await
    );
    let block = fork.latest().await;
    assert_eq!(block, upstream.latest().await);

    let token = upstream.token();
    for params in [
        json!([token, "latest"]),
        json!([upstream.account(0), "latest"]),
    ] {
        for method in ["eth_getCode", "eth_getTransactionCount"] {
            assert_eq!(
                fork.rpc(method, params.clone()).await,
                upstream.rpc(method, params.clone()).await,
                "{method}"
            );
        }
    }

    for slot in 0..8 {
        let params = json!([token, format!("{slot:#x}"), "latest"]);
        let method = "eth_getStorageAt";
        assert_eq!(
            fork.rpc(method, params.clone()).await,
            upstream.rpc(method, params.clone()).await,
            "slot {slot}"
        );
    }

    assert_eq!(
        upstream.token_balance(3, "latest").await,
        fork.token_balance(3, "latest").await
    );

    // Development accounts have the same coins as on every chain of this node.
    let balance = fork
        .rpc("eth_getBalance", json!([fork.account(0), "latest"]))
        .await;
    assert_eq!(number(&balance), 10_000 * 10u128.pow(18));
    assert_eq!(
        fork.rpc(
            "eth_getBalance",
            json!(["0x00000000000000000000000000000000000000ff", "latest"])
        )
        .await,
        "0x0"
    );

    // The next block follows on the one that is forked.
    let fee = fork.rpc("eth_baseFee", json!([])).await;
    assert_eq!(fee, upstream.rpc("eth_baseFee", json!([])).await);
    fork.rpc("evm_mine", json!([])).await;
    let next = fork.latest().await;
    assert_eq!(
        (&next["parentHash"], &next["baseFeePerGas"]),
        (&block["hash"], &fee)
    );

    let since = number(&next["timestamp"]) - number(&block["timestamp"]);
    assert!(
        since < 600,
        "the time continues from the forked block, not {since} s later"
    );
}

/// An account that only the genesis file has.
const MADE: &str = "0x00000000000000000000000000000000000000ff";

fn word(number: u8) -> String {
    format!("0x{number:064x}")
}

/// Asserts that listed accounts are those of the genesis file, and the others those of the other
/// chain.
async fn assert_has_listed_accounts(fork: &TestNode, upstream: &TestNode) {
    let token = upstream.token();
    let own = upstream.account(0).to_string();
    let read = async |method: &str, of: &str| fork.rpc(method, json!([of, "latest"])).await;

    assert_eq!(read("eth_getBalance", &own).await, "0x7");
    assert_eq!(read("eth_getTransactionCount", MADE).await, "0x3");
    assert_eq!(read("eth_getCode", MADE).await, "0x5f5ff3");
    assert_eq!(read("eth_getCode", &token.to_string()).await, "0x00");
    let stored = fork
        .rpc("eth_getStorageAt", json!([MADE, "0x1", "latest"]))
        .await;
    assert_eq!(stored, word(9));

    // The other development accounts have their coins.
    let other = read("eth_getBalance", &fork.account(1).to_string()).await;
    assert_eq!(number(&other), 10_000 * 10u128.pow(18));

    // Unlisted accounts are those of the other chain.
    for slot in 0..8 {
        let params = json!([token, format!("{slot:#x}"), "latest"]);
        assert_eq!(
            fork.rpc("eth_getStorageAt", params.clone()).await,
            upstream.rpc("eth_getStorageAt", params).await,
            "slot {slot}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_begins_with_the_accounts_of_a_genesis_file() {
    let upstream = upstream().await;
    let token = upstream.token();
    let own = upstream.account(0);

    // Without the requirements of a first block, which do not apply here: contracts of Prague, a
    // valid number.
    let genesis = json!({
        "config": {"chainId": 5, "pragueTime": 0},
        "difficulty": "0x0",
        "gasLimit": "0x1",
        "number": "0xffffffffffffffff",
        "alloc": {
            own.to_string(): {"balance": "0x7"},
            MADE: {
                "balance": "0x0",
                "nonce": "0x3",
                "code": "0x5f5ff3",
                "storage": {word(1): word(9), word(2): word(0)},
            },
            token.to_string(): {"balance": "0x0", "code": "0x00"},
        },
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), genesis.to_string()).unwrap();
    let fork = fork_of(&upstream.rpc_url(), |config| {
        config.genesis = Some(file.path().to_owned());
    })
    .await;

    assert_eq!(fork.latest().await, upstream.latest().await);
    assert_eq!(fork.rpc("eth_chainId", json!([])).await, "0x7d");
    assert_has_listed_accounts(&fork, &upstream).await;

    // They are a part of the first block.
    fork.rpc("anvil_setBalance", json!([own, "0x1"])).await;
    fork.rpc("evm_mine", json!([])).await;
    fork.rpc("anvil_rollback", json!([1])).await;
    fork.rpc("anvil_reset", json!([{"forking": {}}])).await;
    assert_has_listed_accounts(&fork, &upstream).await;

    // A chain of its own is the network's: the file cannot begin one.
    fork.rpc("anvil_reset", json!([])).await;
    assert_eq!(fork.rpc("eth_chainId", json!([])).await, "0x7d");
    assert_eq!(fork.height().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_is_independent_of_the_other_chain() {
    let upstream = upstream().await;
    let fork = fork_of(&upstream.rpc_url(), |_| {}).await;
    let before = upstream.token_balance(3, "latest").await;
    assert_eq!(before, 60);
    let snapshot = fork.rpc("evm_snapshot", json!([])).await;

    // The whole balance: a slot that is zero on the fork only.
    fork.transfer_token(3, 60).await;
    let height = fork.height().await;

    assert_eq!(fork.token_balance(3, "latest").await, 0);
    assert_eq!(
        fork.token_balance(9, "latest").await,
        upstream.token_balance(9, "latest").await + 60
    );
    assert_eq!(upstream.token_balance(3, "latest").await, 60);

    // Later changes of the other chain are not visible.
    upstream.transfer_token(3, 10).await;
    let sent = upstream.send_wei(2).await;
    assert_eq!(fork.token_balance(3, "latest").await, 0);
    assert_eq!(
        fork.rpc("eth_getTransactionByHash", json!([sent])).await,
        json!(null)
    );
    assert_eq!(
        fork.rpc("eth_getTransactionReceipt", json!([sent])).await,
        json!(null)
    );

    let newest = upstream.latest().await;
    assert_eq!(
        fork.rpc("eth_getBlockByHash", json!([newest["hash"], false]))
            .await,
        json!(null)
    );

    // Every past state is there.
    let before_it = format!("{:#x}", height - 1);
    assert_eq!(fork.token_balance(3, &before_it).await, 60);

    assert_eq!(fork.rpc("evm_revert", json!([snapshot])).await, true);
    assert_eq!(fork.token_balance(3, "latest").await, 60);
    assert_eq!(fork.height().await, height - 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fork_supports_what_other_chains_support() {
    let upstream = upstream().await;
    let fork = fork_of(&upstream.rpc_url(), |config| {
        config.fork.chain_id = Some(31_337)
    })
    .await;
    assert_eq!(fork.rpc("eth_chainId", json!([])).await, "0x7a69");

    // A contract that stores what BLOCKHASH gives for the block in its call data: PUSH0
    // CALLDATALOAD BLOCKHASH PUSH0 SSTORE.
    let code = "0x5f35405f5500";
    let contract = "0x00000000000000000000000000000000000000c0";
    fork.rpc("anvil_setCode", json!([contract, code])).await;

    for height in [0, 2, 4] {
        let data = format!("0x{height:064x}");
        let request =
            json!([{"from": fork.account(0), "to": contract, "data": data, "gas": "0x30d40"}]);
        fork.rpc("eth_sendTransaction", request).await;
        let stored = fork
            .rpc("eth_getStorageAt", json!([contract, "0x0", "latest"]))
            .await;

        let block = upstream
            .rpc(
                "eth_getBlockByNumber",
                json!([format!("{height:#x}"), false]),
            )
            .await;
        assert_eq!(stored, block["hash"], "block {height}");
    }

    // Signed for the fork's own id, from the nonce that the other chain knows.
    let nonce = number(
        &fork
            .rpc(
                "eth_getTransactionCount",
                json!([fork.account(1), "pending"]),
            )
            .await,
    ) as u64;
    assert_eq!(nonce, 1);

    let mut transaction = sign::transfer(nonce);
    transaction.chain_id = 31_337;
    let hash = fork
        .rpc("eth_sendRawTransaction", json!([sign::raw(transaction, 1)]))
        .await;
    assert_eq!(
        fork.rpc("eth_getTransactionReceipt", json!([hash])).await["status"],
        "0x1"
    );

    let traced = fork
        .rpc(
            "debug_traceTransaction",
            json!([hash, {"tracer": "callTracer"}]),
        )
        .await;
    assert_eq!(traced["value"], "0x1");

    // An account of the other chain, without its key.
    let treasury = fork.account(4);
    fork.rpc("anvil_impersonateAccount", json!([treasury]))
        .await;
    fork.rpc("anvil_dealERC20", json!([treasury, fork.token(), "0x5"]))
        .await;
    assert_eq!(fork.token_balance(4, "latest").await, 5);

    let error = fork
        .rpc_error("eth_getProof", json!([contract, [], "latest"]))
        .await;
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("there are no proofs of this block"),
        "{error}"
    );
}

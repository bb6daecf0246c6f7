//! Development methods, on which clients of anvil and Hardhat rely.

mod accounts;
mod alloy;
mod blobs;
mod concurrency;
mod conventions;
mod dumps;
mod impersonation;
mod limits;
mod mining;
mod rewinding;
mod terminal;
mod time;
mod tokens;
mod writer;

use serde_json::{Value, json};
use tetrad::config::Profile;

use crate::support::{TestNode, node, node_with, number};

/// An address without any activity.
pub(crate) const UNUSED_ADDRESS: &str = "0x00000000000000000000000000000000000000aa";

impl TestNode {
    /// Sends a wei from one development account to another, and returns the hash.
    pub(crate) async fn send_wei(&self, from: usize) -> Value {
        let request = json!([{"from": self.account(from), "to": self.account(9), "value": "0x1", "gas": "0x5208"}]);
        self.rpc("eth_sendTransaction", request).await
    }

    pub(crate) async fn height(&self) -> u128 {
        number(&self.rpc("eth_blockNumber", json!([])).await)
    }

    pub(crate) async fn latest(&self) -> Value {
        self.rpc("eth_getBlockByNumber", json!(["latest", false]))
            .await
    }
}

#[tokio::test]
async fn development_methods_exist_in_the_development_profile_only() {
    let production = node_with(|config| {
        *config = tetrad::Config {
            listen: config.listen,
            ws_listen: None,
            quiet: true,
            ..tetrad::Config::of(Profile::Production)
        };
    });
    let (development, production) = tokio::join!(node(), production);

    let methods = [
        "evm_mine",
        "evm_snapshot",
        "anvil_setBalance",
        "hardhat_setCode",
        "anvil_impersonateAccount",
        "anvil_reset",
        "eth_sendUnsignedTransaction",
        "anvil_nodeInfo",
        "tenderly_setBalance",
    ];

    for method in methods {
        let error = production.rpc_error(method, json!([])).await;
        assert_eq!(error["code"], -32601, "{method}");
        assert!(
            error["data"]
                .as_str()
                .unwrap()
                .ends_with("it needs the development profile"),
            "{error}"
        );

        let response = development.request(method, json!([])).await;
        assert_ne!(response["error"]["code"], -32601, "{method}: {response}");
    }

    let unknown = production.rpc_error("evm_nothing", json!([])).await;
    assert_eq!(
        unknown["data"],
        "the method evm_nothing does not exist/is not available"
    );

    let version = |node| async move { TestNode::rpc(node, "web3_clientVersion", json!([])).await };
    assert!(
        version(&development)
            .await
            .as_str()
            .unwrap()
            .starts_with("anvil/tetrad/")
    );
    assert!(
        version(&production)
            .await
            .as_str()
            .unwrap()
            .starts_with("tetrad/")
    );
}

#[tokio::test]
async fn the_node_describes_itself() {
    let node = node().await;
    node.rpc("evm_snapshot", json!([])).await;
    node.send_wei(0).await;
    let info = node.rpc("anvil_nodeInfo", json!([])).await;
    let latest = node.latest().await;
    assert_eq!(info["currentBlockHash"], latest["hash"]);
    assert_eq!(info["currentBlockNumber"], "0x1");
    assert_eq!(info["environment"]["chainId"], 125);
    assert_eq!(info["hardFork"], "Bpo2");
    let metadata = node.rpc("hardhat_metadata", json!([])).await;
    assert_eq!(metadata["latestBlockHash"], latest["hash"]);
    assert_eq!(metadata["snapshots"]["0x0"][0], 0);
    let first = node
        .rpc("eth_getBlockByNumber", json!(["earliest", false]))
        .await;
    assert_eq!(
        u128::from(
            node.rpc("anvil_getGenesisTime", json!([]))
                .await
                .as_u64()
                .unwrap()
        ),
        number(&first["timestamp"])
    );
}

#[tokio::test]
async fn accounts_and_transactions_are_returned_in_one_answer() {
    let node = node().await;
    let owner = node.account(0);
    let hash = node.send_wei(0).await;

    assert_eq!(
        node.rpc("eth_requestAccounts", json!([])).await,
        node.rpc("eth_accounts", json!([])).await
    );

    let info = node
        .rpc("eth_getAccountInfo", json!([owner, "latest"]))
        .await;
    assert_eq!(
        (&info["nonce"], &info["code"]),
        (&json!("0x1"), &json!("0x"))
    );

    let account = node
        .rpc("eth_getAccount", json!([UNUSED_ADDRESS, "latest"]))
        .await;
    assert_eq!(
        account["storageRoot"],
        "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
    );

    let raw = node.rpc("eth_getRawTransactionByHash", json!([hash])).await;
    assert_eq!(
        raw,
        node.rpc("debug_getRawTransaction", json!([hash])).await
    );

    let found = node
        .rpc("eth_getTransactionBySenderAndNonce", json!([owner, "0x0"]))
        .await;
    assert_eq!(found["hash"], hash);
    assert_eq!(
        node.rpc("eth_getTransactionBySenderAndNonce", json!([owner, "0x1"]))
            .await,
        Value::Null
    );

    let request = json!([{"from": owner, "to": UNUSED_ADDRESS, "value": "0x1"}]);
    assert_eq!(
        node.rpc("eth_sendTransactionSync", request).await["status"],
        "0x1"
    );

    // A waiting sender receives the receipt from another client's block, or an error that there was
    // none.
    node.rpc("evm_setAutomine", json!([false])).await;
    let raw = crate::support::sign::raw(crate::support::sign::transfer(0), 1);
    let (receipt, ()) = tokio::join!(
        node.rpc("eth_sendRawTransactionSync", json!([raw])),
        async {
            while node.chain().pool().is_empty() {
                tokio::task::yield_now().await;
            }
            node.mine().await;
        }
    );
    assert_eq!(receipt["status"], "0x1");

    let raw = crate::support::sign::raw(crate::support::sign::transfer(1), 1);
    assert_eq!(
        node.rpc_error("eth_sendRawTransactionSync", json!([raw, "0x1"]))
            .await["code"],
        4
    );

    // A time of zero means the default.
    let raw = crate::support::sign::raw(crate::support::sign::transfer(2), 1);
    let (receipt, ()) = tokio::join!(
        node.rpc("eth_sendRawTransactionSync", json!([raw, "0x0"])),
        async {
            while node.rpc("txpool_status", json!([])).await["pending"] != "0x2" {
                tokio::task::yield_now().await;
            }
            node.mine().await;
        }
    );
    assert_eq!(receipt["status"], "0x1");
}

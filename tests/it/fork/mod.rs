//! Forks of a second node, which works, changes, or misbehaves.

mod history;
mod middle;
mod network;
mod own;
mod prefetch;
mod proxy;
mod reset;
mod secrets;
mod trouble;

use serde_json::json;
use tetrad::Config;

use crate::support::{TestNode, node_with, number};

/// A fork of the node with this URL.
pub(crate) async fn fork_of(url: &str, change: impl FnOnce(&mut Config)) -> TestNode {
    node_with(|config| {
        config.fork.url = Some(url.parse().unwrap());
        config.fork.timeout = std::time::Duration::from_secs(20);
        config.fork.retry_backoff = std::time::Duration::from_millis(1);
        config.fork.check_every = std::time::Duration::from_secs(3_600);
        // The index may read names of tokens from the other node at any time.
        config.no_explorer = true;
        change(config);
    })
    .await
}

/// A node with some history: transfers of coins and of a token, and blocks without anything.
pub(crate) async fn upstream() -> TestNode {
    let node = node_with(|_| {}).await;
    let token = node.token();
    node.send_wei(0).await;
    node.rpc("anvil_mine", json!(["0x2"])).await;
    node.rpc("anvil_dealERC20", json!([node.account(3), token, "0x64"]))
        .await;
    node.transfer_token(3, 40).await;
    node.send_wei(1).await;
    node
}

impl TestNode {
    /// A token of the network.
    pub(crate) fn token(&self) -> alloy_primitives::Address {
        Config::test().network.tokens[0].address
    }

    /// Sends some of the token to the tenth account, and returns the hash.
    pub(crate) async fn transfer_token(&self, from: usize, amount: u64) -> serde_json::Value {
        let data = format!(
            "0xa9059cbb{:0>64}{amount:064x}",
            format!("{:x}", self.account(9))
        );
        let request = json!([{"from": self.account(from), "to": self.token(), "data": data}]);
        let hash = self.rpc("eth_sendTransaction", request).await;
        assert_eq!(
            self.rpc("eth_getTransactionReceipt", json!([hash])).await["status"],
            "0x1"
        );
        hash
    }

    /// How much of the token an account has.
    pub(crate) async fn token_balance(&self, of: usize, block: &str) -> u128 {
        let data = format!("0x70a08231{:0>64}", format!("{:x}", self.account(of)));
        let word = self
            .rpc(
                "eth_call",
                json!([{"to": self.token(), "data": data}, block]),
            )
            .await;
        number(&json!(format!("0x{}", &word.as_str().unwrap()[34..])))
    }
}

//! A node and clients for it.

pub mod sign;

use std::ops::Deref;

use alloy_primitives::Address;
use serde_json::{Value, json};
use tetrad::{Config, Node};

/// A node of its own for one test, on free ports, and an HTTP client.
pub struct TestNode {
    node: Node,
    pub http: reqwest::Client,
}

impl Deref for TestNode {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

/// A development node whose prices stand still, so that only what a test does makes blocks.
pub async fn node() -> TestNode {
    node_with(|_| {}).await
}

/// The same with changes to its configuration.
pub async fn node_with(change: impl FnOnce(&mut Config)) -> TestNode {
    let mut config = Config::test();
    config.exchange.price_tick = None;
    change(&mut config);
    TestNode { node: Node::spawn(config).await.expect("the node starts"), http: reqwest::Client::new() }
}

impl TestNode {
    /// The whole response to a JSON-RPC body.
    pub async fn post(&self, body: impl Into<reqwest::Body>) -> Value {
        let request = self.http.post(self.rpc_url()).header("content-type", "application/json").body(body);
        request.send().await.expect("an answer").json().await.expect("JSON")
    }

    /// The whole response to a JSON-RPC request.
    pub async fn request(&self, method: &str, params: Value) -> Value {
        self.post(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()).await
    }

    /// The result of a JSON-RPC request that must succeed.
    pub async fn rpc(&self, method: &str, params: Value) -> Value {
        let response = self.request(method, params).await;
        match response.get("result") {
            Some(result) => result.clone(),
            None => panic!("{method}: {response}"),
        }
    }

    /// The error of a JSON-RPC request that must fail.
    pub async fn rpc_error(&self, method: &str, params: Value) -> Value {
        let response = self.request(method, params).await;
        match response.get("error") {
            Some(error) => error.clone(),
            None => panic!("{method}: {response}"),
        }
    }

    /// `GET` of a path.
    pub async fn get(&self, path: &str) -> reqwest::Response {
        self.http.get(format!("{}{path}", self.rest_url())).send().await.expect("an answer")
    }

    /// The JSON body of `GET` of a path that must succeed.
    pub async fn get_json(&self, path: &str) -> Value {
        let response = self.get(path).await;
        assert!(response.status().is_success(), "{path}: {}", response.status());
        response.json().await.expect("JSON")
    }

    /// The n-th development account.
    pub fn account(&self, index: usize) -> Address {
        self.development_accounts()[index].0
    }

    /// Ends the node and waits for it.
    pub async fn end(self) {
        self.node.shut_down().await;
    }
}

/// A QUANTITY as a number.
pub fn number(value: &Value) -> u128 {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no QUANTITY"));
    u128::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{value} is no QUANTITY"))
}

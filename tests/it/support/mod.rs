//! A node and clients for it.

pub mod chain;
pub mod golden;
pub mod grpc;
pub mod process;
pub mod sign;
pub mod socket;

use std::{ops::Deref, sync::Arc};

use alloy_primitives::Address;
use serde_json::{Value, json};
use tetrad::{Config, Node};
use tetrad_stdx::clock::{Clock, ManualClock, SystemClock};

use self::socket::PriceSocket;

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
    node_at(Arc::new(SystemClock), change).await
}

/// The same with a clock that the test decides about.
pub async fn node_at(clock: Arc<dyn Clock>, change: impl FnOnce(&mut Config)) -> TestNode {
    tetrad_stdx::tls::install_provider();
    let mut config = Config::test();
    config.exchange.price_tick = None;
    config.rpc.tracer_program = Some(env!("CARGO_BIN_EXE_tetrad").into());
    change(&mut config);
    let node = Node::spawn_with_clock(config, clock)
        .await
        .expect("the node starts");
    TestNode {
        node,
        http: reqwest::Client::new(),
    }
}

/// Some time in the past, on a clock that stands still.
pub fn manual_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(1_700_000_000_000))
}

/// A development node on such a clock whose prices move every two seconds, when the clock does.
pub async fn ticking_node() -> (TestNode, Arc<ManualClock>) {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(std::time::Duration::from_secs(2));
        config.exchange.rate_limit = 0;
    });
    (node.await, clock)
}

impl TestNode {
    /// The whole response to a JSON-RPC body.
    pub async fn post(&self, body: impl Into<reqwest::Body>) -> Value {
        let request = self
            .http
            .post(self.rpc_url())
            .header("content-type", "application/json")
            .body(body);
        request
            .send()
            .await
            .expect("an answer")
            .json()
            .await
            .expect("JSON")
    }

    /// The whole response to a JSON-RPC request.
    pub async fn request(&self, method: &str, params: Value) -> Value {
        self.post(
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string(),
        )
        .await
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
        self.http
            .get(format!("{}{path}", self.rest_url()))
            .send()
            .await
            .expect("an answer")
    }

    /// The JSON body of `GET` of a path that must succeed.
    pub async fn get_json(&self, path: &str) -> Value {
        let response = self.get(path).await;
        assert!(
            response.status().is_success(),
            "{path}: {}",
            response.status()
        );
        response.json().await.expect("JSON")
    }

    /// A price WebSocket that has been welcomed and knows the present prices.
    pub async fn price_socket(&self) -> PriceSocket {
        let mut socket = PriceSocket::connect(&self.exchange_ws_url()).await;
        assert_eq!(socket.json().await["type"], "connection");
        socket.prices().await;
        socket
    }

    /// Lets the node see that time has passed, and waits until it has done what there was to do.
    pub async fn wake(&self) {
        self.chain().wake();
        self.chain().present().await.expect("the chain runs");
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

/// Says that a test cannot run on this machine, and why. In CI that is a failure.
pub fn skip(why: &str) {
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci.is_empty()),
        "{why}"
    );
    eprintln!("skipped: {why}");
}

/// A QUANTITY as a number.
pub fn number(value: &Value) -> u128 {
    let text = value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no QUANTITY"));
    u128::from_str_radix(text.trim_start_matches("0x"), 16)
        .unwrap_or_else(|_| panic!("{value} is no QUANTITY"))
}

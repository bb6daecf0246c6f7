//! A node and clients for it.

pub(crate) mod chain;
pub(crate) mod golden;
pub(crate) mod grpc;
pub(crate) mod process;
pub(crate) mod sign;
pub(crate) mod socket;

use std::{ops::Deref, path::Path, sync::Arc};

use alloy_primitives::Address;
use serde_json::{Value, json};
use tetrad::{Config, Node};
use tetrad_stdx::clock::{Clock, ManualClock, SystemClock};

use self::socket::PriceSocket;

/// A node for one test, on free ports, and an HTTP client.
pub(crate) struct TestNode {
    node: Node,
    pub http: reqwest::Client,
}

impl Deref for TestNode {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

/// A development node whose prices are frozen, so that only the test causes blocks.
pub(crate) async fn node() -> TestNode {
    node_with(|_| {}).await
}

/// The same with changes to its configuration.
pub(crate) async fn node_with(change: impl FnOnce(&mut Config)) -> TestNode {
    node_at(Arc::new(SystemClock), change).await
}

/// The same with its chain in a directory.
pub(crate) async fn node_on(directory: &Path) -> TestNode {
    node_with(|config| config.data_dir = Some(directory.to_owned())).await
}

/// The same with a clock that the test controls.
pub(crate) async fn node_at(clock: Arc<dyn Clock>, change: impl FnOnce(&mut Config)) -> TestNode {
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
pub(crate) fn manual_clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::at(1_700_000_000_000))
}

/// A development node on such a clock whose prices move every two seconds, when the clock does.
pub(crate) async fn ticking_node() -> (TestNode, Arc<ManualClock>) {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        config.exchange.price_tick = Some(std::time::Duration::from_secs(2));
        config.rate_limit = 0;
    });
    (node.await, clock)
}

impl TestNode {
    /// The whole response to a JSON-RPC body.
    pub(crate) async fn post(&self, body: impl Into<reqwest::Body>) -> Value {
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
    pub(crate) async fn request(&self, method: &str, params: Value) -> Value {
        self.post(
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string(),
        )
        .await
    }

    /// The result of a JSON-RPC request that must succeed.
    pub(crate) async fn rpc(&self, method: &str, params: Value) -> Value {
        let response = self.request(method, params).await;
        match response.get("result") {
            Some(result) => result.clone(),
            None => panic!("{method}: {response}"),
        }
    }

    /// The error of a JSON-RPC request that must fail.
    pub(crate) async fn rpc_error(&self, method: &str, params: Value) -> Value {
        let response = self.request(method, params).await;
        match response.get("error") {
            Some(error) => error.clone(),
            None => panic!("{method}: {response}"),
        }
    }

    /// `GET` of a path.
    pub(crate) async fn get(&self, path: &str) -> reqwest::Response {
        self.http
            .get(format!("{}{path}", self.rest_url()))
            .send()
            .await
            .expect("an answer")
    }

    /// The JSON body of `GET` of a path that must succeed.
    pub(crate) async fn get_json(&self, path: &str) -> Value {
        let response = self.get(path).await;
        assert!(
            response.status().is_success(),
            "{path}: {}",
            response.status()
        );
        response.json().await.expect("JSON")
    }

    /// A price WebSocket that has been welcomed and knows the present prices.
    pub(crate) async fn price_socket(&self) -> PriceSocket {
        let mut socket = PriceSocket::connect(&self.exchange_ws_url()).await;
        assert_eq!(socket.json().await["type"], "connection");
        socket.prices().await;
        socket
    }

    /// Makes the node notice that time has passed, and waits until it has done the work that is
    /// due.
    pub(crate) async fn wake(&self) {
        self.chain().wake();
        self.chain().present().await.expect("the chain runs");
    }

    /// The n-th development account.
    pub(crate) fn account(&self, index: usize) -> Address {
        self.development_accounts()[index].0
    }

    /// Ends the node and waits for it.
    pub(crate) async fn end(self) {
        self.node.shut_down().await.unwrap();
    }
}

/// Reports that a test cannot run on this machine, and the reason. In CI that is a failure.
pub(crate) fn skip(why: &str) {
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci.is_empty()),
        "{why}"
    );
    eprintln!("skipped: {why}");
}

/// A decimal number that JSON has as a text.
pub(crate) fn decimal(value: &Value) -> f64 {
    value.as_str().expect("text").parse().expect("a number")
}

/// A value as it is written in a path or a query: a text without its quotation marks.
pub(crate) fn unquoted(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A QUANTITY as a number.
pub(crate) fn number(value: &Value) -> u128 {
    let text = value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no QUANTITY"));
    u128::from_str_radix(text.trim_start_matches("0x"), 16)
        .unwrap_or_else(|_| panic!("{value} is no QUANTITY"))
}

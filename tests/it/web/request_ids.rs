//! What requests are called.

use serde_json::Value;

use crate::support::{node, process::Running};

#[tokio::test]
async fn a_name_that_a_client_gives_comes_back() {
    let node = node().await;
    let ask = |name: &'static str| {
        node.http
            .get(format!("{}/health", node.rest_url()))
            .header("x-request-id", name)
            .send()
    };
    let id = |response: reqwest::Response| {
        response
            .headers()
            .get("x-request-id")
            .map(|id| id.to_str().unwrap().to_owned())
    };
    assert_eq!(id(ask("7f3c/1").await.unwrap()).as_deref(), Some("7f3c/1"));
    assert_eq!(id(ask("two words").await.unwrap()), None);
    // Nobody looks for the names of requests here, so none are made.
    assert_eq!(id(node.get("/health").await), None);
    node.end().await;
}

#[tokio::test]
async fn slow_requests_are_logged_under_their_names() {
    // Every request is slower than that.
    let node = Running::start(&["--slow-request", "0.000000001", "--log-format", "json"]).await;
    let rest = node.ready["rest"].as_str().unwrap().to_owned();
    let client = reqwest::Client::new();
    let prices = client
        .get(format!("{rest}/api/prices"))
        .send()
        .await
        .unwrap();
    let made = prices.headers()["x-request-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    let request = client
        .post(format!("{rest}/rpc"))
        .header("content-type", "application/json")
        .body(body);
    let answer = request
        .header("x-request-id", "mine-1")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.headers()["x-request-id"], "mine-1");

    let log = node.log();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is an object"))
        .collect();
    let named = |id: &str| {
        lines
            .iter()
            .find(|line| line["span"]["id"] == id)
            .unwrap_or_else(|| panic!("{id}: {log}"))
    };
    assert_eq!(
        (&named(&made)["path"], &named(&made)["message"]),
        (&"/api/prices".into(), &"slow request".into())
    );
    assert_eq!(named("mine-1")["method"], "eth_chainId");
}

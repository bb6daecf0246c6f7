//! Request ids.

use serde_json::Value;

use crate::support::{TestNode, node, process::Running};

/// The id that a response shows.
fn id(response: &reqwest::Response) -> Option<&str> {
    let id = response.headers().get("x-request-id")?;
    Some(id.to_str().unwrap())
}

/// The response to a request with an id.
async fn get_with_id(node: &TestNode, id: &str) -> reqwest::Response {
    node.http
        .get(format!("{}/health", node.rest_url()))
        .header("x-request-id", id)
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn a_request_id_of_a_client_is_returned() {
    let node = node().await;

    assert_eq!(id(&get_with_id(&node, "7f3c/1").await), Some("7f3c/1"));
    assert_eq!(id(&get_with_id(&node, "two words").await), None);
    // Ids are not needed here, so none are generated.
    assert_eq!(id(&node.get("/health").await), None);
    node.end().await;
}

/// The line of a log about a request.
fn line_of<'a>(lines: &'a [Value], id: &str) -> &'a Value {
    lines
        .iter()
        .find(|line| line["span"]["id"] == id)
        .unwrap_or_else(|| panic!("{id}: {lines:?}"))
}

#[tokio::test]
async fn slow_requests_are_logged_with_their_ids() {
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
    let prices = line_of(&lines, &made);
    assert_eq!(
        (&prices["path"], &prices["message"]),
        (&"/api/prices".into(), &"slow request".into())
    );
    assert_eq!(line_of(&lines, "mine-1")["method"], "eth_chainId");
}

//! Scenarios: documents, their effects on the chain and on clients, and their end.

mod documents;
mod effects;
mod faults;

use std::{sync::Arc, time::Duration};

use reqwest::Response;
use serde_json::Value;
use tetrad_stdx::clock::ManualClock;

use crate::support::TestNode;

/// A wait that only a defect exceeds.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval of the requests for the state of the steps.
const PACE: Duration = Duration::from_millis(20);

async fn post(node: &TestNode, document: &str) -> Response {
    let request = node
        .http
        .post(format!("{}/api/admin/scenarios", node.rest_url()));
    let request = request
        .header("content-type", "application/toml")
        .body(document.to_owned());
    request.send().await.expect("an answer")
}

/// Starts a scenario and returns its id.
async fn start(node: &TestNode, document: &str) -> u64 {
    let body: Value = post(node, document).await.json().await.expect("JSON");
    body["data"]["id"]
        .as_u64()
        .unwrap_or_else(|| panic!("{body}"))
}

async fn stop(node: &TestNode, id: u64) -> Value {
    let request = node
        .http
        .delete(format!("{}/api/admin/scenarios/{id}", node.rest_url()));
    let body: Value = request
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    body["data"].clone()
}

async fn scenario(node: &TestNode, id: u64) -> Value {
    let all = node.get_json("/api/admin/scenarios").await;
    let all = all["data"].as_array().expect("a list");
    all.iter()
        .find(|one| one["id"] == id)
        .expect("the scenario")
        .clone()
}

/// Waits until a scenario is as `wanted` says.
async fn until(node: &TestNode, id: u64, wanted: impl Fn(&Value) -> bool) -> Value {
    let waiting = async {
        loop {
            let found = scenario(node, id).await;
            if wanted(&found) {
                return found;
            }
            tokio::time::sleep(PACE).await;
        }
    };
    match tokio::time::timeout(WAIT_TIMEOUT, waiting).await {
        Ok(found) => found,
        Err(_) => panic!("{}", scenario(node, id).await),
    }
}

fn is_unfinished(step: &Value, elapsed: u64) -> bool {
    let is_due = step["at"].as_u64().is_some_and(|at| at <= elapsed);
    is_due && (step["state"] == "waiting" || step["state"] == "sent")
}

/// Waits until every step that is due `elapsed` milliseconds after the start is done, and none has
/// failed.
async fn done(node: &TestNode, id: u64, elapsed: u64) {
    let found = until(node, id, |found| {
        let steps = found["steps"].as_array().expect("a list");
        !steps.iter().any(|step| is_unfinished(step, elapsed))
    })
    .await;

    let steps = found["steps"].as_array().expect("a list");
    assert!(
        steps.iter().all(|step| step["state"] != "failed"),
        "{found:#}"
    );
}

/// Advances the clock to `elapsed` milliseconds after the start, by two seconds at a time, and
/// waits for every step that is due.
async fn play(node: &TestNode, clock: &Arc<ManualClock>, id: u64, (from, elapsed): (u64, u64)) {
    done(node, id, from).await;
    for at in (from..elapsed).step_by(2_000) {
        clock.advance(2_000);
        node.wake().await;
        done(node, id, at + 2_000).await;
    }
}

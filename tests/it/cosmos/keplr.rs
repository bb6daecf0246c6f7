//! The requests that Keplr makes to add the chain and to show an account, from its public source,
//! replayed in order from an extension's origin over real sockets.

use serde_json::Value;
use tetrad::account::{Kind, address_to_bech32};

use crate::support::{TestNode, node, socket::PriceSocket};

const REQUESTS: &str = include_str!("../../data/keplr.json");

/// Checks that `body` has the content of `expected`.
fn check(body: &Value, expected: &Value, at: &str) {
    let is = |what: &str, holds: bool| assert!(holds, "{at}: expected {what}, got {body}");

    match expected {
        Value::String(text) if text == "$text" => {
            is("a text", body.as_str().is_some_and(|text| !text.is_empty()))
        }
        Value::String(text) if text == "$digits" => {
            let digits =
                |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
            is("digits", body.as_str().is_some_and(digits));
        }
        Value::String(text) if text == "$time" => {
            let time =
                |text: &str| text.len() == 20 && text.ends_with('Z') && text.as_bytes()[10] == b'T';
            is("a time", body.as_str().is_some_and(time));
        }
        Value::Object(members) => {
            members
                .iter()
                .for_each(|(name, expected)| check(&body[name], expected, &format!("{at}.{name}")));
        }
        Value::Array(items) => {
            is(
                "a list of that length",
                body.as_array().is_some_and(|own| own.len() == items.len()),
            );
            items
                .iter()
                .enumerate()
                .for_each(|(n, expected)| check(&body[n], expected, &format!("{at}[{n}]")));
        }
        other => is(&other.to_string(), body == other),
    }
}

async fn replay(node: &TestNode, request: &Value, origin: &str) {
    if let Some(path) = request["connect"].as_str() {
        PriceSocket::connect(&format!("ws://{}{path}", node.address())).await;
        return;
    }
    let url = |path: &Value| format!("{}{}", node.rest_url(), path.as_str().expect("a path"));
    let (path, builder) = match request.get("get") {
        Some(path) => (path, node.http.get(url(path))),
        None => (
            &request["post"],
            node.http.post(url(&request["post"])).json(&request["send"]),
        ),
    };
    let response = builder
        .header("origin", origin)
        .send()
        .await
        .expect("an answer");
    assert_eq!(response.status().as_u16(), request["status"], "{path}");
    assert!(
        response
            .headers()
            .contains_key("access-control-allow-origin"),
        "{path}: the extension may not read it"
    );
    let body: Value = response.json().await.expect("JSON");
    check(&body, &request["body"], &path.to_string());
}

#[tokio::test]
async fn keplrs_requests_succeed() {
    let node = node().await;
    let hrp = &node.config().network.hrp;
    let address = address_to_bech32(&node.account(0), hrp, Kind::Account);
    let unused = address_to_bech32(
        &alloy_primitives::Address::repeat_byte(0xab),
        hrp,
        Kind::Account,
    );
    let text = REQUESTS
        .replace("{address}", &address)
        .replace("{unused}", &unused);
    let sequence: Value = serde_json::from_str(&text).expect("JSON");
    let origin = sequence["origin"].as_str().expect("an origin");
    let requests = sequence["requests"].as_array().expect("a list");
    assert!(requests.len() > 30);
    for request in requests {
        replay(&node, request, origin).await;
    }
    node.end().await;
}

//! `GET /api/user/<address>`.

use serde_json::json;

use crate::support::{TestNode, node};

const UNUSED: &str = "0x000000000000000000000000000000000000dEaD";

async fn status(node: &TestNode, path: &str) -> u16 {
    node.get(path).await.status().as_u16()
}

#[tokio::test]
async fn an_unused_address_is_a_user() {
    let node = node().await;
    let user = node.get_json(&format!("/api/user/{UNUSED}")).await;
    let expected = json!({
        "address": UNUSED,
        "creditScore": 300,
        "borrowingPower": "0.0",
        "amountBorrowed": "0.0",
        "availableToBorrow": "0.0",
    });
    assert_eq!(user, expected);
    node.end().await;
}

#[tokio::test]
async fn an_address_may_be_written_in_many_ways() {
    let node = node().await;
    let address = node.account(3);
    let expected = node.get_json(&format!("/api/user/{address}")).await;
    assert_eq!(expected["address"], address.to_checksum(None));

    let lower = address.to_string().to_lowercase();
    let wrong_case = format!(
        "0x{}",
        address.to_string()[2..]
            .chars()
            .map(swap_case)
            .collect::<String>()
    );
    let bech32 = tetrad::account::address_to_bech32(
        &address,
        &node.config().network.hrp,
        tetrad::account::Kind::Account,
    );

    for spelling in [
        lower.clone(),
        lower.to_uppercase(),
        wrong_case,
        lower[2..].to_owned(),
        bech32.to_uppercase(),
        bech32,
    ] {
        assert_eq!(
            node.get_json(&format!("/api/user/{spelling}")).await,
            expected,
            "{spelling}"
        );
    }
    node.end().await;
}

fn swap_case(character: char) -> char {
    if character.is_ascii_lowercase() {
        character.to_ascii_uppercase()
    } else {
        character.to_ascii_lowercase()
    }
}

#[tokio::test]
async fn invalid_addresses_are_refused() {
    let node = node().await;
    for text in [
        "0x12",
        "nobody",
        "0x",
        "%20",
        "%ff",
        "cosmos1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqnrql8a",
    ] {
        let response = node.get(&format!("/api/user/{text}")).await;
        assert_eq!(response.status(), 400, "{text}");
        let body: serde_json::Value = response.json().await.expect("JSON");
        assert_eq!(
            (&body["success"], &body["error"]),
            (&false.into(), &"invalid_parameter".into())
        );
    }
    assert_eq!(status(&node, "/api/user").await, 404);
    assert_eq!(status(&node, "/api/user/").await, 404);
    assert_eq!(
        status(&node, &format!("/api/user/{UNUSED}/nothing")).await,
        404
    );
    node.end().await;
}

#[tokio::test]
async fn a_score_has_its_components() {
    let node = node().await;
    let score = node.get_json(&format!("/api/user/{UNUSED}/score")).await;
    assert_eq!(
        (&score["creditScore"], &score["band"]),
        (&300.into(), &0.into())
    );
    assert_eq!(score["components"]["base"], 300);
    assert_eq!(
        (&score["healthFactor"], &score["nextDueDate"]),
        (&json!(null), &json!(null))
    );
    node.end().await;
}

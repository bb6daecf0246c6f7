//! Accounts as Cosmos clients see them, and how they change.

use alloy::primitives::keccak256;
use serde_json::{Value, json};

use crate::support::{TestNode, chain::VAULT, node};

/// Public keys of the first development accounts, from `tests/data/accounts.json`.
const FIRST_KEY: &str = "A4MYU1tUEF1Keq5gwI/EX5aHGBtP38YlvRp1P6c5f+11";

async fn account(node: &TestNode, address: impl std::fmt::Display) -> Value {
    let body = node
        .get_json(&format!("/cosmos/auth/v1beta1/accounts/{address}"))
        .await;
    let account = body["account"].clone();
    for name in ["address", "pub_key", "account_number", "sequence"] {
        assert_eq!(
            account[name], account["base_account"][name],
            "both shapes have the same content"
        );
    }
    assert_eq!(account["@type"], "/hyperpaxeer.types.v1.EthAccount");
    account
}

async fn pay(node: &TestNode, from: usize, to: alloy::primitives::Address) {
    node.rpc(
        "eth_sendTransaction",
        json!([{ "from": node.account(from), "to": to, "value": "0x1" }]),
    )
    .await;
}

#[tokio::test]
async fn an_accounts_key_is_known_after_its_first_signed_transaction() {
    let node = node().await;
    let fresh = account(&node, node.account(0)).await;
    let expected = json!({
        "@type": "/hyperpaxeer.types.v1.EthAccount",
        "address": "pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg",
        "pub_key": null,
        "account_number": "0",
        "sequence": "0",
        "code_hash": "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
        "base_account": {
            "address": "pax17w0adeg64ky0daxwd2ugyuneellmjgnxljx2cg",
            "pub_key": null,
            "account_number": "0",
            "sequence": "0",
        },
    });
    assert_eq!(fresh, expected);

    pay(&node, 0, node.account(1)).await;
    let used = account(&node, node.account(0)).await;
    assert_eq!(
        used["pub_key"],
        json!({ "@type": "/hyperpaxeer.crypto.v1.ethsecp256k1.PubKey", "key": FIRST_KEY })
    );
    assert_eq!(
        (&used["sequence"], &used["account_number"]),
        (&"1".into(), &"0".into())
    );
    assert_eq!(
        account(&node, node.account(1)).await["pub_key"],
        json!(null),
        "receiving coins reveals no key"
    );
    node.end().await;
}

async fn account_number(node: &TestNode, address: alloy::primitives::Address) -> u64 {
    let account = account(node, address).await;
    let text = account["account_number"].as_str().expect("text");
    text.parse().expect("a number")
}

#[tokio::test]
async fn account_numbers_follow_first_appearance_and_never_change() {
    let node = node().await;

    for index in 0..10 {
        assert_eq!(
            account_number(&node, node.account(index)).await,
            index as u64
        );
    }

    let strangers: Vec<_> = (1..=3u8)
        .map(|n| alloy::primitives::Address::repeat_byte(0xe0 + n))
        .collect();

    let mut numbers = Vec::new();
    for stranger in strangers.iter().rev() {
        pay(&node, 0, *stranger).await;
        numbers.push(account_number(&node, *stranger).await);
    }

    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert!(
        numbers[0] > account_number(&node, VAULT).await,
        "contracts count as well"
    );

    for stranger in &strangers {
        pay(&node, 1, *stranger).await;
    }
    for (stranger, before) in strangers.iter().rev().zip(numbers) {
        assert_eq!(account_number(&node, *stranger).await, before);
    }

    node.end().await;
}

#[tokio::test]
async fn a_contract_is_an_account_with_code() {
    let node = node().await;
    let vault = account(&node, VAULT).await;
    let code = node.rpc("eth_getCode", json!([VAULT, "latest"])).await;
    let code = alloy::hex::decode(code.as_str().expect("text")).expect("hex");
    assert_eq!(vault["code_hash"], keccak256(code).to_string());
    assert_eq!(vault["pub_key"], json!(null));
    node.end().await;
}

#[tokio::test]
async fn an_unused_account_is_not_found() {
    let node = node().await;
    for address in [
        "0x00000000000000000000000000000000000000aa",
        "pax1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq0va854",
    ] {
        let response = node
            .get(&format!("/cosmos/auth/v1beta1/accounts/{address}"))
            .await;
        assert_eq!(response.status(), 404);
        let expected =
            json!({ "code": 5, "message": format!("account {address} not found"), "details": [] });
        assert_eq!(response.json::<Value>().await.expect("JSON"), expected);
    }
    node.end().await;
}

#[tokio::test]
async fn unsupported_gateway_routes_answer_501() {
    let node = node().await;
    let expected = json!({ "code": 12, "message": "Not Implemented", "details": [] });
    for path in [
        "/cosmos",
        "/cosmos/",
        "/cosmos/auth/v1beta1/nothing",
        "/cosmos/nft/v1beta1/classes",
        "/osmosis/gamm/v1beta1/pools",
    ] {
        let response = node.get(path).await;
        assert_eq!(response.status(), 501, "{path}");
        assert_eq!(response.json::<Value>().await.expect("JSON"), expected);
    }
    let url = format!("{}/cosmos/auth/v1beta1/accounts/x", node.rest_url());
    assert_eq!(
        node.http
            .post(url)
            .send()
            .await
            .expect("an answer")
            .status(),
        501
    );
    node.end().await;
}

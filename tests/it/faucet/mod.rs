//! The faucet: payments, limits that follow from the chain, and concurrent requests.

use std::{path::Path, sync::Arc, time::Duration};

use alloy::primitives::{Address, U256};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tetrad::{
    Config,
    account::{Kind, address_to_bech32},
    config::Profile,
};
use tetrad_stdx::clock::ManualClock;

use crate::support::{
    TestNode,
    chain::{token, units},
    manual_clock, node_at, node_with, number,
};

const COIN: u128 = 1_000_000_000_000_000_000;
const DAY_MS: u64 = 86_400_000;

fn address(n: u64) -> Address {
    Address::left_padding_from(&(0xfa0c_e700_0000 + n).to_be_bytes())
}

async fn pay_from(node: &TestNode, client: &str, body: Value) -> (u16, Value) {
    let request = node
        .http
        .post(format!("{}/api/faucet", node.rest_url()))
        .header("x-forwarded-for", client);
    let response = request.json(&body).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

async fn pay(node: &TestNode, to: Address) -> (u16, Value) {
    pay_from(node, "192.0.2.1", json!({ "address": to })).await
}

async fn coins(node: &TestNode, of: Address) -> u128 {
    number(&node.rpc("eth_getBalance", json!([of, "latest"])).await)
}

/// A faucet behind a trusted proxy, with the limits that a production node has by default.
fn limited(config: &mut Config) {
    config.faucet.amount = Some(U256::from(10 * COIN));
    (
        config.faucet.per_address,
        config.faucet.per_client,
        config.faucet.per_day,
    ) = (1, 5, 1_000);
    config.rate_limit = 0;
    config.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
}

#[tokio::test]
async fn an_address_in_any_form_gets_coins_and_tokens() {
    let node = node_with(|_| {}).await;
    let about = node.get_json("/api/faucet").await["data"].clone();
    assert_eq!(
        (&about["enabled"], &about["assets"][0]["symbol"]),
        (&json!(true), &json!("HPX")),
        "{about}"
    );
    assert_eq!(
        about["assets"].as_array().unwrap().len(),
        13,
        "the coin and all tokens"
    );

    let (status, body) = pay(&node, address(1)).await;
    assert_eq!(
        (status, &body["data"]["amount"]),
        (200, &json!("100")),
        "{body}"
    );
    let receipt = node
        .rpc(
            "eth_getTransactionReceipt",
            json!([body["data"]["transactionHash"]]),
        )
        .await;
    assert_eq!(
        (&receipt["status"], &receipt["from"]),
        (
            &json!("0x1"),
            &json!(about["account"].as_str().unwrap().to_lowercase())
        )
    );
    assert_eq!(coins(&node, address(1)).await, 100 * COIN);

    let bech32 = address_to_bech32(&address(1), &node.config().network.hrp, Kind::Account);
    let (status, body) = pay_from(&node, "", json!({ "address": bech32, "token": "wbtc" })).await;
    assert_eq!(
        (status, &body["data"]["symbol"], &body["data"]["amount"]),
        (200, &json!("WBTC"), &json!("0.1")),
        "{body}"
    );
    let wbtc = token("WBTC");
    assert_eq!(
        node.balance(&wbtc, address(1)).await,
        units(&wbtc, 1) / U256::from(10)
    );
    node.end().await;
}

#[tokio::test]
async fn impossible_payments_are_refused_with_the_reason() {
    let node = node_with(|_| {}).await;

    let refused = async |body: Value, status: u16, code: &str, part: &str| {
        let (found, answer) = pay_from(&node, "", body).await;
        assert_eq!(
            (found, &answer["error"]),
            (status, &json!(code)),
            "{answer}"
        );
        assert!(
            answer["message"].as_str().unwrap().contains(part),
            "{answer}"
        );
    };

    refused(json!({}), 400, "invalid_parameter", "address").await;
    refused(json!([1]), 400, "invalid_parameter", "address").await;
    refused(
        json!({ "address": "0x12" }),
        400,
        "invalid_parameter",
        "address",
    )
    .await;
    refused(
        json!({ "address": Address::ZERO }),
        400,
        "invalid_parameter",
        "zero address",
    )
    .await;
    refused(
        json!({ "address": address(1), "token": "DOGE" }),
        404,
        "not_found",
        "DOGE",
    )
    .await;

    // The vault takes no coins.
    let vault = node.config().network.contracts.vault;
    refused(
        json!({ "address": vault }),
        400,
        "invalid_parameter",
        "accepts no HPX",
    )
    .await;

    let treasury = node.get_json("/api/faucet").await["data"]["account"].clone();
    node.rpc("anvil_setBalance", json!([treasury, "0xde0b6b3a7640000"]))
        .await;
    refused(
        json!({ "address": address(1) }),
        503,
        "out_of_funds",
        "has 1.0 HPX",
    )
    .await;

    node.rpc("anvil_setBalance", json!([treasury, "0x56bc75e2d63100000"]))
        .await;
    // 100 coins, but nothing for the gas.
    refused(
        json!({ "address": address(1) }),
        503,
        "out_of_funds",
        "run out of HPX",
    )
    .await;
    node.end().await;
}

/// A production node's settings, with this amount of coins from the faucet.
fn production(config: &mut Config, faucet: Option<u128>) {
    let listen = config.listen;
    let ws_listen = config.ws_listen;
    *config = Config {
        listen,
        ws_listen,
        quiet: true,
        ..Config::of(Profile::Production)
    };
    config.faucet.amount = faucet.map(U256::from);
}

#[tokio::test]
async fn a_production_node_has_no_faucet_unless_it_is_enabled() {
    let off = node_with(|config| production(config, None)).await;
    assert_eq!(
        off.get_json("/api/faucet").await,
        json!({ "success": true, "data": { "enabled": false } })
    );
    let (status, body) = pay(&off, address(1)).await;
    assert_eq!(
        (status, &body["error"]),
        (404, &json!("not_found")),
        "{body}"
    );
    off.end().await;

    let on = node_with(|config| production(config, Some(COIN / 2))).await;
    let about = on
        .get_json(&format!("/api/faucet?address={}", address(1)))
        .await["data"]
        .clone();
    assert_eq!(
        about["limits"],
        json!({ "perAddress": 1, "perClient": 5, "perDay": 1000 })
    );
    assert_eq!(
        (
            &about["assets"][0]["amount"],
            &about["assets"][0]["remaining"]
        ),
        (&json!("0.5"), &json!(1))
    );

    let (status, body) = pay(&on, address(1)).await;
    assert_eq!(status, 200, "{body}");
    let (status, body) = pay(&on, address(1)).await;
    assert_eq!(
        (status, &body["error"]),
        (429, &json!("quota_exceeded")),
        "counted before it is in a block: {body}"
    );
    on.end().await;
}

async fn pay_as(node: &TestNode, client: &str, to: u64) -> (u16, Value) {
    pay_from(node, client, json!({ "address": address(to) })).await
}

#[tokio::test]
async fn limits_apply_to_addresses_to_clients_and_in_total() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |config| {
        limited(config);
        config.faucet.per_day = 7;
    })
    .await;

    assert_eq!(pay_as(&node, "192.0.2.1", 1).await.0, 200);

    let (status, body) = pay_as(&node, "192.0.2.2", 1).await;
    assert_eq!((status, &body["error"]), (429, &json!("quota_exceeded")));
    assert!(
        body["message"]
            .as_str()
            .unwrap()
            .contains("to one address; try again in 24 h"),
        "{body}"
    );

    let (status, _) = pay_from(
        &node,
        "192.0.2.1",
        json!({ "address": address(1), "token": "USDC" }),
    )
    .await;
    assert_eq!(status, 200, "each asset is limited by itself");

    for to in 2..=5 {
        assert_eq!(pay_as(&node, "192.0.2.1", to).await.0, 200);
    }

    let (status, body) = pay_as(&node, "192.0.2.1", 6).await;
    assert_eq!(status, 429);
    assert!(
        body["message"].as_str().unwrap().contains("to one client"),
        "{body}"
    );

    let asked = node
        .http
        .get(format!("{}/api/faucet", node.rest_url()))
        .header("x-forwarded-for", "192.0.2.1");
    let about: Value = asked.send().await.unwrap().json().await.unwrap();
    assert_eq!(about["data"]["assets"][0]["remaining"], 0);
    assert_eq!(about["data"]["assets"][0]["retryAfter"], 86_400);

    assert_eq!(pay_as(&node, "192.0.2.2", 6).await.0, 200);
    assert_eq!(pay_as(&node, "192.0.2.2", 7).await.0, 200);

    let (status, body) = pay_as(&node, "192.0.2.3", 8).await;
    assert_eq!(status, 429);
    assert!(
        body["message"].as_str().unwrap().contains("its limit"),
        "{body}"
    );

    clock.advance(DAY_MS - 1_000);
    assert_eq!(pay_as(&node, "192.0.2.3", 8).await.0, 429);
    clock.advance(1_000);
    assert_eq!(pay_as(&node, "192.0.2.1", 1).await.0, 200, "a day later");
    node.end().await;
}

#[tokio::test]
async fn a_revert_undoes_the_limits_of_later_payments() {
    let node = node_with(limited).await;
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    assert_eq!(pay(&node, address(1)).await.0, 200);
    assert_eq!(pay(&node, address(1)).await.0, 429);
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    assert_eq!(pay(&node, address(1)).await.0, 200);
    node.end().await;
}

#[tokio::test]
async fn payments_count_again_after_a_revert_to_the_day_on_which_they_were_made() {
    let node = node_with(limited).await;
    assert_eq!(pay(&node, address(1)).await.0, 200);
    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    node.rpc("evm_increaseTime", json!([90_000])).await;
    node.rpc("evm_mine", json!([])).await;
    let about = format!("/api/faucet?address={}", address(1));
    assert_eq!(
        node.get_json(&about).await["data"]["assets"][0]["remaining"],
        1,
        "a day later"
    );
    assert_eq!(node.rpc("evm_revert", json!([snapshot])).await, true);
    assert_eq!(pay(&node, address(1)).await.0, 429);
    node.end().await;
}

async fn kept(directory: &Path, clock: &Arc<ManualClock>, held_blocks: u64) -> TestNode {
    node_at(clock.clone(), |config| {
        limited(config);
        config.data_dir = Some(directory.to_owned());
        config.history.blocks = held_blocks;
    })
    .await
}

#[tokio::test]
async fn limits_survive_restarts_even_if_the_payments_are_no_longer_in_memory() {
    let directory = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    for held_blocks in [1_000, 4] {
        let node = kept(directory.path(), &clock, held_blocks).await;
        for to in 1..=5 {
            let (status, body) = pay(&node, address(to)).await;
            assert_eq!(status, 200, "{body}");
        }
        node.rpc("anvil_mine", json!(["0x40"])).await;
        node.end().await;

        let node = kept(directory.path(), &clock, held_blocks).await;
        assert_eq!(pay(&node, address(1)).await.0, 429);
        let (status, body) = pay(&node, address(6)).await;
        assert_eq!(status, 429, "{body}");
        assert!(
            body["message"].as_str().unwrap().contains("to one client"),
            "{body}"
        );
        let (status, body) = pay_from(&node, "192.0.2.2", json!({ "address": address(6) })).await;
        assert_eq!(status, 200, "{body}");
        node.end().await;
        clock.advance(2 * DAY_MS);
    }
}

#[tokio::test]
async fn concurrent_requests_are_all_paid_within_the_limits() {
    let node = node_with(|config| {
        limited(config);
        config.faucet.per_client = 0;
        config.block_time = Some(Duration::from_millis(200));
    })
    .await;

    let requests = (0..120).map(|n| {
        let to = address(n % 60);
        let node = &node;
        async move { (to, pay(node, to).await.0) }
    });
    let answers = join_all(requests).await;

    for n in 0..60 {
        let mut own: Vec<_> = answers
            .iter()
            .filter(|(to, _)| *to == address(n))
            .map(|(_, status)| *status)
            .collect();
        own.sort_unstable();
        assert_eq!(own, [200, 429]);
    }

    let mut events = node.chain().subscribe();
    let chain = node.chain();
    while !chain.pool().is_empty() {
        events.recv().await.unwrap();
    }

    for n in 0..60 {
        assert_eq!(coins(&node, address(n)).await, 10 * COIN);
    }
    node.end().await;
}

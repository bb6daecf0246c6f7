//! Tokens of all three standards, their holders and owners.

use alloy_primitives::{Address, Bytes, U256, b256, hex, keccak256};
use serde_json::{Value, json};

use super::{STRANGER, each};
use crate::support::{
    TestNode,
    chain::{token, units},
    node_with,
};

/// A contract that logs four words as topics, records the fourth as owned by the third, and
/// otherwise returns what it recorded under the call's first argument: enough of ERC-721 for an
/// index.
pub(super) const UNIQUE: &[u8] = &hex!(
    "36608014601157600435545f5260205ff35b6060356040356020355f355f5fa46040356060355560016040355500"
);

/// Deploys a contract with this code.
pub(super) async fn deploy(node: &TestNode, runtime: &[u8]) -> Address {
    // Copies what follows these nine bytes to memory and returns it.
    let code = [
        &[
            0x60,
            runtime.len() as u8,
            0x80,
            0x60,
            0x09,
            0x5f,
            0x39,
            0x5f,
            0xf3,
        ],
        runtime,
    ]
    .concat();
    let hash = node.submit(node.account(0), None, 0, code).await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    serde_json::from_value(receipt["contractAddress"].clone()).unwrap()
}

fn word(address: Address) -> [u8; 32] {
    address.into_word().0
}

/// The balance that a list of holders has of an address.
fn listed_balance(holders: &[Value], address: Address) -> Option<U256> {
    let hash = address.to_checksum(None);
    let own = holders
        .iter()
        .find(|holder| holder["address"]["hash"] == hash);
    own.map(|own| own["value"].as_str().unwrap().parse().unwrap())
}

#[tokio::test]
async fn holders_are_listed_by_balance() {
    let node = node_with(|_| {}).await;
    let dot = token("DOT");
    let path = format!("/api/v2/tokens/{}", dot.address);

    for value in [5_u64, 3] {
        node.pay("DOT", node.account(0), STRANGER, U256::from(value))
            .await;
    }

    let holders = node.all_items(&format!("{path}/holders")).await;
    let values: Vec<U256> = holders
        .iter()
        .map(|holder| holder["value"].as_str().unwrap().parse().unwrap())
        .collect();
    assert!(
        values.is_sorted_by(|larger, smaller| larger >= smaller),
        "{values:?}"
    );

    assert_eq!(listed_balance(&holders, STRANGER), Some(U256::from(8)));
    assert_eq!(
        listed_balance(&holders, node.account(0)),
        Some(units(&dot, 20_000) - U256::from(8))
    );
    assert_eq!(
        listed_balance(&holders, node.account(1)),
        Some(units(&dot, 20_000)),
        "genesis gives tokens without events"
    );

    let about = node.get_json(&path).await;
    assert_eq!(
        (&about["symbol"], &about["decimals"], &about["type"]),
        (&json!("DOT"), &json!("10"), &json!("ERC-20"))
    );
    assert_eq!(about["holders_count"], holders.len().to_string());

    let counters = node.get_json(&format!("{path}/counters")).await;
    assert_eq!(counters["transfers_count"], "2");
    assert_eq!(node.all_items(&format!("{path}/transfers")).await.len(), 2);

    // A holder without a balance is none.
    node.rpc("anvil_impersonateAccount", json!([STRANGER]))
        .await;
    node.rpc("anvil_setBalance", json!([STRANGER, "0xde0b6b3a7640000"]))
        .await;
    node.pay("DOT", STRANGER, node.account(0), U256::from(8))
        .await;
    assert_eq!(
        node.get_json(&path).await["holders_count"],
        (holders.len() - 1).to_string()
    );
    assert!(
        node.all_items(&format!("/api/v2/addresses/{STRANGER}/tokens"))
            .await
            .is_empty()
    );
    node.end().await;
}

#[tokio::test]
async fn unique_tokens_have_owners() {
    let node = node_with(|_| {}).await;

    let contract = deploy(&node, UNIQUE).await;
    let topic = keccak256("Transfer(address,address,uint256)");

    let first = node.account(1);
    let second = node.account(2);
    let id = |id: u64| U256::from(id).to_be_bytes::<32>();

    for (from, to, number) in [
        (Address::ZERO, first, 1),
        (Address::ZERO, first, 2),
        (first, second, 1),
    ] {
        let input: Bytes = [topic.0, word(from), word(to), id(number)].concat().into();
        node.submit(node.account(0), Some(contract), 0, input).await;
    }

    let path = format!("/api/v2/tokens/{contract}");
    assert_eq!(node.get_json(&path).await["type"], "ERC-721");
    let instances = node.all_items(&format!("{path}/instances")).await;

    let owners: Vec<_> = instances
        .iter()
        .map(|one| (&one["id"], &one["owner"]["hash"]))
        .collect();
    let of_first = json!(first.to_checksum(None));
    let of_second = json!(second.to_checksum(None));
    assert_eq!(
        owners,
        [(&json!("1"), &of_second), (&json!("2"), &of_first)]
    );

    let owned = node
        .all_items(&format!("/api/v2/addresses/{first}/nft"))
        .await;
    assert_eq!(each(&owned, "id"), [&json!("2")]);

    let moved = node
        .all_items(&format!("{path}/instances/1/transfers"))
        .await;
    assert_eq!(
        each(&moved, "type"),
        [&json!("token_transfer"), &json!("token_minting")]
    );
    assert_eq!(moved[0]["total"], json!({ "token_id": "1" }));

    let listed = node
        .get_json(&format!(
            "/api?module=account&action=tokennfttx&address={second}"
        ))
        .await;
    assert_eq!(
        (&listed["result"][0]["tokenID"], &listed["status"]),
        (&json!("1"), &json!("1"))
    );

    node.end().await;
}

/// A contract that logs four words as topics and the rest of the call as data.
const LOGGER: &[u8] = &hex!("6080360360805f376060356040356020355f35608036035fa400");

#[tokio::test]
async fn transfers_of_many_ids_are_split() {
    let node = node_with(|_| {}).await;
    let contract = deploy(&node, LOGGER).await;
    let topic = b256!("0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb");
    let from = node.account(1);
    let to = node.account(2);

    let number = |value: u64| U256::from(value).to_be_bytes::<32>();
    let data = [0x40, 0xa0, 2, 7, 8, 2, 70, 80].map(number).concat();
    let input: Bytes = [[topic.0, word(from), word(from), word(to)].concat(), data]
        .concat()
        .into();

    let snapshot = node.rpc("evm_snapshot", json!([])).await;
    node.submit(node.account(0), Some(contract), 0, input).await;
    let found = node
        .all_items(&format!("/api/v2/tokens/{contract}/transfers"))
        .await;
    let totals: Vec<Value> = found.iter().map(|one| one["total"].clone()).collect();
    assert_eq!(
        totals,
        [
            json!({ "value": "80", "token_id": "8" }),
            json!({ "value": "70", "token_id": "7" })
        ]
    );

    let listed = node
        .get_json(&format!(
            "/api?module=account&action=token1155tx&address={to}&sort=asc"
        ))
        .await;
    assert_eq!(
        each(listed["result"].as_array().unwrap(), "tokenValue"),
        [&json!("70"), &json!("80")]
    );

    let path = format!("/api/v2/tokens/{contract}/instances");
    let instances = node.all_items(&path).await;
    assert_eq!(each(&instances, "id"), [&json!("7"), &json!("8")]);

    node.rpc("evm_revert", json!([snapshot])).await;
    assert_eq!(
        node.get(&path).await.status(),
        404,
        "the token went with its first transfer"
    );
    assert_eq!(node.get(&format!("{path}/7")).await.status(), 404);
    node.end().await;
}

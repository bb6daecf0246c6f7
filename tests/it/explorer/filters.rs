//! Filters of lists: applied on every page, or refused by name.

use alloy_primitives::{Address, Bytes, U256, hex};
use alloy_sol_types::SolCall;
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::{Token, Vault};

use super::{STRANGER, each, tokens::deploy, transferCall};
use crate::support::{
    TestNode,
    chain::{VAULT, token, units},
    node_with, unquoted,
};

/// Encodes the value of a parameter.
fn encode(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

impl TestNode {
    /// The items of all pages that `next_page_params` leads to on its own: it repeats the filters.
    async fn followed(&self, path: &str) -> Vec<Value> {
        let route = path.split('?').next().unwrap();
        let mut items = Vec::new();
        let mut next = path.to_owned();
        loop {
            let page = self.get_json(&next).await;
            items.extend(page["items"].as_array().unwrap().clone());
            let Some(params) = page["next_page_params"].as_object() else {
                return items;
            };
            let query: Vec<_> = params
                .iter()
                .map(|(name, value)| format!("{name}={}", encode(&unquoted(value))))
                .collect();
            next = format!("{route}?{}", query.join("&"));
        }
    }

    /// The message of a refused request.
    async fn refusal(&self, path: &str) -> String {
        let response = self.get(path).await;
        assert_eq!(response.status(), 400, "{path}");
        let body: Value = response.json().await.unwrap();
        let code = if path.starts_with("/sourcify/v2/verify") {
            "customCode"
        } else {
            "error"
        };
        assert_eq!(body[code], "invalid_parameter", "{path}");
        body["message"].as_str().unwrap().to_owned()
    }
}

/// Checks that a filter lists exactly the matching items of the whole list, in the same order, with
/// either way of asking for the next page.
async fn check(
    node: &TestNode,
    path: &str,
    filter: &str,
    is_wanted: impl Fn(&Value) -> bool,
) -> usize {
    let expected: Vec<_> = node
        .all_items(path)
        .await
        .into_iter()
        .filter(|item| is_wanted(item))
        .collect();
    let filtered = format!("{path}?{filter}");
    assert_eq!(node.followed(&filtered).await, expected, "{filtered}");
    assert_eq!(node.all_items(&filtered).await, expected, "{filtered}");
    expected.len()
}

/// Whether a transaction shows a type.
fn has(kind: &'static str) -> impl Fn(&Value) -> bool {
    move |item| {
        item["transaction_types"]
            .as_array()
            .unwrap()
            .contains(&json!(kind))
    }
}

/// Whether an item has an address on this side.
fn is_on_side(member: &'static str, address: Address) -> impl Fn(&Value) -> bool {
    let hash = json!(address.to_checksum(None));
    move |item| item[member]["hash"] == hash
}

#[tokio::test]
async fn transactions_are_filtered_by_type_and_method_on_every_page() {
    let node = node_with(|config| config.no_mining = true).await;
    let from = node.account(0);
    let weth = token("WETH").address;
    for round in 0..60 {
        node.submit(from, Some(STRANGER), round % 2, Bytes::new())
            .await;
        node.pay("USDC", from, STRANGER, U256::from(1)).await;
        if round % 20 == 0 {
            node.submit(from, None, 0, hex!("00").to_vec()).await;
            let approve = Token::approveCall {
                spender: VAULT,
                value: U256::from(1),
            };
            node.submit(from, Some(weth), 0, approve.abi_encode()).await;
            node.rpc("evm_mine", json!([])).await;
        }
    }
    node.rpc("evm_mine", json!([])).await;

    let all = "/api/v2/transactions";
    assert_eq!(
        check(&node, all, "type=coin_transfer", has("coin_transfer")).await,
        30
    );
    assert_eq!(
        check(&node, all, "type=token_transfer", has("token_transfer")).await,
        60
    );
    assert_eq!(
        check(
            &node,
            all,
            "type=contract_creation",
            has("contract_creation")
        )
        .await,
        3
    );

    let both = |item: &Value| has("contract_creation")(item) || has("coin_transfer")(item);
    check(&node, all, "type=[coin_transfer,contract_creation]", both).await;
    check(
        &node,
        all,
        "filter=validated&type=contract_call",
        has("contract_call"),
    )
    .await;
    check(&node, all, "filter=pending%20%7C%20validated", |_| true).await;

    assert_eq!(
        check(&node, all, "type=token_creation,blob_transaction", |_| {
            false
        })
        .await,
        0
    );

    let transfers = |item: &Value| item["method"] == "transfer";
    assert_eq!(check(&node, all, "method=transfer", transfers).await, 60);
    assert_eq!(check(&node, all, "method=0xa9059cbb", transfers).await, 60);
    assert_eq!(
        check(
            &node,
            all,
            "method=approve,0xdeadbeef",
            |item| item["method"] == "approve"
        )
        .await,
        3
    );
    assert_eq!(
        check(&node, all, "method=transfer&type=coin_transfer", |_| false).await,
        0
    );

    let newest = node.get_json("/api/v2/blocks").await["items"][0]["height"].clone();
    let of_block = format!("/api/v2/blocks/{newest}/transactions");
    assert!(
        check(
            &node,
            &of_block,
            "type=token_transfer",
            has("token_transfer")
        )
        .await
            > 10
    );
    node.end().await;
}

#[tokio::test]
async fn pending_transactions_are_listed_newest_first() {
    let node = node_with(|config| config.no_mining = true).await;
    let mut hashes = Vec::new();
    for value in 0..60 {
        hashes.insert(
            0,
            json!(
                node.submit(node.account(0), Some(STRANGER), value, Bytes::new())
                    .await
            ),
        );
    }

    let pending = "/api/v2/transactions?filter=pending";
    assert_eq!(
        each(&node.followed(pending).await, "hash"),
        hashes.iter().collect::<Vec<_>>()
    );

    assert_eq!(
        node.all_items(&format!("{pending}&type=coin_transfer"))
            .await
            .len(),
        59
    );

    let shown = node
        .get_json(&format!(
            "/api/v2/transactions/{}",
            hashes[0].as_str().unwrap()
        ))
        .await;
    assert_eq!(
        (&shown["result"], &shown["status"]),
        (&json!("pending"), &Value::Null)
    );
    assert_eq!(
        (&shown["block_number"], &shown["gas_used"], &shown["value"]),
        (&Value::Null, &Value::Null, &json!("59"))
    );

    node.rpc("evm_mine", json!([])).await;
    assert!(node.all_items(pending).await.is_empty());
    assert_eq!(
        each(&node.all_items("/api/v2/transactions").await, "hash"),
        hashes.iter().collect::<Vec<_>>()
    );
    node.end().await;
}

#[tokio::test]
async fn lists_of_an_address_are_filtered_by_its_side() {
    let node = node_with(|config| config.no_mining = true).await;
    let from = node.account(0);
    let to = node.account(1);
    for round in 0..120 {
        let (sender, recipient) = if round % 3 == 0 {
            (to, from)
        } else {
            (from, to)
        };
        node.submit(sender, Some(recipient), 1, Bytes::new()).await;
        node.pay(
            if round % 2 == 0 { "USDC" } else { "WETH" },
            sender,
            recipient,
            U256::from(1),
        )
        .await;
        if round % 25 == 0 {
            node.rpc("evm_mine", json!([])).await;
        }
    }
    node.rpc("evm_mine", json!([])).await;

    let transactions = format!("/api/v2/addresses/{from}/transactions");
    assert_eq!(
        check(
            &node,
            &transactions,
            "filter=from",
            is_on_side("from", from)
        )
        .await,
        160
    );
    assert_eq!(
        check(&node, &transactions, "filter=to", is_on_side("to", from)).await,
        40
    );
    for both in ["to | from", "to|from", "from,to", ""] {
        check(
            &node,
            &transactions,
            &format!("filter={}", encode(both)),
            |_| true,
        )
        .await;
    }
    check(&node, &transactions, "filter=to+%7C+from", |_| true).await;

    let mut oldest_first = node.all_items(&transactions).await;
    oldest_first.reverse();
    let ascending = node
        .followed(&format!("{transactions}?sort=block_number&order=asc"))
        .await;
    assert_eq!(each(&ascending, "hash"), each(&oldest_first, "hash"));

    let transfers = format!("/api/v2/addresses/{from}/token-transfers");
    assert_eq!(
        check(&node, &transfers, "filter=to", is_on_side("to", from)).await,
        40
    );

    let usdc = token("USDC").address;
    let hash = json!(usdc.to_checksum(None));
    let of_token = move |item: &Value| item["token"]["address_hash"] == hash;
    assert_eq!(
        check(
            &node,
            &transfers,
            &format!("token={usdc}&type=erc-20"),
            of_token
        )
        .await,
        60
    );
    assert_eq!(
        check(&node, &transfers, "type=ERC-721,ERC-1155", |_| false).await,
        0
    );

    let all = "/api/v2/token-transfers";
    assert_eq!(
        check(&node, all, "type=ERC-20&limit=7", |_| true).await,
        120
    );
    assert_eq!(check(&node, all, "type=ERC-1155", |_| false).await, 0);
    assert_eq!(
        node.get_json(&format!("{all}?limit=7")).await["items"]
            .as_array()
            .unwrap()
            .len(),
        7
    );

    let logs = format!("/api/v2/addresses/{usdc}/logs");
    let recipient = json!(to.into_word());
    let has_topic = |item: &Value| item["topics"].as_array().unwrap().contains(&recipient);
    assert_eq!(
        check(
            &node,
            &logs,
            &format!("topic={}", to.into_word()),
            has_topic
        )
        .await,
        60
    );
    assert_eq!(
        check(
            &node,
            &logs,
            &format!("topic={}", VAULT.into_word()),
            |_| false
        )
        .await,
        0
    );
    node.end().await;
}

#[tokio::test]
async fn internal_transactions_are_filtered_by_side_kind_and_transaction() {
    let node = node_with(|_| {}).await;
    let user = node.signer(0);
    node.approve_all(&user, VAULT).await;
    let weth = token("WETH");
    let usdc = token("USDC");

    let mut hash = String::new();
    for _ in 0..12 {
        let swap = Vault::swapExactTokensForTokensCall {
            _tokenIn: weth.address,
            _tokenOut: usdc.address,
            _amountIn: units(&weth, 1) / U256::from(100),
            _minAmountOut: U256::ZERO,
        };
        hash = node
            .send(&user, VAULT, swap)
            .await
            .transaction_hash
            .to_string();
    }

    let of_vault = format!("/api/v2/addresses/{VAULT}/internal-transactions");
    let own = json!(VAULT.to_checksum(None));
    assert!(
        check(&node, &of_vault, "filter=from", |item| item["from"]["hash"]
            == own)
        .await
            > 50
    );
    check(&node, &of_vault, "filter=to", |item| {
        item["to"]["hash"] == own
    })
    .await;
    check(&node, &of_vault, "filter=to%20%7C%20from", |_| true).await;

    let all = "/api/v2/internal-transactions";
    let of_one = format!("transaction_hash={hash}&limit=2");
    assert!(check(&node, all, &of_one, |item| item["transaction_hash"] == hash).await > 3);

    let block =
        node.get_json(&format!("/api/v2/transactions/{hash}")).await["block_number"].clone();
    let of_block = format!("/api/v2/blocks/{block}/internal-transactions");
    let is_kind = |kind: &'static str| move |item: &Value| item["type"] == kind;

    assert!(
        check(
            &node,
            &of_block,
            "call_type=staticcall",
            is_kind("staticcall")
        )
        .await
            > 0
    );
    assert!(
        check(
            &node,
            &of_block,
            "internal_type=call&call_type=call",
            is_kind("call")
        )
        .await
            > 0
    );

    check(&node, &of_block, "internal_type=call", |_| true).await;
    assert_eq!(
        check(&node, &of_block, "internal_type=create,reward", |_| false).await,
        0
    );
    node.end().await;
}

#[tokio::test]
async fn ids_of_tokens_are_filtered_by_owner_and_standard() {
    let node = node_with(|_| {}).await;
    let first = node.account(1);
    let second = node.account(2);
    let unique = deploy(&node, super::tokens::UNIQUE).await;

    let topic = alloy_primitives::keccak256("Transfer(address,address,uint256)");
    for id in 0..120_u64 {
        let to = if id % 2 == 0 { first } else { second };
        let words = [
            topic.0,
            Address::ZERO.into_word().0,
            to.into_word().0,
            U256::from(id).to_be_bytes(),
        ];
        node.submit(node.account(0), Some(unique), 0, words.concat())
            .await;
    }

    let path = format!("/api/v2/tokens/{unique}/instances");
    let owner = json!(second.to_checksum(None));
    let of_owner = format!("holder_address_hash={second}");
    assert_eq!(
        check(&node, &path, &of_owner, |item| item["owner"]["hash"]
            == owner)
        .await,
        60
    );

    let own = format!("/api/v2/addresses/{first}/nft");
    assert_eq!(check(&node, &own, "type=ERC-721", |_| true).await, 60);
    assert_eq!(check(&node, &own, "type=ERC-1155", |_| false).await, 0);

    let tokens = "/api/v2/tokens";
    check(&node, tokens, "type=ERC-721&limit=1", |item| {
        item["type"] == "ERC-721"
    })
    .await;
    check(&node, tokens, "q=usd&limit=1", |item| {
        item["name"].as_str().unwrap_or_default().contains("USD")
    })
    .await;

    node.end().await;
}

#[tokio::test]
async fn unknown_parameters_are_refused_by_name() {
    let node = node_with(|_| {}).await;
    let document = node.get_json("/openapi.json").await;
    let mut routes = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        if !path.starts_with("/api/v2/") && !path.starts_with("/sourcify/") {
            continue;
        }
        let Some(operation) = methods.get("get") else {
            continue;
        };

        let mut filled = path.clone();
        let mut known = Vec::new();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            let example = &parameter["example"];
            match parameter["in"].as_str() {
                Some("path") => {
                    filled = filled.replace(&format!("{{{name}}}"), &unquoted(example));
                }
                _ => known.push(name.to_owned()),
            }
        }

        let message = node
            .refusal(&format!("{filled}?apikey=x&filterby=from"))
            .await;
        assert!(
            message.starts_with("filterby: this route takes"),
            "{path}: {message}"
        );
        assert!(
            known.iter().all(|name| message.contains(name.as_str())),
            "{path}: {message}"
        );

        routes += 1;
    }
    assert!(routes > 30, "{routes}");

    let own = format!("/api/v2/addresses/{STRANGER}");
    for (path, what) in [
        (
            "/transactions?filter=both",
            "filter: expected from, to, or both as to | from",
        ),
        (
            "/transactions?sort=fee&order=asc",
            "sort: expected one of block_number",
        ),
        ("/transactions?limit=50", "limit: this route takes only"),
        (
            "/token-transfers?type=ERC-404",
            "type: expected some of ERC-20, ERC-721, ERC-1155",
        ),
        ("/logs?topic=0x12", "topic: expected 32 bytes in hex"),
    ] {
        let message = node.refusal(&format!("{own}{path}")).await;
        assert!(message.starts_with(what), "{path}: {message}");
    }

    assert!(
        node.refusal("/api/v2/transactions?method=transfer(address)")
            .await
            .starts_with("method: expected")
    );

    // Blockscout's own for keys, and what its pages repeat, have no effect.
    node.get_json("/api/v2/transactions?apikey=x&key=y&items_count=50")
        .await;
    node.get_json("/api/v2/stats?apikey=x").await;
    node.end().await;
}

#[tokio::test]
async fn pages_of_long_transactions_are_limited_in_bytes() {
    let node = node_with(|config| config.no_mining = true).await;
    let from = node.account(0);
    let mut hashes = Vec::new();
    for count in 0..30 {
        let long = vec![1; if count % 3 == 0 { 10 } else { 120_000 }];
        let request =
            json!({ "from": from, "to": STRANGER, "gas": "0x5b8d80", "input": Bytes::from(long) });
        hashes.insert(0, node.rpc("eth_sendTransaction", json!([request])).await);
    }
    for _ in 0..4 {
        node.rpc("evm_mine", json!([])).await;
    }
    let expected: Vec<_> = hashes.iter().collect();
    for path in [
        "/api/v2/transactions".to_owned(),
        format!("/api/v2/addresses/{STRANGER}/transactions?filter=to"),
    ] {
        let first = node.get(&path).await.bytes().await.unwrap();
        assert!(
            (1 << 20..=(2 << 20) + 1_000).contains(&first.len()),
            "{path}: {}",
            first.len()
        );
        let items = node.all_items(&path).await;
        assert_eq!(each(&items, "hash"), expected, "{path}");
    }

    let page = node
        .get_json(&format!(
            "/api?module=account&action=txlist&address={from}&sort=desc&page=2&offset=10"
        ))
        .await;
    assert_eq!(
        each(page["result"].as_array().unwrap(), "hash"),
        expected[10..20]
    );
    node.end().await;
}

#[tokio::test]
async fn a_list_of_etherscans_interface_that_is_too_long_is_an_error() {
    let node = node_with(|_| {}).await;
    let from = node.account(0);
    // 80 × 240 kB are more than 16 MiB.
    for _ in 0..80 {
        let request = json!({ "from": from, "to": STRANGER, "gas": "0x5b8d80", "input": Bytes::from(vec![1; 120_000]) });
        node.rpc("eth_sendTransaction", json!([request])).await;
    }
    let path = format!("/api?module=account&action=txlist&address={from}");
    let answer = node.get_json(&path).await;
    assert_eq!(
        (&answer["status"], &answer["message"]),
        (&json!("0"), &json!("NOTOK"))
    );
    let reason = answer["result"].as_str().unwrap();
    assert!(
        reason.starts_with("Result window is too large: 69 items take 16 MiB"),
        "{reason}"
    );
    let mut found = 0;
    for page in 1..=2 {
        found += node
            .get_json(&format!("{path}&page={page}&offset=40"))
            .await["result"]
            .as_array()
            .unwrap()
            .len();
    }
    assert_eq!(found, 80);
    node.end().await;
}

#[tokio::test]
async fn every_transfer_call_is_found_by_the_name_that_a_page_shows() {
    let node = node_with(|_| {}).await;
    let input = transferCall {
        to: STRANGER,
        value: U256::from(1),
    }
    .abi_encode();
    // The contract is unknown, and the call moves nothing.
    node.submit(node.account(0), Some(STRANGER), 0, input).await;
    let found = node.all_items("/api/v2/transactions?method=transfer").await;
    assert_eq!(found.len(), 1);
    node.end().await;
}

//! The explorer API and its index, compared with the chain itself.

mod etherscan;
mod filters;
mod model;
mod tokens;
mod verification;

use alloy_primitives::{Address, Bytes, U256, address, hex};
use alloy_sol_types::{SolCall, sol};
use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::Vault;

use crate::support::{
    TestNode,
    chain::{VAULT, token, units},
    node_with, unquoted,
};

sol! {
    function transfer(address to, uint256 value) external returns (bool);

    struct Call3 { address target; bool allowFailure; bytes callData; }
    function aggregate3(Call3[] calls) external payable;
}

/// A stranger to the chain.
pub(crate) const STRANGER: Address = address!("0x00000000000000000000000000000000000000aa");

impl TestNode {
    /// Sends a transaction of an account that the node signs for; the hash.
    pub(crate) async fn submit(
        &self,
        from: Address,
        to: Option<Address>,
        value: u64,
        input: impl Into<Bytes>,
    ) -> String {
        let mut request =
            json!({ "from": from, "value": U256::from(value), "input": input.into() });
        if let Some(to) = to {
            request["to"] = json!(to);
        }
        self.rpc("eth_sendTransaction", json!([request]))
            .await
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Moves tokens of the network; the transaction's hash.
    pub(crate) async fn pay(
        &self,
        symbol: &str,
        from: Address,
        to: Address,
        value: U256,
    ) -> String {
        let input = transferCall { to, value }.abi_encode();
        self.submit(from, Some(token(symbol).address), 0, input)
            .await
    }

    /// The items of all pages of a list.
    pub(crate) async fn all_items(&self, path: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut query = String::new();
        loop {
            let joined = if path.contains('?') { "&" } else { "?" };
            let page = self.get_json(&format!("{path}{joined}{query}")).await;
            items.extend(page["items"].as_array().unwrap().clone());
            let Some(next) = page["next_page_params"].as_object() else {
                return items;
            };
            assert!(
                !page["items"].as_array().unwrap().is_empty(),
                "{path}: an empty page has a next one"
            );
            query = next
                .iter()
                .map(|(name, value)| format!("{name}={}&", unquoted(value)))
                .collect();
        }
    }
}

/// The member of each item.
pub(crate) fn each<'a>(items: &'a [Value], member: &str) -> Vec<&'a Value> {
    items.iter().map(|item| &item[member]).collect()
}

#[tokio::test]
async fn an_address_shows_its_transactions_transfers_and_tokens() {
    let node = node_with(|_| {}).await;
    let from = node.account(0);
    let to = node.account(1);
    let plain = node.submit(from, Some(to), 7, Bytes::new()).await;
    let paid = node
        .pay("USDC", from, STRANGER, U256::from(1_500_000))
        .await;

    let path = format!("/api/v2/addresses/{from}");
    let sent = node.all_items(&format!("{path}/transactions")).await;
    assert_eq!(each(&sent, "hash"), [&json!(paid), &json!(plain)]);
    assert_eq!(
        (&sent[0]["method"], &sent[0]["status"], &sent[1]["value"]),
        (&json!("transfer"), &json!("ok"), &json!("7"))
    );
    assert_eq!(
        sent[0]["transaction_types"],
        json!(["token_transfer", "contract_call"])
    );
    assert!(
        node.all_items(&format!("{path}/transactions?filter=to"))
            .await
            .is_empty()
    );
    let received = node
        .all_items(&format!("/api/v2/addresses/{to}/transactions?filter=to"))
        .await;
    assert_eq!(each(&received, "hash"), [&json!(plain)]);

    let transfers = node.all_items(&format!("{path}/token-transfers")).await;
    assert_eq!(transfers.len(), 1);
    let transfer = &transfers[0];
    assert_eq!(
        transfer["total"],
        json!({ "value": "1500000", "decimals": "6" })
    );
    assert_eq!(
        (&transfer["token"]["symbol"], &transfer["transaction_hash"]),
        (&json!("USDC"), &json!(paid))
    );
    assert_eq!(transfer["to"]["hash"], STRANGER.to_checksum(None));
    assert!(
        node.all_items(&format!("{path}/token-transfers?type=ERC-721,ERC-1155"))
            .await
            .is_empty()
    );

    let tokens = node
        .all_items(&format!("/api/v2/addresses/{STRANGER}/tokens"))
        .await;
    assert_eq!((tokens.len(), &tokens[0]["value"]), (1, &json!("1500000")));
    let own = node.get_json(&format!("{path}/token-balances")).await;
    let usdc = own
        .as_array()
        .unwrap()
        .iter()
        .find(|own| own["token"]["symbol"] == "USDC")
        .unwrap();
    assert_eq!(
        usdc["value"],
        (units(&token("USDC"), 250_000) - U256::from(1_500_000)).to_string()
    );

    let stranger = node
        .get_json(&format!("/api/v2/addresses/{STRANGER}"))
        .await;
    assert_eq!(
        (&stranger["coin_balance"], &stranger["is_contract"]),
        (&json!("0"), &json!(false))
    );
    assert_eq!(
        (&stranger["has_tokens"], &stranger["has_token_transfers"]),
        (&json!(true), &json!(true))
    );
    let vault = node.get_json(&format!("/api/v2/addresses/{VAULT}")).await;
    assert_eq!(
        (&vault["name"], &vault["is_verified"]),
        (&json!("Vault"), &json!(true))
    );
    let counters = node.get_json(&format!("{path}/counters")).await;
    assert_eq!(
        (
            &counters["transactions_count"],
            &counters["token_transfers_count"]
        ),
        (&json!("2"), &json!("1"))
    );

    let whole = node.get_json(&format!("/api/v2/transactions/{paid}")).await;
    assert_eq!(whole["decoded_input"]["parameters"][1]["value"], "1500000");
    assert_eq!(whole["token_transfers"].as_array().unwrap().len(), 1);
    let logs = node
        .all_items(&format!("/api/v2/transactions/{paid}/logs"))
        .await;
    assert_eq!(
        (&logs[0]["decoded"]["method_call"], logs.len()),
        (
            &json!("Transfer(address indexed from, address indexed to, uint256 value)"),
            1
        )
    );
    node.end().await;
}

#[tokio::test]
async fn internal_calls_match_the_traces() {
    let node = node_with(|_| {}).await;
    let user = node.signer(0);
    node.approve_all(&user, VAULT).await;

    let weth = token("WETH");
    let usdc = token("USDC");
    let swap = Vault::swapExactTokensForTokensCall {
        _tokenIn: weth.address,
        _tokenOut: usdc.address,
        _amountIn: units(&weth, 1),
        _minAmountOut: U256::ZERO,
    };

    let receipt = node.send(&user, VAULT, swap).await;
    let hash = receipt.transaction_hash;

    let traces = node.rpc("trace_transaction", json!([hash])).await;
    let expected = traces
        .as_array()
        .unwrap()
        .iter()
        .skip(1)
        .filter(|trace| trace["type"] == "call");
    let expected: Vec<_> = expected
        .map(|trace| {
            let action = &trace["action"];
            let value = U256::from_str_radix(
                action["value"].as_str().unwrap().trim_start_matches("0x"),
                16,
            )
            .unwrap();
            (
                action["callType"].clone(),
                action["from"].clone(),
                value.to_string(),
            )
        })
        .collect();

    let items = node
        .all_items(&format!(
            "/api/v2/transactions/{hash}/internal-transactions"
        ))
        .await;
    let found: Vec<_> = items
        .iter()
        .map(|item| {
            let from = item["from"]["hash"].as_str().unwrap().to_lowercase();
            (
                item["type"].clone(),
                json!(from),
                item["value"].as_str().unwrap().to_owned(),
            )
        })
        .collect();

    assert!(
        found.len() > 3,
        "a swap calls tokens and the oracle: {found:?}"
    );
    assert_eq!(found, expected);

    let of_vault = node
        .all_items(&format!("/api/v2/addresses/{VAULT}/internal-transactions"))
        .await;
    assert_eq!(
        of_vault
            .iter()
            .filter(|item| item["transaction_hash"] == hash.to_string())
            .count(),
        items.len()
    );
    node.end().await;
}

/// Sends a transaction, which fails. Returns its result, and the reason as Blockscout and as
/// Etherscan show it.
async fn failure(node: &TestNode, request: Value) -> (Value, Value, Value) {
    let hash = node
        .rpc("eth_sendTransaction", json!([request]))
        .await
        .as_str()
        .unwrap()
        .to_owned();

    let shown = node.get_json(&format!("/api/v2/transactions/{hash}")).await;
    assert_eq!(shown["status"], "error");

    let status = node
        .get_json(&format!(
            "/api?module=transaction&action=getstatus&txhash={hash}"
        ))
        .await;
    assert_eq!(
        status["result"],
        json!({ "isError": "1", "errDescription": shown["result"] })
    );

    let info = node
        .get_json(&format!(
            "/api?module=transaction&action=gettxinfo&txhash={hash}"
        ))
        .await;
    (
        shown["result"].clone(),
        shown["revert_reason"].clone(),
        info["result"]["revertReason"].clone(),
    )
}

/// The same of a call by the fourth development account.
async fn failed_call(
    node: &TestNode,
    to: Address,
    gas: u64,
    input: Vec<u8>,
) -> (Value, Value, Value) {
    let from = node.account(3);
    let request =
        json!({ "from": from, "to": to, "gas": U256::from(gas), "input": Bytes::from(input) });
    failure(node, request).await
}

/// Gives the stranger this code.
async fn set_code(node: &TestNode, code: &str) {
    node.rpc("anvil_setCode", json!([STRANGER, code])).await;
}

#[tokio::test]
async fn a_failed_transaction_shows_its_reason() {
    let node = node_with(|_| {}).await;
    let from = node.account(3);
    // A known contract: its error and the arguments.
    let too_much = transferCall {
        to: STRANGER,
        value: U256::MAX,
    }
    .abi_encode();
    let (result, reason, raw) = failed_call(&node, token("USDC").address, 200_000, too_much).await;
    assert_eq!(result, "execution reverted");
    assert_eq!(
        raw.as_str().unwrap()[2..10],
        *reason["method_id"].as_str().unwrap()
    );
    assert!(
        reason["method_call"]
            .as_str()
            .unwrap()
            .contains("nsufficient"),
        "{reason}"
    );
    assert_eq!(reason["parameters"][0]["value"], from.to_checksum(None));

    // An error that every contract may have, an unknown one, and none: the rest of Panic(0x11) is
    // zeros and 0x11.
    set_code(&node, "0x634e487b715f5260116020526024601cfd").await;
    let (_, reason, _) = failed_call(&node, STRANGER, 100_000, Vec::new()).await;
    assert_eq!(
        (&reason["method_call"], &reason["method_id"]),
        (&json!("Panic(uint256 code)"), &json!("4e487b71"))
    );
    assert_eq!(reason["parameters"][0]["value"], "17");
    set_code(&node, "0x63deadbeef5f526004601cfd").await;
    assert_eq!(
        failed_call(&node, STRANGER, 100_000, Vec::new()).await.1,
        json!({ "raw": "0xdeadbeef" })
    );
    set_code(&node, "0x5f5ffd").await;
    assert_eq!(
        failed_call(&node, STRANGER, 100_000, Vec::new()).await,
        (json!("execution reverted"), json!(null), json!("0x"))
    );

    // No reverts: out of gas at the first instruction, with the gas of a transfer, and an
    // instruction that does not exist.
    let (result, reason, _) = failed_call(&node, STRANGER, 21_000, Vec::new()).await;
    assert_eq!((result, reason), (json!("out of gas"), json!(null)));
    set_code(&node, "0xfe").await;
    assert_eq!(
        failed_call(&node, STRANGER, 100_000, Vec::new()).await.0,
        "invalid opcode: INVALID"
    );
    node.end().await;
}

#[tokio::test]
async fn a_created_contract_shows_its_creator_however_it_was_created() {
    let node = node_with(|_| {}).await;
    let creator = node.account(2);
    // Creates a contract without code from its own creation code: CREATE with the one byte of STOP.
    let factory = hex!("5f5f53600160005ff0505f5ff3");

    let hash = node.submit(creator, None, 0, factory.to_vec()).await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    let outer: Address = serde_json::from_value(receipt["contractAddress"].clone()).unwrap();

    let about = node.get_json(&format!("/api/v2/addresses/{outer}")).await;
    assert_eq!(about["creator_address_hash"], creator.to_checksum(None));
    assert_eq!(about["creation_transaction_hash"], json!(hash));

    let inner = outer.create(1);
    let about = node.get_json(&format!("/api/v2/addresses/{inner}")).await;
    assert_eq!(about["creator_address_hash"], outer.to_checksum(None));

    let calls = node
        .all_items(&format!(
            "/api/v2/transactions/{hash}/internal-transactions"
        ))
        .await;
    assert_eq!(
        (&calls[0]["type"], &calls[0]["created_contract"]["hash"]),
        (&json!("create"), &json!(inner.to_checksum(None)))
    );

    let created = node
        .get_json(&format!(
            "/api?module=contract&action=getcontractcreation&contractaddresses={outer},{inner}"
        ))
        .await;
    assert_eq!(
        each(created["result"].as_array().unwrap(), "txHash"),
        [&json!(hash), &json!(hash)]
    );
    node.end().await;
}

#[tokio::test]
async fn lists_have_stable_pages_of_fifty() {
    let node = node_with(|_| {}).await;
    let from = node.account(0);
    let to = node.account(1);
    let mut hashes = Vec::new();
    for value in 0..120 {
        hashes.insert(
            0,
            json!(node.submit(from, Some(to), value, Bytes::new()).await),
        );
    }

    let path = format!("/api/v2/addresses/{from}/transactions");
    let first = node.get_json(&path).await;
    assert_eq!(first["items"].as_array().unwrap().len(), 50);
    let next = &first["next_page_params"];

    node.submit(from, Some(to), 0, Bytes::new()).await;
    let second = node
        .get_json(&format!(
            "{path}?block_number={}&index={}",
            next["block_number"], next["index"]
        ))
        .await;

    assert_eq!(second["items"][0]["hash"], hashes[50]);
    hashes.insert(0, node.all_items(&path).await[0]["hash"].clone());

    for path in [path.as_str(), "/api/v2/transactions"] {
        assert_eq!(
            each(&node.all_items(path).await, "hash"),
            hashes.iter().collect::<Vec<_>>(),
            "{path}"
        );
    }

    let blocks = node.all_items("/api/v2/blocks").await;
    let heights: Vec<_> = blocks
        .iter()
        .map(|block| block["height"].as_u64().unwrap())
        .collect();
    assert_eq!(
        heights,
        (0..=node.chain().head().number()).rev().collect::<Vec<_>>()
    );
    node.end().await;
}

#[tokio::test]
async fn transactions_of_a_block_are_listed_last_first() {
    let node = node_with(|config| config.no_mining = true).await;
    let from = node.account(0);
    let mut hashes = Vec::new();
    for _ in 0..60 {
        hashes.insert(
            0,
            json!(node.submit(from, Some(STRANGER), 1, Bytes::new()).await),
        );
    }
    node.rpc("evm_mine", json!([])).await;

    let block = node
        .rpc("eth_getTransactionReceipt", json!([hashes[0]]))
        .await["blockNumber"]
        .clone();
    let number = crate::support::number(&block);

    for path in [
        format!("/api/v2/blocks/{number}/transactions"),
        "/api/v2/transactions".to_owned(),
    ] {
        assert_eq!(
            each(&node.all_items(&path).await, "hash"),
            hashes.iter().collect::<Vec<_>>(),
            "{path}"
        );
    }

    let about = node.get_json(&format!("/api/v2/blocks/{number}")).await;
    assert_eq!(about["transactions_count"], 60);
    assert_eq!(
        node.get_json(&format!(
            "/api/v2/blocks/{}",
            about["hash"].as_str().unwrap()
        ))
        .await,
        about
    );
    node.end().await;
}

/// The types of a search's results.
async fn types_found(node: &TestNode, words: &str) -> Vec<String> {
    let found = node.get_json(&format!("/api/v2/search?q={words}")).await;
    found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn searches_find_tokens_contracts_addresses_transactions_and_blocks() {
    let node = node_with(|_| {}).await;
    let hash = node
        .submit(node.account(0), Some(STRANGER), 1, Bytes::new())
        .await;

    assert_eq!(types_found(&node, &hash).await, ["transaction"]);
    assert_eq!(
        types_found(&node, "1").await.first().map(String::as_str),
        Some("block")
    );
    assert_eq!(types_found(&node, &STRANGER.to_string()).await, ["address"]);
    assert!(
        types_found(&node, "wrapped%20ether")
            .await
            .contains(&"token".to_owned())
    );
    assert!(
        types_found(&node, "vault")
            .await
            .contains(&"contract".to_owned())
    );
    assert!(types_found(&node, "").await.is_empty());

    let redirect = node
        .get_json(&format!("/api/v2/search/check-redirect?q={hash}"))
        .await;
    assert_eq!(
        redirect,
        json!({ "redirect": true, "type": "transaction", "parameter": hash })
    );

    let stats = node.get_json("/api/v2/stats").await;
    assert_eq!(stats["total_transactions"], "1");
    let status = node.get_json("/api/v2/main-page/indexing-status").await;
    assert_eq!(status["finished_indexing"], true);
    node.end().await;
}

#[tokio::test]
async fn the_networks_contracts_have_abi_and_source_and_others_do_not() {
    let node = node_with(|_| {}).await;
    let contract = node
        .get_json(&format!("/api/v2/smart-contracts/{VAULT}"))
        .await;
    assert_eq!(
        (&contract["name"], &contract["is_verified"]),
        (&json!("Vault"), &json!(true))
    );
    assert!(
        contract["source_code"]
            .as_str()
            .unwrap()
            .contains("contract Vault")
    );
    assert!(contract["abi"].as_array().unwrap().len() > 10);

    assert_eq!(
        node.get(&format!("/api/v2/smart-contracts/{STRANGER}"))
            .await
            .status(),
        404
    );

    let hash = node
        .submit(node.account(0), None, 0, hex!("60016000f3").to_vec())
        .await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    let own = receipt["contractAddress"].as_str().unwrap();

    let contract = node
        .get_json(&format!("/api/v2/smart-contracts/{own}"))
        .await;
    assert_eq!(
        (&contract["is_verified"], &contract["abi"]),
        (&json!(false), &Value::Null)
    );
    node.end().await;
}

#[tokio::test]
async fn the_networks_contracts_have_lines_and_variables() {
    let node = node_with(|_| {}).await;
    let fields = "sources,sourceIds,storageLayout,runtimeBytecode.sourceMap";
    let contract = node
        .get_json(&format!(
            "/sourcify/v2/contract/125/{VAULT}?fields={fields}"
        ))
        .await;
    assert!(contract["sourceIds"]["src/exchange/Vault.sol"]["id"].is_u64());
    assert!(contract["sources"]["src/exchange/Vault.sol"]["content"].is_string());
    let map = contract["runtimeBytecode"]["sourceMap"].as_str().unwrap();
    assert!(map.split(';').count() > 1_000);
    let variables = contract["storageLayout"]["storage"].as_array().unwrap();
    assert!(
        variables
            .iter()
            .any(|variable| variable["label"] == "paused")
    );

    let swap_of_nothing = Vault::swapExactTokensForTokensCall {
        _tokenIn: Address::ZERO,
        _tokenOut: Address::ZERO,
        _amountIn: U256::ZERO,
        _minAmountOut: U256::ZERO,
    };
    let data = hex::encode_prefixed(swap_of_nothing.abi_encode());
    let call = json!({"from": node.account(0), "to": VAULT, "data": data, "gas": "0x7a120"});
    let hash = node.rpc("eth_sendTransaction", json!([call])).await;
    let trace = node.rpc("tetrad_stackTrace", json!([hash])).await;
    let file = trace["frames"][0]["file"].as_str().unwrap();
    assert!(file.starts_with("src/exchange/"), "{trace}");
    node.end().await;
}

#[tokio::test]
async fn invalid_requests_name_the_mistake_and_unknown_items_are_not_found() {
    let node = node_with(|_| {}).await;
    let nothing = format!("{:#066x}", 1);
    for path in [
        "/api/v2/addresses/0x12".to_owned(),
        "/api/v2/transactions/0x12".to_owned(),
        "/api/v2/blocks/x".to_owned(),
        format!("/api/v2/addresses/{STRANGER}/transactions?filter=up"),
        format!("/api/v2/addresses/{STRANGER}/token-transfers?type=ERC-1"),
        format!("/api/v2/addresses/{STRANGER}/transactions?block_number=-1"),
    ] {
        let response = node.get(&path).await;
        assert_eq!(response.status(), 400, "{path}");
        assert_eq!(
            response.json::<Value>().await.unwrap()["error"],
            "invalid_parameter",
            "{path}"
        );
    }

    for path in [
        format!("/api/v2/transactions/{nothing}"),
        format!("/api/v2/transactions/{nothing}/logs"),
        format!("/api/v2/blocks/{nothing}"),
        "/api/v2/blocks/99999999".to_owned(),
        format!("/api/v2/tokens/{STRANGER}"),
        format!("/api/v2/tokens/{STRANGER}/holders"),
        format!("/api/v2/tokens/{}/instances/1", token("WETH").address),
        "/api/v2/nothing".to_owned(),
    ] {
        assert_eq!(node.get(&path).await.status(), 404, "{path}");
    }
    node.end().await;

    let without = node_with(|config| config.no_explorer = true).await;
    assert_eq!(
        without
            .get(&format!("/api/v2/addresses/{STRANGER}"))
            .await
            .status(),
        404
    );
    without.end().await;
}

#[tokio::test]
async fn structs_are_decoded_as_lists_of_their_members() {
    let node = node_with(|_| {}).await;
    let multicall = address!("0xcA11bde05977b3631167028862bE2a173976CA11");
    let call = Call3 {
        target: STRANGER,
        allowFailure: true,
        callData: Bytes::from_static(&[1, 2]),
    };
    let input = aggregate3Call { calls: vec![call] }.abi_encode();
    let hash = node
        .submit(node.account(0), Some(multicall), 0, input)
        .await;
    let whole = node.get_json(&format!("/api/v2/transactions/{hash}")).await;
    let parameter = &whole["decoded_input"]["parameters"][0];
    assert_eq!(
        parameter["value"],
        json!([[STRANGER.to_checksum(None), "true", "0x0102"]]),
        "{whole}"
    );
    node.end().await;
}

/// In 48 KB, a thousand offsets lead to the same 16 KB.
#[tokio::test]
async fn call_data_with_overlapping_offsets_is_shown_undecoded() {
    let node = node_with(|_| {}).await;
    let multicall = address!("0xcA11bde05977b3631167028862bE2a173976CA11");
    let word = |number: usize| U256::from(number).to_be_bytes::<32>();
    let call = [
        &word(0)[..],
        &word(1),
        &word(96),
        &word(16_000),
        &[7; 16_000],
    ]
    .concat();
    let offsets: Vec<u8> = (0..1_000).flat_map(|_| word(32_000)).collect();
    let input = [
        &aggregate3Call::SELECTOR[..],
        &word(32),
        &word(1_000),
        &offsets,
        &call,
    ]
    .concat();
    let request = json!({"from": node.account(0), "to": multicall, "gas": "0x200000", "input": Bytes::from(input)});
    let hash = node.rpc("eth_sendTransaction", json!([request])).await;

    let whole = node
        .get_json(&format!("/api/v2/transactions/{}", hash.as_str().unwrap()))
        .await;
    assert!(
        whole["decoded_input"].is_null() && whole["method"] == "aggregate3",
        "{whole}"
    );
    assert!(whole.to_string().len() < 200_000);
    node.end().await;
}

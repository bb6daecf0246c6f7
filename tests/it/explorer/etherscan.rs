//! `/api?module=…&action=…`, as clients of Etherscan ask.

use std::ops::Range;

use alloy_primitives::{Address, Bytes, U256, hex, keccak256};
use alloy_sol_types::SolValue;
use serde_json::{Value, json};

use super::{STRANGER, each, tokens::deploy};
use crate::support::{
    TestNode,
    chain::{VAULT, token},
    node_with,
};

async fn ask(node: &TestNode, query: &str) -> Value {
    node.get_json(&format!("/api?{query}")).await
}

fn list(answer: &Value) -> &[Value] {
    assert_eq!(
        (&answer["status"], &answer["message"]),
        (&json!("1"), &json!("OK")),
        "{answer}"
    );
    answer["result"].as_array().unwrap()
}

#[tokio::test]
async fn an_account_has_balances_transactions_and_transfers() {
    let node = node_with(|_| {}).await;
    let from = node.account(0);
    let to = node.account(1);
    let first = node.submit(from, Some(STRANGER), 7, Bytes::new()).await;
    let second = node.pay("USDC", from, STRANGER, U256::from(9)).await;
    let balance = ask(
        &node,
        &format!("module=account&action=balance&address={STRANGER}&tag=latest"),
    )
    .await;
    assert_eq!(
        balance,
        json!({ "status": "1", "message": "OK", "result": "7" })
    );
    let many = ask(
        &node,
        &format!("module=account&action=balancemulti&address={STRANGER},{to}"),
    )
    .await;
    assert_eq!(each(list(&many), "balance")[0], "7");

    let sent = ask(
        &node,
        &format!("module=account&action=txlist&address={from}&sort=asc"),
    )
    .await;
    assert_eq!(each(list(&sent), "hash"), [&json!(first), &json!(second)]);
    let entry = &list(&sent)[1];
    for (name, value) in [
        ("isError", "0"),
        ("txreceipt_status", "1"),
        ("functionName", "transfer"),
        ("methodId", "0xa9059cbb"),
    ] {
        assert_eq!(entry[name], value, "{name}");
    }
    let page = ask(
        &node,
        &format!("module=account&action=txlist&address={from}&sort=asc&page=2&offset=1"),
    )
    .await;
    assert_eq!(each(list(&page), "hash"), [&json!(second)]);
    let block = list(&sent)[0]["blockNumber"].as_str().unwrap();
    let range =
        format!("module=account&action=txlist&address={from}&startblock={block}&endblock={block}");
    assert_eq!(
        each(list(&ask(&node, &range).await), "hash"),
        [&json!(first)]
    );

    let moved = ask(
        &node,
        &format!("module=account&action=tokentx&address={STRANGER}"),
    )
    .await;

    let entry = &list(&moved)[0];
    for (name, value) in [
        ("value", "9"),
        ("tokenSymbol", "USDC"),
        ("tokenDecimal", "6"),
        ("hash", &second),
    ] {
        assert_eq!(entry[name], value, "{name}");
    }

    let usdc = token("USDC").address;
    let held =
        format!("module=account&action=tokenbalance&contractaddress={usdc}&address={STRANGER}");
    assert_eq!(ask(&node, &held).await["result"], "9");

    let tokens = ask(
        &node,
        &format!("module=account&action=tokenlist&address={STRANGER}"),
    )
    .await;
    assert_eq!(each(list(&tokens), "symbol"), ["USDC"]);

    let holders = ask(
        &node,
        &format!("module=token&action=getTokenHolders&contractaddress={usdc}&offset=3"),
    )
    .await;
    assert_eq!(list(&holders).len(), 3);

    let about = ask(
        &node,
        &format!("module=token&action=getToken&contractaddress={usdc}"),
    )
    .await;
    assert_eq!(about["result"]["symbol"], "USDC");

    let none = ask(
        &node,
        "module=account&action=txlist&address=0x00000000000000000000000000000000000000bb",
    )
    .await;
    assert_eq!(
        none,
        json!({ "status": "0", "message": "No transactions found", "result": [] })
    );
    node.end().await;
}

#[tokio::test]
async fn blocks_logs_and_receipts_are_found() {
    let node = node_with(|_| {}).await;
    let hash = node
        .pay("USDC", node.account(0), STRANGER, U256::from(9))
        .await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    let usdc = token("USDC").address;
    let query = format!("module=logs&action=getLogs&fromBlock=0&toBlock=latest&address={usdc}");
    let logs = ask(&node, &query).await;
    let own = &receipt["logs"][0];
    for (name, same) in [
        ("data", "data"),
        ("transactionHash", "transactionHash"),
        ("logIndex", "logIndex"),
    ] {
        assert_eq!(list(&logs)[0][name], own[same], "{name}");
    }
    let topic = STRANGER.into_word();
    assert_eq!(
        list(&ask(&node, &format!("{query}&topic2={topic}")).await).len(),
        1
    );
    assert_eq!(
        ask(&node, &format!("{query}&topic1={topic}")).await["message"],
        "No records found"
    );

    let status = ask(
        &node,
        &format!("module=transaction&action=gettxreceiptstatus&txhash={hash}"),
    )
    .await;
    assert_eq!(status["result"], json!({ "status": "1" }));

    let block = node.chain().head().block.clone();
    let time = block.header.timestamp;
    let found = ask(
        &node,
        &format!("module=block&action=getblocknobytime&timestamp={time}&closest=before"),
    )
    .await;
    assert_eq!(found["result"]["blockNumber"], block.number().to_string());

    let after = ask(
        &node,
        &format!(
            "module=block&action=getblocknobytime&timestamp={}&closest=after",
            time + 1
        ),
    )
    .await;
    assert_eq!(
        (&after["status"], &after["message"]),
        (&json!("0"), &json!("NOTOK"))
    );

    let reward = ask(
        &node,
        &format!(
            "module=block&action=getblockreward&blockno={}",
            block.number()
        ),
    )
    .await;
    assert_eq!(reward["result"]["timeStamp"], time.to_string());

    node.end().await;
}

#[tokio::test]
async fn only_contracts_of_the_network_have_sources() {
    let node = node_with(|_| {}).await;

    let abi = ask(
        &node,
        &format!("module=contract&action=getabi&address={VAULT}"),
    )
    .await;
    let abi: Value = serde_json::from_str(abi["result"].as_str().unwrap()).unwrap();
    assert!(
        abi.as_array()
            .unwrap()
            .iter()
            .any(|item| item["name"] == "quoteSwap")
    );

    let source = ask(
        &node,
        &format!("module=contract&action=getsourcecode&address={VAULT}"),
    )
    .await;
    let source = &list(&source)[0];
    assert_eq!(source["ContractName"], "Vault");
    let input = source["SourceCode"].as_str().unwrap();
    let input: Value = serde_json::from_str(&input[1..input.len() - 1]).unwrap();
    assert!(input["sources"]["src/exchange/Vault.sol"]["content"].is_string());

    let none = ask(
        &node,
        &format!("module=contract&action=getabi&address={STRANGER}"),
    )
    .await;
    assert_eq!(
        none,
        json!({ "status": "0", "message": "NOTOK", "result": "Contract source code not verified" })
    );

    let none = ask(
        &node,
        &format!("module=contract&action=getsourcecode&address={STRANGER}"),
    )
    .await;
    assert_eq!(list(&none)[0]["ABI"], "Contract source code not verified");

    node.end().await;
}

#[tokio::test]
async fn the_proxy_module_answers_like_json_rpc() {
    let node = node_with(|_| {}).await;
    let hash = node
        .submit(node.account(0), Some(STRANGER), 1, Bytes::new())
        .await;

    let number = ask(&node, "module=proxy&action=eth_blockNumber").await;
    assert_eq!(
        number["result"],
        node.rpc("eth_blockNumber", json!([])).await
    );

    let block = ask(
        &node,
        "module=proxy&action=eth_getBlockByNumber&tag=latest&boolean=true",
    )
    .await;
    assert_eq!(block["result"]["transactions"][0]["hash"], json!(hash));

    let call = format!(
        "module=proxy&action=eth_call&to={}&data=0x313ce567&tag=latest",
        token("USDC").address
    );
    assert!(
        ask(&node, &call).await["result"]
            .as_str()
            .unwrap()
            .ends_with("06")
    );

    assert!(
        ask(
            &node,
            "module=proxy&action=eth_getCode&address=0x12&tag=latest"
        )
        .await["error"]
            .is_object()
    );

    node.end().await;
}

#[tokio::test]
async fn errors_have_status_zero() {
    let node = node_with(|_| {}).await;
    for query in [
        "",
        "module=account",
        "module=nothing&action=balance",
        "module=account&action=nothing",
        "module=proxy&action=anvil_mine",
        "module=account&action=balance",
        "module=account&action=txlist&address=0x12",
        "module=account&action=txlist&address=0x00000000000000000000000000000000000000bb&sort=up",
        "module=account&action=txlist&address=0x00000000000000000000000000000000000000bb&offset=10001",
        "module=logs&action=getLogs",
        "module=block&action=getblockreward&blockno=99999999",
        "module=transaction&action=getstatus&txhash=0x12",
    ] {
        let answer = ask(&node, query).await;
        assert_eq!(
            (&answer["status"], &answer["message"]),
            (&json!("0"), &json!("NOTOK")),
            "{query}: {answer}"
        );
        assert!(
            answer["result"]
                .as_str()
                .is_some_and(|what| !what.is_empty()),
            "{query}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn lists_are_oldest_first_unless_asked_otherwise() {
    let node = node_with(|_| {}).await;
    let from = node.account(0);
    let mut hashes = Vec::new();
    for value in 1..4 {
        hashes.push(json!(
            node.pay("USDC", from, STRANGER, U256::from(value)).await
        ));
    }

    let oldest_first: Vec<_> = hashes.iter().collect();
    let newest_first: Vec<_> = hashes.iter().rev().collect();

    for action in ["txlist", "tokentx"] {
        let query = format!("module=account&action={action}&address={from}");
        assert_eq!(
            each(list(&ask(&node, &query).await), "hash"),
            oldest_first,
            "{action}"
        );
        assert_eq!(
            each(
                list(&ask(&node, &format!("{query}&sort=asc")).await),
                "hash"
            ),
            oldest_first,
            "{action}"
        );
        assert_eq!(
            each(
                list(&ask(&node, &format!("{query}&sort=desc")).await),
                "hash"
            ),
            newest_first,
            "{action}"
        );
    }

    node.end().await;
}

/// The hashes of the items of a list of an account.
async fn hashes_of(node: &TestNode, address: Address, action: &str, filter: &str) -> Vec<Value> {
    let answer = ask(
        node,
        &format!("module=account&action={action}&address={address}&{filter}"),
    )
    .await;
    answer["result"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["hash"].clone())
        .collect()
}

#[tokio::test]
async fn lists_are_filtered_by_side_and_time() {
    let node = node_with(|_| {}).await;
    let from = node.account(0);
    let to = node.account(1);

    let mut hashes = Vec::new();
    let mut times = Vec::new();
    for (sender, recipient) in [(from, to), (to, from), (from, to)] {
        node.rpc("evm_increaseTime", json!([1_000])).await;
        hashes.push(json!(
            node.pay("USDC", sender, recipient, U256::from(1)).await
        ));
        times.push(node.chain().head().block.header.timestamp);
    }

    // The contract of the token, not its recipient, receives the transaction.
    assert_eq!(
        hashes_of(&node, from, "txlist", "filter_by=from").await,
        [hashes[0].clone(), hashes[2].clone()]
    );
    assert!(
        hashes_of(&node, from, "txlist", "filterby=to")
            .await
            .is_empty()
    );
    assert_eq!(
        hashes_of(&node, from, "tokentx", "filterby=from").await,
        [hashes[0].clone(), hashes[2].clone()]
    );
    assert_eq!(
        hashes_of(&node, from, "tokentx", "filter_by=to").await,
        [hashes[1].clone()]
    );

    let since = format!("start_timestamp={}", times[1]);
    assert_eq!(hashes_of(&node, from, "tokentx", &since).await, hashes[1..]);
    let until = format!("endtimestamp={}", times[1]);
    assert_eq!(hashes_of(&node, from, "tokentx", &until).await, hashes[..2]);
    let between = format!("{since}&{until}");
    assert_eq!(
        hashes_of(&node, from, "tokentx", &between).await,
        hashes[1..2]
    );
    let never = format!("starttimestamp={}&{until}", times[1] + 1);
    assert!(hashes_of(&node, from, "tokentx", &never).await.is_empty());
    assert!(
        hashes_of(&node, from, "tokentx", "end_timestamp=1")
            .await
            .is_empty()
    );

    let all = "endblock=latest&startblock=earliest";
    assert_eq!(hashes_of(&node, from, "tokentx", all).await, hashes);
    node.end().await;
}

/// The types and values of internal transactions.
fn types_and_values(items: &[Value]) -> Vec<(Value, Value)> {
    items
        .iter()
        .map(|item| (item["type"].clone(), item["value"].clone()))
        .collect()
}

#[tokio::test]
async fn internal_transactions_without_value_are_listed_on_request() {
    let node = node_with(|_| {}).await;
    // Calls 0xaa with the value of the call, and without any, and creates a contract.
    let code = hex!("5f5f5f5f5f60aa5af1505f5f5f5f3460aa5af1505f5f5ff05000");
    let caller = deploy(&node, &code).await;
    let hash = node
        .submit(node.account(0), Some(caller), 5, Bytes::new())
        .await;

    let all = node
        .all_items(&format!(
            "/api/v2/transactions/{hash}/internal-transactions"
        ))
        .await;
    let expected = [
        (json!("call"), json!("0")),
        (json!("call"), json!("5")),
        (json!("create"), json!("0")),
    ];
    assert_eq!(types_and_values(&all), expected);

    for query in [format!("txhash={hash}"), format!("address={caller}")] {
        let query = format!("module=account&action=txlistinternal&{query}");
        assert_eq!(
            types_and_values(list(&ask(&node, &query).await)),
            expected[1..],
            "{query}"
        );
        let whole = ask(&node, &format!("{query}&include_zero_value=true")).await;
        assert_eq!(types_and_values(list(&whole)), expected, "{query}");
    }

    // The calls of one transaction on one side of an account.
    let mut called = Address::ZERO;
    called[19] = 0xaa;
    for (address, side, expected) in [
        (caller, "from", &expected[..]),
        (caller, "to", &[]),
        (called, "to", &expected[..2]),
    ] {
        let query = format!("module=account&action=txlistinternal&txhash={hash}&address={address}");
        let found = ask(
            &node,
            &format!("{query}&filter_by={side}&include_zero_value=true"),
        )
        .await;
        assert_eq!(
            types_and_values(found["result"].as_array().unwrap()),
            expected,
            "{address} {side}"
        );
    }
    node.end().await;
}

/// Gives tokens of these ids to the stranger, one of each.
async fn give(node: &TestNode, token: Address, ids: Range<u64>) {
    let ids: Vec<_> = ids.map(U256::from).collect();
    let amounts = vec![U256::from(1); ids.len()];
    node.submit(
        node.account(0),
        Some(token),
        0,
        (ids, amounts).abi_encode_params(),
    )
    .await;
}

#[tokio::test]
async fn an_incomplete_list_of_tokens_is_an_error() {
    let node = node_with(|_| {}).await;
    // Logs long input as the ids and amounts of tokens that it gives to the stranger. Any other
    // call returns 1.
    let topic = keccak256("TransferBatch(address,address,address,uint256[],uint256[])");
    let gives = [
        &hex!("365f5f37 73")[..],
        STRANGER.as_slice(),
        &hex!("5f337f"),
        topic.as_slice(),
        &hex!("365fa400"),
    ];
    let code = [
        &hex!("608036106047 57")[..],
        &gives.concat(),
        &hex!("5b60015f5260205ff3"),
    ]
    .concat();

    let token = deploy(&node, &code).await;
    let query = format!("module=account&action=tokenlist&address={STRANGER}");

    give(&node, token, 0..1_000).await;
    let before = list(&ask(&node, &query).await).len();
    assert_eq!(before, 1_000);

    give(&node, token, 1_000..1_001).await;
    let answer = ask(&node, &query).await;
    let message = answer["result"].as_str().unwrap_or_default();
    assert!(message.contains("more than 1000 tokens"), "{answer}");
    node.end().await;
}

/// The message of a refused request.
async fn refusal(node: &TestNode, query: &str) -> String {
    let answer = ask(node, query).await;
    assert_eq!(
        (&answer["status"], &answer["message"]),
        (&json!("0"), &json!("NOTOK")),
        "{query}: {answer}"
    );
    answer["result"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_action_refuses_unknown_parameters() {
    let node = node_with(|_| {}).await;

    let own = format!("module=account&action=txlist&address={STRANGER}");
    let message = refusal(&node, &format!("{own}&filterBy=from")).await;
    assert!(
        message.starts_with(
            "Unknown parameter \"filterBy\": action txlist takes only address, startblock"
        ),
        "{message}"
    );

    let logs = format!("module=logs&action=getLogs&address={STRANGER}");
    assert!(
        refusal(&node, &format!("{logs}&startblock=1"))
            .await
            .contains("takes only address, fromBlock, toBlock")
    );
    assert!(
        refusal(&node, "module=block&action=eth_block_number&tag=latest")
            .await
            .ends_with("takes none")
    );

    let topics = format!("topic0={0}&topic1={0}&topic2={0}", STRANGER.into_word());
    assert!(
        refusal(
            &node,
            &format!("{logs}&{topics}&topic0_1_opr=or&topic1_2_opr=and")
        )
        .await
        .contains("all and, or all or")
    );

    let balance = format!("module=account&action=balance&address={STRANGER}");
    assert!(
        refusal(&node, &format!("{balance}&tag=0x1"))
            .await
            .contains("Invalid tag")
    );
    assert!(
        refusal(&node, &format!("{balance}&chainid=1"))
            .await
            .contains("this node's chain is 125")
    );

    assert!(
        refusal(&node, &format!("{own}&filter_by=both"))
            .await
            .contains("expected from or to")
    );
    assert!(
        refusal(&node, "module=proxy&action=eth_call&to=0x12&accessList=1")
            .await
            .contains("takes only to, from, data")
    );

    let accepted = ask(
        &node,
        &format!("{balance}&tag=latest&apikey=x&chainid=125&page="),
    )
    .await;
    assert_eq!(accepted["status"], "1");
    node.end().await;
}

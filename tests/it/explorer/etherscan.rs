//! `/api?module=…&action=…`, as clients of Etherscan ask.

use alloy_primitives::{Bytes, U256};
use serde_json::{Value, json};

use super::{STRANGER, each};
use crate::support::{
    TestNode,
    chain::{VAULT, token},
    node_with,
};

async fn ask(node: &TestNode, query: &str) -> Value {
    node.get_json(&format!("/api?{query}")).await
}

fn list(answer: &Value) -> &[Value] {
    assert_eq!((&answer["status"], &answer["message"]), (&json!("1"), &json!("OK")), "{answer}");
    answer["result"].as_array().unwrap()
}

#[tokio::test]
async fn an_account_has_balances_transactions_and_transfers() {
    let node = node_with(|_| {}).await;
    let (from, to) = (node.account(0), node.account(1));
    let first = node.submit(from, Some(STRANGER), 7, Bytes::new()).await;
    let second = node.pay("USDC", from, STRANGER, U256::from(9)).await;
    let balance = ask(&node, &format!("module=account&action=balance&address={STRANGER}&tag=latest")).await;
    assert_eq!(balance, json!({ "status": "1", "message": "OK", "result": "7" }));
    let many = ask(&node, &format!("module=account&action=balancemulti&address={STRANGER},{to}")).await;
    assert_eq!(each(list(&many), "balance")[0], "7");

    let sent = ask(&node, &format!("module=account&action=txlist&address={from}&sort=asc")).await;
    assert_eq!(each(list(&sent), "hash"), [&json!(first), &json!(second)]);
    let entry = &list(&sent)[1];
    for (name, value) in
        [("isError", "0"), ("txreceipt_status", "1"), ("functionName", "transfer"), ("methodId", "0xa9059cbb")]
    {
        assert_eq!(entry[name], value, "{name}");
    }
    let page = ask(&node, &format!("module=account&action=txlist&address={from}&sort=asc&page=2&offset=1")).await;
    assert_eq!(each(list(&page), "hash"), [&json!(second)]);
    let block = list(&sent)[0]["blockNumber"].as_str().unwrap();
    let range = format!("module=account&action=txlist&address={from}&startblock={block}&endblock={block}");
    assert_eq!(each(list(&ask(&node, &range).await), "hash"), [&json!(first)]);

    let moved = ask(&node, &format!("module=account&action=tokentx&address={STRANGER}")).await;
    let entry = &list(&moved)[0];
    for (name, value) in [("value", "9"), ("tokenSymbol", "USDC"), ("tokenDecimal", "6"), ("hash", &second)] {
        assert_eq!(entry[name], value, "{name}");
    }
    let usdc = token("USDC").address;
    let held = format!("module=account&action=tokenbalance&contractaddress={usdc}&address={STRANGER}");
    assert_eq!(ask(&node, &held).await["result"], "9");
    let tokens = ask(&node, &format!("module=account&action=tokenlist&address={STRANGER}")).await;
    assert_eq!(each(list(&tokens), "symbol"), ["USDC"]);
    let holders = ask(&node, &format!("module=token&action=getTokenHolders&contractaddress={usdc}&offset=3")).await;
    assert_eq!(list(&holders).len(), 3);
    let about = ask(&node, &format!("module=token&action=getToken&contractaddress={usdc}")).await;
    assert_eq!(about["result"]["symbol"], "USDC");

    let none = ask(&node, "module=account&action=txlist&address=0x00000000000000000000000000000000000000bb").await;
    assert_eq!(none, json!({ "status": "0", "message": "No transactions found", "result": [] }));
    node.end().await;
}

#[tokio::test]
async fn blocks_logs_and_receipts_are_found() {
    let node = node_with(|_| {}).await;
    let hash = node.pay("USDC", node.account(0), STRANGER, U256::from(9)).await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    let usdc = token("USDC").address;
    let query = format!("module=logs&action=getLogs&fromBlock=0&toBlock=latest&address={usdc}");
    let logs = ask(&node, &query).await;
    let own = &receipt["logs"][0];
    for (name, same) in [("data", "data"), ("transactionHash", "transactionHash"), ("logIndex", "logIndex")] {
        assert_eq!(list(&logs)[0][name], own[same], "{name}");
    }
    let topic = STRANGER.into_word();
    assert_eq!(list(&ask(&node, &format!("{query}&topic2={topic}")).await).len(), 1);
    assert_eq!(ask(&node, &format!("{query}&topic1={topic}")).await["message"], "No records found");

    let status = ask(&node, &format!("module=transaction&action=gettxreceiptstatus&txhash={hash}")).await;
    assert_eq!(status["result"], json!({ "status": "1" }));
    let block = node.chain().head().block.clone();
    let time = block.header.timestamp;
    let found = ask(&node, &format!("module=block&action=getblocknobytime&timestamp={time}&closest=before")).await;
    assert_eq!(found["result"]["blockNumber"], block.number().to_string());
    let after = ask(&node, &format!("module=block&action=getblocknobytime&timestamp={}&closest=after", time + 1)).await;
    assert_eq!((&after["status"], &after["message"]), (&json!("0"), &json!("NOTOK")));
    let reward = ask(&node, &format!("module=block&action=getblockreward&blockno={}", block.number())).await;
    assert_eq!(reward["result"]["timeStamp"], time.to_string());
    node.end().await;
}

#[tokio::test]
async fn sources_are_known_of_the_networks_contracts_only() {
    let node = node_with(|_| {}).await;
    let abi = ask(&node, &format!("module=contract&action=getabi&address={VAULT}")).await;
    let abi: Value = serde_json::from_str(abi["result"].as_str().unwrap()).unwrap();
    assert!(abi.as_array().unwrap().iter().any(|item| item["name"] == "quoteSwap"));
    let source = ask(&node, &format!("module=contract&action=getsourcecode&address={VAULT}")).await;
    let source = &list(&source)[0];
    assert_eq!(source["ContractName"], "Vault");
    let input = source["SourceCode"].as_str().unwrap();
    let input: Value = serde_json::from_str(&input[1..input.len() - 1]).unwrap();
    assert!(input["sources"]["src/exchange/Vault.sol"]["content"].is_string());
    let none = ask(&node, &format!("module=contract&action=getabi&address={STRANGER}")).await;
    assert_eq!(none, json!({ "status": "0", "message": "NOTOK", "result": "Contract source code not verified" }));
    let none = ask(&node, &format!("module=contract&action=getsourcecode&address={STRANGER}")).await;
    assert_eq!(list(&none)[0]["ABI"], "Contract source code not verified");
    node.end().await;
}

#[tokio::test]
async fn the_proxy_answers_like_json_rpc() {
    let node = node_with(|_| {}).await;
    let hash = node.submit(node.account(0), Some(STRANGER), 1, Bytes::new()).await;
    let number = ask(&node, "module=proxy&action=eth_blockNumber").await;
    assert_eq!(number["result"], node.rpc("eth_blockNumber", json!([])).await);
    let block = ask(&node, "module=proxy&action=eth_getBlockByNumber&tag=latest&boolean=true").await;
    assert_eq!(block["result"]["transactions"][0]["hash"], json!(hash));
    let call = format!("module=proxy&action=eth_call&to={}&data=0x313ce567&tag=latest", token("USDC").address);
    assert!(ask(&node, &call).await["result"].as_str().unwrap().ends_with("06"));
    assert!(ask(&node, "module=proxy&action=eth_getCode&address=0x12&tag=latest").await["error"].is_object());
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
        assert_eq!((&answer["status"], &answer["message"]), (&json!("0"), &json!("NOTOK")), "{query}: {answer}");
        assert!(answer["result"].as_str().is_some_and(|what| !what.is_empty()), "{query}");
    }
    node.end().await;
}

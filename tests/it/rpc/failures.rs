//! Reasons of failed calls, and the record of them.

use alloy::{
    primitives::{Address, U256, hex},
    sol_types::{SolCall, SolError},
};
use serde_json::{Value, json};
use tetrad::{Config, config::Profile};
use tetrad_contracts::contracts::bindings::{Token, TokenErrors};

use crate::support::{
    TestNode,
    chain::token,
    manual_clock, node, node_at, node_with,
    sign::{raw, transfer},
};

/// A transfer of more than the account has.
fn too_much(node: &TestNode) -> Value {
    let call = Token::transferCall {
        to: Address::with_last_byte(9),
        value: U256::MAX,
    };
    json!({"from": node.account(0), "to": token("USDC").address, "data": hex::encode_prefixed(call.abi_encode())})
}

fn balance_error(node: &TestNode, balance: u64) -> (String, String) {
    let sender = node.account(0);
    let needed = U256::MAX;
    let error = TokenErrors::ERC20InsufficientBalance {
        sender,
        balance: U256::from(balance),
        needed,
    };
    let text =
        format!("ERC20InsufficientBalance(sender: {sender}, balance: {balance}, needed: {needed})");
    (text, hex::encode_prefixed(error.abi_encode()))
}

#[tokio::test]
async fn a_custom_error_of_a_known_contract_is_named_in_the_message() {
    let node = node().await;
    let (text, data) = balance_error(&node, 250_000_000_000);
    let expected =
        json!({"code": 3, "message": format!("execution reverted: {text}"), "data": data});
    let request = too_much(&node);
    assert_eq!(
        node.rpc_error("eth_call", json!([request, "latest"])).await,
        expected
    );
    assert_eq!(
        node.rpc_error("eth_estimateGas", json!([request])).await,
        expected
    );
    assert_eq!(
        node.rpc_error("eth_sendTransaction", json!([request]))
            .await,
        expected
    );
    let throwing = node_with(|config| config.rpc.throw_on_transaction_failure = true).await;
    let mut with_gas = request.clone();
    with_gas["gas"] = json!("0x186a0");
    let error = throwing
        .rpc_error("eth_sendTransaction", json!([with_gas]))
        .await;
    assert_eq!(error["message"], expected["message"], "{error}");
}

#[tokio::test]
async fn failed_calls_are_recorded_newest_first_for_tracing() {
    let clock = manual_clock();
    let node = node_at(clock.clone(), |_| {}).await;
    assert_eq!(node.rpc("tetrad_failedCalls", json!([])).await, json!([]));

    node.send_wei(0).await;
    let request = too_much(&node);
    let (text, data) = balance_error(&node, 250_000_000_000);

    let overrides = json!({"0x0000000000000000000000000000000000000009": {"balance": "0x1"}});
    node.rpc_error("eth_call", json!([request, "latest", overrides]))
        .await;
    node.rpc("eth_call", json!([{"to": Address::ZERO}, "latest"]))
        .await;
    node.rpc_error("eth_call", json!([{"to": "nobody"}, "latest"]))
        .await;
    node.rpc_error("eth_estimateGas", json!([request, "0x0"]))
        .await;

    let unsigned = json!({"from": Address::with_last_byte(7), "to": Address::ZERO});
    node.rpc_error("eth_sendTransaction", json!([unsigned]))
        .await;

    let batch =
        json!([{"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [request, "earliest"]}]);
    node.post(batch.to_string()).await;

    let failed = node.rpc("tetrad_failedCalls", json!([])).await;
    let failed = failed.as_array().unwrap();
    let methods: Vec<_> = failed
        .iter()
        .map(|call| call["method"].as_str().unwrap())
        .collect();
    assert_eq!(
        methods,
        [
            "eth_call",
            "eth_sendTransaction",
            "eth_estimateGas",
            "eth_call"
        ]
    );

    let blocks: Vec<_> = failed
        .iter()
        .map(|call| call["block"].as_str().unwrap())
        .collect();
    assert_eq!(blocks, ["earliest", "0x1", "0x0", "0x1"]);

    let expected = json!({
        "time": failed[3]["time"],
        "method": "eth_call",
        "call": request,
        "block": "0x1",
        "stateOverrides": overrides,
        "blockOverrides": null,
        "code": 3,
        "error": format!("execution reverted: {text}"),
        "data": data,
        "reason": text,
    });
    assert_eq!(failed[3], expected);

    assert_eq!(failed[1]["call"], unsigned);
    assert_eq!(
        (&failed[1]["reason"], &failed[1]["data"]),
        (&json!(null), &json!(null))
    );

    let trace = node
        .rpc(
            "debug_traceCall",
            json!([failed[3]["call"], failed[3]["block"], {"tracer": "callTracer"}]),
        )
        .await;
    assert_eq!(trace["output"], data, "{trace}");

    clock.advance(3_600_000);
    node.rpc_error("eth_call", json!([request])).await;
    clock.advance(1);
    assert_eq!(
        node.rpc("tetrad_failedCalls", json!([]))
            .await
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn a_refused_raw_transaction_is_recorded_in_decoded_form() {
    let node = node().await;
    let signed = raw(transfer(0), 0);
    node.rpc("eth_sendRawTransaction", json!([signed])).await;
    node.rpc_error("eth_sendRawTransaction", json!([signed]))
        .await;
    node.rpc_error("eth_sendRawTransaction", json!(["0x02c0"]))
        .await;
    let failed = node.rpc("tetrad_failedCalls", json!([])).await;
    let recorded = failed.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&recorded["method"], &recorded["code"]),
        (&json!("eth_sendRawTransaction"), &json!(-32_000)),
        "{recorded}"
    );
    assert_eq!(recorded["call"]["from"], json!(node.account(0)));
    assert_eq!(recorded["call"]["nonce"], "0x0");
    node.rpc("eth_call", json!([recorded["call"], recorded["block"]]))
        .await;
}

#[tokio::test]
async fn production_nodes_record_no_failures() {
    let node = node_with(|config| {
        *config = Config {
            listen: config.listen,
            ws_listen: None,
            quiet: true,
            ..Config::of(Profile::Production)
        };
    })
    .await;
    for method in ["tetrad_failedCalls", "tetrad_snapshots", "tetrad_snapshot"] {
        assert_eq!(
            node.rpc_error(method, json!([])).await["code"],
            -32601,
            "{method}"
        );
    }
}

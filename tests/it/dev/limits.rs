//! Limits that settings lift.

use std::path::Path;

use serde_json::{Value, json};
use tetrad::Node;

use crate::support::{TestNode, node, node_with, number};

/// A transfer with this gas limit.
fn transfer(node: &TestNode, gas: u64) -> Value {
    json!([{"from": node.account(0), "to": node.account(1), "value": "0x1", "gas": format!("{gas:#x}")}])
}

#[tokio::test]
async fn a_transaction_may_have_the_gas_limit_of_its_block_unless_it_is_capped() {
    let (free, capped) = tokio::join!(
        node(),
        node_with(|config| config.enable_tx_gas_limit = Some(true))
    );
    let hash = free
        .rpc("eth_sendTransaction", transfer(&free, 60_000_000))
        .await;
    let receipt = free.rpc("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["status"], "0x1");
    // The transaction can be executed again.
    let trace = free
        .rpc(
            "debug_traceTransaction",
            json!([hash, {"tracer": "callTracer"}]),
        )
        .await;
    assert_eq!(number(&trace["gas"]), 60_000_000);

    let error = capped
        .rpc_error("eth_sendTransaction", transfer(&capped, 60_000_000))
        .await;
    assert_eq!(
        error["message"],
        "transaction gas limit too high (cap: 16777216, tx: 60000000)"
    );
    // Code that never ends.
    let forever = json!([{"from": capped.account(0), "data": "0x5b5f56"}]);
    let error = capped.rpc_error("eth_estimateGas", forever).await;
    assert_eq!(
        error["message"],
        "gas required exceeds allowance (16777216)"
    );
}

/// Code that creates a contract of this many zero bytes, after as many bytes that are not executed.
fn creation(size: u16, padding: usize) -> String {
    format!("0x61{size:04x}5ff3{}", "00".repeat(padding))
}

#[tokio::test]
async fn contracts_have_any_size_without_the_limit() {
    let create = |node: &TestNode, code: &str| json!([{"from": node.account(0), "data": code, "gas": "0x2625a00"}]);
    let large = creation(30_000, 0);
    let long = creation(1, 150_000);
    let (limited, free) = tokio::join!(
        node(),
        node_with(|config| config.disable_code_size_limit = true)
    );
    let hash = limited
        .rpc("eth_sendTransaction", create(&limited, &large))
        .await;
    assert_eq!(
        limited
            .rpc("eth_getTransactionReceipt", json!([hash]))
            .await["status"],
        "0x0"
    );
    let error = limited
        .rpc_error(
            "eth_sendTransaction",
            create(&limited, &creation(1, 50_000)),
        )
        .await;
    assert_eq!(
        error["message"],
        "max initcode size exceeded: code size 50005, limit 49152"
    );

    for (code, size) in [(&large, 30_000), (&long, 1)] {
        let hash = free.rpc("eth_sendTransaction", create(&free, code)).await;
        let receipt = free.rpc("eth_getTransactionReceipt", json!([hash])).await;
        assert_eq!(receipt["status"], "0x1");
        let code = free
            .rpc("eth_getCode", json!([receipt["contractAddress"], "latest"]))
            .await;
        assert_eq!(code.as_str().unwrap().len(), 2 + 2 * size);
    }
}

fn config_in(directory: &Path) -> tetrad::Config {
    tetrad::Config {
        data_dir: Some(directory.to_owned()),
        ..tetrad::Config::test()
    }
}

#[tokio::test]
async fn a_chain_keeps_the_contract_size_limit_of_its_creation() {
    let directory = tempfile::tempdir().unwrap();
    let free = tetrad::Config {
        disable_code_size_limit: true,
        ..config_in(directory.path())
    };
    Node::spawn(free).await.unwrap().shut_down().await.unwrap();

    let started = Node::spawn(config_in(directory.path())).await;
    let error = started.err().unwrap().to_string();
    assert!(
        error.contains("--disable-code-size-limit true, not unset"),
        "{error}"
    );
}

#[tokio::test]
async fn a_block_holds_any_gas_without_the_limit() {
    let create = |node: &TestNode| json!([{"from": node.account(0), "data": creation(6_000, 0), "gas": "0x200000"}]);
    let small = |config: &mut tetrad::Config| config.gas_limit = 1_000_000;
    let free = node_with(|config| {
        small(config);
        config.disable_block_gas_limit = true;
    });
    let (limited, free) = tokio::join!(node_with(small), free);
    assert_eq!(
        limited
            .rpc_error("eth_sendTransaction", create(&limited))
            .await["message"],
        "exceeds block gas limit"
    );

    let hash = free.rpc("eth_sendTransaction", create(&free)).await;
    let block = free.latest().await;
    assert_eq!(block["transactions"], json!([hash]));
    assert!(
        number(&block["gasUsed"]) > number(&block["gasLimit"]),
        "{block}"
    );
    let trace = free
        .rpc(
            "debug_traceTransaction",
            json!([hash, {"tracer": "callTracer"}]),
        )
        .await;
    assert_eq!(trace["error"], Value::Null);
    // The base fee rises as after a full block.
    let next = free
        .rpc("eth_getBlockByNumber", json!(["pending", false]))
        .await;
    assert_eq!(
        number(&next["baseFeePerGas"]),
        number(&block["baseFeePerGas"]) * 9 / 8
    );
}

#[tokio::test]
async fn a_failing_transaction_is_an_error_if_configured() {
    let (calm, strict) = tokio::join!(
        node(),
        node_with(|config| config.rpc.throw_on_transaction_failure = true)
    );

    // Reverts with the byte 7, halts, and succeeds.
    let reverts = "0x600760005360016000fd";
    let halts = "0xfe";
    let succeeds = "0x00";
    let send = |node: &TestNode, code: &str| json!([{"from": node.account(0), "data": code, "gas": "0x30000"}]);

    for code in [reverts, halts, succeeds] {
        calm.rpc("eth_sendTransaction", send(&calm, code)).await;
    }
    strict
        .rpc("eth_sendTransaction", send(&strict, succeeds))
        .await;

    for (code, kind, message, data) in [
        (reverts, 3, "execution reverted", "0x07"),
        (halts, -32_000, "invalid opcode: INVALID", "0x"),
    ] {
        let error = strict
            .rpc_error("eth_sendTransaction", send(&strict, code))
            .await;
        let hash = strict.latest().await["transactions"][0].clone();
        let expected = json!({"message": message, "txHash": hash, "data": data});
        assert_eq!(
            error,
            json!({"code": kind, "message": message, "data": expected})
        );

        assert_eq!(
            strict.rpc("eth_getTransactionReceipt", json!([hash])).await["status"],
            "0x0"
        );
    }

    // A pending transaction has not failed.
    strict.rpc("evm_setAutomine", json!([false])).await;
    strict
        .rpc("eth_sendTransaction", send(&strict, halts))
        .await;
}

//! `eth_simulateV1` on a development chain.

use serde_json::{Value, json};

use crate::support::{TestNode, node, number};

const COIN: &str = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const A: &str = "0x00000000000000000000000000000000000000a1";
const B: &str = "0x00000000000000000000000000000000000000b2";
const C: &str = "0x00000000000000000000000000000000000000c3";

async fn simulate(node: &TestNode, payload: Value) -> Value {
    node.rpc("eth_simulateV1", json!([payload, "latest"])).await
}

#[tokio::test]
async fn blocks_build_on_each_other_and_gaps_are_filled() {
    let node = node().await;
    let head = node.chain().head();
    let number_now = head.number();
    let time = head.block.header.timestamp;

    let blocks = simulate(
        &node,
        json!({"blockStateCalls": [
            {"stateOverrides": {A: {"balance": "0x64"}}, "calls": [{"from": A, "to": B, "value": "0x64"}]},
            {"blockOverrides": {"number": format!("{:#x}", number_now + 4), "time": format!("{:#x}", time + 100)},
             "calls": [{"from": B, "to": C, "value": "0x63"}]},
        ]}),
    )
    .await;

    let blocks = blocks.as_array().unwrap();
    let numbers: Vec<_> = blocks
        .iter()
        .map(|block| number(&block["number"]) as u64 - number_now)
        .collect();
    let times: Vec<_> = blocks
        .iter()
        .map(|block| number(&block["timestamp"]) as u64 - time)
        .collect();
    assert_eq!((numbers, times), (vec![1, 2, 3, 4], vec![12, 24, 36, 100]));

    assert_eq!(blocks[0]["parentHash"], json!(head.block.hash));
    assert!(
        blocks
            .windows(2)
            .all(|two| two[1]["parentHash"] == two[0]["hash"])
    );
    assert_eq!(blocks[3]["calls"][0]["status"], "0x1");

    // The simulation changes nothing.
    assert_eq!(node.chain().head().number(), number_now);
    assert_eq!(
        node.rpc("eth_getBalance", json!([C, "latest"])).await,
        "0x0"
    );
}

/// The amounts of the transfers in a call's logs.
fn transferred(block: &Value, call: &Value) -> Vec<u128> {
    let logs = call["logs"].as_array().unwrap();
    assert!(
        logs.iter()
            .all(|log| log["address"] == COIN && log["blockHash"] == block["hash"])
    );
    logs.iter().map(|log| number(&log["data"])).collect()
}

#[tokio::test]
async fn transfers_produce_logs_unless_they_are_reverted() {
    let node = node().await;
    // Sends 1 wei on to C; then reverts if it was called with data.
    let code = format!("0x5f5f5f5f600173{}5af15036602357005b5f5ffd", &C[2..]);
    let overrides = json!({A: {"balance": "0xff"}, B: {"code": code}});
    let calls = json!([
        {"from": A, "to": B, "value": "0x2"},
        {"from": A, "to": B, "value": "0x3", "data": "0x01"},
        {"from": A, "to": C, "value": "0x4"},
    ]);

    let payload = |trace: bool| json!({"blockStateCalls": [{"stateOverrides": overrides, "calls": calls}], "traceTransfers": trace});
    let blocks = simulate(&node, payload(true)).await;
    let calls = blocks[0]["calls"].as_array().unwrap();

    let amounts = |index: usize| transferred(&blocks[0], &calls[index]);
    assert_eq!(
        (amounts(0), amounts(1), amounts(2)),
        (vec![2, 1], vec![], vec![4])
    );
    assert_eq!(
        (&calls[1]["status"], &calls[1]["error"]["code"]),
        (&json!("0x0"), &json!(3))
    );
    assert_eq!(calls[2]["logs"][0]["logIndex"], "0x2");

    // They are not part of the block.
    assert_eq!(
        simulate(&node, payload(false)).await[0]["hash"],
        blocks[0]["hash"]
    );
}

#[tokio::test]
async fn each_invalid_simulation_has_its_own_code() {
    let node = node().await;
    let from = node.account(0);

    let block = |number: u64| json!({"blockOverrides": {"number": format!("{number:#x}")}});
    let call = |call: Value| json!({"calls": [call]});

    let cases = [
        (false, json!([block(9), block(8)]), -38020),
        (
            false,
            json!([{"blockOverrides": {"time": "0xffffffff"}}, {"blockOverrides": {"time": "0xfffffffe"}}]),
            -38021,
        ),
        (false, json!([block(500)]), -38026),
        (
            true,
            json!([call(
                json!({"from": from, "nonce": "0x7", "maxFeePerGas": "0xffffffffff"})
            )]),
            -38011,
        ),
        (true, json!([call(json!({"from": from, "to": A}))]), -38012),
        (
            false,
            json!([call(json!({"from": from, "to": A, "gas": "0x5207"}))]),
            -38013,
        ),
        (
            false,
            json!([call(json!({"from": A, "to": B, "value": "0x1"}))]),
            -38014,
        ),
        (
            false,
            json!([{"blockOverrides": {"gasLimit": "0x5208"}, "calls": [{"to": A, "gas": "0x5209"}]}]),
            -38015,
        ),
        (
            false,
            json!([call(
                json!({"from": from, "data": format!("0x{}", "00".repeat(50_000))})
            )]),
            -38025,
        ),
        (
            false,
            json!([{"stateOverrides": {A: {"movePrecompileToAddress": B}}}]),
            -32000,
        ),
        (false, json!([]), -32602),
        (
            false,
            json!([{"stateOverrides": {A: {"state": {}, "stateDiff": {}}}}]),
            -32602,
        ),
    ];

    for (validation, blocks, code) in cases {
        let payload = json!({"blockStateCalls": blocks, "validation": validation});

        let error = node
            .rpc_error("eth_simulateV1", json!([payload, "latest"]))
            .await;
        assert_eq!(error["code"], code, "{error}");
    }
}

#[tokio::test]
async fn a_moved_precompile_works_at_its_new_address() {
    let node = node().await;
    let identity = "0x0000000000000000000000000000000000000004";
    let overrides = json!({identity: {"movePrecompileToAddress": A}});
    for (to, output) in [(A, "0x0102"), (identity, "0x")] {
        let call = json!({"to": to, "data": "0x0102"});
        assert_eq!(
            node.rpc("eth_call", json!([call, "latest", overrides]))
                .await,
            output
        );
        let blocks = simulate(
            &node,
            json!({"blockStateCalls": [{"stateOverrides": overrides, "calls": [call]}]}),
        )
        .await;
        assert_eq!(blocks[0]["calls"][0]["returnData"], output);
    }
}

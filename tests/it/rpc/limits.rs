//! Executions stay within limits of time, gas and size, and errors name the limit.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{TestNode, node, node_with};

/// JUMPDEST, PUSH0, JUMP: for ever.
const LOOP: &str = "0x5b5f56";
const AT: &str = "0x00000000000000000000000000000000000000aa";

async fn node_with_short_timeout() -> TestNode {
    node_with(|config| {
        config.rpc.execution_timeout = Duration::from_millis(5);
        config.rpc.gas_cap = 1 << 40;
    })
    .await
}

fn assert_message_contains(error: &Value, words: &str) {
    assert!(
        error["message"].as_str().unwrap().contains(words),
        "{error}"
    );
}

#[tokio::test]
async fn every_execution_has_a_time_limit() {
    let node = node_with_short_timeout().await;
    let call = json!({"to": AT, "gas": "0xffffffffff"});
    let code = json!({AT: {"code": LOOP}});

    assert_message_contains(
        &node
            .rpc_error("eth_call", json!([call, "latest", code]))
            .await,
        "timeout",
    );

    let creation = json!({"data": LOOP, "gas": "0xffffffffff"});
    assert_message_contains(
        &node
            .rpc_error("eth_createAccessList", json!([creation, "latest"]))
            .await,
        "timeout",
    );

    let options = json!({"tracer": "callTracer", "stateOverrides": code});
    assert_message_contains(
        &node
            .rpc_error("debug_traceCall", json!([call, "latest", options]))
            .await,
        "timeout",
    );

    assert_message_contains(
        &node
            .rpc_error("trace_call", json!([call, ["trace"], "latest", code]))
            .await,
        "timeout",
    );

    let block = json!({"blockOverrides": {"gasLimit": "0xffffffffffff"}, "stateOverrides": code, "calls": [call]});
    let error = node
        .rpc_error(
            "eth_simulateV1",
            json!([{"blockStateCalls": [block]}, "latest"]),
        )
        .await;
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32016), &json!("execution timeout"))
    );

    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");
}

#[tokio::test]
async fn an_oversized_trace_is_refused() {
    let node = node_with(|config| config.rpc.max_trace_bytes = 20_000).await;
    let options = |limit: u64| json!({"limit": limit, "stateOverrides": {AT: {"code": LOOP}}});
    let call = json!({"to": AT, "gas": "0x5fff"});
    assert_message_contains(
        &node
            .rpc_error("debug_traceCall", json!([call, "latest", options(0)]))
            .await,
        "exceeds 20000 bytes",
    );
    let traced = node
        .rpc("debug_traceCall", json!([call, "latest", options(10)]))
        .await;
    assert_eq!(traced["structLogs"].as_array().unwrap().len(), 10);
    assert_eq!(traced["failed"], true);
}

fn with_options(mut options: Value, more: Value) -> Value {
    let members = more.as_object().unwrap().clone();
    options.as_object_mut().unwrap().extend(members);
    options
}

/// The lines of the trace of a call.
async fn lines(node: &TestNode, options: Value) -> Vec<Value> {
    let call = json!({"to": AT, "gas": "0x1ffff"});
    node.rpc("debug_traceCall", json!([call, "latest", options]))
        .await["structLogs"]
        .as_array()
        .unwrap()
        .clone()
}

#[tokio::test]
async fn a_long_trace_is_read_in_parts() {
    let node = node().await;
    // Stores 1 in slot 0 and 2 in slot 1, and reads slot 0.
    let code = "0x60015f5560026001555f545000";
    let whole = json!({"stateOverrides": {AT: {"code": code}}});
    let part = |more: Value| lines(&node, with_options(whole.clone(), more));

    let all = lines(&node, whole.clone()).await;
    assert_eq!(all.len(), 10);
    assert_eq!(part(json!({"offset": 4, "limit": 3})).await, all[4..7]);
    assert_eq!(part(json!({"offset": 4})).await, all[4..]);
    assert!(part(json!({"offset": 10})).await.is_empty());

    // The slots of steps before the part are known in it.
    let last_read = &part(json!({"offset": 7, "limit": 1, "stackLimit": 1})).await[0];
    assert_eq!(last_read["op"], "SLOAD");
    assert_eq!(last_read["storage"].as_object().unwrap().len(), 2);

    assert_eq!(
        part(json!({"offset": 5, "limit": 1, "stackLimit": 1})).await[0]["stack"],
        json!(["0x1"])
    );
    assert_eq!(
        part(json!({"offset": 5, "limit": 1, "stackLimit": 9})).await[0]["stack"],
        json!(["0x2", "0x1"])
    );
}

#[tokio::test]
async fn an_access_list_fails_if_no_block_has_enough_gas() {
    let node = node_with(|config| config.rpc.gas_cap = 1_000_000).await;
    let creation = json!({"data": LOOP});
    let error = node
        .rpc_error("eth_createAccessList", json!([creation, "latest"]))
        .await;
    assert_message_contains(&error, "gas required exceeds allowance (1000000)");
    let with_gas = json!({"data": LOOP, "gas": "0x186a0"});
    assert_eq!(
        node.rpc("eth_createAccessList", json!([with_gas, "latest"]))
            .await["error"],
        "out of gas"
    );
}

/// Such code once ended the request with a panic.
#[tokio::test]
async fn code_that_resembles_a_delegation_is_code() {
    let node = node().await;
    for code in [
        "0xef01",
        "0xef0100",
        "0xef0100aa",
        "0xef0101000000000000000000000000000000000000000000",
    ] {
        let overrides = json!({AT: {"code": code}});
        let error = node
            .rpc_error("eth_call", json!([{"to": AT}, "latest", overrides]))
            .await;
        assert_message_contains(&error, "invalid opcode");
        let blocks = json!({"blockStateCalls": [{"stateOverrides": overrides, "calls": [{"to": AT, "gas": "0xffff"}]}]});
        let simulated = node.rpc("eth_simulateV1", json!([blocks, "latest"])).await;
        assert_eq!(simulated[0]["calls"][0]["error"]["code"], -32015);
    }
}

#[tokio::test]
async fn invalid_options_of_traces_are_named() {
    let node = node().await;
    for (options, data) in [
        (
            json!({"tracer": "stepTracer"}),
            "params[2]: tracer: no \"stepTracer\"; one of callTracer",
        ),
        (
            json!({"timeout": "soon"}),
            "params[2]: timeout: expected a duration such as 300ms, 5s or 2m, got soon",
        ),
        (
            json!({"tracer": "muxTracer", "tracerConfig": {"muxTracer": {}}}),
            "params[2]: tracerConfig",
        ),
        (json!({"limit": -1}), "params[2]: invalid value"),
        (
            json!("callTracer"),
            "params[2]: expected an object, got a string",
        ),
    ] {
        let error = node
            .rpc_error("debug_traceCall", json!([{"to": AT}, "latest", options]))
            .await;
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error["data"].as_str().unwrap().starts_with(data), "{error}");
    }

    if cfg!(not(feature = "js-tracer")) {
        let options = json!({"tracer": "{result: () => 1, fault: () => {}}"});
        let error = node
            .rpc_error("debug_traceCall", json!([{"to": AT}, "latest", options]))
            .await;
        let data = error["data"].as_str().unwrap();
        assert!(
            data.contains("this build has no JavaScript tracers")
                && data.contains("--features js-tracer"),
            "{error}"
        );
    }
}

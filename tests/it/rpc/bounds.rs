//! Traces and responses stay within limits of memory, length and time, and their errors name a
//! smaller request.

use std::time::Duration;

use alloy::primitives::Address;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{TestNode, node, node_with, process::Running};

/// Calls an account without code with a megabyte of calldata, over and over:
/// `JUMPDEST PUSH1 0 PUSH1 0 PUSH3 0x100000 PUSH1 0 PUSH1 0xbb GAS STATICCALL POP PUSH1 0 JUMP`.
const COPIES: &str = "0x5b6000600062100000600060bb5afa50600056";
/// JUMPDEST, PUSH0, JUMP: for ever.
const LOOP: &str = "0x5b5f56";
/// Logs the first kilobyte of its memory: `PUSH2 0x400 PUSH0 LOG0 STOP`.
const LOGS: &str = "0x6104005fa000";
/// Returns the first kilobyte of its memory: `PUSH2 0x400 PUSH0 RETURN`.
const RETURNS: &str = "0x6104005ff3";
const AT: &str = "0x00000000000000000000000000000000000000aa";

fn assert_message_contains(error: &Value, words: &str) {
    let text = format!("{} {}", error["message"], error["data"]);
    assert!(text.contains(words), "{error}: not {words}");
}

/// A node as a process, whose memory can be measured.
struct Measured(Running);

impl Measured {
    async fn ask(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = reqwest::Client::new()
            .post(self.0.ready["rpc"].as_str().unwrap())
            .json(&body);
        request.send().await.unwrap().json().await.unwrap()
    }

    async fn rpc(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    async fn error(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer["result"].is_null(), "{method} has an answer");
        answer["error"].clone()
    }

    /// The most memory that the process has had, in megabytes.
    fn peak(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.0.child.id())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
            >> 10
    }
}

/// Each call is recorded with a megabyte of its own: without a limit, gigabytes for one request.
#[tokio::test]
async fn traces_are_bounded_in_memory() {
    let node = Measured(Running::start(&["--rpc-execution-timeout", "60", "-vvv"]).await);
    let code = json!({AT: {"code": COPIES}});
    let call = json!({"to": AT, "gas": "0x2faf080"});
    let all = json!({"callTracer": {}, "flatCallTracer": {}, "4byteTracer": {}});

    for (tracer, config) in [
        ("callTracer", json!({"withLog": true})),
        ("flatCallTracer", json!({})),
        ("muxTracer", all),
        ("erc7562Tracer", json!({})),
    ] {
        let options = json!({"tracer": tracer, "tracerConfig": config, "stateOverrides": code});
        assert_message_contains(
            &node
                .error("debug_traceCall", json!([call, "latest", options]))
                .await,
            "the trace exceeds 67108864 bytes",
        );
    }

    let options = json!({"enableMemory": true, "stateOverrides": code});
    assert_message_contains(
        &node
            .error("debug_traceCall", json!([call, "latest", options]))
            .await,
        "leave out enableMemory",
    );

    for types in [
        json!(["trace"]),
        json!(["vmTrace"]),
        json!(["trace", "vmTrace", "stateDiff"]),
    ] {
        assert_message_contains(
            &node
                .error("trace_call", json!([call, types, "latest", code]))
                .await,
            "the trace exceeds 67108864 bytes",
        );
    }

    // The same applies to a mined transaction.
    node.rpc("anvil_setCode", json!([AT, COPIES])).await;
    let from = node.rpc("eth_accounts", json!([])).await[0].clone();
    let hash = node
        .rpc(
            "eth_sendTransaction",
            json!([{"from": from, "to": AT, "gas": "0x4c4b40"}]),
        )
        .await;

    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    let block = receipt["blockNumber"].clone();
    for (method, params) in [
        (
            "debug_traceTransaction",
            json!([hash, {"tracer": "callTracer"}]),
        ),
        (
            "debug_traceBlockByNumber",
            json!([block, {"tracer": "flatCallTracer"}]),
        ),
        ("trace_transaction", json!([hash])),
        ("trace_get", json!([hash, ["0x0"]])),
        ("trace_block", json!([block])),
        (
            "trace_filter",
            json!([{"fromBlock": block, "toBlock": block}]),
        ),
        ("trace_replayTransaction", json!([hash, ["trace"]])),
        ("trace_replayBlockTransactions", json!([block, ["trace"]])),
        (
            "trace_callMany",
            json!([[[{"to": AT, "gas": "0x4c4b40"}, ["trace"]]], "latest"]),
        ),
        ("ots_traceTransaction", json!([hash])),
    ] {
        assert_message_contains(
            &node.error(method, params).await,
            "the trace exceeds 67108864 bytes",
        );
    }

    // Methods that do not return calldata do not record it.
    let found = node
        .rpc("ots_searchTransactionsBefore", json!([AT, 0, 10]))
        .await;
    assert_eq!(found["txs"][0]["hash"], hash);
    assert_eq!(
        node.rpc("ots_getInternalOperations", json!([hash])).await,
        json!([])
    );

    let options = json!({"tracer": "callTracer", "tracerConfig": {"onlyTopCall": true}});
    let traced = node
        .rpc("debug_traceTransaction", json!([hash, options]))
        .await;
    assert_eq!(
        (&traced["error"], &traced["calls"]),
        (&json!("out of gas"), &Value::Null)
    );

    let options = json!({"tracer": "prestateTracer", "stateOverrides": code});
    let traced = node
        .rpc("debug_traceCall", json!([call, "latest", options]))
        .await;
    assert_eq!(traced[AT]["code"], COPIES);

    let traced = node
        .rpc("trace_call", json!([call, ["stateDiff"], "latest", code]))
        .await;
    assert!(traced["stateDiff"].is_object());

    let peak = node.peak();
    assert!(peak < 600, "{peak} MB");
}

#[tokio::test]
async fn a_client_can_only_shorten_the_time_limit_of_a_trace() {
    let node = node_with(|config| config.rpc.execution_timeout = Duration::from_millis(50)).await;
    let call = json!({"to": AT, "gas": "0xffffffffff"});
    for (asked, limit) in [("1h", "50ms"), ("2ms", "2ms")] {
        for tracer in ["callTracer", "prestateTracer"] {
            let options =
                json!({"tracer": tracer, "timeout": asked, "stateOverrides": {AT: {"code": LOOP}}});
            let error = node
                .rpc_error("debug_traceCall", json!([call, "latest", options]))
                .await;
            assert_message_contains(&error, &format!("execution timeout after {limit}"));
        }
    }
}

/// A transaction without steps never checks the time while it runs.
#[tokio::test]
async fn searches_and_filters_check_the_time_limit_between_blocks() {
    let node = node_with(|config| config.rpc.execution_timeout = Duration::ZERO).await;
    let transfer =
        json!({"from": node.account(0), "to": node.account(1), "value": "0x1", "gas": "0x5208"});
    let hash = node.rpc("eth_sendTransaction", json!([transfer])).await;
    node.rpc("anvil_setCode", json!([AT, LOOP])).await;
    for (method, params) in [
        ("ots_searchTransactionsBefore", json!([AT, 0, 10])),
        ("ots_searchTransactionsAfter", json!([AT, 0, 10])),
        ("ots_getContractCreator", json!([AT])),
        (
            "ots_getTransactionBySenderAndNonce",
            json!([node.account(0), 7]),
        ),
        ("trace_filter", json!([{"fromBlock": "0x1"}])),
        ("trace_block", json!(["0x1"])),
        ("trace_transaction", json!([hash])),
        ("trace_replayBlockTransactions", json!(["0x1", ["trace"]])),
        (
            "trace_callMany",
            json!([[[{"to": AT}, ["trace"]]], "latest"]),
        ),
        (
            "debug_traceBlockByNumber",
            json!(["0x1", {"tracer": "callTracer"}]),
        ),
    ] {
        assert_message_contains(&node.rpc_error(method, params).await, "execution timeout");
    }
}

async fn short_answers(mining: bool) -> TestNode {
    node_with(|config| {
        config.no_mining = !mining;
        config.rpc.max_batch_response = 20_000;
        config.rpc.max_trace_bytes = 20_000;
    })
    .await
}

/// Each response is far below its own limit; all of them together would take a gigabyte.
#[tokio::test]
async fn unread_responses_are_bounded_in_memory() {
    let node =
        Measured(Running::start(&["--limits-transit-megabytes", "64", "--block-time", "60"]).await);

    // Logs 32 kilobytes of its memory 60 times.
    let code = format!("0x{}00", "6180006000a0".repeat(60));
    node.rpc("anvil_setCode", json!([AT, code])).await;

    let from = node.rpc("eth_accounts", json!([])).await[0].clone();
    for _ in 0..6 {
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": from, "to": AT, "gas": "0xffffff"}]),
        )
        .await;
        node.rpc("evm_mine", json!([])).await;
    }

    let query = json!([{"fromBlock": "0x0", "toBlock": "latest", "address": AT}]);
    let length = node
        .rpc("eth_getLogs", query.clone())
        .await
        .to_string()
        .len();
    assert!(length > 20 << 20, "{length}");

    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": query}).to_string();
    let address = node.0.ready["rpc"]
        .as_str()
        .unwrap()
        .trim_start_matches("http://")
        .trim_end_matches("/rpc")
        .to_owned();

    let mut unread = Vec::new();
    for _ in 0..60 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let head = "POST /rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ";
        stream
            .write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes())
            .await
            .unwrap();
        unread.push(stream);
    }

    // Each gets a response or a refusal; only the beginning of the long responses is read.
    let mut refused = 0;
    for stream in &mut unread {
        let mut beginning = [0; 1_024];
        let count = stream.read(&mut beginning).await.unwrap();
        let text = String::from_utf8_lossy(&beginning[..count]);
        refused +=
            usize::from(text.contains("response too large for the memory that is left; try again"));
    }

    assert!(refused > 0);
    assert!(node.peak() < 700, "{} MB", node.peak());
}

#[tokio::test]
async fn logs_over_the_size_limit_are_refused_with_the_last_block_that_fits() {
    let node = short_answers(true).await;
    node.rpc("anvil_setCode", json!([AT, LOGS])).await;

    let filter = node
        .rpc(
            "eth_newFilter",
            json!([{"fromBlock": "0x0", "address": AT}]),
        )
        .await;
    for _ in 0..12 {
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "to": AT, "gas": "0x186a0"}]),
        )
        .await;
    }

    let query = |to: Value| json!([{"fromBlock": "0x0", "toBlock": to, "address": AT}]);

    let error = node.rpc_error("eth_getLogs", query(json!("latest"))).await;
    let text = "query returned more than 20000 bytes; narrow the range (up to block 8), or add an address or topics";
    assert_eq!(
        (&error["code"], &error["data"]),
        (&json!(-32602), &json!(text))
    );

    assert_eq!(
        node.rpc("eth_getLogs", query(json!("0x7")))
            .await
            .as_array()
            .unwrap()
            .len(),
        7
    );
    assert_eq!(
        node.rpc_error("eth_getFilterLogs", json!([filter])).await["data"],
        text
    );

    let error = node
        .rpc_error("eth_getFilterChanges", json!([filter]))
        .await;
    assert_eq!(error["code"], -32003);
    assert_message_contains(
        &error,
        "more than 50000 logs or 20000 bytes: ask for the logs since block 0x1 with eth_getLogs, piece by piece",
    );

    // The error counts as the report of these logs.
    assert_eq!(
        node.rpc("eth_getFilterChanges", json!([filter])).await,
        json!([])
    );
}

/// Long results are serialised elsewhere than short ones, and must be the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_results_equal_short_ones_alone_and_in_a_batch() {
    let node = node().await;
    node.rpc("anvil_setCode", json!([AT, LOGS])).await;
    node.rpc("evm_setAutomine", json!([false])).await;
    let data = format!("0x{}", "11".repeat(100_000));
    let mut hashes = Vec::new();
    for _ in 0..6 {
        let request = json!({"from": node.account(0), "to": node.account(1), "gas": "0x4c4b40", "data": data});
        hashes.push(node.rpc("eth_sendTransaction", json!([request])).await);
    }
    node.rpc("evm_mine", json!([])).await;
    for _ in 0..400 {
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(2), "to": AT, "gas": "0x186a0"}]),
        )
        .await;
    }
    node.rpc("evm_mine", json!([])).await;

    let full = node.rpc("eth_getBlockByNumber", json!(["0x1", true])).await;
    for (hash, inside) in hashes.iter().zip(full["transactions"].as_array().unwrap()) {
        assert_eq!(
            *inside,
            node.rpc("eth_getTransactionByHash", json!([hash])).await
        );
    }
    assert_eq!(full["transactions"].as_array().unwrap().len(), hashes.len());
    let logs = node
        .rpc("eth_getLogs", json!([{"fromBlock": "0x0", "address": AT}]))
        .await;
    assert_eq!(logs.as_array().unwrap().len(), 400);
    let receipts = node.rpc("eth_getBlockReceipts", json!(["0x2"])).await;
    for result in [&full, &logs, &receipts] {
        assert!(
            result.to_string().len() > 600_000,
            "{} bytes",
            result.to_string().len()
        );
    }

    let asked = [
        ("eth_getBlockByNumber", json!(["0x2", false])),
        ("eth_getLogs", json!([{"fromBlock": "0x0", "address": AT}])),
        ("eth_getBlockByNumber", json!(["0x1", true])),
        ("eth_chainId", json!([])),
        ("eth_getBlockReceipts", json!(["0x2"])),
    ];
    let batch: Vec<_> = asked
        .iter()
        .enumerate()
        .map(|(id, (method, params))| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        .collect();
    let answers: Value = reqwest::Client::new()
        .post(node.rpc_url())
        .json(&batch)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    for (answer, (method, params)) in answers.as_array().unwrap().iter().zip(asked) {
        assert_eq!(answer["result"], node.rpc(method, params).await, "{method}");
    }
}

#[tokio::test]
async fn oversized_pools_and_receipts_are_refused_with_an_alternative() {
    let node = short_answers(false).await;
    node.rpc("anvil_setCode", json!([AT, LOGS])).await;

    let data = format!("0x{}", "11".repeat(1_024));
    let mut last = Value::Null;
    for _ in 0..12 {
        let request = json!({"from": node.account(0), "to": AT, "gas": "0x186a0", "data": data});
        last = node.rpc("eth_sendTransaction", json!([request])).await;
    }

    let error = node.rpc_error("txpool_content", json!([])).await;
    assert_eq!(error["code"], -32003);
    assert_message_contains(
        &error,
        "response too large: it exceeds 20000 bytes; ask for one account with txpool_contentFrom",
    );

    let error = node
        .rpc_error("txpool_contentFrom", json!([node.account(0)]))
        .await;
    assert_message_contains(
        &error,
        "ask for single transactions with eth_getTransactionByHash",
    );

    let empty = json!({"pending": {}, "queued": {}});
    assert_eq!(
        node.rpc("txpool_contentFrom", json!([node.account(1)]))
            .await,
        empty
    );

    let inspected = node.rpc("txpool_inspect", json!([])).await;
    assert_eq!(inspected["pending"].as_object().unwrap().len(), 1);
    assert_eq!(node.rpc("txpool_status", json!([])).await["pending"], "0xc");

    node.rpc("evm_mine", json!([])).await;
    let error = node
        .rpc_error("eth_getBlockReceipts", json!(["latest"]))
        .await;
    assert_message_contains(
        &error,
        "ask for single receipts with eth_getTransactionReceipt",
    );

    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([last])).await["status"],
        "0x1"
    );

    let error = node
        .rpc_error("ots_searchTransactionsBefore", json!([AT, 0, 100]))
        .await;
    assert_message_contains(&error, "ask for a smaller page");
}

fn simulation(code: &str, calls: usize) -> Value {
    let calls = vec![json!({"to": AT, "gas": "0x186a0"}); calls];
    json!([{"blockStateCalls": [{"stateOverrides": {AT: {"code": code}}, "calls": calls}]}, "latest"])
}

#[tokio::test]
async fn a_simulation_that_returns_or_logs_too_much_is_refused() {
    let node = short_answers(true).await;
    for code in [LOGS, RETURNS] {
        let simulated = node.rpc("eth_simulateV1", simulation(code, 3)).await;
        assert_eq!(simulated[0]["calls"].as_array().unwrap().len(), 3);

        let error = node.rpc_error("eth_simulateV1", simulation(code, 12)).await;
        assert_eq!(error["code"], -32003);
        assert_message_contains(&error, "exceed 20000 bytes; simulate fewer calls at a time");
    }
}

/// The gas suffices for the length, but not for the memory expansion. The tracer once allocated the
/// length all the same.
#[tokio::test]
async fn hashed_data_in_an_account_abstraction_trace_is_bounded() {
    let node = short_answers(true).await;
    // PUSH3 0xffffff PUSH0 KECCAK256
    let options =
        json!({"tracer": "erc7562Tracer", "stateOverrides": {AT: {"code": "0x62ffffff5f20"}}});
    let call = json!({"to": AT, "gas": "0x4c4b40"});
    assert_message_contains(
        &node
            .rpc_error("debug_traceCall", json!([call, "latest", options]))
            .await,
        "the trace exceeds 20000 bytes",
    );
    let few = json!({"to": AT, "gas": "0x5300"});
    let traced = node
        .rpc("debug_traceCall", json!([few, "latest", options]))
        .await;
    assert_eq!(traced["outOfGas"], true);
}

/// A state or block that must be built first gives the same answers as one that is in memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_and_pending_states_are_answered_like_the_latest() {
    let node = node_with(|config| config.no_mining = true).await;
    let to = Address::repeat_byte(0x77);
    for _ in 0..40 {
        let transfer = json!({"from": node.account(0), "to": to, "value": "0x1", "gas": "0x5208"});
        node.rpc("eth_sendTransaction", json!([transfer])).await;
    }

    let count = json!([node.account(0), "pending"]);
    let balance = json!([to, "pending"]);
    assert_eq!(node.rpc("eth_getTransactionCount", count).await, "0x28");
    assert_eq!(node.rpc("eth_getBalance", balance).await, "0x28");

    let pending = node
        .rpc("eth_getBlockByNumber", json!(["pending", false]))
        .await;
    assert_eq!(pending["transactions"].as_array().unwrap().len(), 40);
    assert_eq!(
        node.rpc("eth_getBalance", json!([to, "latest"])).await,
        "0x0"
    );

    node.rpc("anvil_mine", json!(["0xc8"])).await;
    assert_eq!(node.rpc("eth_getBalance", json!([to, "0x0"])).await, "0x0");
    assert_eq!(node.rpc("eth_getBalance", json!([to, "0x1"])).await, "0x28");
    assert_eq!(node.rpc("eth_call", json!([{"to": to}, "0x3"])).await, "0x");
    assert_eq!(
        node.rpc_error("eth_getBalance", json!([to, "0xffff"]))
            .await["message"],
        "header not found"
    );

    let logs = node
        .rpc(
            "eth_getLogs",
            json!([{"fromBlock": "0x1", "toBlock": "0xc8"}]),
        )
        .await;
    assert!(logs.is_array());
}

//! JavaScript tracers.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{TestNode, node, node_with, number};

/// Adds one to slot 0.
const COUNTER: &str = "0x00000000000000000000000000000000000000d0";
const COUNTER_CODE: &str = "0x5f546001015f5500";
/// Hashes a word, calls the counter and the identity precompile, and reads the hash of the block
/// before.
const CALLER: &str = "0x00000000000000000000000000000000000000c0";
const CALLER_CODE: &str = "0x60205f20505f5f5f5f5f7300000000000000000000000000000000000000d05af1505f5f5f5f60045afa5060014303405f5500";

/// A script whose result depends on the state in which the transaction was executed.
const SCRIPT: &str = "{
    ops: [], calls: [],
    step(log) { this.ops.push(log.op.toString()) },
    fault(log) { this.ops.push('fault') },
    enter(call) { this.calls.push([call.getType(), toHex(call.getTo()), isPrecompiled(call.getTo())]) },
    exit(frame) { this.calls.push(frame.getError() ?? 'returned') },
    result(context, db) {
        return { ops: this.ops, calls: this.calls, gas: context.gasUsed, block: context.block, index: context.txIndex,
                 hash: context.txHash && toHex(context.txHash), blockHash: context.blockHash && toHex(context.blockHash),
                 nonce: db.getNonce(context.from), error: context.error };
    },
}";

async fn set_up(node: &TestNode) {
    for (address, code) in [(COUNTER, COUNTER_CODE), (CALLER, CALLER_CODE)] {
        node.rpc("anvil_setCode", json!([address, code])).await;
    }
}

fn traced_by(script: &str) -> Value {
    json!({"tracer": script})
}

/// A script that only returns this expression.
fn returning(expression: &str) -> Value {
    traced_by(&format!(
        "{{ fault() {{}}, result(context, db) {{ return {expression} }} }}"
    ))
}

async fn message(node: &TestNode, options: Value) -> String {
    let error = node
        .rpc_error(
            "debug_traceCall",
            json!([{"to": COUNTER}, "latest", options]),
        )
        .await;
    error["data"]
        .as_str()
        .unwrap_or_else(|| error["message"].as_str().unwrap())
        .to_owned()
}

#[tokio::test]
async fn scripts_see_every_step_of_a_transaction() {
    let node = node().await;
    set_up(&node).await;

    for request in [
        json!({"to": CALLER}),
        json!({"to": node.account(1), "value": "0x5"}),
        json!({"data": "0x60015f5560016000f3"}),
        json!({"data": "0x5f5ffd"}),
        json!({"data": "0xfe"}),
        json!({"to": CALLER, "accessList": [{"address": COUNTER, "storageKeys": [format!("0x{:064x}", 0)]}]}),
    ] {
        let mut request = request;
        request["from"] = json!(node.account(0));
        request["gas"] = json!("0x30000");

        let hash = node.rpc("eth_sendTransaction", json!([request])).await;
        let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;

        let seen = node
            .rpc("debug_traceTransaction", json!([hash, traced_by(SCRIPT)]))
            .await;
        assert_eq!(
            number(&receipt["gasUsed"]),
            u128::from(seen["gas"].as_u64().unwrap()),
            "{request}"
        );
        assert_eq!(
            (&seen["hash"], &seen["blockHash"]),
            (&hash, &receipt["blockHash"])
        );
        assert_eq!(
            (&seen["index"], number(&receipt["blockNumber"])),
            (&json!(0), u128::from(seen["block"].as_u64().unwrap()))
        );
        assert_eq!(seen["error"].is_null(), receipt["status"] == "0x1");

        let lines = node.rpc("debug_traceTransaction", json!([hash])).await;
        let ops = lines["structLogs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line["op"].clone());
        // An instruction that reverts is a fault only.
        let ops = ops
            .map(|op| if op == "REVERT" { json!("fault") } else { op })
            .collect::<Vec<_>>();
        assert_eq!(seen["ops"], json!(ops), "{request}");
    }

    let calls = node
        .rpc(
            "debug_traceCall",
            json!([{"to": CALLER}, "latest", traced_by(SCRIPT)]),
        )
        .await["calls"]
        .clone();
    let identity = "0x0000000000000000000000000000000000000004";
    assert_eq!(
        calls,
        json!([
            ["CALL", COUNTER, false],
            "returned",
            ["STATICCALL", identity, true],
            "returned"
        ])
    );
    node.end().await;
}

#[tokio::test]
async fn scripts_see_every_transaction_of_a_block() {
    let node = node_with(|config| config.no_mining = true).await;
    set_up(&node).await;
    for index in 0..5 {
        let request = json!({"from": node.account(index), "to": CALLER, "gas": "0x30000"});
        node.rpc("eth_sendTransaction", json!([request])).await;
    }
    node.rpc("evm_mine", json!([])).await;

    let slot = returning(&format!(
        "[context.txIndex, toHex(db.getState('{COUNTER}', '0x00')), context.gasUsed]"
    ));
    let traces = node
        .rpc("debug_traceBlockByNumber", json!(["latest", slot]))
        .await;

    for (index, trace) in traces.as_array().unwrap().iter().enumerate() {
        let receipt = node
            .rpc("eth_getTransactionReceipt", json!([trace["txHash"]]))
            .await;
        let expected = json!([
            index,
            format!("0x{:064x}", index + 1),
            number(&receipt["gasUsed"]) as u64
        ]);
        assert_eq!(trace["result"], expected);
    }
    assert_eq!(traces.as_array().unwrap().len(), 5);

    // Each transaction has a tracer of its own.
    let counting = traced_by(
        "{ count: 0, step() { this.count++ }, fault() {}, result() { return this.count } }",
    );
    let counts = node
        .rpc("debug_traceBlockByNumber", json!(["latest", counting]))
        .await;
    assert_eq!(counts[0]["result"], counts[4]["result"]);
    node.end().await;
}

/// A tracer whose result is an account according to the database.
fn reading(at: &str) -> Value {
    returning(&format!(
        "[toHex(db.getCode('{at}')), db.exists('{at}'), db.getBalance('{at}').toString(16), db.getNonce('{at}'), \
         toHex(db.getState('{at}', '0x01'))]"
    ))
}

async fn trace_call(node: &TestNode, request: Value, options: Value) -> Value {
    node.rpc("debug_traceCall", json!([request, "latest", options]))
        .await
}

#[tokio::test]
async fn scripts_see_the_state_and_the_overrides_of_a_call() {
    let node = node().await;
    set_up(&node).await;
    let from = node.account(0);
    let unused = "0x00000000000000000000000000000000000000ee";
    let balance = node.rpc("eth_getBalance", json!([from, "latest"])).await;
    let request = json!({"from": from, "to": COUNTER});

    let zero = format!("0x{:064x}", 0);
    assert_eq!(
        trace_call(&node, request.clone(), reading(COUNTER)).await,
        json!([COUNTER_CODE, true, "0", 0, zero])
    );
    assert_eq!(
        trace_call(&node, request.clone(), reading(unused)).await,
        json!(["0x", false, "0", 0, zero])
    );

    let seen = trace_call(&node, request.clone(), reading(&from.to_string())).await;
    assert_eq!(json!(format!("0x{}", seen[2].as_str().unwrap())), balance);

    let mut options = reading(unused);
    let word = format!("0x{:064x}", 7);
    options["stateOverrides"] = json!({unused: {"balance": "0xff", "nonce": "0x9", "code": "0x6001", "stateDiff": {format!("0x{:064x}", 1): word}}});
    assert_eq!(
        trace_call(&node, request, options).await,
        json!(["0x6001", true, "ff", 9, word])
    );

    // Precompiles that overrides move, the network's own one, and the environment of the block.
    let bech32 = "0x0000000000000000000000000000000000000400";
    let outputs = "{ outputs: [], enter() {}, exit(frame) { this.outputs.push(toHex(frame.getOutput())) }, fault() {}, \
                   result(context) { return [this.outputs, toHex(context.output), context.block] } }";

    // Calls the account that the input names with the input as data, and returns what it returned.
    let passes = "0x365f5f375f5f365f5f5f355af1503d5f5f3e3d5ff3";
    let input = format!("0x{:0>64}", unused.trim_start_matches("0x"));
    let options = json!({"tracer": outputs, "blockOverrides": {"number": "0x1234"}, "stateOverrides": {
        COUNTER: {"code": passes},
        "0x0000000000000000000000000000000000000004": {"movePrecompileToAddress": unused},
    }});
    let request = json!({"from": from, "to": COUNTER, "input": input});
    let seen = node
        .rpc("debug_traceCall", json!([request, "latest", options]))
        .await;
    assert_eq!(seen, json!([[input], input, 0x1234]));

    let request = json!({"from": from, "to": bech32, "input": "0x"});
    let error = node
        .rpc(
            "debug_traceCall",
            json!([request, "latest", returning("context.error ?? null")]),
        )
        .await;
    assert_eq!(error, "execution reverted");

    // Invalid calls are refused as without a tracer.
    let request = json!({"from": from, "to": COUNTER, "gas": "0x1"});
    let refused =
        |options: Value| node.rpc_error("debug_traceCall", json!([request, "latest", options]));
    assert_eq!(
        refused(returning("1")).await,
        refused(json!({"tracer": "callTracer"})).await
    );
    node.end().await;
}

#[tokio::test]
async fn scripts_see_earlier_writes() {
    let node = node().await;
    // Writes 1, calls itself once with a word of data, which writes 2 and reverts, and writes 3.
    let code = "0x3660175760015f555f5f60205f5f305af15060035f55005b60025f555f5ffd";
    node.rpc("anvil_setCode", json!([COUNTER, code])).await;
    let script = "{ seen: [], fault() {}, \
        step(log, db) { if (/^(SSTORE|STOP|POP|JUMPDEST)$/.test(log.op.toString())) this.seen.push(this.read(db)) }, \
        read(db) { return Number(toHex(db.getState(ADDRESS, '0x00'))) }, \
        result(context, db) { return [this.seen, this.read(db), context.gasUsed] } }";
    let options = traced_by(&script.replace("ADDRESS", &format!("'{COUNTER}'")));
    let request = json!({"from": node.account(0), "to": COUNTER, "gas": "0x30000"});
    let hash = node.rpc("eth_sendTransaction", json!([request])).await;
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    let gas_used = number(&receipt["gasUsed"]) as u64;
    assert_eq!(receipt["status"], "0x1");
    let seen = node
        .rpc("debug_traceTransaction", json!([hash, options]))
        .await;
    assert_eq!(seen, json!([[0, 1, 1, 1, 1, 3], 3, gas_used]));
    node.end().await;
}

#[tokio::test]
async fn results_and_errors_of_scripts_are_passed_on() {
    let node = node().await;
    set_up(&node).await;
    let request = json!({"to": COUNTER});

    for (expression, result) in [
        ("undefined", Value::Null),
        ("null", Value::Null),
        ("'text'", json!("text")),
        ("toWord('0x2a')[31]", json!(42)),
        (
            "({ big: bigInt(2).add(3), buffer: toAddress('0x01').length })",
            json!({"big": "5", "buffer": 20}),
        ),
        (
            "Array.from({ length: 300000 }, (_, index) => index).length",
            json!(300_000),
        ),
    ] {
        assert_eq!(
            trace_call(&node, request.clone(), returning(expression)).await,
            result,
            "{expression}"
        );
    }

    let setup =
        "{ setup(config) { this.config = config }, fault() {}, result() { return this.config } }";
    assert_eq!(
        trace_call(
            &node,
            request.clone(),
            json!({"tracer": setup, "tracerConfig": {"a": [1]}})
        )
        .await,
        "{\"a\":[1]}"
    );
    assert_eq!(
        trace_call(&node, request.clone(), traced_by(setup)).await,
        "{}"
    );

    // As deep as calls may nest.
    let recursion =
        "((f) => f(f, 1024))((f, depth) => depth ? [0].map(() => 1 + f(f, depth - 1))[0] : 0)";
    assert_eq!(
        trace_call(&node, request, returning(recursion)).await,
        1_024
    );

    let script =
        |members: &str| traced_by(&format!("{{ fault() {{}}, result() {{}}, {members} }}"));
    for (options, expected) in [
        (
            script("step() { throw new Error('boom') }"),
            "Error: boom in server-side tracer function 'step'",
        ),
        (
            script("step() { null.x }"),
            "in server-side tracer function 'step'",
        ),
        (
            script("setup() { throw new Error('early') }"),
            "Error: early",
        ),
        (
            script("step() { throw { toString() { throw 1 } } }"),
            "an error without text in server-side tracer function 'step'",
        ),
        (
            script("enter() {}"),
            "either both or none of enter() and exit()",
        ),
        (
            script("step() { (function f() { f() })() }"),
            "in server-side tracer function 'step'",
        ),
        (
            returning("missing"),
            "missing is not defined in server-side tracer function 'result'",
        ),
        (
            returning("(() => { const a = {}; a.a = a; return a })()"),
            "in server-side tracer function 'result'",
        ),
        (
            traced_by("{ result() {} }"),
            "trace object must expose a function fault()",
        ),
        (
            traced_by("{ fault() {} }"),
            "trace object must expose a function result()",
        ),
        (
            traced_by("{ step( }"),
            "failed to evaluate JS code: SyntaxError",
        ),
        (traced_by("1 + 1"), "the evaluated code is not a JS object"),
    ] {
        let message = message(&node, options.clone()).await;
        assert!(message.contains(expected), "{options}: {message}");
    }
    node.end().await;
}

fn with_short_timeout(mut options: Value) -> Value {
    options["timeout"] = json!("300ms");
    options
}

#[tokio::test]
async fn scripts_are_bounded_in_time_memory_and_size() {
    let node = node_with(|config| {
        config.rpc.execution_timeout = Duration::from_secs(300);
        config.rpc.max_tracer_memory = 64 << 20;
        config.rpc.max_trace_bytes = 1 << 20;
    });
    let node = node.await;
    set_up(&node).await;

    let script =
        |members: &str| json!({"tracer": format!("{{ fault() {{}}, result() {{}}, {members} }}")});

    for options in [
        with_short_timeout(script("step() { while (true); }")),
        with_short_timeout(returning("(() => { while (true); })()")),
        with_short_timeout(script(
            "setup() { const f = () => { for (let i = 0; i < 1e5; i++); }; for (let i = 0; i < 1e5; i++) f() }",
        )),
        with_short_timeout(returning("({ toJSON() { while (true); } })")),
        with_short_timeout(returning("/(a*)*b/.test('a'.repeat(1000))")),
    ] {
        assert_eq!(
            message(&node, options).await,
            "execution timeout after 300ms"
        );
    }

    for expression in [
        "'a'.repeat(2 ** 29).length",
        "(() => { const all = []; while (true) all.push({ at: all.length }) })()",
        "(() => { const all = []; while (true) all.push(new Uint8Array(1 << 20).fill(1)) })()",
        "(() => { let text = 'a'; while (true) text += text })()",
        "(() => { let big = 3n; while (true) big *= big })()",
    ] {
        let message = message(&node, returning(expression)).await;

        let limited =
            message.contains("used more than 64 MiB of memory (rpc.max-tracer-megabytes)");
        // The engine itself limits some lengths.
        assert!(
            limited || message.contains("RangeError"),
            "{expression}: {message}"
        );
    }

    let long = message(&node, returning("'a'.repeat(1024).repeat(2048)")).await;
    assert!(
        long.starts_with("the trace exceeds 1048576 bytes; return less from result()"),
        "{long}"
    );

    let deep = "(() => { let at = 0; for (let i = 0; i < 1e5; i++) at = [at]; return at })()";
    let deep = message(&node, returning(deep)).await;
    assert!(
        deep.contains("too deeply") || deep.contains("more than 64 MiB"),
        "{deep}"
    );

    // The node is as before.
    assert!(
        node.rpc(
            "debug_traceCall",
            json!([{"to": COUNTER}, "latest", returning("1")])
        )
        .await
            == 1
    );
    node.end().await;
}

#[tokio::test]
async fn programs_that_embed_the_node_reject_scripts() {
    let node = node_with(|config| config.rpc.tracer_program = None).await;
    set_up(&node).await;
    assert_eq!(
        message(&node, returning("1")).await,
        "JavaScript tracers run in the tetrad program only"
    );
    node.end().await;
}

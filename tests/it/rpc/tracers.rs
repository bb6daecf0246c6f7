//! Tracers of calls and accounts, with geth's and OpenEthereum's results.

use alloy::{
    consensus::TxEip7702,
    eips::eip7702::Authorization,
    primitives::{Address, Bytes, U256, hex, keccak256},
    signers::SignerSync,
};
use serde_json::{Value, json};

use crate::support::{
    TestNode, node, node_with, number,
    sign::{raw, signer},
};

/// A transfer of a wei to an account that did not exist.
const FRESH: &str = "0x00000000000000000000000000000000000000f1";
/// The contract that a test calls.
const AT: &str = "0x0000000000000000000000000000000000000a00";
/// Adds one to slot 0.
const COUNTER_CODE: &str = "0x5f546001015f5500";

fn at(low: u16) -> String {
    format!("0x{low:040x}")
}

/// Code that calls these accounts with a wei, or none, and 50,000 gas each.
fn calls(accounts: &[u16], value: u8) -> String {
    let one = |account: &u16| format!("5f5f5f5f60{value:02x}61{account:04x}61c350f150");
    accounts.iter().map(one).collect::<String>()
}

async fn set_code(node: &TestNode, address: &str, code: &str) {
    node.rpc(
        "anvil_setCode",
        json!([address, format!("0x{}", code.trim_start_matches("0x"))]),
    )
    .await;
}

async fn send(node: &TestNode, request: Value) -> Value {
    let mut request = request;
    request["from"] = json!(node.account(0));
    let hash = node.rpc("eth_sendTransaction", json!([request])).await;
    node.rpc("eth_getTransactionReceipt", json!([hash])).await
}

fn tracer(name: &str, config: Value) -> Value {
    json!({"tracer": name, "tracerConfig": config})
}

async fn traced(node: &TestNode, hash: &Value, name: &str, config: Value) -> Value {
    node.rpc(
        "debug_traceTransaction",
        json!([hash, tracer(name, config)]),
    )
    .await
}

fn gas_of(call: &Value) -> (u128, u128) {
    (number(&call["gas"]), number(&call["gasUsed"]))
}

fn flat_gas_of(call: &Value) -> (u128, u128) {
    (
        number(&call["action"]["gas"]),
        number(&call["result"]["gasUsed"]),
    )
}

#[tokio::test]
async fn a_plain_transfer_reports_the_gas_of_the_transaction_or_that_of_the_call() {
    let node = node().await;
    let limit = 30_000;
    let intrinsic = 21_000;
    let transfer = json!({"to": node.account(1), "value": "0x1", "gas": "0x7530"});
    let receipt = send(&node, transfer.clone()).await;
    let hash = &receipt["transactionHash"];
    let block = &receipt["blockNumber"];
    let of_transaction = (limit, intrinsic);
    assert_eq!(number(&receipt["gasUsed"]), intrinsic);

    // Geth's tracers show the transaction's.
    for config in [
        json!({}),
        json!({"onlyTopCall": true}),
        json!({"withLog": true}),
    ] {
        assert_eq!(
            gas_of(&traced(&node, hash, "callTracer", config).await),
            of_transaction
        );
    }

    let flat = traced(&node, hash, "flatCallTracer", json!({})).await;
    assert_eq!(flat_gas_of(&flat[0]), of_transaction);
    let several = traced(
        &node,
        hash,
        "muxTracer",
        json!({"callTracer": {}, "flatCallTracer": null}),
    )
    .await;
    assert_eq!(gas_of(&several["callTracer"]), of_transaction);
    assert_eq!(several["flatCallTracer"], flat);

    for method in ["debug_traceBlockByNumber", "debug_traceBlockByHash"] {
        let id = if method.ends_with("Hash") {
            &receipt["blockHash"]
        } else {
            block
        };
        let traces = node
            .rpc(method, json!([id, tracer("flatCallTracer", json!({}))]))
            .await;
        assert_eq!(traces[0]["result"], flat, "{method}");
    }

    let called = node
        .rpc(
            "debug_traceCall",
            json!([transfer, "latest", tracer("flatCallTracer", json!({}))]),
        )
        .await;
    assert_eq!(flat_gas_of(&called[0]), of_transaction);
    assert_eq!(
        (
            &called[0]["blockHash"],
            &called[0]["blockNumber"],
            &called[0]["transactionPosition"]
        ),
        (&Value::Null, &json!(0), &json!(0))
    );

    // OpenEthereum's show the gas that is left for the call, and the gas that its code used.
    let of_call = (limit - intrinsic, 0);

    let raw = node.rpc("eth_getRawTransactionByHash", json!([hash])).await;
    let call = json!([transfer, ["trace"]]);
    let from_block = json!({"fromBlock": block, "toBlock": block});
    for (method, params, root) in [
        ("trace_transaction", json!([hash]), "/0"),
        ("trace_block", json!([block]), "/0"),
        ("trace_get", json!([hash, []]), ""),
        ("trace_filter", json!([from_block]), "/0"),
        (
            "trace_replayTransaction",
            json!([hash, ["trace"]]),
            "/trace/0",
        ),
        (
            "trace_replayBlockTransactions",
            json!([block, ["trace"]]),
            "/0/trace/0",
        ),
        ("trace_call", json!([transfer, ["trace"]]), "/trace/0"),
        ("trace_callMany", json!([[call], "latest"]), "/0/trace/0"),
    ] {
        let traces = node.rpc(method, params).await;
        assert_eq!(
            flat_gas_of(traces.pointer(root).unwrap()),
            of_call,
            "{method}"
        );
    }

    node.rpc("anvil_reorg", json!([1, []])).await;
    let traced = node
        .rpc("trace_rawTransaction", json!([raw, ["trace"]]))
        .await;
    assert_eq!(flat_gas_of(&traced["trace"][0]), of_call);
    node.end().await;
}

#[tokio::test]
async fn every_interface_reports_the_same_gas_of_inner_calls() {
    let node = node().await;

    set_code(&node, AT, &calls(&[0xb01, 0xb02, 0xb03], 1)).await;
    set_code(&node, &at(0xb01), "600160005500").await;
    set_code(&node, &at(0xb02), "fe").await;
    set_code(&node, &at(0xb03), "5f5ffd").await;
    let receipt = send(&node, json!({"to": AT, "value": "0x3", "gas": "0x7a120"})).await;

    let hash = &receipt["transactionHash"];
    let tree = traced(&node, hash, "callTracer", json!({})).await;
    let flat = traced(&node, hash, "flatCallTracer", json!({})).await;
    let traces = node.rpc("trace_transaction", json!([hash])).await;

    let errors = tree["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["error"].clone());
    let failures = [
        Value::Null,
        json!("invalid opcode: INVALID"),
        json!("execution reverted"),
    ];
    assert_eq!(errors.collect::<Vec<_>>(), failures);

    let path = format!(
        "/api?module=account&action=txlistinternal&txhash={}",
        hash.as_str().unwrap()
    );
    let mut listed = Value::Null;
    for _ in 0..100 {
        listed = node.get_json(&path).await["result"].clone();
        if listed.as_array().is_some_and(|calls| calls.len() == 3) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }

    let decimal = |value: &Value| value.as_str().unwrap().parse::<u128>().unwrap();
    for (index, call) in tree["calls"].as_array().unwrap().iter().enumerate() {
        let (gas, used) = gas_of(call);
        let flat = &flat[index + 1];
        let trace = &traces[index + 1];

        assert_eq!(
            (
                number(&flat["action"]["gas"]),
                number(&trace["action"]["gas"])
            ),
            (gas, gas),
            "{call}"
        );

        let row = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["to"] == call["to"])
            .unwrap();
        assert_eq!(
            (decimal(&row["gas"]), decimal(&row["gasUsed"])),
            (gas, used),
            "{call}"
        );

        // A call that fails other than by a revert has no result.
        if index == 1 {
            assert_eq!(
                (used, flat.get("result"), &trace["result"]),
                (gas, None, &Value::Null)
            );
        } else {
            assert_eq!(
                (
                    number(&flat["result"]["gasUsed"]),
                    number(&trace["result"]["gasUsed"])
                ),
                (used, used)
            );
        }
    }
    node.end().await;
}

/// The trace of a call with these state overrides.
async fn trace_call(node: &TestNode, call: &Value, overrides: &Value, mut options: Value) -> Value {
    options["stateOverrides"] = overrides.clone();
    node.rpc("debug_traceCall", json!([call, "latest", options]))
        .await
}

#[tokio::test]
async fn errors_have_geths_messages_or_on_request_openethereums() {
    let node = node().await;
    for (code, error, converted) in [
        ("0x5f5ffd", "execution reverted", "Reverted"),
        ("0xfe", "invalid opcode: INVALID", "Bad instruction"),
        ("0x0c", "invalid opcode", "Bad instruction"),
        ("0x5f56", "invalid jump destination", "Bad jump destination"),
        ("0x50", "stack underflow", "Stack underflow"),
        (
            "0x5b5f5f56",
            "stack limit reached 1024 (1023)",
            "Out of stack",
        ),
        ("0x5b5f56", "out of gas", "Out of gas"),
        ("0x60015f5f3e", "return data out of bounds", "Out of bounds"),
        ("0x5f5f5f5f5f5f5ff050", "", ""),
    ] {
        let overrides = json!({AT: {"code": code}});
        let call = json!({"to": AT, "gas": "0x30d40"});

        let tree = trace_call(&node, &call, &overrides, tracer("callTracer", json!({}))).await;
        let flat = trace_call(
            &node,
            &call,
            &overrides,
            tracer("flatCallTracer", json!({})),
        )
        .await;
        let other = trace_call(
            &node,
            &call,
            &overrides,
            tracer("flatCallTracer", json!({"convertParityErrors": true})),
        )
        .await;
        let open = node
            .rpc("trace_call", json!([call, ["trace"], "latest", overrides]))
            .await;

        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let found = [
            &tree["error"],
            &flat[0]["error"],
            &other[0]["error"],
            &open["trace"][0]["error"],
        ]
        .map(text);

        assert_eq!(found, [error, error, converted, converted], "{code}");

        // The data of a revert is worth showing.
        assert_eq!(
            flat[0].get("result").is_some(),
            matches!(error, "" | "execution reverted"),
            "{code}"
        );
    }
    node.end().await;
}

fn log_indices(call: &Value) -> Vec<u128> {
    let logs = call["logs"].as_array().into_iter().flatten();
    logs.map(|log| number(&log["index"])).collect()
}

#[tokio::test]
async fn logs_in_traces_have_the_index_of_their_receipt_and_those_of_failed_calls_are_left_out() {
    let node = node_with(|config| config.no_mining = true).await;

    set_code(
        &node,
        AT,
        &format!("5f5fa0{}{}5f5fa000", calls(&[0xc02], 0), calls(&[0xc01], 0)),
    )
    .await;
    set_code(&node, &at(0xc01), "5f5fa000").await;
    set_code(&node, &at(0xc02), "5f5fa05f5ffd").await;

    let mut hashes = Vec::new();
    for to in [AT, AT, &at(0xc02)] {
        let request = json!({"from": node.account(0), "to": to, "gas": "0x493e0"});
        hashes.push(node.rpc("eth_sendTransaction", json!([request])).await);
    }
    node.rpc("evm_mine", json!([])).await;

    let with_log = tracer("callTracer", json!({"withLog": true}));
    let traces = node
        .rpc("debug_traceBlockByNumber", json!(["latest", with_log]))
        .await;

    for (at, first) in [(0, 0), (1, 3)] {
        let trace = &traces[at]["result"];
        assert_eq!(log_indices(trace), [first, first + 2]);
        assert_eq!(
            (
                log_indices(&trace["calls"][0]),
                log_indices(&trace["calls"][1])
            ),
            (vec![], vec![first + 1])
        );

        let positions: Vec<_> = trace["logs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|log| number(&log["position"]))
            .collect();
        assert_eq!(positions, [0, 2]);

        let top = traced(
            &node,
            &hashes[at],
            "callTracer",
            json!({"withLog": true, "onlyTopCall": true}),
        )
        .await;
        assert_eq!(
            (log_indices(&top), top.get("calls")),
            (vec![first, first + 2], None)
        );

        let receipt = node
            .rpc("eth_getTransactionReceipt", json!([hashes[at]]))
            .await;
        let listed: Vec<_> = receipt["logs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|log| number(&log["logIndex"]))
            .collect();
        assert_eq!(listed, [first, first + 1, first + 2]);
    }

    let failed = &traces[2]["result"];
    assert_eq!(
        (&failed["error"], failed.get("logs")),
        (&json!("execution reverted"), None)
    );
    node.end().await;
}

/// The position and the target of each call in a trace.
fn places(traces: &Value) -> Vec<(Value, Value)> {
    traces
        .as_array()
        .unwrap()
        .iter()
        .map(|trace| (trace["traceAddress"].clone(), trace["action"]["to"].clone()))
        .collect()
}

#[tokio::test]
async fn calls_of_precompiles_are_listed_on_request() {
    let node = node().await;

    let overrides = json!({
        AT: {"code": format!("0x{}{}", calls(&[4, 0xb01, 4], 0), "00")},
        at(0xb01): {"code": "0x00"},
    });
    let call = json!({"to": AT, "gas": "0x493e0"});

    let without = trace_call(
        &node,
        &call,
        &overrides,
        tracer("flatCallTracer", json!({})),
    )
    .await;
    assert_eq!(
        places(&without),
        [(json!([]), json!(AT)), (json!([0]), json!(at(0xb01)))]
    );
    assert_eq!(without[0]["subtraces"], 1);

    let options = tracer("flatCallTracer", json!({"includePrecompiles": true}));
    let with = trace_call(&node, &call, &overrides, options).await;
    let all = [
        (json!([0]), json!(at(4))),
        (json!([1]), json!(at(0xb01))),
        (json!([2]), json!(at(4))),
    ];
    assert_eq!(
        (&places(&with)[1..], &with[0]["subtraces"]),
        (&all[..], &json!(3))
    );

    // A transaction to a precompile is listed.
    let root = node
        .rpc(
            "debug_traceCall",
            json!([{"to": at(4)}, "latest", tracer("flatCallTracer", json!({}))]),
        )
        .await;
    assert_eq!(places(&root), [(json!([]), json!(at(4)))]);
    node.end().await;
}

#[tokio::test]
async fn a_self_destruct_to_itself_is_traced_with_its_own_address() {
    let node = node().await;
    let overrides = json!({AT: {"code": "0x30ff", "balance": "0x5"}});
    let call = json!({"to": AT, "gas": "0x30d40"});
    let mut options = tracer("callTracer", json!({}));
    options["stateOverrides"] = overrides.clone();
    let tree = node
        .rpc("debug_traceCall", json!([call, "latest", options]))
        .await;
    let expected = json!({"from": AT, "gas": "0x0", "gasUsed": "0x0", "to": AT, "input": "0x", "value": "0x5", "type": "SELFDESTRUCT"});
    assert_eq!(tree["calls"], json!([expected]));
    options["tracer"] = json!("flatCallTracer");
    let flat = node
        .rpc("debug_traceCall", json!([call, "latest", options]))
        .await;
    let traces = node
        .rpc("trace_call", json!([call, ["trace"], "latest", overrides]))
        .await;
    for destruction in [&flat[1], &traces["trace"][1]] {
        let expected = json!({"address": AT, "balance": "0x5", "refundAddress": AT});
        assert_eq!(
            (&destruction["action"], &destruction["type"]),
            (&expected, &json!("suicide"))
        );
        assert_eq!(destruction["traceAddress"], json!([0]));
    }
    node.end().await;
}

#[tokio::test]
async fn a_mux_tracer_returns_the_results_of_its_tracers() {
    let node = node().await;

    set_code(&node, AT, &calls(&[0xb01, 4], 0)).await;
    set_code(&node, &at(0xb01), COUNTER_CODE).await;

    let receipt = send(
        &node,
        json!({"to": AT, "gas": "0x493e0", "data": "0x01020304"}),
    )
    .await;
    let hash = &receipt["transactionHash"];

    let configs = json!({
        "callTracer": {"withLog": true}, "flatCallTracer": {"includePrecompiles": true}, "4byteTracer": {},
        "prestateTracer": {"diffMode": true}, "noopTracer": null,
    });
    let several = traced(&node, hash, "muxTracer", configs.clone()).await;
    for (name, config) in configs.as_object().unwrap() {
        assert_eq!(
            several[name],
            traced(&node, hash, name, config.clone()).await,
            "{name}"
        );
    }

    assert_eq!(several["4byteTracer"], json!({"0x01020304-0": 1}));

    // One that shows the outermost call alone takes nothing from the others.
    let top = json!({"callTracer": {"onlyTopCall": true}, "flatCallTracer": {}});
    let several = traced(&node, hash, "muxTracer", top).await;
    assert_eq!(
        (
            several["callTracer"].get("calls"),
            several["flatCallTracer"].as_array().unwrap().len()
        ),
        (None, 2)
    );

    for (config, what) in [
        (
            json!({"muxTracer": {}}),
            "muxTracer: no tracer that muxTracer can hold",
        ),
        (
            json!({"erc7562Tracer": {}}),
            "erc7562Tracer: no tracer that muxTracer can hold",
        ),
        (
            json!({"prestateTracer": {"diffMode": 1}}),
            "prestateTracer: ",
        ),
        (json!([]), "expected an object"),
    ] {
        let error = node
            .rpc_error(
                "debug_traceTransaction",
                json!([hash, tracer("muxTracer", config)]),
            )
            .await;

        let data = error["data"].as_str().unwrap();
        assert!(
            data.starts_with(&format!("params[1]: tracerConfig: {what}")),
            "{error}"
        );
    }
    node.end().await;
}

#[tokio::test]
async fn new_accounts_are_in_the_prestate_on_request_only() {
    let node = node().await;
    let receipt = send(&node, json!({"to": FRESH, "value": "0x1"})).await;
    let hash = &receipt["transactionHash"];
    let sender = format!("{:#x}", node.account(0));

    let before = traced(&node, hash, "prestateTracer", json!({})).await;
    assert_eq!(
        (before.get(FRESH), before[&sender]["balance"].is_string()),
        (None, true)
    );
    let empty = traced(&node, hash, "prestateTracer", json!({"includeEmpty": true})).await;
    assert_eq!(empty[FRESH], json!({"balance": "0x0"}));
    let diff = traced(&node, hash, "prestateTracer", json!({"diffMode": true})).await;
    assert_eq!(
        (diff["pre"].get(FRESH), &diff["post"][FRESH]),
        (None, &json!({"balance": "0x1"}))
    );
    assert_eq!(diff["pre"][&sender], before[&sender]);
    assert_eq!(diff["post"][&sender]["nonce"], 1);
    let both = tracer(
        "prestateTracer",
        json!({"diffMode": true, "includeEmpty": true}),
    );
    let error = node
        .rpc_error("debug_traceTransaction", json!([hash, both]))
        .await;
    assert_eq!(
        error["data"],
        "params[1]: tracerConfig: cannot use diffMode with includeEmpty"
    );

    // The same applies to a created contract.
    let receipt = send(&node, json!({"data": "0x60fe5f5360015ff3"})).await;
    let created = receipt["contractAddress"].as_str().unwrap();
    let diff = traced(
        &node,
        &receipt["transactionHash"],
        "prestateTracer",
        json!({"diffMode": true}),
    )
    .await;
    let expected = json!({"code": "0xfe", "codeHash": keccak256(hex!("fe")), "nonce": 1});
    assert_eq!(
        (diff["pre"].get(created), &diff["post"][created]),
        (None, &expected)
    );
    node.end().await;
}

#[tokio::test]
async fn prestates_have_code_hashes_and_the_enabled_parts() {
    let node = node().await;
    set_code(&node, AT, COUNTER_CODE).await;
    let mut hash = Value::Null;
    for _ in 0..2 {
        hash = send(&node, json!({"to": AT})).await["transactionHash"].clone();
    }
    let code_hash = json!(keccak256(hex::decode(COUNTER_CODE).unwrap()));
    let (slot, word) = (format!("0x{:064x}", 0), |number: u8| {
        format!("0x{number:064x}")
    });
    let whole = json!({"balance": "0x0", "code": COUNTER_CODE, "codeHash": code_hash, "storage": {&slot: word(1)}});
    let of = async |config: Value| traced(&node, &hash, "prestateTracer", config).await;

    assert_eq!(of(json!({})).await[AT], whole);
    let mut bare = whole.clone();
    bare.as_object_mut().unwrap().remove("code");
    assert_eq!(of(json!({"disableCode": true})).await[AT], bare);
    bare.as_object_mut().unwrap().remove("storage");
    assert_eq!(
        of(json!({"disableCode": true, "disableStorage": true})).await[AT],
        bare
    );
    let diff = of(json!({"diffMode": true})).await;
    assert_eq!(
        (&diff["pre"][AT], &diff["post"][AT]),
        (&whole, &json!({"storage": {&slot: word(2)}}))
    );
    // Nothing else of the contract changed.
    let diff = of(json!({"diffMode": true, "disableStorage": true})).await;
    assert_eq!((diff["pre"].get(AT), diff["post"].get(AT)), (None, None));
    node.end().await;
}

/// Delegates the second account to `address`, and returns what that changed.
async fn delegate(node: &TestNode, address: Address, nonce: u64) -> Value {
    let authorization = Authorization {
        chain_id: U256::from(125),
        address,
        nonce,
    };
    let signature = signer(1)
        .sign_hash_sync(&authorization.signature_hash())
        .unwrap();
    let transaction = TxEip7702 {
        chain_id: 125,
        nonce,
        gas_limit: 100_000,
        max_fee_per_gas: 10_000_000_000,
        max_priority_fee_per_gas: 1,
        to: Address::with_last_byte(0xaa),
        authorization_list: vec![authorization.into_signed(signature)],
        ..Default::default()
    };
    let raw: Bytes = raw(transaction, 0);

    let hash = node.rpc("eth_sendRawTransaction", json!([raw])).await;
    traced(node, &hash, "prestateTracer", json!({"diffMode": true})).await
}

#[tokio::test]
async fn a_cleared_delegation_is_empty_code_in_the_state_after() {
    let node = node().await;
    let authority = format!("{:#x}", node.account(1));
    let target = Address::with_last_byte(0xbb);
    let code = [&hex!("ef0100")[..], target.as_slice()].concat();
    let text = hex::encode_prefixed(&code);
    let hash = keccak256(&code);

    let set = delegate(&node, target, 0).await;
    assert_eq!(
        set["post"][&authority],
        json!({"code": text, "codeHash": hash, "nonce": 1})
    );
    assert_eq!(
        (
            set["pre"][&authority].get("code"),
            set["pre"][&authority].get("codeHash")
        ),
        (None, None)
    );

    let cleared = delegate(&node, Address::ZERO, 1).await;
    assert_eq!(
        cleared["post"][&authority],
        json!({"code": "0x", "codeHash": keccak256([]), "nonce": 2})
    );
    let before = &cleared["pre"][&authority];
    assert_eq!(
        (&before["code"], &before["codeHash"]),
        (&json!(text), &json!(hash))
    );
    node.end().await;
}

//! Input that nests as deeply as its length allows, to every interface that reads any.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{TestNode, node, node_with};

/// Levels of nesting: a few kilobytes, and megabytes.
const DEPTHS: [usize; 2] = [1_000, 500_000];

/// A contract that calls itself with all its gas.
const AT: &str = "0x00000000000000000000000000000000000000aa";
const CALLS_ITSELF: &str = "0x5f5f5f5f5f305af100";

fn nested(open: &str, close: &str, depth: usize) -> String {
    open.repeat(depth) + &close.repeat(depth)
}

/// RLP of lists in lists.
fn nested_rlp(depth: usize) -> String {
    let mut heads: Vec<Vec<u8>> = Vec::new();
    let mut length = 0_usize;
    for _ in 0..depth {
        let head = if length < 56 {
            vec![0xc0 + length as u8]
        } else {
            let bytes: Vec<u8> = length
                .to_be_bytes()
                .into_iter()
                .skip_while(|byte| *byte == 0)
                .collect();
            [vec![0xf7 + bytes.len() as u8], bytes].concat()
        };
        length += head.len();
        heads.push(head);
    }
    heads.reverse();
    format!("0x{}", alloy::primitives::hex::encode(heads.concat()))
}

/// Sends a body and returns the response, which always comes.
async fn post(node: &TestNode, path: &str, kind: &str, body: String) -> String {
    let request = node
        .http
        .post(format!("{}{path}", node.rest_url()))
        .header("content-type", kind)
        .body(body);
    request
        .send()
        .await
        .expect("an answer")
        .text()
        .await
        .expect("a text")
}

async fn is_alive(node: &TestNode) {
    assert_eq!(node.rpc("eth_chainId", json!([])).await, "0x7d");
}

/// The parameters of a request for the signature of typed data.
fn typed_data(account: alloy::primitives::Address, types: &str, message: &str) -> String {
    format!(
        r#"["{account}",{{"types":{types},"primaryType":"A","domain":{{}},"message":{message}}}]"#
    )
}

#[tokio::test]
async fn json_rpc_answers_requests_of_any_depth() {
    let node = node().await;
    let account = node.account(0);
    for depth in DEPTHS {
        let arrays = nested("[", "]", depth);
        let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        let rlp = nested_rlp(depth.min(100_000));

        let member = |kind: String| format!(r#"{{"A":[{{"name":"a","type":"{kind}"}}]}}"#);

        let chain = (0..depth.min(20_000))
            .map(|at| format!(r#""T{at}":[{{"name":"a","type":"T{}"}}]"#, at + 1));
        let chain = format!(
            r#"{{"A":[{{"name":"a","type":"T0"}}],{}}}"#,
            chain.collect::<Vec<_>>().join(",")
        );

        for (method, params) in [
            ("eth_call", arrays.clone()),
            ("eth_call", format!("[{objects}]")),
            (
                "eth_call",
                format!(r#"[{{"to":"{AT}","accessList":{arrays}}}]"#),
            ),
            (
                "eth_call",
                format!(r#"[{{"to":"{AT}"}},"latest",{{"{AT}":{arrays}}}]"#),
            ),
            ("eth_getLogs", format!(r#"[{{"topics":{arrays}}}]"#)),
            ("eth_newFilter", format!(r#"[{{"address":{arrays}}}]"#)),
            (
                "eth_simulateV1",
                format!(r#"[{{"blockStateCalls":{arrays}}},"latest"]"#),
            ),
            (
                "anvil_loadState",
                format!(
                    r#"["0x{}"]"#,
                    alloy::primitives::hex::encode(format!("{{\"accounts\":{arrays}}}"))
                ),
            ),
            (
                "debug_traceCall",
                format!(r#"[{{}},"latest",{{"tracer":"muxTracer","tracerConfig":{objects}}}]"#),
            ),
            ("eth_sendRawTransaction", format!(r#"["{rlp}"]"#)),
            (
                "eth_sendRawTransaction",
                format!(r#"["0x04{}"]"#, &rlp[2..]),
            ),
            ("debug_traceBlock", format!(r#"["{rlp}"]"#)),
            ("trace_rawTransaction", format!(r#"["{rlp}",["trace"]]"#)),
            (
                "eth_signTypedData_v4",
                typed_data(
                    account,
                    &member(format!("uint256{}", "[]".repeat(depth))),
                    "{}",
                ),
            ),
            (
                "eth_signTypedData_v4",
                typed_data(account, &member(nested("(", ")", depth)), "{}"),
            ),
            ("eth_signTypedData_v4", typed_data(account, &chain, "{}")),
            (
                "eth_signTypedData_v4",
                typed_data(account, r#"{"A":[]}"#, &objects),
            ),
            ("eth_none", arrays.clone()),
        ] {
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            let response = node.post(body).await;

            // Unknown members are ignored.
            let is_ignored = params.starts_with("[{\"a\"") && method == "eth_call";
            assert!(
                is_ignored || response["error"].is_object(),
                "{method}: {response}"
            );
        }

        let in_id = node
            .post(format!(
                r#"{{"jsonrpc":"2.0","id":{arrays},"method":"eth_chainId","params":[]}}"#
            ))
            .await;
        assert_eq!(in_id["error"]["code"], -32600);
        assert!(node.post(arrays).await[0]["error"].is_object());
        is_alive(&node).await;
    }
    node.end().await;
}

fn exceeds_a_limit(answer: &str) -> bool {
    answer.contains("recursion limit") || answer.contains("at most 200000 values")
}

#[tokio::test]
async fn other_interfaces_answer_documents_of_any_depth() {
    let node = node().await;
    for depth in DEPTHS {
        let arrays = nested("[", "]", depth);
        for query in [
            format!(
                "{{ block {}{} }}",
                "{ parent ".repeat(depth),
                "}".repeat(depth)
            ),
            "{".repeat(depth),
            format!("{{ logs(filter: {{ addresses: {arrays} }}) {{ index }} }}"),
            format!("query($a: {arrays}) {{ chainID }}"),
        ] {
            let answer = post(
                &node,
                "/graphql",
                "application/json",
                json!({"query": query}).to_string(),
            )
            .await;
            assert!(answer.contains("more than 64 nested brackets"), "{answer}");
        }

        let variables = format!(r#"{{"query":"{{ chainID }}","variables":{{"a":{arrays}}}}}"#);
        let answer = post(&node, "/graphql", "application/json", variables).await;
        assert!(exceeds_a_limit(&answer), "{answer}");

        let depth = depth.min(10_000);
        for document in [
            format!("a = {}", nested("[", "]", depth)),
            format!("a = {}1{}", "{a=".repeat(depth), "}".repeat(depth)),
            format!("[{}]", vec!["a"; depth].join(".")),
            format!("[[{}]]", vec!["a"; depth].join(".")),
            format!("{} = 1", vec!["a"; depth].join(".")),
        ] {
            let answer = post(&node, "/api/admin/scenarios", "application/toml", document).await;
            assert!(
                answer.contains("recursion") || answer.contains("recurse"),
                "{answer}"
            );
        }

        let upload = format!(
            r#"{{"stdJsonInput":{arrays},"compilerVersion":"0.8.30","contractIdentifier":"A"}}"#
        );
        let answer = post(
            &node,
            &format!("/sourcify/v2/verify/125/{AT}"),
            "application/json",
            upload,
        )
        .await;
        assert!(
            exceeds_a_limit(&answer) || answer.contains("this node runs no compilers"),
            "{answer}"
        );

        is_alive(&node).await;
    }
    node.end().await;
}

/// The EVM lets calls nest 1,024 deep. Their traces nest as deeply.
#[tokio::test]
async fn every_tracer_traces_calls_at_the_maximum_depth() {
    let node = node_with(|config| {
        config.rpc.gas_cap = 1 << 53;
        config.rpc.execution_timeout = Duration::from_secs(60);
    });
    let node = node.await;

    let overrides = json!({AT: {"code": CALLS_ITSELF}});
    let call = json!({"to": AT, "gas": format!("{:#x}", 1_u64 << 53)});

    for tracer in [
        "callTracer",
        "flatCallTracer",
        "prestateTracer",
        "4byteTracer",
        "erc7562Tracer",
    ] {
        let options = json!({"tracer": tracer, "stateOverrides": overrides});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "debug_traceCall", "params": [call, "latest", options]});
        let answer = post(&node, "/rpc", "application/json", body.to_string()).await;

        let calls = answer.matches("\"gasUsed\"").count();
        let expected = if matches!(tracer, "prestateTracer" | "4byteTracer") {
            0
        } else {
            1_026
        };
        assert!(calls >= expected.min(1_025), "{tracer}: {calls} calls");
        assert!(answer.contains("\"result\""), "{tracer}");
    }

    let types = json!(["trace", "vmTrace", "stateDiff"]);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "trace_call", "params": [call, types, "latest", overrides]});
    let answer = post(&node, "/rpc", "application/json", body.to_string()).await;
    assert!(answer.matches("\"traceAddress\"").count() > 1_000 && answer.contains("\"vmTrace\":{"));
    is_alive(&node).await;
    node.end().await;
}

/// Files are read on threads with 2 MiB of stack here, as those of a node are.
#[test]
fn files_of_any_depth_are_refused() {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread
        .spawn(|| {
            for depth in [1_000, 1_000_000] {
                assert_files_are_refused(depth);
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

fn assert_files_are_refused(depth: usize) {
    let arrays = nested("[", "]", depth);
    assert!(serde_json::from_str::<Value>(&arrays).is_err());

    let directory = tempfile::tempdir().unwrap();
    let genesis = directory.path().join("genesis.json");
    std::fs::write(
        &genesis,
        format!(r#"{{"config":{{"x":{arrays}}},"alloc":{{}}}}"#),
    )
    .unwrap();
    let refused = tetrad::genesis::file::load(&genesis).unwrap_err();
    assert!(refused.to_string().contains("recursion limit"), "{refused}");

    let kind = format!("uint8{}", "[]".repeat(depth));
    let abi = json!([{
        "type": "function",
        "name": "f",
        "inputs": [{"name": "a", "type": kind}],
        "outputs": [],
        "stateMutability": "view",
    }]);
    let refused = tetrad_contracts::sources::read_abi(abi).unwrap_err();
    assert_eq!(
        refused,
        "the ABI has a type that is nested more than 64 deep"
    );
}

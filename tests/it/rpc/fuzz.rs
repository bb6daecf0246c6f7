//! Bytes that nobody meant: mutations of what clients send, by the thousand here and by the million with
//! `TETRAD_FUZZ_CASES` or cargo-fuzz (`fuzz/`). Nothing may panic, and every answer is JSON.

use std::sync::Arc;

use alloy_eips::eip2718::Encodable2718;
use alloy_rlp::Decodable;
use proptest::{
    prelude::*,
    test_runner::{Config, TestCaseError, TestRunner},
};
use serde_json::{Value, json};
use tetrad::internals::{
    block::Submission,
    chain::{ForeignBlock, Keyring, apply},
    rpc::{Answers, Rpc, RpcConfig, examples, fuzzing},
    web::Execution,
};

use crate::support::{node, node_with};

/// One edit: where, what, and with which byte.
type Edit = (u16, u8, u8);

/// Pieces that readers are likely to trip over.
const PIECES: [&[u8]; 24] = [
    b"0x",
    b"\"0x\"",
    b"null",
    b"{}",
    b"[]",
    b"[[[[",
    b"]}",
    b"\\",
    b"\\u0000",
    b"\"",
    b"-1",
    b"1e999",
    b"0xffffffffffffffff",
    b"18446744073709551616",
    b"\xff",
    b"\xef\xbf\xbd",
    b"0xef0100",
    b"latest",
    b"{{}}",
    b",",
    b":",
    b"0x00",
    b"true",
    b"\n",
];

fn mutated(seed: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for &(at, kind, value) in edits {
        let at = usize::from(at) % (bytes.len() + 1);
        let end = (at + usize::from(value % 16)).min(bytes.len());
        match kind % 7 {
            0 if at < bytes.len() => bytes[at] ^= value.max(1),
            1 => bytes.insert(at, value),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let copied = bytes[at..end].to_vec();
                bytes.splice(at..at, copied);
            }
            4 => drop(bytes.splice(at..end, PIECES[usize::from(value) % PIECES.len()].iter().copied())),
            5 => bytes.truncate(at.max(1)),
            _ => bytes.splice(at..at, PIECES[usize::from(value) % PIECES.len()].iter().copied()).for_each(drop),
        }
    }
    bytes
}

/// Mutates each of `seeds` in turn and hands it to `check`.
fn fuzz(usual: u32, seeds: &[Vec<u8>], mut check: impl FnMut(&[u8])) {
    let cases = std::env::var("TETRAD_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let strategy = (any::<prop::sample::Index>(), prop::collection::vec(any::<Edit>(), 0..8));
    let check = std::cell::RefCell::new(&mut check);
    let run = TestRunner::new(config).run(&strategy, |(seed, edits)| {
        let input = mutated(seed.get::<Vec<u8>>(seeds), &edits);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check.borrow_mut()(&input)));
        caught.map_err(|_| TestCaseError::fail(format!("{:?}", String::from_utf8_lossy(&input))))
    });
    run.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Every request of the documentation.
fn requests() -> Vec<Value> {
    let mut answers = Answers::default();
    let mut all = Vec::new();
    for exchange in examples().iter().flat_map(|example| &example.exchanges) {
        let request: Value = serde_json::from_str(&answers.fill_in(exchange.request)).unwrap();
        let mut response: Value = serde_json::from_str(exchange.response).unwrap();
        answers.remember(request["method"].as_str().unwrap(), response["result"].take());
        all.push(json!({"jsonrpc": "2.0", "id": 1, "method": request["method"], "params": request["params"]}));
    }
    all
}

fn bodies() -> Vec<Vec<u8>> {
    let requests = requests();
    let batch = Value::from(requests[..3].to_vec()).to_string().into_bytes();
    requests.iter().map(|request| request.to_string().into_bytes()).chain([batch]).collect()
}

#[test]
fn any_body_is_read_or_refused() {
    let mut requests = 0;
    fuzz(20_000, &bodies(), |body| requests += fuzzing::envelope(body));
    assert!(requests > 0);
}

#[test]
fn any_json_is_a_parameter_or_not() {
    let each = requests().into_iter().flat_map(|mut request| match request["params"].take() {
        Value::Array(params) => params,
        _ => Vec::new(),
    });
    let seeds: Vec<Vec<u8>> = each.map(|param| param.to_string().into_bytes()).collect();
    let mut taken = 0;
    fuzz(20_000, &seeds, |json| taken += fuzzing::parameters(json));
    assert!(taken > 0);
}

#[test]
fn any_bytes_are_a_transaction_or_not() {
    let raw = requests().into_iter().filter(|request| request["method"] == "eth_sendRawTransaction");
    let raw = raw.map(|request| request["params"][0].as_str().unwrap().to_owned());
    let mut seeds: Vec<Vec<u8>> = raw.map(|text| alloy_primitives::hex::decode(text).unwrap()).collect();
    // The other types are begun by another byte, and legacy ones by none.
    seeds.extend([1, 3, 4].map(|kind| [&[kind], &seeds[0][1..]].concat()));
    seeds.push(seeds[0][1..].to_vec());
    fuzz(5_000, &seeds, |bytes| drop(Submission::decode(bytes)));
}

#[tokio::test]
async fn any_block_is_imported_or_refused() {
    let node = node().await;
    for index in 0..3 {
        let request = json!({"from": node.account(index), "to": node.account(9), "value": "0x1"});
        node.rpc("eth_sendTransaction", json!([request])).await;
    }
    let head = node.chain().head();
    // The blocks again, on top of their parents.
    let parent = head.genesis.clone();
    let genesis = tetrad::internals::chain::Head::genesis(head.params.clone(), parent, head.state_after(0).unwrap());
    let seeds: Vec<Vec<u8>> = head.blocks_from(1).map(|block| block.encode().to_vec()).collect();
    assert!(seeds[0].len() > 500 && head.block.transactions[0].envelope.encode_2718_len() > 50);
    let mut decoded = 0;
    fuzz(2_000, &seeds, |bytes| {
        if let Ok(block) = ForeignBlock::decode(&mut &bytes[..]) {
            decoded += 1;
            drop(apply(&genesis, block));
        }
    });
    assert!(decoded > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn any_request_is_answered_in_json() {
    let node = node_with(|config| config.no_mining = true).await;
    let config = RpcConfig { gas_cap: 1_000_000, max_trace_bytes: 1 << 20, development: false, ..RpcConfig::default() };
    let execution = Arc::new(Execution::new(config.max_executions));
    let keyring = Arc::new(Keyring::default());
    let rpc = Rpc::new(node.chain().clone(), keyring, config, node.known().clone(), None, execution);
    let answer = |body: &[u8]| {
        let answered = futures_util::FutureExt::now_or_never(rpc.answer(Default::default(), body));
        answered.map(|(answer, _)| answer)
    };
    // What waits for something else is not waited for; what answers at once is most of it.
    let mut answered = 0;
    fuzz(2_000, &bodies(), |body| {
        if let Some(answer) = answer(body) {
            answered += 1;
            serde_json::from_slice::<Value>(&answer).unwrap();
        }
    });
    assert!(answered > 0);
}

//! Input from clients of JSON-RPC and GraphQL. Every response is JSON.

use std::{fs, io::Write, sync::Arc};

use alloy_eips::eip2718::Encodable2718;
use alloy_rlp::Decodable;
use axum::body::Bytes;
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use tetrad_chain::{Dump, ForeignBlock, Keyring, apply};
use tetrad_primitives::block::Submission;
use tetrad_rpc::rpc::{Answers, Rpc, RpcConfig, examples, fuzzing};
use tetrad_web::Execution;

use super::{fuzz, small_chain};
use crate::{conformance::suite, support::node_with};

/// Every request of the documentation, and of the public suite if it is there.
fn requests() -> Vec<Value> {
    let mut answers = Answers::default();
    let mut all = Vec::new();
    for exchange in examples().iter().flat_map(|example| &example.exchanges) {
        let request: Value = serde_json::from_str(&answers.fill_in(exchange.request)).unwrap();
        let mut response: Value = serde_json::from_str(exchange.response).unwrap();
        answers.remember(
            request["method"].as_str().unwrap(),
            response["result"].take(),
        );
        all.push(json!({"jsonrpc": "2.0", "id": 1, "method": request["method"], "params": request["params"]}));
    }
    all.extend(recorded_requests());
    all
}

/// Every request of the public suite.
fn recorded_requests() -> Vec<Value> {
    let folders = suite().map(|folder| fs::read_dir(folder.join("cases")).unwrap());
    let files = folders
        .into_iter()
        .flatten()
        .flat_map(|method| fs::read_dir(method.unwrap().path()).unwrap());
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let requests = texts.flat_map(|text| {
        let sent = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix(">>"));
        sent.map(|sent| serde_json::from_str(sent).unwrap())
            .collect::<Vec<_>>()
    });
    requests.collect()
}

fn bodies() -> Vec<Vec<u8>> {
    let requests = requests();
    let batch = Value::from(requests[..3].to_vec()).to_string().into_bytes();
    requests
        .iter()
        .map(|request| request.to_string().into_bytes())
        .chain([batch])
        .collect()
}

#[test]
fn any_body_either_parses_or_is_refused() {
    assert!(fuzz("envelope", 20_000, &bodies(), fuzzing::envelope) > 0);
}

#[test]
fn documents_on_a_socket_do_not_depend_on_how_bytes_are_split() {
    // Two consecutive requests, after the length of the pieces.
    let bodies = bodies();
    let seeds: Vec<Vec<u8>> = bodies
        .windows(2)
        .zip([1, 7, 64, 255].into_iter().cycle())
        .map(|(two, piece)| [&[piece], &two[0][..], b"\n", &two[1][..]].concat())
        .collect();
    let check = tetrad_web::fuzzing::documents;
    assert!(fuzz("documents", 20_000, &seeds, check) > 0);
}

#[test]
fn any_json_either_parses_as_a_parameter_or_fails() {
    let each = requests()
        .into_iter()
        .flat_map(|mut request| match request["params"].take() {
            Value::Array(params) => params,
            _ => Vec::new(),
        });
    let seeds: Vec<Vec<u8>> = each.map(|param| param.to_string().into_bytes()).collect();
    assert!(fuzz("parameters", 20_000, &seeds, fuzzing::parameters) > 0);
}

#[test]
fn any_bytes_either_decode_to_a_transaction_or_fail() {
    let raw = requests()
        .into_iter()
        .filter(|request| request["method"] == "eth_sendRawTransaction");
    let raw = raw.map(|request| request["params"][0].as_str().unwrap().to_owned());
    let mut seeds: Vec<Vec<u8>> = raw
        .map(|text| alloy_primitives::hex::decode(text).unwrap())
        .collect();
    // Other types begin with another byte, and legacy ones with none.
    seeds.extend([1, 3, 4].map(|kind| [&[kind], &seeds[0][1..]].concat()));
    seeds.push(seeds[0][1..].to_vec());
    assert!(
        fuzz("transaction", 5_000, &seeds, |bytes| usize::from(
            Submission::decode(bytes).is_ok()
        )) > 0
    );
}

#[test]
fn any_block_is_either_imported_or_refused() {
    let head = small_chain::chain(&small_chain::runtime()).head();
    let genesis = small_chain::genesis();
    let mut seeds: Vec<Vec<u8>> = head
        .blocks_from(1)
        .map(|block| block.encode().to_vec())
        .collect();
    let chain = suite()
        .map(|folder| fs::read(folder.join("chain.rlp")).unwrap())
        .unwrap_or_default();
    let mut rest = &chain[..];
    while !rest.is_empty() {
        let before = rest;
        alloy_rlp::Header::decode_bytes(&mut rest, true).unwrap();
        seeds.push(before[..before.len() - rest.len()].to_vec());
    }
    assert!(seeds[0].len() > 500 && head.block.transactions[0].envelope.encode_2718_len() > 50);
    let decoded = fuzz("block", 2_000, &seeds, |bytes| {
        let Ok(block) = ForeignBlock::decode(&mut &bytes[..]) else {
            return 0;
        };
        let _ = apply(&genesis, block);
        1
    });
    assert!(decoded > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn any_request_gets_a_json_response() {
    let node = node_with(|config| config.no_mining = true).await;
    let config = RpcConfig {
        gas_cap: 1_000_000,
        max_trace_bytes: 1 << 20,
        development: false,
        ..RpcConfig::default()
    };
    let execution = Arc::new(Execution::new(config.max_executions));
    let keyring = Arc::new(Keyring::default());
    let rpc = Rpc::new(
        node.chain().clone(),
        keyring,
        config,
        node.known().clone(),
        None,
        execution,
    );

    // Requests that wait for something else are dropped; most are answered at once.
    let answered = fuzz("request", 2_000, &bodies(), |body| {
        let answered =
            futures_util::FutureExt::now_or_never(rpc.answer(&Bytes::copy_from_slice(body)));
        let Some(answer) = answered else { return 0 };
        serde_json::from_slice::<Value>(&answer.into_parts().0).unwrap();
        1
    });
    assert!(answered > 0);
}

/// The members of a type of typed data, all of them texts.
fn texts(names: &[&str]) -> Vec<Value> {
    names
        .iter()
        .map(|name| json!({"name": name, "type": "string"}))
        .collect()
}

#[test]
fn any_json_either_parses_as_typed_data_with_one_hash_or_fails() {
    let mail = json!({
        "types": {
            "EIP712Domain": [
                {"name": "name", "type": "string"}, {"name": "version", "type": "string"},
                {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"},
            ],
            "Person": [{"name": "name", "type": "string"}, {"name": "wallets", "type": "address[2]"}],
            "Mail": [{"name": "from", "type": "Person"}, {"name": "to", "type": "Person[]"}, {"name": "data", "type": "bytes"}],
        },
        "primaryType": "Mail",
        "domain": {
            "name": "Ether Mail", "version": "1", "chainId": 1,
            "verifyingContract": "0xcccccccccccccccccccccccccccccccccccccccc",
        },
        "message": {
            "from": {"name": "Cow", "wallets": [format!("0x{}", "cd".repeat(20)), format!("0x{}", "de".repeat(20))]},
            "to": [], "data": "0x00ff",
        },
    });

    let cosmos = json!({
        "types": {
            "EIP712Domain": texts(&["name", "verifyingContract", "salt"]),
            "Tx": [{"name": "memo", "type": "string"}, {"name": "msgs", "type": "Msg[]"}, {"name": "n", "type": "int8"}],
            "Msg": texts(&["type"]),
        },
        "primaryType": "Tx",
        "domain": {"name": "Cosmos Web3", "verifyingContract": "cosmos", "salt": "0"},
        "message": {"memo": "hi", "msgs": [{"type": "a"}, {"type": "b"}], "n": "-5"},
    });

    let domain = json!({
        "types": {"EIP712Domain": texts(&["name"])}, "primaryType": "EIP712Domain", "domain": {"name": "a"}, "message": {},
    });

    let seeds = [&mail, &cosmos, &domain, &json!(mail.to_string())]
        .map(|data| data.to_string().into_bytes());

    for seed in &seeds {
        assert_eq!(
            fuzzing::typed_data(seed),
            1,
            "{}",
            String::from_utf8_lossy(seed)
        );
    }
    assert!(fuzz("typed_data", 2_000, &seeds, fuzzing::typed_data) > 0);
}

#[test]
fn any_query_is_either_answered_within_its_limits_or_refused() {
    let runtime = small_chain::runtime();
    let queries = small_chain::graphql(&runtime);
    let address = format!("0x{}", "03".repeat(20));
    let seeds = [
        "{ block { number hash parent { hash } transactionCount transactions { hash from { address } logs { data topics } } } }",
        "{ a: block(number: 1) { ...F } b: block(number: \"0x2\") { ...F } } fragment F on Block { number ommers { hash } }",
        "query Q($n: Long = 1) { blocks(from: $n, to: 3) { number baseFeePerGas logsBloom withdrawals { amount } } }",
        "{ pending { transactionCount account(address: \"ADDRESS\") { balance transactionCount storage(slot: \"0x0\") } } }",
        "{ logs(filter: { fromBlock: 0, addresses: [\"ADDRESS\"], topics: [[]] }) { index account { code } transaction { hash } } }",
        "{ block { call(data: { to: \"ADDRESS\", data: \"0x\" }) { data gasUsed status } estimateGas(data: { to: \"ADDRESS\" }) } }",
        "{ gasPrice maxPriorityFeePerGas chainID syncing { currentBlock } transaction(hash: \"0x00\") { nonce } }",
        "{ block { ... on Block @include(if: true) { number @skip(if: false) } transactionAt(index: 0) { raw rawReceipt } } }",
        "mutation { sendRawTransaction(data: \"0x00\") }",
        "{ __schema { types { name fields { name type { kind ofType { name } } } } } }",
    ];
    let mut seeds: Vec<Vec<u8>> = seeds
        .map(|query| query.replace("ADDRESS", &address).into_bytes())
        .into();
    let query = String::from_utf8_lossy(&seeds[2]).into_owned();
    seeds.push(
        json!({"query": query, "operationName": "Q", "variables": {"n": "0x1"}})
            .to_string()
            .into_bytes(),
    );
    let answered: usize = seeds.iter().map(|seed| queries.run(seed)).sum();
    assert!(answered >= 8, "{answered} of {}", seeds.len());
    assert!(fuzz("graphql", 1_000, &seeds, |body| queries.run(body)) > 0);
}

#[test]
fn any_dump_either_loads_into_a_chain_that_continues_or_is_refused() {
    let runtime = small_chain::runtime();
    let chain = small_chain::chain(&runtime);
    let head = chain.head();
    let mut whole = Vec::new();
    Dump::write(&head, 0, &mut whole).unwrap();
    let mut plain: Value = serde_json::from_slice(&whole).unwrap();
    plain.as_object_mut().unwrap().remove("tetrad");
    let accounts = json!({"accounts": {format!("0x{}", "05".repeat(20)): {"nonce": 1, "balance": "0x5", "code": "0x00"}}});
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(accounts.to_string().as_bytes()).unwrap();
    let seeds = [
        whole,
        plain.to_string().into_bytes(),
        accounts.to_string().into_bytes(),
        packed.finish().unwrap(),
    ];
    for seed in &seeds {
        assert_eq!(runtime.block_on(fuzzing::dump(&chain, seed)), 1);
    }
    assert!(
        fuzz("dump", 300, &seeds, |packed| runtime
            .block_on(fuzzing::dump(&chain, packed)))
            > 0
    );
}

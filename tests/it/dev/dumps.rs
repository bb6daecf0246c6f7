//! Dumping and loading a whole chain.

use serde_json::{Value, json};
use tetrad_contracts::contracts::bindings::Token;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::UNUSED_ADDRESS;
use crate::support::{TestNode, chain::token, node, node_with, number};

/// The answers that two nodes must have in common.
async fn seen(node: &TestNode, hash: &Value, height: u128) -> Vec<Value> {
    let mut seen = vec![
        node.rpc("eth_getTransactionReceipt", json!([hash])).await,
        node.rpc("eth_getTransactionByHash", json!([hash])).await,
        node.rpc("eth_getLogs", json!([{"fromBlock": "0x0"}])).await,
        node.rpc("eth_chainId", json!([])).await,
        node.rpc("eth_getBalance", json!([UNUSED_ADDRESS, "latest"]))
            .await,
    ];
    for at in 0..=height {
        let at = format!("{at:#x}");
        seen.push(node.rpc("eth_getBlockByNumber", json!([at, true])).await);
        seen.push(
            node.rpc("eth_getBalance", json!([node.account(0), at]))
                .await,
        );
        seen.push(
            node.rpc("eth_getProof", json!([UNUSED_ADDRESS, [], at]))
                .await,
        );
    }
    seen
}

#[tokio::test]
async fn another_node_continues_from_a_dump() {
    let (one, other) = tokio::join!(node(), node());
    one.rpc("anvil_setChainId", json!([31337])).await;
    one.rpc("anvil_setBalance", json!([UNUSED_ADDRESS, "0x10"]))
        .await;
    let usdc = token("USDC");
    let call = Token::transferCall {
        to: UNUSED_ADDRESS.parse().unwrap(),
        value: "5".parse().unwrap(),
    };
    let data = alloy::sol_types::SolCall::abi_encode(&call);
    let request = json!([{"from": one.account(0), "to": usdc.address, "data": alloy_primitives::hex::encode_prefixed(data)}]);
    let hash = one.rpc("eth_sendTransaction", request).await;
    one.rpc("anvil_mine", json!([20, 100])).await;
    one.rpc("anvil_autoImpersonateAccount", json!([true])).await;
    one.rpc(
        "anvil_setBalance",
        json!([UNUSED_ADDRESS, "0xde0b6b3a7640000"]),
    )
    .await;
    one.rpc(
        "eth_sendTransaction",
        json!([{"from": UNUSED_ADDRESS, "to": one.account(1), "value": "0x1"}]),
    )
    .await;
    one.rpc("anvil_setBalance", json!([UNUSED_ADDRESS, "0x77"]))
        .await;
    let height = one.height().await;
    let dump = one.rpc("anvil_dumpState", json!([])).await;

    other.send_wei(3).await;
    assert_eq!(other.rpc("anvil_loadState", json!([dump])).await, true);
    assert_eq!(
        seen(&other, &hash, height).await,
        seen(&one, &hash, height).await
    );
    // The time continues, and so does everything else.
    for node in [&one, &other] {
        node.send_wei(2).await;
    }
    let apart = number(&one.latest().await["timestamp"])
        .abs_diff(number(&other.latest().await["timestamp"]));
    assert!(apart < 60, "{apart} seconds");
    other.rpc("anvil_reorg", json!([5, []])).await;
    other.rpc("anvil_rollback", json!([15])).await;
    assert_eq!(
        other.latest().await["hash"],
        one.rpc(
            "eth_getBlockByNumber",
            json!([format!("{:#x}", height - 14), false])
        )
        .await["hash"]
    );
    other.send_wei(2).await;
}

/// The JSON of a dump.
fn unpacked(dump: &Value) -> String {
    let bytes = alloy_primitives::hex::decode(dump.as_str().unwrap()).unwrap();
    let mut json = String::new();
    std::io::Read::read_to_string(
        &mut flate2::read::GzDecoder::new(bytes.as_slice()),
        &mut json,
    )
    .unwrap();
    json
}

#[tokio::test]
async fn an_invalid_dump_changes_nothing() {
    let (one, other) = tokio::join!(node(), node());
    one.send_wei(0).await;
    let dump = one.rpc("anvil_dumpState", json!([])).await;
    let json = unpacked(&dump);

    let mut parsed: Value = serde_json::from_str(&json).unwrap();
    parsed["tetrad"]["base"][0]["after"]["balance"] = json!("0x1");
    let broken = alloy_primitives::hex::encode_prefixed(parsed.to_string());

    let before = other.latest().await;
    for (dump, expected) in [
        ("0x", "not a dump"),
        ("0x1f8b00", "cannot be unpacked"),
        (&broken, "state root"),
    ] {
        let error = other.rpc_error("anvil_loadState", json!([dump])).await;
        assert!(
            error["data"].as_str().unwrap().contains(expected),
            "{error}"
        );
    }

    assert_eq!(other.latest().await, before);

    // Uncompressed JSON is accepted.
    let whole = alloy_primitives::hex::encode_prefixed(json);
    assert_eq!(other.rpc("anvil_loadState", json!([whole])).await, true);
    assert_eq!(other.latest().await, one.latest().await);
}

/// Compressed JSON as a parameter.
fn packed(json: &str) -> String {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, json.as_bytes()).unwrap();
    alloy_primitives::hex::encode_prefixed(packed.finish().unwrap())
}

/// A dump with an account that has this many slots.
fn dump_with_slots(count: usize) -> String {
    let slots = "[\"0x1\",\"0x2\"],".repeat(count);
    let change = format!(
        "{{\"address\":\"{UNUSED_ADDRESS}\",\"after\":null,\"storage\":[{}]}}",
        slots.trim_end_matches(',')
    );
    format!(
        "{{\"accounts\":{{}},\"tetrad\":{{\"chainId\":1,\"ahead\":0,\"base\":[{change}],\"blocks\":[],\"edits\":[]}}}}"
    )
}

#[tokio::test]
async fn a_dump_that_would_take_too_much_memory_is_refused_early() {
    let node = node_with(|config| config.rpc.max_dump_bytes = 8 << 20).await;
    let before = node.latest().await;

    let bombs = [
        // Only blanks, brackets or slots, each of which becomes many times as large in memory.
        format!("{}{{}}", " ".repeat(64 << 20)),
        format!(
            "{{\"accounts\":{{}},\"tetrad\":{{\"chainId\":1,\"ahead\":0,\"base\":[],\"blocks\":[{}[]]}}}}",
            "[],".repeat(1 << 20)
        ),
        format!(
            "{{\"accounts\":{{}},\"historical_states\":[{}0]}}",
            "0,".repeat(4 << 20)
        ),
        dump_with_slots(1 << 20),
    ];

    for bomb in bombs {
        let error = node
            .rpc_error("anvil_loadState", json!([packed(&bomb)]))
            .await;
        let expected =
            "params[0]: the dump takes more than 8 MB of memory (rpc.max-dump-megabytes)";
        assert_eq!(error["data"], expected, "{error}");
    }

    // A dump within the limit is read completely.
    let error = node
        .rpc_error("anvil_loadState", json!([packed(&dump_with_slots(1_000))]))
        .await;
    assert!(
        error["data"]
            .as_str()
            .unwrap()
            .contains("0 blocks, but state changes of 1"),
        "{error}"
    );
    assert_eq!(node.latest().await, before);
}

#[tokio::test]
async fn a_chain_that_is_too_large_is_not_dumped() {
    let node = node_with(|config| config.rpc.max_dump_bytes = 4 << 20).await;
    assert!(node.rpc("anvil_dumpState", json!([])).await.is_string());
    let code = format!("0x{}", "5b".repeat(1 << 20));
    node.rpc("anvil_setCode", json!([UNUSED_ADDRESS, code]))
        .await;
    let error = node.rpc_error("anvil_dumpState", json!([])).await;
    assert_eq!(error["code"], -32003, "{error}");
    let expected = "response too large: a dump of the chain takes more than 4 MB of memory (rpc.max-dump-megabytes)";
    assert_eq!(error["message"], expected);
}

#[tokio::test]
async fn a_node_can_load_the_dump_of_another_node() {
    // Writing and reading have the same limit: a node can load the dump of another one with that
    // limit.
    let (one, other) = tokio::join!(node(), node());
    for _ in 0..20 {
        one.send_wei(1).await;
    }
    let dump = one.rpc("anvil_dumpState", json!([])).await;
    let json = unpacked(&dump);
    println!(
        "{} digits packed, {} bytes unpacked",
        dump.as_str().unwrap().len(),
        json.len()
    );

    let mut parsed: Value = serde_json::from_str(&json).unwrap();
    for name in [
        "block",
        "accounts",
        "best_block_number",
        "blocks",
        "transactions",
        "historical_states",
    ] {
        assert!(parsed.get(name).is_some(), "anvil reads {name}");
    }

    assert_eq!(other.rpc("anvil_loadState", json!([dump])).await, true);
    let again = other.rpc("anvil_dumpState", json!([])).await;
    let mut again: Value = serde_json::from_str(&unpacked(&again)).unwrap();

    // Only the offset of the time may differ.
    parsed["tetrad"]["ahead"] = Value::Null;
    again["tetrad"]["ahead"] = Value::Null;
    assert!(again == parsed, "a loaded dump is dumped unchanged");
}

#[tokio::test]
async fn a_dump_does_not_wait_for_another_clients_dumps() {
    let node = node().await;
    // A dump of this many blocks takes a while.
    node.rpc("anvil_mine", json!(["0x800"])).await;

    let many: Vec<_> = (0..100)
        .map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "anvil_dumpState"}))
        .collect();
    let body = Value::from(many).to_string();
    let head = format!(
        "POST /rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let mut other = TcpStream::connect(node.address()).await.unwrap();
    other.write_all((head + &body).as_bytes()).await.unwrap();
    // By the next answer, the node has read it.
    node.rpc("eth_chainId", json!([])).await;

    let mut begin = [0];
    tokio::select! {
        biased;
        read = other.read(&mut begin) => panic!("100 dumps were faster than one: {read:?}"),
        dump = node.rpc("anvil_dumpState", json!([])) => assert!(dump.is_string()),
    }
}

/// Dumps of the same five blocks by different versions of anvil (`--preserve-historical-states`): a
/// transfer, a contract, a call that clears one slot and sets another, a transaction with an access
/// list, and one of an impersonated account.
const DUMPS_OF_ANVIL: [(&str, &[u8]); 3] = [
    (
        "1.4.4",
        include_bytes!("../../data/anvil-states/1.4.4.json"),
    ),
    (
        "1.5.1",
        include_bytes!("../../data/anvil-states/1.5.1.json"),
    ),
    (
        "1.7.1",
        include_bytes!("../../data/anvil-states/1.7.1.json"),
    ),
];

#[tokio::test]
async fn dumps_of_anvils_versions_are_read_with_their_past_states() {
    let contract = "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512";
    let sender = "0x000000000000000000000000000000000000dea1";
    for (version, dump) in DUMPS_OF_ANVIL {
        let node = node_with(|config| {
            config.bare = true;
            config.chain_id = 31_337;
        })
        .await;
        let dump = alloy_primitives::hex::encode_prefixed(dump);
        assert_eq!(
            node.rpc("anvil_loadState", json!([dump])).await,
            true,
            "{version}"
        );
        assert_eq!(node.height().await, 5);

        for (block, slots, balance) in [
            ("0x0", [0, 0], "0x0"),
            ("0x1", [0, 0], "0xde0b6b3a7640000"),
            ("0x2", [0x2a, 7], "0xde0b6b3a7640000"),
            ("0x3", [0, 0x63], "0xde0b6b3a7640000"),
            ("0x4", [0, 0x63], "0xde0b6b3a7640001"),
            ("latest", [0, 0x63], "0xde09863618743a4"),
        ] {
            for (slot, value) in slots.into_iter().enumerate() {
                let read = node
                    .rpc(
                        "eth_getStorageAt",
                        json!([contract, format!("{slot:#x}"), block]),
                    )
                    .await;
                assert_eq!(number(&read), value, "{version}: {slot} at {block}");
            }
            let read = node.rpc("eth_getBalance", json!([sender, block])).await;
            assert_eq!(read, balance, "{version} at {block}");
        }

        let blocks = node.rpc("eth_getBlockByNumber", json!(["0x5", true])).await;
        let last = &blocks["transactions"][0];
        assert_eq!(last["from"], sender, "{version}");
        let call = node
            .rpc("eth_getBlockByNumber", json!(["0x3", false]))
            .await["transactions"][0]
            .clone();
        let receipt = node.rpc("eth_getTransactionReceipt", json!([call])).await;
        assert_eq!(receipt["logs"][0]["address"], contract, "{version}");

        // Another node continues from it, with the known past states.
        let again = node.rpc("anvil_dumpState", json!([])).await;
        let other = node_with(|config| config.bare = true).await;
        assert_eq!(other.rpc("anvil_loadState", json!([again])).await, true);
        let read = other
            .rpc("eth_getStorageAt", json!([contract, "0x0", "0x2"]))
            .await;
        assert_eq!(number(&read), 0x2a, "{version}");

        // The chain continues, and can return to the loaded blocks.
        node.rpc("anvil_mine", json!(["0x2"])).await;
        node.rpc("anvil_rollback", json!(["0x5"])).await;
        let read = node
            .rpc("eth_getStorageAt", json!([contract, "0x0", "latest"]))
            .await;
        assert_eq!(number(&read), 0x2a, "{version}");
    }
}

/// Anvil of 2024 hashed some headers in a different way.
#[tokio::test]
async fn a_dump_whose_blocks_have_other_hashes_is_read_from_its_newest_block() {
    let (_, dump) = DUMPS_OF_ANVIL[0];
    let mut dump: Value = serde_json::from_slice(dump).unwrap();
    for transaction in dump["transactions"].as_array_mut().unwrap() {
        let number = transaction["block_number"].as_u64().unwrap();
        transaction["block_hash"] = json!(format!("0x{number:064x}"));
    }

    let node = node_with(|config| config.bare = true).await;
    let dump = alloy_primitives::hex::encode_prefixed(dump.to_string());
    assert_eq!(node.rpc("anvil_loadState", json!([dump])).await, true);
    assert_eq!(node.height().await, 5);
    let hash = node.latest().await["transactions"][0].clone();
    let receipt = node.rpc("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["status"], "0x1");
}

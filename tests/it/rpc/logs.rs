//! Event logs: every kind of query against a linear search.

use alloy::primitives::{Address, B256, Bytes, U256};
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::{Value, json};

use crate::support::{TestNode, node, node_with, number};

/// Creation code of a contract that logs the words of its call data as topics, up to four of them.
fn logger_code() -> Bytes {
    // Copies the call data to memory, then jumps to the block for its length; block n pushes n
    // topics and logs.
    let mut runtime: Vec<u8> = vec![0x36, 0x5f, 0x5f, 0x37];
    let mut jumps = Vec::new();
    for n in 0..=4u8 {
        // CALLDATASIZE PUSH1 32n EQ PUSH1 <target> JUMPI
        runtime.extend([0x36, 0x60, 32 * n, 0x14, 0x60]);
        jumps.push(runtime.len());
        runtime.extend([0, 0x57]);
    }
    runtime.push(0x00);
    for n in 0..=4u8 {
        runtime[jumps[usize::from(n)]] = runtime.len() as u8;
        runtime.push(0x5b);
        for topic in (0..n).rev() {
            runtime.extend([0x60, 32 * topic, 0x51]);
        }
        runtime.extend([0x5f, 0x5f, 0xa0 + n, 0x00]);
    }
    let length = runtime.len() as u8;
    [
        &[
            0x60, length, 0x80, 0x60, 0x0b, 0x60, 0x00, 0x39, 0x60, 0x00, 0xf3,
        ][..],
        &runtime,
    ]
    .concat()
    .into()
}

/// Deploys a logger; the sender's nonce is known.
async fn logger(node: &TestNode, nonce: u64) -> Address {
    let request = json!({"from": node.account(0), "data": logger_code(), "gas": "0xf4240", "nonce": format!("{nonce:#x}")});
    node.rpc("eth_sendTransaction", json!([request])).await;
    node.account(0).create(nonce)
}

fn word(n: u64) -> B256 {
    U256::from(n).into()
}

/// Emits logs, each transaction in a block of its own.
async fn emit(node: &TestNode, from: Address, topics: &[u64]) {
    let data: Bytes = topics
        .iter()
        .flat_map(|n| word(*n).0)
        .collect::<Vec<_>>()
        .into();
    node.rpc(
        "eth_sendTransaction",
        json!([{"from": node.account(0), "to": from, "data": data, "gas": "0x186a0"}]),
    )
    .await;
}

/// A log as the test expects it.
#[derive(Clone, Debug)]
struct Emitted {
    block: u64,
    address: Address,
    topics: Vec<u64>,
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_find_exactly_the_matching_logs() {
    let node = node().await;
    let loggers = [logger(&node, 0).await, logger(&node, 1).await];
    let first = number(&node.rpc("eth_blockNumber", json!([])).await) as u64 + 1;
    let mut emitted = Vec::new();
    for n in 0..60u64 {
        let topics: Vec<u64> = (0..n % 5).map(|at| (n / 5 + at * 7) % 4).collect();
        let address = loggers[(n % 3 == 0) as usize];
        emit(&node, address, &topics).await;
        emitted.push(Emitted {
            block: first + n,
            address,
            topics,
        });
    }
    let last = first + 59;

    let position = prop_oneof![
        Just(None),
        prop::collection::vec(0u64..5, 1..3).prop_map(Some)
    ];
    let strategy = (
        prop::collection::vec(0usize..3, 0..3),
        prop::collection::vec(position, 0..=4),
        first..=last,
        first..=last,
    );
    let handle = tokio::runtime::Handle::current();
    let mut runner = TestRunner::new(ProptestConfig::with_cases(150));
    let outcome = tokio::task::block_in_place(|| {
        runner.run(&strategy, |(who, positions, a, b)| {
            let from = a.min(b);
            let to = a.max(b);
            let addresses: Vec<_> = who.iter().map(|at| *loggers.get(*at).unwrap_or(&Address::ZERO)).collect();

            let expected: Vec<_> = emitted
                .iter()
                .filter(|log| (from..=to).contains(&log.block))
                .filter(|log| addresses.is_empty() || addresses.contains(&log.address))
                .filter(|log| {
                    positions.len() <= log.topics.len()
                        && positions.iter().zip(&log.topics).all(|(wanted, topic)| wanted.as_ref().is_none_or(|all| all.contains(topic)))
                })
                .map(|log| log.block)
                .collect();

            let topics: Vec<Value> = positions
                .iter()
                .map(|position| match position.as_deref() {
                    None => Value::Null,
                    Some([one]) => json!(word(*one)),
                    Some(many) => json!(many.iter().map(|n| word(*n)).collect::<Vec<_>>()),
                })
                .collect();

            let filter = json!({"fromBlock": format!("{from:#x}"), "toBlock": format!("{to:#x}"), "address": addresses, "topics": topics});
            let logs = handle.block_on(node.rpc("eth_getLogs", json!([filter])));
            let found: Vec<_> = logs.as_array().unwrap().iter().map(|log| number(&log["blockNumber"]) as u64).collect();

            prop_assert_eq!(found, expected);
            Ok(())
        })
    });
    outcome.unwrap();
}

#[tokio::test]
async fn a_log_has_its_position() {
    let node = node_with(|config| config.no_mining = true).await;
    let logger = logger(&node, 0).await;
    node.rpc("evm_mine", json!([])).await;

    for topics in [vec![1], vec![], vec![2, 3]] {
        let data: Bytes = topics
            .iter()
            .flat_map(|n| word(*n).0)
            .collect::<Vec<_>>()
            .into();
        node.rpc(
            "eth_sendTransaction",
            json!([{"from": node.account(0), "to": logger, "data": data, "gas": "0x186a0"}]),
        )
        .await;
    }

    node.rpc("evm_mine", json!([])).await;
    let block = node
        .rpc("eth_getBlockByNumber", json!(["latest", false]))
        .await;
    let logs = node
        .rpc("eth_getLogs", json!([{"blockHash": block["hash"]}]))
        .await;
    let logs = logs.as_array().unwrap();

    assert_eq!(logs.len(), 3);
    for (index, log) in logs.iter().enumerate() {
        assert_eq!(log["logIndex"], json!(format!("{index:#x}")));
        assert_eq!(log["transactionIndex"], json!(format!("{index:#x}")));
        assert_eq!(log["transactionHash"], block["transactions"][index]);
        assert_eq!(
            (
                &log["blockHash"],
                &log["blockNumber"],
                &log["blockTimestamp"]
            ),
            (&block["hash"], &block["number"], &block["timestamp"])
        );
        assert_eq!(
            (&log["removed"], &log["data"]),
            (&json!(false), &json!("0x"))
        );

        let receipt = node
            .rpc("eth_getTransactionReceipt", json!([log["transactionHash"]]))
            .await;
        assert_eq!(&receipt["logs"][0], log);
    }
}

#[tokio::test]
async fn invalid_ranges_are_refused() {
    let node = node().await;
    node.rpc("evm_mine", json!([])).await;
    let hash = B256::repeat_byte(1);
    for (filter, code) in [
        (json!({"fromBlock": "0x1", "toBlock": "0x0"}), -32602),
        (json!({"fromBlock": "0x0", "toBlock": "0x9"}), -32602),
        (json!({"fromBlock": "pending"}), -32602),
        (json!({"blockHash": hash, "fromBlock": "0x0"}), -32602),
        (json!({"topics": [null, null, null, null, null]}), -32602),
        (json!({"address": vec![Address::ZERO; 1_001]}), -32602),
        (json!({"blockHash": hash}), -32000),
    ] {
        assert_eq!(
            node.rpc_error("eth_getLogs", json!([filter])).await["code"],
            code,
            "{filter}"
        );
    }
    assert_eq!(node.rpc("eth_getLogs", json!([{}])).await, json!([]));
}

#[tokio::test]
async fn a_query_with_too_many_results_names_the_last_block_that_fits() {
    let node = node_with(|config| config.rpc.max_logs = 3).await;
    let logger = logger(&node, 0).await;
    for _ in 0..4 {
        emit(&node, logger, &[1]).await;
    }
    let error = node
        .rpc_error(
            "eth_getLogs",
            json!([{"fromBlock": "earliest", "address": logger}]),
        )
        .await;
    let expected = "query returned more than 3 results; narrow the range (up to block 5)";
    assert_eq!(
        error,
        json!({"code": -32602, "message": "Invalid params", "data": expected})
    );
    assert_eq!(
        node.rpc(
            "eth_getLogs",
            json!([{"fromBlock": "earliest", "toBlock": "0x4", "address": logger}])
        )
        .await
        .as_array()
        .unwrap()
        .len(),
        3
    );
}

//! Data derived from every block of the chain: proofs, encodings and traces.

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_rlp::{Decodable, Encodable};
use alloy_trie::{Nibbles, TrieAccount, proof::verify_proof};
use serde_json::{Value, json};

use super::imported;
use crate::support::{TestNode, number};

fn parsed<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// Proves an account at a block and checks the proof; returns whether the account exists.
async fn prove(
    node: &TestNode,
    root: B256,
    block: &Value,
    address: Address,
    slots: &[B256],
) -> bool {
    let proof = node
        .rpc("eth_getProof", json!([address, slots, block]))
        .await;
    let storage_root: B256 = parsed(&proof["storageHash"]);
    let exists = storage_root != B256::ZERO;

    let account = TrieAccount {
        nonce: number(&proof["nonce"]) as u64,
        balance: parsed(&proof["balance"]),
        storage_root,
        code_hash: parsed(&proof["codeHash"]),
    };
    let expected = exists.then(|| alloy_rlp::encode(account));
    let nodes: Vec<Bytes> = parsed(&proof["accountProof"]);
    verify_proof(root, Nibbles::unpack(keccak256(address)), expected, &nodes).unwrap();

    for (slot, proved) in slots.iter().zip(proof["storageProof"].as_array().unwrap()) {
        let value: U256 = parsed(&proved["value"]);
        let stored = node
            .rpc("eth_getStorageAt", json!([address, slot, block]))
            .await;
        assert_eq!(U256::from_be_bytes(parsed::<B256>(&stored).0), value);

        let nodes: Vec<Bytes> = parsed(&proved["proof"]);
        if storage_root == B256::ZERO || storage_root == alloy_trie::EMPTY_ROOT_HASH {
            assert!(nodes.is_empty() && value.is_zero());
            continue;
        }

        let expected = (!value.is_zero()).then(|| alloy_rlp::encode(value));
        verify_proof(
            storage_root,
            Nibbles::unpack(keccak256(slot)),
            expected,
            &nodes,
        )
        .unwrap();
    }

    exists
}

#[tokio::test]
async fn account_proofs_match_the_root_of_every_block() {
    let Some(node) = imported().await else { return };
    let state = node.chain().head().state.clone();
    let accounts: Vec<_> = state.accounts().map(|account| account.address).collect();
    for height in (0..=54u64).step_by(9) {
        let tag = json!(format!("{height:#x}"));
        let block = node.rpc("eth_getBlockByNumber", json!([tag, false])).await;
        let root: B256 = parsed(&block["stateRoot"]);
        let mut existing = 0;
        for address in accounts.iter().step_by(3) {
            let slots = [B256::ZERO, B256::with_last_byte(1)];
            existing += usize::from(prove(&node, root, &tag, *address, &slots).await);
        }
        assert!(
            existing > 0
                && !prove(&node, root, &tag, Address::repeat_byte(0x77), &[B256::ZERO]).await
        );
    }
}

#[tokio::test]
async fn encodings_hash_to_the_values_in_the_headers() {
    let Some(node) = imported().await else { return };
    for height in 0..=54u64 {
        let tag = format!("{height:#x}");
        let block = node.rpc("eth_getBlockByNumber", json!([tag, true])).await;
        let raw: Bytes = parsed(&node.rpc("debug_getRawHeader", json!([tag])).await);
        assert_eq!(json!(keccak256(&raw)), block["hash"]);
        let header = Header::decode(&mut &raw[..]).unwrap();
        let whole: Bytes = parsed(&node.rpc("debug_getRawBlock", json!([tag])).await);
        assert_eq!(number(&block["size"]), whole.len() as u128);
        assert!(whole.windows(raw.len()).next().is_some() && header.length() == raw.len());
        let receipts: Vec<Bytes> = parsed(&node.rpc("debug_getRawReceipts", json!([tag])).await);
        let root = alloy_trie::root::ordered_trie_root_with_encoder(&receipts, |receipt, out| {
            alloy_rlp::BufMut::put_slice(out, receipt);
        });
        assert_eq!(root, header.receipts_root);
        for transaction in block["transactions"].as_array().unwrap() {
            let raw: Bytes = parsed(
                &node
                    .rpc("debug_getRawTransaction", json!([transaction["hash"]]))
                    .await,
            );
            assert_eq!(json!(keccak256(&raw)), transaction["hash"]);
        }
    }
}

#[tokio::test]
async fn traces_of_every_block_have_the_gas_of_its_receipts() {
    let Some(node) = imported().await else { return };

    for height in 1..=54u64 {
        let tag = format!("{height:#x}");

        let receipts = node.rpc("eth_getBlockReceipts", json!([tag])).await;
        let receipts = receipts.as_array().unwrap();

        let steps = node.rpc("debug_traceBlockByNumber", json!([tag])).await;
        let calls = node
            .rpc(
                "debug_traceBlockByNumber",
                json!([tag, {"tracer": "callTracer"}]),
            )
            .await;
        let flat = node.rpc("trace_block", json!([tag])).await;

        for (index, receipt) in receipts.iter().enumerate() {
            let gas = number(&receipt["gasUsed"]);
            let steps = &steps[index];
            let calls = &calls[index];
            assert_eq!(
                (&steps["txHash"], &calls["txHash"]),
                (&receipt["transactionHash"], &receipt["transactionHash"])
            );
            assert_eq!(steps["result"]["gas"], json!(gas as u64), "block {height}");
            assert_eq!(number(&calls["result"]["gasUsed"]), gas, "block {height}");
            assert_eq!(calls["result"]["from"], receipt["from"]);

            if let Some(status) = receipt["status"].as_str() {
                assert_eq!(steps["result"]["failed"], json!(status == "0x0"));
                assert_eq!(calls["result"].get("error").is_some(), status == "0x0");
            }

            let first = flat
                .as_array()
                .unwrap()
                .iter()
                .find(|trace| trace["transactionPosition"] == json!(index));
            assert_eq!(
                first.unwrap()["transactionHash"],
                receipt["transactionHash"]
            );
        }

        for tracer in [
            "prestateTracer",
            "4byteTracer",
            "flatCallTracer",
            "noopTracer",
        ] {
            let traced = node
                .rpc("debug_traceBlockByNumber", json!([tag, {"tracer": tracer}]))
                .await;
            assert_eq!(traced.as_array().unwrap().len(), receipts.len(), "{tracer}");
        }

        let types = json!(["trace", "stateDiff", "vmTrace"]);
        let replayed = node
            .rpc("trace_replayBlockTransactions", json!([tag, types]))
            .await;
        assert_eq!(replayed.as_array().unwrap().len(), receipts.len());
    }
}

#[tokio::test]
async fn a_state_difference_contains_the_changes_of_the_block() {
    let Some(node) = imported().await else { return };
    for height in [20u64, 40, 54] {
        let tag = format!("{height:#x}");
        let before = format!("{:#x}", height - 1);
        let replayed = node
            .rpc("trace_replayBlockTransactions", json!([tag, ["stateDiff"]]))
            .await;
        let options = json!({"tracer": "prestateTracer", "tracerConfig": {"diffMode": true}});
        let diffs = node
            .rpc("debug_traceBlockByNumber", json!([tag, options]))
            .await;
        let first = &replayed[0]["stateDiff"];
        for (address, change) in first.as_object().unwrap() {
            let Some(changed) = change["balance"].get("*") else {
                continue;
            };
            let was = node.rpc("eth_getBalance", json!([address, before])).await;
            assert_eq!(changed["from"], was, "{address} in block {height}");
            assert_eq!(
                diffs[0]["result"]["post"][address]["balance"], changed["to"],
                "{address} in block {height}"
            );
        }
    }
}

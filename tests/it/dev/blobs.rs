//! Blobs of transactions, which are not part of blocks.

use alloy::primitives::Address;
use alloy_consensus::TxEip4844;
use alloy_eips::{
    eip4844::builder::{SidecarBuilder, SimpleCoder},
    eip7594::BlobTransactionSidecarEip7594,
};
use alloy_primitives::{U256, hex};
use serde_json::json;

use crate::support::{
    node,
    sign::{raw_with_blobs, signer},
};

#[tokio::test]
async fn blobs_are_returned_by_hash_and_by_transaction() {
    let node = node().await;
    let sidecar: BlobTransactionSidecarEip7594 =
        SidecarBuilder::<SimpleCoder>::from_slice(b"what a block does not hold")
            .build_7594()
            .unwrap();

    let blob = hex::encode_prefixed(sidecar.blobs[0]);
    let tx = TxEip4844 {
        chain_id: 125,
        gas_limit: 21_000,
        max_fee_per_gas: 10_000_000_000,
        max_priority_fee_per_gas: 1_000_000_000,
        max_fee_per_blob_gas: 10_000_000_000,
        to: Address::with_last_byte(0xaa),
        value: U256::from(1),
        ..TxEip4844::default()
    };

    let (raw, hashes) = raw_with_blobs(tx, sidecar, &signer(0));
    let hash = node.rpc("eth_sendRawTransaction", json!([raw])).await;
    assert_eq!(
        node.rpc("eth_getTransactionReceipt", json!([hash])).await["status"],
        "0x1"
    );

    assert_eq!(
        node.rpc("anvil_getBlobByHash", json!([hashes[0]])).await,
        blob
    );
    assert_eq!(
        node.rpc("anvil_getBlobsByTransactionHash", json!([hash]))
            .await,
        json!([blob])
    );

    let plain = node.send_wei(0).await;
    assert_eq!(
        node.rpc("anvil_getBlobsByTransactionHash", json!([plain]))
            .await,
        json!(null)
    );
}

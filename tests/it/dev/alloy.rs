//! alloy's interface to anvil, method by method: its requests, and how it parses the answers.

use alloy::{
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, U256},
    providers::{Provider, ext::AnvilApi},
    rpc::types::{
        TransactionRequest,
        anvil::{MineOptions, ReorgOptions, TransactionData},
    },
};

use super::UNUSED_ADDRESS;
use crate::support::{chain::token, node};

#[tokio::test]
async fn accounts_are_edited_and_impersonated() {
    let node = node().await;
    let anvil = node.reader();
    let unused: Address = UNUSED_ADDRESS.parse().unwrap();
    anvil
        .anvil_set_balance(unused, U256::from(10).pow(U256::from(18)))
        .await
        .unwrap();
    anvil.anvil_set_nonce(unused, 5).await.unwrap();
    anvil
        .anvil_set_code(unused, Bytes::from_static(&[0x60, 0x01]))
        .await
        .unwrap();
    anvil
        .anvil_set_storage_at(unused, U256::from(1), B256::with_last_byte(7))
        .await
        .unwrap();
    assert_eq!(anvil.get_transaction_count(unused).await.unwrap(), 5);
    assert_eq!(
        anvil.get_code_at(unused).await.unwrap().as_ref(),
        [0x60, 0x01]
    );
    assert_eq!(
        anvil.get_storage_at(unused, U256::from(1)).await.unwrap(),
        U256::from(7)
    );

    let request = TransactionRequest::default()
        .with_from(unused)
        .with_to(node.account(1))
        .with_value(U256::from(1));
    anvil.anvil_impersonate_account(unused).await.unwrap();
    let receipt = anvil
        .send_transaction(request.clone())
        .await
        .unwrap()
        .get_receipt()
        .await
        .unwrap();
    assert_eq!(receipt.from, unused);

    anvil
        .anvil_stop_impersonating_account(unused)
        .await
        .unwrap();
    anvil.anvil_auto_impersonate_account(true).await.unwrap();
    let receipt = anvil
        .send_transaction(request.clone())
        .await
        .unwrap()
        .get_receipt()
        .await
        .unwrap();
    assert_eq!(receipt.from, unused);

    anvil
        .anvil_send_impersonated_transaction(request.clone())
        .await
        .unwrap();
    anvil.anvil_auto_impersonate_account(false).await.unwrap();
    anvil
        .eth_send_unsigned_transaction(request.clone())
        .await
        .unwrap();

    let request = request.with_from(node.account(2));
    assert!(
        anvil
            .eth_send_transaction_sync(request)
            .await
            .unwrap()
            .status()
    );

    let usdc = token("USDC");
    anvil
        .anvil_deal_erc20(unused, usdc.address, U256::from(42))
        .await
        .unwrap();
    assert_eq!(node.balance(&usdc, unused).await, U256::from(42));
    // Last, because the provider counts the nonces of refused transactions.
    let refused = TransactionRequest::default()
        .with_from(unused)
        .with_to(node.account(1));
    anvil.send_transaction(refused).await.unwrap_err();
    anvil
        .anvil_set_erc20_allowance(unused, node.account(1), usdc.address, U256::from(42))
        .await
        .unwrap();
}

#[tokio::test]
async fn blocks_and_time_are_controlled() {
    let node = node().await;
    let anvil = node.reader();

    anvil.anvil_mine(Some(3), Some(10)).await.unwrap();
    anvil.anvil_mine(None, None).await.unwrap();
    anvil.evm_mine(None).await.unwrap();
    anvil
        .evm_mine(Some(MineOptions::Options {
            timestamp: None,
            blocks: Some(2),
        }))
        .await
        .unwrap();
    assert_eq!(anvil.anvil_mine_detailed(None).await.unwrap().len(), 1);
    assert_eq!(anvil.get_block_number().await.unwrap(), 8);

    anvil.anvil_set_auto_mine(false).await.unwrap();
    assert!(!anvil.anvil_get_auto_mine().await.unwrap());

    let request = TransactionRequest::default()
        .with_from(node.account(0))
        .with_to(node.account(1));
    let waiting = *anvil
        .send_transaction(request.clone())
        .await
        .unwrap()
        .tx_hash();

    assert_eq!(
        anvil.anvil_drop_transaction(waiting).await.unwrap(),
        Some(waiting)
    );
    anvil
        .anvil_remove_pool_transactions(node.account(0))
        .await
        .unwrap();
    anvil.anvil_drop_all_transactions().await.unwrap();

    anvil.anvil_set_interval_mining(1_000).await.unwrap();

    anvil.anvil_set_auto_mine(true).await.unwrap();
    anvil
        .anvil_set_next_block_base_fee_per_gas(12_345)
        .await
        .unwrap();
    anvil
        .anvil_set_coinbase(UNUSED_ADDRESS.parse().unwrap())
        .await
        .unwrap();
    assert!(anvil.anvil_set_block_gas_limit(40_000_000).await.unwrap());
    anvil.anvil_set_min_gas_price(1).await.unwrap_err();
    anvil.anvil_set_logging(false).await.unwrap();

    assert!(anvil.anvil_increase_time(100).await.unwrap() >= 100);

    let now = node.chain().now();
    anvil.anvil_set_time(now + 1_000).await.unwrap();
    anvil
        .anvil_set_next_block_timestamp(now + 2_000)
        .await
        .unwrap();
    anvil.anvil_set_block_timestamp_interval(5).await.unwrap();

    anvil.evm_mine(None).await.unwrap();

    let block = anvil
        .get_block_by_number(Default::default())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (block.header.timestamp, block.header.gas_limit),
        (now + 2_000, 40_000_000)
    );
    assert_eq!(block.header.base_fee_per_gas, Some(12_345));

    assert!(anvil.anvil_remove_block_timestamp_interval().await.unwrap());

    let info = anvil.anvil_node_info().await.unwrap();
    assert_eq!(info.current_block_hash, block.header.hash);
    assert_eq!(anvil.anvil_metadata().await.unwrap().chain_id, 125);

    anvil.anvil_set_chain_id(31337).await.unwrap();
    assert_eq!(anvil.get_chain_id().await.unwrap(), 31337);
}

#[tokio::test]
async fn history_is_reverted_dumped_and_loaded() {
    let node = node().await;
    let anvil = node.reader();
    let snapshot = anvil.anvil_snapshot().await.unwrap();
    anvil.anvil_mine(Some(5), None).await.unwrap();

    let before = anvil
        .get_block_by_number(Default::default())
        .await
        .unwrap()
        .unwrap()
        .header
        .hash;

    let request = TransactionRequest::default()
        .with_from(node.account(0))
        .with_to(node.account(1))
        .with_value(U256::from(1));
    let tx_block_pairs = vec![(TransactionData::JSON(request), 0)];
    anvil
        .anvil_reorg(ReorgOptions {
            depth: 2,
            tx_block_pairs,
        })
        .await
        .unwrap();

    let after = anvil
        .get_block_by_number(Default::default())
        .await
        .unwrap()
        .unwrap()
        .header;
    assert_eq!(after.number, 5);
    assert_ne!(after.hash, before);
    assert_eq!(
        anvil.get_transaction_count(node.account(0)).await.unwrap(),
        1
    );

    anvil.anvil_rollback(Some(1)).await.unwrap();
    anvil.anvil_rollback(None).await.unwrap();
    assert_eq!(anvil.get_block_number().await.unwrap(), 3);

    let dump = anvil.anvil_dump_state().await.unwrap();
    assert!(anvil.anvil_revert(snapshot).await.unwrap());
    assert_eq!(anvil.get_block_number().await.unwrap(), 0);
    assert!(anvil.anvil_load_state(dump).await.unwrap());
    assert_eq!(anvil.get_block_number().await.unwrap(), 3);

    anvil.anvil_dump_state_with_history().await.unwrap();
    anvil.anvil_reset(None).await.unwrap();
    assert_eq!(anvil.get_block_number().await.unwrap(), 0);
}

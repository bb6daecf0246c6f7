//! Pending transactions, which survive restarts.

use std::sync::Arc;

use alloy_primitives::Address;
use tetrad_chain::Mining;

use super::{
    disk::Disk,
    ledger::{never, nonce, recover, send, start, transfer},
};
use crate::support::chain::seal;

const TO: Address = Address::repeat_byte(9);

#[tokio::test]
async fn pending_transactions_survive_a_power_failure() {
    let disk = Disk::new(1);
    let (chain, _writer) = start(recover(Arc::new(disk.clone())).unwrap(), never());
    for nonce in 0..5 {
        send(&chain, transfer(0, nonce, TO)).await.unwrap();
    }
    send(&chain, transfer(1, 3, TO)).await.unwrap();
    let disk = disk.power_failure();
    let (chain, _writer) = start(recover(Arc::new(disk.clone())).unwrap(), never());
    assert_eq!(chain.pool().len(), 6);
    let block = seal(&chain, 0).await.unwrap();
    assert_eq!(
        block.transactions.len(),
        5,
        "the sixth waits for a missing nonce"
    );

    let (chain, _writer) = start(recover(Arc::new(disk.power_failure())).unwrap(), never());
    assert_eq!(
        (chain.pool().len(), nonce(&chain, 0)),
        (1, 5),
        "included transactions are not restored"
    );
}

#[tokio::test]
async fn transactions_that_wait_under_instant_sealing_are_stored_as_well() {
    let disk = Disk::new(2);
    let (chain, _writer) = start(recover(Arc::new(disk.clone())).unwrap(), Mining::Instant);
    send(&chain, transfer(0, 1, TO)).await.unwrap();
    let (chain, _writer) = start(
        recover(Arc::new(disk.power_failure())).unwrap(),
        Mining::Instant,
    );
    send(&chain, transfer(0, 0, TO)).await.unwrap();
    assert_eq!((chain.pool().len(), nonce(&chain, 0)), (0, 2));
}

#[tokio::test]
async fn a_transaction_that_cannot_be_stored_is_refused() {
    let disk = Disk::new(3);
    let (chain, _writer) = start(recover(Arc::new(disk.clone())).unwrap(), never());
    disk.fail(100);
    let error = send(&chain, transfer(0, 0, TO))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the chain cannot be written: "),
        "{error}"
    );
    assert!(chain.pool().is_empty());
}

#[tokio::test]
async fn transactions_reverted_with_a_snapshot_are_not_restored() {
    let disk = Disk::new(4);
    let (chain, _writer) = start(recover(Arc::new(disk.clone())).unwrap(), never());
    let id = chain.snapshot().await.unwrap();
    send(&chain, transfer(0, 0, TO)).await.unwrap();
    seal(&chain, 0).await.unwrap();
    assert!(chain.revert(id).await.unwrap());
    let waiting = chain.pool().len();
    let (chain, _writer) = start(recover(Arc::new(disk.power_failure())).unwrap(), never());
    assert_eq!((chain.pool().len(), chain.head().number()), (waiting, 0));
}

//! What a client sees when the chain cannot be written.

use tetrad::{
    chain::{Executor, Mining, Recovered},
    log::{Fault, MemoryLog},
};

use super::ledger::{first_head, nonce, send, start, transfer};
use alloy_primitives::Address;

const TO: Address = Address::repeat_byte(9);

#[tokio::test]
async fn a_full_disk_refuses_transactions_until_there_is_room_again() {
    let log = MemoryLog::default();
    let faults = log.faults();
    let (chain, _writer) = start(Recovered::recorded(first_head(), Box::new(log)), Mining::Instant);
    send(&chain, transfer(0, 0, TO)).await.unwrap();
    faults.lock().extend([Fault::Full]);
    let error = send(&chain, transfer(0, 1, TO)).await.unwrap_err().to_string();
    assert!(error.starts_with("the chain cannot be written: memory: "), "{error}");
    assert_eq!((nonce(&chain, 0), chain.head().number()), (1, 1), "reads are served, and nothing happened");
    assert!(chain.pool().is_empty(), "what was refused does not come back");
    send(&chain, transfer(0, 1, TO)).await.unwrap();
    assert_eq!((nonce(&chain, 0), chain.head().number()), (2, 2));
}

#[tokio::test]
async fn changes_of_development_methods_are_refused_as_well() {
    let log = MemoryLog::default();
    let faults = log.faults();
    let (chain, _writer) = start(Recovered::recorded(first_head(), Box::new(log)), Mining::Instant);
    let id = chain.change(|executor| executor.snapshot()).await.unwrap();
    send(&chain, transfer(0, 0, TO)).await.unwrap();
    faults.lock().extend([Fault::Unknown, Fault::Conflict, Fault::Full]);
    let edit = |executor: &mut tetrad::chain::Executor| executor.edit(&[tetrad::chain::Edit::Nonce(TO, 5)]);
    assert!(chain.change(edit).await.unwrap().is_err());
    assert!(chain.change(move |executor| executor.revert(id)).await.unwrap().is_err());
    assert!(chain.change(|executor| executor.seal_block(0)).await.unwrap().is_err());
    assert_eq!((nonce(&chain, 0), chain.head().number()), (1, 1));
    assert!(chain.change(move |executor| executor.revert(id)).await.unwrap().unwrap(), "the snapshot is not used up");
    assert_eq!(chain.head().number(), 0);
}

#[tokio::test]
async fn a_chain_that_cannot_be_written_says_so_until_it_can_be_again() {
    let log = MemoryLog::default();
    let faults = log.faults();
    let (chain, _writer) = start(Recovered::recorded(first_head(), Box::new(log)), Mining::Instant);
    let obstacle = || async { chain.change(Executor::obstacle).await.unwrap() };
    assert_eq!(obstacle().await, None);
    faults.lock().extend([Fault::Full, Fault::Full]);
    send(&chain, transfer(0, 0, TO)).await.unwrap_err();
    let reason = obstacle().await.expect("still full");
    assert!(reason.starts_with("the chain cannot be written: memory: "), "{reason}");
    assert_eq!(obstacle().await, None, "there is room again, and nobody had to send a transaction to find out");
    send(&chain, transfer(0, 0, TO)).await.unwrap();
    assert_eq!(obstacle().await, None);
}

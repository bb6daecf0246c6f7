//! The cost of blocks and edits while the pool has many transactions that cannot be included.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy::{
    consensus::{SignableTransaction, TxEip1559},
    primitives::{Address, Signature, TxKind, U256},
};
use tetrad_chain::{Chain, Change, Edit, Mining, PoolLimits, Setting};
use tetrad_primitives::block::{Envelope, Submission, Transaction};
use tetrad_stdx::clock::ManualClock;

use super::pool::{chain_with, sender, transaction};
use crate::support::chain::seal;

/// Transactions in a large pool.
const POOLED: u64 = 20_000;
/// Measurements, of which the median is used.
const ROUNDS: u64 = 60;

fn stranger(index: u64) -> Address {
    Address::left_padding_from(&(0x1234_0000_0000 + index).to_be_bytes())
}

/// A transaction that pays no fee, from an account without funds.
fn free(index: u64, nonce: u64) -> Submission {
    let unsigned = TxEip1559 {
        chain_id: 125,
        nonce,
        gas_limit: 21_000,
        to: TxKind::Call(Address::repeat_byte(0xff)),
        value: U256::ZERO,
        ..Default::default()
    };
    let signature = Signature::new(U256::from(index + 1), U256::from(1), false);
    let envelope = Envelope::Eip1559(unsigned.into_signed(signature));
    Submission {
        transaction: Transaction {
            envelope,
            sender: stranger(index),
            public_key: None,
        },
        sidecar: None,
    }
}

async fn instant() -> Chain {
    let chain = chain_with(PoolLimits::default(), Arc::new(ManualClock::at(1_000_000)));
    chain
        .change(Change::Set(Setting::Mining(Mining::Instant)))
        .await
        .unwrap();
    chain
}

/// Adds transactions that pay no fee to the pool of an instantly sealing chain, which seals on
/// demand meanwhile.
async fn fill(chain: &Chain, count: u64, nonce: u64) {
    chain
        .change(Change::Set(Setting::Mining(Mining::Manual)))
        .await
        .unwrap();
    for index in 0..count {
        assert!(chain.accept(free(index, nonce)).unwrap().included.is_none());
    }
    chain
        .change(Change::Set(Setting::Mining(Mining::Instant)))
        .await
        .unwrap();
}

/// The median time from the arrival of a transaction to its block.
async fn time_to_seal(chain: &Chain) -> Duration {
    let mut next = chain.head().state.nonce(sender(0)).unwrap();
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        chain
            .acknowledged(chain.accept(transaction(0, next, 1)).unwrap())
            .await
            .unwrap();
        times.push(began.elapsed());
        next += 1;
    }
    assert_eq!(chain.head().state.nonce(sender(0)).unwrap(), next);
    times.sort_unstable();
    times[times.len() / 2]
}

/// The median time of an edit of an account without pooled transactions.
async fn time_to_edit(chain: &Chain) -> Duration {
    let mut times = Vec::new();
    for balance in 0..ROUNDS {
        let edit = [Edit::Balance(
            sender(1),
            U256::from(balance) + (U256::MAX >> 8),
        )];
        let began = Instant::now();
        chain.change(Change::Edit(edit.to_vec())).await.unwrap();
        times.push(began.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

fn assert_similar(with: Duration, without: Duration, what: &str) {
    assert!(
        with < 5 * without + Duration::from_millis(1),
        "{what}: {with:?} with a large pool, {without:?} without"
    );
}

#[tokio::test]
async fn blocks_and_edits_skip_senders_that_pay_too_little() {
    for nonce in [0, 5] {
        let chain = instant().await;
        let seal = time_to_seal(&chain).await;
        let edit = time_to_edit(&chain).await;
        fill(&chain, POOLED, nonce).await;
        let expected = if nonce == 0 {
            (POOLED as usize, 0)
        } else {
            (0, POOLED as usize)
        };
        assert_eq!(chain.pool().counts(), expected);
        assert_similar(time_to_seal(&chain).await, seal, "a block");
        assert_similar(time_to_edit(&chain).await, edit, "an edit");
        assert_eq!(chain.pool().counts(), expected);
        chain.stop();
    }
}

#[tokio::test]
async fn senders_wait_until_the_base_fee_falls_to_their_maximum() {
    let chain = instant().await;
    fill(&chain, 100, 0).await;
    seal(&chain, 0).await.unwrap();
    assert_eq!(chain.pool().counts(), (100, 0));
    chain
        .change(Change::Set(Setting::NextBaseFee(0)))
        .await
        .unwrap();
    let block = seal(&chain, 0).await;
    let sealed: usize = chain
        .head()
        .blocks_from(0)
        .map(|block| block.transactions.len())
        .sum();
    assert!(block.is_ok() && chain.pool().is_empty());
    assert_eq!(sealed, 100);
    chain.stop();
}

//! Concurrent submitters: whichever thread seals, a transaction is in a block once it is
//! acknowledged.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use tetrad_chain::{Chain, Change, Head, Mining, PoolLimits, Preamble, Setting, SubmitError};
use tetrad_evm::Environment;
use tetrad_primitives::block::Transaction;
use tetrad_stdx::clock::ManualClock;
use tokio::sync::oneshot;

use super::pool::{chain, chain_preceded, sender, transaction};
use crate::support::chain::seal;

const EACH: u64 = 300;

async fn sealing_at_once() -> Chain {
    let chain = chain();
    chain
        .change(Change::Set(Setting::Mining(Mining::Instant)))
        .await
        .unwrap();
    chain
}

/// Holds the writer when it makes the next block: reports that, and waits for the release.
type Hold = Arc<Mutex<Option<(oneshot::Sender<()>, mpsc::Receiver<()>)>>>;

struct Holding(Hold);

impl Preamble for Holding {
    fn account(&self) -> alloy_primitives::Address {
        alloy_primitives::Address::ZERO
    }

    fn is_due(&self, _: &Arc<Head>, _: &Environment) -> bool {
        let hold = self.0.lock().unwrap().take();
        if let Some((began, released)) = hold {
            began.send(()).unwrap();
            released.recv().unwrap();
        }
        false
    }

    fn alone_every(&self) -> Option<Duration> {
        None
    }

    fn transactions(&self, _: &Arc<Head>, _: &Environment) -> Vec<Transaction> {
        Vec::new()
    }
}

/// Submits transactions one after another, each of which must be found once it is acknowledged.
async fn submit(chain: &Chain, from: u8, nonces: std::ops::Range<u64>) {
    for nonce in nonces {
        let hash = chain
            .acknowledged(chain.accept(transaction(from, nonce, 1)).unwrap())
            .await
            .unwrap();
        assert!(
            chain.transaction(&chain.head(), hash).is_some(),
            "transaction {nonce} of {from} is in no block"
        );
    }
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(120), work)
        .await
        .expect("every submitter is acknowledged")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_concurrent_submitter_gets_its_block() {
    let chain = sealing_at_once().await;
    let lonely = submit(&chain, 0, 0..EACH);
    in_time(lonely).await;

    let mut tasks = Vec::new();
    for from in 0..4 {
        let chain = chain.clone();
        let first = if from == 0 { EACH } else { 0 };
        tasks.push(tokio::spawn(async move {
            submit(&chain, from, first..first + EACH).await
        }));
    }
    let changing = chain.clone();
    tasks.push(tokio::spawn(async move {
        for _ in 0..EACH {
            seal(&changing, 0).await.unwrap();
            tokio::task::yield_now().await;
        }
    }));
    for task in tasks {
        in_time(task).await.unwrap();
    }
    let nonces = (0..4)
        .map(|from| chain.head().state.nonce(sender(from)).unwrap())
        .collect::<Vec<_>>();
    assert_eq!(nonces, [2 * EACH, EACH, EACH, EACH]);
    assert!(chain.pool().is_empty());
    chain.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_submitters_transaction_is_sealed() {
    let hold = Hold::default();
    let limits = PoolLimits {
        transactions: 1_000,
        per_account: 1_000,
        ..PoolLimits::default()
    };
    let clock = Arc::new(ManualClock::at(1_000_000));
    let chain = chain_preceded(limits, clock, Some(Box::new(Holding(hold.clone()))));
    chain
        .change(Change::Set(Setting::Mining(Mining::Instant)))
        .await
        .unwrap();
    // So that submitters have begun to seal themselves.
    submit(&chain, 0, 0..20).await;
    let (release, released) = mpsc::channel::<()>();
    let (began, begun) = oneshot::channel();
    *hold.lock().unwrap() = Some((began, released));
    let busy = chain.clone();
    let change = tokio::spawn(async move { seal(&busy, 0).await.unwrap() });
    in_time(begun).await.unwrap();

    let accepted = chain.accept(transaction(0, 20, 1)).unwrap();
    let hash = accepted.pooled.transaction.hash();
    {
        // The writer is busy, so the submitter waits; then its request is cancelled.
        let mut acknowledged = std::pin::pin!(chain.acknowledged(accepted));
        let polled = std::future::poll_fn(|context| {
            std::task::Poll::Ready(acknowledged.as_mut().poll(context))
        })
        .await;
        assert!(polled.is_pending());
    }
    release.send(()).unwrap();
    in_time(change).await.unwrap();
    in_time(async {
        let mut events = chain.subscribe();
        while chain.transaction(&chain.head(), hash).is_none() {
            events.recv().await.unwrap();
        }
    })
    .await;
    chain.stop();
}

/// Whether the first transaction of a sender is pending.
fn is_waiting(chain: &Chain, from: u8) -> bool {
    let hash = transaction(from, 0, 1).transaction.hash();
    chain.pool().get(hash).is_some()
}

#[tokio::test]
async fn a_failure_removes_only_transactions_with_waiting_submitters() {
    let chain = chain();
    let waiting = chain.accept(transaction(1, 0, 1)).unwrap();
    // No submitter waits for transactions that another node of a cluster has acknowledged.
    drop(chain.accept(transaction(2, 0, 1)).unwrap());
    chain.pool().refuse_awaited(|| SubmitError::Stopped);
    assert_eq!(
        (is_waiting(&chain, 1), is_waiting(&chain, 2)),
        (false, true)
    );
    drop(waiting);
}

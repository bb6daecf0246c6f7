//! Chains with very many reverts.

use std::{sync::Arc, time::Instant};

use alloy_primitives::{Address, U256};
use tetrad_chain::{BlockId, Chain, Change, Edit, Mining, Recovered, verify};
use tetrad_store::{
    log::{Durability, LocalLogs},
    storage::{Directory, Storage},
    store::ChainStore,
};

use super::ledger::{nonce, recover_with, send, start, transfer};
use crate::support::chain::seal;

/// Each pair leaves four entries in the log.
const PAIRS: u64 = 25_000;

async fn pairs(chain: &Chain, count: u64) {
    for _ in 0..count {
        let id = chain.snapshot().await.unwrap();
        let edit = Edit::Balance(Address::repeat_byte(9), U256::from(77));
        chain.change(Change::Edit(vec![edit])).await.unwrap();
        seal(chain, 1).await.unwrap();
        assert!(chain.revert(id).await.unwrap());
    }
}

fn recovered(store: &ChainStore) -> Recovered {
    recover_with(store.storage.clone(), |opening| {
        opening.store.log = store.log.clone();
        opening.checkpoint_bytes = 32 << 20;
        opening.index_bytes = 8 << 20;
    })
    .unwrap()
}

/// The measured times are printed, and only times far from linear fail.
#[tokio::test]
async fn a_hundred_thousand_reverted_entries_do_not_slow_a_chain_down() {
    let place = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Directory::new(place.path()).unwrap());
    let log = LocalLogs::new(storage.clone())
        .with_durability(Durability::Os)
        .with_segments_of(8 << 20);
    let store = ChainStore {
        storage,
        log: Arc::new(log),
    };

    let (chain, writer) = start(recovered(&store), Mining::Instant);
    let to = Address::repeat_byte(9);
    send(&chain, transfer(0, 0, to)).await.unwrap();

    let mut times = Vec::new();
    for _ in 0..10 {
        let begun = Instant::now();
        pairs(&chain, PAIRS / 10).await;
        times.push(begun.elapsed());
    }

    println!("{} pairs each in {times:?}", PAIRS / 10);
    assert!(
        times[9] < times[0] * 20,
        "the last reverts take longer than the first: {times:?}"
    );

    for nonce in 1..12 {
        send(&chain, transfer(0, nonce, to)).await.unwrap();
    }

    chain.stop();
    tokio::task::spawn_blocking(move || writer.join())
        .await
        .unwrap();

    let begun = Instant::now();
    let (chain, writer) = start(recovered(&store), Mining::Instant);
    println!("started in {:?}", begun.elapsed());
    assert!(
        begun.elapsed().as_secs() < 30,
        "a start takes {:?}",
        begun.elapsed()
    );
    assert_eq!((chain.head().number(), nonce(&chain, 0)), (12, 12));

    let begun = Instant::now();
    for number in 1..=12 {
        // Some of them are found on disk among a hundred thousand reverted entries.
        let view = chain.view(BlockId::Number(number)).unwrap();
        assert_eq!(view.state.balance(to).unwrap(), U256::from(number));
        assert_eq!(
            view.state.nonce(view.block.transactions[0].sender).unwrap(),
            number
        );
    }
    println!("read old states in {:?}", begun.elapsed());
    assert!(
        begun.elapsed().as_secs() < 30,
        "reading takes {:?}",
        begun.elapsed()
    );

    chain.stop();
    tokio::task::spawn_blocking(move || writer.join())
        .await
        .unwrap();

    let begun = Instant::now();
    let report = verify(&store).unwrap();
    println!("verified in {:?}", begun.elapsed());
    assert_eq!(
        (report.first, report.last, report.transactions),
        (1, 12, 12)
    );
    assert_eq!(report.entries, 12 + 4 * PAIRS);
}

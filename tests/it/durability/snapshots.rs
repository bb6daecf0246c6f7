//! Snapshots are part of the log: they survive the process, and every writer of the log has them.

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};
use tetrad_chain::{BlockId, Chain, Change, Edit, Mining, WriterThread, compact, verify};
use tetrad_store::{
    log::MemoryLog,
    storage::{Storage, read_file},
    store::checkpoints,
};

use super::{
    disk::Disk,
    kept_in,
    ledger::{nonce, recover, send, start, transfer},
    writers::writer,
};
use crate::support::chain::seal;

const TO: Address = Address::repeat_byte(9);

/// The state that a revert restores: the newest block, its state root, and the time.
fn seen(chain: &Chain) -> (u64, B256, B256, u64) {
    let head = chain.head();
    (
        head.number(),
        head.block.hash,
        head.state.root(),
        chain.now(),
    )
}

async fn pay(chain: &Chain, count: u64) {
    for _ in 0..count {
        send(chain, transfer(0, nonce(chain, 0), TO)).await.unwrap();
    }
}

async fn set_balance(chain: &Chain, balance: u64) {
    let edit = Edit::Balance(Address::repeat_byte(5), U256::from(balance));
    chain.change(Change::Edit(vec![edit])).await.unwrap();
}

async fn ids(chain: &Chain) -> Vec<u64> {
    chain
        .snapshots()
        .await
        .unwrap()
        .iter()
        .map(|own| own.id)
        .collect()
}

fn started(disk: &Disk) -> (Chain, WriterThread) {
    start(recover(Arc::new(disk.clone())).unwrap(), Mining::Instant)
}

async fn end(chain: Chain, writer: WriterThread) {
    chain.stop();
    tokio::task::spawn_blocking(move || writer.join())
        .await
        .unwrap();
}

async fn restarted(chain: Chain, writer: WriterThread, disk: &Disk) -> (Chain, WriterThread) {
    end(chain, writer).await;
    verify(&kept_in(Arc::new(disk.clone()))).unwrap();
    started(disk)
}

#[tokio::test]
async fn snapshots_survive_restarts_until_they_are_used_up() {
    let disk = Disk::new(1);
    let (chain, writer) = started(&disk);

    let mut taken = Vec::new();
    // Far apart, so that there are checkpoints between them and no block of the older ones is held.
    for count in [3, 20, 1, 20, 2] {
        pay(&chain, count).await;
        set_balance(&chain, count).await;
        chain.increase_time(count as i64).await.unwrap();
        taken.push((chain.snapshot().await.unwrap(), seen(&chain)));
        set_balance(&chain, 7).await;
    }

    let (mut chain, mut writer) = restarted(chain, writer, &disk).await;
    assert_eq!(ids(&chain).await, [0, 1, 2, 3, 4]);

    let listed = chain.snapshots().await.unwrap();
    for (listed, (id, (number, hash, ..))) in listed.iter().zip(&taken) {
        assert_eq!(
            (listed.id, listed.number, listed.hash),
            (*id, *number, *hash)
        );
    }

    let mut next = 5;
    for (id, before) in taken.into_iter().rev().step_by(2) {
        pay(&chain, 1).await;

        assert!(chain.revert(id).await.unwrap());
        assert_eq!(seen(&chain), before);
        assert_eq!(
            chain.head().state.balance(TO).unwrap(),
            U256::from(before.0)
        );
        assert!(!chain.revert(id).await.unwrap(), "the snapshot is used up");

        for number in 1..=before.0 {
            let view = chain.view(BlockId::Number(number)).unwrap();
            assert_eq!(view.state.balance(TO).unwrap(), U256::from(number));
        }

        assert_eq!(chain.snapshot().await.unwrap(), next, "ids continue");
        assert!(chain.revert(next).await.unwrap());
        next += 1;

        (chain, writer) = restarted(chain, writer, &disk).await;
        assert_eq!(seen(&chain), before);
        assert_eq!(
            ids(&chain).await,
            (0..id).collect::<Vec<_>>(),
            "later snapshots are used up with it"
        );

        for gone in id..next {
            assert!(!chain.revert(gone).await.unwrap());
        }
    }

    assert_eq!(chain.snapshot().await.unwrap(), next);
    end(chain, writer).await;
}

#[tokio::test]
async fn a_snapshot_of_rolled_back_blocks_can_still_be_reverted_to() {
    let disk = Disk::new(1);
    let (chain, writer) = started(&disk);
    pay(&chain, 10).await;
    let id = chain.snapshot().await.unwrap();
    let before = seen(&chain);
    let newest = chain.head().block.transactions[0].hash();
    chain.change(Change::Rollback { depth: 4 }).await.unwrap();
    pay(&chain, 1).await;
    let (chain, writer) = restarted(chain, writer, &disk).await;
    assert!(chain.revert(id).await.unwrap());
    assert_eq!(seen(&chain), before);
    assert!(chain.transaction(&chain.head(), newest).is_some());
    // The same with a snapshot whose block is held.
    let id = chain.snapshot().await.unwrap();
    chain.change(Change::Rollback { depth: 2 }).await.unwrap();
    assert!(chain.transaction(&chain.head(), newest).is_none());
    assert!(chain.revert(id).await.unwrap());
    assert_eq!(seen(&chain), before);
    assert!(chain.transaction(&chain.head(), newest).is_some());
    end(chain, writer).await;
}

#[tokio::test]
async fn a_rollback_after_a_revert_beyond_the_start_follows_the_new_blocks() {
    let disk = Disk::new(1);
    let (chain, writer) = started(&disk);
    pay(&chain, 2).await;
    let id = chain.snapshot().await.unwrap();
    pay(&chain, 200).await;
    let (chain, writer) = restarted(chain, writer, &disk).await;
    let first = chain.head().number();
    assert!(chain.revert(id).await.unwrap());
    // One of the blocks has the number of the block whose state the start read from a checkpoint.
    let mut newest = chain.head().block.hash;
    for _ in 3..=first {
        seal(&chain, 1).await.unwrap();
        newest = chain.head().block.hash;
        seal(&chain, 1).await.unwrap();
        chain.change(Change::Rollback { depth: 1 }).await.unwrap();
        assert_eq!(chain.head().block.hash, newest);
    }
    let (chain, writer) = restarted(chain, writer, &disk).await;
    assert_eq!(
        (chain.head().number(), chain.head().block.hash),
        (first, newest)
    );
    end(chain, writer).await;
}

#[tokio::test]
async fn a_reset_removes_all_snapshots_including_those_from_before_the_start() {
    let log = MemoryLog::default();
    let (first, _first) = writer(&log, 1);
    pay(&first, 1).await;
    assert_eq!(first.snapshot().await.unwrap(), 0);

    let (second, _second) = writer(&log, 2);
    let origin = seen(&second);
    pay(&second, 1).await;
    assert_eq!(second.snapshot().await.unwrap(), 1);
    assert_eq!(ids(&second).await, [0, 1]);

    second.change(Change::Reset).await.unwrap();
    assert_eq!(seen(&second), origin);

    let (third, _third) = writer(&log, 3);
    for chain in [&first, &second, &third] {
        assert!(!chain.revert(0).await.unwrap() && !chain.revert(1).await.unwrap());
    }
    assert_eq!(third.snapshot().await.unwrap(), 2);
    assert!(
        first.revert(2).await.unwrap(),
        "the snapshot is found in the log"
    );
    assert_eq!(ids(&first).await, [] as [u64; 0]);
}

#[tokio::test]
async fn the_oldest_of_too_many_snapshots_are_discarded_permanently() {
    let disk = Disk::new(1);
    let (chain, writer) = started(&disk);
    for id in 0..4_100 {
        assert_eq!(chain.snapshot().await.unwrap(), id);
    }
    let kept: Vec<u64> = (4..4_100).collect();
    assert_eq!(ids(&chain).await, kept);
    let (chain, writer) = restarted(chain, writer, &disk).await;
    assert_eq!(ids(&chain).await, kept);
    assert!(chain.revert(4_090).await.unwrap());
    let (chain, writer) = restarted(chain, writer, &disk).await;
    assert_eq!(ids(&chain).await, kept[..4_086]);
    assert!(!chain.revert(3).await.unwrap() && chain.revert(4).await.unwrap());
    end(chain, writer).await;
}

/// The format of the checkpoint at a height.
fn format_of(storage: &dyn Storage, height: u64) -> u8 {
    let bytes = read_file(storage, &format!("checkpoint-{height:020}"))
        .unwrap()
        .unwrap();
    let magic = b"tetrad checkpoint";
    let at = bytes
        .windows(magic.len())
        .position(|part| part == magic)
        .unwrap();
    bytes[at + magic.len()]
}

/// The format of each checkpoint.
fn formats(storage: &dyn Storage) -> Vec<u8> {
    checkpoints(storage)
        .unwrap()
        .into_iter()
        .map(|height| format_of(storage, height))
        .collect()
}

#[tokio::test]
async fn a_directory_without_snapshots_keeps_its_format() {
    let disk = Disk::new(1);
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let (chain, writer) = started(&disk);
    pay(&chain, 40).await;
    chain.change(Change::Rollback { depth: 2 }).await.unwrap();
    chain.change(Change::Reset).await.unwrap();
    assert!(!chain.revert(0).await.unwrap());
    pay(&chain, 40).await;
    end(chain, writer).await;
    compact(&kept_in(storage.clone()), 256, None).unwrap();
    assert!(formats(&*storage).len() > 1 && formats(&*storage).iter().all(|format| *format == 1));

    let (chain, writer) = started(&disk);
    chain.snapshot().await.unwrap();
    chain.revert(0).await.unwrap();
    end(chain, writer).await;
    compact(&kept_in(storage.clone()), 256, None).unwrap();
    assert_eq!(
        formats(&*storage).last(),
        Some(&2),
        "the next id is recorded"
    );
    let (chain, writer) = started(&disk);
    assert_eq!(chain.snapshot().await.unwrap(), 1);
    end(chain, writer).await;
}

#[tokio::test]
async fn snapshots_of_removed_blocks_are_not_found() {
    let disk = Disk::new(1);
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let (chain, writer) = started(&disk);
    seal(&chain, 1).await.unwrap();
    assert_eq!(chain.snapshot().await.unwrap(), 0);
    for _ in 0..300 {
        seal(&chain, 1).await.unwrap();
    }
    assert_eq!(chain.snapshot().await.unwrap(), 1);
    let before = seen(&chain);
    pay(&chain, 5).await;
    let newest = seen(&chain);
    end(chain, writer).await;
    assert_eq!(compact(&kept_in(storage.clone()), 256, None).unwrap(), 51);

    let (chain, writer) = started(&disk);
    assert_eq!(ids(&chain).await, [1]);
    assert!(!chain.revert(0).await.unwrap());
    assert_eq!(seen(&chain), newest);
    let (chain, writer) = restarted(chain, writer, &disk).await;
    assert!(chain.revert(1).await.unwrap());
    assert_eq!(seen(&chain), before);
    assert_eq!(chain.snapshot().await.unwrap(), 2);
    let (chain, writer) = restarted(chain, writer, &disk).await;
    assert_eq!((ids(&chain).await, seen(&chain)), (vec![2], before));
    end(chain, writer).await;
}

async fn names(chain: &Chain) -> Vec<Option<String>> {
    chain
        .snapshots()
        .await
        .unwrap()
        .into_iter()
        .map(|own| own.name.map(|name| name.to_string()))
        .collect()
}

#[tokio::test]
async fn only_named_snapshots_need_the_newest_format_and_names_survive_restarts() {
    let disk = Disk::new(1);
    let storage: Arc<dyn Storage> = Arc::new(disk.clone());
    let (chain, writer) = started(&disk);
    chain.snapshot().await.unwrap();
    pay(&chain, 40).await;
    let (chain, writer) = restarted(chain, writer, &disk).await;
    assert_eq!(formats(&*storage).iter().max(), Some(&2));
    let name = "☂".repeat(60);
    assert_eq!(chain.named_snapshot(&name).await.unwrap(), 1);
    // First from the log, then from a checkpoint.
    let (chain, writer) = restarted(chain, writer, &disk).await;
    assert_eq!(names(&chain).await, [None, Some(name.clone())]);
    pay(&chain, 40).await;
    let (chain, writer) = restarted(chain, writer, &disk).await;
    assert_eq!(formats(&*storage).iter().max(), Some(&3));
    assert_eq!(names(&chain).await, [None, Some(name)]);
    assert!(chain.revert(1).await.unwrap());
    end(chain, writer).await;
}

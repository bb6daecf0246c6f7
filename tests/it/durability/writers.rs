//! Two chains that write to one log: each follows the other's entries, and loses nothing.

use std::{collections::HashSet, sync::Arc};

use alloy_primitives::{Address, B256, U256};
use tetrad_chain::{
    BlockId, Chain, Change, ChangeError, ChangeOutcome, Edit, Head, Mining, Pace, Recovered,
    WriterThread,
};
use tetrad_store::log::{Fault, MemoryLog, ReadLog};

use super::{
    disk::Disk,
    ledger::{key, nonce, recover_with, send, start, transfer},
    rounds,
};
use crate::{contracts::random::Random, support::chain::seal};

const TO: Address = Address::repeat_byte(9);

/// The chain of a log, with separate files for derived data.
fn recover(log: &MemoryLog, seed: u64) -> Recovered {
    let log = Arc::new(log.clone());
    recover_with(Arc::new(Disk::new(seed)), |opening| opening.store.log = log).unwrap()
}

pub(super) fn writer(log: &MemoryLog, seed: u64) -> (Chain, WriterThread) {
    start(recover(log, seed), Mining::Instant)
}

/// The part of a head on which both writers and the log must agree.
fn known(head: &Head) -> (u64, B256, B256) {
    (head.number(), head.block.hash, head.state.clone().root())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_overtaken_writer_follows_the_log_and_loses_no_transaction() {
    const COUNT: u64 = 150;
    let log = MemoryLog::default();
    let writers = [writer(&log, 1), writer(&log, 2)];
    let senders = writers.iter().enumerate().map(|(account, (chain, _))| {
        let chain = chain.clone();
        tokio::spawn(async move {
            let mut hashes = Vec::new();
            for nonce in 0..COUNT {
                hashes.push(send(&chain, transfer(account, nonce, TO)).await.unwrap());
            }
            hashes
        })
    });

    let mut acknowledged = HashSet::new();
    for sender in senders.collect::<Vec<_>>() {
        acknowledged.extend(sender.await.unwrap());
    }
    for (chain, _) in &writers {
        seal(chain, 1).await.unwrap();
    }

    let newest = writers[1].0.head();
    let found = recover(&log, 3).head;
    assert_eq!(known(&newest), known(&found));

    let blocks = (1..=newest.number()).map(|number| {
        writers[1]
            .0
            .block(&newest, BlockId::Number(number))
            .unwrap()
            .unwrap()
    });
    let included: Vec<_> = blocks
        .flat_map(|block| {
            block
                .transactions
                .iter()
                .map(|own| own.hash())
                .collect::<Vec<_>>()
        })
        .collect();

    assert_eq!(
        included.len() as u64,
        2 * COUNT,
        "no transaction is included twice"
    );
    assert_eq!(included.into_iter().collect::<HashSet<_>>(), acknowledged);
    assert_eq!(newest.state.balance(TO).unwrap(), U256::from(2 * COUNT));
}

#[tokio::test]
async fn each_writer_follows_every_change_of_the_other() {
    for seed in 0..rounds("TETRAD_CHAIN_SEEDS", 60) / 3 {
        let random = &mut Random::new(seed);
        let log = MemoryLog::default();
        let writers = [writer(&log, seed), writer(&log, seed + 1_000)];

        let mut snapshots = Vec::new();

        for step in 0..40 {
            let at = random.below(2) as usize;
            let chain = &writers[at].0;
            let entries = log.heights().end;
            let seen = |chain: &Chain| (known(&chain.head()), chain.now());

            match random.below(9) {
                0 | 1 => {
                    // Follows first, to have the newest nonce.
                    seal(chain, 1).await.unwrap();
                    let account = random.below(2) as usize;
                    send(chain, transfer(account, nonce(chain, account), TO))
                        .await
                        .unwrap();
                }
                2 => drop(seal(chain, 1 + random.below(3)).await.unwrap()),
                3 => {
                    let balance = Edit::Balance(Address::repeat_byte(5), U256::from(random.next()));
                    chain.change(Change::Edit(vec![balance])).await.unwrap();
                }

                4 => {
                    let id = chain.snapshot().await.unwrap();
                    assert!(
                        snapshots.iter().all(|(taken, _)| *taken < id),
                        "seed {seed}, step {step}"
                    );
                    snapshots.push((id, seen(chain)));
                }
                5 if !snapshots.is_empty() => {
                    // Whichever writer made the snapshot, and whatever the other one did since.
                    let (id, before) = snapshots[random.below(snapshots.len() as u64) as usize];
                    assert!(chain.revert(id).await.unwrap(), "seed {seed}, step {step}");
                    assert_eq!(seen(chain), before, "seed {seed}, step {step}");
                    snapshots.retain(|(taken, _)| *taken < id);
                    assert!(
                        !chain.revert(id).await.unwrap(),
                        "seed {seed}, step {step}: the snapshot was used up"
                    );
                }
                5 => {}

                6 if random.chance(20) => {
                    chain.change(Change::Reset).await.unwrap();
                    snapshots.clear();
                }
                6 | 7 => drop(
                    chain
                        .change(Change::Rollback {
                            depth: 1 + random.below(2),
                        })
                        .await,
                ),
                _ => drop(
                    chain
                        .change(Change::IncreaseTime(random.below(100) as i64))
                        .await
                        .unwrap(),
                ),
            }

            // Another writer, which starts from the log alone, has the same chain.
            if log.heights().end > entries {
                let found = recover(&log, seed + 2_000).head;
                assert_eq!(
                    known(&chain.head()),
                    known(&found),
                    "seed {seed}, step {step}"
                );

                let balance = |head: &Head| head.state.balance(Address::repeat_byte(5)).unwrap();
                assert_eq!(
                    balance(&chain.head()),
                    balance(&found),
                    "seed {seed}, step {step}"
                );
                assert_eq!(
                    nonce(chain, 0),
                    found.state.nonce(key(0).address()).unwrap()
                );
            }
        }

        // A writer that is started later has them from the log alone.
        let (chain, _writer) = writer(&log, seed + 3_000);
        let listed: Vec<u64> = chain
            .snapshots()
            .await
            .unwrap()
            .iter()
            .map(|own| own.id)
            .collect();
        assert!(
            snapshots.iter().map(|(id, _)| *id).eq(listed),
            "seed {seed}"
        );

        for (id, before) in snapshots.into_iter().rev() {
            assert!(chain.revert(id).await.unwrap(), "seed {seed}");
            assert_eq!((known(&chain.head()), chain.now()), before, "seed {seed}");
        }
    }
}

/// A log on other machines may store an entry without an answer, or lose it in transit.
#[tokio::test]
async fn an_unanswered_entry_is_followed_if_stored_and_otherwise_repeated() {
    for seed in 0..rounds("TETRAD_CHAIN_SEEDS", 60) {
        let random = &mut Random::new(seed);
        let log = MemoryLog::default();
        let writers = [writer(&log, seed), writer(&log, seed + 1_000)];

        let mut acknowledged = Vec::new();

        for step in 0..25 {
            let chain = &writers[random.below(2) as usize].0;

            for _ in 0..random.below(3) {
                let fault = [Fault::Lost, Fault::Unanswered, Fault::None][random.below(3) as usize];
                log.faults().lock().push_back(fault);
            }

            // The outcome of a change without an answer is unknown.
            match random.below(7) {
                0..2 => {
                    let account = random.below(2) as usize;
                    let sent = send(chain, transfer(account, nonce(chain, account), TO)).await;
                    acknowledged.extend(sent.ok());
                }
                2 => drop(seal(chain, 1 + random.below(3)).await),
                3 => {
                    let balance = Edit::Balance(Address::repeat_byte(5), U256::from(random.next()));
                    drop(chain.change(Change::Edit(vec![balance])).await);
                }

                // They may remove blocks with acknowledged transactions.
                4 => {
                    drop(
                        chain
                            .change(Change::Rollback {
                                depth: 1 + random.below(2),
                            })
                            .await,
                    );
                    acknowledged.clear();
                }
                5 => {
                    drop(
                        chain
                            .change(Change::Reorg {
                                blocks: vec![Vec::new(); 1 + random.below(2) as usize],
                            })
                            .await,
                    );
                    acknowledged.clear();
                }

                _ => drop(
                    chain
                        .change(Change::IncreaseTime(random.below(100) as i64))
                        .await,
                ),
            }

            log.faults().lock().clear();
            let found = recover(&log, seed + 2_000).head;
            for (chain, _) in &writers {
                chain.follow().await.unwrap();
                assert_eq!(
                    known(&chain.head()),
                    known(&found),
                    "seed {seed}, step {step}"
                );
            }
        }

        // No transaction is included twice, and no acknowledged one is missing.
        let chain = &writers[0].0;
        let newest = chain.head();
        let mut included = HashSet::new();

        for number in 1..=newest.number() {
            let block = chain
                .block(&newest, BlockId::Number(number))
                .unwrap()
                .unwrap();
            for transaction in &block.transactions {
                assert!(
                    included.insert(transaction.hash()),
                    "seed {seed}: {} twice",
                    transaction.hash()
                );
            }
        }

        assert!(
            acknowledged.iter().all(|hash| included.contains(hash)),
            "seed {seed}"
        );
    }
}

/// A request for a change, as sent by the nodes of a cluster.
async fn request(chain: &Chain, change: &Change, id: u64) -> Result<ChangeOutcome, ChangeError> {
    chain.change_here(change.clone(), Some(id)).await
}

fn mine(count: u64) -> Change {
    Change::Mine {
        count,
        pace: Pace::default(),
    }
}

#[tokio::test]
async fn a_repeated_request_has_its_first_outcome_on_every_writer() {
    let log = MemoryLog::default();
    let writers = [writer(&log, 1), writer(&log, 2)];
    let receiver = Address::repeat_byte(5);
    writers[0].0.mine(3, Pace::default()).await.unwrap();
    let snapshot = writers[0].0.snapshot().await.unwrap();

    let changes = [
        Change::Snapshot {
            name: Some("named".into()),
        },
        Change::Edit(vec![Edit::Credit(receiver, U256::from(7))]),
        mine(1),
        mine(5),
        Change::Rollback { depth: 2 },
        Change::Reorg {
            blocks: vec![vec![transfer(0, 0, TO).transaction], Vec::new()],
        },
        Change::IncreaseTime(100),
        Change::Revert(snapshot),
    ];

    for (id, change) in (1..).zip(&changes) {
        let first = request(&writers[0].0, change, id).await.unwrap();
        let head = known(&writers[0].0.head());
        let entries = log.heights().end;

        let later = writer(&log, 10 + id);
        writers[1].0.follow().await.unwrap();
        for chain in [&writers[0].0, &writers[1].0, &later.0] {
            assert_eq!(
                request(chain, change, id).await.unwrap(),
                first,
                "{change:?}"
            );
            assert_eq!(
                (known(&chain.head()), log.heights().end),
                (head, entries),
                "{change:?}"
            );
        }
    }

    // With another id it is another request.
    assert_eq!(
        request(&writers[1].0, &changes[7], 100).await.unwrap(),
        ChangeOutcome::Found(false)
    );
    request(&writers[1].0, &changes[3], 101).await.unwrap();
    assert_eq!(writers[1].0.head().number(), 3 + 5);
}

#[tokio::test]
async fn the_next_writer_mines_the_blocks_that_the_last_one_did_not() {
    for mined in 0..6 {
        let log = MemoryLog::default();
        let (first, _writer) = writer(&log, 1);
        let faults = std::iter::repeat_n(Fault::None, mined).chain([Fault::Lost]);
        log.faults().lock().extend(faults);
        let outcome = request(&first, &mine(5), 1).await;
        assert_eq!(outcome.is_ok(), mined >= 5, "{outcome:?}");
        log.faults().lock().clear();
        let (next, _writer) = writer(&log, 2);
        assert_eq!(next.head().number(), mined.min(5) as u64);
        for _ in 0..2 {
            assert_eq!(
                request(&next, &mine(5), 1).await.unwrap(),
                ChangeOutcome::Done
            );
            assert_eq!(next.head().number(), 5);
        }
    }
}

#[tokio::test]
async fn the_next_leader_restores_removed_blocks_that_were_not_all_replaced() {
    for recorded in 0..=4 {
        let log = MemoryLog::default();
        let (first, _writer) = writer(&log, 1);
        let hash = send(&first, transfer(0, 0, TO)).await.unwrap();
        first.mine(3, Pace::default()).await.unwrap();
        let before = known(&first.head());
        let change = Change::Reorg {
            blocks: vec![Vec::new(); 3],
        };
        log.faults()
            .lock()
            .extend(std::iter::repeat_n(Fault::None, recorded).chain([Fault::Lost]));
        let outcome = request(&first, &change, 1).await;
        assert_eq!(outcome.is_ok(), recorded >= 4, "{outcome:?}");
        log.faults().lock().clear();
        let after = known(&first.head());

        let (next, _writer) = writer(&log, 2);
        next.resign().await.unwrap();
        next.lead(1, "next".to_owned()).await.unwrap();
        assert_eq!(
            known(&next.head()),
            if recorded >= 4 { after } else { before },
            "after {recorded} entries"
        );
        assert!(next.transaction(&next.head(), hash).is_some());
        // The client repeats the request.
        request(&next, &change, 1).await.unwrap();
        let replaced = known(&next.head());
        assert_ne!(replaced, before);
        assert_eq!(replaced.0, before.0);
        first.follow().await.unwrap();
        assert_eq!(known(&first.head()), replaced);
        assert_eq!(known(&recover(&log, 3).head), replaced);
    }
}

//! A whole chain on failing disks, compared with the acknowledged changes: blocks, snapshots and
//! their reverts, edits and time.

use std::{collections::BTreeSet, sync::Arc};

use alloy_primitives::{Address, B256, U256};
use tetrad_chain::{Chain, Change, ChangeError, Edit, Mining, Pace, repair};
use tetrad_store::storage::Storage;

use super::{
    disk::Disk,
    kept_in,
    ledger::{ACCOUNTS, nonce, recover, send, start, transfer},
    rounds,
};
use crate::{contracts::random::Random, support::chain::seal};

/// The state of a chain that a restart must restore.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    block: B256,
    root: B256,
    next_number: u32,
    now: u64,
}

impl Known {
    fn of(chain: &Chain) -> Self {
        let head = chain.head();
        Self {
            block: head.block.hash,
            root: head.state.root(),
            next_number: head.state.next_number(),
            now: chain.now(),
        }
    }
}

async fn act(
    chain: &Chain,
    random: &mut Random,
    snapshots: &mut Vec<(u64, BTreeSet<B256>)>,
    sent: &mut BTreeSet<B256>,
) -> bool {
    match random.below(16) {
        0 => {
            let taken = chain.snapshot().await;
            snapshots.extend(taken.iter().map(|id| (*id, sent.clone())));
            taken.is_ok()
        }
        1 if !snapshots.is_empty() => {
            let at = random.below(snapshots.len() as u64) as usize;
            let (id, before) = snapshots[at].clone();
            snapshots.truncate(at);

            match chain.revert(id).await {
                Ok(known) => {
                    assert!(known);
                    *sent = before;
                    true
                }
                Err(ChangeError::Append(_)) => {
                    // The change may have been made all the same.
                    sent.retain(|hash| before.contains(hash));
                    false
                }
                Err(error) => panic!("{error}"),
            }
        }
        2 => {
            let address = Address::with_last_byte(random.below(200) as u8);
            let value = random.below(1_000);

            let edits = [
                Edit::Balance(address, U256::from(value)),
                Edit::ChainId(125),
            ];
            chain.change(Change::Edit(edits.to_vec())).await.is_ok()
        }
        3 => {
            let seconds = random.below(100) as i64;
            chain.increase_time(seconds).await.is_ok()
        }
        4 => {
            let pace = Pace {
                first: None,
                interval: Some(2),
                at_least: 1,
            };

            let count = random.below(4);
            chain.mine(count, pace).await.is_ok()
        }
        5 => chain.set_time(3_000).await.is_ok(),
        6 => {
            // Reverts and reorganisations discard the transactions of those blocks.
            sent.clear();

            let depth = random.below(4).min(chain.head().number());
            if random.chance(50) {
                chain.change(Change::Rollback { depth }).await.is_ok()
            } else {
                let blocks = vec![Vec::new(); depth as usize];
                chain.change(Change::Reorg { blocks }).await.is_ok()
            }
        }
        7 if random.chance(20) => {
            sent.clear();
            snapshots.clear();
            chain.change(Change::Reset).await.is_ok()
        }
        8 => seal(chain, 1).await.is_ok(),
        _ => {
            let from = random.below(ACCOUNTS as u64) as usize;
            let to = Address::with_last_byte(random.below(250) as u8);

            match send(chain, transfer(from, nonce(chain, from), to)).await {
                Ok(hash) => sent.insert(hash),
                Err(_) => false,
            }
        }
    }
}

#[tokio::test]
async fn acknowledged_changes_survive_every_failure() {
    for seed in 0..rounds("TETRAD_CHAIN_SEEDS", 60) {
        let random = &mut Random::new(seed);
        let mut disk = Disk::new(seed);
        let mut known: Option<Known> = None;
        let mut sent = BTreeSet::new();
        let mut snapshots = Vec::new();

        for _ in 0..3 {
            disk.fail(0);
            let recovered = recover(Arc::new(disk.clone()))
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            let (chain, writer) = start(recovered, Mining::Instant);
            if let Some(known) = &known {
                assert_eq!(&Known::of(&chain), known, "seed {seed}");
            }

            let head = chain.head();
            for hash in &sent {
                assert!(
                    chain.transaction(&head, *hash).is_some(),
                    "seed {seed}: {hash} is lost"
                );
            }

            disk.fail(random.pick(&[0, 0, 1, 5]));
            let mut sure = true;
            for _ in 0..random.below(30) {
                // After a failure the change may be there or not; earlier ones are.
                sure &= act(&chain, random, &mut snapshots, &mut sent).await;
                if !sure {
                    break;
                }
            }

            known = sure.then(|| Known::of(&chain));
            let next = if random.chance(70) {
                disk.power_failure()
            } else {
                disk.kill()
            };

            chain.stop();
            tokio::task::spawn_blocking(move || writer.join())
                .await
                .unwrap();
            disk = next;
        }
    }
}

#[tokio::test]
async fn a_repaired_chain_is_a_prefix_of_the_original_one() {
    for seed in 0..rounds("TETRAD_CHAIN_SEEDS", 60) / 2 {
        let random = &mut Random::new(seed);
        let disk = Disk::new(seed);
        let (chain, writer) = start(recover(Arc::new(disk.clone())).unwrap(), Mining::Instant);

        let mut blocks = vec![chain.head().block.hash];
        for _ in 0..60 {
            let from = random.below(ACCOUNTS as u64) as usize;
            send(
                &chain,
                transfer(
                    from,
                    nonce(&chain, from),
                    Address::with_last_byte(random.below(250) as u8),
                ),
            )
            .await
            .unwrap();

            blocks.push(chain.head().block.hash);
        }

        chain.stop();
        tokio::task::spawn_blocking(move || writer.join())
            .await
            .unwrap();

        let storage: Arc<dyn Storage> = Arc::new(disk.clone());
        for _ in 0..1 + random.below(2) {
            let mut logs: Vec<_> = storage
                .names()
                .unwrap()
                .into_iter()
                .filter(|name| name.starts_with("log-"))
                .collect();
            logs.sort_unstable();

            let name = &logs[random.below(logs.len() as u64) as usize];
            if random.chance(20) && logs.len() > 1 {
                storage.remove(name).unwrap();
                continue;
            }

            let file = storage.open(name).unwrap();
            let at = random.below(file.length().unwrap());
            let mut byte = [0];
            file.read_at(&mut byte, at).unwrap();
            file.write_at(&[byte[0] ^ (1 << random.below(8))], at)
                .unwrap();
        }

        match repair(&kept_in(storage.clone())) {
            Ok(done) => {
                assert_eq!(
                    repair(&kept_in(storage.clone())).unwrap(),
                    None,
                    "seed {seed}: {done:?}"
                );

                let (chain, _writer) = start(recover(storage).unwrap(), Mining::Instant);
                let head = chain.head();
                assert_eq!(
                    head.block.hash,
                    blocks[head.number() as usize],
                    "seed {seed}: {done:?}"
                );
                assert_eq!(
                    head.state.root(),
                    head.block.header.state_root,
                    "seed {seed}"
                );

                send(&chain, transfer(0, nonce(&chain, 0), Address::ZERO))
                    .await
                    .unwrap();
            }
            // Without its beginning, a chain cannot be repaired.
            Err(error) => assert!(
                error.to_string().contains("are missing"),
                "seed {seed}: {error}"
            ),
        }
    }
}

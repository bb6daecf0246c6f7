//! Every block that a chain keeps has its original states: random transactions, edits, snapshots,
//! reverts, restarts, backups and compactions, with frequent checkpoints, compared with the
//! recorded states.

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};
use tetrad_chain::{BlockId, Chain, Change, Edit, Mining, Pace, compact, repair, verify};
use tetrad_primitives::state::State;
use tetrad_store::{
    log::ChainIdentity,
    storage::Storage,
    store::{Checkpoint, DiskHistory, backup},
};

use super::{
    disk::Disk,
    kept_in,
    ledger::{ACCOUNTS, first_head, key, nonce, recover, send, start, transfer},
    rounds,
};
use crate::contracts::random::Random;

const RECIPIENTS: u64 = 4;

/// Nonce and balance of every account that the test changes.
type Values = Vec<(u64, U256)>;

#[derive(Clone)]
struct Seen {
    hash: B256,
    /// The state on which it was executed, which is also the state after its parent.
    before: Values,
}

struct Model {
    random: Random,
    /// From the first block on.
    blocks: Vec<Seen>,
    snapshots: Vec<(u64, Vec<Seen>)>,
    /// The blocks with which the node started.
    origin: Vec<Seen>,
    /// The oldest remaining block, and the oldest with states.
    oldest: u64,
    oldest_state: u64,
    /// Whether old blocks or states were removed since the last start.
    is_shortened: bool,
}

fn recipient(n: u64) -> Address {
    Address::with_last_byte(0xa0 + n as u8)
}

fn values(state: &State) -> Values {
    let senders = (0..ACCOUNTS).map(|index| key(index).address());
    let all = senders.chain((0..RECIPIENTS).map(recipient));
    all.map(|address| {
        (
            state.nonce(address).unwrap(),
            state.balance(address).unwrap(),
        )
    })
    .collect()
}

impl Model {
    async fn act(&mut self, chain: &Chain) {
        let random = &mut self.random;
        let before = values(&chain.head().state);

        match random.below(20) {
            0..8 => {
                let from = random.below(ACCOUNTS as u64) as usize;
                let to = recipient(random.below(RECIPIENTS));
                send(chain, transfer(from, nonce(chain, from), to))
                    .await
                    .unwrap();
                self.sealed(chain, before, 1);
            }
            8..11 => {
                let count = 1 + random.below(60);
                chain
                    .mine(
                        count,
                        Pace {
                            at_least: 1,
                            ..Pace::default()
                        },
                    )
                    .await
                    .unwrap();
                self.sealed(chain, before, count);
            }

            11..13 => {
                let address = recipient(random.below(RECIPIENTS));
                let value = random.below(1_000);
                let edits = [Edit::Balance(address, U256::from(value))];
                chain.change(Change::Edit(edits.to_vec())).await.unwrap();
            }
            13 => {
                let seconds = random.below(100) as i64;
                chain.increase_time(seconds).await.unwrap();
            }
            14 | 15 => {
                let id = chain.snapshot().await.unwrap();
                self.snapshots.push((id, self.blocks.clone()));
            }
            16 if !self.snapshots.is_empty() => {
                let at = random.below(self.snapshots.len() as u64) as usize;
                let (id, blocks) = self.snapshots[at].clone();
                assert!(chain.revert(id).await.unwrap());
                self.snapshots.truncate(at);
                self.blocks = blocks;
            }

            17 => {
                let depth = random.below(7);
                // A rollback to a block that is not held is refused.
                if chain.change(Change::Rollback { depth }).await.is_ok() {
                    self.blocks
                        .truncate(self.blocks.len().saturating_sub(depth as usize));
                }
            }
            18 => {
                let depth = random.below(4).min(chain.head().number());
                let blocks = vec![Vec::new(); depth as usize];
                if chain.change(Change::Reorg { blocks }).await.is_ok() {
                    self.blocks.truncate(self.blocks.len() - depth as usize);
                    // Those blocks are empty.
                    self.sealed(chain, values(&chain.head().state), depth);
                }
            }
            19 if random.chance(15) => {
                chain.change(Change::Reset).await.unwrap();
                self.snapshots.clear();
                self.blocks = self.origin.clone();
            }
            _ => {}
        }

        assert_eq!(chain.head().number(), self.blocks.len() as u64);
    }

    /// Snapshots are kept, unless their blocks are not.
    async fn reopen(&mut self, chain: &Chain, what: &str) {
        let known: Vec<u64> = chain
            .snapshots()
            .await
            .unwrap()
            .iter()
            .map(|own| own.id)
            .collect();
        if std::mem::take(&mut self.is_shortened) {
            self.snapshots.retain(|(id, _)| known.contains(id));
        }
        assert!(self.snapshots.iter().map(|(id, _)| *id).eq(known), "{what}");
    }

    /// Records that this many blocks were sealed on a state, which only the last one changes.
    fn sealed(&mut self, chain: &Chain, before: Values, count: u64) {
        let head = chain.head();
        for number in head.number() + 1 - count..=head.number() {
            let block = chain
                .block(&head, BlockId::Number(number))
                .unwrap()
                .unwrap();
            self.blocks.push(Seen {
                hash: block.hash,
                before: before.clone(),
            });
        }
    }

    fn check(&mut self, chain: &Chain, what: &str) {
        let head = chain.head();
        assert_eq!(head.number(), self.blocks.len() as u64, "{what}");
        for number in 1..=head.number() {
            let is_boundary = number.abs_diff(self.oldest_state) < 3 || head.number() - number < 12;
            if !is_boundary && !self.random.chance(20) {
                continue;
            }

            let Seen { hash, before } = &self.blocks[number as usize - 1];

            // The newest state is the head's.
            let newest = values(&head.state);
            let after = self
                .blocks
                .get(number as usize)
                .map_or(&newest, |next| &next.before);

            let what = format!("{what}, block {number} of {}", head.number());
            let block = chain.block(&head, BlockId::Number(number)).unwrap();
            if number >= self.oldest {
                assert_eq!(block.map(|block| block.hash), Some(*hash), "{what}");
            }

            let state_before = head.state_before(number).ok().map(|state| values(&state));
            let state_after = chain
                .view(BlockId::Number(number))
                .ok()
                .map(|view| values(&view.state));

            if number >= self.oldest_state {
                assert_eq!(state_before.as_ref(), Some(before), "{what}, before");
                assert_eq!(state_after.as_ref(), Some(after), "{what}, after");
            } else {
                assert_eq!(state_before, None, "{what}, before");
                // The log may begin with the state of the last block before those.
                assert!(
                    state_after
                        .is_none_or(|known| number + 1 == self.oldest_state && known == *after),
                    "{what}"
                );
            }
        }
    }

    /// Checks that a directory has the recorded blocks and states.
    fn check_directory(&self, storage: &Arc<dyn Storage>, what: &str) {
        let report =
            verify(&kept_in(storage.clone())).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(
            (report.first, report.first_state, report.last),
            (self.oldest, self.oldest_state, self.blocks.len() as u64),
            "{what}"
        );
    }

    /// Maintenance of a directory while no node runs on it.
    fn maintain(&mut self, storage: &Arc<dyn Storage>, what: &str) {
        self.check_directory(storage, what);
        assert_eq!(repair(&kept_in(storage.clone())).unwrap(), None, "{what}");

        let copy: Arc<dyn Storage> = Arc::new(Disk::new(1));
        backup(&kept_in(storage.clone()), &*copy).unwrap();
        self.check_directory(&copy, &format!("{what}, a backup"));

        if self.random.chance(50) {
            let keep = 256 + self.random.below(100);
            self.is_shortened = true;
            let oldest = compact(&kept_in(storage.clone()), keep, None).unwrap();
            self.oldest = self
                .oldest
                .max((self.blocks.len() as u64 + 1).saturating_sub(keep));
            assert_eq!(oldest.max(1), self.oldest, "{what}, compacted");
            self.oldest_state = self.oldest_state.max(self.oldest);
        }

        if self.random.chance(15) {
            self.remove_first_checkpoint(storage);
        }

        let report = verify(&kept_in(storage.clone()))
            .unwrap_or_else(|error| panic!("{what}, afterwards: {error}"));
        assert_eq!(
            (report.first, report.first_state),
            (self.oldest, self.oldest_state),
            "{what}, afterwards"
        );
    }

    /// Removes the checkpoint from which past states are read, as earlier versions did.
    fn remove_first_checkpoint(&mut self, storage: &Arc<dyn Storage>) {
        let identity = ChainIdentity {
            chain_id: 125,
            genesis: first_head().block.hash,
        };
        let log = kept_in(storage.clone()).log.open(identity, 0).unwrap();
        let history = DiskHistory::open(storage.clone(), log.reader(), identity, 8_192).unwrap();
        let bases = history.bases().unwrap();
        if let [first, second, ..] = bases[..] {
            self.is_shortened = true;
            storage.remove(&format!("checkpoint-{first:020}")).unwrap();
            // A checkpoint of reverted blocks must not take its place either.
            for before in tetrad_store::store::checkpoints(&**storage)
                .unwrap()
                .into_iter()
                .filter(|height| *height < second)
            {
                Checkpoint::read(&**storage, before, identity).unwrap();
            }
            self.oldest_state = Checkpoint::read(&**storage, second, identity)
                .unwrap()
                .block
                .number()
                + 1;
        }
    }
}

#[tokio::test]
async fn every_block_has_its_original_states() {
    for seed in 0..rounds("TETRAD_CHAIN_SEEDS", 60).div_ceil(10) {
        let mut disk = Disk::new(seed);
        let random = Random::new(seed);
        let (blocks, snapshots, origin) = Default::default();
        let mut model = Model {
            random,
            blocks,
            snapshots,
            origin,
            oldest: 1,
            oldest_state: 1,
            is_shortened: false,
        };
        let mut held = None;

        for session in 0..6 {
            let what = format!("seed {seed}, session {session}");
            let recovered =
                recover(Arc::new(disk.clone())).unwrap_or_else(|error| panic!("{what}: {error}"));
            let (chain, writer) = start(recovered, Mining::Instant);

            let now = values(&chain.head().state);
            assert!(held.is_none_or(|held| held == now), "{what}");

            model.reopen(&chain, &what).await;
            model.origin = model.blocks.clone();
            model.check(&chain, &format!("{what}, started"));

            for _ in 0..25 {
                model.act(&chain).await;
            }
            model.check(&chain, &what);
            held = Some(values(&chain.head().state));

            // A killed node leaves the same directory as a stopped one, once it has finished
            // writing.
            let killed = model.random.chance(50).then(|| disk.kill());
            chain.stop();
            tokio::task::spawn_blocking(move || writer.join())
                .await
                .unwrap();
            disk = killed.unwrap_or(disk);

            let storage: Arc<dyn Storage> = Arc::new(disk.clone());
            model.maintain(&storage, &what);
        }
    }
}

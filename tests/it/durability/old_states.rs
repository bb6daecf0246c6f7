//! States that are no longer held are read from the log, piece by piece, and are the original ones.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use revm::bytecode::Bytecode;
use tetrad_primitives::state::{AccountChange, AccountFields, Changes, LaterState, State};
use tetrad_store::{
    log::{ChainIdentity, Durability, EditableParams, LocalLogs, LogEntry, LogStore, TimeShift},
    storage::Storage,
    store::{Checkpoint, DiskHistory, OldState},
};

use super::{disk::Disk, ledger::first_head, rounds};
use crate::contracts::random::Random;

const ADDRESSES: u64 = 8;
const SLOTS: u64 = 5;

fn address(n: u64) -> Address {
    // The first few exist from the beginning.
    match n {
        0..3 => super::ledger::key(n as usize).address(),
        _ => Address::with_last_byte(n as u8),
    }
}

/// A random change of an account, whatever its present state.
fn change(random: &mut Random, n: u64) -> AccountChange {
    let address = address(n);
    let code = random.chance(20).then(|| {
        let code = Bytecode::new_legacy(Bytes::from(vec![
            random.below(3) as u8;
            random.below(3) as usize
        ]));
        (code.hash_slow(), code)
    });
    let is_gone = random.chance(10);
    let fields = AccountFields {
        nonce: random.below(100),
        balance: U256::from(random.below(1_000)),
        code,
    };
    let count = if is_gone { 0 } else { random.below(4) };
    let mut storage: Vec<_> = (0..count)
        .map(|_| (U256::from(random.below(SLOTS)), U256::from(random.below(3))))
        .collect();
    storage.sort_unstable();
    storage.dedup_by_key(|(index, _)| *index);
    AccountChange {
        address,
        key: keccak256(address),
        after: (!is_gone).then_some(fields),
        storage_wiped: random.chance(15),
        storage,
        public_key: None,
    }
}

fn compare(past: &OldState, state: &State, what: &str) {
    for address in (0..ADDRESSES).map(address) {
        let found = past.later_account(&address).unwrap();
        let known = state.get(address).unwrap();
        let found = found.map(|account| {
            (
                account.nonce,
                account.balance,
                account.code_hash(),
                account.code().clone(),
            )
        });
        let known = known.map(|account| {
            (
                account.nonce,
                account.balance,
                account.code_hash(),
                account.code().clone(),
            )
        });
        assert_eq!(found, known, "{what}, {address}");
        for index in (0..SLOTS).map(U256::from) {
            assert_eq!(
                past.later_slot(&address, index).unwrap(),
                state.storage(address, index).unwrap(),
                "{what}, {address}, slot {index}"
            );
        }
    }
}

#[test]
fn every_height_has_its_original_state() {
    for seed in 0..rounds("TETRAD_LOG_SEEDS", 1_500).div_ceil(250) {
        let random = &mut Random::new(seed);
        let storage: Arc<dyn Storage> = Arc::new(Disk::new(seed));
        let head = first_head();
        let identity = ChainIdentity {
            chain_id: 125,
            genesis: head.block.hash,
        };
        let first = Checkpoint {
            height: 0,
            shift: TimeShift::default(),
            genesis: head.genesis.clone(),
            block: head.block.clone(),
            state: head.state.clone(),
            parameters: EditableParams {
                chain_id: 125,
                signers: Vec::new(),
            },
            standing: Default::default(),
        };
        first.write(&*storage, identity).unwrap();

        let logs = LocalLogs::new(storage.clone())
            .with_durability(Durability::Os)
            .with_segments_of(3_000);
        let mut log = logs.open(identity, 0).unwrap();
        let history = DiskHistory::open(storage.clone(), log.reader(), identity, 2_000).unwrap();

        // The state below each height, and one that was read before its entries were reverted.
        let mut states = vec![head.state.clone()];
        let mut early = None;

        for step in 0..300u64 {
            let mut state = states[step as usize].clone();

            let entry = if step > 10 && random.chance(4) {
                let to = step - random.below(10);
                early = Some((
                    OldState::below(history.clone(), step).unwrap().unwrap(),
                    states[step as usize].clone(),
                ));
                state = states[to as usize].clone();
                LogEntry::Revert {
                    to,
                    shift: TimeShift::default(),
                    uses_up: None,
                }
            } else {
                let first = random.below(ADDRESSES);
                let changes = Changes(
                    (0..1 + random.below(3))
                        .map(|n| change(random, (first + n) % ADDRESSES))
                        .collect(),
                );
                let root = state.apply(&changes);
                LogEntry::Edit {
                    changes: Arc::new(changes),
                    root,
                    parameters: None,
                }
            };

            states.push(state);

            let before = log.written();
            log.append(step, &entry.to_bytes()).unwrap();
            history.insert(&entry, log.written() - before);

            if let Some((past, state)) = &early {
                compare(
                    past,
                    state,
                    &format!("seed {seed}, taken back before {step}"),
                );
            }
            if random.chance(90) {
                early = None;
            }

            let height = random.below(step + 2);
            if !history.is_void(height.saturating_sub(1)) || height == step + 1 {
                let past = OldState::below(history.clone(), height).unwrap().unwrap();
                compare(
                    &past,
                    &states[height as usize],
                    &format!("seed {seed}, height {height} of {step}"),
                );
            }
        }

        history.finish();

        let reopened = DiskHistory::open(storage, log.reader(), identity, 2_000).unwrap();
        let standing = (0..=300_u64).filter(|height| {
            height
                .checked_sub(1)
                .is_none_or(|last| !reopened.is_void(last))
        });
        for height in standing {
            let past = OldState::below(reopened.clone(), height).unwrap().unwrap();
            compare(
                &past,
                &states[height as usize],
                &format!("seed {seed}, height {height} after a restart"),
            );
        }

        assert_eq!(
            OldState::below(reopened, 9).unwrap().unwrap().block_hash(0),
            None::<B256>
        );
    }
}

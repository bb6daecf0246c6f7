//! The past that a head gives access to: everything within the limits, unchanged.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use alloy_consensus::TxType;
use alloy_primitives::{Address, B256, Bytes, Log, U256, keccak256};
use proptest::prelude::*;
use tetrad_chain::{Genesis, Head, HistoryLimits};
use tetrad_evm::{ChainParams, Fork, Forks};
use tetrad_primitives::{
    block::{Block, Receipt, Status},
    state::{AccountChange, AccountFields, Changes},
};
use tetrad_store::store::LogKey;

/// A first block without accounts.
fn genesis() -> Head {
    let params = ChainParams {
        chain_id: 125,
        forks: Forks::all_from_genesis(Fork::Osaka),
        deposit_contract: Address::ZERO,
        network_precompiles: false,
        standard: false,
        increasing_timestamps: false,
        limits: Default::default(),
        signers: Default::default(),
        cosmos: Default::default(),
    };
    Genesis::empty(0, 30_000_000)
        .build(Arc::new(params))
        .unwrap()
}

/// The head with one more block, which gives a balance to `count` accounts from `first` on.
fn with_block(head: &Head, first: u64, count: u64, limits: HistoryLimits) -> Head {
    with_logs(head, (first, count), Vec::new(), limits)
}

/// As [`with_block`], with logs, all of them of one transaction.
fn with_logs(
    head: &Head,
    (first, count): (u64, u64),
    logs: Vec<Log>,
    limits: HistoryLimits,
) -> Head {
    let number = head.number() + 1;
    let changes = (first..first + count).map(|index| {
        let address = Address::from_word(B256::from(U256::from(index + 1)));
        let fields = AccountFields {
            nonce: 0,
            balance: U256::from(number * 1_000 + index),
            code: None,
        };
        AccountChange {
            address,
            key: keccak256(address),
            after: Some(fields),
            storage_wiped: false,
            storage: Vec::new(),
            public_key: None,
        }
    });
    let changes = Changes(changes.collect());

    let mut state = head.state.clone();
    let mut header = head.block.header.clone();
    header.number = number;
    header.parent_hash = head.block.hash;
    header.state_root = state.apply(&changes);

    let block = Block {
        hash: header.hash_slow(),
        header,
        transactions: Vec::new(),
        receipts: vec![Receipt {
            tx_type: TxType::Legacy,
            status: Status::Success,
            cumulative_gas_used: 21_000,
            gas_used: 21_000,
            logs,
            bloom: None,
            first_log_index: 0,
        }],
        ommers: Vec::new(),
        withdrawals: None,
        known_size: OnceLock::new(),
    };

    head.extended(Arc::new(block), changes, state, limits).0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Whatever the sizes of blocks and limits, every available state is the original one, the
    /// newest are always available, and only states beyond the limits are refused.
    #[test]
    fn every_available_state_is_the_original_one(
        sizes in prop::collection::vec(
            (0..2_000_u64, prop_oneof![19 => 0..30_u64, 1 => 1_000..4_000_u64]),
            140..220,
        ),
        blocks in prop_oneof![Just(5_u64), Just(150), Just(10_000)],
    ) {
        assert_states_are_the_original_ones(sizes, blocks)?;
    }
}

fn assert_states_are_the_original_ones(
    sizes: Vec<(u64, u64)>,
    blocks: u64,
) -> Result<(), TestCaseError> {
    let limits = HistoryLimits {
        blocks,
        bytes: 1 << 40,
    };

    let mut head = genesis();
    let mut roots = VecDeque::from([head.state.root()]);
    for (at, (first, count)) in sizes.into_iter().enumerate() {
        head = with_block(&head, first, count, limits);
        roots.push_back(head.state.root());

        // Some states are requested while blocks are added, some of them twice.
        let asked = first % roots.len() as u64;
        if let Ok(state) = head.state_after(asked) {
            prop_assert_eq!(
                state.root(),
                roots[asked as usize],
                "state after block {} of {}",
                asked,
                at
            );
        }

        // Occasional reverts, some of them to before the oldest held state.
        if at % 50 == 49
            && let Ok(earlier) = head.rewound(head.number() - first % 40)
        {
            head = earlier;
            roots.truncate(head.number() as usize + 1);
        }
    }

    let mut given = 0_u64;
    for (number, root) in roots.iter().enumerate() {
        if let Ok(state) = head.state_after(number as u64) {
            prop_assert_eq!(state.root(), *root, "state after block {}", number);
            given += 1;
        }
    }
    prop_assert!(head.state_after(head.number()).is_ok() && given <= blocks + 1);
    if blocks == 10_000 {
        prop_assert_eq!(given, roots.len() as u64);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Among the held blocks, a search reads every block that has matching logs and, except among
    /// the newest, no others.
    #[test]
    fn searches_find_logs_in_their_blocks(
        steps in prop::collection::vec(
            (prop::collection::vec((0..12_u8, 0..6_u8), 0..4), 0..300_u64),
            100..400,
        ),
        blocks in prop_oneof![Just(90_u64), Just(10_000)],
        wanted in prop::collection::vec(
            (0..12_u8, 0..6_u8, any::<bool>(), 0..400_u64, 0..400_u64),
            20,
        ),
    ) {
        assert_logs_are_found(steps, blocks, wanted)?;
    }
}

/// A log of an account with this topic and with half of it.
fn log(address: u8, topic: u8) -> Log {
    let topics = vec![B256::with_last_byte(topic), B256::with_last_byte(topic / 2)];
    Log::new_unchecked(Address::with_last_byte(address), topics, Bytes::new())
}

fn assert_logs_are_found(
    steps: Vec<(Vec<(u8, u8)>, u64)>,
    blocks: u64,
    wanted: Vec<(u8, u8, bool, u64, u64)>,
) -> Result<(), TestCaseError> {
    let limits = HistoryLimits {
        blocks,
        bytes: 1 << 40,
    };

    let mut head = genesis();
    let mut model = vec![Vec::new()];
    for (at, (logs, back)) in steps.into_iter().enumerate() {
        let written = logs.iter().map(|(address, topic)| log(*address, *topic));
        head = with_logs(&head, (0, 0), written.collect(), limits);
        model.push(logs);

        if at % 40 == 39
            && let Some(number) = head.number().checked_sub(back % 150)
            && let Ok(earlier) = head.rewound(number)
        {
            head = earlier;
            model.truncate(head.number() as usize + 1);
        }
    }

    for (address, topic, both, from, to) in wanted {
        let topics = vec![
            LogKey::topic(0, &B256::with_last_byte(topic)),
            LogKey::topic(0, &B256::with_last_byte(topic + 1)),
        ];
        let keys = [
            vec![LogKey::address(&Address::with_last_byte(address))],
            topics,
        ];
        let keys = if both { &keys[..] } else { &keys[1..] };
        let found: Vec<u64> = head
            .candidates(from, to, keys)
            .map(|block| block.number())
            .collect();

        // Blocks beyond complete groups of 64 are all read.
        let complete = (head.number() + 1) / 64 * 64;
        let first = from.max(head.oldest());
        let last = to.min(head.number());

        for number in first..=last {
            let logs = &model[number as usize];
            let topic = logs
                .iter()
                .any(|(_, own)| *own == topic || *own == topic + 1);
            let has = topic && (!both || logs.iter().any(|(own, _)| *own == address));
            prop_assert_eq!(
                found.contains(&number),
                has || number >= complete,
                "block {}",
                number
            );
        }
        prop_assert!(
            found.is_sorted() && found.iter().all(|number| (first..=last).contains(number))
        );
    }
    Ok(())
}

#[test]
fn the_memory_limit_bounds_history_for_any_number_of_blocks() {
    let limits = HistoryLimits {
        blocks: 1_000_000,
        bytes: 1 << 20,
    };
    let mut head = genesis();
    for number in 0..2_000 {
        head = with_block(&head, number, 10, limits);
    }
    // A block of ten changes counts for about seven kilobytes.
    let held = head.number() - head.oldest();
    assert!((50..500).contains(&held), "{held} blocks");
    assert!(head.state_after(head.oldest() - 1).is_err());
}

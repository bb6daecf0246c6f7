//! What a head still knows of the past: everything within the limits, exactly as it was.

use std::{collections::VecDeque, sync::Arc};

use alloy_primitives::{Address, B256, U256, keccak256};
use proptest::prelude::*;
use tetrad::{
    block::Block,
    chain::{Genesis, Head, HistoryLimits},
    evm::{ChainParams, Fork, Forks},
    state::{AccountChange, AccountFields, Changes},
};

/// A first block without accounts.
fn genesis() -> Head {
    let params = ChainParams {
        chain_id: 125,
        forks: Forks::all_from_genesis(Fork::Osaka),
        deposit_contract: Address::ZERO,
        network_precompiles: false,
        signers: Default::default(),
    };
    Genesis::empty(0, 30_000_000).build(Arc::new(params)).unwrap()
}

/// The head with one block more, which gives `count` accounts from `first` on a balance.
fn with_block(head: &Head, first: u64, count: u64, limits: HistoryLimits) -> Head {
    let number = head.number() + 1;
    let changes = (first..first + count).map(|index| {
        let address = Address::from_word(B256::from(U256::from(index + 1)));
        let fields = AccountFields { nonce: 0, balance: U256::from(number * 1_000 + index), code: None };
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
    (header.number, header.parent_hash, header.state_root) = (number, head.block.hash, state.apply(&changes));
    let block = Block {
        hash: header.hash_slow(),
        header,
        transactions: Vec::new(),
        receipts: Vec::new(),
        ommers: Vec::new(),
        withdrawals: None,
    };
    head.extended(Arc::new(block), changes, state, limits).0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Whatever the sizes of blocks and limits: a state that is given is the one that was there, the newest are
    /// always given, and only what is beyond the limits is refused.
    #[test]
    fn every_state_that_is_given_is_the_one_that_was_there(
        sizes in prop::collection::vec((0..2_000_u64, prop_oneof![19 => 0..30_u64, 1 => 1_000..4_000_u64]), 140..220),
        blocks in prop_oneof![Just(5_u64), Just(150), Just(10_000)],
    ) {
        let limits = HistoryLimits { blocks, bytes: 1 << 40 };
        let mut head = genesis();
        let mut roots = VecDeque::from([head.state.root()]);
        for (at, (first, count)) in sizes.into_iter().enumerate() {
            head = with_block(&head, first, count, limits);
            roots.push_back(head.state.root());
            // Now and then back, sometimes to before what is held as it was.
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
    }
}

#[test]
fn memory_bounds_the_past_whatever_the_number_of_blocks() {
    let limits = HistoryLimits { blocks: 1_000_000, bytes: 1 << 20 };
    let mut head = genesis();
    for number in 0..2_000 {
        head = with_block(&head, number, 10, limits);
    }
    // A block of ten changes counts for some seven kilobytes.
    let held = head.number() - head.oldest();
    assert!((50..500).contains(&held), "{held} blocks");
    assert!(head.state_after(head.oldest() - 1).is_err());
}

//! Each rule of the checker detects the violation that it forbids.

use std::{ops::RangeInclusive, time::Duration};

use alloy::primitives::{Address, B256, U256};

use crate::cluster::checker::{
    Acknowledgement, ChainCopy, HeadRead, History, Included, OwnRead, violations,
};

const SENDER: Address = Address::with_last_byte(1);
const RECEIVER: Address = Address::with_last_byte(2);
const COUNTER: Address = Address::with_last_byte(3);

fn hash(number: u8) -> B256 {
    B256::with_last_byte(number)
}

/// The only transaction of the block with this number.
fn included(block: u8, to: Address, value: u64) -> Included {
    Included {
        hash: hash(100 + block),
        block: block.into(),
        from: SENDER,
        to: Some(to),
        value: U256::from(value),
        fee: U256::from(10),
        succeeded: true,
    }
}

/// The acknowledgement of the transaction in the block with this number, included on node 1 at
/// once.
fn acknowledgement(block: u8) -> Acknowledgement {
    Acknowledgement {
        hash: hash(100 + block),
        sender: 0,
        nonce: u64::from(block) - 11,
        node: 1,
        connection: 0,
        at: Duration::from_millis(block.into()),
        own: Some(OwnRead {
            block: Some((block.into(), hash(block))),
            nonce: u64::from(block) - 10,
        }),
    }
}

/// The head with this number as node 1 reports it.
fn head_read(number: u8) -> HeadRead {
    HeadRead {
        node: 1,
        connection: 1,
        number: number.into(),
        hash: Some(hash(number)),
    }
}

/// A transfer of 5 wei in block 11 and a call in block 12, both acknowledged, on two nodes with the
/// same chain.
fn history() -> (History, ChainCopy) {
    let history = History {
        base: 10,
        counter: COUNTER,
        accounts: vec![(SENDER, U256::from(1_000)), (RECEIVER, U256::from(1_000))],
        acknowledged: vec![acknowledgement(11), acknowledgement(12)],
        heads: vec![head_read(9), head_read(10), head_read(12)],
        given_up: Vec::new(),
        anomalies: Vec::new(),
    };

    let chain = ChainCopy {
        hashes: vec![[10, 11, 12].map(|number| Some(hash(number))).into(); 2],
        transactions: vec![included(11, RECEIVER, 5), included(12, COUNTER, 0)],
        counters: vec![vec![U256::ONE, U256::ZERO]; 2],
        balances: vec![vec![U256::from(975), U256::from(1_005)]; 2],
    };

    (history, chain)
}

/// Forges a history or chain, and expects exactly these violations.
#[track_caller]
fn expect<const N: usize>(forge: impl FnOnce(&mut History, &mut ChainCopy), expected: [&str; N]) {
    let (mut history, mut chain) = history();
    forge(&mut history, &mut chain);
    let found = violations(&history, &chain);
    let matches = found.len() == N
        && found
            .iter()
            .zip(expected)
            .all(|(found, expected)| found.contains(expected));
    assert!(matches, "{found:#?}");
}

#[test]
fn a_correct_history_passes() {
    expect(|_, _| {}, []);
}

#[test]
fn a_lost_transaction_is_detected() {
    // The chain's state is consistent without it.
    expect(
        |_, chain| {
            chain.transactions.remove(0);
            chain.balances = vec![vec![U256::from(990), U256::from(1_000)]; 2];
        },
        ["acknowledged by node 1 on connection 0 after 11ms, is lost"],
    );
}

#[test]
fn a_transaction_that_is_included_twice_is_detected() {
    expect(
        |_, chain| {
            let again = Included {
                block: 12,
                ..chain.transactions[0].clone()
            };
            chain.transactions.push(again);
            chain.balances = vec![vec![U256::from(960), U256::from(1_010)]; 2];
        },
        ["is in the blocks [11, 12]"],
    );
}

#[test]
fn a_head_that_goes_back_is_detected() {
    expect(
        |history, _| history.heads.swap(1, 2),
        ["the head of node 1 went back from 12 to 10"],
    );
    // Another connection may see an older head.
    expect(
        |history, _| {
            history.heads.swap(1, 2);
            history.heads[2].connection = 2;
        },
        [],
    );
}

#[test]
fn a_head_that_is_not_in_the_chain_is_detected() {
    expect(
        |history, _| history.heads[2].hash = Some(hash(99)),
        ["is not in the chain"],
    );
    expect(
        |history, _| history.heads[2].number = 13,
        ["is not in the chain"],
    );
    expect(
        |history, _| history.heads[2].hash = None,
        ["reported the head 12, and did not have it"],
    );
    expect(
        |history, _| {
            history.heads[1] = HeadRead {
                hash: Some(hash(99)),
                ..history.heads[2].clone()
            }
        },
        ["is not in the chain", "the head 12 of node 1 changed"],
    );
}

#[test]
fn reads_of_blocks_that_nodes_gave_up_may_differ_from_the_chain() {
    fn replace(history: &mut History, given_up: RangeInclusive<u64>) {
        history.given_up = vec![given_up];

        history.acknowledged[0].own = Some(OwnRead {
            block: Some((12, hash(99))),
            nonce: 1,
        });
        history.acknowledged[1].own = Some(OwnRead {
            block: None,
            nonce: 1,
        });

        history.heads = vec![
            HeadRead {
                hash: Some(hash(99)),
                ..head_read(12)
            },
            HeadRead {
                hash: None,
                ..head_read(12)
            },
            head_read(11),
        ];
    }

    let found = [
        "block 12",
        "no receipt",
        "counted 1",
        "63 of",
        "changed from",
        "did not have it",
        "went back",
    ];
    expect(|history, _| replace(history, 12..=12), []);
    expect(|history, _| replace(history, 13..=14), found);

    // Everything else is still a violation.
    expect(
        |history, chain| {
            replace(history, 12..=12);
            chain.hashes[1][2] = Some(hash(98));
        },
        ["the block 12 is"],
    );
    expect(
        |history, _| {
            replace(history, 12..=12);
            history.acknowledged[1].hash = hash(98);
        },
        ["is lost", "no receipt", "counted 1"],
    );
    expect(
        |history, _| {
            replace(history, 12..=12);
            history.heads[2].number = 10;
            history.heads[2].hash = Some(hash(10));
        },
        ["went back from 12 to 10"],
    );
}

#[test]
fn a_differing_hash_is_detected() {
    expect(
        |_, chain| chain.hashes[1][1] = Some(hash(99)),
        ["the block 11 is"],
    );
    expect(
        |_, chain| chain.hashes[1][2] = None,
        ["node 1 does not have the block 12"],
    );
}

#[test]
fn a_wrong_counter_is_detected() {
    expect(
        |_, chain| chain.counters[1][0] = U256::from(2),
        ["node 1 counted 2"],
    );
    expect(
        |_, chain| chain.counters[0][1] = U256::ONE,
        ["node 0 counted 1"],
    );
}

#[test]
fn a_wrong_balance_is_detected() {
    expect(
        |_, chain| chain.balances[1][1] -= U256::ONE,
        ["has 1004 on node 1 instead of 1005 - 0"],
    );
    expect(
        |_, chain| chain.transactions[0].fee += U256::ONE,
        ["on node 0", "on node 1"],
    );
}

#[test]
fn a_failed_transaction_is_detected() {
    expect(
        |_, chain| {
            chain.transactions[1].succeeded = false;
            chain.counters = vec![vec![U256::ZERO; 2]; 2];
        },
        ["failed"],
    );
}

#[test]
fn a_missing_own_write_is_detected() {
    fn own(history: &mut History) -> &mut OwnRead {
        history.acknowledged[1].own.as_mut().unwrap()
    }
    expect(
        |history, _| own(history).block = None,
        ["and had no receipt"],
    );
    expect(
        |history, _| own(history).nonce = 1,
        ["with nonce 1, and counted 1 before it"],
    );
    expect(
        |history, _| own(history).block = Some((12, hash(99))),
        ["which is not in the chain"],
    );
    // A broken connection proves nothing.
    expect(|history, _| history.acknowledged[1].own = None, []);
}

#[test]
fn anomalies_of_clients_are_violations() {
    expect(
        |history, _| history.anomalies.push("refused".to_owned()),
        ["refused"],
    );
}

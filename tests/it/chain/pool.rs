//! The pool against a small model: a map of pending transactions that is searched from scratch each
//! time.

use std::{collections::BTreeMap, sync::Arc};

use alloy::{
    consensus::{SignableTransaction, TxEip1559},
    primitives::{Address, Signature, TxKind, U256},
};
use proptest::prelude::*;
use tetrad_chain::{
    Accepted, Chain, ChainConfig, Genesis, GenesisAccount, HistoryLimits, Mining, PoolLimits,
    Preamble, SubmitError,
};
use tetrad_evm::{ChainParams, Fork, Forks};
use tetrad_primitives::block::{Envelope, Submission, Transaction};
use tetrad_stdx::clock::ManualClock;

use crate::support::chain::seal;

const GWEI: u128 = 1_000_000_000;

#[derive(Clone, Debug)]
enum Step {
    Send { sender: u8, nonce: u64, tip: u64 },
    Seal,
}

fn step() -> impl Strategy<Value = Step> {
    let send = (0u8..4, 0u64..8, 1u64..20).prop_map(|(sender, nonce, tip)| Step::Send {
        sender,
        nonce,
        tip,
    });
    prop_oneof![
        9 => send,
        1 => Just(Step::Seal),
    ]
}

pub(super) fn sender(index: u8) -> Address {
    Address::repeat_byte(0x10 + index)
}

/// A transaction with this sender; its signature is not verified.
pub(super) fn transaction(from: u8, nonce: u64, tip: u64) -> Submission {
    let unsigned = TxEip1559 {
        chain_id: 125,
        nonce,
        gas_limit: 21_000,
        max_fee_per_gas: 1_000 * GWEI + u128::from(tip) * GWEI,
        max_priority_fee_per_gas: u128::from(tip) * GWEI,
        to: TxKind::Call(Address::repeat_byte(0xff)),
        // Different values make the transactions of different senders different.
        value: U256::from(from),
        ..Default::default()
    };
    let signature = Signature::new(U256::from(from + 1), U256::from(tip + 1), false);
    let envelope = Envelope::Eip1559(unsigned.into_signed(signature));
    Submission {
        transaction: Transaction {
            envelope,
            sender: sender(from),
            public_key: None,
        },
        sidecar: None,
    }
}

pub(super) fn chain() -> Chain {
    let limits = PoolLimits {
        transactions: 1_000,
        per_account: 1_000,
        ..PoolLimits::default()
    };
    chain_with(limits, Arc::new(ManualClock::at(1_000_000)))
}

/// A chain of eight accounts that seals on demand.
pub(super) fn chain_with(pool: PoolLimits, clock: Arc<ManualClock>) -> Chain {
    chain_preceded(pool, clock, None)
}

fn genesis_account(index: u8) -> GenesisAccount {
    GenesisAccount {
        address: sender(index),
        balance: U256::MAX >> 8,
        ..Default::default()
    }
}

/// As [`chain_with`], with blocks that begin with the transactions of `preamble`.
pub(super) fn chain_preceded(
    pool: PoolLimits,
    clock: Arc<ManualClock>,
    preamble: Option<Box<dyn Preamble>>,
) -> Chain {
    let params = ChainParams {
        chain_id: 125,
        forks: Forks::all_from_genesis(Fork::LATEST),
        deposit_contract: Address::ZERO,
        network_precompiles: true,
        standard: false,
        increasing_timestamps: false,
        limits: Default::default(),
        signers: Default::default(),
        cosmos: Default::default(),
    };

    let genesis = Genesis {
        accounts: (0..8).map(genesis_account).collect(),
        ..Genesis::empty(1_000, 30_000_000)
    };

    let config = ChainConfig {
        mining: Mining::Manual,
        gas_limit: 30_000_000,
        beneficiary: Address::ZERO,
        min_tip: 0,
        pool,
        history: HistoryLimits::default(),
        clock,
        leads: true,
        continues_time: false,
        anvil_conventions: false,
        slots_in_an_epoch: 0,
    };

    Chain::spawn(genesis.build(Arc::new(params)).unwrap(), config, preamble)
        .unwrap()
        .0
}

#[derive(Debug, Default)]
struct Model {
    nonces: [u64; 4],
    /// By sender and nonce: the tip and the position in the order of arrival.
    waiting: BTreeMap<(u8, u64), (u64, u64)>,
    arrivals: u64,
}

impl Model {
    fn send(&mut self, sender: u8, nonce: u64, tip: u64) -> Result<(), &'static str> {
        if nonce < self.nonces[usize::from(sender)] {
            return Err("nonce too low");
        }
        if let Some((old, _)) = self.waiting.get(&(sender, nonce)) {
            if *old == tip {
                return Err("already known");
            }
            // Ten per cent of the tip decide: the maximum fee never rises by as much.
            return Err("replacement transaction underpriced");
        }
        self.waiting.insert((sender, nonce), (tip, self.arrivals));
        self.arrivals += 1;
        Ok(())
    }

    fn pending_nonce(&self, sender: u8) -> u64 {
        (self.nonces[usize::from(sender)]..)
            .find(|nonce| !self.waiting.contains_key(&(sender, *nonce)))
            .unwrap()
    }

    /// The order of execution: the best among the next transactions of all senders.
    fn executable(&self) -> Vec<(u8, u64)> {
        let mut next = self.nonces;
        let mut order = Vec::new();
        loop {
            let candidates = (0u8..4).filter_map(|sender| {
                let key = (sender, next[usize::from(sender)]);
                self.waiting
                    .get(&key)
                    .map(|(tip, arrival)| (*tip, std::cmp::Reverse(*arrival), key))
            });
            let Some((_, _, key)) = candidates.max() else {
                return order;
            };
            next[usize::from(key.0)] += 1;
            order.push(key);
        }
    }

    fn seal(&mut self) -> Vec<(u8, u64)> {
        let order = self.executable();
        for key in &order {
            self.waiting.remove(key);
            self.nonces[usize::from(key.0)] += 1;
        }
        order
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_pool_behaves_like_the_model(steps in prop::collection::vec(step(), 1..80)) {
        assert_behaves_like_the_model(steps)?;
    }
}

fn assert_behaves_like_the_model(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let chain = chain();
    let mut model = Model::default();

    for step in steps {
        match step {
            Step::Send {
                sender: from,
                nonce,
                tip,
            } => {
                let outcome = chain
                    .accept(transaction(from, nonce, tip))
                    .map(|_: Accepted| ());
                match (outcome, model.send(from, nonce, tip)) {
                    (Ok(()), Ok(())) => {}
                    (Err(error), Err(expected)) => prop_assert!(
                        error.to_string().starts_with(expected),
                        "{error} is not {expected}"
                    ),
                    (outcome, expected) => prop_assert!(false, "{outcome:?} is not {expected:?}"),
                }
            }

            Step::Seal => {
                let block = runtime.block_on(seal(&chain, 1)).unwrap();
                let sealed: Vec<_> = block
                    .transactions
                    .iter()
                    .map(|tx| {
                        (
                            tx.sender,
                            alloy::consensus::Transaction::nonce(&tx.envelope),
                        )
                    })
                    .collect();

                let expected: Vec<_> = model
                    .seal()
                    .into_iter()
                    .map(|(from, nonce)| (sender(from), nonce))
                    .collect();
                prop_assert_eq!(sealed, expected);
            }
        }

        prop_assert_eq!(chain.pool().len(), model.waiting.len());
        let offered: Vec<_> = chain
            .pool()
            .ready(0, 1_000)
            .iter()
            .map(|pooled| (pooled.transaction.sender, pooled.nonce()))
            .collect();
        let expected: Vec<_> = model
            .executable()
            .into_iter()
            .map(|(from, nonce)| (sender(from), nonce))
            .collect();
        prop_assert_eq!(offered, expected);

        for from in 0..4 {
            let state = chain.head().state.nonce(sender(from)).unwrap();
            let pending = chain.pool().pending_nonce(sender(from)).unwrap_or(state);
            prop_assert_eq!(pending, model.pending_nonce(from));
        }
    }

    chain.stop();
    Ok(())
}

#[test]
fn a_full_pool_rejects_transactions_with_a_clear_error() {
    let chain = chain();
    for nonce in 0..1_000 {
        chain.accept(transaction(0, nonce, 1)).unwrap();
    }
    let message = |outcome: Result<Accepted, SubmitError>| outcome.err().unwrap().to_string();
    assert_eq!(
        message(chain.accept(transaction(1, 0, 1))),
        "transaction underpriced: txpool is full"
    );
    // Pooled transactions can still be replaced.
    chain
        .accept(with_fee(transaction(0, 5, 2), 1_200 * GWEI))
        .unwrap();
    assert_eq!(chain.pool().len(), 1_000);
    chain.stop();
}

fn with_fee(mut submission: Submission, max_fee_per_gas: u128) -> Submission {
    let Envelope::Eip1559(signed) = submission.transaction.envelope else {
        unreachable!()
    };
    let (mut unsigned, signature, _) = signed.into_parts();
    unsigned.max_fee_per_gas = max_fee_per_gas;
    submission.transaction.envelope = Envelope::Eip1559(unsigned.into_signed(signature));
    submission
}

//! A full pool against a small model: a list that is searched from scratch each time.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use alloy::{
    consensus::{SignableTransaction, Transaction as _, TxEip4844},
    eips::{
        eip4844::builder::{SidecarBuilder, SimpleCoder},
        eip7594::BlobTransactionSidecarEip7594,
    },
    primitives::{Address, U256},
};
use proptest::prelude::*;
use tetrad_chain::{Accepted, Chain, Change, Edit, PoolLimits, PoolOrder, Setting, SubmitError};
use tetrad_primitives::block::{Envelope, Submission};
use tetrad_stdx::clock::ManualClock;
use tokio::sync::oneshot;

use super::pool::{chain_with, sender, transaction};
use crate::support::chain::seal;

const SENDERS: u8 = 6;
const LIMITS: PoolLimits = PoolLimits {
    transactions: 12,
    per_account: 5,
    bytes: usize::MAX,
    account_bytes: usize::MAX,
    lifetime: Some(Duration::from_secs(10)),
    per_block: usize::MAX,
    order: PoolOrder::Tips,
    checks_funds: true,
    replacement_percent: 10,
};

#[derive(Clone, Debug)]
enum Step {
    Send {
        from: u8,
        nonce: u64,
        tip: u64,
        cap: u64,
    },
    Seal,
    /// The base fee of the next block, in tenths of a gwei, until a block is sealed.
    BaseFee {
        fee: u64,
    },
    /// Answers the submitters whose transactions the next block cannot include.
    Release {
        fee: u64,
    },
    Drop {
        from: u8,
        nonce: u64,
    },
    SetNonce {
        from: u8,
        nonce: u64,
    },
    Wait {
        ms: u64,
    },
}

/// Prices are around the base fee of the first blocks, which is a gwei.
fn step() -> impl Strategy<Value = Step> {
    let send = (
        0..SENDERS,
        prop_oneof![4 => 0u64..4, 1 => 4u64..9],
        1u64..25,
        5u64..40,
    )
        .prop_map(|(from, nonce, tip, cap)| Step::Send {
            from,
            nonce,
            tip: tip.min(cap),
            cap,
        });
    prop_oneof![
        30 => send,
        1 => Just(Step::Seal),
        3 => (4u64..42).prop_map(|fee| Step::BaseFee { fee }),
        2 => (0u64..42).prop_map(|fee| Step::Release { fee }),
        1 => (0..SENDERS, 0u64..4).prop_map(|(from, nonce)| Step::Drop { from, nonce }),
        1 => (0..SENDERS, 0u64..4).prop_map(|(from, nonce)| Step::SetNonce { from, nonce }),
        2 => (1_000u64..6_000).prop_map(|ms| Step::Wait { ms }),
    ]
}

/// A transaction with a tip and a cap in tenths of a gwei.
fn priced(from: u8, nonce: u64, tip: u64, cap: u64) -> Submission {
    let mut submission = transaction(from, nonce, tip);
    let Envelope::Eip1559(signed) = submission.transaction.envelope else {
        unreachable!()
    };
    let (mut unsigned, signature, _) = signed.into_parts();
    (unsigned.max_priority_fee_per_gas, unsigned.max_fee_per_gas) =
        (wei(tip).into(), wei(cap).into());
    submission.transaction.envelope = Envelope::Eip1559(unsigned.into_signed(signature));
    submission
}

fn wei(tenths: u64) -> u64 {
    tenths * 100_000_000
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    from: u8,
    nonce: u64,
    tip: u64,
    cap: u64,
    arrival: u64,
}

impl Waiting {
    fn pays(&self, base_fee: u64) -> i64 {
        i64::try_from(wei(self.tip))
            .unwrap()
            .min(wei(self.cap) as i64 - base_fee as i64)
    }
}

#[derive(Clone, Debug, Default)]
struct Model {
    nonces: [u64; SENDERS as usize],
    active: [u64; SENDERS as usize],
    waiting: Vec<Waiting>,
    arrivals: u64,
    now: u64,
}

impl Model {
    fn find(&self, from: u8, nonce: u64) -> Option<&Waiting> {
        self.waiting
            .iter()
            .find(|each| (each.from, each.nonce) == (from, nonce))
    }

    fn executable(&self, from: u8, nonce: u64) -> bool {
        (self.nonces[usize::from(from)]..=nonce).all(|before| self.find(from, before).is_some())
    }

    /// The last transaction of an account.
    fn last(&self, from: u8) -> Option<u64> {
        self.waiting
            .iter()
            .filter(|each| each.from == from)
            .map(|each| each.nonce)
            .max()
    }

    fn remove(&mut self, from: u8, nonce: u64) {
        self.waiting
            .retain(|each| (each.from, each.nonce) != (from, nonce));
    }

    fn send(
        &mut self,
        from: u8,
        nonce: u64,
        tip: u64,
        cap: u64,
        base_fee: u64,
    ) -> Result<(), &'static str> {
        if nonce < self.nonces[usize::from(from)] {
            return Err("nonce too low");
        }
        if let Some(old) = self.find(from, nonce) {
            if (old.tip, old.cap) == (tip, cap) {
                return Err("already known");
            }
            let pays = |new: u64, old: u64| new > old && wei(new) >= wei(old) / 10 * 11;
            if !(pays(tip, old.tip) && pays(cap, old.cap)) {
                return Err("replacement transaction underpriced");
            }
        }

        let mut after = self.clone();
        after.remove(from, nonce);
        let new = Waiting {
            from,
            nonce,
            tip,
            cap,
            arrival: self.arrivals,
        };

        // Whether it would be executable if it were in the pool already.
        let mut with = after.clone();
        with.waiting.push(new);
        let rank = (with.executable(from, nonce), new.pays(base_fee));

        while after
            .waiting
            .iter()
            .filter(|each| each.from == from)
            .count()
            >= LIMITS.per_account
        {
            match after.last(from) {
                Some(last) if last > nonce && !self.executable(from, last) => {
                    after.remove(from, last)
                }
                _ => return Err("account limit exceeded"),
            }
        }

        // The replaced transaction stays in the pool until its replacement is in, and may be the
        // worst.
        let replaced = self.find(from, nonce).copied();
        let mut left = after;
        while left.waiting.len() >= LIMITS.transactions {
            assert!(replaced.is_none(), "a replacement needs no room");

            let rank_of =
                |each: &Waiting| (left.executable(each.from, each.nonce), each.pays(base_fee));
            let worst = left
                .waiting
                .iter()
                .min_by_key(|each| (rank_of(each), Reverse(each.arrival)))
                .unwrap();

            if rank_of(worst) >= rank {
                let future = rank_of(worst).0 && !rank.0;
                return Err(if future {
                    "future transaction"
                } else {
                    "transaction underpriced"
                });
            }

            let victim = worst.from;
            let last = left.last(worst.from).unwrap();
            if victim == from && last <= nonce {
                return Err("transaction underpriced");
            }
            left.remove(victim, last);
        }

        left.waiting.push(new);
        left.arrivals += 1;
        left.active[usize::from(from)] = self.now;

        *self = left;
        Ok(())
    }

    fn seal(&mut self, base_fee: u64) -> Vec<(u8, u64)> {
        let mut sealed = Vec::new();
        loop {
            let next =
                (0..SENDERS).filter_map(|from| self.find(from, self.nonces[usize::from(from)]));
            let payable = next.filter(|each| wei(each.cap) >= base_fee);
            let Some(best) = payable
                .max_by_key(|each| (each.pays(base_fee), Reverse(each.arrival)))
                .copied()
            else {
                return sealed;
            };
            self.remove(best.from, best.nonce);
            self.nonces[usize::from(best.from)] += 1;
            self.active[usize::from(best.from)] = self.now;
            sealed.push((best.from, best.nonce));
        }
    }

    /// An edit set the nonce of an account.
    fn set_nonce(&mut self, from: u8, nonce: u64) {
        let count = self.waiting.len();
        self.waiting
            .retain(|each| each.from != from || each.nonce >= nonce);
        self.nonces[usize::from(from)] = nonce;
        if self.waiting.len() < count {
            self.active[usize::from(from)] = self.now;
        }
    }

    /// The content of a block with this base fee, in order.
    fn executable_at(&self, base_fee: u64) -> Vec<(u8, u64)> {
        self.clone().seal(base_fee)
    }

    fn is_idle(&self, from: u8) -> bool {
        self.now - self.active[usize::from(from)] > LIMITS.lifetime.unwrap().as_millis() as u64
    }

    fn expire(&mut self, base_fee: u64) {
        let before = self.clone();
        self.waiting.retain(|each| {
            let chain = before.nonces[usize::from(each.from)]..=each.nonce;
            let is_ready = chain.into_iter().all(|nonce| {
                before
                    .find(each.from, nonce)
                    .is_some_and(|before| wei(before.cap) >= base_fee)
            });
            !before.is_idle(each.from) || is_ready
        });
    }

    /// Senders, nonces, and whether each is executable.
    fn content(&self) -> BTreeSet<(u8, u64, bool)> {
        self.waiting
            .iter()
            .map(|each| {
                (
                    each.from,
                    each.nonce,
                    self.executable(each.from, each.nonce),
                )
            })
            .collect()
    }
}

fn content(chain: &Chain) -> BTreeSet<(u8, u64, bool)> {
    let all = chain.pool().content();
    all.iter()
        .map(|(pooled, ready)| (pooled.transaction.sender[0] - 0x10, pooled.nonce(), *ready))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_full_pool_behaves_like_the_model(steps in prop::collection::vec(step(), 1..200)) {
        assert_behaves_like_the_model(steps)?;
    }
}

fn assert_behaves_like_the_model(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut pools = Pools::new();

    for step in steps {
        pools.take(step)?;
        pools.compare()?;
    }

    pools.chain.stop();
    Ok(())
}

/// The pool of a chain, and its model.
struct Pools {
    runtime: tokio::runtime::Runtime,
    clock: Arc<ManualClock>,
    chain: Chain,
    model: Model,
    /// The submitters that wait for a block, by the arrival number of the transaction.
    submitters: BTreeMap<u64, oneshot::Receiver<Result<(), SubmitError>>>,
}

impl Pools {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at(1_000_000));
        Self {
            runtime: tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap(),
            chain: chain_with(LIMITS, clock.clone()),
            clock,
            model: Model::default(),
            submitters: BTreeMap::new(),
        }
    }

    /// Takes a step in both, which must have the same outcome.
    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        let base_fee = self.chain.next_base_fee(&self.chain.head()).unwrap();

        match step {
            Step::Send {
                from,
                nonce,
                tip,
                cap,
            } => self.send(from, nonce, tip, cap, base_fee)?,
            Step::Seal => {
                let block = self.runtime.block_on(seal(&self.chain, 1)).unwrap();
                let sealed: Vec<_> = block
                    .transactions
                    .iter()
                    .map(|tx| (tx.sender, tx.envelope.nonce()))
                    .collect();
                let expected = with_addresses(self.model.seal(base_fee));
                prop_assert_eq!(sealed, expected);
            }

            Step::BaseFee { fee } => self.change(Change::Set(Setting::NextBaseFee(wei(fee)))),
            Step::Release { fee } => self.release(fee)?,
            Step::Drop { from, nonce } => {
                let hash = self
                    .chain
                    .pool()
                    .content_of(sender(from))
                    .iter()
                    .find(|(pooled, _)| pooled.nonce() == nonce)
                    .map(|(pooled, _)| pooled.transaction.hash());
                let dropped =
                    hash.is_some_and(|hash| self.chain.pool().reject(hash, SubmitError::Evicted));
                prop_assert_eq!(dropped, self.model.find(from, nonce).is_some());
                self.model.remove(from, nonce);
            }

            Step::SetNonce { from, nonce } => {
                self.change(Change::Edit(vec![Edit::Nonce(sender(from), nonce)]));
                self.model.set_nonce(from, nonce);
            }
            Step::Wait { ms } => {
                self.clock.advance(ms);
                self.model.now += ms;
                self.chain.expire_waiting();
                self.model.expire(base_fee);
            }
        }
        Ok(())
    }

    fn change(&self, change: Change) {
        self.runtime.block_on(self.chain.change(change)).unwrap();
    }

    fn send(
        &mut self,
        from: u8,
        nonce: u64,
        tip: u64,
        cap: u64,
        base_fee: u64,
    ) -> Result<(), TestCaseError> {
        let arrival = self.model.arrivals;
        let outcome = self.chain.accept(priced(from, nonce, tip, cap));
        let expected = self.model.send(from, nonce, tip, cap, base_fee);

        match (outcome, expected) {
            (Ok(accepted), Ok(())) => {
                if let Some(included) = accepted.included {
                    self.submitters.insert(arrival, included);
                }
            }
            (Err(error), Err(expected)) => prop_assert!(
                error.to_string().starts_with(expected),
                "{error} is not {expected}"
            ),
            (outcome, expected) => {
                let outcome = outcome.map(drop);
                prop_assert!(false, "{outcome:?} is not {expected:?}");
            }
        }
        Ok(())
    }

    /// Releases only the submitters whose transactions do not pay the fee.
    fn release(&mut self, fee: u64) -> Result<(), TestCaseError> {
        self.chain.pool().release_not_ready(wei(fee));
        let included = self.model.executable_at(wei(fee));

        for each in &self.model.waiting {
            let Some(submitter) = self.submitters.get_mut(&each.arrival) else {
                continue;
            };
            let waits = included.contains(&(each.from, each.nonce));
            prop_assert_eq!(
                submitter.try_recv().is_err(),
                waits,
                "{:?} at {}",
                each,
                fee
            );
            if !waits {
                self.submitters.remove(&each.arrival);
            }
        }
        Ok(())
    }

    /// Both have the same content, and offer the same transactions at any base fee.
    fn compare(&self) -> Result<(), TestCaseError> {
        let pool = self.chain.pool();
        let expected = self.model.content();
        prop_assert_eq!(content(&self.chain), expected.clone());
        prop_assert!(pool.len() <= LIMITS.transactions);

        let executable = expected.iter().filter(|(.., is)| *is).count();
        let queued = self.model.waiting.len() - executable;
        prop_assert_eq!(pool.counts(), (executable, queued));

        for fee in [0, 4, 9, 15, 22, 30, 38, 60].map(wei) {
            let offered: Vec<_> = pool
                .ready(fee, 1_000)
                .iter()
                .map(|pooled| (pooled.transaction.sender, pooled.nonce()))
                .collect();
            let expected = with_addresses(self.model.executable_at(fee));
            prop_assert_eq!(pool.has_ready(fee), !expected.is_empty());
            prop_assert_eq!(offered, expected);
        }
        Ok(())
    }
}

/// The model's transactions with the addresses of their senders.
fn with_addresses(transactions: Vec<(u8, u64)>) -> Vec<(Address, u64)> {
    transactions
        .into_iter()
        .map(|(from, nonce)| (sender(from), nonce))
        .collect()
}

fn message(outcome: Result<Accepted, SubmitError>) -> String {
    outcome.err().unwrap().to_string()
}

#[test]
fn bytes_are_limited_in_total_and_for_each_account() {
    let one = 1_024
        + alloy::eips::eip2718::Encodable2718::encode_2718_len(
            &transaction(0, 0, 1).transaction.envelope,
        );
    let limits = PoolLimits {
        bytes: 10 * one + 500,
        account_bytes: 4 * one + 200,
        ..PoolLimits::default()
    };
    let chain = chain_with(limits, Arc::new(ManualClock::at(1_000_000)));

    for nonce in 0..4 {
        for from in 0..2 {
            chain
                .accept(transaction(from, nonce, 1 + u64::from(from)))
                .unwrap();
        }
    }

    assert!(
        message(chain.accept(transaction(0, 4, 9)))
            .starts_with("account limit exceeded: 4 transactions")
    );

    chain.accept(transaction(2, 0, 3)).unwrap();
    chain.accept(transaction(2, 1, 3)).unwrap();

    // A transaction as large as two others displaces two.
    let mut large = transaction(3, 0, 5);
    let Envelope::Eip1559(signed) = large.transaction.envelope else {
        unreachable!()
    };
    let (mut unsigned, signature, _) = signed.into_parts();
    (unsigned.input, unsigned.gas_limit) = (vec![1; one].into(), 1_000_000);
    large.transaction.envelope = Envelope::Eip1559(unsigned.into_signed(signature));
    chain.accept(large.clone()).unwrap();

    let expected = [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 0),
        (2, 1),
        (3, 0),
    ];
    assert_eq!(
        content(&chain),
        expected.map(|(from, nonce)| (from, nonce, true)).into()
    );

    // The remaining ones pay as much or more: a rejected transaction evicts none.
    for tip in [1, 2] {
        let Envelope::Eip1559(signed) = large.transaction.envelope.clone() else {
            unreachable!()
        };
        let (mut unsigned, ..) = signed.into_parts();
        (unsigned.max_priority_fee_per_gas, unsigned.nonce) = (u128::from(tip) * 1_000_000_000, 0);

        let mut cheap = transaction(4, 0, tip);
        cheap.transaction.envelope = Envelope::Eip1559(
            unsigned.into_signed(*transaction(4, 0, tip).transaction.envelope.signature()),
        );

        let before = content(&chain);
        let outcome = chain.accept(cheap).map(|_| ());
        match tip {
            1 => {
                assert_eq!(
                    outcome.unwrap_err().to_string(),
                    "transaction underpriced: txpool is full"
                );
                assert_eq!(content(&chain), before);
            }
            _ => {
                outcome.unwrap();
                assert!(
                    !content(&chain).iter().any(|(from, ..)| *from == 0),
                    "the two that pay least are evicted"
                );
            }
        }
    }

    chain.stop();
}

/// The first transaction of a sender, at this price. A different `value` makes a different
/// transaction.
fn priced_in_wei(wei: u128, value: u64) -> Submission {
    let mut submission = transaction(0, 0, 1);
    let Envelope::Eip1559(signed) = submission.transaction.envelope else {
        unreachable!()
    };
    let (mut unsigned, signature, _) = signed.into_parts();
    unsigned.max_priority_fee_per_gas = wei;
    unsigned.max_fee_per_gas = wei * 1_000_000_000;
    unsigned.value = U256::from(value);
    submission.transaction.envelope = Envelope::Eip1559(unsigned.into_signed(signature));
    submission
}

#[test]
fn a_replacement_pays_at_least_the_required_increase() {
    for (percent, refused, accepted) in [(0, 1_000, 1_001), (10, 1_099, 1_100), (50, 1_499, 1_500)]
    {
        let limits = PoolLimits {
            replacement_percent: percent,
            ..PoolLimits::default()
        };
        let chain = chain_with(limits, Arc::new(ManualClock::at(1_000_000)));

        chain.accept(priced_in_wei(1_000, 1)).unwrap();
        let refusal = message(chain.accept(priced_in_wei(refused, 2)));
        assert_eq!(
            refusal, "replacement transaction underpriced",
            "{percent} %"
        );
        chain.accept(priced_in_wei(accepted, 3)).unwrap();
        chain.stop();
    }
}

/// A pool that is always full, where every new transaction evicts one, is as fast as an empty one.
#[test]
fn eviction_from_a_large_pool_is_fast() {
    const PER_ACCOUNT: u64 = 20_000;

    let limits = PoolLimits {
        transactions: 8 * PER_ACCOUNT as usize / 4,
        per_account: PER_ACCOUNT as usize,
        ..PoolLimits::default()
    };
    let chain = chain_with(limits, Arc::new(ManualClock::at(1_000_000)));

    let began = std::time::Instant::now();
    for from in 0..4 {
        for nonce in 0..PER_ACCOUNT / 2 {
            chain
                .accept(transaction(from, nonce, 1 + u64::from(from)))
                .unwrap();
        }
    }

    let filled = began.elapsed();
    for from in 4..8 {
        for nonce in 0..PER_ACCOUNT / 2 {
            chain
                .accept(transaction(from, nonce, 10 + u64::from(from)))
                .unwrap();
        }
    }

    assert_eq!(chain.pool().len(), limits.transactions);
    assert!(
        content(&chain).iter().all(|(from, ..)| *from >= 4),
        "the transactions that pay most stay"
    );

    let evicting = began.elapsed() - filled;
    assert!(
        evicting < 20 * filled + Duration::from_secs(2),
        "{evicting:?} after {filled:?}"
    );

    chain.stop();
}

/// The first transaction of a sender, with a blob.
fn with_blob(sidecar: &BlobTransactionSidecarEip7594, from: u8, tip: u64) -> Submission {
    let plain = transaction(from, 0, tip);
    let tx = TxEip4844 {
        chain_id: 125,
        gas_limit: 21_000,
        max_fee_per_gas: wei(10_000).into(),
        max_priority_fee_per_gas: wei(tip).into(),
        max_fee_per_blob_gas: wei(10).into(),
        blob_versioned_hashes: sidecar.versioned_hashes().collect(),
        ..Default::default()
    };
    let envelope = Envelope::Eip4844(tx.into_signed(*plain.transaction.envelope.signature()));
    let transaction = tetrad_primitives::block::Transaction {
        envelope,
        ..plain.transaction
    };
    Submission {
        transaction,
        sidecar: Some(Box::new(sidecar.clone().into())),
    }
}

#[test]
fn blobs_count_towards_the_size_limit() {
    let limits = PoolLimits {
        bytes: 300 << 10,
        ..PoolLimits::default()
    };
    let chain = chain_with(limits, Arc::new(ManualClock::at(1_000_000)));
    let sidecar = SidecarBuilder::<SimpleCoder>::from_slice(b"a blob of 128 kB")
        .build_7594()
        .unwrap();

    chain.accept(with_blob(&sidecar, 0, 1)).unwrap();
    chain.accept(with_blob(&sidecar, 1, 2)).unwrap();
    assert_eq!(
        message(chain.accept(with_blob(&sidecar, 2, 1))),
        "transaction underpriced: txpool is full"
    );
    chain.accept(with_blob(&sidecar, 2, 3)).unwrap();

    let left = content(&chain)
        .into_iter()
        .map(|(from, ..)| from)
        .collect::<Vec<_>>();
    assert_eq!(left, [1, 2]);
    chain.stop();
}

//! The order in which a full pool evicts transactions.
//!
//! A transaction's effective tip is the lesser of its tip cap and of its fee cap less the base fee.
//! The lowest effective tip of many is therefore that of the transaction with the lowest tip cap or
//! of the one with the lowest fee cap. Two orders that do not depend on the base fee are enough to
//! find it.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc};

use alloy_primitives::Address;

use super::{Pooled, price::prices};

/// The value of a transaction to a full pool: the least one is evicted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Worth {
    /// Whether the transaction is executable. Queued transactions are evicted first.
    pub(super) executable: bool,
    /// Effective tip in wei per gas; negative if the base fee is above the fee cap.
    tip: i128,
}

impl Worth {
    pub(super) fn of(pooled: &Pooled, executable: bool, base_fee: u64) -> Self {
        let (tip, cap) = prices(&pooled.transaction);
        Self {
            executable,
            tip: signed(tip).min(above(cap, base_fee)),
        }
    }
}

/// All transactions of a pool by price.
#[derive(Debug)]
pub(super) struct Ranking {
    /// Transactions that wait for another one of their sender.
    queued: Prices,
    executable: Prices,
}

/// A price, the reversed position in the order of arrival (the newest is evicted first), and the
/// sender.
type Key = (u128, Reverse<u64>, Address);

#[derive(Debug)]
struct Prices {
    by_tip: BTreeSet<Key>,
    by_cap: BTreeSet<Key>,
}

impl Ranking {
    /// Ranks transactions, each given with whether it is executable.
    pub(super) fn of<'a>(all: impl Iterator<Item = (&'a Arc<Pooled>, bool)>) -> Self {
        let (executable, queued): (Vec<_>, Vec<_>) = all.partition(|(_, executable)| *executable);
        Self {
            queued: Prices::of(&queued),
            executable: Prices::of(&executable),
        }
    }

    /// Adds a transaction, or moves it if it is already ranked.
    pub(super) fn place(&mut self, pooled: &Pooled, executable: bool) {
        let (to, from) = if executable {
            (&mut self.executable, &mut self.queued)
        } else {
            (&mut self.queued, &mut self.executable)
        };
        from.remove(pooled);
        to.insert(pooled);
    }

    pub(super) fn remove(&mut self, pooled: &Pooled) {
        self.queued.remove(pooled);
        self.executable.remove(pooled);
    }

    /// Returns the worth and the sender of the transaction that is evicted first.
    pub(super) fn worst(&self, base_fee: u64) -> Option<(Worth, Address)> {
        if let Some((tip, sender)) = self.queued.worst(base_fee) {
            let worth = Worth {
                executable: false,
                tip,
            };
            return Some((worth, sender));
        }

        let (tip, sender) = self.executable.worst(base_fee)?;
        let worth = Worth {
            executable: true,
            tip,
        };
        Some((worth, sender))
    }
}

impl Prices {
    fn of(all: &[(&Arc<Pooled>, bool)]) -> Self {
        Self {
            by_tip: all.iter().map(|(pooled, _)| keys(pooled).0).collect(),
            by_cap: all.iter().map(|(pooled, _)| keys(pooled).1).collect(),
        }
    }

    fn insert(&mut self, pooled: &Pooled) {
        let (by_tip, by_cap) = keys(pooled);
        self.by_tip.insert(by_tip);
        self.by_cap.insert(by_cap);
    }

    fn remove(&mut self, pooled: &Pooled) {
        let (by_tip, by_cap) = keys(pooled);
        self.by_tip.remove(&by_tip);
        self.by_cap.remove(&by_cap);
    }

    fn worst(&self, base_fee: u64) -> Option<(i128, Address)> {
        let by_tip = self
            .by_tip
            .first()
            .map(|(tip, arrival, sender)| (signed(*tip), *arrival, *sender));
        let by_cap = self
            .by_cap
            .first()
            .map(|(cap, arrival, sender)| (above(*cap, base_fee), *arrival, *sender));

        by_tip
            .into_iter()
            .chain(by_cap)
            .min()
            .map(|(tip, _, sender)| (tip, sender))
    }
}

/// Returns a transaction's keys in the order of tip caps and in that of fee caps.
fn keys(pooled: &Pooled) -> (Key, Key) {
    let (tip, cap) = prices(&pooled.transaction);
    let arrival = Reverse(pooled.arrival);
    let sender = pooled.transaction.sender;
    ((tip, arrival, sender), (cap, arrival, sender))
}

fn signed(price: u128) -> i128 {
    i128::try_from(price).unwrap_or(i128::MAX)
}

fn above(cap: u128, base_fee: u64) -> i128 {
    signed(cap).saturating_sub(i128::from(base_fee))
}

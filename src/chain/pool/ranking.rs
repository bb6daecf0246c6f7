//! Which transaction of a full pool pays least.
//!
//! A transaction pays its block the lesser of its tip and of what its fee cap leaves above the base fee. The least
//! paying one of many is therefore the one with the lowest tip or the one with the lowest cap, whatever the base fee:
//! two orders that no new base fee disturbs are enough.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc};

use alloy_primitives::Address;

use super::{Pooled, price::prices};

/// The value of a transaction to a full pool: the least one is evicted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Worth {
    /// Whether nothing but a block is missing. A transaction that waits for another one goes first.
    pub(super) executable: bool,
    /// Wei per gas that a block gets of it; negative if the base fee is higher than its cap.
    tip: i128,
}

impl Worth {
    pub(super) fn of(pooled: &Pooled, executable: bool, base_fee: u64) -> Self {
        let (tip, cap) = prices(&pooled.transaction);
        Self { executable, tip: signed(tip).min(above(cap, base_fee)) }
    }
}

/// All transactions of a pool by what they pay.
#[derive(Debug)]
pub(super) struct Ranking {
    /// Those that wait for another transaction of their sender.
    queued: Prices,
    executable: Prices,
}

/// A price, the position in the order of arrival, of which the newest goes first, and the sender.
type RankingKey = (u128, Reverse<u64>, Address);

#[derive(Debug)]
struct Prices {
    by_tip: BTreeSet<RankingKey>,
    by_cap: BTreeSet<RankingKey>,
}

impl Ranking {
    /// The ranking of transactions, each with whether it is executable.
    pub(super) fn of<'a>(all: impl Iterator<Item = (&'a Arc<Pooled>, bool)>) -> Self {
        let (executable, queued): (Vec<_>, Vec<_>) = all.partition(|(_, executable)| *executable);
        Self { queued: Prices::of(&queued), executable: Prices::of(&executable) }
    }

    /// Adds a transaction, or moves it if it was there already.
    pub(super) fn place(&mut self, pooled: &Pooled, executable: bool) {
        let (to, from) = match executable {
            true => (&mut self.executable, &mut self.queued),
            false => (&mut self.queued, &mut self.executable),
        };
        from.remove(pooled);
        to.insert(pooled);
    }

    pub(super) fn remove(&mut self, pooled: &Pooled) {
        self.queued.remove(pooled);
        self.executable.remove(pooled);
    }

    /// The transaction that pays least, of those that are queued if there are any: what it is worth, and its sender.
    pub(super) fn worst(&self, base_fee: u64) -> Option<(Worth, Address)> {
        let of = |prices: &Prices, executable| {
            let (tip, sender) = prices.worst(base_fee)?;
            Some((Worth { executable, tip }, sender))
        };
        of(&self.queued, false).or_else(|| of(&self.executable, true))
    }
}

impl Prices {
    fn of(all: &[(&Arc<Pooled>, bool)]) -> Self {
        let keys = || all.iter().map(|(pooled, _)| keys(pooled));
        Self { by_tip: keys().map(|(by_tip, _)| by_tip).collect(), by_cap: keys().map(|(_, by_cap)| by_cap).collect() }
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
        let by_tip = self.by_tip.first().map(|(tip, arrival, sender)| (signed(*tip), *arrival, *sender));
        let by_cap = self.by_cap.first().map(|(cap, arrival, sender)| (above(*cap, base_fee), *arrival, *sender));
        by_tip.into_iter().chain(by_cap).min().map(|(tip, _, sender)| (tip, sender))
    }
}

/// A transaction's place in the order of tips and in that of caps.
fn keys(pooled: &Pooled) -> (RankingKey, RankingKey) {
    let ((tip, cap), arrival, sender) =
        (prices(&pooled.transaction), Reverse(pooled.arrival), pooled.transaction.sender);
    ((tip, arrival, sender), (cap, arrival, sender))
}

fn signed(price: u128) -> i128 {
    i128::try_from(price).unwrap_or(i128::MAX)
}

fn above(cap: u128, base_fee: u64) -> i128 {
    signed(cap).saturating_sub(i128::from(base_fee))
}

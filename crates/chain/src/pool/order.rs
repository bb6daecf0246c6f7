//! The order of transactions in a block.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
    sync::Arc,
};

use alloy_consensus::Transaction as _;

use super::{PoolOrder, Pooled};

/// Merges the senders' queues, each in order of nonce: the highest tip comes next, equal tips in
/// order of arrival, unless arrival alone decides. A queue ends at the first transaction that does not pay the base fee.
pub(super) fn merge<'a>(
    mut queues: Vec<impl Iterator<Item = &'a Arc<Pooled>>>,
    base_fee: u64,
    order: PoolOrder,
    limit: usize,
) -> Vec<Arc<Pooled>> {
    let mut heap = BinaryHeap::with_capacity(queues.len());
    heap.extend(
        queues
            .iter_mut()
            .enumerate()
            .filter_map(|(at, queue)| Offer::of(queue.next()?, at, base_fee, order)),
    );

    let mut chosen = Vec::new();
    while chosen.len() < limit
        && let Some(Offer { queue, pooled, .. }) = heap.pop()
    {
        chosen.push(pooled);
        let next = queues[queue].next();
        heap.extend(next.and_then(|next| Offer::of(next, queue, base_fee, order)));
    }
    chosen
}

/// The next transaction of a queue.
struct Offer {
    rank: (u128, Reverse<u64>),
    queue: usize,
    pooled: Arc<Pooled>,
}

impl Offer {
    /// Returns the offer of a transaction, unless it does not pay the base fee.
    fn of(pooled: &Arc<Pooled>, queue: usize, base_fee: u64, order: PoolOrder) -> Option<Self> {
        let tip = pooled
            .transaction
            .envelope
            .effective_tip_per_gas(base_fee)?;
        Some(Self {
            rank: (
                tip * u128::from(order == PoolOrder::Tips),
                Reverse(pooled.arrival),
            ),
            queue,
            pooled: pooled.clone(),
        })
    }
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl Eq for Offer {}

impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

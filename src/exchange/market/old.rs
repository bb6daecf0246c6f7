//! News in blocks that memory no longer holds: what a history is made of after a restart.

use std::sync::Arc;

use super::Shared;
use crate::{
    block::Block,
    chain::{Head, LogKey},
};

/// What is remembered by the minute, and of trades at all.
const DAY: u64 = 86_400;
/// Older blocks that are looked at: enough for what is remembered by the hour.
const OLDER: usize = 20_000;

impl Shared {
    /// Blocks on disk with news, oldest first: all of the last day, and of those before as many as it takes.
    pub(super) fn old_news(&self, head: &Head) -> impl Iterator<Item = Arc<Block>> {
        let contracts = &self.network.contracts;
        let keys = vec![LogKey::address(&contracts.oracle), LogKey::address(&contracts.vault)];
        let numbers = self.chain.old_candidates(head, 0, head.number(), &[keys]);
        let since = head.block.header.timestamp.saturating_sub(DAY);
        let read = |number: &u64| self.chain.old_block(head, *number);
        let older = numbers.partition_point(|number| read(number).is_some_and(|block| block.header.timestamp < since));
        let step = older.div_ceil(OLDER).max(1);
        let chosen = (0..older).step_by(step).chain(older..numbers.len()).map(|at| numbers[at]).collect::<Vec<_>>();
        chosen.into_iter().filter_map(move |number| read(&number))
    }
}

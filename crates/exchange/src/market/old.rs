//! Sources of the history after a restart: the saved one, and events in blocks that memory no
//! longer holds.

use std::sync::Arc;

use tetrad_chain::Head;
use tetrad_primitives::block::Block;
use tetrad_stdx::calendar::DAY;
use tetrad_store::store::LogKey;

use super::SharedMarket;
use crate::history::{KeptHistory, PriceHistory};

/// Most older blocks that are read: enough for prices by the hour.
const OLDER: usize = 20_000;

impl SharedMarket {
    /// The saved history with the events since. None if there is none, or if a revert removed its
    /// block.
    pub(super) fn kept_history(&self, head: &Arc<Head>) -> Option<PriceHistory> {
        let (storage, _) = self.kept.as_ref()?;
        let KeptHistory {
            number,
            hash,
            mut history,
        } = KeptHistory::load(&**storage, head.genesis.hash, &self.network)?;

        let block = head
            .block(number)
            .cloned()
            .or_else(|| self.chain.old_block(head, number));

        let counts = match block {
            Some(block) => block.hash == hash,
            // Pruned blocks cannot be reverted.
            None => number < self.chain.oldest(head),
        };
        if !counts {
            return None;
        }

        self.old_events(head, number + 1)
            .for_each(|block| self.replay(&mut history, head, &block));
        head.blocks_from(number + 1)
            .for_each(|block| self.replay(&mut history, head, block));
        Some(history)
    }

    /// Blocks on disk from `from` on with events, oldest first: all of the last day, and a sample
    /// of those before.
    pub(super) fn old_events(&self, head: &Head, from: u64) -> impl Iterator<Item = Arc<Block>> {
        let contracts = &self.network.contracts;
        let keys = vec![
            LogKey::address(&contracts.oracle),
            LogKey::address(&contracts.vault),
        ];
        let numbers = self
            .chain
            .old_candidates(head, from, head.number(), &[keys]);

        // Trades are kept for a day, and prices by the minute.
        let since = head.block.header.timestamp.saturating_sub(DAY);
        let read = |number: &u64| self.chain.old_block(head, *number);
        // Times never decrease, so a search reads only a few blocks.
        let older = numbers.partition_point(|number| {
            read(number).is_some_and(|block| block.header.timestamp < since)
        });

        let step = older.div_ceil(OLDER).max(1);
        let chosen = (0..older)
            .step_by(step)
            .chain(older..numbers.len())
            .map(|at| numbers[at])
            .collect::<Vec<_>>();

        chosen.into_iter().filter_map(move |number| read(&number))
    }
}

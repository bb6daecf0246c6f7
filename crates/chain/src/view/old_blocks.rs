//! Lookup of older blocks in the data directory.

use std::sync::Arc;

use tetrad_primitives::block::Block;
use tetrad_store::store::LogKey;

use super::head::Head;
use crate::Chain;

impl Chain {
    /// Returns the block with this number from disk, if memory no longer holds it.
    pub fn old_block(&self, head: &Head, number: u64) -> Option<Arc<Block>> {
        let history = self
            .shared
            .history
            .as_ref()
            .filter(|_| number < head.oldest())?;
        history.block(number)
    }

    /// Returns the log height of the newest checkpoint that is a base of the present chain, or
    /// `None` on a chain that lives in memory only.
    pub fn checkpoint(&self) -> Option<u64> {
        self.shared.history.as_ref()?.bases().ok()?.last().copied()
    }

    /// Returns the number of the oldest block in memory or on disk, apart from the genesis block.
    pub fn oldest(&self, head: &Head) -> u64 {
        let kept = self
            .shared
            .history
            .as_ref()
            .and_then(|history| history.oldest());
        kept.map_or(head.oldest(), |oldest| oldest.min(head.oldest()))
    }

    /// Returns the numbers of the blocks from `from` to `to` that memory no longer holds and that
    /// may have logs under at least one key of each of `wanted`, oldest first.
    pub fn old_candidates(
        &self,
        head: &Head,
        from: u64,
        to: u64,
        wanted: &[Vec<LogKey>],
    ) -> Vec<u64> {
        let Some(last) = head.oldest().checked_sub(1) else {
            return Vec::new();
        };

        let history = self.shared.history.as_ref();
        history
            .map(|history| history.candidates(from, to.min(last), wanted))
            .unwrap_or_default()
    }

    /// Iterates over the blocks before `before` that memory no longer holds and that may have logs
    /// under at least one key of each of `wanted`, newest first. Each is read from disk when the
    /// iterator reaches it.
    pub fn old_blocks_before<'a>(
        &'a self,
        head: &Head,
        before: u64,
        wanted: &'a [Vec<LogKey>],
    ) -> impl Iterator<Item = Arc<Block>> + 'a {
        let history = self.shared.history.as_ref();
        let before = before.min(head.oldest());
        let numbers = history
            .into_iter()
            .flat_map(move |history| history.candidates_before(before, wanted));
        numbers.filter_map(move |number| history?.block(number))
    }
}

//! The history of a pool: its view at past blocks, as far back as their states are held in memory
//! or in the log.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::{Address, B256, map::DefaultHashBuilder};
use parking_lot::Mutex;
use tetrad_chain::{Chain, Head, View};
use tetrad_contracts::contracts::{ReadContractError, bindings::LendingLens, read};
use tetrad_primitives::block::Block;

use super::bodies::PoolSample;

/// Most samples that are cached, a few hundred bytes each.
const MAX_SAMPLES: usize = 8_192;

/// Samples of sealed blocks, which never change.
#[derive(Default)]
pub(super) struct Samples(Mutex<HashMap<(B256, Address), PoolSample, DefaultHashBuilder>>);

/// The time to sample, and the number of samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Seconds back from the newest block.
    pub(super) seconds: u64,
    /// Samples at most.
    pub(super) count: u64,
}

impl Samples {
    /// The pool of `asset` at evenly spaced instants, oldest first, the newest block last. Each
    /// sample is that of the newest block at its instant; a block counts once.
    pub(super) fn take(
        &self,
        chain: &Chain,
        head: &Arc<Head>,
        lens: Address,
        asset: Address,
        span: Span,
    ) -> Result<Vec<PoolSample>, ReadContractError> {
        let instants: Vec<u64> = instants(head.block.header.timestamp, span).collect();
        let mut blocks = Vec::with_capacity(instants.len() + 1);

        let genesis = head.genesis.number();
        let oldest = chain.oldest(head);
        // If every later block is there, the first one is, too.
        let oldest = if oldest <= genesis + 1 {
            genesis
        } else {
            oldest
        };
        PastBlocks { chain, head }.blocks_at(&instants, (oldest, head.number()), &mut blocks);
        blocks.push(head.block.clone());
        blocks.dedup_by_key(|block| block.number());

        let mut samples = Vec::with_capacity(blocks.len());
        for block in blocks {
            samples.extend(self.sample(head, block, lens, asset)?);
        }
        Ok(samples)
    }

    /// The pool after a block; none if the block's state is neither held nor in the log.
    fn sample(
        &self,
        head: &Arc<Head>,
        block: Arc<Block>,
        lens: Address,
        asset: Address,
    ) -> Result<Option<PoolSample>, ReadContractError> {
        let key = (block.hash, asset);
        // A development method may change the state after the newest block without a new block.
        let is_past = block.number() < head.number();
        if is_past && let Some(sample) = self.0.lock().get(&key) {
            return Ok(Some(sample.clone()));
        }

        let Ok(view) = View::of(head.clone(), block) else {
            return Ok(None);
        };

        let sample = PoolSample::new(
            &read(&view, lens, &LendingLens::getPoolCall { asset })?,
            &view.block,
        );

        if is_past {
            let mut samples = self.0.lock();
            // All of them can be read again.
            if samples.len() >= MAX_SAMPLES {
                samples.clear();
            }
            samples.insert(key, sample.clone());
        }

        Ok(Some(sample))
    }
}

/// The blocks in memory and on disk.
struct PastBlocks<'a> {
    chain: &'a Chain,
    head: &'a Head,
}

impl PastBlocks<'_> {
    fn block(&self, number: u64) -> Option<Arc<Block>> {
        self.head
            .block(number)
            .cloned()
            .or_else(|| self.chain.old_block(self.head, number))
    }

    /// Collects the newest block at each of `instants`, which are in order, among those from `low`
    /// to `high`. Bisects the instants, so that each search narrows the range of the next.
    fn blocks_at(&self, instants: &[u64], (low, high): (u64, u64), out: &mut Vec<Arc<Block>>) {
        let middle = instants.len() / 2;
        let Some(&instant) = instants.get(middle) else {
            return;
        };

        let before = &instants[..middle];
        let after = &instants[middle + 1..];

        match self.block_at(instant, (low, high)) {
            Some(block) => {
                let number = block.number();
                self.blocks_at(before, (low, number), out);
                out.push(block);
                self.blocks_at(after, (number, high), out);
            }
            // No block is that old.
            None => self.blocks_at(after, (low, high), out),
        }
    }

    fn block_at(&self, instant: u64, (mut low, mut high): (u64, u64)) -> Option<Arc<Block>> {
        let mut found = self
            .block(low)
            .filter(|block| block.header.timestamp <= instant)?;

        // The block `low` is not later than the instant; all blocks after `high` are.
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match self
                .block(middle)
                .filter(|block| block.header.timestamp <= instant)
            {
                Some(block) => {
                    low = middle;
                    found = block;
                }
                None => high = middle - 1,
            }
        }
        Some(found)
    }
}

/// Multiples of the distance between samples, so that a request a little later hits the same
/// instants.
fn instants(now: u64, span: Span) -> impl Iterator<Item = u64> {
    let step = (span.seconds / span.count).max(1);
    let end = now.div_ceil(step);
    let first =
        (now.saturating_sub(span.seconds) / step + 1).max(end.saturating_sub(span.count - 1));

    // The chain's first seconds are part of its past as well.
    let first = if now <= span.seconds && span.count > end {
        0
    } else {
        first
    };
    (first..end).map(move |n| n * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_even_and_stay_within_their_number() {
        let all = |now, seconds, count| instants(now, Span { seconds, count }).collect::<Vec<_>>();

        assert_eq!(
            all(1_000, 100, 10),
            [910, 920, 930, 940, 950, 960, 970, 980, 990]
        );
        assert_eq!(
            all(1_005, 100, 10),
            [920, 930, 940, 950, 960, 970, 980, 990, 1_000]
        );
        assert_eq!(all(5, 100, 10), [0]);
        assert_eq!(all(1_000, 100, 1), Vec::<u64>::new());
        assert_eq!(all(1_000, 3_600, 2_000).len(), 1_000);
        for (now, seconds, count) in [
            (1_700_000_001, 86_400, 100),
            (1_700_000_001, 3_600, 7),
            (0, 3_600, 5),
        ] {
            assert!(all(now, seconds, count).len() < count as usize);
        }
    }
}

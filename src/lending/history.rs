//! What a pool was like: its view at blocks of the past, as far back as the node holds their states.

use std::{collections::HashMap, sync::Arc};

use alloy_primitives::{Address, B256, map::DefaultHashBuilder};
use parking_lot::Mutex;

use super::{bodies::PoolSample, contract::LendingLens};
use crate::{
    chain::{Head, View},
    contracts::{ReadContractError, read},
};

/// Samples that are remembered, a few hundred bytes each.
const MAX_SAMPLES: usize = 8_192;

/// Samples of sealed blocks, which never change.
#[derive(Default)]
pub(super) struct Samples(Mutex<HashMap<(B256, Address), PoolSample, DefaultHashBuilder>>);

/// Which part of the past to sample, and how densely.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Seconds back from the newest block.
    pub(super) seconds: u64,
    /// Samples at most.
    pub(super) count: u64,
}

impl Samples {
    /// The pool of `asset` at evenly spaced instants, oldest first, the newest block last. Each sample is that of the
    /// newest block at its instant; a block counts once.
    pub(super) fn take(
        &self,
        head: &Arc<Head>,
        lens: Address,
        asset: Address,
        span: Span,
    ) -> Result<Vec<PoolSample>, ReadContractError> {
        let numbers = instants(head.block.header.timestamp, span).filter_map(|instant| block_at(head, instant));
        let mut numbers: Vec<u64> = numbers.chain([head.number()]).collect();
        numbers.dedup();
        let mut samples = Vec::with_capacity(numbers.len());
        for number in numbers {
            // The head holds its own blocks; a state that is gone all the same is left out.
            let Ok(view) = View::after(head.clone(), number) else { continue };
            samples.push(self.sample(&view, lens, asset)?);
        }
        Ok(samples)
    }

    fn sample(&self, view: &View, lens: Address, asset: Address) -> Result<PoolSample, ReadContractError> {
        let key = (view.block.hash, asset);
        // A development method may change the state after the newest block without a new block.
        let settled = view.block.number() < view.head.number();
        if settled && let Some(sample) = self.0.lock().get(&key) {
            return Ok(sample.clone());
        }
        let sample = PoolSample::new(&read(view, lens, &LendingLens::getPoolCall { asset })?, &view.block);
        if settled {
            let mut samples = self.0.lock();
            if samples.len() >= MAX_SAMPLES {
                samples.clear();
            }
            samples.insert(key, sample.clone());
        }
        Ok(sample)
    }
}

/// Multiples of the distance between samples, so that who asks again a little later hits the same instants.
fn instants(now: u64, span: Span) -> impl Iterator<Item = u64> {
    let step = (span.seconds / span.count).max(1);
    let end = now.div_ceil(step);
    let first = (now.saturating_sub(span.seconds) / step + 1).max(end.saturating_sub(span.count - 1));
    // The chain's first seconds are part of its past as well.
    let first = if now <= span.seconds && span.count > end { 0 } else { first };
    (first..end).map(move |n| n * step)
}

/// The newest block at an instant, if it is held.
fn block_at(head: &Head, instant: u64) -> Option<u64> {
    let time = |number: u64| head.block(number).map_or(u64::MAX, |block| block.header.timestamp);
    let (mut low, mut high) = (head.oldest(), head.number());
    if time(low) > instant {
        return None;
    }
    // The block `low` is not later than the instant, and whatever comes after `high` is.
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if time(middle) <= instant { low = middle } else { high = middle - 1 }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_even_and_stay_within_their_number() {
        let all = |now, seconds, count| instants(now, Span { seconds, count }).collect::<Vec<_>>();
        assert_eq!(all(1_000, 100, 10), [910, 920, 930, 940, 950, 960, 970, 980, 990]);
        assert_eq!(all(1_005, 100, 10), [920, 930, 940, 950, 960, 970, 980, 990, 1_000]);
        assert_eq!(all(5, 100, 10), [0]);
        assert_eq!(all(1_000, 100, 1), Vec::<u64>::new());
        assert_eq!(all(1_000, 3_600, 2_000).len(), 1_000);
        for (now, seconds, count) in [(1_700_000_001, 86_400, 100), (1_700_000_001, 3_600, 7), (0, 3_600, 5)] {
            assert!(all(now, seconds, count).len() < count as usize);
        }
    }
}

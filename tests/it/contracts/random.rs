//! Random choices that are the same on every machine, and their number.

use std::env;

use alloy_primitives::U256;

/// SplitMix64, which is small and good enough for random walks.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// A part of `whole`, from nothing to all of it.
    pub(crate) fn part_of(&mut self, whole: U256) -> U256 {
        whole * U256::from(self.below(1_001)) / U256::from(1_000)
    }
}

/// The number of random steps of a suite, as its share of all.
pub(crate) fn steps(share_percent: u64) -> u64 {
    let total = env::var("TETRAD_INVARIANT_STEPS").map_or(20_000, |text| text.parse().unwrap());
    total * share_percent / 100
}

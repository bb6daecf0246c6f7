//! States of blocks in memory that were built when somebody asked for them: who asks once often asks again, or for the
//! block after.

use std::collections::VecDeque;

use alloy_primitives::B256;
use parking_lot::Mutex;

use crate::state::State;

/// States that are held at most. Each takes what a few thousand changes take in the trie.
const STATES: usize = 4;

/// States after blocks, by the hash and number of the block. The one asked for last comes last.
#[derive(Debug, Default)]
pub(super) struct BuiltStates(Mutex<VecDeque<(u64, B256, State)>>);

impl BuiltStates {
    /// The state after the newest block from `first` to `last` that is held and is `known` under its number.
    pub(in crate::chain) fn newest(
        &self,
        first: u64,
        last: u64,
        known: impl Fn(u64, B256) -> bool,
    ) -> Option<(u64, State)> {
        let mut held = self.0.lock();
        let fits = |(_, (number, hash, _)): &(usize, &(u64, B256, State))| {
            (first..=last).contains(number) && known(*number, *hash)
        };
        let (at, _) = held.iter().enumerate().filter(fits).max_by_key(|(_, (number, ..))| *number)?;
        let (number, hash, state) = held.remove(at)?;
        held.push_back((number, hash, state.clone()));
        Some((number, state))
    }

    /// Holds a state, in the place of the one that nobody asked for the longest.
    pub(in crate::chain) fn insert(&self, number: u64, hash: B256, state: State) {
        let mut held = self.0.lock();
        if held.iter().any(|(_, known, _)| *known == hash) {
            return;
        }
        if held.len() == STATES {
            held.pop_front();
        }
        held.push_back((number, hash, state));
    }
}

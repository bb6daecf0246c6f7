//! A cache of states that were rebuilt for a request: clients that read one state often read it again, or the one after
//! the next block.

use std::collections::VecDeque;

use alloy_primitives::B256;
use parking_lot::Mutex;

use crate::state::State;

/// Most states that are held. Each takes the memory of a few thousand changes in the trie.
const STATES: usize = 4;

/// States after blocks, with the number and hash of the block. The most recently used comes last.
#[derive(Debug, Default)]
pub(super) struct BuiltStates(Mutex<VecDeque<(u64, B256, State)>>);

impl BuiltStates {
    /// Returns the state after the newest block from `first` to `last` that is held and that `known` accepts.
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

    /// Adds a state and evicts the least recently used one.
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

//! A cache of states that are not held: clients that read one state often read it again.

use std::collections::VecDeque;

use alloy_primitives::B256;
use parking_lot::Mutex;
use tetrad_primitives::state::State;

/// Most states that are cached. Each takes the memory of a few thousand changes in the trie at
/// most.
const STATES: usize = 4;

/// States after blocks, with the hash of the block. The most recently used comes last.
#[derive(Debug, Default)]
pub(super) struct DeferredStates(Mutex<VecDeque<(B256, State)>>);

impl DeferredStates {
    /// Returns the state after the block with this hash, which `find` returns the first time.
    pub(super) fn get_or<E>(
        &self,
        block: B256,
        find: impl FnOnce() -> Result<State, E>,
    ) -> Result<State, E> {
        // The lock is not held while a state is found: that may take a while.
        let cached = {
            let mut states = self.0.lock();
            let at = states.iter().position(|(known, _)| *known == block);
            at.and_then(|at| states.remove(at))
        };
        let state = cached.map_or_else(find, |(_, state)| Ok(state))?;

        let mut states = self.0.lock();
        // Another thread may have found the same state meanwhile.
        states.retain(|(known, _)| *known != block);
        if states.len() == STATES {
            states.pop_front();
        }
        states.push_back((block, state.clone()));
        Ok(state)
    }
}

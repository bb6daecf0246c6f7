//! Replaying log entries: nothing is executed, and each resulting state root is compared with the recorded one.

use std::sync::Arc;

use crate::{
    block::Block,
    chain::{Head, HistoryLimits},
    log::{Entry, Shift},
    state::State,
    store::Checkpoint,
};

/// The result of a replay so far: the head, the time shift, and the blocks that were pruned from memory.
pub(in crate::chain) struct Replayed {
    pub(in crate::chain) head: Head,
    pub(in crate::chain) shift: Shift,
    pub(in crate::chain) dropped: Vec<Arc<Block>>,
}

impl Replayed {
    /// Begins a replay at a head.
    pub(in crate::chain) fn from(head: Head, shift: Shift) -> Self {
        Self { head, shift, dropped: Vec::new() }
    }

    /// Applies the next entry that is in effect. The error says how its outcome differs from the recorded one.
    pub(in crate::chain) fn apply(&mut self, entry: Entry, limits: HistoryLimits) -> Result<(), String> {
        let state = state_after(&self.head.block, &self.head.state, &entry)?;
        match entry {
            Entry::Block { block, changes, shift } => {
                let (head, dropped) = self.head.extended(block, changes, state, limits);
                (self.head, self.shift) = (head, shift);
                self.dropped.extend(dropped);
            }
            Entry::Edit { changes, parameters, .. } => {
                self.head = self.head.edited(changes, state);
                if let Some(parameters) = parameters {
                    parameters.restore(&mut self.head);
                }
            }
            Entry::Time(shift) | Entry::Revert { shift, .. } => self.shift = shift,
        }
        Ok(())
    }
}

/// Applies the next entry that is in effect to a checkpoint. The error says how its outcome differs from the recorded one.
pub(in crate::chain) fn advance(at: &mut Checkpoint, entry: Entry) -> Result<(), String> {
    at.state = state_after(&at.block, &at.state, &entry)?;
    match entry {
        Entry::Block { block, shift, .. } => (at.block, at.shift) = (block, shift),
        Entry::Time(shift) | Entry::Revert { shift, .. } => at.shift = shift,
        Entry::Edit { parameters: Some(parameters), .. } => at.parameters = parameters,
        Entry::Edit { parameters: None, .. } => {}
    }
    Ok(())
}

/// Returns the state after an entry, if its root is the recorded one.
fn state_after(parent: &Block, before: &State, entry: &Entry) -> Result<State, String> {
    let mut state = before.clone();
    let (changes, expected) = match entry {
        Entry::Block { block, changes, .. } => {
            if block.number() != parent.number() + 1 || block.header.parent_hash != parent.hash {
                return Err(format!("block {} does not follow block {}", block.number(), parent.number()));
            }
            (changes, block.header.state_root)
        }
        Entry::Edit { changes, root, .. } => (changes, *root),
        Entry::Time(_) | Entry::Revert { .. } => return Ok(state),
    };
    match state.apply(changes) {
        root if root == expected => Ok(state),
        root => Err(format!("state root after block {}: expected {expected}, got {root}", parent.number())),
    }
}

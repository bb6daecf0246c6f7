//! Replaying log entries: nothing is executed, and each resulting state root is compared with the
//! recorded one.

use std::sync::Arc;

use tetrad_primitives::{block::Block, state::State};
use tetrad_store::{
    log::{LogEntry, TimeShift},
    store::{Checkpoint, Standing},
};

use crate::{Head, HistoryLimits};

/// The result of a replay so far: the head, the time shift, what all entries determine, and the
/// blocks that were pruned from memory.
pub(crate) struct Replayed {
    pub(crate) head: Head,
    pub(crate) shift: TimeShift,
    pub(crate) standing: Standing,
    pub(crate) dropped: Vec<Arc<Block>>,
}

impl Replayed {
    /// Begins a replay at a head.
    pub(crate) fn from(head: Head, shift: TimeShift, standing: Standing) -> Self {
        Self {
            head,
            shift,
            standing,
            dropped: Vec::new(),
        }
    }

    /// Applies the next entry that is in effect. The error says how its outcome differs from the
    /// recorded one. The caller has the standing [follow](Standing::follow) all entries.
    pub(crate) fn apply(&mut self, entry: LogEntry, limits: HistoryLimits) -> Result<(), String> {
        let state = state_after(&self.head.block, &self.head.state, &entry)?;
        match entry {
            LogEntry::Block {
                block,
                changes,
                shift,
            } => {
                let (head, dropped) = self.head.extended(block, changes, state, limits);
                self.head = head;
                self.shift = shift;
                self.dropped.extend(dropped);
            }
            LogEntry::Edit {
                changes,
                parameters,
                ..
            } => {
                self.head = self.head.edited(changes, state);
                if let Some(parameters) = parameters {
                    self.head.set_params(parameters);
                }
            }
            LogEntry::Time(shift)
            | LogEntry::Revert { shift, .. }
            | LogEntry::Snapshot { shift, .. } => self.shift = shift,
            LogEntry::Epoch { .. } | LogEntry::Setting(_) => {}
        }
        Ok(())
    }
}

/// Applies the next entry that is in effect to a checkpoint. The error says how its outcome differs
/// from the recorded one. The caller has the standing [follow](Standing::follow) all entries.
pub(crate) fn advance(at: &mut Checkpoint, entry: LogEntry) -> Result<(), String> {
    at.state = state_after(&at.block, &at.state, &entry)?;
    match entry {
        LogEntry::Block { block, shift, .. } => {
            at.block = block;
            at.shift = shift;
        }
        LogEntry::Time(shift)
        | LogEntry::Revert { shift, .. }
        | LogEntry::Snapshot { shift, .. } => at.shift = shift,
        LogEntry::Edit {
            parameters: Some(parameters),
            ..
        } => at.parameters = parameters,
        LogEntry::Edit {
            parameters: None, ..
        }
        | LogEntry::Epoch { .. }
        | LogEntry::Setting(_) => {}
    }
    Ok(())
}

/// Returns the state after an entry, if its root is the recorded one.
fn state_after(parent: &Block, before: &State, entry: &LogEntry) -> Result<State, String> {
    let mut state = before.clone();
    let (changes, expected) = match entry {
        LogEntry::Block { block, changes, .. } => {
            if block.number() != parent.number() + 1 || block.header.parent_hash != parent.hash {
                return Err(format!(
                    "block {} does not follow block {}",
                    block.number(),
                    parent.number()
                ));
            }
            (changes, block.header.state_root)
        }
        LogEntry::Edit { changes, root, .. } => (changes, *root),
        LogEntry::Snapshot {
            id, number, hash, ..
        } if (*number, *hash) != (parent.number(), parent.hash) => {
            return Err(format!(
                "snapshot {id} is of block {number}, and not after block {}",
                parent.number()
            ));
        }
        LogEntry::Time(_)
        | LogEntry::Revert { .. }
        | LogEntry::Snapshot { .. }
        | LogEntry::Epoch { .. }
        | LogEntry::Setting(_) => return Ok(state),
    };

    let root = state.apply(changes);
    if root == expected {
        Ok(state)
    } else {
        Err(format!(
            "state root after block {}: expected {expected}, got {root}",
            parent.number()
        ))
    }
}

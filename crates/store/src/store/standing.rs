//! The state that the log determines beside the chain.

use tetrad_primitives::block::DevSettings;

use super::Snapshots;
use crate::log::LogEntry;

/// The state that all entries of the log determine in order, including reverted ones. It is
/// therefore part of a checkpoint, and a replay [follows](Self::follow) every entry after it. Cheap
/// to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The snapshots.
    pub snapshots: Snapshots,
    /// The settings that development methods made.
    pub settings: DevSettings,
}

impl Standing {
    /// Follows the entry of the log at a height, reverted or not. The error names the fault of the
    /// entry.
    pub fn follow(&mut self, height: u64, entry: &LogEntry) -> Result<(), String> {
        self.snapshots.follow(height, entry)?;
        entry.follow(&mut self.settings);
        Ok(())
    }
}

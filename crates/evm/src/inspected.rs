//! The outcome of an execution with an inspector.

use revm::{
    context::{BlockEnv, TxEnv},
    context_interface::result::ResultAndState,
};
use tetrad_primitives::state::{Changes, ReadError};

use super::Overlay;

/// An inspected execution with its inputs.
pub struct Inspected<'a> {
    /// The transaction environment.
    pub tx: TxEnv,
    /// The block environment.
    pub block: BlockEnv,
    /// The result.
    pub outcome: ResultAndState,
    /// The state before it.
    pub before: Overlay<'a>,
}

impl Inspected<'_> {
    /// Consumes the execution and returns its changes.
    pub fn take_changes(&mut self) -> Result<Changes, ReadError> {
        let unchanged = self.before.unchanged();
        let mut overlay = std::mem::replace(&mut self.before, unchanged);
        overlay.commit(std::mem::take(&mut self.outcome.state))?;
        Ok(overlay.into_changes())
    }
}

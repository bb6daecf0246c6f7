//! Blocks that other nodes sealed, and what can be wrong with them.

use std::fmt::{Debug, Display};

use crate::{
    block::{DecodeError, Envelope},
    evm::{BlockError, TransactionError},
};

/// A block as peers exchange it.
pub type ForeignBlock = alloy_consensus::Block<Envelope>;

/// What is wrong with a block.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// A field of the header is not what it must be.
    #[error("{field}: expected {expected}, got {found}")]
    Field {
        /// The field.
        field: &'static str,
        /// What execution, or the parent, says.
        expected: String,
        /// What the header says.
        found: String,
    },
    /// A header cannot be an uncle.
    #[error("uncle {0}: {1}")]
    Ommer(usize, String),
    /// A transaction has no valid signature.
    #[error("transaction {0}: {1}")]
    Signature(usize, DecodeError),
    /// A transaction cannot be executed.
    #[error("transaction {0}: {1}")]
    Transaction(usize, TransactionError),
    /// A rule outside of the transactions is broken.
    #[error(transparent)]
    Block(#[from] BlockError),
}

/// Checks a field that has one possible value.
pub(super) fn field<T: PartialEq + Debug>(field: &'static str, expected: T, found: T) -> Result<(), Refusal> {
    if expected == found {
        return Ok(());
    }
    Err(Refusal::Field { field, expected: format!("{expected:?}"), found: format!("{found:?}") })
}

/// Checks a field that has several possible values.
pub(super) fn check(
    field: &'static str,
    holds: bool,
    found: impl Display,
    expected: impl FnOnce() -> String,
) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(Refusal::Field { field, expected: expected(), found: found.to_string() }) }
}

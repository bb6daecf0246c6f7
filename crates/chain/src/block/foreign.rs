//! Foreign blocks, which other nodes sealed, and the reasons to reject them.

use std::fmt::{Debug, Display};

use tetrad_evm::{BlockError, TransactionError};
use tetrad_primitives::block::{DecodeError, ListedEnvelope};

/// A block as peers exchange it.
pub type ForeignBlock = alloy_consensus::Block<ListedEnvelope>;

/// The reason why a foreign block is invalid.
#[derive(Debug, thiserror::Error)]
pub enum InvalidBlock {
    /// A field of the header has the wrong value.
    #[error("{field}: expected {expected}, got {found}")]
    Field {
        /// The field.
        field: &'static str,
        /// The value that follows from execution or from the parent.
        expected: String,
        /// The header's value.
        found: String,
    },
    /// An uncle is invalid.
    #[error("uncle {0}: {1}")]
    Ommer(usize, String),
    /// A transaction has no valid signature.
    #[error("transaction {0}: {1}")]
    Signature(usize, DecodeError),
    /// A transaction cannot be executed.
    #[error("transaction {0}: {1}")]
    Transaction(usize, TransactionError),
    /// The block breaks a rule outside its transactions.
    #[error(transparent)]
    Block(#[from] BlockError),
}

/// Checks a field that has one valid value.
pub(super) fn field<T: PartialEq + Debug>(
    field: &'static str,
    expected: T,
    found: T,
) -> Result<(), InvalidBlock> {
    if expected == found {
        return Ok(());
    }
    Err(InvalidBlock::Field {
        field,
        expected: format!("{expected:?}"),
        found: format!("{found:?}"),
    })
}

/// Checks a field that has several valid values.
pub(super) fn check(
    field: &'static str,
    holds: bool,
    found: impl Display,
    expected: impl FnOnce() -> String,
) -> Result<(), InvalidBlock> {
    if holds {
        Ok(())
    } else {
        Err(InvalidBlock::Field {
            field,
            expected: expected(),
            found: found.to_string(),
        })
    }
}

//! Importing blocks from a file before the node serves.

use std::{io, path::Path};

use alloy_rlp::Decodable;

use crate::chain::{ApplyError, ForeignBlock, Head, HistoryLimits, apply};

/// A file of blocks cannot be imported. Nothing of it is kept.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read.
    #[error("--import {0}: {1}")]
    Read(String, io::Error),
    /// It is not concatenated RLP of blocks.
    #[error("--import {0}: not the RLP of a block after {1} blocks: {2}")]
    Format(String, usize, alloy_rlp::Error),
    /// A block does not fit.
    #[error("--import {0}: {1}")]
    Block(String, ApplyError),
}

/// Applies all blocks of a file on top of `head`.
pub(super) fn import(mut head: Head, path: &Path, limits: HistoryLimits) -> Result<Head, ImportError> {
    let name = || path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| ImportError::Read(name(), error))?;
    let (mut rest, mut count) = (bytes.as_slice(), 0);
    while !rest.is_empty() {
        let block = ForeignBlock::decode(&mut rest).map_err(|error| ImportError::Format(name(), count, error))?;
        let applied = apply(&head, block).map_err(|error| ImportError::Block(name(), error))?;
        (head, _) = head.extended(applied.block, applied.changes, applied.state, limits);
        count += 1;
    }
    Ok(head)
}

//! Importing blocks from a file before the node serves.

use std::{io, path::Path};

use alloy_rlp::Decodable;

use crate::{
    chain::{ApplyError, ForeignBlock, HistoryLimits, Recovered, apply},
    log::AppendError,
};

/// A file of blocks cannot be imported. The blocks before the one that cannot are in the data directory, if there is
/// one.
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
    /// A block cannot be recorded.
    #[error("--import {0}: {1}")]
    Record(String, AppendError),
}

/// Applies all blocks of a file to the chain, but those that it has.
pub(super) fn import(recovered: &mut Recovered, path: &Path, limits: HistoryLimits) -> Result<(), ImportError> {
    let name = || path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| ImportError::Read(name(), error))?;
    let (mut rest, mut count) = (bytes.as_slice(), 0);
    while !rest.is_empty() {
        let block = ForeignBlock::decode(&mut rest).map_err(|error| ImportError::Format(name(), count, error))?;
        count += 1;
        if recovered.block_hash(block.header.number) == Some(block.header.hash_slow()) {
            continue;
        }
        let applied = apply(&recovered.head, block).map_err(|error| ImportError::Block(name(), error))?;
        recovered.extend(applied, limits).map_err(|error| ImportError::Record(name(), error))?;
    }
    Ok(())
}

//! Importing blocks from files before the node serves.

use std::{io, path::Path};

use alloy_rlp::Decodable;
use tetrad_chain::{ApplyError, ForeignBlock, HistoryLimits, Recovered, apply};
use tetrad_store::log::AppendError;

/// The error of importing a file of blocks. The data directory, if there is one, keeps the blocks
/// before the failure.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("--import {0}: {1}")]
    Read(String, io::Error),
    /// The file is not concatenated RLP of blocks.
    #[error("--import {0}: not the RLP of a block after {1} blocks: {2}")]
    Format(String, usize, alloy_rlp::Error),
    /// A block is invalid.
    #[error("--import {0}: {1}")]
    Block(String, ApplyError),
    /// A block cannot be recorded.
    #[error("--import {0}: {1}")]
    Record(String, AppendError),
}

/// Applies all blocks of a file that the chain does not have. With `go_on` an invalid block is
/// skipped and leaves the chain unchanged.
pub(super) fn import(
    recovered: &mut Recovered,
    path: &Path,
    limits: HistoryLimits,
    go_on: bool,
) -> Result<(), ImportError> {
    let name = || path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| ImportError::Read(name(), error))?;

    let mut rest = bytes.as_slice();
    let mut count = 0;
    let mut left_out = 0;
    while !rest.is_empty() {
        let outcome = match next(&mut rest) {
            Ok(block) => follow(recovered, block, limits, &name()),
            Err(error) => Err(ImportError::Format(name(), count, error)),
        };

        match outcome {
            Err(error @ (ImportError::Format(..) | ImportError::Block(..))) if go_on => {
                tracing::warn!(%error, "skipped an invalid block");
                left_out += 1;
            }
            outcome => outcome?,
        }
        count += 1;
    }

    if left_out > 0 {
        tracing::warn!(
            file = name(),
            left_out,
            of = count,
            head = recovered.head.number(),
            "imported the other blocks"
        );
    }
    Ok(())
}

/// Takes one block off `bytes`. A malformed one is taken off as well; if not even its length can be
/// read, so is all the rest.
fn next(bytes: &mut &[u8]) -> Result<ForeignBlock, alloy_rlp::Error> {
    let whole = *bytes;
    *bytes = &[];
    let mut content = whole;
    let length = alloy_rlp::Header::decode(&mut content)?.payload_length;
    let (mut block, rest) = whole.split_at(whole.len() - content.len() + length);
    *bytes = rest;

    let decoded = ForeignBlock::decode(&mut block)?;
    if block.is_empty() {
        Ok(decoded)
    } else {
        Err(alloy_rlp::Error::UnexpectedLength)
    }
}

/// Appends `block` to the chain, unless the chain has it.
fn follow(
    recovered: &mut Recovered,
    block: ForeignBlock,
    limits: HistoryLimits,
    file: &str,
) -> Result<(), ImportError> {
    if recovered.block_hash(block.header.number) == Some(block.header.hash_slow()) {
        return Ok(());
    }

    let applied = apply(&recovered.head, block)
        .map_err(|error| ImportError::Block(file.to_owned(), error))?;
    recovered
        .extend(applied, limits)
        .map_err(|error| ImportError::Record(file.to_owned(), error))
}

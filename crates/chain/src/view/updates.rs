//! Changes of the chain since an earlier position, for clients that poll.
//!
//! A position is two numbers, so that keeping one retains nothing of the chain in memory. Added
//! blocks are read from the present head. Removed blocks are retained here, within a fraction of
//! the history's memory limit.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use tetrad_primitives::block::Block;

use super::head::{Head, weight};

/// The divisor of the history's memory limit that gives the limit of removed blocks.
const LIMIT_DIVISOR: usize = 4;

/// A position in the sequence of heads, as of a client's last poll.
#[derive(Clone, Copy, Debug)]
pub struct ChainPosition {
    /// Number of heads that had been published.
    version: u64,
    /// Number of the next block.
    next: u64,
}

/// The blocks added and removed since an earlier position.
#[derive(Clone, Debug, Default)]
pub struct ChainUpdate {
    /// Blocks before the position that are no longer canonical, oldest first.
    pub removed: Vec<Arc<Block>>,
    /// Blocks that are new since the position, oldest first.
    pub added: Vec<Arc<Block>>,
}

/// The error for a position from which memory no longer holds all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the blocks since block {0} are no longer held")]
pub struct PositionExpired(pub u64);

/// The blocks that reorganisations removed recently.
#[derive(Debug, Default)]
pub(crate) struct RemovedBlocks(Mutex<Removals>);

#[derive(Debug, Default)]
struct Removals {
    /// Removals by the version of the head that made them, oldest first.
    entries: VecDeque<Removal>,
    bytes: usize,
    /// The newest version whose removed blocks were dropped.
    dropped_version: u64,
}

#[derive(Debug)]
struct Removal {
    version: u64,
    blocks: Vec<Arc<Block>>,
    bytes: usize,
}

impl RemovedBlocks {
    /// Records the blocks that a head removes. Must be called before the head is published.
    pub(crate) fn push(&self, version: u64, blocks: &[Arc<Block>], history_bytes: usize) {
        if blocks.is_empty() {
            return;
        }

        let kept = &mut *self.0.lock();
        let bytes = blocks.iter().map(|block| weight(block, 0)).sum();
        kept.bytes += bytes;
        kept.entries.push_back(Removal {
            version,
            blocks: blocks.to_vec(),
            bytes,
        });

        while kept.bytes > history_bytes / LIMIT_DIVISOR
            && let Some(oldest) = kept.entries.pop_front()
        {
            kept.bytes -= oldest.bytes;
            kept.dropped_version = oldest.version;
        }
    }

    /// Returns the blocks before the position `seen` that heads up to `version` removed, and the
    /// number of the first block to report as added.
    pub(crate) fn since(
        &self,
        seen: ChainPosition,
        version: u64,
    ) -> Result<(Vec<Arc<Block>>, u64), PositionExpired> {
        let kept = self.0.lock();
        if kept.dropped_version > seen.version {
            return Err(PositionExpired(seen.next));
        }

        let mut removed = Vec::new();
        let mut next = seen.next;
        let first = kept
            .entries
            .partition_point(|entry| entry.version <= seen.version);

        for entry in kept
            .entries
            .range(first..)
            .take_while(|entry| entry.version <= version)
        {
            // A client has not seen blocks from `next` on, and need not learn of their removal.
            let known = entry
                .blocks
                .iter()
                .take_while(|block| block.number() < next);
            removed.extend(known.cloned());
            next = entry
                .blocks
                .first()
                .map_or(next, |block| block.number().min(next));
        }
        Ok((removed, next))
    }
}

impl ChainPosition {
    /// Returns the position of `head`.
    pub fn of(head: &Head) -> Self {
        Self {
            version: head.version(),
            next: head.number() + 1,
        }
    }
}

//! What changed between two looks at the chain, for those who look now and then.
//!
//! A position is two numbers: keeping one keeps nothing of the chain in memory. New blocks are those of the present head.
//! Blocks that were undone are remembered here, within a part of what the history may take.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;

use super::head::{Head, weight};
use crate::block::Block;

/// The part of the history's bytes that blocks may take which were undone.
const PART: usize = 4;

/// A position in the chain's history of heads, as of a caller's last look.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Heads that had been published.
    version: u64,
    /// The number of the next block.
    next: u64,
}

/// The blocks added and removed since an earlier position.
#[derive(Clone, Debug, Default)]
pub struct News {
    /// Blocks that were seen and that the chain no longer has, oldest first.
    pub removed: Vec<Arc<Block>>,
    /// Blocks that were not seen yet, oldest first.
    pub added: Vec<Arc<Block>>,
}

/// Too much has happened since: what memory holds does not tell all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the blocks since block {0} are no longer held")]
pub struct Missed(pub u64);

/// Blocks that were undone lately.
#[derive(Debug, Default)]
pub(in crate::chain) struct Undone(Mutex<KeptUndone>);

#[derive(Debug, Default)]
struct KeptUndone {
    /// By the version of the head that did without them, oldest first.
    entries: VecDeque<UndoneBlocks>,
    bytes: usize,
    /// The newest version whose blocks are forgotten.
    forgotten: u64,
}

#[derive(Debug)]
struct UndoneBlocks {
    version: u64,
    blocks: Vec<Arc<Block>>,
    bytes: usize,
}

impl Undone {
    /// A head does without blocks of the one before. To be called before anybody sees the head.
    pub(in crate::chain) fn push(&self, version: u64, blocks: &[Arc<Block>], history_bytes: usize) {
        if blocks.is_empty() {
            return;
        }
        let kept = &mut *self.0.lock();
        let bytes = blocks.iter().map(|block| weight(block, 0)).sum();
        kept.bytes += bytes;
        kept.entries.push_back(UndoneBlocks { version, blocks: blocks.to_vec(), bytes });
        while kept.bytes > history_bytes / PART
            && let Some(oldest) = kept.entries.pop_front()
        {
            kept.bytes -= oldest.bytes;
            kept.forgotten = oldest.version;
        }
    }

    /// The seen blocks that heads up to this version did without, and the number of the first block that is to be seen
    /// again.
    pub(in crate::chain) fn since(&self, seen: Seen, version: u64) -> Result<(Vec<Arc<Block>>, u64), Missed> {
        let kept = self.0.lock();
        let (mut removed, mut next) = (Vec::new(), seen.next);
        if kept.forgotten > seen.version {
            return Err(Missed(next));
        }
        let first = kept.entries.partition_point(|entry| entry.version <= seen.version);
        for entry in kept.entries.range(first..).take_while(|entry| entry.version <= version) {
            let known = entry.blocks.iter().take_while(|block| block.number() < next);
            removed.extend(known.cloned());
            next = entry.blocks.first().map_or(next, |block| block.number().min(next));
        }
        Ok((removed, next))
    }
}

impl Seen {
    /// Everything up to a head.
    pub fn of(head: &Head) -> Self {
        Self { version: head.version(), next: head.number() + 1 }
    }
}

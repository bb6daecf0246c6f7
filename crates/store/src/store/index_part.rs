//! A part of the index that no longer grows, in memory or in its file.

use std::{io, ops::Range, sync::Arc};

use super::{active::ActiveIndex, key::LogKey, sealed::SealedIndex};

/// A part of the index that no longer grows.
pub(super) enum IndexPart {
    /// A part whose file is being written.
    Memory(ActiveIndex),
    File(SealedIndex),
}

/// A part of the index with the range of its block numbers, by which a search skips parts without
/// the wanted blocks.
#[derive(Clone)]
pub(super) struct ListedPart {
    /// The lowest and the highest block number, or `None` if there are no blocks.
    pub(super) numbers: Option<(u64, u64)>,
    pub(super) part: Arc<IndexPart>,
}

impl ListedPart {
    pub(super) fn new(part: IndexPart) -> Self {
        let numbers = match &part {
            IndexPart::Memory(index) => index.numbers(),
            IndexPart::File(index) => index.numbers,
        };
        Self {
            numbers,
            part: Arc::new(part),
        }
    }

    /// Returns whether the part may have blocks with these numbers.
    pub(super) fn overlaps(&self, from: u64, to: u64) -> bool {
        self.numbers
            .is_some_and(|(first, last)| first <= to && from <= last)
    }
}

impl IndexPart {
    /// Returns the heights of the entries that it covers.
    pub(super) fn heights(&self) -> Range<u64> {
        match self {
            Self::Memory(index) => index.heights.clone(),
            Self::File(index) => index.heights.clone(),
        }
    }

    /// Returns the heights of reverts, and the heights to which they revert.
    pub(super) fn reverts(&self) -> &[(u64, u64)] {
        match self {
            Self::Memory(index) => &index.reverts,
            Self::File(index) => &index.reverts,
        }
    }

    /// Returns the blocks from `from` to `to` with logs under a key of each of `wanted`, oldest
    /// first.
    pub(super) fn matching(&self, from: u64, to: u64, wanted: &[Vec<LogKey>]) -> Vec<u64> {
        matching(wanted, |key| match self {
            Self::Memory(index) => index.blocks_with(key, from, to),
            Self::File(index) => logged(index.blocks_with(key, from, to)).unwrap_or_default(),
        })
    }
}

/// Returns windows of a part's blocks up to `last`, newest first: the first and the last block of
/// each. The windows grow, so that a search that ends early reads little and one that finds nothing
/// takes few steps.
pub(super) fn windows((first, newest): (u64, u64), last: u64) -> Vec<(u64, u64)> {
    const FIRST: u64 = 512;

    let mut windows = Vec::new();
    let mut to = last.min(newest);
    let mut width = FIRST;
    while to >= first {
        let from = to.saturating_sub(width - 1).max(first);
        windows.push((from, to));
        let Some(next) = from.checked_sub(1) else {
            break;
        };
        to = next;
        width = width.saturating_mul(4);
    }
    windows
}

/// Returns the numbers of the blocks that `blocks_with` returns for at least one key of each of
/// `wanted`, in ascending order. The result may include some that lack one.
pub(super) fn matching(
    wanted: &[Vec<LogKey>],
    blocks_with: impl Fn(LogKey) -> Vec<u64>,
) -> Vec<u64> {
    /// With so few candidates left, reading the blocks is cheaper than looking up further keys.
    const CHEAP_TO_READ: usize = 16;

    let mut found: Option<Vec<u64>> = None;
    // The last topics are the most selective.
    for keys in wanted.iter().rev() {
        if found
            .as_ref()
            .is_some_and(|found| found.len() <= CHEAP_TO_READ)
        {
            break;
        }

        let mut numbers: Vec<u64> = keys.iter().flat_map(|key| blocks_with(*key)).collect();
        numbers.sort_unstable();
        numbers.dedup();

        match &mut found {
            Some(found) => found.retain(|number| numbers.binary_search(number).is_ok()),
            None => found = Some(numbers),
        }
    }
    found.unwrap_or_default()
}

/// Returns the value of a result, and logs an error.
pub(super) fn logged<T>(result: io::Result<T>) -> Option<T> {
    result
        .inspect_err(|error| tracing::error!(%error, "failed to read the index"))
        .ok()
}

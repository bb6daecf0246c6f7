//! The index of one segment, in memory or in its file.

use std::io;

use super::{active::ActiveIndex, key::LogKey, sealed::SealedIndex};

/// The index of a segment that no longer grows.
pub(super) enum SegmentIndex {
    /// The file is being written.
    Memory(ActiveIndex),
    File(SealedIndex),
}

impl SegmentIndex {
    pub(super) fn segment(&self) -> u64 {
        match self {
            Self::Memory(index) => index.segment,
            Self::File(index) => index.segment,
        }
    }

    /// The first and the last block's number.
    pub(super) fn numbers(&self) -> Option<(u64, u64)> {
        match self {
            Self::Memory(index) => index.numbers(),
            Self::File(index) => index.numbers,
        }
    }

    /// The segment's blocks up to `last` in pieces, newest first, the first and the last block of each. The pieces grow:
    /// whoever wants only the newest reads little, and whoever finds nothing does not search often.
    pub(super) fn windows(&self, last: u64) -> Vec<(u64, u64)> {
        const FIRST: u64 = 512;
        let Some((first, newest)) = self.numbers() else { return Vec::new() };
        let (mut windows, mut to, mut width) = (Vec::new(), last.min(newest), FIRST);
        while to >= first {
            let from = to.saturating_sub(width - 1).max(first);
            windows.push((from, to));
            let Some(next) = from.checked_sub(1) else { break };
            (to, width) = (next, width.saturating_mul(4));
        }
        windows
    }

    /// Blocks from `from` to `to` with logs under a key of each of `wanted`, oldest first.
    pub(super) fn matching(&self, from: u64, to: u64, wanted: &[Vec<LogKey>]) -> Vec<u64> {
        matching(wanted, |key| match self {
            Self::Memory(index) => index.blocks_with(key, from, to),
            Self::File(index) => logged(index.blocks_with(key, from, to)).unwrap_or_default(),
        })
    }
}

/// Numbers of the blocks that `blocks_with` has for at least one key of each of `wanted`, or nearly so, in order.
pub(super) fn matching(wanted: &[Vec<LogKey>], blocks_with: impl Fn(LogKey) -> Vec<u64>) -> Vec<u64> {
    /// With so few left they are looked at rather than searched for under further keys.
    const FEW: usize = 16;
    let mut found: Option<Vec<u64>> = None;
    // The last topics say the most.
    for keys in wanted.iter().rev() {
        if found.as_ref().is_some_and(|found| found.len() <= FEW) {
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

/// What was read, or nothing where it could not be read, which the log of the program then tells.
pub(super) fn logged<T>(result: io::Result<T>) -> Option<T> {
    result.inspect_err(|error| tracing::error!(%error, "could not read an index")).ok()
}

//! Blocks that memory no longer holds: found through the index of each segment, read from the log.

use std::{
    fmt, io,
    sync::{Arc, Weak},
    thread::{self, JoinHandle},
};

use alloy_primitives::B256;
use parking_lot::{Mutex, RwLock};

use super::{
    active::{ActiveIndex, BLOCK},
    checkpoint::{Checkpoint, CheckpointError, checkpoints},
    key::{LogKey, StateKey, hash_key},
    old_state::OldStateError,
    recent_blocks::RecentBlocks,
    sealed::{SealedIndex, index_name},
};
use crate::{
    block::Block,
    log::{ChainIdentity, Entry, Location, LogError, ReadLog, Segment, Storage, segments},
};

/// A block, or a transaction in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) number: u64,
    /// The transaction's index, or [`BLOCK`].
    pub(super) index: u32,
}

/// What a hash belongs to.
#[derive(Clone, Debug)]
pub enum Found {
    /// A block.
    Block(Arc<Block>),
    /// A transaction, by its block and its index in it.
    Transaction(Arc<Block>, usize),
}

/// Everything that is in the log, to look up. The chain's writer adds to it; anybody may read. Reading takes a lock only to
/// find out which files to look into.
pub struct History {
    storage: Arc<dyn Storage>,
    log: Arc<dyn ReadLog>,
    identity: ChainIdentity,
    tables: RwLock<Tables>,
    /// Blocks that were read lately.
    recent: Mutex<RecentBlocks>,
    /// What the log begins on, as long as somebody needs it.
    beginning: Mutex<Weak<Checkpoint>>,
    /// The threads that write indexes.
    sealing: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Tables {
    /// Of segments that no longer grow, oldest first.
    sealed: Vec<Arc<SegmentIndex>>,
    /// Of the newest segment.
    active: ActiveIndex,
    /// Heights of all reverts, and what they go back to.
    every_revert: Vec<(u64, u64)>,
    /// Those that were not undone.
    reverts: Vec<(u64, u64)>,
}

enum SegmentIndex {
    /// The file is being written.
    Memory(ActiveIndex),
    File(SealedIndex),
}

impl SegmentIndex {
    fn segment(&self) -> u64 {
        match self {
            Self::Memory(index) => index.segment,
            Self::File(index) => index.segment,
        }
    }

    /// The segment's blocks up to `last` in pieces, newest first, the first and the last block of each. The pieces grow:
    /// whoever wants only the newest reads little, and whoever finds nothing does not search often.
    fn windows(&self, last: u64) -> Vec<(u64, u64)> {
        const FIRST: u64 = 512;
        let numbers = match self {
            Self::Memory(index) => index.blocks.keys().min().copied().zip(index.blocks.keys().max().copied()),
            Self::File(index) => index.numbers,
        };
        let Some((first, newest)) = numbers else { return Vec::new() };
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
    fn matching(&self, from: u64, to: u64, wanted: &[Vec<LogKey>]) -> Vec<u64> {
        matching(wanted, |key| match self {
            Self::Memory(index) => index.blocks_with(key, from, to),
            Self::File(index) => logged(index.blocks_with(key, from, to)).unwrap_or_default(),
        })
    }
}

/// Numbers of the blocks that `blocks_with` has for at least one key of each of `wanted`, or nearly so, in order.
fn matching(wanted: &[Vec<LogKey>], blocks_with: impl Fn(LogKey) -> Vec<u64>) -> Vec<u64> {
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

impl History {
    /// The history of a log. Indexes that are missing or damaged are made again.
    pub fn open(
        storage: Arc<dyn Storage>,
        log: Arc<dyn ReadLog>,
        identity: ChainIdentity,
    ) -> Result<Arc<Self>, LogError> {
        let mut tables = Tables::default();
        let firsts = segments(&*storage)?;
        let mut end = firsts.first().copied().unwrap_or(0);
        for (at, &first) in firsts.iter().enumerate() {
            if first > end {
                return Err(LogError::Missing { from: end, to: first, place: storage.describe("") });
            }
            let failed = |source| LogError::Io { file: storage.describe(&index_name(first)), source };
            let newest = at + 1 == firsts.len();
            let known = if newest { None } else { SealedIndex::open(&*storage, first).map_err(failed)? };
            let known = known.filter(|index| firsts.get(at + 1) == Some(&index.end));
            let reverts = match known {
                Some(index) => {
                    let reverts = index.reverts.clone();
                    end = index.end;
                    tables.sealed.push(Arc::new(SegmentIndex::File(index)));
                    reverts
                }
                None => {
                    let index = ActiveIndex::of(&Segment::load(&*storage, first, Some(identity))?)?;
                    let reverts = index.reverts.clone();
                    end = end.max(index.end);
                    if newest {
                        tables.active = index;
                    } else {
                        let index = SealedIndex::write(&*storage, &index).map_err(failed)?;
                        tables.sealed.push(Arc::new(SegmentIndex::File(index)));
                    }
                    reverts
                }
            };
            reverts.into_iter().for_each(|(at, to)| tables.revert(at, to));
        }
        let tables = RwLock::new(tables);
        let (recent, beginning, sealing) = Default::default();
        Ok(Arc::new(Self { storage, log, identity, tables, recent, beginning, sealing }))
    }

    /// Takes in an entry that was appended to the log.
    pub fn insert(self: &Arc<Self>, location: Location, entry: &Entry) {
        let mut tables = self.tables.write();
        if location.segment != tables.active.segment {
            let full = std::mem::replace(&mut tables.active, ActiveIndex::new(location.segment));
            let full = Arc::new(SegmentIndex::Memory(full));
            tables.sealed.push(full.clone());
            self.seal(full);
        }
        tables.active.insert(location, entry);
        if let Entry::Revert { to, .. } = entry {
            tables.revert(location.height, *to);
        }
    }

    /// Writes the index of a segment to a file, which then takes its place.
    fn seal(self: &Arc<Self>, full: Arc<SegmentIndex>) {
        let history = self.clone();
        let work = move || {
            let SegmentIndex::Memory(index) = &*full else { return };
            match SealedIndex::write(&*history.storage, index) {
                Ok(sealed) => {
                    let sealed = Arc::new(SegmentIndex::File(sealed));
                    let mut tables = history.tables.write();
                    tables
                        .sealed
                        .iter_mut()
                        .filter(|own| Arc::ptr_eq(own, &full))
                        .for_each(|own| *own = sealed.clone());
                }
                // It stays in memory, and the next start makes it again.
                Err(error) => tracing::error!(%error, "could not write an index"),
            }
        };
        match thread::Builder::new().name("index".to_owned()).spawn(work) {
            Ok(thread) => {
                let mut sealing = self.sealing.lock();
                sealing.retain(|thread| !thread.is_finished());
                sealing.push(thread);
            }
            Err(error) => tracing::error!(%error, "could not write an index"),
        }
    }

    /// Waits until all indexes that were begun are written: before somebody else opens the same directory.
    pub fn finish(&self) {
        for thread in std::mem::take(&mut *self.sealing.lock()) {
            if thread.join().is_err() {
                tracing::error!("a thread that writes an index ended with a panic");
            }
        }
    }

    /// Heights of all reverts that were not undone, and what they go back to, oldest first.
    pub fn reverts(&self) -> Vec<(u64, u64)> {
        self.tables.read().reverts.clone()
    }

    /// Whether the entry at this height was taken back.
    pub fn is_void(&self, height: u64) -> bool {
        self.tables.read().is_void(height)
    }

    /// The block with this number.
    pub fn block(&self, number: u64) -> Option<Arc<Block>> {
        let location = self.location(number)?;
        if let Some(block) = self.recent.lock().get(location.height) {
            return Some(block);
        }
        match self.log.read(location) {
            Ok(Entry::Block { block, .. }) => {
                self.recent.lock().insert(location.height, &block);
                Some(block)
            }
            Ok(_) => None,
            Err(error) => {
                tracing::error!(%error, number, "could not read a block");
                None
            }
        }
    }

    /// The height of the entry with this block.
    pub fn height_of(&self, number: u64) -> Option<u64> {
        self.location(number).map(|location| location.height)
    }

    /// What has this hash. A hash that nothing has costs a search in every segment.
    pub fn find(&self, hash: B256) -> Option<Found> {
        let key = hash_key(&hash);
        let (active, sealed) = {
            let tables = self.tables.read();
            (tables.active.places(key), tables.sealed.clone())
        };
        let older = sealed.iter().rev().flat_map(|index| match &**index {
            SegmentIndex::Memory(index) => index.places(key),
            SegmentIndex::File(index) => logged(index.places(key)).unwrap_or_default(),
        });
        active.into_iter().rev().chain(older).find_map(|place| {
            let block = self.block(place.number)?;
            match place.index {
                BLOCK => (block.hash == hash).then_some(Found::Block(block)),
                index => {
                    let own = block.transactions.get(index as usize)?.hash();
                    (own == hash).then_some(Found::Transaction(block, index as usize))
                }
            }
        })
    }

    /// The newest entry below a height that changed what has this key, or something else with the same key. One that
    /// was taken back counts as well.
    pub(super) fn version(&self, key: StateKey, below: u64) -> Result<Option<Location>, LogError> {
        let (newest, sealed) = {
            let tables = self.tables.read();
            (tables.active.version(key, below), tables.sealed.clone())
        };
        if newest.is_some() {
            return Ok(newest);
        }
        for index in sealed.iter().rev() {
            let found = match &**index {
                SegmentIndex::Memory(index) => index.version(key, below),
                SegmentIndex::File(index) if index.segment < below => index.version(key, below).map_err(|source| {
                    let file = self.storage.describe(&index_name(index.segment));
                    LogError::Io { file, source }
                })?,
                SegmentIndex::File(_) => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The entry that stands there.
    pub(super) fn entry(&self, location: Location) -> Result<Entry, LogError> {
        self.log.read(location)
    }

    /// What the log begins on: the oldest checkpoint.
    pub(super) fn beginning(&self) -> Result<Arc<Checkpoint>, OldStateError> {
        let mut held = self.beginning.lock();
        if let Some(checkpoint) = held.upgrade() {
            return Ok(checkpoint);
        }
        let place = || self.storage.describe("");
        let heights = checkpoints(&*self.storage).map_err(|source| LogError::Io { file: place(), source })?;
        let Some(&oldest) = heights.first() else {
            return Err(CheckpointError { file: place(), what: "there is no checkpoint".to_owned() }.into());
        };
        let checkpoint = Arc::new(Checkpoint::read(&*self.storage, oldest, self.identity)?);
        *held = Arc::downgrade(&checkpoint);
        Ok(checkpoint)
    }

    /// Numbers of the blocks from `from` to `to` that have logs under at least one key of each of `wanted`, or seem to,
    /// oldest first. Without any `wanted`: of all that there may be.
    pub fn candidates(&self, from: u64, to: u64, wanted: &[Vec<LogKey>]) -> Vec<u64> {
        if wanted.is_empty() {
            return (from..=to).collect();
        }
        let (active, sealed) = {
            let tables = self.tables.read();
            (matching(wanted, |key| tables.active.blocks_with(key, from, to)), tables.sealed.clone())
        };
        let mut all: Vec<u64> = sealed.iter().flat_map(|index| index.matching(from, to, wanted)).collect();
        all.extend(active);
        // A number that was given again after a revert is in several segments.
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The same of all blocks before `before`, newest first. Looked up piece by piece, so that whoever stops early has
    /// not paid for the rest.
    pub fn candidates_before<'a>(&'a self, before: u64, wanted: &'a [Vec<LogKey>]) -> impl Iterator<Item = u64> + 'a {
        let last = before.checked_sub(1);
        let (segment, active, sealed) = {
            let tables = self.tables.read();
            let active = last.map(|last| matching(wanted, |key| tables.active.blocks_with(key, 0, last)));
            (tables.active.segment, active.unwrap_or_default(), tables.sealed.clone())
        };
        let older = sealed.into_iter().rev().flat_map(move |index| {
            let windows = last.map(|last| index.windows(last)).unwrap_or_default();
            windows.into_iter().flat_map(move |(from, to)| {
                let segment = index.segment();
                index.matching(from, to, wanted).into_iter().rev().map(move |number| (segment, number))
            })
        });
        let newest = active.into_iter().rev().map(move |number| (segment, number));
        // Where a revert gave a number again, only one of the segments has the block that counts.
        let counts = |(segment, number): &(u64, u64)| self.location(*number).is_some_and(|at| at.segment == *segment);
        newest.chain(older).filter(counts).map(|(_, number)| number)
    }

    fn location(&self, number: u64) -> Option<Location> {
        let (newest, sealed) = {
            let tables = self.tables.read();
            (tables.active.blocks.get(&number).cloned().unwrap_or_default(), tables.sealed.clone())
        };
        let older = sealed.iter().rev().flat_map(|index| {
            let found = match &**index {
                SegmentIndex::Memory(index) => index.blocks.get(&number).cloned().unwrap_or_default(),
                SegmentIndex::File(index) => logged(index.block(number)).unwrap_or_default(),
            };
            found.into_iter().rev()
        });
        // Of several blocks with one number one counts at most: the others were taken back.
        newest.into_iter().rev().chain(older).find(|location| !self.is_void(location.height))
    }

    /// The oldest block in the log.
    pub fn oldest(&self) -> Option<u64> {
        let tables = self.tables.read();
        let oldest = tables.sealed.iter().find_map(|index| match &**index {
            SegmentIndex::Memory(index) => index.blocks.keys().min().copied(),
            SegmentIndex::File(index) => index.numbers.map(|(first, _)| first),
        });
        oldest.or_else(|| tables.active.blocks.keys().min().copied())
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("place", &self.storage.describe("")).finish_non_exhaustive()
    }
}

fn logged<T>(result: io::Result<T>) -> Option<T> {
    result.inspect_err(|error| tracing::error!(%error, "could not read an index")).ok()
}

impl Tables {
    /// Going back to before an earlier revert undoes that one, and what that one had undone counts again. So which of them
    /// hold is found from the newest on.
    fn revert(&mut self, at: u64, to: u64) {
        self.every_revert.push((at, to));
        self.reverts.clear();
        for &(at, to) in self.every_revert.iter().rev() {
            if !self.is_void(at) {
                self.reverts.push((at, to));
            }
        }
        self.reverts.reverse();
    }

    fn is_void(&self, height: u64) -> bool {
        self.reverts.iter().any(|(at, to)| (*to..*at).contains(&height))
    }
}

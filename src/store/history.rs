//! Blocks that memory no longer holds: found through the index of each segment, read from the log.

use std::{
    fmt, io,
    sync::{Arc, OnceLock, Weak},
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
    reverts::Reverts,
    sealed::{SealedIndex, index_name},
    segment_index::{SegmentIndex, logged, matching},
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
    /// The oldest block, once there is one: no revert goes back to before it and on with another number.
    oldest: OnceLock<u64>,
    /// The threads that write indexes.
    sealing: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Tables {
    /// Of segments that no longer grow, oldest first.
    sealed: Vec<Arc<SegmentIndex>>,
    /// Of the newest segment.
    active: ActiveIndex,
    reverts: Reverts,
}

impl Tables {
    /// Height of the first entry that is there.
    fn start(&self) -> u64 {
        self.sealed.first().map_or(self.active.segment, |index| index.segment())
    }

    /// The newest of some entries in order that counted when the log had `end` entries.
    fn newest(&self, locations: Option<&Vec<Location>>, end: u64) -> Option<Location> {
        let counts = |at: &&Location| at.height < end && !self.reverts.is_void(at.height, end);
        locations?.iter().rev().find(counts).copied()
    }
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
            reverts.into_iter().for_each(|(at, to)| tables.reverts.insert(at, to));
        }
        let tables = RwLock::new(tables);
        let (recent, beginning, oldest, sealing) = Default::default();
        Ok(Arc::new(Self { storage, log, identity, tables, recent, beginning, oldest, sealing }))
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
            tables.reverts.insert(location.height, *to);
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

    /// Height of the first entry that is there.
    pub fn start(&self) -> u64 {
        self.tables.read().start()
    }

    /// Whether the entry at this height was taken back.
    pub fn is_void(&self, height: u64) -> bool {
        self.tables.read().reverts.is_void(height, u64::MAX)
    }

    /// Heights of the checkpoints that the log can be followed from, oldest first. A checkpoint of what was taken back
    /// later leads nowhere, nor does one of what comes before the log.
    pub fn bases(&self) -> io::Result<Vec<u64>> {
        let mut heights = checkpoints(&*self.storage)?;
        let tables = self.tables.read();
        let entries = tables.start()..=tables.active.end;
        heights.retain(|height| entries.contains(height) && tables.reverts.leads(*height, u64::MAX));
        Ok(heights)
    }

    /// The block with this number.
    pub fn block(&self, number: u64) -> Option<Arc<Block>> {
        self.block_below(number, u64::MAX)
    }

    /// The block that had this number when the log had `end` entries.
    pub(super) fn block_below(&self, number: u64, end: u64) -> Option<Arc<Block>> {
        let location = self.location(number, end)?;
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
        self.location(number, u64::MAX).map(|location| location.height)
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

    /// The newest entry below a height that changed what has this key, or something else with the same key, and counted
    /// when the log had `end` entries.
    pub(super) fn version(&self, key: StateKey, below: u64, end: u64) -> Result<Option<Location>, LogError> {
        let (newest, sealed) = {
            let tables = self.tables.read();
            let counts = |height| !tables.reverts.is_void(height, end);
            (tables.active.version(key, below, counts), tables.sealed.clone())
        };
        let counts = |height| !self.tables.read().reverts.is_void(height, end);
        if newest.is_some() {
            return Ok(newest);
        }
        for index in sealed.iter().rev() {
            let found = match &**index {
                SegmentIndex::Memory(index) => index.version(key, below, counts),
                SegmentIndex::File(index) if index.segment < below => {
                    index.version(key, below, counts).map_err(|source| {
                        let file = self.storage.describe(&index_name(index.segment));
                        LogError::Io { file, source }
                    })?
                }
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

    /// The oldest checkpoint that the log can be followed from.
    pub(super) fn beginning(&self) -> Result<Arc<Checkpoint>, OldStateError> {
        let mut held = self.beginning.lock();
        if let Some(checkpoint) = held.upgrade() {
            return Ok(checkpoint);
        }
        let place = || self.storage.describe("");
        let bases = self.bases().map_err(|source| LogError::Io { file: place(), source })?;
        let &oldest = bases.first().ok_or_else(|| CheckpointError::none(place()))?;
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
        let counts =
            |(segment, number): &(u64, u64)| self.location(*number, u64::MAX).is_some_and(|at| at.segment == *segment);
        newest.chain(older).filter(counts).map(|(_, number)| number)
    }

    /// The block with this number that counted when the log had `end` entries. Of several one counts at most: the others
    /// were taken back.
    fn location(&self, number: u64, end: u64) -> Option<Location> {
        let (newest, sealed) = {
            let tables = self.tables.read();
            (tables.newest(tables.active.blocks.get(&number), end), tables.sealed.clone())
        };
        let older = |index: &Arc<SegmentIndex>| match &**index {
            SegmentIndex::Memory(index) => self.tables.read().newest(index.blocks.get(&number), end),
            SegmentIndex::File(index) => {
                let found = logged(index.block(number)).filter(|found| !found.is_empty());
                self.tables.read().newest(found.as_ref(), end)
            }
        };
        newest.or_else(|| sealed.iter().rev().find_map(older))
    }

    /// The oldest block in the log that counts.
    pub fn oldest(&self) -> Option<u64> {
        if let Some(oldest) = self.oldest.get() {
            return Some(*oldest);
        }
        let (first, last) = {
            let tables = self.tables.read();
            let numbers = || tables.sealed.iter().filter_map(|index| index.numbers()).chain(tables.active.numbers());
            (numbers().map(|(first, _)| first).min()?, numbers().map(|(_, last)| last).max()?)
        };
        let oldest = (first..=last).find(|number| self.height_of(*number).is_some())?;
        Some(*self.oldest.get_or_init(|| oldest))
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("place", &self.storage.describe("")).finish_non_exhaustive()
    }
}

//! The history on disk: older blocks and states, found through the index and read from the log.

use std::{
    collections::BTreeSet,
    fmt, io,
    ops::Range,
    sync::{Arc, OnceLock, Weak},
    thread::{self, JoinHandle},
};

use alloy_primitives::{Address, B256};
use parking_lot::{Mutex, MutexGuard, RwLock};
use tetrad_primitives::{block::Block, state::AccountPart};

use super::{
    active::{ActiveIndex, BLOCK},
    checkpoint::{Checkpoint, CheckpointError, checkpoints},
    index_part::{IndexPart, ListedPart, logged, matching, windows},
    key::{LogKey, StateKey, hash_key},
    recent_blocks::RecentBlocks,
    reverts::Reverts,
    sealed::{SealedIndex, index_firsts, index_name},
};
use crate::{
    log::{ChainIdentity, DecodedEntry, LogEntry, LogError, ReadLog, decode_ahead},
    storage::{Storage, remove_file},
};

/// The object that a hash belongs to.
#[derive(Clone, Debug)]
pub enum Found {
    /// A block.
    Block(Arc<Block>),
    /// A transaction, as its block and its index there.
    Transaction(Arc<Block>, usize),
}

/// Size from which on entries are read and decoded one at a time, in bytes: decoded, a block takes
/// several times the memory of its encoding, and many readers of one block wait for the first
/// instead of decoding it as well.
const LARGE_ENTRY_BYTES: usize = 256 << 10;

/// The index of the log. The chain's writer adds entries; any thread may read. Reading takes a lock
/// only to list the parts to search.
pub struct DiskHistory {
    storage: Arc<dyn Storage>,
    log: Arc<dyn ReadLog>,
    identity: ChainIdentity,
    /// Size of the entries that one part of the index covers, in bytes.
    part_bytes: u64,
    tables: RwLock<Tables>,
    /// A cache of recently read blocks.
    recent: Mutex<RecentBlocks>,
    /// Held while a [large](LARGE_ENTRY_BYTES) entry is read and decoded.
    reading: Mutex<()>,
    /// The oldest usable checkpoint, as long as a reader holds it.
    beginning: Mutex<Weak<Checkpoint>>,
    /// The oldest block, once there is one. No revert changes it.
    oldest: OnceLock<u64>,
    /// The threads that write parts of the index to files.
    sealing: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Tables {
    /// The parts of the index that no longer grow, oldest first. Shared with readers, who search
    /// them without the lock.
    sealed: Arc<Vec<ListedPart>>,
    /// The growing part.
    active: ActiveIndex,
    reverts: Reverts,
}

impl Tables {
    /// Builds the tables of a log from the files of the index, which are removed from `unused`, and
    /// from the entries that these lack.
    fn build(
        storage: &dyn Storage,
        log: &dyn ReadLog,
        part_bytes: u64,
        unused: &mut BTreeSet<u64>,
    ) -> Result<Self, LogError> {
        let heights = log.heights();
        let mut tables = Self {
            active: ActiveIndex::starting_at(heights.start),
            ..Self::default()
        };

        let mut at = heights.start;
        while at < heights.end {
            if unused.contains(&at)
                && let Some(index) = usable_part(storage, log, at, heights.end)?
            {
                unused.remove(&at);
                at = index.heights.end;
                tables.add(index);
                continue;
            }

            let stop = unused
                .range(at + 1..)
                .next()
                .map_or(heights.end, |next| heights.end.min(*next));
            let part = rebuilt_part(log, at..stop, part_bytes)?;
            at = part.heights.end;
            // The last part goes on growing.
            if at == heights.end {
                tables.note_reverts(&part.reverts);
                tables.active = part;
                break;
            }

            tracing::info!(
                from = part.heights.start,
                to = at,
                of = heights.end,
                "rebuilt a part of the index"
            );
            let index = SealedIndex::write(storage, &part, check(log, at)?)
                .map_err(LogError::io(storage, ""))?;
            unused.remove(&part.heights.start);
            tables.add(index);
        }
        Ok(tables)
    }

    /// Returns the height of the first entry.
    fn start(&self) -> u64 {
        self.sealed
            .first()
            .map_or(self.active.heights.start, |listed| {
                listed.part.heights().start
            })
    }

    /// Adds a part of the index from its file, after those so far.
    fn add(&mut self, index: SealedIndex) {
        self.note_reverts(&index.reverts);
        self.active = ActiveIndex::starting_at(index.heights.end);
        Arc::make_mut(&mut self.sealed).push(ListedPart::new(IndexPart::File(index)));
    }

    fn note_reverts(&mut self, reverts: &[(u64, u64)]) {
        for (at, to) in reverts {
            self.reverts.insert(*at, *to);
        }
    }

    /// Returns whether the chain as it was when the log had `end` entries can be replayed from a
    /// checkpoint at `height`.
    fn leads(&self, height: u64, end: u64) -> bool {
        height >= self.start() && self.reverts.leads(height, end)
    }

    /// Returns the newest of some ascending heights whose entry was in effect when the log had
    /// `end` entries.
    fn newest(&self, heights: Option<&Vec<u64>>, end: u64) -> Option<u64> {
        heights?
            .iter()
            .rev()
            .find(|height| **height < end && !self.reverts.is_void(**height, end))
            .copied()
    }

    /// Returns the lowest and the highest block number, or `None` if there are no blocks.
    fn numbers(&self) -> Option<(u64, u64)> {
        self.sealed
            .iter()
            .filter_map(|listed| listed.numbers)
            .chain(self.active.numbers())
            .reduce(|(first, last), (lowest, highest)| (first.min(lowest), last.max(highest)))
    }
}

impl DiskHistory {
    /// Opens the index of a log. Rebuilds the parts that are missing, damaged or no longer match
    /// the log. A part grows until its entries have `part_bytes` bytes.
    pub fn open(
        storage: Arc<dyn Storage>,
        log: Arc<dyn ReadLog>,
        identity: ChainIdentity,
        part_bytes: u64,
    ) -> Result<Arc<Self>, LogError> {
        // Files of parts that do not match the log are removed.
        let mut unused: BTreeSet<u64> = index_firsts(&*storage)
            .map_err(LogError::io(&*storage, ""))?
            .into_iter()
            .collect();
        let tables = Tables::build(&*storage, &*log, part_bytes, &mut unused)?;
        for first in unused {
            storage
                .remove(&index_name(first))
                .map_err(LogError::io(&*storage, ""))?;
        }

        Ok(Arc::new(Self {
            storage,
            log,
            identity,
            part_bytes,
            tables: RwLock::new(tables),
            recent: Mutex::default(),
            reading: Mutex::default(),
            beginning: Mutex::default(),
            oldest: OnceLock::new(),
            sealing: Mutex::default(),
        }))
    }

    /// Adds the next entry of the log, whose encoding has `bytes` bytes.
    pub fn insert(self: &Arc<Self>, entry: &LogEntry, bytes: u64) {
        let mut tables = self.tables.write();
        let height = tables.active.heights.end;

        if tables.active.bytes >= self.part_bytes {
            let full = std::mem::replace(&mut tables.active, ActiveIndex::starting_at(height));
            // Readers search it in memory until its file is written.
            let full = ListedPart::new(IndexPart::Memory(full));
            Arc::make_mut(&mut tables.sealed).push(full.clone());
            self.seal(full.part);
        }

        tables.active.insert(entry, bytes);
        if let LogEntry::Revert { to, .. } = entry {
            tables.reverts.insert(height, *to);
        }
    }

    /// Writes a part of the index to a file in the background, and then replaces the part in memory
    /// with it.
    fn seal(self: &Arc<Self>, full: Arc<IndexPart>) {
        let history = self.clone();
        let work = move || history.write_part(&full);

        match thread::Builder::new().name("index".to_owned()).spawn(work) {
            Ok(thread) => {
                let mut sealing = self.sealing.lock();
                sealing.retain(|thread| !thread.is_finished());
                sealing.push(thread);
            }
            Err(error) => tracing::error!(%error, "failed to start a thread that writes the index"),
        }
    }

    /// Writes a part of the index to a file, and then replaces the part in memory with it.
    fn write_part(&self, full: &Arc<IndexPart>) {
        let IndexPart::Memory(index) = &**full else {
            return;
        };

        let sealed = check(&*self.log, index.heights.end)
            .map_err(io::Error::other)
            .and_then(|check| SealedIndex::write(&*self.storage, index, check));
        match sealed {
            Ok(sealed) => {
                let sealed = Arc::new(IndexPart::File(sealed));
                let mut tables = self.tables.write();
                let own = Arc::make_mut(&mut tables.sealed)
                    .iter_mut()
                    .filter(|own| Arc::ptr_eq(&own.part, full));
                own.for_each(|own| own.part = sealed.clone());
            }
            // The part stays in memory, and the next start rebuilds it.
            Err(error) => tracing::error!(%error, "failed to write a part of the index"),
        }
    }

    /// Waits until all parts under way are written, before the directory can be opened again.
    pub fn finish(&self) {
        for thread in std::mem::take(&mut *self.sealing.lock()) {
            if thread.join().is_err() {
                tracing::error!("a thread that writes the index panicked");
            }
        }
    }

    /// Forgets the entries from height `end` on, which the log no longer has. Only the chain's
    /// writer may call it.
    pub fn truncate(&self, end: u64) -> Result<(), LogError> {
        // A part that is being written may cover entries that are removed.
        self.finish();

        let (start, mut kept) = {
            let tables = self.tables.read();
            (tables.start(), Vec::clone(&tables.sealed))
        };
        let dropped =
            kept.split_off(kept.partition_point(|listed| listed.part.heights().end <= end));
        let from = kept
            .last()
            .map_or(start, |listed| listed.part.heights().end);

        // Readers go on meanwhile.
        let mut active = ActiveIndex::starting_at(from);
        let count = end.saturating_sub(from);
        for decoded in decode_ahead(Box::new(self.log.stream(from)?.take(count as usize)), count)? {
            let DecodedEntry { entry, size, .. } = decoded?;
            active.insert(&entry, size);
        }

        let mut reverts = Reverts::default();
        let known = kept
            .iter()
            .flat_map(|listed| listed.part.reverts())
            .chain(&active.reverts);
        known.for_each(|(at, to)| reverts.insert(*at, *to));

        *self.tables.write() = Tables {
            sealed: Arc::new(kept),
            active,
            reverts,
        };
        self.recent.lock().truncate();
        *self.beginning.lock() = Weak::new();

        for listed in dropped {
            remove_file(&*self.storage, &index_name(listed.part.heights().start))
                .map_err(LogError::io(&*self.storage, ""))?;
        }
        Ok(())
    }

    /// Returns the height of the first entry.
    pub fn start(&self) -> u64 {
        self.tables.read().start()
    }

    /// Returns whether the entry at this height is reverted.
    pub fn is_void(&self, height: u64) -> bool {
        self.is_void_below(height, u64::MAX)
    }

    /// Returns whether the entry at this height was reverted when the log had `end` entries.
    pub fn is_void_below(&self, height: u64, end: u64) -> bool {
        self.tables.read().reverts.is_void(height, end)
    }

    /// Returns the height of the newest checkpoint from which the chain can be replayed as it was
    /// when the log had `end` entries.
    pub fn base_below(&self, end: u64) -> io::Result<Option<u64>> {
        let heights = checkpoints(&*self.storage)?;
        let tables = self.tables.read();
        Ok(heights
            .into_iter()
            .rev()
            .find(|height| tables.leads(*height, end)))
    }

    /// Reads the newest checkpoint from which the chain can be replayed as it was when the log had
    /// `end` entries. The error is a reason.
    pub fn checkpoint_below(&self, end: u64) -> Result<Checkpoint, String> {
        loop {
            let base = self.base_below(end).map_err(|error| error.to_string())?;
            match Checkpoint::read(
                &*self.storage,
                base.ok_or("no checkpoint leads there")?,
                self.identity,
            ) {
                Ok(checkpoint) => return Ok(checkpoint),
                // The checkpoint writer has removed it since, because there are newer ones.
                Err(_) if self.base_below(end).map_err(|error| error.to_string())? != base => {}
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// Returns the heights of the checkpoints from which the present chain can be replayed, oldest
    /// first. Checkpoints of reverted entries, or from before the log, are excluded.
    pub fn bases(&self) -> io::Result<Vec<u64>> {
        let mut heights = checkpoints(&*self.storage)?;
        let tables = self.tables.read();
        heights.retain(|height| tables.leads(*height, tables.active.heights.end));
        Ok(heights)
    }

    /// Returns whether the present chain can be replayed from a checkpoint at this height.
    pub fn is_base(&self, height: u64) -> bool {
        let tables = self.tables.read();
        tables.leads(height, tables.active.heights.end)
    }

    /// Returns the canonical block with this number.
    pub fn block(&self, number: u64) -> Option<Arc<Block>> {
        self.block_below(number, u64::MAX)
    }

    /// Returns the block that was canonical under this number when the log had `end` entries.
    pub fn block_below(&self, number: u64, end: u64) -> Option<Arc<Block>> {
        let height = self.height_below(number, end)?;
        self.block_at(height).unwrap_or_else(|error| {
            tracing::error!(%error, number, "failed to read a block");
            None
        })
    }

    /// Returns the block of the entry at a height, if the entry is one.
    fn block_at(&self, height: u64) -> Result<Option<Arc<Block>>, LogError> {
        if let Some(block) = self.recent.lock().get(height) {
            return Ok(Some(block));
        }

        let _turn = self.turn(height);
        let truncations = {
            let recent = self.recent.lock();
            // Another reader may have read it in the meantime.
            if let Some(block) = recent.get(height) {
                return Ok(Some(block));
            }
            recent.truncations()
        };

        let LogEntry::Block { block, .. } = self.log.read(height)?.entry()? else {
            return Ok(None);
        };
        self.recent.lock().insert(height, &block, truncations);
        Ok(Some(block))
    }

    /// Waits for the turn to read the entry at a height, if it is large or of unknown size.
    fn turn(&self, height: u64) -> Option<MutexGuard<'_, ()>> {
        let is_small = self
            .log
            .size(height)
            .is_some_and(|size| size < LARGE_ENTRY_BYTES);
        (!is_small).then(|| self.reading.lock())
    }

    /// Returns the height of the canonical block with this number.
    pub fn height_of(&self, number: u64) -> Option<u64> {
        self.height_below(number, u64::MAX)
    }

    /// Returns the block or transaction with this hash; a Cosmos transaction has two. An unknown
    /// hash costs a search in every part of the index.
    pub fn find(&self, hash: B256) -> Option<Found> {
        let key = hash_key(&hash);
        let (active, sealed) = {
            let tables = self.tables.read();
            (tables.active.places(key), tables.sealed.clone())
        };
        let older = sealed.iter().rev().flat_map(|listed| match &*listed.part {
            IndexPart::Memory(index) => index.places(key),
            IndexPart::File(index) => logged(index.places(key)).unwrap_or_default(),
        });

        // The key is a part of the hash, which others may share.
        active.into_iter().rev().chain(older).find_map(|place| {
            let block = self.block(place.number)?;
            match place.index {
                BLOCK => (block.hash == hash).then_some(Found::Block(block)),
                index => {
                    let is_wanted = block.transactions.get(index as usize)?.has_hash(hash);
                    is_wanted.then_some(Found::Transaction(block, index as usize))
                }
            }
        })
    }

    /// Returns the height of the newest entry below a height that has this key and was in effect
    /// when the log had `end` entries.
    pub(super) fn version(
        &self,
        key: StateKey,
        below: u64,
        end: u64,
    ) -> Result<Option<u64>, LogError> {
        // The lock is not held while files are read.
        let (newest, sealed) = {
            let tables = self.tables.read();
            let newest = tables
                .active
                .version(key, below, |height| !tables.reverts.is_void(height, end));
            (newest, tables.sealed.clone())
        };
        if newest.is_some() {
            return Ok(newest);
        }

        let is_in_effect = |height| !self.is_void_below(height, end);
        for listed in sealed.iter().rev() {
            let found = match &*listed.part {
                IndexPart::Memory(index) => index.version(key, below, is_in_effect),
                IndexPart::File(index) if index.heights.start < below => {
                    let found = index.version(key, below, is_in_effect);
                    let name = index_name(index.heights.start);
                    found.map_err(LogError::io(&*self.storage, &name))?
                }
                IndexPart::File(_) => None,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Iterates over the canonical blocks before `before` that changed an account, newest first.
    /// The index is searched as far as the iterator is read.
    pub fn blocks_changing(
        &self,
        address: Address,
        before: u64,
    ) -> impl Iterator<Item = Result<Arc<Block>, LogError>> + '_ {
        let key = StateKey::of(&address, AccountPart::Fields);
        let mut below = u64::MAX;

        let heights = std::iter::from_fn(move || {
            let height = self.version(key, below, u64::MAX).transpose()?;
            // After an error, 0 ends the iteration.
            below = height.as_ref().copied().unwrap_or_default();
            Some(height)
        });

        heights.filter_map(
            move |height| match height.and_then(|height| self.block_at(height)) {
                Ok(block) => block.filter(|block| block.number() < before).map(Ok),
                Err(error) => Some(Err(error)),
            },
        )
    }

    /// Returns the log.
    pub fn log(&self) -> &dyn ReadLog {
        &*self.log
    }

    /// Returns the entry at a height.
    pub(super) fn entry(&self, height: u64) -> Result<LogEntry, LogError> {
        let _turn = self.turn(height);
        self.log.read(height)?.entry()
    }

    /// Returns the oldest checkpoint from which the present chain can be replayed.
    pub(super) fn beginning(&self) -> Result<Arc<Checkpoint>, CheckpointError> {
        let mut held = self.beginning.lock();
        if let Some(checkpoint) = held.upgrade() {
            return Ok(checkpoint);
        }

        let place = self.storage.describe("");
        let bases = self.bases().map_err(|error| CheckpointError {
            file: place.clone(),
            what: error.to_string(),
        })?;
        let &oldest = bases.first().ok_or_else(|| CheckpointError::none(place))?;

        let checkpoint = Arc::new(Checkpoint::read(&*self.storage, oldest, self.identity)?);
        *held = Arc::downgrade(&checkpoint);
        Ok(checkpoint)
    }

    /// Returns the numbers of the blocks from `from` to `to` that may have logs under at least one
    /// key of each of `wanted`, oldest first; all numbers if `wanted` is empty.
    pub fn candidates(&self, from: u64, to: u64, wanted: &[Vec<LogKey>]) -> Vec<u64> {
        if wanted.is_empty() {
            return (from..=to).collect();
        }
        let (active, sealed) = {
            let tables = self.tables.read();
            (
                matching(wanted, |key| tables.active.blocks_with(key, from, to)),
                tables.sealed.clone(),
            )
        };

        let within = sealed.iter().filter(|listed| listed.overlaps(from, to));
        let mut all: Vec<u64> = within
            .flat_map(|listed| listed.part.matching(from, to, wanted))
            .collect();
        all.extend(active);

        // After a revert, several parts may have a block with the same number.
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Iterates over the numbers of the blocks before `before` that may have logs under at least
    /// one key of each of `wanted`, newest first. The index is searched as far as the iterator is
    /// read.
    pub fn candidates_before<'a>(
        &'a self,
        before: u64,
        wanted: &'a [Vec<LogKey>],
    ) -> impl Iterator<Item = u64> + 'a {
        let last = before.checked_sub(1);
        // The lock is not held while files are read.
        let (growing, active, sealed) = {
            let tables = self.tables.read();
            let active =
                last.map(|last| matching(wanted, |key| tables.active.blocks_with(key, 0, last)));
            (
                tables.active.heights.start..u64::MAX,
                active.unwrap_or_default(),
                tables.sealed.clone(),
            )
        };

        let parts = (0..sealed.len()).rev().map(move |at| sealed[at].clone());
        let older = parts.flat_map(move |ListedPart { numbers, part }| {
            let windows = numbers
                .zip(last)
                .map(|(numbers, last)| windows(numbers, last))
                .unwrap_or_default();
            windows.into_iter().flat_map(move |(from, to)| {
                let heights = part.heights();
                part.matching(from, to, wanted)
                    .into_iter()
                    .rev()
                    .map(move |number| (heights.clone(), number))
            })
        });

        let newest = active
            .into_iter()
            .rev()
            .map(move |number| (growing.clone(), number));
        newest
            .chain(older)
            .filter(|(heights, number)| {
                // After a revert, only one of the parts with a number has the canonical block.
                self.height_of(*number)
                    .is_some_and(|at| heights.contains(&at))
            })
            .map(|(_, number)| number)
    }

    /// Returns the height of the block that was canonical under this number when the log had `end`
    /// entries.
    pub fn height_below(&self, number: u64, end: u64) -> Option<u64> {
        let (newest, sealed) = {
            let tables = self.tables.read();
            let newest = tables.newest(tables.active.blocks.get(&number), end);
            (newest, tables.sealed.clone())
        };

        newest.or_else(|| {
            sealed
                .iter()
                .rev()
                .filter(|listed| listed.overlaps(number, number))
                .find_map(|listed| self.height_in(&listed.part, number, end))
        })
    }

    /// Returns the height of the block of a part that was canonical under this number when the log
    /// had `end` entries.
    fn height_in(&self, part: &IndexPart, number: u64, end: u64) -> Option<u64> {
        match part {
            IndexPart::Memory(index) => self.tables.read().newest(index.blocks.get(&number), end),
            IndexPart::File(index) => {
                // Read before the lock is taken.
                let heights = logged(index.blocks(number));
                self.tables.read().newest(heights.as_ref(), end)
            }
        }
    }

    /// Returns the number of the oldest canonical block in the log.
    pub fn oldest(&self) -> Option<u64> {
        if let Some(oldest) = self.oldest.get() {
            return Some(*oldest);
        }

        let (first, last) = self.tables.read().numbers()?;
        let oldest = (first..=last).find(|number| self.height_of(*number).is_some())?;
        Some(*self.oldest.get_or_init(|| oldest))
    }
}

/// Opens the part of the index that begins at height `first`, if it is intact and matches a log
/// with `end` entries.
fn usable_part(
    storage: &dyn Storage,
    log: &dyn ReadLog,
    first: u64,
    end: u64,
) -> Result<Option<SealedIndex>, LogError> {
    let index = SealedIndex::open(storage, first).map_err(LogError::io(storage, ""))?;
    let Some(index) = index.filter(|index| index.heights.end <= end) else {
        return Ok(None);
    };

    // Entries that were removed, or another log's, have another checksum there.
    let is_current = index.check == check(log, index.heights.end)?;
    Ok(is_current.then_some(index))
}

/// Builds a part of the index from the entries at these heights, or from fewer if they have more
/// than `part_bytes` bytes.
fn rebuilt_part(
    log: &dyn ReadLog,
    heights: Range<u64>,
    part_bytes: u64,
) -> Result<ActiveIndex, LogError> {
    let mut part = ActiveIndex::starting_at(heights.start);
    let count = heights.end - heights.start;
    let entries = log.stream(heights.start)?.take(count as usize);

    for decoded in decode_ahead(Box::new(entries), count)? {
        let DecodedEntry { entry, size, .. } = decoded?;
        part.insert(&entry, size);
        if part.bytes >= part_bytes {
            break;
        }
    }
    Ok(part)
}

/// Returns the checksum of the entry before height `end`.
fn check(log: &dyn ReadLog, end: u64) -> Result<u32, LogError> {
    Ok(crc32fast::hash(&log.read(end - 1)?.bytes))
}

impl fmt::Debug for DiskHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskHistory")
            .field("place", &self.storage.describe(""))
            .finish_non_exhaustive()
    }
}

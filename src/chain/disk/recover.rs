//! From a directory to a chain: the newest checkpoint, and what the log says came after it.

use std::{io, sync::Arc};

use crate::{
    block::{Block, Submission},
    chain::{GenesisError, Head, HistoryLimits, Journal, block::recorded::Followed, writer::journal::JournalParts},
    evm::ChainParams,
    log::{BlockLog, ChainIdentity, Entry, LogError, Parameters, ReadLog, Shift},
    storage::Storage,
    store::{
        ChainFile, ChainFileError, ChainStore, Checkpoint, CheckpointError, DataDir, History, Keeper, KeptTransaction,
        PoolFile, Settings, checkpoints,
    },
};

/// Blocks before a checkpoint that are taken into memory: those that `BLOCKHASH` reaches, and some more for clients.
const RECENT: u64 = 1_024;
/// A checkpoint this close to the end of the log leaves too few states of recent blocks to ask about.
const CLOSE: u64 = 128;
/// At most so many entries are read again for their sake.
const AGAIN: u64 = 20_000;

/// What a chain in a directory is opened with.
pub struct Opening {
    /// The places where it is kept.
    pub kept: ChainStore,
    /// The directory of its files, which is locked as long as the chain lives.
    pub directory: Option<DataDir>,
    /// What holds for every block.
    pub params: Arc<ChainParams>,
    /// Settings that cannot change once there is a first block, by name.
    pub settings: Settings,
    /// How much of the past is held in memory.
    pub limits: HistoryLimits,
    /// Bytes of the log between two checkpoints.
    pub checkpoint_bytes: u64,
    /// Bytes of the log that one part of the index covers.
    pub index_bytes: u64,
}

/// A chain to go on from.
pub struct Recovered {
    /// The newest head.
    pub head: Head,
    /// How its time differs from the clock's.
    pub(in crate::chain) shift: Shift,
    /// Where to record what comes next.
    pub(in crate::chain) journal: Option<Journal>,
    /// Transactions that waited.
    pub(in crate::chain) waiting: Vec<Submission>,
}

/// A chain cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory is not that of this chain.
    #[error(transparent)]
    ChainFile(#[from] ChainFileError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// No checkpoint can be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The first block could not be made.
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// An entry does not lead from the state before it to what it says.
    #[error("entry {height} of the log: {what}")]
    Entry {
        /// Its height.
        height: u64,
        /// What is wrong.
        what: String,
    },
    /// The system refused.
    #[error("{0}: {1}")]
    Io(String, io::Error),
}

impl Recovered {
    /// A chain that lives in memory only.
    pub fn in_memory(head: Head) -> Self {
        Self { head, shift: Shift::default(), journal: None, waiting: Vec::new() }
    }

    /// A chain that is recorded in `log`, which is empty.
    pub fn recorded(head: Head, log: Box<dyn BlockLog>) -> Self {
        Self { journal: Some(Journal::new(log)), ..Self::in_memory(head) }
    }

    /// The hash of the block with this number, if there is one.
    pub fn block_hash(&self, number: u64) -> Option<alloy_primitives::B256> {
        let old = || self.journal.as_ref()?.history()?.block(number).map(|block| block.hash);
        self.head.block(number).map(|block| block.hash).or_else(old)
    }

    /// Makes `block` the newest, after recording it.
    pub fn extend(
        &mut self,
        applied: crate::chain::Applied,
        limits: HistoryLimits,
    ) -> Result<(), crate::log::AppendError> {
        let crate::chain::Applied { block, changes, state } = applied;
        let changes = Arc::new(changes);
        if let Some(journal) = &mut self.journal {
            journal.record(&Entry::Block { block: block.clone(), changes: changes.clone(), shift: self.shift })?;
        }
        (self.head, _) = self.head.extended(block, changes, state, limits);
        Ok(())
    }
}

/// Opens the chain in a directory, or begins one with the first block that `make` makes. With `expected` it makes that
/// block in any case, and refuses a directory whose chain begins with another.
pub fn open(
    opening: Opening,
    expected: bool,
    make: impl FnOnce() -> Result<Head, GenesisError>,
) -> Result<Recovered, OpenError> {
    let storage = &*opening.kept.storage;
    let file = match ChainFile::load(storage)? {
        Some(file) => {
            let genesis = if expected { Some(make()?.block.hash) } else { None };
            file.check(storage, &opening.settings, genesis)?;
            file
        }
        None => begin(&opening, &make()?)?,
    };
    let identity = file.identity();
    let oldest = checkpoints(storage).map_err(|error| OpenError::Io(storage.describe(""), error))?;
    let begin_at = oldest.first().copied().unwrap_or(0);
    let log = opening.kept.log.open(identity, begin_at)?;
    let reader = log.reader();
    let history = History::open(opening.kept.storage.clone(), reader.clone(), identity, opening.index_bytes)?;
    let checkpoint = newest_checkpoint(storage, identity, &history, log.end())?;
    let (height, number) = (checkpoint.height, checkpoint.block.number());
    let replayed = replay(opening.params.clone(), opening.limits, checkpoint, &*reader, &history, log.end())?;
    let (Followed { head, shift, .. }, bytes) = replayed;
    tracing::info!(block = head.number(), hash = %head.block.hash, from = height, entries = log.end() - height, "recovered the chain");

    let failed = |error| OpenError::Io(storage.describe(""), error);
    let waiting = PoolFile::load(storage, identity).map_err(failed)?;
    let waiting = waiting.into_iter().map(|KeptTransaction { transaction, sidecar }| Submission {
        transaction: Arc::unwrap_or_clone(transaction),
        sidecar,
    });
    let waiting: Vec<_> = waiting.collect();
    let keeper =
        Keeper::start(opening.kept.storage.clone(), identity, reader, history.clone(), opening.checkpoint_bytes, bytes);
    let parts = JournalParts {
        storage: opening.kept.storage.clone(),
        identity,
        history,
        keeper: keeper.map_err(failed)?,
        base: (number, height),
        directory: opening.directory,
    };
    let journal = Journal::with_parts(log, parts, &waiting).map_err(failed)?;
    Ok(Recovered { head, shift, journal: Some(journal), waiting })
}

/// Makes an empty directory that of a chain.
fn begin(opening: &Opening, head: &Head) -> Result<ChainFile, OpenError> {
    let storage = &*opening.kept.storage;
    let identity = ChainIdentity { chain_id: head.params.chain_id, genesis: head.genesis.hash };
    let first = Checkpoint {
        height: 0,
        shift: Shift::default(),
        genesis: head.genesis.clone(),
        block: head.block.clone(),
        state: head.state.clone(),
        parameters: Parameters::of(head),
    };
    first.write(storage, identity).map_err(|error| OpenError::Io(storage.describe(""), error))?;
    // What makes it one comes last.
    let file = ChainFile::new(identity, opening.settings.clone());
    file.save(storage)?;
    Ok(file)
}

/// The newest checkpoint that the log can be followed from, and that is not too close to its end.
pub(super) fn newest_checkpoint(
    storage: &dyn Storage,
    identity: ChainIdentity,
    history: &History,
    end: u64,
) -> Result<Checkpoint, OpenError> {
    let failed = |error| OpenError::Io(storage.describe(""), error);
    let heights = checkpoints(storage).map_err(failed)?;
    // What is compacted goes with the checkpoints that lead there.
    if let Some(&oldest) = heights.first().filter(|oldest| **oldest < history.start()) {
        return Err(LogError::Missing { from: oldest, to: history.start(), place: storage.describe("") }.into());
    }
    if let Some(&newest) = heights.last().filter(|newest| **newest > end) {
        return Err(LogError::Missing { from: end, to: newest, place: storage.describe("") }.into());
    }
    let mut heights = history.bases().map_err(failed)?;
    if let [.., before, newest] = heights[..]
        && end - newest < CLOSE
        && end - before < AGAIN
    {
        heights.pop();
    }
    let mut failure = None;
    for height in heights.into_iter().rev() {
        match Checkpoint::read(storage, height, identity) {
            Ok(checkpoint) => return Ok(checkpoint),
            Err(error) => {
                tracing::warn!(%error, "a checkpoint cannot be used; trying an older one");
                failure.get_or_insert(error);
            }
        }
    }
    Err(failure.unwrap_or_else(|| CheckpointError::none(storage.describe(""))).into())
}

/// The chain that a checkpoint and the entries after it lead to, as it was when the log had `end` entries; and the bytes of
/// those entries.
pub(in crate::chain) fn replay(
    params: Arc<ChainParams>,
    limits: HistoryLimits,
    checkpoint: Checkpoint,
    log: &dyn ReadLog,
    history: &Arc<History>,
    end: u64,
) -> Result<(Followed, u64), OpenError> {
    let edited = !checkpoint.is_after_block();
    let Checkpoint { height, shift, genesis, block, state, parameters } = checkpoint;
    let first = block.number().saturating_sub(RECENT.min(limits.blocks)).max(genesis.number());
    let mut recent: Vec<Arc<Block>> = Vec::new();
    for number in (first..block.number()).rev() {
        let after = recent.last().unwrap_or(&block);
        let before = if number == genesis.number() { Some(genesis.clone()) } else { history.block_below(number, end) };
        match before.filter(|before| before.hash == after.header.parent_hash) {
            Some(before) => recent.push(before),
            None => break,
        }
    }
    recent.reverse();
    let mut head = Head::resumed(params, genesis, recent, block, state).with_archive(history.clone());
    if edited {
        head = head.with_unknown_edits();
    }
    parameters.restore(&mut head);
    let mut followed = Followed::from(head, shift);
    let mut bytes = 0;
    for stored in log.stream(height)?.take(end.saturating_sub(height) as usize) {
        let stored = stored?;
        bytes += stored.bytes.len() as u64;
        if !history.is_void_below(stored.height, end) {
            let applied = followed.apply(stored.entry()?, limits);
            applied.map_err(|what| OpenError::Entry { height: stored.height, what })?;
        }
    }
    Ok((followed, bytes))
}

//! From a directory to a chain: the newest checkpoint, and what the log says came after it.

use std::{io, sync::Arc};

use crate::{
    block::{Block, Submission},
    chain::{GenesisError, Head, HistoryLimits, Journal, writer::journal::Parts},
    evm::ChainParams,
    log::{BlockLog, ChainIdentity, Durability, Entry, LocalLog, LogError, Parameters, Shift, Storage},
    state::State,
    store::{
        ChainFile, ChainFileError, Checkpoint, CheckpointError, DataDir, History, Keeper, KeptTransaction, PoolFile,
        Settings, checkpoints,
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
    /// The files.
    pub storage: Arc<dyn Storage>,
    /// The directory that they are in, to hold on to.
    pub directory: Option<DataDir>,
    /// What holds for every block.
    pub params: Arc<ChainParams>,
    /// Settings that cannot change once there is a first block, by name.
    pub settings: Settings,
    /// When something is acknowledged.
    pub durability: Durability,
    /// How much of the past is held in memory.
    pub limits: HistoryLimits,
    /// Bytes of the log between two checkpoints.
    pub checkpoint_bytes: u64,
    /// Bytes that a file of the log grows to.
    pub segment_bytes: u64,
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
    let storage = &*opening.storage;
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
    let log = LocalLog::open(opening.storage.clone(), identity, opening.durability, begin_at)?
        .with_segments_of(opening.segment_bytes);
    let history = History::open(opening.storage.clone(), log.reader(), identity)?;
    let checkpoint = newest_checkpoint(storage, identity, &history, log.end())?;
    let (height, number) = (checkpoint.height, checkpoint.block.number());
    let (head, shift, bytes) = replay(&opening, checkpoint, &log, &history)?;
    let head = head.with_archive(history.clone());
    tracing::info!(block = head.number(), hash = %head.block.hash, from = height, entries = log.end() - height, "recovered the chain");

    let failed = |error| OpenError::Io(storage.describe(""), error);
    let waiting = PoolFile::load(storage, identity).map_err(failed)?;
    let waiting = waiting.into_iter().map(|KeptTransaction { transaction, sidecar }| Submission {
        transaction: Arc::unwrap_or_clone(transaction),
        sidecar,
    });
    let waiting: Vec<_> = waiting.collect();
    let keeper = Keeper::start(opening.storage.clone(), identity, history.clone(), opening.checkpoint_bytes, bytes);
    let parts = Parts {
        storage: opening.storage.clone(),
        identity,
        history,
        keeper: keeper.map_err(failed)?,
        base: (number, height),
        directory: opening.directory,
    };
    let journal = Journal::with_parts(Box::new(log), parts, &waiting).map_err(failed)?;
    Ok(Recovered { head, shift, journal: Some(journal), waiting })
}

/// Makes an empty directory that of a chain.
fn begin(opening: &Opening, head: &Head) -> Result<ChainFile, OpenError> {
    let storage = &*opening.storage;
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

/// Applies what the log has after a checkpoint. Returns also how many bytes that were.
fn replay(
    opening: &Opening,
    checkpoint: Checkpoint,
    log: &LocalLog,
    history: &History,
) -> Result<(Head, Shift, u64), OpenError> {
    let edited = !checkpoint.is_after_block();
    let Checkpoint { height, mut shift, genesis, block, state, parameters } = checkpoint;
    let first = block.number().saturating_sub(RECENT.min(opening.limits.blocks)).max(genesis.number());
    let mut recent: Vec<Arc<Block>> = Vec::new();
    for number in (first..block.number()).rev() {
        let after = recent.last().unwrap_or(&block);
        let before = if number == genesis.number() { Some(genesis.clone()) } else { history.block(number) };
        match before.filter(|before| before.hash == after.header.parent_hash) {
            Some(before) => recent.push(before),
            None => break,
        }
    }
    recent.reverse();
    let mut head = Head::resumed(opening.params.clone(), genesis, recent, block, state);
    if edited {
        head = head.with_unknown_edits();
    }
    parameters.restore(&mut head);
    let mut bytes = 0;
    for stored in log.stream(height)? {
        let stored = stored?;
        bytes += stored.bytes.len() as u64;
        if !history.is_void(stored.location.height) {
            (head, shift) = step(head, shift, stored.entry()?, opening.limits)
                .map_err(|what| OpenError::Entry { height: stored.location.height, what })?;
        }
    }
    Ok((head, shift, bytes))
}

/// Applies one entry, and holds the outcome against what the entry says.
fn step(head: Head, shift: Shift, entry: Entry, limits: HistoryLimits) -> Result<(Head, Shift), String> {
    let state = state_after(&head.block, &head.state, &entry)?;
    Ok(match entry {
        Entry::Block { block, changes, shift } => (head.extended(block, changes, state, limits).0, shift),
        Entry::Edit { changes, parameters, .. } => {
            let mut head = head.edited(changes, state);
            if let Some(parameters) = parameters {
                parameters.restore(&mut head);
            }
            (head, shift)
        }
        Entry::Time(shift) | Entry::Revert { shift, .. } => (head, shift),
    })
}

/// Applies one entry to a checkpoint, and holds the outcome against what the entry says.
pub(in crate::chain) fn follow(at: &mut Checkpoint, entry: Entry) -> Result<(), String> {
    at.state = state_after(&at.block, &at.state, &entry)?;
    match entry {
        Entry::Block { block, shift, .. } => (at.block, at.shift) = (block, shift),
        Entry::Time(shift) | Entry::Revert { shift, .. } => at.shift = shift,
        Entry::Edit { parameters: Some(parameters), .. } => at.parameters = parameters,
        Entry::Edit { parameters: None, .. } => {}
    }
    Ok(())
}

/// The state after an entry, if the entry says the same of it.
fn state_after(parent: &Block, before: &State, entry: &Entry) -> Result<State, String> {
    let mut state = before.clone();
    let (changes, expected) = match entry {
        Entry::Block { block, changes, .. } => {
            if block.number() != parent.number() + 1 || block.header.parent_hash != parent.hash {
                return Err(format!("block {} does not follow block {}", block.number(), parent.number()));
            }
            (changes, block.header.state_root)
        }
        Entry::Edit { changes, root, .. } => (changes, *root),
        Entry::Time(_) | Entry::Revert { .. } => return Ok(state),
    };
    match state.apply(changes) {
        root if root == expected => Ok(state),
        root => Err(format!("state root after block {}: expected {expected}, got {root}", parent.number())),
    }
}

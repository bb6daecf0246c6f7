//! Recovery of a chain from its data directory: reads the newest checkpoint and replays the log
//! after it.

use std::{io, sync::Arc};

use tetrad_evm::ChainParams;
use tetrad_primitives::block::{Block, Submission};
use tetrad_stdx::clock::Clock;
use tetrad_store::{
    log::{
        BlockLog, ChainIdentity, DecodedEntry, EditableParams, LogEntry, LogError, ReadLog,
        TimeShift, decode_ahead,
    },
    storage::Storage,
    store::{
        ChainFile, ChainFileError, ChainStore, Checkpoint, CheckpointError, CheckpointWriter,
        DataDir, DiskHistory, PoolFile, Settings, Standing, checkpoints,
    },
};

use crate::{
    DumpError, GenesisError, Head, HistoryLimits, Journal, PreparedDump,
    block::recorded::Replayed,
    writer::{journal::JournalParts, timing::Timing},
};

/// Number of blocks before the checkpoint that are loaded into memory: those that `BLOCKHASH`
/// reaches, and more for clients.
const RECENT_BLOCKS: u64 = 1_024;
/// The preferred distance of the checkpoint from the end of the log, in entries, so that recent
/// states are in memory.
const MIN_REPLAYED: u64 = 128;
/// Most entries that are replayed for that.
const MAX_REPLAYED: u64 = 20_000;

/// The parameters for opening a chain in a data directory.
pub struct Opening {
    /// The storage of its log and of its other files.
    pub store: ChainStore,
    /// The lock of its directory, held as long as the chain lives.
    pub directory: Option<DataDir>,
    /// The parameters of the chain.
    pub params: Arc<ChainParams>,
    /// Settings that cannot change after the genesis block, by name.
    pub settings: Settings,
    /// Limits of the history in memory.
    pub limits: HistoryLimits,
    /// Bytes of the log between two checkpoints.
    pub checkpoint_bytes: u64,
    /// Bytes of the log that one part of the index covers.
    pub index_bytes: u64,
}

/// A recovered chain.
pub struct Recovered {
    /// The newest head.
    pub head: Head,
    /// Shift of its time against the clock.
    pub(crate) shift: TimeShift,
    /// Its snapshots, and the settings of development methods.
    pub(crate) standing: Standing,
    /// The journal for further changes.
    pub(crate) journal: Option<Journal>,
    /// Pending transactions.
    pub(crate) waiting: Vec<Submission>,
}

/// The reason why a chain cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory belongs to another chain.
    #[error(transparent)]
    ChainFile(#[from] ChainFileError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// No checkpoint can be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The genesis block could not be built.
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// The outcome of an entry is not the recorded one.
    #[error("entry {height} of the log: {what}")]
    Entry {
        /// The entry's height.
        height: u64,
        /// The difference.
        what: String,
    },
    /// A file operation failed.
    #[error("{0}: {1}")]
    Io(String, io::Error),
}

impl OpenError {
    /// Returns the error of an operation on a directory.
    fn io(storage: &dyn Storage, error: io::Error) -> Self {
        Self::Io(storage.describe(""), error)
    }
}

impl Recovered {
    /// Returns a chain that lives in memory only.
    pub fn in_memory(head: Head) -> Self {
        Self {
            head,
            shift: TimeShift::default(),
            standing: Standing::default(),
            journal: None,
            waiting: Vec::new(),
        }
    }

    /// Sets the base fee of the next block, in wei per gas, if one is given.
    #[must_use]
    pub fn with_next_base_fee(mut self, wei: Option<u64>) -> Self {
        self.standing.settings.sealing.next_base_fee = wei;
        self
    }

    /// Continues from a dump instead. Nothing changes if it is invalid.
    ///
    /// # Errors
    /// If the chain is recorded, or the dump does not fit together.
    pub fn load(&mut self, dump: PreparedDump, clock: Arc<dyn Clock>) -> Result<(), DumpError> {
        if self.journal.is_some() {
            return Err(DumpError::Recorded);
        }

        let (head, ahead) = dump.restore(&self.head)?;
        let mut timing = Timing::new(clock, false);
        timing.restore(self.shift);
        timing.follow_dump(ahead, head.block.header.timestamp);
        self.shift = timing.shift();
        self.head = head;
        Ok(())
    }

    /// Returns a chain that is recorded in `log`, which must be empty.
    pub fn recorded(head: Head, log: Box<dyn tetrad_store::log::BlockLog>) -> Self {
        Self {
            journal: Some(Journal::new(log)),
            ..Self::in_memory(head)
        }
    }

    /// Returns the hash of the block with this number, if it exists.
    pub fn block_hash(&self, number: u64) -> Option<alloy_primitives::B256> {
        if let Some(block) = self.head.block(number) {
            return Some(block.hash);
        }
        let history = self.journal.as_ref()?.history()?;
        history.block(number).map(|block| block.hash)
    }

    /// Records a block and appends it to the chain.
    pub fn extend(
        &mut self,
        applied: crate::AppliedBlock,
        limits: HistoryLimits,
    ) -> Result<(), tetrad_store::log::AppendError> {
        let crate::AppliedBlock {
            block,
            changes,
            state,
        } = applied;
        let changes = Arc::new(changes);
        if let Some(journal) = &mut self.journal {
            journal.record(
                &LogEntry::Block {
                    block: block.clone(),
                    changes: changes.clone(),
                    shift: self.shift,
                },
                None,
            )?;
        }

        (self.head, _) = self.head.extended(block, changes, state, limits);
        Ok(())
    }
}

/// Opens the chain in a directory, or creates one with the genesis block that `make` returns. With
/// `expected`, builds the genesis block in any case and rejects a directory with a different one.
pub fn open(
    opening: Opening,
    expected: bool,
    make: impl FnOnce() -> Result<Head, GenesisError>,
) -> Result<Recovered, OpenError> {
    let storage = &*opening.store.storage;
    let identity = chain_file(&opening, expected, make)?.identity();
    let log = open_log(&opening, identity)?;
    let reader = log.reader();
    let history = DiskHistory::open(
        opening.store.storage.clone(),
        reader.clone(),
        identity,
        opening.index_bytes,
    )?;

    let end = log.end();
    let checkpoint = newest_checkpoint(storage, identity, &history, end)?;
    let from = checkpoint.height;

    let (replayed, bytes) = replay(
        opening.params.clone(),
        opening.limits,
        checkpoint,
        &*reader,
        &history,
        end,
    )?;

    let head = replayed.head;
    tracing::info!(
        block = head.number(),
        hash = %head.block.hash,
        from,
        entries = end - from,
        "recovered the chain"
    );

    let waiting = load_waiting(storage, identity)?;
    let journal = open_journal(opening, identity, log, history, &waiting, bytes)?;

    Ok(Recovered {
        head,
        shift: replayed.shift,
        standing: replayed.standing,
        journal: Some(journal),
        waiting,
    })
}

/// Returns the chain file of a directory, after a check, or of a new chain if it is empty.
fn chain_file(
    opening: &Opening,
    expected: bool,
    make: impl FnOnce() -> Result<Head, GenesisError>,
) -> Result<ChainFile, OpenError> {
    let storage = &*opening.store.storage;
    let Some(file) = ChainFile::load(storage)? else {
        return begin(opening, &make()?);
    };

    let genesis = if expected {
        Some(make()?.block.hash)
    } else {
        None
    };
    file.check(storage, &opening.settings, genesis)?;
    Ok(file)
}

fn open_log(opening: &Opening, identity: ChainIdentity) -> Result<Box<dyn BlockLog>, OpenError> {
    let storage = &*opening.store.storage;
    let heights = checkpoints(storage).map_err(|error| OpenError::io(storage, error))?;
    let begin_at = heights.first().copied().unwrap_or(0);
    let mut log = opening.store.log.open(identity, begin_at)?;
    if heights.last().is_some_and(|newest| *newest > log.end()) {
        // A node that joins a cluster has checkpoints first, and then the entries before them.
        log.catch_up()?;
    }
    Ok(log)
}

/// Returns the journal of an opened chain. `bytes` is the size of the entries after the checkpoint
/// from which it was replayed.
fn open_journal(
    opening: Opening,
    identity: ChainIdentity,
    log: Box<dyn BlockLog>,
    history: Arc<DiskHistory>,
    waiting: &[Submission],
    bytes: u64,
) -> Result<Journal, OpenError> {
    let storage = opening.store.storage;
    let checkpoint_writer = CheckpointWriter::start(
        storage.clone(),
        identity,
        log.reader(),
        history.clone(),
        opening.checkpoint_bytes,
        bytes,
    )
    .map_err(|error| OpenError::io(&*storage, error))?;
    let parts = JournalParts {
        storage: storage.clone(),
        identity,
        history,
        checkpoint_writer,
        directory: opening.directory,
    };
    Journal::with_parts(log, parts, waiting).map_err(|error| OpenError::io(&*storage, error))
}

/// Returns the transactions that were pending at the last shutdown.
fn load_waiting(
    storage: &dyn Storage,
    identity: ChainIdentity,
) -> Result<Vec<Submission>, OpenError> {
    let waiting =
        PoolFile::load(storage, identity).map_err(|error| OpenError::io(storage, error))?;
    let submissions = waiting.into_iter().map(|pending| Submission {
        transaction: Arc::unwrap_or_clone(pending.transaction),
        sidecar: pending.sidecar,
    });
    Ok(submissions.collect())
}

/// Creates a chain in an empty directory.
fn begin(opening: &Opening, head: &Head) -> Result<ChainFile, OpenError> {
    let storage = &*opening.store.storage;
    let identity = ChainIdentity {
        chain_id: head.params.chain_id,
        genesis: head.genesis.hash,
    };

    let first = Checkpoint {
        height: 0,
        shift: TimeShift::default(),
        genesis: head.genesis.clone(),
        block: head.block.clone(),
        state: head.state.clone(),
        parameters: EditableParams::from(head),
        standing: Standing::default(),
    };

    first
        .write(storage, identity)
        .map_err(|error| OpenError::io(storage, error))?;
    // The chain file comes last: without it the directory is still an empty one.
    let file = ChainFile::new(identity, opening.settings.clone());
    file.save(storage)?;
    Ok(file)
}

/// Returns the newest checkpoint from which the present chain can be replayed, preferably not too
/// close to the log's end.
pub(super) fn newest_checkpoint(
    storage: &dyn Storage,
    identity: ChainIdentity,
    history: &DiskHistory,
    end: u64,
) -> Result<Checkpoint, OpenError> {
    let heights = checkpoints(storage).map_err(|error| OpenError::io(storage, error))?;
    // Compaction removes entries together with the checkpoints before them, so an older checkpoint
    // means a missing part.
    if let Some(&oldest) = heights.first().filter(|oldest| **oldest < history.start()) {
        return Err(LogError::Missing {
            from: oldest,
            to: history.start(),
            place: storage.describe(""),
        }
        .into());
    }

    if let Some(&newest) = heights.last().filter(|newest| **newest > end) {
        return Err(LogError::Missing {
            from: end,
            to: newest,
            place: storage.describe(""),
        }
        .into());
    }

    let mut heights = history
        .bases()
        .map_err(|error| OpenError::io(storage, error))?;
    if let [.., before, newest] = heights[..]
        && end - newest < MIN_REPLAYED
        && end - before < MAX_REPLAYED
    {
        heights.pop();
    }

    let mut failure = None;
    for height in heights.into_iter().rev() {
        match Checkpoint::read(storage, height, identity) {
            Ok(checkpoint) => return Ok(checkpoint),
            Err(error) => {
                tracing::warn!(%error, "failed to read a checkpoint; trying an older one");
                failure.get_or_insert(error);
            }
        }
    }

    Err(failure
        .unwrap_or_else(|| CheckpointError::none(storage.describe("")))
        .into())
}

/// Returns the newest blocks before `block`, oldest first, as they were when the log had `end`
/// entries.
fn blocks_before(
    block: &Arc<Block>,
    genesis: &Arc<Block>,
    limits: HistoryLimits,
    history: &DiskHistory,
    end: u64,
) -> Vec<Arc<Block>> {
    let first = block
        .number()
        .saturating_sub(RECENT_BLOCKS.min(limits.blocks))
        .max(genesis.number());

    let mut recent: Vec<Arc<Block>> = Vec::new();
    for number in (first..block.number()).rev() {
        let after = recent.last().unwrap_or(block);
        let before = if number == genesis.number() {
            Some(genesis.clone())
        } else {
            history.block_below(number, end)
        };
        match before.filter(|before| before.hash == after.header.parent_hash) {
            Some(before) => recent.push(before),
            None => break,
        }
    }
    recent.reverse();
    recent
}

/// Replays the log from a checkpoint, and returns the chain as it was when the log had `end`
/// entries, with the size of the replayed entries in bytes.
pub(crate) fn replay(
    params: Arc<ChainParams>,
    limits: HistoryLimits,
    checkpoint: Checkpoint,
    log: &dyn ReadLog,
    history: &Arc<DiskHistory>,
    end: u64,
) -> Result<(Replayed, u64), OpenError> {
    let Checkpoint {
        height,
        shift,
        genesis,
        block,
        state,
        parameters,
        standing,
    } = checkpoint;

    let recent = blocks_before(&block, &genesis, limits, history, end);
    let mut head = Head::resumed(params, genesis, recent, block, state)
        .with_disk_history(history.clone(), height);
    head.set_params(parameters);

    let mut replayed = Replayed::from(head, shift, standing);
    let mut bytes = 0;
    let count = end.saturating_sub(height);
    for decoded in decode_ahead(Box::new(log.stream(height)?.take(count as usize)), count)? {
        let DecodedEntry {
            height,
            size,
            entry,
            ..
        } = decoded?;

        bytes += size;
        let failed = |what| OpenError::Entry { height, what };
        // Snapshots and settings outlast a revert.
        replayed.standing.follow(height, &entry).map_err(failed)?;
        if !history.is_void_below(height, end) {
            replayed.apply(entry, limits).map_err(failed)?;
        }
    }

    Ok((replayed, bytes))
}

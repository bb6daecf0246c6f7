//! Offline maintenance of a chain in a data directory.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::Arc,
};

use alloy_primitives::B256;
use tetrad_primitives::block::{Block, DevSettings};
use tetrad_store::{
    log::{
        AppendError, BlockLog, ChainIdentity, DecodedEntry, LogEntry, LogError, ReadLog,
        decode_ahead,
    },
    storage::Storage,
    store::{
        self, ChainFile, ChainStore, Checkpoint, CheckpointError, DiskHistory, PART_BYTES,
        Repaired, Standing, checkpoints,
    },
};

use super::recover::{OpenError, newest_checkpoint};
use crate::block::recorded::advance;

/// The least number of blocks that compacting leaves: those that `BLOCKHASH` reaches.
const MIN_KEPT: u64 = 256;

/// The result of a verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The oldest block in the log; one above the newest if the log has no blocks.
    pub first: u64,
    /// The first block whose state root was checked. The states before it are not known.
    pub first_state: u64,
    /// The newest block.
    pub last: u64,
    /// Number of entries in the log, including reverted ones. All were checked.
    pub entries: u64,
    /// Number of transactions in canonical blocks.
    pub transactions: u64,
    /// Number of accounts after the newest block.
    pub accounts: u64,
    /// Number of checkpoints that were checked: all from which the present chain can be replayed.
    pub checkpoints: u64,
}

/// An error of maintaining a chain.
#[derive(Debug, thiserror::Error)]
pub enum MaintainError {
    /// The chain cannot be opened or is damaged.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The directory contains no chain.
    #[error("{0}: there is no chain")]
    Empty(String),
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<LogError> for MaintainError {
    fn from(error: LogError) -> Self {
        Self::Open(error.into())
    }
}

impl From<AppendError> for MaintainError {
    fn from(error: AppendError) -> Self {
        Self::Io(io::Error::other(error))
    }
}

/// An opened chain.
struct Opened {
    identity: ChainIdentity,
    log: Box<dyn BlockLog>,
    history: Arc<DiskHistory>,
}

fn identity(chain: &ChainStore) -> Result<ChainIdentity, MaintainError> {
    let file = ChainFile::load(&*chain.storage).map_err(OpenError::from)?;
    Ok(file
        .ok_or_else(|| MaintainError::Empty(chain.storage.describe("")))?
        .identity())
}

fn opened(chain: &ChainStore) -> Result<Opened, MaintainError> {
    let identity = identity(chain)?;
    let begin_at = checkpoints(&*chain.storage)?.first().copied().unwrap_or(0);
    let log = chain.log.open(identity, begin_at)?;
    let history = DiskHistory::open(chain.storage.clone(), log.reader(), identity, PART_BYTES)?;
    Ok(Opened {
        identity,
        log,
        history,
    })
}

/// Opens the blocks of a chain on which no node runs.
pub fn canonical_blocks(chain: &ChainStore) -> Result<Arc<DiskHistory>, MaintainError> {
    Ok(opened(chain)?.history)
}

/// Replays the log from a checkpoint up to height `end`, and returns the checkpoint there.
fn walk(
    log: &dyn ReadLog,
    history: &DiskHistory,
    from: Checkpoint,
    end: u64,
) -> Result<Checkpoint, MaintainError> {
    let mut at = from;
    let count = end.saturating_sub(at.height);

    for decoded in decode_ahead(Box::new(log.stream(at.height)?.take(count as usize)), count)? {
        let DecodedEntry { height, entry, .. } = decoded?;
        let failed = |what| OpenError::Entry { height, what };

        // Snapshots and settings outlast a revert.
        at.standing.follow(height, &entry).map_err(failed)?;
        if !history.is_void(height) {
            advance(&mut at, entry).map_err(failed)?;
        }

        at.height = height + 1;
    }
    Ok(at)
}

/// Verifies the whole chain: each record, each block against its header and its parent, each state
/// root from the oldest checkpoint on, the snapshots and settings, and each checkpoint from which
/// the present chain can be replayed. Reverted entries are checked in isolation.
pub fn verify(store: &ChainStore) -> Result<Report, MaintainError> {
    let chain = opened(store)?;
    let mut verification = Verification::begin(&*store.storage, &chain)?;

    let start = chain.history.start();
    for decoded in decode_ahead(chain.log.reader().stream(start)?, chain.log.end() - start)? {
        let DecodedEntry { height, entry, .. } = decoded?;
        verification
            .check(height, entry)
            .map_err(|what| OpenError::Entry { height, what })?;
    }

    Ok(verification.finish())
}

/// A verification under way.
struct Verification<'a> {
    history: &'a DiskHistory,
    /// The checkpoints from which the present chain can be replayed, by height.
    checkpoints: BTreeMap<u64, CheckpointSummary>,
    /// The height of the oldest one.
    beginning: u64,
    /// The oldest one, advanced by the entries that were checked.
    at: Checkpoint,
    /// The newest canonical block that was checked.
    newest: Option<Arc<Block>>,
    report: Report,
}

/// The summary with which a checkpoint has to agree.
struct CheckpointSummary {
    block: B256,
    state_root: B256,
    standing: Standing,
}

impl<'a> Verification<'a> {
    fn begin(storage: &dyn Storage, chain: &'a Opened) -> Result<Self, MaintainError> {
        let mut summaries = BTreeMap::new();
        let mut oldest = None;
        for height in chain.history.bases()? {
            let checkpoint =
                Checkpoint::read(storage, height, chain.identity).map_err(OpenError::from)?;
            let summary = CheckpointSummary {
                block: checkpoint.block.hash,
                state_root: checkpoint.state.root(),
                standing: checkpoint.standing.clone(),
            };
            summaries.insert(height, summary);
            oldest.get_or_insert(checkpoint);
        }

        let at =
            oldest.ok_or_else(|| OpenError::from(CheckpointError::none(storage.describe(""))))?;
        let report = Report {
            checkpoints: summaries.len() as u64,
            first_state: at.block.number() + 1,
            ..Report::default()
        };
        Ok(Self {
            history: &chain.history,
            checkpoints: summaries,
            beginning: at.height,
            at,
            newest: None,
            report,
        })
    }

    /// Checks the next entry. The error says what is wrong with it.
    fn check(&mut self, height: u64, entry: LogEntry) -> Result<(), String> {
        let in_effect = !self.history.is_void(height);
        if let LogEntry::Block { block, .. } = &entry {
            self.check_block(block, in_effect)?;
        }

        if height >= self.beginning {
            self.at.standing.follow(height, &entry)?;
            if in_effect {
                advance(&mut self.at, entry)?;
            }
        }
        if height + 1 == self.beginning
            && self
                .newest
                .as_ref()
                .is_some_and(|newest| newest.hash != self.at.block.hash)
        {
            return Err(format!(
                "the checkpoint at {} belongs to another block",
                self.beginning
            ));
        }

        self.report.entries += 1;
        self.at.height = self.at.height.max(height + 1);
        if height >= self.beginning {
            self.check_checkpoint(height + 1)?;
        }
        Ok(())
    }

    fn check_block(&mut self, block: &Arc<Block>, in_effect: bool) -> Result<(), String> {
        block.verify().map_err(|field| {
            format!(
                "block {}: {field} does not match the content",
                block.number()
            )
        })?;
        if !in_effect {
            return Ok(());
        }

        if let Some(newest) = &self.newest
            && block.header.parent_hash != newest.hash
        {
            return Err(format!(
                "block {} is not a child of the block before",
                block.number()
            ));
        }
        self.report.transactions += block.transactions.len() as u64;
        self.newest = Some(block.clone());
        Ok(())
    }

    /// Compares the checkpoint at this height, if there is one, with the outcome of the entries.
    fn check_checkpoint(&self, height: u64) -> Result<(), String> {
        let Some(summary) = self.checkpoints.get(&height) else {
            return Ok(());
        };

        let at = &self.at;
        if (summary.block, summary.state_root) != (at.block.hash, at.state.root()) {
            return Err(format!("the checkpoint at {height} has another state"));
        }
        if summary.standing.snapshots != at.standing.snapshots {
            return Err(format!("the checkpoint at {height} has other snapshots"));
        }
        if without_default(&summary.standing.settings) != without_default(&at.standing.settings) {
            return Err(format!("the checkpoint at {height} has other settings"));
        }
        Ok(())
    }

    fn finish(self) -> Report {
        let last = self.at.block.number();
        Report {
            first: self.history.oldest().unwrap_or(last + 1),
            last,
            accounts: self.at.state.len() as u64,
            ..self.report
        }
    }
}

/// Returns the settings without the statement that not all accounts are impersonated. That is the
/// default, and earlier versions left it out.
fn without_default(settings: &DevSettings) -> DevSettings {
    let mut settings = settings.clone();
    settings.impersonated.all = settings.impersonated.all.filter(|all| *all);
    settings
}

/// Truncates the log before its first entry that is damaged, or that cannot be applied to the chain
/// before it. Returns `None` if there is no such entry.
pub fn repair(chain: &ChainStore) -> Result<Option<Repaired>, MaintainError> {
    let identity = identity(chain)?;
    // Damaged records first: the replay below cannot read past one.
    if let Some(repaired) = store::repair(chain, identity)? {
        return Ok(Some(repaired));
    }

    match replayed(chain) {
        Err(MaintainError::Open(OpenError::Entry { height, .. })) => {
            let aside = store::truncate(chain, identity, height)?;
            Ok(Some(Repaired {
                end: height,
                what: "it cannot be applied to the chain before it",
                aside,
            }))
        }
        Err(error) => Err(error),
        Ok(_) => Ok(None),
    }
}

/// Returns the chain at the end of the log, as a start does.
fn replayed(chain: &ChainStore) -> Result<Checkpoint, MaintainError> {
    let Opened {
        identity,
        log,
        history,
    } = opened(chain)?;
    walk(
        &*log.reader(),
        &history,
        newest_checkpoint(&*chain.storage, identity, &history, log.end())?,
        log.end(),
    )
}

/// Removes all blocks except the newest `keep`, and none after `last`. Every remaining block keeps
/// its state, because a checkpoint is written at the log's new start. Returns the oldest remaining
/// block.
pub fn compact(store: &ChainStore, keep: u64, last: Option<u64>) -> Result<u64, MaintainError> {
    let storage = &*store.storage;
    let mut chain = opened(store)?;
    let identity = chain.identity;
    let end = chain.log.end();

    let newest = newest_checkpoint(storage, identity, &chain.history, end)?;
    let newest = write_checkpoint(storage, &chain, newest, end)?
        .block
        .number();
    let oldest = (newest + 1).saturating_sub(keep.max(MIN_KEPT));
    let oldest = last.map_or(oldest, |last| oldest.min(last.saturating_add(1)));

    let from = chain.history.height_of(oldest).unwrap_or(0);
    if from > 0 {
        // An earlier version may have removed the states before its oldest checkpoint.
        let bases = chain.history.bases()?;
        if let Some(&before) = bases.iter().rfind(|height| **height <= from) {
            let before = Checkpoint::read(storage, before, identity).map_err(OpenError::from)?;
            write_checkpoint(storage, &chain, before, from)?;
        }
        store::compact(storage, &mut *chain.log, &chain.history, from)?;
    }
    Ok(chain.history.oldest().unwrap_or(0).max(oldest))
}

/// Replays the log from a checkpoint up to height `end`, and writes the checkpoint there, unless it
/// is the same one. Returns it.
fn write_checkpoint(
    storage: &dyn Storage,
    chain: &Opened,
    from: Checkpoint,
    end: u64,
) -> Result<Checkpoint, MaintainError> {
    let height = from.height;
    let reached = walk(&*chain.log.reader(), &chain.history, from, end)?;
    if reached.height > height {
        reached.write(storage, chain.identity)?;
    }
    Ok(reached)
}

/// Exports all blocks after the genesis block as concatenated RLP, the format of other clients.
/// Returns their number.
pub fn export_blocks(chain: &ChainStore, out: &mut dyn Write) -> Result<u64, MaintainError> {
    let chain = opened(chain)?;
    let blocks = chain.history.oldest().unwrap_or(1)..;

    let mut count = 0;
    for block in blocks.map_while(|number| chain.history.block(number)) {
        let block: Arc<Block> = block;
        out.write_all(&block.encode())?;
        count += 1;
    }

    out.flush()?;
    Ok(count)
}

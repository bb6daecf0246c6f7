//! Offline maintenance of a chain in a data directory.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::Arc,
};

use tetrad_primitives::block::Block;
use tetrad_store::{
    log::{
        AppendError, BlockLog, ChainIdentity, DecodedEntry, LogEntry, LogError, ReadLog,
        decode_ahead,
    },
    store::{
        self, ChainFile, ChainStore, Checkpoint, CheckpointError, History, PART_BYTES, Repaired,
        checkpoints,
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
    history: Arc<History>,
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
    let history = History::open(chain.storage.clone(), log.reader(), identity, PART_BYTES)?;
    Ok(Opened {
        identity,
        log,
        history,
    })
}

/// Opens the blocks of a chain on which no node runs.
pub fn canonical_blocks(chain: &ChainStore) -> Result<Arc<History>, MaintainError> {
    Ok(opened(chain)?.history)
}

/// Replays the log from a checkpoint up to height `end`, and returns the checkpoint there.
fn walk(
    log: &dyn ReadLog,
    history: &History,
    from: Checkpoint,
    end: u64,
) -> Result<Checkpoint, MaintainError> {
    let mut at = from;
    let count = end.saturating_sub(at.height);
    for decoded in decode_ahead(Box::new(log.stream(at.height)?.take(count as usize)), count)? {
        let DecodedEntry { height, entry, .. } = decoded?;
        let failed = |what| OpenError::Entry { height, what };
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
    let storage = &store.storage;
    let chain = opened(store)?;
    let mut roots = BTreeMap::new();
    let mut oldest = None;
    for height in chain.history.bases()? {
        let checkpoint =
            Checkpoint::read(&**storage, height, chain.identity).map_err(OpenError::from)?;
        roots.insert(
            height,
            (
                checkpoint.block.hash,
                checkpoint.state.root(),
                checkpoint.standing.clone(),
            ),
        );
        oldest.get_or_insert(checkpoint);
    }
    let none = || OpenError::from(CheckpointError::none(storage.describe("")));
    let mut at = oldest.ok_or_else(none)?;
    let mut report = Report {
        checkpoints: roots.len() as u64,
        first_state: at.block.number() + 1,
        ..Report::default()
    };
    let (start, beginning) = (chain.history.start(), at.height);
    let mut newest: Option<Arc<Block>> = None;
    for decoded in decode_ahead(chain.log.reader().stream(start)?, chain.log.end() - start)? {
        let DecodedEntry { height, entry, .. } = decoded?;
        let wrong = |what| OpenError::Entry { height, what };
        let in_effect = !chain.history.is_void(height);
        if let LogEntry::Block { block, .. } = &entry {
            block.verify().map_err(|field| {
                wrong(format!(
                    "block {}: {field} does not match the content",
                    block.number()
                ))
            })?;
            let follows = |newest: &Arc<Block>| block.header.parent_hash == newest.hash;
            if in_effect && !newest.as_ref().is_none_or(follows) {
                return Err(wrong(format!(
                    "block {} is not a child of the block before",
                    block.number()
                ))
                .into());
            }
            if in_effect {
                report.transactions += block.transactions.len() as u64;
                newest = Some(block.clone());
            }
        }
        if height >= beginning {
            at.standing.follow(height, &entry).map_err(wrong)?;
        }
        if in_effect && height >= beginning {
            advance(&mut at, entry).map_err(wrong)?;
        }
        if height + 1 == beginning
            && newest
                .as_ref()
                .is_some_and(|newest| newest.hash != at.block.hash)
        {
            return Err(wrong(format!(
                "the checkpoint at {beginning} belongs to another block"
            ))
            .into());
        }
        report.entries += 1;
        at.height = at.height.max(height + 1);
        let known = roots.get(&(height + 1)).filter(|_| height >= beginning);
        if let Some((block, root, standing)) = known {
            if (*block, *root) != (at.block.hash, at.state.root()) {
                return Err(wrong(format!(
                    "the checkpoint at {} has another state",
                    height + 1
                ))
                .into());
            }
            if standing.snapshots != at.standing.snapshots {
                return Err(wrong(format!(
                    "the checkpoint at {} has other snapshots",
                    height + 1
                ))
                .into());
            }
            if standing.settings != at.standing.settings {
                return Err(wrong(format!(
                    "the checkpoint at {} has other settings",
                    height + 1
                ))
                .into());
            }
        }
    }
    (report.last, report.accounts) = (at.block.number(), at.state.len() as u64);
    report.first = chain.history.oldest().unwrap_or(report.last + 1);
    Ok(report)
}

/// Truncates the log before its first entry that is damaged, or that cannot be applied to the chain
/// before it. Returns `None` if there is no such entry.
pub fn repair(chain: &ChainStore) -> Result<Option<Repaired>, MaintainError> {
    let identity = identity(chain)?;
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
pub fn compact(chain: &ChainStore, keep: u64, last: Option<u64>) -> Result<u64, MaintainError> {
    let storage = &chain.storage;
    let Opened {
        identity,
        mut log,
        history,
    } = opened(chain)?;
    let reader = log.reader();
    let walk = |from: Checkpoint, end| -> Result<Checkpoint, MaintainError> {
        let height = from.height;
        let reached = walk(&*reader, &history, from, end)?;
        if reached.height > height {
            reached.write(&**storage, identity)?;
        }
        Ok(reached)
    };
    let newest = walk(
        newest_checkpoint(&**storage, identity, &history, log.end())?,
        log.end(),
    )?
    .block
    .number();
    let oldest = (newest + 1).saturating_sub(keep.max(MIN_KEPT));
    let oldest = last.map_or(oldest, |last| oldest.min(last.saturating_add(1)));
    let from = history.height_of(oldest).unwrap_or(0);
    if from > 0 {
        // An earlier version may have removed the states before its oldest checkpoint.
        if let Some(&before) = history.bases()?.iter().rfind(|height| **height <= from) {
            walk(
                Checkpoint::read(&**storage, before, identity).map_err(OpenError::from)?,
                from,
            )?;
        }
        store::compact(&**storage, &mut *log, &history, from)?;
    }
    Ok(history.oldest().unwrap_or(0).max(oldest))
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

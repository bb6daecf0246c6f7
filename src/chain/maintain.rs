//! What is done to a chain in a directory while no node runs on it.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::Arc,
};

use super::{
    OpenError,
    recover::{newest_checkpoint, state_after},
};
use crate::{
    block::Block,
    log::{AppendError, BlockLog, ChainIdentity, Durability, Entry, LocalLog, LogError, Storage, Stored},
    store::{self, ChainFile, Checkpoint, History, Repaired, checkpoints},
};

/// The least number of blocks that compacting leaves: those that `BLOCKHASH` reaches.
const LEAST_KEPT: u64 = 256;

/// What was found in a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The first block whose outcome was checked.
    pub first: u64,
    /// The newest block.
    pub last: u64,
    /// Entries of the log that were checked, those that count no more among them.
    pub entries: u64,
    /// Transactions in blocks that count.
    pub transactions: u64,
    /// Accounts after the newest block.
    pub accounts: u64,
    /// Checkpoints that were checked.
    pub checkpoints: u64,
}

/// Something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum MaintainError {
    /// The chain cannot be opened, or is not in order.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is none.
    #[error("{0}: there is no chain")]
    Empty(String),
    /// The system refused.
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

/// A chain in a directory.
struct Opened {
    identity: ChainIdentity,
    log: LocalLog,
    history: Arc<History>,
}

fn opened(storage: &Arc<dyn Storage>) -> Result<Opened, MaintainError> {
    let file = ChainFile::load(&**storage).map_err(OpenError::from)?;
    let identity = file.ok_or_else(|| MaintainError::Empty(storage.describe("")))?.identity();
    let begin_at = checkpoints(&**storage)?.first().copied().unwrap_or(0);
    let log = LocalLog::open(storage.clone(), identity, Durability::Fsync, begin_at)?;
    let history = History::open(storage.clone(), log.reader(), identity)?;
    Ok(Opened { identity, log, history })
}

impl Opened {
    /// Applies what the log has after a checkpoint. `seen` is shown each entry that counts and what came out.
    fn walk(
        &self,
        from: Checkpoint,
        mut seen: impl FnMut(u64, &Entry, &Checkpoint) -> Result<(), String>,
    ) -> Result<Checkpoint, MaintainError> {
        let mut at = from;
        for stored in self.log.stream(at.height)? {
            let stored: Stored = stored?;
            let height = stored.location.height;
            let wrong = |what| OpenError::Entry { height, what };
            at.height = height + 1;
            if self.history.is_void(height) {
                continue;
            }
            let entry = stored.entry()?;
            at.state = state_after(&at.block, &at.state, &entry).map_err(wrong)?;
            match &entry {
                Entry::Block { block, shift, .. } => (at.block, at.shift) = (block.clone(), *shift),
                Entry::Time(shift) | Entry::Revert { shift, .. } => at.shift = *shift,
                Entry::Edit { parameters, .. } => {
                    if let Some(parameters) = parameters {
                        at.parameters = parameters.clone();
                    }
                }
            }
            seen(height, &entry, &at).map_err(wrong)?;
        }
        Ok(at)
    }
}

/// Checks everything there is: every record, every block against its header, every state root, every checkpoint.
pub fn verify(storage: &Arc<dyn Storage>) -> Result<Report, MaintainError> {
    let chain = opened(storage)?;
    let mut roots = BTreeMap::new();
    let mut oldest = None;
    for height in checkpoints(&**storage)? {
        let checkpoint = Checkpoint::read(&**storage, height, chain.identity).map_err(OpenError::from)?;
        roots.insert(height, (checkpoint.block.hash, checkpoint.state.root()));
        oldest.get_or_insert(checkpoint);
    }
    let oldest = oldest.ok_or_else(|| MaintainError::Empty(storage.describe("")))?;
    let mut report = Report { first: oldest.block.number() + 1, checkpoints: roots.len() as u64, ..Report::default() };
    let start = oldest.height;
    let end = chain.walk(oldest, |_, entry, now| {
        if let Entry::Block { block, .. } = entry {
            block.verify().map_err(|field| format!("block {}: {field} does not fit", block.number()))?;
            report.transactions += block.transactions.len() as u64;
        }
        match roots.get(&now.height).filter(|known| **known != (now.block.hash, now.state.root())) {
            Some(_) => Err(format!("the checkpoint at {} is of another state", now.height)),
            None => Ok(()),
        }
    })?;
    report.entries = end.height - start;
    (report.last, report.accounts) = (end.block.number(), end.state.len() as u64);
    Ok(report)
}

/// Gives up what follows the first damaged entry of the log. None if there is no such entry.
pub fn repair(storage: &Arc<dyn Storage>) -> Result<Option<Repaired>, MaintainError> {
    let file = ChainFile::load(&**storage).map_err(OpenError::from)?;
    let identity = file.ok_or_else(|| MaintainError::Empty(storage.describe("")))?.identity();
    Ok(store::repair(&**storage, identity)?)
}

/// Lets go of all blocks but the newest `keep`, and of none after `last`. Returns the oldest that is left.
pub fn compact(storage: &Arc<dyn Storage>, keep: u64, last: Option<u64>) -> Result<u64, MaintainError> {
    let chain = opened(storage)?;
    let newest = newest_checkpoint(&**storage, chain.identity, &chain.history, chain.log.end())?;
    let before = newest.height;
    let end = chain.walk(newest, |_, _, _| Ok(()))?;
    if end.height > before {
        end.write(&**storage, chain.identity)?;
    }
    let oldest = (end.block.number() + 1).saturating_sub(keep.max(LEAST_KEPT));
    let oldest = last.map_or(oldest, |last| oldest.min(last.saturating_add(1)));
    let from = chain.history.height_of(oldest).unwrap_or(0);
    if from > 0 {
        store::compact(&**storage, chain.identity, from)?;
    }
    Ok(chain.history.oldest().unwrap_or(0).max(oldest))
}

/// Writes all blocks after the first one as other clients exchange them: concatenated RLP. Returns how many.
pub fn export_blocks(storage: &Arc<dyn Storage>, out: &mut dyn Write) -> Result<u64, MaintainError> {
    let chain = opened(storage)?;
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

//! The record of what the writer does, made before anybody sees it.

use std::{io, sync::Arc};

use crate::{
    block::Submission,
    chain::Head,
    log::{AppendError, BlockLog, ChainIdentity, Entry, LogError, Parameters, ReadLog, Shift, Stream},
    storage::Storage,
    store::{Checkpoint, DataDir, History, Keeper, KeptTransaction, PoolFile},
};

/// The log, and what is kept up to date with it. Knows nothing of how blocks come about.
pub struct Journal {
    log: Box<dyn BlockLog>,
    reader: Arc<dyn ReadLog>,
    /// Entries that were taken in: by this writer, or from others.
    height: u64,
    /// Entries that the published head includes: fewer only where a change of several entries was interrupted.
    published: u64,
    kept: Option<KeptFiles>,
    /// Why nothing more can be recorded.
    given_up: Option<String>,
    /// Held as long as anything is written.
    _directory: Option<DataDir>,
}

/// What is kept beside the log of a chain with a data directory.
struct KeptFiles {
    storage: Arc<dyn Storage>,
    identity: ChainIdentity,
    history: Arc<History>,
    keeper: Keeper,
    pool: PoolFile,
    /// Number of the block of the checkpoint that the chain was opened with, and the entries which that includes.
    base: (u64, u64),
    /// Bytes of the log that the keeper has counted.
    counted: u64,
}

/// What a [`Journal`] is made of when the chain is in a directory.
pub(in crate::chain) struct JournalParts {
    pub(in crate::chain) storage: Arc<dyn Storage>,
    pub(in crate::chain) identity: ChainIdentity,
    pub(in crate::chain) history: Arc<History>,
    pub(in crate::chain) keeper: Keeper,
    pub(in crate::chain) base: (u64, u64),
    pub(in crate::chain) directory: Option<DataDir>,
}

impl Journal {
    /// A journal of nothing but a log.
    pub fn new(log: Box<dyn BlockLog>) -> Self {
        let (reader, height) = (log.reader(), log.end());
        Self { log, reader, height, published: height, kept: None, given_up: None, _directory: None }
    }

    pub(in crate::chain) fn with_parts(
        log: Box<dyn BlockLog>,
        parts: JournalParts,
        waiting: &[Submission],
    ) -> io::Result<Self> {
        let kept = |waiting: &Submission| KeptTransaction {
            transaction: Arc::new(waiting.transaction.clone()),
            sidecar: waiting.sidecar.clone(),
        };
        let waiting: Vec<_> = waiting.iter().map(kept).collect();
        let JournalParts { storage, identity, history, keeper, base, directory } = parts;
        let pool = PoolFile::create(storage.clone(), identity, &waiting)?;
        let counted = log.written();
        let kept = KeptFiles { storage, identity, history, keeper, pool, base, counted };
        Ok(Self { kept: Some(kept), _directory: directory, ..Self::new(log) })
    }

    /// Blocks that memory no longer holds.
    pub(in crate::chain) fn history(&self) -> Option<Arc<History>> {
        self.kept.as_ref().map(|kept| kept.history.clone())
    }

    /// Whether transactions that wait are kept.
    pub(in crate::chain) fn keeps_pool(&self) -> bool {
        self.kept.is_some()
    }

    /// The height that the next entry gets.
    pub fn height(&self) -> u64 {
        self.height
    }

    /// Appends an entry to the log. When this returns it is as durable as was asked for. A conflict means that the log has
    /// [unseen](Self::unseen) entries of another writer.
    pub fn record(&mut self, entry: &Entry) -> Result<(), AppendError> {
        if let Some(reason) = self.given_up.clone() {
            return Err(AppendError::Unknown { file: "log".to_owned(), reason });
        }
        let before = self.log.written();
        self.log.append(self.height, entry)?;
        self.took_in(self.height, entry, self.log.written() - before);
        Ok(())
    }

    /// Counts an entry that was appended or read, and whose encoding has so many bytes, unless it was counted before.
    pub(super) fn took_in(&mut self, height: u64, entry: &Entry, bytes: u64) {
        if height == self.height {
            if let Some(kept) = &self.kept {
                kept.history.insert(entry, bytes);
            }
            self.height += 1;
        }
        self.published = height + 1;
    }

    /// Notes that the published head includes no more than so many entries.
    pub(super) fn withhold(&mut self, published: u64) {
        self.published = published;
    }

    /// The entries that the published head does not include.
    pub(super) fn unseen(&self) -> Result<Stream, LogError> {
        self.reader.stream(self.published)
    }

    /// The entries from one height up to another.
    pub(super) fn between(&self, from: u64, to: u64) -> Result<Stream, LogError> {
        Ok(Box::new(self.reader.stream(from)?.take(to.saturating_sub(from) as usize)))
    }

    /// A reader of the log.
    pub(super) fn reader(&self) -> &dyn ReadLog {
        &*self.reader
    }

    /// The files beside the log, the chain that they belong to, and the index of the log.
    pub(super) fn kept(&self) -> Option<(&Arc<dyn Storage>, ChainIdentity, &Arc<History>)> {
        self.kept.as_ref().map(|kept| (&kept.storage, kept.identity, &kept.history))
    }

    /// Whether an entry was refused for lack of room, and it is not known yet that there is room again.
    pub(super) fn is_obstructed(&self) -> bool {
        self.given_up.is_some() || self.log.is_obstructed()
    }

    /// Checks whether an entry as large as one that was refused could be recorded now.
    pub(super) fn probe(&mut self) -> Result<(), AppendError> {
        match self.given_up.clone() {
            Some(reason) => Err(AppendError::Unknown { file: "log".to_owned(), reason }),
            None => self.log.probe(),
        }
    }

    /// Lets nothing more be recorded.
    pub(super) fn give_up(&mut self, reason: String) {
        self.given_up = Some(reason);
    }

    /// Entries that the log had when the block with this number was the newest; none if that is not known. Never fewer
    /// than the checkpoint includes that the chain was opened with: of its block no other state is held than its own, and
    /// nothing may go back to before the oldest checkpoint.
    pub(super) fn height_after(&self, number: u64) -> Option<u64> {
        let KeptFiles { history, base, .. } = self.kept.as_ref()?;
        if base.0 == number {
            return Some(base.1);
        }
        history.height_of(number).map(|height| height + 1)
    }

    /// Offers a checkpoint of `head`, which includes everything that was recorded.
    pub(in crate::chain) fn settled(&mut self, head: &Head, shift: Shift) {
        let (height, written) = (self.height, self.log.written());
        let Some(kept) = &mut self.kept else { return };
        kept.keeper.appended(written - kept.counted);
        kept.counted = written;
        kept.keeper.offer(|| Checkpoint {
            height,
            shift,
            genesis: head.genesis.clone(),
            block: head.block.clone(),
            state: head.state.clone(),
            parameters: Parameters::of(head),
        });
    }

    /// Writes down transactions that wait.
    pub(in crate::chain) fn keep(&mut self, transactions: &[KeptTransaction]) -> io::Result<()> {
        self.kept.as_mut().map_or(Ok(()), |kept| kept.pool.append(transactions))
    }

    /// Writes the file of transactions that wait anew, if it is worth it or `anyway`, with those that still do.
    pub(super) fn tidy_pool(&mut self, anyway: bool, waiting: impl FnOnce() -> Vec<KeptTransaction>) {
        let Some(kept) = self.kept.as_mut() else { return };
        if !(kept.pool.has_grown() || (anyway && kept.pool.has_any())) {
            return;
        }
        if let Err(error) = kept.pool.rewrite(&waiting()) {
            tracing::error!(%error, "could not write the transactions that wait for a block");
        }
    }

    /// Finishes what is under way.
    pub(in crate::chain) fn close(mut self) {
        if let Err(error) = self.log.sync() {
            tracing::error!(%error, "could not write the end of the log");
        }
        if let Some(kept) = self.kept {
            kept.keeper.stop();
            kept.history.finish();
        }
    }
}

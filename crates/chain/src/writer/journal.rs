//! The writer's access to the log and to the files beside it. Changes are recorded before they are
//! published.

use std::{io, sync::Arc};

use tetrad_primitives::block::Submission;
use tetrad_stdx::codec::Writer;
use tetrad_store::{
    log::{
        AppendError, BlockLog, ChainIdentity, DecodedEntries, EditableParams, EntryStream,
        LogEntry, LogError, ReadLog, RequestPart, TimeShift, decode_ahead,
    },
    storage::Storage,
    store::{
        Checkpoint, CheckpointWriter, DataDir, DiskHistory, PendingTransaction, PoolFile, Standing,
        checkpoints,
    },
};

use super::requests::Requests;
use crate::Head;

/// Number of newest entries in which requests are searched for after a start.
const SEARCHED: u64 = 1_024;

/// How far a writer follows the entries of other writers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FollowTo {
    /// To the end of the log at the time of the call.
    LogEnd,
    /// To the last entry that has arrived.
    Arrived,
}

/// The log, with the files that are kept up to date with it. Knows nothing about sealing blocks.
pub struct Journal {
    log: Box<dyn BlockLog>,
    reader: Arc<dyn ReadLog>,
    /// Number of entries that this writer has appended or read.
    height: u64,
    /// Number of entries that the published head includes. Less than `height` only after a change
    /// of several entries was interrupted.
    published: u64,
    files: Option<JournalFiles>,
    /// The reason why nothing more can be recorded.
    refusal: Option<String>,
    /// The latest requests in the log, once they are needed.
    requests: Option<Requests>,
    scratch: Writer,
    /// The lock of the directory, held as long as anything is written.
    _directory: Option<DataDir>,
}

/// The files beside the log of a chain with a data directory.
struct JournalFiles {
    storage: Arc<dyn Storage>,
    history: Arc<DiskHistory>,
    checkpoint_writer: CheckpointWriter,
    pool: PoolFile,
    /// Bytes of the log that were reported to the checkpoint writer.
    counted: u64,
}

impl JournalFiles {
    /// The error of an operation on the directory.
    fn failed(&self, source: io::Error) -> LogError {
        LogError::Io {
            file: self.storage.describe(""),
            source,
        }
    }
}

/// The parts of a [`Journal`] beside its log, for a chain with a data directory.
pub(crate) struct JournalParts {
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) identity: ChainIdentity,
    pub(crate) history: Arc<DiskHistory>,
    pub(crate) checkpoint_writer: CheckpointWriter,
    pub(crate) directory: Option<DataDir>,
}

impl Journal {
    /// Returns a journal with a log and no other files.
    pub fn new(log: Box<dyn BlockLog>) -> Self {
        let reader = log.reader();
        let height = log.end();

        Self {
            log,
            reader,
            height,
            published: height,
            files: None,
            refusal: None,
            requests: None,
            scratch: Writer::default(),
            _directory: None,
        }
    }

    pub(crate) fn with_parts(
        log: Box<dyn BlockLog>,
        parts: JournalParts,
        waiting: &[Submission],
    ) -> io::Result<Self> {
        let waiting: Vec<_> = waiting
            .iter()
            .map(|waiting| PendingTransaction {
                transaction: Arc::new(waiting.transaction.clone()),
                sidecar: waiting.sidecar.clone(),
            })
            .collect();

        let JournalParts {
            storage,
            identity,
            history,
            checkpoint_writer,
            directory,
        } = parts;
        let pool = PoolFile::create(storage.clone(), identity, &waiting)?;
        let counted = log.written();
        let files = JournalFiles {
            storage,
            history,
            checkpoint_writer,
            pool,
            counted,
        };

        Ok(Self {
            files: Some(files),
            _directory: directory,
            ..Self::new(log)
        })
    }

    /// Returns the index of the log, through which older blocks are read.
    pub(crate) fn history(&self) -> Option<Arc<DiskHistory>> {
        self.files.as_ref().map(|files| files.history.clone())
    }

    /// Returns whether pending transactions are stored on disk.
    pub(crate) fn stores_pool(&self) -> bool {
        self.files.is_some()
    }

    /// Returns the height of the next entry.
    pub fn height(&self) -> u64 {
        self.height
    }

    /// Appends an entry to the log, which may be a part of a request. When this returns, the entry
    /// is as durable as configured. A conflict means that the log has entries of another writer.
    pub fn record(
        &mut self,
        entry: &LogEntry,
        part: Option<RequestPart>,
    ) -> Result<(), AppendError> {
        if let Some(reason) = self.refusal.clone() {
            return Err(AppendError::Unknown {
                file: "log".to_owned(),
                reason,
            });
        }

        // After an interrupted change of several entries the log leads elsewhere than to the
        // published head.
        if self.published < self.height {
            return Err(AppendError::Conflict {
                expected: self.published,
                end: self.height,
            });
        }

        self.scratch.clear();
        part.iter().for_each(|part| part.write(&mut self.scratch));
        entry.write(&mut self.scratch);
        self.log.append(self.height, self.scratch.bytes())?;
        self.include(self.height, part, entry, self.scratch.len() as u64);
        Ok(())
    }

    /// Returns the latest requests in the log.
    pub(super) fn requests(&mut self) -> Result<&Requests, LogError> {
        let requests = match self.requests.take() {
            Some(requests) => requests,
            None => {
                let from = self
                    .height
                    .saturating_sub(SEARCHED)
                    .max(self.reader.heights().start);
                let mut requests = Requests::default();
                for stored in self.between(from, self.height)? {
                    requests.note_stored(&stored?)?;
                }
                requests
            }
        };
        Ok(self.requests.insert(requests))
    }

    /// Indexes an entry that was appended or read, unless it is already indexed. `bytes` is the
    /// length of its encoding.
    pub(super) fn include(
        &mut self,
        height: u64,
        part: Option<RequestPart>,
        entry: &LogEntry,
        bytes: u64,
    ) {
        // After an interrupted change the same entries are read again.
        if height == self.height {
            if let Some(requests) = &mut self.requests {
                requests.note(height, part, entry);
            }
            if let Some(files) = &self.files {
                files.history.insert(entry, bytes);
            }
            self.height += 1;
        }

        self.published = height + 1;
    }

    /// Sets the number of entries that the published head includes, after a change was interrupted.
    pub(super) fn set_published(&mut self, published: u64) {
        self.published = published;
    }

    /// Streams the next entries that the published head does not include, at most `most`.
    pub(super) fn unseen(&mut self, to: FollowTo, most: u64) -> Result<DecodedEntries, LogError> {
        // From here on requests are noted, however many other entries come before this node leads.
        self.requests()?;

        match to {
            FollowTo::LogEnd => self.log.catch_up()?,
            FollowTo::Arrived => self.log.receive()?,
        }

        let count = self.log.end().saturating_sub(self.published).min(most);
        decode_ahead(
            Box::new(self.reader.stream(self.published)?.take(count as usize)),
            count,
        )
    }

    /// Returns the number of entries that the published head includes.
    pub(super) fn published(&self) -> u64 {
        self.published
    }

    /// Streams the entries from height `from` up to, but not including, `to`.
    pub(super) fn between(&self, from: u64, to: u64) -> Result<EntryStream, LogError> {
        Ok(Box::new(
            self.reader
                .stream(from)?
                .take(to.saturating_sub(from) as usize),
        ))
    }

    /// Returns a reader of the log.
    pub(super) fn reader(&self) -> &dyn ReadLog {
        &*self.reader
    }

    /// Returns whether the last append failed for lack of space and no probe has succeeded since.
    pub(super) fn is_obstructed(&self) -> bool {
        self.refusal.is_some() || self.log.is_obstructed()
    }

    /// Checks whether an entry as large as the refused one could be recorded now.
    pub(super) fn probe(&mut self) -> Result<(), AppendError> {
        match self.refusal.clone() {
            Some(reason) => Err(AppendError::Unknown {
                file: "log".to_owned(),
                reason,
            }),
            None => self.log.probe(),
        }
    }

    /// Refuses all further entries.
    pub(super) fn refuse_further(&mut self, reason: String) {
        self.refusal = Some(reason);
    }

    /// Returns the log height at which `head` had the state that it holds of the block with this
    /// number, or `None` if it is unknown. That is where the block became the newest, but not below
    /// the checkpoint from which the chain was replayed: a revert must not go beyond the oldest
    /// checkpoint.
    pub(super) fn height_after(&self, head: &Head, number: u64) -> Option<u64> {
        let history = &self.files.as_ref()?.history;
        head.base_height(number)
            .or_else(|| history.height_of(number).map(|height| height + 1))
    }

    /// Returns whether the chain can be replayed from a checkpoint as it was when the log had `end`
    /// entries.
    pub(super) fn has_checkpoint_below(&self, end: u64) -> Result<bool, LogError> {
        let Some(files) = &self.files else {
            return Ok(false);
        };
        Ok(files
            .history
            .base_below(end)
            .map_err(|source| files.failed(source))?
            .is_some())
    }

    /// Returns whether there is a checkpoint after the entry at a height.
    pub(super) fn has_checkpoint_after(&self, height: u64) -> Result<bool, LogError> {
        let Some(files) = &self.files else {
            return Ok(false);
        };
        let heights = checkpoints(&*files.storage).map_err(|source| files.failed(source))?;
        Ok(heights.last().is_some_and(|newest| *newest > height))
    }

    /// Has the next head that is [offered](Self::offer_checkpoint) written as a checkpoint.
    pub(super) fn demand_checkpoint(&mut self) {
        if let Some(files) = &mut self.files {
            files.checkpoint_writer.demand();
        }
    }

    /// Returns the height of the oldest checkpoint from which the present chain can be replayed. A
    /// revert must not go beyond it.
    pub(super) fn oldest_base(&self) -> io::Result<Option<u64>> {
        let Some(files) = &self.files else {
            return Ok(None);
        };
        Ok(files.history.bases()?.first().copied())
    }

    /// Removes the entries from height `end` on, which are not those of a replicated log, and what
    /// was derived from them.
    pub(super) fn truncate(&mut self, end: u64) -> Result<Vec<String>, LogError> {
        let mut aside = Vec::new();
        if let Some(files) = &mut self.files {
            // Before the log: at no time is there a checkpoint beyond its end.
            let checkpoints = files.checkpoint_writer.truncate(end);
            aside.extend(checkpoints.map_err(|source| files.failed(source))?);
        }
        aside.extend(self.log.truncate(end)?);
        if let Some(files) = &self.files {
            files.history.truncate(end)?;
        }

        self.height = end;
        self.published = end;
        self.requests = None;
        Ok(aside)
    }

    /// Offers a checkpoint of `head`, which includes all recorded entries, to the checkpoint
    /// writer.
    pub(crate) fn offer_checkpoint(
        &mut self,
        head: &Head,
        shift: TimeShift,
        standing: impl FnOnce() -> Standing,
    ) {
        if self.published != self.height {
            // The log leads elsewhere than to this head.
            return;
        }

        let height = self.height;
        let written = self.log.written();
        let Some(files) = &mut self.files else { return };

        files.checkpoint_writer.appended(written - files.counted);
        files.counted = written;

        files.checkpoint_writer.offer(|| Checkpoint {
            height,
            shift,
            genesis: head.genesis.clone(),
            block: head.block.clone(),
            state: head.state.clone(),
            parameters: EditableParams::from(head),
            standing: standing(),
        });
    }

    /// Stores pending transactions on disk.
    pub(crate) fn store_pending(&mut self, transactions: &[PendingTransaction]) -> io::Result<()> {
        self.files
            .as_mut()
            .map_or(Ok(()), |files| files.pool.append(transactions))
    }

    /// Rewrites the file of pending transactions, if it has grown or `anyway`, with the `waiting`
    /// ones.
    pub(super) fn tidy_pool(
        &mut self,
        anyway: bool,
        waiting: impl FnOnce() -> Vec<PendingTransaction>,
    ) {
        let Some(files) = self.files.as_mut() else {
            return;
        };
        if !(files.pool.has_grown() || (anyway && files.pool.has_any())) {
            return;
        }

        if let Err(error) = files.pool.rewrite(&waiting()) {
            tracing::error!(%error, "failed to write the pending transactions to disk");
        }
    }

    /// Syncs the log and finishes background work.
    pub(crate) fn close(mut self) {
        if let Err(error) = self.log.sync() {
            tracing::error!(%error, "failed to sync the log");
        }
        if let Some(files) = self.files {
            files.checkpoint_writer.stop();
            files.history.finish();
        }
    }
}

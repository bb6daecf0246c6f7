//! Writing checkpoints in the background, and removing those that are no longer needed.

use std::{
    io,
    sync::{
        Arc,
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread,
};

use super::{Checkpoint, History, checkpoint, checkpoints};
use crate::{
    log::{ChainIdentity, ReadLog},
    storage::Storage,
};

/// Number of newest checkpoints that are kept, in addition to the oldest, on which reading all older states depends.
const KEPT: usize = 2;

/// A thread that writes one checkpoint at a time.
pub struct CheckpointWriter {
    work: Option<SyncSender<Box<Checkpoint>>>,
    thread: Option<thread::JoinHandle<()>>,
    growth: u64,
    /// Approximate size of the log up to the newest checkpoint, in bytes.
    covered: u64,
    appended: u64,
}

impl CheckpointWriter {
    /// Starts the thread, which writes a checkpoint whenever the log has grown by `growth` bytes. `behind` is the
    /// approximate size of the log after the newest checkpoint, in bytes.
    pub fn start(
        storage: Arc<dyn Storage>,
        identity: ChainIdentity,
        log: Arc<dyn ReadLog>,
        history: Arc<History>,
        growth: u64,
        behind: u64,
    ) -> io::Result<Self> {
        let (work, snapshots) = sync_channel::<Box<Checkpoint>>(0);
        let thread = thread::Builder::new().name("checkpoints".to_owned()).spawn(move || {
            for snapshot in snapshots {
                if let Err(error) = write(&*storage, identity, &*log, &history, &snapshot) {
                    tracing::error!(%error, "failed to write a checkpoint; the next start takes longer");
                }
            }
        })?;
        Ok(Self { work: Some(work), thread: Some(thread), growth, covered: 0, appended: behind })
    }

    /// Counts bytes that were appended to the log.
    pub fn appended(&mut self, bytes: u64) {
        self.appended += bytes;
    }

    /// Writes a checkpoint of `snapshot` if one is due and the last one is finished. Never waits.
    pub fn offer(&mut self, snapshot: impl FnOnce() -> Checkpoint) {
        if self.appended - self.covered < self.growth {
            return;
        }
        match self.work.as_ref().map(|work| work.try_send(Box::new(snapshot()))) {
            // The thread is busy: retries after some growth of the log.
            Some(Err(TrySendError::Full(_))) => self.covered += self.growth / 8,
            _ => self.covered = self.appended,
        }
    }

    /// Waits until the checkpoint under way is written.
    pub fn stop(mut self) {
        self.work.take();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that writes checkpoints panicked");
        }
    }
}

/// Writes a checkpoint and removes those that are no longer needed.
fn write(
    storage: &dyn Storage,
    identity: ChainIdentity,
    log: &dyn ReadLog,
    history: &History,
    snapshot: &Checkpoint,
) -> io::Result<()> {
    // A checkpoint must not include entries that a power failure could lose.
    log.sync().map_err(io::Error::other)?;
    let bytes = snapshot.write(storage, identity)?;
    tracing::debug!(height = snapshot.height, bytes, "wrote a checkpoint");
    // Checkpoints of reverted entries are never needed.
    let all = checkpoints(storage)?;
    let bases = history.bases()?;
    let is_kept =
        |height: &u64| bases.first() == Some(height) || bases.iter().rev().take(KEPT).any(|kept| kept == height);
    for height in all.into_iter().filter(|height| !is_kept(height)) {
        storage.remove(&checkpoint::name(height))?;
    }
    Ok(())
}

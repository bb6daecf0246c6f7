//! Writes checkpoints in the background, and removes those that are no longer needed.

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

/// Checkpoints that are kept in addition to the oldest, from which every state of the past is read.
const KEPT: usize = 2;
/// A thread that writes one checkpoint at a time.
pub struct Keeper {
    work: Option<SyncSender<Box<Checkpoint>>>,
    thread: Option<thread::JoinHandle<()>>,
    growth: u64,
    /// Bytes of the log up to the newest checkpoint, roughly.
    covered: u64,
    appended: u64,
}

impl Keeper {
    /// Starts the thread, which writes a checkpoint whenever the log has grown by `growth` bytes. `behind` is about how
    /// many bytes of the log no checkpoint covers yet.
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
                    tracing::error!(%error, "could not write a checkpoint; the next start takes longer");
                }
            }
        })?;
        Ok(Self { work: Some(work), thread: Some(thread), growth, covered: 0, appended: behind })
    }

    /// Counts bytes that were appended to the log.
    pub fn appended(&mut self, bytes: u64) {
        self.appended += bytes;
    }

    /// Writes a checkpoint of `snapshot` if one is due and the last is finished. Never waits.
    pub fn offer(&mut self, snapshot: impl FnOnce() -> Checkpoint) {
        if self.appended - self.covered < self.growth {
            return;
        }
        match self.work.as_ref().map(|work| work.try_send(Box::new(snapshot()))) {
            // Still busy: try again after some more bytes.
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
            tracing::error!("the thread that writes checkpoints ended with a panic");
        }
    }
}

/// Writes a checkpoint, then removes others.
fn write(
    storage: &dyn Storage,
    identity: ChainIdentity,
    log: &dyn ReadLog,
    history: &History,
    snapshot: &Checkpoint,
) -> io::Result<()> {
    // A checkpoint must not know of entries that a power failure takes away.
    log.sync().map_err(io::Error::other)?;
    let bytes = snapshot.write(storage, identity)?;
    tracing::debug!(height = snapshot.height, bytes, "wrote a checkpoint");
    // Only those that the log can be followed from are needed, none of what was taken back.
    let all = checkpoints(storage)?;
    let bases = history.bases()?;
    let is_kept =
        |height: &u64| bases.first() == Some(height) || bases.iter().rev().take(KEPT).any(|kept| kept == height);
    for height in all.into_iter().filter(|height| !is_kept(height)) {
        storage.remove(&checkpoint::name(height))?;
    }
    Ok(())
}

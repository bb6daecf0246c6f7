//! Writing checkpoints in the background, and removing those that are no longer needed.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread,
};

use parking_lot::Mutex;

use super::{Checkpoint, DiskHistory, checkpoint, checkpoints};
use crate::{
    log::{ChainIdentity, ReadLog},
    storage::Storage,
};

/// Number of newest checkpoints that are kept, in addition to the oldest, on which reading all
/// older states depends.
const KEPT: usize = 2;
/// Each multiple of this size of a checkpoint, in bytes, demands as many times the growth of the
/// log before the next one, so that a large state is not written many times over for few changes.
const LARGE_CHECKPOINT_BYTES: u64 = 256 << 20;

/// A thread that writes one checkpoint at a time.
pub struct CheckpointWriter {
    storage: Arc<dyn Storage>,
    work: Option<SyncSender<Work>>,
    thread: Option<thread::JoinHandle<()>>,
    /// Growth of the log in bytes after which a checkpoint is due, unless the newest one is large.
    growth: u64,
    /// Size of the newest checkpoint in bytes.
    newest: Arc<AtomicU64>,
    /// Approximate size of the log up to the newest checkpoint, in bytes.
    covered: u64,
    appended: u64,
    /// Whether a checkpoint is due, however much the log has grown.
    is_demanded: bool,
    /// Number of times that the log was truncated. The thread holds the lock while it writes.
    truncations: Arc<Mutex<u64>>,
    /// The same number, as this side knows it without waiting.
    truncated: u64,
}

/// A checkpoint to write, unless the log was truncated since.
struct Work {
    checkpoint: Box<Checkpoint>,
    truncated: u64,
}

impl CheckpointWriter {
    /// Starts the thread, which writes a checkpoint whenever the log has grown by `growth` bytes,
    /// or by a multiple of them if checkpoints are large. `behind` is the approximate size of the
    /// log after the newest checkpoint, in bytes.
    pub fn start(
        storage: Arc<dyn Storage>,
        identity: ChainIdentity,
        log: Arc<dyn ReadLog>,
        history: Arc<DiskHistory>,
        growth: u64,
        behind: u64,
    ) -> io::Result<Self> {
        // Holds nothing: while the thread is busy, no state is retained for it.
        let (work, offered) = sync_channel::<Work>(0);
        let newest = Arc::new(AtomicU64::new(newest_size(&*storage)));
        let written = newest.clone();
        let truncations = Arc::new(Mutex::new(0));
        let directory = storage.clone();
        let truncations_so_far = truncations.clone();

        let thread = thread::Builder::new()
            .name("checkpoints".to_owned())
            .spawn(move || {
                for work in offered {
                    let truncations = truncations_so_far.lock();
                    if work.truncated != *truncations {
                        continue;
                    }
                    match write(&*directory, identity, &*log, &history, &work.checkpoint) {
                        Ok(bytes) => written.store(bytes, Ordering::Relaxed),
                        Err(error) => {
                            tracing::error!(
                                %error,
                                "failed to write a checkpoint; the next start takes longer"
                            );
                        }
                    }
                }
            })?;

        Ok(Self {
            storage,
            work: Some(work),
            thread: Some(thread),
            growth,
            newest,
            covered: 0,
            appended: behind,
            is_demanded: false,
            truncations,
            truncated: 0,
        })
    }

    /// Counts bytes that were appended to the log.
    pub fn appended(&mut self, bytes: u64) {
        self.appended += bytes;
    }

    /// Makes a checkpoint due, however much the log has grown.
    pub fn demand(&mut self) {
        self.is_demanded = true;
    }

    /// Writes a checkpoint of `snapshot` if one is due and the last one is finished. Never waits.
    pub fn offer(&mut self, snapshot: impl FnOnce() -> Checkpoint) {
        let growth = growth_before(self.newest.load(Ordering::Relaxed), self.growth);
        if !self.is_demanded && self.appended - self.covered < growth {
            return;
        }

        let truncated = self.truncated;
        let offered = self.work.as_ref().map(|thread| {
            thread.try_send(Work {
                checkpoint: Box::new(snapshot()),
                truncated,
            })
        });
        match offered {
            // The thread is busy: retries after some growth of the log.
            Some(Err(TrySendError::Full(_))) => self.covered += growth / 8,
            _ => {
                self.covered = self.appended;
                self.is_demanded = false;
            }
        }
    }

    /// Waits until the checkpoint under way is written, and puts those aside that include entries
    /// from height `end` on, which the log is about to lose. Returns their new paths.
    pub fn truncate(&mut self, end: u64) -> io::Result<Vec<String>> {
        let mut truncations = self.truncations.lock();
        *truncations += 1;
        self.truncated = *truncations;

        let aside = checkpoint::put_aside(&*self.storage, end)?;
        self.newest
            .store(newest_size(&*self.storage), Ordering::Relaxed);
        Ok(aside)
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

/// Returns the growth of the log after which the successor of a checkpoint of `size` bytes is due.
fn growth_before(size: u64, growth: u64) -> u64 {
    growth.saturating_mul((size / LARGE_CHECKPOINT_BYTES).max(1))
}

/// Returns the size of the newest checkpoint in bytes, or 0 if there is none, or it cannot be
/// opened: a start may use an older one.
fn newest_size(storage: &dyn Storage) -> u64 {
    let newest = checkpoints(storage)
        .ok()
        .and_then(|heights| heights.last().copied());
    newest
        .and_then(|height| storage.open(&checkpoint::name(height)).ok()?.length().ok())
        .unwrap_or(0)
}

/// Writes a checkpoint, removes those that are no longer needed, and returns its size in bytes.
fn write(
    storage: &dyn Storage,
    identity: ChainIdentity,
    log: &dyn ReadLog,
    history: &DiskHistory,
    snapshot: &Checkpoint,
) -> io::Result<u64> {
    // A checkpoint must not include entries that a power failure could lose.
    log.sync().map_err(io::Error::other)?;
    let bytes = snapshot.write(storage, identity)?;
    tracing::debug!(height = snapshot.height, bytes, "wrote a checkpoint");

    // Checkpoints of reverted entries are never needed.
    let all = checkpoints(storage)?;
    let bases = history.bases()?;
    let kept: Vec<u64> = bases
        .iter()
        .take(1)
        .chain(bases.iter().rev().take(KEPT))
        .copied()
        .collect();
    for height in all.into_iter().filter(|height| !kept.contains(height)) {
        storage.remove(&checkpoint::name(height))?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Directory;

    #[test]
    fn only_files_with_the_names_of_checkpoints_count() {
        let directory = tempfile::tempdir().unwrap();
        let storage = Directory::new(directory.path()).unwrap();
        assert_eq!(newest_size(&storage), 0);

        storage
            .create(&checkpoint::name(7))
            .unwrap()
            .write_at(b"checkpoint", 0)
            .unwrap();

        assert_eq!(newest_size(&storage), 10);
        std::fs::write(directory.path().join("checkpoint-8"), "of another program").unwrap();

        assert_eq!(newest_size(&storage), 10);

        std::fs::create_dir(directory.path().join(checkpoint::name(9))).unwrap();
        assert_eq!(newest_size(&storage), 10);
    }

    #[test]
    fn checkpoints_become_rarer_as_they_become_larger() {
        assert_eq!(growth_before(0, 32 << 20), 32 << 20);
        assert_eq!(
            growth_before(2 * LARGE_CHECKPOINT_BYTES - 1, 32 << 20),
            32 << 20
        );

        for large in [2, 40] {
            let bytes_per_byte_of_log = (large * LARGE_CHECKPOINT_BYTES)
                / growth_before(large * LARGE_CHECKPOINT_BYTES, 32 << 20);
            assert_eq!(bytes_per_byte_of_log, 8);
        }

        assert_eq!(growth_before(u64::MAX, u64::MAX), u64::MAX);
    }
}

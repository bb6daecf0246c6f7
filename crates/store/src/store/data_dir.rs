//! The data directory of a chain, locked by one process at a time.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use super::{LOCK, unfinished};
use crate::storage::{Directory, Storage};

/// The number of retries of the lock, and the pause between them: the previous holder may be
/// exiting, and a child process that it is just starting holds the lock until it executes its
/// program.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// A locked data directory. Dropping it releases the lock.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    storage: Directory,
    /// The lock file, open and locked.
    _lock: File,
}

/// The reason why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// A file operation failed.
    #[error("--data-dir {path}: {source}")]
    Io {
        /// The directory.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// Another process holds the lock.
    #[error("--data-dir {path}: in use by another process{holder}")]
    InUse {
        /// The directory.
        path: String,
        /// The process, if it is known.
        holder: String,
    },
    /// A copy into the directory was interrupted.
    #[error("--data-dir {path}: {what}")]
    Unfinished {
        /// The directory.
        path: String,
        /// The interrupted command and the remedy.
        what: String,
    },
}

impl DataDir {
    /// Locks the directory and creates it if it does not exist. Rejects a directory with an
    /// interrupted copy.
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
        let own = Self::locked(path)?;
        match unfinished::interrupted(&own.storage).map_err(|source| own.failed(source))? {
            Some(what) => Err(DataDirError::Unfinished {
                path: path.display().to_string(),
                what,
            }),
            None => Ok(own),
        }
    }

    /// Locks the directory for a command that fills it and that can be repeated after an
    /// interruption. Finishes putting aside the files that an interrupted restore replaces, so that
    /// these can be restored.
    pub fn open_to_fill(path: &Path) -> Result<Self, DataDirError> {
        let own = Self::locked(path)?;
        unfinished::finish_moving(&own.storage).map_err(|source| own.failed(source))?;
        Ok(own)
    }

    fn failed(&self, source: io::Error) -> DataDirError {
        failed(&self.path, source)
    }

    fn locked(path: &Path) -> Result<Self, DataDirError> {
        let storage = Directory::new(path).map_err(|source| failed(path, source))?;
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            // Its content names the process that holds the lock.
            .truncate(false)
            .open(path.join(LOCK))
            .map_err(|source| failed(path, source))?;
        match try_lock(&lock) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(DataDirError::InUse {
                    path: path.display().to_string(),
                    holder: holder(&mut lock),
                });
            }
            Err(TryLockError::Error(error)) => return Err(failed(path, error)),
        }

        // The process id is informative only: a full disk must not prevent reading the chain.
        let _ = note_process_id(&mut lock);
        let own = Self {
            path: path.to_owned(),
            storage,
            _lock: lock,
        };
        if let Err(error) = own.remove_drafts() {
            tracing::warn!(
                %error,
                directory = %path.display(),
                "failed to remove unfinished drafts"
            );
        }
        Ok(own)
    }

    /// Removes drafts, which a killed process was writing. They are not in effect before they are
    /// renamed.
    fn remove_drafts(&self) -> io::Result<()> {
        let names = self.storage.names()?;
        names
            .iter()
            .filter(|name| name.starts_with("draft-"))
            .try_for_each(|name| self.storage.remove(name))
    }

    /// Returns the directory's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory's files.
    pub fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(self.storage.clone())
    }
}

fn failed(path: &Path, source: io::Error) -> DataDirError {
    DataDirError::Io {
        path: path.display().to_string(),
        source,
    }
}

/// Locks a file, and tries again for a while if it is locked.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    let mut attempt = file.try_lock();
    for _ in 0..ATTEMPTS {
        if !matches!(attempt, Err(TryLockError::WouldBlock)) {
            break;
        }
        thread::sleep(PAUSE);
        attempt = file.try_lock();
    }
    attempt
}

/// Returns a description of the process that has noted its id in the lock file, or an empty one.
fn holder(lock: &mut File) -> String {
    let mut id = String::new();
    let known = lock.read_to_string(&mut id).is_ok() && !id.trim().is_empty();
    if known {
        format!(" (process {})", id.trim())
    } else {
        String::new()
    }
}

fn note_process_id(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    writeln!(lock, "{}", std::process::id())
}

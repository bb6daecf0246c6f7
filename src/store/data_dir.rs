//! The directory of a chain, which one process at a time has for itself.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use super::unfinished;
use crate::storage::{Directory, Storage};

/// The file that is locked.
pub(super) const LOCK: &str = "lock";

/// How often, and with which pause, the lock is tried again: whoever had it may be ending, and a program that it starts
/// at that moment holds on to it until it runs.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// A directory that this process has for itself, until it ends or drops this.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    storage: Directory,
    /// Open, and locked, as long as this lives.
    _lock: File,
}

/// A directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// The system refused.
    #[error("--data-dir {path}: {source}")]
    Io {
        /// The directory.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// Another process has it.
    #[error("--data-dir {path}: in use by another process{holder}")]
    InUse {
        /// The directory.
        path: String,
        /// Which one, as far as is known.
        holder: String,
    },
    /// A copy into the directory was interrupted.
    #[error("--data-dir {path}: {what}")]
    Unfinished {
        /// The directory.
        path: String,
        /// What was interrupted, and the remedy.
        what: String,
    },
}

impl DataDir {
    /// Locks the directory, and makes it if it does not exist. Refuses one that a copy into was interrupted.
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
        let own = Self::locked(path)?;
        match unfinished::interrupted(&own.storage).map_err(|source| own.failed(source))? {
            Some(what) => Err(DataDirError::Unfinished { path: path.display().to_string(), what }),
            None => Ok(own),
        }
    }

    /// The same for a command that fills the directory, and can be repeated where it was interrupted. All that an
    /// interrupted restore replaced is in its folder afterwards, and can be restored.
    pub fn open_to_fill(path: &Path) -> Result<Self, DataDirError> {
        let own = Self::locked(path)?;
        unfinished::finish_moving(&own.storage).map_err(|source| own.failed(source))?;
        Ok(own)
    }

    fn failed(&self, source: io::Error) -> DataDirError {
        DataDirError::Io { path: self.path.display().to_string(), source }
    }

    fn locked(path: &Path) -> Result<Self, DataDirError> {
        let failed = |source| DataDirError::Io { path: path.display().to_string(), source };
        let storage = Directory::new(path).map_err(failed)?;
        let file = path.join(LOCK);
        let mut lock =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(file).map_err(failed)?;
        let mut attempt = lock.try_lock();
        for _ in 0..ATTEMPTS {
            if !matches!(attempt, Err(TryLockError::WouldBlock)) {
                break;
            }
            thread::sleep(PAUSE);
            attempt = lock.try_lock();
        }
        match attempt {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut id = String::new();
                let known = lock.read_to_string(&mut id).is_ok() && !id.trim().is_empty();
                let holder = if known { format!(" (process {})", id.trim()) } else { String::new() };
                return Err(DataDirError::InUse { path: path.display().to_string(), holder });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let mut note = || -> io::Result<()> {
            lock.set_len(0)?;
            lock.rewind()?;
            writeln!(lock, "{}", std::process::id())
        };
        // Who has it is a courtesy; a full disk must not keep anybody from reading the chain.
        let _ = note();
        let own = Self { path: path.to_owned(), storage, _lock: lock };
        if let Err(error) = own.remove_drafts() {
            tracing::warn!(%error, directory = %path.display(), "could not remove files that were never finished");
        }
        Ok(own)
    }

    /// Removes files that a process was writing when it was killed. None counts before it has a name of its own.
    fn remove_drafts(&self) -> io::Result<()> {
        let names = self.storage.names()?;
        names.iter().filter(|name| name.starts_with("draft-")).try_for_each(|name| self.storage.remove(name))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files in it.
    pub fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(self.storage.clone())
    }
}

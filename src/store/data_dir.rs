//! The directory of a chain, which one process at a time has for itself.

use std::{
    fs::{File, OpenOptions, TryLockError, create_dir, rename},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use super::chain_file;
use crate::log::{Directory, Storage};

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
}

impl DataDir {
    /// Takes the directory, and makes it if it does not exist.
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
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

    /// Moves all that is in it into a new directory within, from which it can be moved back. Returns which; none if there
    /// was nothing.
    pub(super) fn put_aside(&self) -> io::Result<Option<PathBuf>> {
        let mut names = self.storage.names()?;
        names.retain(|name| name != LOCK);
        if names.is_empty() {
            return Ok(None);
        }
        // Without the file that makes it a chain, nobody takes what is left for one if this is interrupted.
        names.sort_by_key(|name| name != chain_file::NAME);
        let mut numbered = (1_u32..).map(|number| self.path.join(format!("replaced-{number}")));
        let aside = numbered.find(|path| !path.exists()).ok_or(io::ErrorKind::AlreadyExists)?;
        create_dir(&aside)?;
        for name in names {
            rename(self.path.join(&name), aside.join(&name))?;
        }
        Directory::new(&aside)?.sync_names()?;
        self.storage.sync_names()?;
        Ok(Some(aside))
    }

    /// The files in it.
    pub fn storage(&self) -> Arc<dyn Storage> {
        Arc::new(self.storage.clone())
    }
}

//! Follows a directory of artifacts.

use std::{
    collections::{BTreeMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, SystemTime},
};

use super::{
    artifacts::{Artifact, ArtifactSet, read_artifacts},
    known::KnownContracts,
};

/// The interval at which the directory is read again.
const READ_INTERVAL: Duration = Duration::from_secs(1);
/// The interval at which the thread checks whether the node is ending.
const SHUTDOWN_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The most files of the directory, the deepest folder, and the most bytes of a file.
const MAX_FILES: usize = 20_000;
const MAX_DEPTH: usize = 12;
const MAX_FILE: u64 = 256 << 20;

/// Files with their times and lengths.
type Listing = BTreeMap<PathBuf, (SystemTime, u64)>;

/// Lists the JSON files below a folder.
fn list(folder: &Path, depth: usize, found: &mut Listing) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        // A file that goes away meanwhile is not there.
        let Ok(entry) = entry else { continue };
        let path = entry.path();
        let Ok(meta) = entry.metadata() else { continue };

        if meta.is_dir() {
            if depth > 1 {
                let _ = list(&path, depth - 1, found);
            }
        } else if path
            .extension()
            .is_some_and(|extension| extension == "json")
            && meta.len() <= MAX_FILE
            && found.len() < MAX_FILES
        {
            found.insert(
                path,
                (
                    meta.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                    meta.len(),
                ),
            );
        }
    }
    Ok(())
}

/// Follows a directory of artifacts.
pub struct ArtifactWatcher {
    directory: PathBuf,
    known: KnownContracts,
    files: BTreeMap<PathBuf, WatchedFile>,
    is_missing: bool,
}

struct WatchedFile {
    state: (SystemTime, u64),
    artifacts: Vec<Arc<Artifact>>,
}

/// Ends the watcher when it is dropped.
pub struct WatcherGuard(Arc<AtomicBool>);

impl Drop for WatcherGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ArtifactWatcher {
    /// A watcher that has not read the directory yet.
    pub fn new(directory: PathBuf, known: KnownContracts) -> Self {
        Self {
            directory,
            known,
            files: BTreeMap::new(),
            is_missing: false,
        }
    }

    /// Reads the directory, and follows it on a thread until the guard is dropped.
    pub fn start(mut self) -> io::Result<WatcherGuard> {
        let guard_dropped = Arc::new(AtomicBool::new(false));
        let is_dropped = guard_dropped.clone();

        // Once before it returns, so that the first requests know the contracts.
        self.look();
        thread::Builder::new()
            .name("artifacts".to_owned())
            .spawn(move || {
                let checks = READ_INTERVAL.as_millis() / SHUTDOWN_CHECK_INTERVAL.as_millis();
                loop {
                    for _ in 0..checks {
                        if is_dropped.load(Ordering::Relaxed) {
                            return;
                        }
                        thread::sleep(SHUTDOWN_CHECK_INTERVAL);
                    }
                    self.look();
                }
            })?;

        Ok(WatcherGuard(guard_dropped))
    }

    /// Reads what has changed.
    fn look(&mut self) {
        let mut listing = Listing::new();
        match list(&self.directory, MAX_DEPTH, &mut listing) {
            Ok(()) => self.is_missing = false,
            Err(error) => {
                if !self.is_missing {
                    let directory = self.directory.display();
                    tracing::warn!(%error, %directory, "the directory of --artifacts cannot be read; waiting for it");
                }
                self.is_missing = true;
            }
        }

        let gone: HashSet<PathBuf> = self
            .files
            .keys()
            .filter(|path| !listing.contains_key(*path))
            .cloned()
            .collect();
        let mut has_changed = !gone.is_empty();
        self.files.retain(|path, _| !gone.contains(path));

        for (path, state) in listing {
            if self
                .files
                .get(&path)
                .is_some_and(|file| file.state == state)
            {
                continue;
            }
            match read_artifacts(&self.directory, &path) {
                Ok(artifacts) => {
                    // A file without artifacts matters only if it had some.
                    has_changed |= !artifacts.is_empty() || self.files.contains_key(&path);
                    self.files.insert(path, WatchedFile { state, artifacts });
                }
                // It is read again next time.
                Err(error) => {
                    tracing::debug!(%error, path = %path.display(), "an artifact cannot be read yet")
                }
            }
        }

        if has_changed {
            let all = self.files.values().flat_map(|file| &file.artifacts);
            self.known.set_artifacts(ArtifactSet::new(all.cloned()));
        }
    }
}

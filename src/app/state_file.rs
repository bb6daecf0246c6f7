//! State files: the whole chain in a file, from which a node begins, and which it writes at an
//! interval and at its end. Unlike a data directory, a state file has only what was there when it
//! was last written.

use std::{
    fs::{self, File},
    io::{self, BufReader, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tetrad_chain::{Chain, Dump, DumpError, Head, Recovered};
use tetrad_rpc::rpc::read_dump;
use tetrad_stdx::clock::Clock;
use tetrad_store::log::Durability;
use tetrad_web::Shutdown;
use tokio::sync::Mutex;

use super::replaced_file::{check, replace};
use crate::config::{Config, StateFiles};

/// The name of the file in a directory that is given instead of a file.
const NAME: &str = "state.json";

/// The error of reading or writing a state file.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// The file cannot be read.
    #[error("--{0} {1}: {2}")]
    Read(&'static str, String, io::Error),
    /// The file is not a dump.
    #[error("--{0} {1}: {2}")]
    Format(&'static str, String, String),
    /// The dump does not fit together.
    #[error("--{0} {1}: {2}")]
    Dump(&'static str, String, Box<DumpError>),
    /// The file cannot be written.
    #[error("--{0} {1}: cannot write the state: {2}")]
    Write(&'static str, String, io::Error),
}

/// Continues from the configured state file, if there is one. Blocks the thread for a while.
pub(super) fn load(
    recovered: &mut Recovered,
    config: &Config,
    clock: &Arc<dyn Clock>,
) -> Result<(), StateFileError> {
    let StateFiles { both, load, .. } = &config.state_files;
    if let Some(file) = load {
        return load_from(recovered, "load-state", &in_directory(file), config, clock);
    }

    let Some(file) = both.as_deref().map(in_directory) else {
        return Ok(());
    };
    // The first run has nothing to continue from.
    if is_missing(&file) {
        return Ok(());
    }
    load_from(recovered, "state", &file, config, clock)
}

/// Whether there is nothing at a path, not even a link that leads nowhere.
fn is_missing(file: &Path) -> bool {
    fs::symlink_metadata(file).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

fn load_from(
    recovered: &mut Recovered,
    setting: &'static str,
    file: &Path,
    config: &Config,
    clock: &Arc<dyn Clock>,
) -> Result<(), StateFileError> {
    let name = || file.display().to_string();
    let content = File::open(file).map_err(|error| StateFileError::Read(setting, name(), error))?;

    // The machine's memory is the limit.
    let mut dump = read_dump(BufReader::new(content), usize::MAX)
        .map_err(|what| StateFileError::Format(setting, name(), what))?;
    if recovered.head.state.base().is_some() {
        // A whole chain would take the place of the fork.
        dump.keep_for_fork(recovered.head.number());
    }
    let invalid = |error| StateFileError::Dump(setting, name(), Box::new(error));
    let prepared = dump
        .prepare(recovered.head.params.clone(), config.history)
        .map_err(invalid)?;
    recovered.load(prepared, clock.clone()).map_err(invalid)?;

    let chain_id = recovered.head.params.chain_id;
    if chain_id != config.chain_id {
        tracing::warn!(chain_id, "the chain has the id of the state file");
    }
    let head = recovered.head.number();
    tracing::info!(file = name(), head, "loaded the state");
    Ok(())
}

/// The file that a node writes its chain to.
#[derive(Clone, Debug)]
pub(super) struct StateFile {
    /// The setting that names it.
    setting: &'static str,
    path: PathBuf,
    interval: Duration,
    /// An older state must not replace a newer one.
    turn: Arc<Mutex<()>>,
}

impl StateFile {
    /// Returns the configured file, if there is one, which must be writable.
    pub(super) fn of(config: &Config) -> Result<Option<Self>, StateFileError> {
        let StateFiles {
            both,
            dump,
            interval,
            ..
        } = &config.state_files;
        let (setting, path) = match (both, dump) {
            (Some(path), _) => ("state", path),
            (None, Some(path)) => ("dump-state", path),
            (None, None) => return Ok(None),
        };

        let file = Self {
            setting,
            path: in_directory(path),
            interval: *interval,
            turn: Arc::default(),
        };
        check(&file.path).map_err(|error| file.failed(error))?;
        Ok(Some(file))
    }

    fn failed(&self, error: io::Error) -> StateFileError {
        StateFileError::Write(self.setting, self.path.display().to_string(), error)
    }

    /// Writes the chain at each interval in which it has changed, until shutdown begins.
    pub(super) async fn follow(self, chain: Chain, mut shutdown: Shutdown) {
        let mut written = None;
        loop {
            tokio::select! {
                () = tokio::time::sleep(self.interval) => {}
                () = shutdown.begun() => return,
            }

            let _turn = self.turn.lock().await;
            let Ok((head, ahead)) = chain.present().await else {
                return;
            };
            let state = (head.version(), ahead);
            if written == Some(state) {
                continue;
            }
            match self.write(head, ahead).await {
                Ok(()) => written = Some(state),
                // The next interval tries again.
                Err(error) => tracing::error!(%error, "the state file stays as it was"),
            }
        }
    }

    /// Writes a chain whose writer has ended.
    pub(super) async fn write_last(&self, chain: &Chain) -> Result<(), StateFileError> {
        let _turn = self.turn.lock().await;
        let (head, ahead) = chain.at_rest();
        self.write(head, ahead).await
    }

    /// Writes a chain, whose time is so many seconds ahead of the clock.
    async fn write(&self, head: Arc<Head>, ahead: i64) -> Result<(), StateFileError> {
        let path = self.path.clone();
        let written = tokio::task::spawn_blocking(move || {
            replace(&path, Durability::Fsync, |file| {
                Dump::write(&head, ahead, file)
            })
        });
        written
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
            .map_err(|error| self.failed(error))
    }
}

/// Returns the file that a path means, which may be a directory.
fn in_directory(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join(NAME)
    } else {
        path.to_owned()
    }
}

//! `tetrad chain`: maintains a data directory while no node runs on it.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, Subcommand};
use tetrad_chain::{MaintainError, canonical_blocks, compact, export_blocks, repair, verify};
use tetrad_exchange as exchange;
use tetrad_explorer::index::{self, IndexError};
use tetrad_store::{
    log::{Durability, LocalLogs},
    storage::{Directory, Storage},
    store::{ArchiveError, ChainStore, DataDir, DataDirError, backup, export, import, restore},
};

/// Arguments of `tetrad chain`.
#[derive(Debug, Args)]
pub struct ChainArgs {
    /// The data directory.
    #[arg(long, value_name = "DIR", env = "TETRAD_DATA_DIR")]
    data_dir: PathBuf,
    #[command(subcommand)]
    command: ChainCommand,
}

#[derive(Debug, Subcommand)]
enum ChainCommand {
    /// Write the whole chain to one file (- for standard output), for `chain import`.
    Export {
        /// The file.
        file: PathBuf,
        /// Write blocks only, as concatenated RLP, for other clients and for --import.
        #[arg(long)]
        rlp: bool,
    },
    /// Import a chain from a file of `chain export` (- for standard input) into an empty data
    /// directory.
    Import {
        /// The file.
        file: PathBuf,
    },
    /// Check every record, block, state root and checkpoint.
    Verify,
    /// Truncate the log before its first damaged or invalid entry, and move the rest aside.
    Repair,
    /// Delete old blocks.
    Compact {
        /// Number of newest blocks to keep; at least 256.
        #[arg(long, value_name = "N", default_value_t = 10_000)]
        keep: u64,
    },
    /// Copy the data directory; a node may be running on it.
    Backup {
        /// Target directory, empty or not existing.
        target: PathBuf,
    },
    /// Restore the data directory from a backup, which is verified first; what was in it is moved
    /// aside.
    Restore {
        /// Directory of the backup.
        backup: PathBuf,
    },
}

/// The error of a command on a data directory.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The chain in the directory is damaged.
    #[error(transparent)]
    Maintain(#[from] MaintainError),
    /// The chain could not be written to or read from a file.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The index of addresses is damaged, or differs from the chain.
    #[error("{0}; delete the file to have it built again")]
    Index(#[from] IndexError),
    /// A system call failed.
    #[error("{0}: {1}")]
    Io(String, io::Error),
}

impl ChainArgs {
    /// Runs the command and prints its result to `out`.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let result = match &self.command {
            ChainCommand::Backup { target } => self.backup(target)?,
            ChainCommand::Restore { backup } => self.restore(backup)?,
            ChainCommand::Import { file } => self.import(file)?,
            ChainCommand::Export { file, rlp } => {
                self.on_existing(|chain| self.export(chain, file, *rlp))?
            }
            ChainCommand::Compact { keep } => {
                self.on_existing(|chain| Self::compact(chain, *keep))?
            }
            ChainCommand::Repair => self.on_existing(Self::repair)?,
            ChainCommand::Verify => self.on_existing(|chain| self.verify(chain))?,
        };

        if !result.is_empty() {
            writeln!(out, "{result}")
                .map_err(|error| Error::Io("standard output".to_owned(), error))?;
        }
        Ok(())
    }

    /// Runs a command on the chain of the existing directory, whose lock it holds until it has ended.
    fn on_existing(
        &self,
        run: impl FnOnce(&ChainStore) -> Result<String, Error>,
    ) -> Result<String, Error> {
        let directory = self.existing()?;
        run(&kept_in(directory.storage(), Durability::Fsync))
    }

    /// Opens the existing directory, with its lock.
    fn existing(&self) -> Result<DataDir, Error> {
        // Opening creates a missing directory.
        self.data_dir
            .metadata()
            .map_err(|error| Error::Io(self.data_dir.display().to_string(), error))?;
        Ok(DataDir::open(&self.data_dir)?)
    }

    fn verify(&self, chain: &ChainStore) -> Result<String, Error> {
        let found = verify(chain)?;
        let blocks = canonical_blocks(chain)?;
        let indexed = index::verify(&self.data_dir, |number| blocks.block(number))?;
        let indexed = indexed.map(|found| {
            format!(
                ", {} rows of {} blocks in the index of addresses",
                found.rows, found.blocks
            )
        });
        let indexed = indexed.unwrap_or_default();

        let blocks = if found.first <= found.last {
            format!("blocks {} to {}", found.first, found.last)
        } else {
            format!("no blocks after {}", found.last)
        };
        let without_state = if found.first < found.first_state {
            format!("; no states before block {}", found.first_state)
        } else {
            String::new()
        };
        Ok(format!(
            "{blocks}: {} entries, {} transactions, {} accounts, {} checkpoints{indexed}, all in order{without_state}",
            found.entries, found.transactions, found.accounts, found.checkpoints
        ))
    }

    fn compact(chain: &ChainStore, keep: u64) -> Result<String, Error> {
        // Blocks whose prices are not yet in the prices' file have to stay.
        let oldest = compact(chain, keep, exchange::prices_kept_until(&*chain.storage))?;
        Ok(format!("the oldest block is now {oldest}"))
    }

    fn repair(chain: &ChainStore) -> Result<String, Error> {
        Ok(match repair(chain)? {
            None => "no entry is damaged, and the log can be followed to its end".to_owned(),
            Some(done) => {
                let aside = done
                    .aside
                    .iter()
                    .map(|file| format!("\n  {file}"))
                    .collect::<String>();
                format!(
                    "kept {} entries; the next one cannot be used: {}. Moved the rest to:{aside}",
                    done.end, done.what
                )
            }
        })
    }

    fn export(&self, chain: &ChainStore, file: &PathBuf, rlp: bool) -> Result<String, Error> {
        // Nothing but the chain may be on standard output.
        if file.as_os_str() == "-" {
            write_chain(chain, rlp, &mut io::stdout().lock())?;
            return Ok(String::new());
        }

        let (count, what) = match file.metadata() {
            // A pipe or a device.
            Ok(about) if !about.is_file() => {
                let target = File::create(file).map_err(failed(file))?;
                write_chain(chain, rlp, &mut BufWriter::new(target))?
            }
            _ => Self::write_whole(file, |target| write_chain(chain, rlp, target))?,
        };
        Ok(format!("{count} {what} in {}", file.display()))
    }

    /// Writes a file under another name first: an export cut off between two entries would look
    /// like a shorter chain.
    fn write_whole<T>(
        file: &Path,
        write: impl FnOnce(&mut dyn Write) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let failed = failed(file);
        let mut draft = file.as_os_str().to_owned();
        draft.push(".unfinished");
        let draft = PathBuf::from(draft);

        let mut target = BufWriter::new(File::create(&draft).map_err(failed)?);
        let written = write(&mut target).and_then(|written| {
            let target = target
                .into_inner()
                .map_err(|error| failed(error.into_error()))?;
            target
                .sync_all()
                .and_then(|()| fs::rename(&draft, file))
                .map_err(failed)?;
            Ok(written)
        });

        written.inspect_err(|_| {
            let _ = fs::remove_file(&draft);
        })
    }

    fn import(&self, file: &PathBuf) -> Result<String, Error> {
        let failed = failed(file);
        let mut source: Box<dyn Read> = if file.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            Box::new(BufReader::new(File::open(file).map_err(failed)?))
        };

        let directory = DataDir::open_to_fill(&self.data_dir)?;
        // All of it is synced at the end: until then the directory is marked as unfinished.
        let chain = kept_in(directory.storage(), Durability::Os);
        let count = import(&chain, &mut source)?;
        let found = verify(&chain)?;
        Ok(format!(
            "{count} entries up to block {}, all in order",
            found.last
        ))
    }

    fn backup(&self, target: &Path) -> Result<String, Error> {
        self.data_dir.metadata().map_err(failed(&self.data_dir))?;
        let source = Arc::new(Directory::new(&self.data_dir).map_err(failed(&self.data_dir))?);
        let copy = Directory::new(target).map_err(failed(target))?;
        let end = backup(&kept_in(source, Durability::Fsync), &copy)?;
        Ok(format!("{end} entries in {}", target.display()))
    }

    fn restore(&self, backup: &Path) -> Result<String, Error> {
        let failed = failed(backup);
        backup.metadata().map_err(failed)?;
        let source = kept_in(
            Arc::new(Directory::new(backup).map_err(failed)?),
            Durability::Fsync,
        );

        let open = || DataDir::open_to_fill(&self.data_dir);
        // The backup may be a directory that an interrupted restore was moving aside, which opening
        // finishes.
        let existing = self.data_dir.is_dir().then(open).transpose()?;
        let found = verify(&source)?;
        // The directory is created only after the backup has been verified.
        let target = existing.map_or_else(open, Ok)?;
        if same_file(backup, &self.data_dir).map_err(failed)? {
            return Err(failed(io::Error::other(
                "a directory cannot be restored from itself",
            )));
        }

        let (end, aside) = restore(&source, &*target.storage())?;
        let aside = aside
            .map(|aside| format!("; what was there is in {aside}"))
            .unwrap_or_default();
        Ok(format!(
            "{end} entries up to block {}, all in order{aside}",
            found.last
        ))
    }
}

/// Returns the error for a system call that failed at `place`.
fn failed(place: &Path) -> impl Fn(io::Error) -> Error + Copy {
    move |error| Error::Io(place.display().to_string(), error)
}

/// Writes the chain to `target`. Returns the number of items, and what they are.
fn write_chain(
    chain: &ChainStore,
    rlp: bool,
    target: &mut dyn Write,
) -> Result<(u64, &'static str), Error> {
    if rlp {
        Ok((export_blocks(chain, target)?, "blocks"))
    } else {
        Ok((export(chain, target)?, "entries"))
    }
}

/// Returns the chain in a directory, with its log in files.
fn kept_in(storage: Arc<dyn Storage>, durability: Durability) -> ChainStore {
    let log = Arc::new(LocalLogs::new(storage.clone()).with_durability(durability));
    ChainStore { storage, log }
}

/// Returns whether two paths lead to the same directory.
fn same_file(one: &Path, other: &Path) -> io::Result<bool> {
    Ok(one.canonicalize()? == other.canonicalize()?)
}

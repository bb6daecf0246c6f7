//! `tetrad fork`: shows and removes what is kept of forked chains.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use tetrad_rpc::fork::{CachedFork, ForkCache, clear, list};

/// Arguments of `tetrad fork`.
#[derive(Debug, Args)]
pub struct ForkArgs {
    #[command(subcommand)]
    command: ForkCommand,
}

#[derive(Debug, Subcommand)]
enum ForkCommand {
    /// Show or remove the forked blocks of which answers are kept.
    Cache(CacheArgs),
}

#[derive(Debug, Args)]
struct CacheArgs {
    /// The directory; by default the platform's for caches.
    #[arg(long, global = true, value_name = "DIR", env = "TETRAD_FORK_CACHE")]
    fork_cache: Option<PathBuf>,
    #[command(subcommand)]
    command: CacheCommand,
}

#[derive(Debug, Subcommand)]
enum CacheCommand {
    /// List the blocks, those used last first.
    List,
    /// Remove all of them; nodes that run are not disturbed.
    Clear,
}

/// The error of `tetrad fork`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The platform has no directory for caches.
    #[error("no directory for caches is known; name one with --fork-cache")]
    NoDirectory,
    /// The directory cannot be used.
    #[error("{}: {error}", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// Printing failed.
    #[error(transparent)]
    Output(#[from] io::Error),
}

impl ForkArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn run(&self, out: &mut dyn Write) -> Result<(), Error> {
        let ForkCommand::Cache(args) = &self.command;
        let directory = args
            .fork_cache
            .clone()
            .filter(|chosen| is_directory(chosen))
            .or_else(|| ForkCache::Usual.directory())
            .ok_or(Error::NoDirectory)?;

        let found = match args.command {
            CacheCommand::List => list(&directory),
            CacheCommand::Clear => clear(&directory),
        };
        let found = found.map_err(|error| Error::Directory {
            directory: directory.clone(),
            error,
        })?;
        if matches!(args.command, CacheCommand::List) {
            found.iter().try_for_each(|fork| print(fork, out))?;
        }

        let bytes: u64 = found.iter().map(|fork| fork.bytes).sum();
        let verb = match args.command {
            CacheCommand::List => "in",
            CacheCommand::Clear => "removed from",
        };
        writeln!(
            out,
            "{} {}, {:.1} MB, {verb} {}",
            found.len(),
            if found.len() == 1 { "block" } else { "blocks" },
            megabytes(bytes),
            directory.display()
        )?;
        Ok(())
    }
}

/// Whether the option names a directory. Its variable is that of the setting, which has other values
/// as well.
fn is_directory(chosen: &Path) -> bool {
    let name = chosen.to_string_lossy().to_ascii_lowercase();
    !["off", "usual", "false", "true"].contains(&&*name)
}

fn print(fork: &CachedFork, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "chain {}, block {} ({}): {:.1} MB, used {}",
        fork.chain_id,
        fork.number,
        fork.hash,
        megabytes(fork.bytes),
        httpdate::fmt_http_date(fork.used)
    )
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

//! `tetrad keys`: keys in a directory of keystore files.
//!
//! A directory holds one Web3 V3 file per key, which geth and other tools can read too. Files are
//! written atomically, readable by their owner only, and never over an existing file.

mod console;
mod error;
mod export;
mod import;
mod list;
mod new;
mod options;
mod secrets;
mod show;
mod store;

use std::io::Write;

use clap::{Args, Subcommand};

pub use self::{
    console::{Console, Terminal},
    error::Error,
    export::ExportArgs,
    import::ImportArgs,
    list::ListArgs,
    new::NewArgs,
    show::ShowArgs,
};

/// Arguments of `tetrad keys`.
#[derive(Debug, Args)]
pub struct KeysArgs {
    /// The command.
    #[command(subcommand)]
    pub command: KeysCommand,
}

/// The commands under `tetrad keys`.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Generate a mnemonic and store its first key. The words are printed once and stored nowhere.
    New(NewArgs),
    /// Import a key from a mnemonic, a private key or a keystore file of another tool.
    Import(ImportArgs),
    /// Show the addresses and public keys of an account, a validator operator or a consensus node.
    Show(ShowArgs),
    /// List the keys in the directory.
    List(ListArgs),
    /// Export a key, encrypted under a new password or in plain text.
    Export(ExportArgs),
}

impl KeysArgs {
    /// Runs the command; `console` is asked for secrets, `out` receives the output.
    ///
    /// # Errors
    /// See [`Error`]. On an error nothing is written to the directory.
    pub fn run(&self, console: &mut dyn Console, out: &mut dyn Write) -> Result<(), Error> {
        match &self.command {
            KeysCommand::New(args) => args.run(console, out),
            KeysCommand::Import(args) => args.run(console, out),
            KeysCommand::Show(args) => args.run(console, out),
            KeysCommand::List(args) => args.run(out),
            KeysCommand::Export(args) => args.run(console, out),
        }
    }
}

//! `tetrad keys`: keys in a directory of keystore files.
//!
//! A directory holds one Web3 V3 file a key, so that geth and every other tool can read it too. Files are written whole
//! or not at all, readable by their owner only, and never over an existing file.

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
    options::{DerivationArgs, DirectoryArgs, EncryptionArgs, SourceArgs},
    show::{Bech, ShowArgs},
};

/// Arguments of `tetrad keys`.
#[derive(Debug, Args)]
pub struct KeysArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: KeysCommand,
}

/// The commands under `tetrad keys`.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a mnemonic and keep its first key. The words are printed once and kept nowhere.
    New(NewArgs),
    /// Keep a key from a mnemonic, a private key or a keystore file of another tool.
    Import(ImportArgs),
    /// Show the addresses and public keys of an account, a validator operator or a consensus node.
    Show(ShowArgs),
    /// List the keys in the directory.
    List(ListArgs),
    /// Write a key out, encrypted under a new password or as it is.
    Export(ExportArgs),
}

impl KeysArgs {
    /// Runs the command; `console` answers questions for secrets, `out` takes what the command prints.
    ///
    /// # Errors
    /// A variant of [`Error`] for what went wrong. Nothing is written to the directory then.
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

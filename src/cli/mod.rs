//! The command line over accounts: converting addresses and looking after keys.
//!
//! Commands read what the user typed with `clap`, call [`crate::account`], and write what they print to a given writer.
//! Secrets never come from arguments, where every other process can read them, but from a [`keys::Console`] or a file.

pub mod address;
pub mod keys;

use std::io::Write;

use clap::Subcommand;

/// The commands over accounts, for a parser to take in.
#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one value, made once at the start")]
pub enum Command {
    /// Convert an address between hex, EIP-55, bech32 and raw bytes.
    Address(address::AddressArgs),
    /// Make, import, show, list and export keys.
    Keys(keys::KeysArgs),
}

impl Command {
    /// Runs the command; `console` answers questions for secrets, `out` takes what the command prints.
    ///
    /// # Errors
    /// That of the command.
    pub fn run(&self, console: &mut dyn keys::Console, out: &mut dyn Write) -> Result<(), Error> {
        match self {
            Self::Address(args) => Ok(args.run(out)?),
            Self::Keys(args) => Ok(args.run(console, out)?),
        }
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `address` failed.
    #[error(transparent)]
    Address(#[from] address::Error),
    /// `keys` failed.
    #[error(transparent)]
    Keys(#[from] keys::Error),
}

//! `tetrad keys import`.

use std::{io::Write, path::PathBuf};

use clap::Args;
use tetrad_network::account::AddressForms;

use super::{
    console::Console,
    error::Error,
    options::{DirectoryArgs, EncryptionArgs, SourceArgs},
    secrets::Secrets,
    store::Store,
};
use crate::cli::address::PrefixArgs;

/// Arguments of `tetrad keys import`. Without a source, the command asks for a mnemonic or a
/// private key.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The key to import.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Directory to store it in.
    #[command(flatten)]
    pub directory: DirectoryArgs,
    /// Read the password of the new keystore from a file ("-": standard input).
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// How to encrypt it.
    #[command(flatten)]
    pub encryption: EncryptionArgs,
    /// The prefix of the addresses printed.
    #[command(flatten)]
    pub prefix: PrefixArgs,
}

impl ImportArgs {
    /// Stores the key and prints its addresses.
    ///
    /// # Errors
    /// A variant of [`Error`]; [`Error::Exists`] when the account's key is in the directory
    /// already.
    pub fn run(&self, console: &mut dyn Console, out: &mut dyn Write) -> Result<(), Error> {
        let mut secrets = Secrets::new(console);
        let directory = self.directory.path()?;
        let store = Store::new(&directory);
        let key = self.source.key(&mut secrets)?;
        store.check_absent(key.address())?;
        let password = secrets.new_password(self.password_file.as_deref())?;
        let file = store.add(key.address(), &self.encryption.encrypt(&key, &password)?)?;

        writeln!(
            out,
            "{}\n",
            AddressForms::new(&key.address(), &self.prefix.bech32_prefix)
        )?;
        writeln!(out, "Kept in {}", file.display())?;
        Ok(())
    }
}

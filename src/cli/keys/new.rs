//! `tetrad keys new`.

use std::{io::Write, path::PathBuf};

use clap::Args;
use k256::elliptic_curve::rand_core::OsRng;
use tetrad_network::account::{AddressForms, Mnemonic, WordCount};

use super::{
    console::Console,
    error::Error,
    options::{DerivationArgs, DirectoryArgs, EncryptionArgs},
    secrets::Secrets,
    store::Store,
};
use crate::cli::address::PrefixArgs;

/// Arguments of `tetrad keys new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// Number of words: 12, 15, 18, 21 or 24.
    #[arg(long, value_name = "COUNT", default_value = "24", value_parser = word_count)]
    pub words: WordCount,
    /// The key of the mnemonic to store.
    #[command(flatten)]
    pub derivation: DerivationArgs,
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

impl NewArgs {
    /// Generates a mnemonic, stores its key and prints the words.
    ///
    /// # Errors
    /// A variant of [`Error`]; the words are printed only once the key is on disk.
    pub fn run(&self, console: &mut dyn Console, out: &mut dyn Write) -> Result<(), Error> {
        let mut secrets = Secrets::new(console);
        let path = self.derivation.path()?;
        let passphrase = self.derivation.new_passphrase(&mut secrets)?;
        let password = secrets.new_password(self.password_file.as_deref())?;

        let mnemonic = Mnemonic::random(self.words, &mut OsRng)?;
        let key = mnemonic.to_seed(&passphrase).derive(&path)?;
        let keystore = self.encryption.encrypt(&key, &password)?;
        let file = Store::new(&self.directory.path()?).add(key.address(), &keystore)?;

        writeln!(
            out,
            "Write these words down and keep them secret. They are not stored and not shown again:\n"
        )?;
        writeln!(out, "{}\n", mnemonic.phrase())?;
        writeln!(
            out,
            "{}\n",
            AddressForms::new(&key.address(), &self.prefix.bech32_prefix)
        )?;
        writeln!(out, "Derived at {path} and kept in {}", file.display())?;
        Ok(())
    }
}

fn word_count(text: &str) -> Result<WordCount, &'static str> {
    text.parse()
        .ok()
        .and_then(WordCount::from_words)
        .ok_or("expected 12, 15, 18, 21 or 24")
}

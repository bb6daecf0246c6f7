//! `tetrad keys export`.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use tetrad_network::account::parse_address;
use zeroize::Zeroizing;

use super::{
    console::Console,
    error::Error,
    options::{DirectoryArgs, EncryptionArgs},
    secrets::Secrets,
    store::{Store, write_private},
};
use crate::cli::address::PrefixArgs;

/// Arguments of `tetrad keys export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The account whose key to export, in any form of its address.
    #[arg(value_name = "ADDRESS")]
    pub address: String,
    /// The file to write, readable by its owner only ("-": print instead).
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Write the bare private key in hex instead of a keystore.
    #[arg(long, conflicts_with_all = ["new_password_file", "light_kdf"])]
    pub private_key: bool,
    /// Directory of the key.
    #[command(flatten)]
    pub directory: DirectoryArgs,
    /// Read the password of the key from a file ("-": standard input).
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Read the password of the exported keystore from a file ("-": standard input).
    #[arg(long, value_name = "FILE")]
    pub new_password_file: Option<PathBuf>,
    /// How to encrypt the exported keystore.
    #[command(flatten)]
    pub encryption: EncryptionArgs,
    /// The bech32 prefix of ADDRESS.
    #[command(flatten)]
    pub prefix: PrefixArgs,
}

impl ExportArgs {
    /// Decrypts the key and writes it out.
    ///
    /// # Errors
    /// A variant of [`Error`]; [`Error::Exists`] when the file exists already.
    pub fn run(&self, console: &mut dyn Console, out: &mut dyn Write) -> Result<(), Error> {
        let mut secrets = Secrets::new(console);
        let address = parse_address(&self.address, &self.prefix.bech32_prefix)?.address;
        let directory = self.directory.path()?;
        let key =
            Store::new(&directory).open(address, self.password_file.as_deref(), &mut secrets)?;

        let content = if self.private_key {
            key.to_hex()
        } else {
            let password = secrets.new_password(self.new_password_file.as_deref())?;
            Zeroizing::new(self.encryption.encrypt(&key, &password)?.to_json())
        };

        if self.to == Path::new("-") {
            writeln!(out, "{}", content.as_str())?;
        } else {
            write_private(&self.to, content.as_bytes())?;
            writeln!(out, "Written to {}", self.to.display())?;
        }
        Ok(())
    }
}

//! `tetrad keys show`.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use serde::Serialize;
use tetrad_network::account::{
    AddressForms, ConsensusKey, DEFAULT_PUBLIC_KEY_TYPE, Hrp, Kind, PublicKeyForms, SecretKey,
    parse_address,
};

use super::{
    console::Console,
    error::Error,
    options::{DERIVATION, DirectoryArgs, SourceArgs},
    secrets::Secrets,
    store::Store,
};
use crate::cli::address::PrefixArgs;

/// The kind of key to show, by the names that Cosmos tools use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Bech {
    /// An account.
    Acc,
    /// A validator operator.
    Val,
    /// A consensus node.
    Cons,
}

/// Arguments of `tetrad keys show`. Without an address or a source, the command asks for a mnemonic
/// or a private key.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// An account whose key is in the directory, in any form of its address.
    #[arg(value_name = "ADDRESS", group = "source", conflicts_with = "source_password_file", conflicts_with_all = DERIVATION)]
    pub address: Option<String>,
    /// Kind of key [default: acc, or cons with --consensus-key-file].
    #[arg(long, value_enum)]
    pub bech: Option<Bech>,
    /// A key that is not in the directory.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Read a consensus key: priv_validator_key.json, or an ed25519 seed in hex ("-": standard
    /// input).
    #[arg(long, value_name = "FILE", group = "source", conflicts_with = "source_password_file", conflicts_with_all = DERIVATION)]
    pub consensus_key_file: Option<PathBuf>,
    /// Directory of the key of ADDRESS.
    #[command(flatten)]
    pub directory: DirectoryArgs,
    /// Read the password of ADDRESS from a file ("-": standard input).
    #[arg(
        long,
        value_name = "FILE",
        requires = "address",
        conflicts_with_all = ["mnemonic_file", "private_key_file", "keystore_file", "consensus_key_file"]
    )]
    pub password_file: Option<PathBuf>,
    /// The prefix of the addresses and keys printed.
    #[command(flatten)]
    pub prefix: PrefixArgs,
    /// The network's type of account keys.
    #[arg(long, value_name = "TYPE_URL", default_value = DEFAULT_PUBLIC_KEY_TYPE)]
    pub public_key_type: String,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    pub json: bool,
}

/// The output; its fields are the members of the JSON object.
#[derive(Serialize)]
struct Shown {
    kind: Kind,
    address: String,
    addresses: AddressForms,
    public_key: PublicKeyForms,
}

impl ShowArgs {
    /// Prints the addresses and the public key. Public keys are not in keystore files, so a
    /// password is needed.
    ///
    /// # Errors
    /// A variant of [`Error`].
    pub fn run(&self, console: &mut dyn Console, out: &mut dyn Write) -> Result<(), Error> {
        let mut secrets = Secrets::new(console);
        let hrp = &self.prefix.bech32_prefix;
        let shown = match (&self.consensus_key_file, self.bech) {
            (Some(path), None | Some(Bech::Cons)) => {
                show_consensus(&consensus_key(path, &mut secrets)?, hrp)
            }
            (Some(_), Some(Bech::Acc | Bech::Val)) => return Err(Error::ConsensusKeyOnly),
            (None, Some(Bech::Cons)) => return Err(Error::ConsensusKeyNeeded),
            (None, None | Some(Bech::Acc)) => {
                self.show_account(&self.key(&mut secrets)?, Kind::Account)
            }
            (None, Some(Bech::Val)) => {
                self.show_account(&self.key(&mut secrets)?, Kind::ValidatorOperator)
            }
        };

        if self.json {
            serde_json::to_writer_pretty(&mut *out, &shown).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            writeln!(
                out,
                "{}\n\n{}\n\n{}",
                shown.address, shown.addresses, shown.public_key
            )?;
        }
        Ok(())
    }

    fn key(&self, secrets: &mut Secrets<'_>) -> Result<SecretKey, Error> {
        let Some(text) = &self.address else {
            return self.source.key(secrets);
        };
        let address = parse_address(text, &self.prefix.bech32_prefix)?.address;
        Store::new(&self.directory.path()?).open(address, self.password_file.as_deref(), secrets)
    }

    fn show_account(&self, key: &SecretKey, kind: Kind) -> Shown {
        let hrp = &self.prefix.bech32_prefix;
        let public_key = key.public_key();
        let addresses = AddressForms::new(&public_key.address(), hrp);
        Shown {
            kind,
            address: addresses.bech32(kind).to_owned(),
            addresses,
            public_key: PublicKeyForms::of_account(&public_key, hrp, kind, &self.public_key_type),
        }
    }
}

fn consensus_key(path: &Path, secrets: &mut Secrets<'_>) -> Result<ConsensusKey, Error> {
    let text = secrets.read(path)?;
    if text.trim_start().starts_with('{') {
        Ok(ConsensusKey::from_validator_json(&text)?)
    } else {
        Ok(ConsensusKey::from_hex(text.trim())?)
    }
}

fn show_consensus(key: &ConsensusKey, hrp: &Hrp) -> Shown {
    let public_key = key.public_key();
    let addresses = AddressForms::new(&public_key.address(), hrp);
    Shown {
        kind: Kind::Consensus,
        address: addresses.consensus.clone(),
        addresses,
        public_key: PublicKeyForms::of_consensus(&public_key, hrp),
    }
}

//! The node's keys: those of the development accounts, and of its own accounts that own the
//! contracts and update prices.
//!
//! In the development profile treasury, updater and genesis borrowers have keys derived from the
//! mnemonic (`m/44'/60'/1'/0/…`). In production they come from files (`keys.*-file`), or are
//! generated at the first start and stored in the data directory.

use std::{
    fmt::Display,
    fs::{File, OpenOptions, rename},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use alloy_primitives::Address;
use tetrad_network::account::{DerivationPath, Mnemonic, SecretKey, Seed};

use super::SpawnError;
use crate::{
    config::{Config, Profile},
    genesis::FundedAccounts,
};

/// The keys.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) development: Vec<SecretKey>,
    pub(super) treasury: SecretKey,
    pub(super) updater: SecretKey,
    borrower: SecretKey,
}

impl Identity {
    /// Derives, reads or generates the keys. The node's own keys are derived from the mnemonic,
    /// next to those of the development accounts. In production they are read from the configured
    /// files, or else from the data directory, or else generated at each start.
    pub(super) fn load(config: &Config) -> Result<Self, SpawnError> {
        let mnemonic = Mnemonic::from_phrase(&config.mnemonic).map_err(key_error)?;
        let seed = mnemonic.to_seed("");

        let treasury_file = config.treasury_file.as_deref();
        let updater_file = config.updater_file.as_deref();
        Ok(Self {
            development: seed
                .derive_children(&parsed(&config.derivation_path)?, config.accounts)
                .map_err(key_error)?,
            treasury: own_key(config, &seed, treasury_file, 0, "treasury.key")?,
            updater: own_key(config, &seed, updater_file, 1, "updater.key")?,
            borrower: own_key(config, &seed, None, 2, "borrower.key")?,
        })
    }

    /// Returns the accounts that the first block funds.
    pub(super) fn funded_accounts(&self, config: &Config) -> FundedAccounts {
        let development: Vec<Address> = self.development.iter().map(SecretKey::address).collect();
        FundedAccounts {
            treasury: self.treasury.address(),
            updater: self.updater.address(),
            borrower: self.borrower.address(),
            development: (development, config.balance),
        }
    }
}

fn key_error(error: impl Display) -> SpawnError {
    SpawnError::Key(error.to_string())
}

fn parsed(path: &str) -> Result<DerivationPath, SpawnError> {
    path.parse().map_err(key_error)
}

/// Returns one of the node's own keys: from the configured `file`, derived with `index`, or from
/// the file `name` of the data directory.
fn own_key(
    config: &Config,
    seed: &Seed,
    file: Option<&Path>,
    index: u32,
    name: &str,
) -> Result<SecretKey, SpawnError> {
    if let Some(file) = file {
        read_key(file)
    } else if config.profile == Profile::Development {
        seed.derive(&parsed(&format!("m/44'/60'/1'/0/{index}"))?)
            .map_err(key_error)
    } else if let Some(directory) = &config.data_dir {
        stored_key(directory, name)
    } else {
        new_key()
    }
}

fn read_key(file: &Path) -> Result<SecretKey, SpawnError> {
    let failed = |what: String| SpawnError::Key(format!("key file {}: {what}", file.display()));
    let text = zeroize::Zeroizing::new(
        std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?,
    );
    SecretKey::from_hex(text.trim()).map_err(|error| failed(error.to_string()))
}

fn new_key() -> Result<SecretKey, SpawnError> {
    SecretKey::random(&mut k256::elliptic_curve::rand_core::OsRng).map_err(key_error)
}

/// Returns the key in a file of the data directory, which is generated if it does not exist. Only
/// its owner may read it.
fn stored_key(directory: &Path, name: &str) -> Result<SecretKey, SpawnError> {
    let file = directory.join(name);
    if file.exists() {
        return read_key(&file);
    }

    let key = new_key()?;
    write_key(directory, name, &key.to_hex())?;
    Ok(key)
}

/// Writes a key to a file of the data directory that only its owner may read.
pub(super) fn write_key(directory: &Path, name: &str, hex: &str) -> Result<(), SpawnError> {
    write_private(directory, name, hex.as_bytes()).map_err(|error| {
        let file = directory.join(name);
        SpawnError::Key(format!("key file {}: {error}", file.display()))
    })
}

fn write_private(directory: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    // The next start removes files of such a name, should this one be killed here.
    let draft = directory.join(format!("draft-{name}"));
    let mut written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    written.write_all(content)?;
    written.sync_all()?;

    rename(draft, directory.join(name))?;
    File::open(directory)?.sync_all()
}

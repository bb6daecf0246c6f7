//! Whose keys the node has: the development accounts, and its own accounts that own and feed the contracts.

use std::path::{Path, PathBuf};

use alloy_primitives::Address;

use super::SpawnError;
use crate::{
    account::{DerivationPath, Mnemonic, SecretKey},
    config::{Config, Profile},
    genesis::Cast,
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
    /// Derives, reads or makes the keys. The node's own accounts are derived from the mnemonic, beside the development
    /// accounts, or, in production, made anew: only a file keeps them.
    pub(super) fn load(config: &Config) -> Result<Self, SpawnError> {
        let key_error = |error: &dyn std::fmt::Display| SpawnError::Key(error.to_string());
        let mnemonic = Mnemonic::from_phrase(&config.mnemonic).map_err(|error| key_error(&error))?;
        let seed = mnemonic.to_seed("");
        let derive = |path: &str| -> Result<SecretKey, SpawnError> {
            let path: DerivationPath = path.parse().map_err(|error| key_error(&error))?;
            seed.derive(&path).map_err(|error| key_error(&error))
        };
        let own = |file: &Option<PathBuf>, index: u32| match file {
            Some(file) => read_key(file),
            None if config.profile == Profile::Development => derive(&format!("m/44'/60'/1'/0/{index}")),
            None => SecretKey::random(&mut k256::elliptic_curve::rand_core::OsRng).map_err(|error| key_error(&error)),
        };
        Ok(Self {
            development: (0..config.accounts)
                .map(|index| derive(&format!("m/44'/60'/0'/0/{index}")))
                .collect::<Result<_, _>>()?,
            treasury: own(&config.treasury_file, 0)?,
            updater: own(&config.updater_file, 1)?,
            borrower: own(&None, 2)?,
        })
    }

    /// Whom the first block provides for.
    pub(super) fn cast(&self, config: &Config) -> Cast {
        let development: Vec<Address> = self.development.iter().map(SecretKey::address).collect();
        Cast {
            treasury: self.treasury.address(),
            updater: self.updater.address(),
            borrower: self.borrower.address(),
            development: (development, config.balance),
        }
    }
}

fn read_key(file: &Path) -> Result<SecretKey, SpawnError> {
    let failed = |what: String| SpawnError::Key(format!("key file {}: {what}", file.display()));
    let text = zeroize::Zeroizing::new(std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?);
    SecretKey::from_hex(text.trim()).map_err(|error| failed(error.to_string()))
}

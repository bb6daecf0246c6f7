//! `chain.json`: the identity of a directory's chain, and the settings of its genesis block.

use std::io;

use alloy_primitives::B256;
use serde::{Deserialize, Serialize};

use super::{
    CHAIN_FILE,
    unfinished::{self, REPLACED},
};
use crate::{
    log::{ChainIdentity, is_log_file},
    storage::{Storage, read_file, replace_file},
};

/// The format that is written, and the newest one that is read.
const FORMAT: u32 = 1;

/// Settings by name, the most significant first.
pub type Settings = Vec<(String, String)>;

/// The description of a directory's chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainFile {
    format: u32,
    chain_id: u64,
    genesis: B256,
    /// Settings that can no longer change, by name.
    settings: Settings,
}

/// The reason why a directory cannot be opened with the given settings.
#[derive(Debug, thiserror::Error)]
pub enum ChainFileError {
    /// A file operation failed.
    #[error("{0}: {1}")]
    Io(String, io::Error),
    /// The file cannot be read.
    #[error("{0}: {1}")]
    Format(String, serde_json::Error),
    /// A newer version of this program wrote it.
    #[error(
        "{file}: written by a newer version (format {found}, this program reads up to {FORMAT})"
    )]
    Newer {
        /// The file.
        file: String,
        /// Its format.
        found: u32,
    },
    /// The chain file is missing, but other files of a chain exist.
    #[error("{0} is missing, but the directory has a log")]
    Missing(String),
    /// A restore of an earlier version was interrupted.
    #[error(
        "{file} is missing, but {folder} holds what a restore replaced: restore a backup or that \
         folder with `tetrad chain restore`, or move the folder away to begin a new chain"
    )]
    Replaced {
        /// The file.
        file: String,
        /// The folder.
        folder: String,
    },
    /// A copy into the directory was interrupted.
    #[error("{0}: {1}")]
    Unfinished(String, String),
    /// A setting differs from the recorded one.
    #[error("{file}: the chain was created with {setting} {old}, not {new}")]
    Setting {
        /// The file.
        file: String,
        /// The setting.
        setting: String,
        /// The recorded value.
        old: String,
        /// The present value.
        new: String,
    },
    /// The genesis block differs.
    #[error("{file}: the chain begins with block {found}, not with {expected}")]
    Genesis {
        /// The file.
        file: String,
        /// Hash of the expected genesis block.
        expected: B256,
        /// Hash of the directory's genesis block.
        found: B256,
    },
}

/// Returns whether a file with this name is written only after `chain.json`, unlike the keys and
/// the first checkpoint.
fn follows_chain_file(name: &str) -> bool {
    name.starts_with("index-")
        || is_log_file(name)
        || name
            .strip_prefix("checkpoint-")
            .is_some_and(|height| height.parse().is_ok_and(|height: u64| height > 0))
        || name == "pool"
}

impl ChainFile {
    /// Returns the description of a new chain.
    pub fn new(identity: ChainIdentity, settings: Settings) -> Self {
        Self {
            format: FORMAT,
            chain_id: identity.chain_id,
            genesis: identity.genesis,
            settings,
        }
    }

    /// Returns the chain's identity.
    pub fn identity(&self) -> ChainIdentity {
        ChainIdentity {
            chain_id: self.chain_id,
            genesis: self.genesis,
        }
    }

    /// Returns the settings of its genesis block.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Loads the file. Returns `None` if the directory is empty.
    pub fn load(storage: &dyn Storage) -> Result<Option<Self>, ChainFileError> {
        let place = storage.describe(CHAIN_FILE);
        let interrupted = unfinished::interrupted(storage)
            .map_err(|error| ChainFileError::Io(place.clone(), error))?;
        if let Some(what) = interrupted {
            return Err(ChainFileError::Unfinished(storage.describe(""), what));
        }

        match read_file(storage, CHAIN_FILE) {
            Ok(Some(text)) => Self::parse(place, &text).map(Some),
            Ok(None) => expect_new(storage, place).map(|()| None),
            Err(error) => Err(ChainFileError::Io(place, error)),
        }
    }

    /// Reads the text of a file, which errors call `place`.
    pub(super) fn parse(place: String, text: &[u8]) -> Result<Self, ChainFileError> {
        /// The member that every version has.
        #[derive(Deserialize)]
        struct Versioned {
            format: u32,
        }

        let found = match serde_json::from_slice(text) {
            Ok(Versioned { format }) => format,
            Err(error) => return Err(ChainFileError::Format(place, error)),
        };
        if found > FORMAT {
            return Err(ChainFileError::Newer { file: place, found });
        }
        if found == 0 {
            return Err(ChainFileError::Format(
                place,
                serde::de::Error::custom("there is no format 0"),
            ));
        }
        serde_json::from_slice(text).map_err(|error| ChainFileError::Format(place, error))
    }

    /// Writes the file atomically.
    pub fn save(&self, storage: &dyn Storage) -> Result<(), ChainFileError> {
        let place = || storage.describe(CHAIN_FILE);
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| ChainFileError::Io(place(), error.into()))?;
        text.push(b'\n');
        replace_file(storage, CHAIN_FILE, &text).map_err(|error| ChainFileError::Io(place(), error))
    }

    /// Checks that the settings are the recorded ones, and that the genesis block is `genesis` if
    /// that is known beforehand.
    pub fn check(
        &self,
        storage: &dyn Storage,
        settings: &Settings,
        genesis: Option<B256>,
    ) -> Result<(), ChainFileError> {
        // Either side may lack a setting of the other.
        for (setting, _) in self.settings.iter().chain(settings) {
            let old = value_of(setting, &self.settings);
            let new = value_of(setting, settings);
            if old != new {
                return Err(ChainFileError::Setting {
                    file: storage.describe(CHAIN_FILE),
                    setting: setting.clone(),
                    old: old.unwrap_or("unset").to_owned(),
                    new: new.unwrap_or("unset").to_owned(),
                });
            }
        }

        match genesis {
            Some(expected) if expected != self.genesis => Err(ChainFileError::Genesis {
                file: storage.describe(CHAIN_FILE),
                expected,
                found: self.genesis,
            }),
            _ => Ok(()),
        }
    }
}

/// Returns the value of a setting, if it is set.
fn value_of<'a>(setting: &str, settings: &'a Settings) -> Option<&'a str> {
    settings
        .iter()
        .find(|(name, _)| name == setting)
        .map(|(_, value)| value.as_str())
}

/// Checks that a directory without a chain file has nothing else of a chain.
fn expect_new(storage: &dyn Storage, place: String) -> Result<(), ChainFileError> {
    let names = storage
        .names()
        .map_err(|error| ChainFileError::Io(place.clone(), error))?;
    if names.iter().any(|name| follows_chain_file(name)) {
        return Err(ChainFileError::Missing(place));
    }

    let folders = storage
        .folders()
        .map_err(|error| ChainFileError::Io(place.clone(), error))?;
    let replaced = folders.iter().find(|name| name.starts_with(REPLACED));
    match replaced {
        Some(folder) => Err(ChainFileError::Replaced {
            file: place,
            folder: storage.describe(folder),
        }),
        None => Ok(()),
    }
}

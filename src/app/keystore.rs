//! The keystore: a directory of files with accounts that the node signs for.
//!
//! The keys are decrypted at the start with one password; a file that cannot be decrypted aborts
//! the start.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
};

use tetrad_network::account::{Keystore, SecretKey};
use zeroize::Zeroizing;

use super::SpawnError;
use crate::config::Config;

/// Returns the keys of the configured directory in the order of file names; none without one. A
/// file that is not a keystore or has another password is an error: a node that silently lacks an
/// account is worse than none.
pub(super) fn keys(config: &Config) -> Result<Vec<SecretKey>, SpawnError> {
    let Some(directory) = &config.keystore else {
        return Ok(Vec::new());
    };
    let Some(password) = &config.password_file else {
        return Err(SpawnError::Key(
            "keys.keystore: keys.password-file is missing".to_owned(),
        ));
    };

    let password = read(password, "keys.password-file")?;
    let password = password.trim_end_matches(['\r', '\n']).as_bytes();
    files(directory)?
        .iter()
        .map(|file| open(file, password))
        .collect()
}

fn open(file: &Path, password: &[u8]) -> Result<SecretKey, SpawnError> {
    let text = read(file, "keys.keystore")?;
    let keystore =
        Keystore::from_json(&text).map_err(|error| failed("keys.keystore", file, error))?;
    keystore
        .decrypt(password)
        .map_err(|error| failed("keys.keystore", file, error))
}

/// Returns the visible files of a directory.
fn files(directory: &Path) -> Result<Vec<PathBuf>, SpawnError> {
    let failed = |error| failed("keys.keystore", directory, error);

    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.is_file() {
            files.push(path);
        }
    }

    files.sort();
    Ok(files)
}

fn read(file: &Path, setting: &str) -> Result<Zeroizing<String>, SpawnError> {
    std::fs::read_to_string(file)
        .map(Zeroizing::new)
        .map_err(|error| failed(setting, file, error))
}

fn failed(setting: &str, path: &Path, error: impl Display) -> SpawnError {
    SpawnError::Key(format!("{setting}: {}: {error}", path.display()))
}

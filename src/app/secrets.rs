//! Warnings about secrets that other users can read.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::config::Config;

/// Mode bits that let the group or everyone read a file.
const OTHERS_READ: u32 = 0o044;

/// Warns of key and password files that other users can read. This is not an error, because
/// containers and service managers provide secrets in files of many modes.
pub(super) fn warn(config: &Config) {
    for file in files(config) {
        // A missing file is reported where it is read.
        let Ok(about) = fs::metadata(&file) else {
            continue;
        };
        let mode = about.permissions().mode() & 0o777;
        if mode & OTHERS_READ != 0 {
            let file = file.display();
            let mode = format!("{mode:03o}");
            tracing::warn!(%file, mode, "others can read this secret: `chmod 600` it, and replace it if they may have");
        }
    }
}

fn files(config: &Config) -> Vec<PathBuf> {
    let named = [
        &config.treasury_file,
        &config.updater_file,
        &config.password_file,
        &config.admin_token_file,
        &config.cluster.credentials_file,
        &config.cluster.tls_key_file,
    ];
    let mut files: Vec<PathBuf> = named.into_iter().flatten().cloned().collect();
    files.extend(config.tls.as_ref().map(|files| files.key.clone()));

    if let Some(directory) = &config.data_dir {
        let mut stored = within(directory);
        stored.retain(|path| path.extension().is_some_and(|extension| extension == "key"));
        files.extend(stored);
    }
    if let Some(directory) = &config.keystore {
        files.extend(within(directory));
    }
    files
}

/// Returns the files of a directory; none if it cannot be read.
fn within(directory: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(directory).and_then(|entries| {
        entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<_>>>()
    });
    paths
        .unwrap_or_default()
        .into_iter()
        .filter(|path| path.is_file())
        .collect()
}

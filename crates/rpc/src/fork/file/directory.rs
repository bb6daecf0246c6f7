//! The directory with the files of forked blocks.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use alloy_primitives::B256;

/// The extension of the files.
const EXTENSION: &str = "fork";

/// A forked block with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedFork {
    /// The chain's id.
    pub chain_id: u64,
    /// The block's number.
    pub number: u64,
    /// The block's hash.
    pub hash: B256,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// The time at which it was last opened.
    pub used: SystemTime,
}

impl CachedFork {
    /// Its file in a directory.
    pub(super) fn path(&self, directory: &Path) -> PathBuf {
        let Self {
            chain_id,
            number,
            hash,
            ..
        } = self;
        directory.join(format!("{chain_id}-{number}-{hash:x}.{EXTENSION}"))
    }
}

/// Removes the files that have not been used for longest, but this one, until all others have at
/// most `limit` bytes.
pub(super) fn evict(directory: &Path, own: &Path, limit: u64) -> io::Result<()> {
    let mut others = list(directory)?;
    others.retain(|fork| fork.path(directory) != own);
    others.sort_by_key(|fork| fork.used);

    let mut bytes: u64 = others.iter().map(|fork| fork.bytes).sum();
    for fork in others {
        if bytes <= limit {
            break;
        }
        // Another process may have removed it.
        let _ = fs::remove_file(fork.path(directory));
        bytes -= fork.bytes;
    }
    Ok(())
}

/// Lists the forked blocks that a directory has files of, those used last first.
///
/// # Errors
/// If the directory exists and cannot be read.
pub fn list(directory: &Path) -> io::Result<Vec<CachedFork>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };

    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some((chain_id, number, hash)) = name.to_str().and_then(parse_name) else {
            continue;
        };
        // It may be gone by now.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        found.push(CachedFork {
            chain_id,
            number,
            hash,
            bytes: metadata.len(),
            used: metadata.modified()?,
        });
    }
    found.sort_by_key(|fork| std::cmp::Reverse(fork.used));
    Ok(found)
}

/// Removes all files of forked blocks, and returns what they were.
///
/// # Errors
/// If the directory cannot be read, or a file cannot be removed.
pub fn clear(directory: &Path) -> io::Result<Vec<CachedFork>> {
    let found = list(directory)?;
    for fork in &found {
        match fs::remove_file(fork.path(directory)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(found)
}

/// Reads the chain id, the number and the hash in the name of a file.
fn parse_name(name: &str) -> Option<(u64, u64, B256)> {
    let (name, extension) = name.rsplit_once('.')?;
    let mut parts = name.split('-');
    let chain_id = parts.next()?.parse().ok()?;
    let number = parts.next()?.parse().ok()?;
    let hash = parts.next()?.parse().ok()?;
    (extension == EXTENSION && parts.next().is_none()).then_some((chain_id, number, hash))
}

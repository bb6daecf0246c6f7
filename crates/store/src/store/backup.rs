//! Backups of a chain's directory, taken while a node writes to it.
//!
//! The log only grows and checkpoints never change, so a copy is consistent if the checkpoints are
//! copied first and the log, which then reaches at least as far, afterwards. Copied files have the
//! permissions of their originals.

use std::io;

use super::{
    ChainFile, ChainStore, PRICES, archive::ArchiveError, checkpoint, checkpoints, unfinished,
};
use crate::storage::{Storage, copy_file};

/// Most attempts at copying the checkpoints, which the node may remove when it has written a newer
/// one.
const ATTEMPTS: u32 = 5;

/// Copies a chain to `to`, which must be empty or contain an interrupted backup. Returns the height
/// at which the copy's log ends.
pub fn backup(from: &ChainStore, to: &dyn Storage) -> Result<u64, ArchiveError> {
    let file = chain_in(&*from.storage)?;
    unfinished::begin(to, unfinished::CopyCommand::Backup)?;
    copy_chain(from, to, &file)
}

/// Copies a backup to `to` and puts the previous content of `to` aside. After an interruption it
/// continues where it stopped. Returns the height at which the log ends, and the path of the
/// previous content.
pub fn restore(from: &ChainStore, to: &dyn Storage) -> Result<(u64, Option<String>), ArchiveError> {
    let file = chain_in(&*from.storage)?;
    let aside = unfinished::begin_restore(to)?;
    Ok((
        copy_chain(from, to, &file)?,
        aside.map(|folder| to.describe(&folder)),
    ))
}

fn chain_in(from: &dyn Storage) -> Result<ChainFile, ArchiveError> {
    ChainFile::load(from)?
        .ok_or_else(|| ArchiveError::Directory(format!("{}: there is no chain", from.describe(""))))
}

/// Copies everything, and removes the mark of an unfinished copy.
fn copy_chain(from: &ChainStore, to: &dyn Storage, file: &ChainFile) -> Result<u64, ArchiveError> {
    copy_checkpoints(&*from.storage, to)?;
    for name in from.storage.names()? {
        // Keys that the node generated, pending transactions, and past prices.
        if name.ends_with(".key") || name == "pool" || name == PRICES {
            copy_file(&*from.storage, to, &name)?;
        }
    }

    let end = from.log.backup(file.identity(), to)?;
    // The chain file comes last: without it the copy is incomplete.
    file.save(to)?;
    unfinished::finish(to)?;
    Ok(end)
}

/// Copies all checkpoints. They are few, and distinguishing those of reverted entries would require
/// reading the whole log.
fn copy_checkpoints(from: &dyn Storage, to: &dyn Storage) -> io::Result<()> {
    for attempt in 1.. {
        let copied = checkpoints(from)?
            .into_iter()
            .try_for_each(|height| copy_file(from, to, &checkpoint::name(height)));
        match copied {
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {}
            other => return other,
        }
    }
    Ok(())
}

//! Copies of a chain's directory, taken while a node writes to it.
//!
//! Files of the log only grow and checkpoints never change, so a copy is consistent if it is taken in the right order:
//! checkpoints first, then the log, which by then goes at least as far, cut off where its last intact entry ends. Who
//! may read a file may read its copy, and nobody else.

use std::io;

use super::{ChainFile, PRICES, archive::ArchiveError, checkpoint, checkpoints, unfinished};
use crate::log::{Segment, Storage, segment_name, segments};

/// Bytes that are copied at once.
const CHUNK: u64 = 1 << 20;
/// Attempts at copying a checkpoint, which the node may remove when it has a newer one.
const ATTEMPTS: u32 = 5;

/// Copies the chain in `from` to `to`, which must be empty, or hold what an interrupted backup left. Returns the height
/// that the copy's log ends at.
pub fn backup(from: &dyn Storage, to: &dyn Storage) -> Result<u64, ArchiveError> {
    let file = chain_in(from)?;
    unfinished::begin(to, unfinished::Command::Backup)?;
    copy_chain(from, to, &file)
}

/// Makes a directory that of the copy in `from`, and puts aside what was in it. After an interruption it continues where
/// it was. Returns the height that the log ends at now, and where the rest is.
pub fn restore(from: &dyn Storage, to: &dyn Storage) -> Result<(u64, Option<String>), ArchiveError> {
    let file = chain_in(from)?;
    let aside = unfinished::begin_restore(to)?;
    Ok((copy_chain(from, to, &file)?, aside.map(|folder| to.describe(&folder))))
}

fn chain_in(from: &dyn Storage) -> Result<ChainFile, ArchiveError> {
    let none = || ArchiveError::Directory(format!("{}: there is no chain", from.describe("")));
    ChainFile::load(from)?.ok_or_else(none)
}

/// Copies everything, and removes the mark of an unfinished copy.
fn copy_chain(from: &dyn Storage, to: &dyn Storage, file: &ChainFile) -> Result<u64, ArchiveError> {
    copy_checkpoints(from, to)?;
    for name in from.names()? {
        // Keys that a node made for itself, transactions that wait, and past prices.
        if name.ends_with(".key") || name == "pool" || name == PRICES {
            copy(from, to, &name)?;
        }
    }
    let firsts = segments(from)?;
    for &first in &firsts {
        copy(from, to, &segment_name(first))?;
    }
    let mut end = 0;
    if let Some(&last) = firsts.last() {
        let segment = Segment::load(to, last, Some(file.identity()))?;
        let copied = to.open(&segment_name(last))?;
        copied.truncate(segment.length)?;
        copied.sync()?;
        end = segment.end();
    }
    // What makes it a chain comes last.
    file.save(to)?;
    unfinished::finish(to)?;
    Ok(end)
}

/// All of them, which are few: the oldest that the log can be followed from is always there, and which of the others the
/// log leads away from again is known only when all of it was read.
fn copy_checkpoints(from: &dyn Storage, to: &dyn Storage) -> io::Result<()> {
    for attempt in 1.. {
        let copied = checkpoints(from)?.into_iter().try_for_each(|height| copy(from, to, &checkpoint::name(height)));
        match copied {
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {}
            other => return other,
        }
    }
    Ok(())
}

fn copy(from: &dyn Storage, to: &dyn Storage, name: &str) -> io::Result<()> {
    let source = from.open(name)?;
    let length = source.length()?;
    let target = to.create_like(name, &*source)?;
    let mut buffer = Vec::new();
    let mut at = 0;
    while at < length {
        buffer.resize(CHUNK.min(length - at) as usize, 0);
        source.read_at(&mut buffer, at)?;
        target.write_at(&buffer, at)?;
        at += buffer.len() as u64;
    }
    target.sync()
}

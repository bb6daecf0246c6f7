//! Recovering the intact beginning of a damaged log.

use std::io;

use super::{ChainStore, checkpoint, checkpoints, reverts::Reverts};
use crate::log::{ChainIdentity, Extent, LogError};

/// The outcome of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// Entries that are left.
    pub end: u64,
    /// What was wrong with the next one.
    pub what: &'static str,
    /// Places of the files that were put aside.
    pub aside: Vec<String>,
}

/// Cuts the log off before the first entry that is damaged or missing, or that goes back to a state that no checkpoint
/// leads to, and puts everything after it aside. None if there is no such entry. Nothing is changed if no checkpoint is
/// left to begin with. Interrupted at any moment, it can be repeated.
pub fn repair(chain: &ChainStore, identity: ChainIdentity) -> Result<Option<Repaired>, LogError> {
    let ChainStore { storage, log } = chain;
    let failed = |source: io::Error| LogError::Io { file: storage.describe(""), source };
    let heights = checkpoints(&**storage).map_err(failed)?;
    let place = || storage.describe("");
    let Some((end, what)) = first_fault(log.verify(identity)?, &heights, &place)? else { return Ok(None) };
    let mut aside = Vec::new();
    // The newest first: at no time has the chain a checkpoint of entries that its log lacks.
    for at in heights.iter().rev().filter(|at| **at > end) {
        let (name, torn) = (checkpoint::name(*at), format!("torn-{}", checkpoint::name(*at)));
        storage.rename(&name, &torn).map_err(failed)?;
        aside.push(storage.describe(&torn));
    }
    storage.sync_names().map_err(failed)?;
    aside.extend(log.cut(identity, end)?);
    Ok(Some(Repaired { end, what, aside }))
}

/// The height before which the log is to be cut off, and the reason; none if it is in order.
fn first_fault(
    extent: Option<Extent>,
    checkpoints: &[u64],
    place: &dyn Fn() -> String,
) -> Result<Option<(u64, &'static str)>, LogError> {
    let (Some(&oldest), Some(&newest)) = (checkpoints.first(), checkpoints.last()) else {
        return Err(LogError::Beginning { place: place() });
    };
    let missing = |from, to| LogError::Missing { from, to, place: place() };
    let Some(Extent { heights, reverts: found, damage }) = extent else {
        return if oldest == newest { Ok(None) } else { Err(missing(oldest, newest)) };
    };
    if oldest < heights.start {
        return Err(missing(oldest, heights.start));
    }
    let mut reverts = Reverts::default();
    found.into_iter().for_each(|(at, to)| reverts.insert(at, to));
    let begins = |end: u64| checkpoints.iter().any(|height| reverts.leads(*height, end));
    if begins(heights.end) {
        let lost = (newest > heights.end).then_some("a checkpoint knows of it, but the log does not");
        return Ok(damage.or(lost).map(|what| (heights.end, what)));
    }
    // Without a checkpoint that leads to the end, one may be left that leads to where a revert goes away from it.
    let height = reverts.heights().find(|at| begins(*at));
    let height = height.ok_or_else(|| LogError::Beginning { place: place() })?;
    Ok(Some((height, "it goes back to a state that no checkpoint is left of")))
}

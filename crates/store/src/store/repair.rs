//! Repair of a damaged log, of which the intact beginning is kept.

use super::{ChainStore, checkpoint, checkpoints, reverts::Reverts};
use crate::{
    log::{ChainIdentity, Extent, LogError},
    storage::Storage,
};

/// The outcome of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// Height at which the log now ends.
    pub end: u64,
    /// The fault of the next entry.
    pub what: &'static str,
    /// Paths of the files that were put aside.
    pub aside: Vec<String>,
}

/// Truncates the log before the first entry that is damaged or missing, or that reverts to a state
/// of which no checkpoint is left, and puts everything after it aside. Returns `None` if there is
/// no such entry. Changes nothing if no usable checkpoint would be left. Can be repeated after an
/// interruption.
pub fn repair(chain: &ChainStore, identity: ChainIdentity) -> Result<Option<Repaired>, LogError> {
    let ChainStore { storage, log } = chain;
    let heights = checkpoints(&**storage).map_err(LogError::io(&**storage, ""))?;
    let Some((end, what)) = first_fault(log.verify(identity)?, &heights, &**storage)? else {
        return Ok(None);
    };

    Ok(Some(Repaired {
        end,
        what,
        aside: truncate(chain, identity, end)?,
    }))
}

/// Puts the entries of the log from height `end` on aside, with the checkpoints that include them.
/// Returns the paths of the files that were put aside. Can be repeated after an interruption.
pub fn truncate(
    chain: &ChainStore,
    identity: ChainIdentity,
    end: u64,
) -> Result<Vec<String>, LogError> {
    let ChainStore { storage, log } = chain;
    // Before the log is cut: at no time is there a checkpoint beyond the end of the log.
    let mut aside = checkpoint::put_aside(&**storage, end).map_err(LogError::io(&**storage, ""))?;
    aside.extend(log.cut(identity, end)?);
    Ok(aside)
}

/// Returns the height before which to truncate the log, and the reason, or `None` if the log is
/// intact.
fn first_fault(
    extent: Option<Extent>,
    checkpoints: &[u64],
    storage: &dyn Storage,
) -> Result<Option<(u64, &'static str)>, LogError> {
    let place = storage.describe("");
    let (Some(&oldest), Some(&newest)) = (checkpoints.first(), checkpoints.last()) else {
        return Err(LogError::Beginning { place });
    };

    let Some(Extent {
        heights,
        reverts: found,
        damage,
    }) = extent
    else {
        // With a single checkpoint nothing shows that there ever were entries.
        if oldest == newest {
            return Ok(None);
        }
        return Err(LogError::Missing {
            from: oldest,
            to: newest,
            place,
        });
    };

    // Compaction removes the older checkpoints before the entries, so these were lost.
    if oldest < heights.start {
        return Err(LogError::Missing {
            from: oldest,
            to: heights.start,
            place,
        });
    }

    let mut reverts = Reverts::default();
    found
        .into_iter()
        .for_each(|(at, to)| reverts.insert(at, to));
    let begins = |end: u64| checkpoints.iter().any(|height| reverts.leads(*height, end));
    if begins(heights.end) {
        let lost =
            (newest > heights.end).then_some("a checkpoint includes it, but the log does not");
        return Ok(damage.or(lost).map(|what| (heights.end, what)));
    }

    // Without a checkpoint for the present chain, one may be left for the chain before one of the
    // reverts.
    let height = reverts.heights().find(|at| begins(*at));
    let height = height.ok_or(LogError::Beginning { place })?;
    Ok(Some((
        height,
        "it reverts to a state of which no checkpoint is left",
    )))
}

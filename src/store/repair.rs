//! Going on with what is left of a damaged log.

use std::io;

use super::{checkpoint, checkpoints, reverts::Reverts, sealed::index_name};
use crate::{
    codec::Malformed,
    log::{ChainIdentity, Entry, LogError, Segment, Storage, Tail, segment_name, segments},
};

/// What became of a damaged log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// Entries that are left.
    pub end: u64,
    /// What was wrong with the next one.
    pub what: &'static str,
    /// Where the rest is now.
    pub aside: Vec<String>,
}

/// Where a log stops making sense.
struct Break {
    height: u64,
    what: &'static str,
    /// The intact beginning of the segment that it is in, if there is one.
    segment: Option<Segment>,
}

/// Cuts the log off before the first entry that is damaged or missing, or that goes back to what no checkpoint leads to, and
/// puts everything after it aside. None if there is no such entry. Nothing is changed if no checkpoint is left to begin with.
/// Ended at any moment, it can be done again.
pub fn repair(storage: &dyn Storage, identity: ChainIdentity) -> Result<Option<Repaired>, LogError> {
    let failed = |source: io::Error| LogError::Io { file: storage.describe(""), source };
    let firsts = segments(storage)?;
    let heights = checkpoints(storage).map_err(failed)?;
    let found = find(storage, &firsts, &heights, identity)?;
    let Some(Break { height, what, segment }) = found else { return Ok(None) };
    let mut aside = Vec::new();
    let mut put_aside = |name: String| {
        let torn = format!("torn-{name}");
        storage.rename(&name, &torn).map_err(failed)?;
        aside.push(storage.describe(&torn));
        Ok::<_, LogError>(())
    };
    // The newest first: what is there never has a hole that was not there before.
    for at in heights.iter().rev().filter(|at| **at > height) {
        put_aside(checkpoint::name(*at))?;
    }
    let kept = segment.as_ref().map(|segment| segment.first);
    for first in firsts.iter().rev().filter(|first| **first >= height && Some(**first) != kept) {
        put_aside(segment_name(*first))?;
    }
    for first in firsts.iter().filter(|first| **first >= kept.unwrap_or(height)) {
        match storage.remove(&index_name(*first)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    if let Some(segment) = segment {
        aside.push(segment.cut(storage)?);
    }
    storage.sync_names().map_err(failed)?;
    Ok(Some(Repaired { end: height, what, aside }))
}

fn find(
    storage: &dyn Storage,
    firsts: &[u64],
    checkpoints: &[u64],
    identity: ChainIdentity,
) -> Result<Option<Break>, LogError> {
    let (Some(&oldest), Some(&newest)) = (checkpoints.first(), checkpoints.last()) else {
        return Err(LogError::Beginning { place: storage.describe("") });
    };
    let missing = |from, to| LogError::Missing { from, to, place: storage.describe("") };
    let Some(&start) = firsts.first() else {
        return if oldest == newest { Ok(None) } else { Err(missing(oldest, newest)) };
    };
    if oldest < start {
        return Err(missing(oldest, start));
    }
    let mut reverts = Reverts::default();
    let (end, mut damage) = intact(storage, firsts, identity, &mut reverts)?;
    if damage.is_none() && newest > end {
        let what = "a checkpoint knows of it, but the log does not";
        damage = Some(Break { height: end, what, segment: None });
    }
    let begins = |end: u64| checkpoints.iter().any(|height| reverts.leads(*height, end));
    if begins(end) {
        return Ok(damage);
    }
    // Without a checkpoint that leads to the end, one may be left that leads to where a revert goes away from it.
    let Some(height) = reverts.heights().find(|at| begins(*at)) else {
        return Err(LogError::Beginning { place: storage.describe("") });
    };
    let segment = firsts.iter().rfind(|first| **first <= height);
    let segment = segment.map(|first| Segment::intact(storage, *first, Some(identity))).transpose()?;
    let what = "it goes back to a state that no checkpoint is left of";
    Ok(Some(Break { height, what, segment: segment.map(|(segment, _)| segment.ending_at(height)) }))
}

/// Where the intact beginning of the log ends, and why. Collects the reverts in it.
fn intact(
    storage: &dyn Storage,
    firsts: &[u64],
    identity: ChainIdentity,
    reverts: &mut Reverts,
) -> Result<(u64, Option<Break>), LogError> {
    let mut end = firsts.first().copied().unwrap_or(0);
    for (at, &first) in firsts.iter().enumerate() {
        if first > end {
            return Ok((end, Some(Break { height: end, what: "it is missing", segment: None })));
        }
        let (segment, damage) = match Segment::intact(storage, first, Some(identity)) {
            Ok(found) => found,
            Err(LogError::Damaged { what, .. }) => {
                return Ok((first, Some(Break { height: first, what, segment: None })));
            }
            Err(error) => return Err(error),
        };
        for stored in (first..segment.end()).filter_map(|height| segment.get(height)) {
            let height = stored.location.height;
            let malformed = |error: Malformed| LogError::Malformed { height, what: error.to_string() };
            if let Some(to) = Entry::reverts_to(&stored.bytes).map_err(malformed)? {
                reverts.insert(height, to);
            }
        }
        end = segment.end();
        // Of the last one a torn end is nothing that was ever acknowledged.
        let torn = "the file ends within an entry, and yet others follow";
        let damage = damage.or_else(|| (segment.tail == Tail::Torn && at + 1 < firsts.len()).then_some(torn));
        if let Some(what) = damage {
            return Ok((end, Some(Break { height: end, what, segment: Some(segment) })));
        }
    }
    Ok((end, None))
}

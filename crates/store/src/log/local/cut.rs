//! Truncating a log.

use super::{
    files::remove_offsets,
    segment::{Segment, segment_name, segments},
};
use crate::{
    log::{ChainIdentity, LogError},
    storage::{Storage, Tail},
};

/// Truncates a log before height `at` and puts the rest aside. Returns the new paths of the rest.
pub(super) fn cut(
    storage: &dyn Storage,
    identity: ChainIdentity,
    at: u64,
) -> Result<Vec<String>, LogError> {
    let firsts = segments(storage)?;

    // The segment that contains the cut, unless its head is damaged.
    let through = match firsts.iter().rfind(|first| **first <= at) {
        None => None,
        Some(&first) => match Segment::intact(storage, first, Some(identity)) {
            Ok((segment, damage)) => Some((segment, damage)),
            Err(LogError::Damaged { .. }) => None,
            Err(error) => return Err(error),
        },
    };

    let kept = through.as_ref().map(|(segment, _)| segment.first);
    let mut aside = Vec::new();
    // Newest first, so that no new gap appears.
    for first in firsts
        .iter()
        .rev()
        .filter(|first| **first >= at && Some(**first) != kept)
    {
        let name = segment_name(*first);
        let torn = format!("torn-{name}");
        storage
            .rename(&name, &torn)
            .map_err(LogError::io(storage, ""))?;
        remove_offsets(storage, *first).map_err(LogError::io(storage, ""))?;
        aside.push(storage.describe(&torn));
    }

    if let Some((segment, damage)) = through
        && (damage.is_some() || segment.tail == Tail::Torn || segment.end() > at)
    {
        remove_offsets(storage, segment.first).map_err(LogError::io(storage, ""))?;
        aside.push(segment.ending_at(at).cut(storage)?);
    }
    storage.sync_names().map_err(LogError::io(storage, ""))?;
    Ok(aside)
}

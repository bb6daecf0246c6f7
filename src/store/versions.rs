//! Which entries of one segment changed what of the state.

use std::collections::HashMap;

use alloy_primitives::map::DefaultHashBuilder;

use super::key::StateKey;
use crate::{log::Location, state::Changes};

/// There is none before it.
const NONE: u32 = u32::MAX;

/// The changes of a segment that still grows: for each key a chain of entries, the newest first.
#[derive(Debug, Default)]
pub(super) struct Versions {
    newest: HashMap<StateKey, u32, DefaultHashBuilder>,
    all: Vec<Version>,
}

#[derive(Clone, Copy, Debug)]
struct Version {
    key: StateKey,
    height: u64,
    offset: u64,
    /// The one before with the same key.
    older: u32,
}

impl Versions {
    /// Takes in what an entry changed.
    pub(super) fn insert(&mut self, location: Location, changes: &Changes) {
        for change in &changes.0 {
            let address = &change.address;
            self.push(StateKey::account(address), location);
            let is_gone = change.after.is_none();
            if is_gone || change.after.as_ref().is_some_and(|fields| fields.code.is_some()) {
                self.push(StateKey::code(address), location);
            }
            if is_gone || change.storage_wiped {
                self.push(StateKey::storage(address), location);
            }
            change.storage.iter().for_each(|(index, _)| self.push(StateKey::slot(address, *index), location));
        }
    }

    fn push(&mut self, key: StateKey, Location { height, offset, .. }: Location) {
        // A segment is far too small for so many.
        let Ok(at) = u32::try_from(self.all.len()) else { return };
        let older = self.newest.insert(key, at).unwrap_or(NONE);
        self.all.push(Version { key, height, offset, older });
    }

    /// The newest entry below a height that has this key and counts, and its place in the segment.
    pub(super) fn before(&self, key: StateKey, below: u64, counts: impl Fn(u64) -> bool) -> Option<(u64, u64)> {
        let mut at = *self.newest.get(&key)?;
        while let Some(version) = self.all.get(at as usize) {
            if version.height < below && counts(version.height) {
                return Some((version.height, version.offset));
            }
            at = version.older;
        }
        None
    }

    /// Key, height and offset of each, in order.
    pub(super) fn rows(&self) -> Vec<[u64; 3]> {
        let mut rows: Vec<_> = self.all.iter().map(|version| [version.key.0, version.height, version.offset]).collect();
        rows.sort_unstable();
        rows
    }
}

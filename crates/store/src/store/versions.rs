//! The state index of the growing part: the entries that changed each account and slot.

use std::collections::HashMap;

use alloy_primitives::map::DefaultHashBuilder;
use tetrad_primitives::state::{AccountPart, Changes};

use super::key::StateKey;

/// The index that stands for no older version.
const NONE: u32 = u32::MAX;

/// Heights of changes, as a linked list for each key, newest first.
#[derive(Debug, Default)]
pub(super) struct Versions {
    newest: HashMap<StateKey, u32, DefaultHashBuilder>,
    all: Vec<Version>,
}

#[derive(Clone, Copy, Debug)]
struct Version {
    key: StateKey,
    height: u64,
    /// The index of the next older version with the same key.
    older: u32,
}

impl Versions {
    /// Adds the changes of the entry at `height`.
    pub(super) fn insert(&mut self, height: u64, changes: &Changes) {
        for change in &changes.0 {
            let address = &change.address;
            self.push(StateKey::of(address, AccountPart::Fields), height);

            // A removed account loses its code and its storage as well.
            let is_gone = change.after.is_none();
            if is_gone
                || change
                    .after
                    .as_ref()
                    .is_some_and(|fields| fields.code.is_some())
            {
                self.push(StateKey::of(address, AccountPart::Code), height);
            }
            if is_gone || change.storage_wiped {
                self.push(StateKey::of(address, AccountPart::Storage), height);
            }

            change.storage.iter().for_each(|(index, _)| {
                self.push(StateKey::of(address, AccountPart::Slot(*index)), height)
            });
        }
    }

    fn push(&mut self, key: StateKey, height: u64) {
        // A part is far too small to have more versions than this.
        let Ok(at) = u32::try_from(self.all.len()) else {
            return;
        };
        let older = self.newest.insert(key, at).unwrap_or(NONE);
        self.all.push(Version { key, height, older });
    }

    /// Returns the height of the newest entry below a height that has this key and that
    /// `is_in_effect` accepts.
    pub(super) fn before(
        &self,
        key: StateKey,
        below: u64,
        is_in_effect: impl Fn(u64) -> bool,
    ) -> Option<u64> {
        let mut at = *self.newest.get(&key)?;
        while let Some(version) = self.all.get(at as usize) {
            if version.height < below && is_in_effect(version.height) {
                return Some(version.height);
            }
            at = version.older;
        }
        None
    }

    /// Returns key and height of each version, in ascending order.
    pub(super) fn rows(&self) -> Vec<[u64; 2]> {
        let mut rows: Vec<_> = self
            .all
            .iter()
            .map(|version| [version.key.0, version.height])
            .collect();
        rows.sort_unstable();
        rows
    }
}

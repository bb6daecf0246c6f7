//! The reverts of a log, which determine the entries in effect.
//!
//! A revert at height `at` to height `to` restores the chain as it was when the log had `to`
//! entries. It undoes every entry from `to` up to itself, including earlier reverts, so that
//! entries below `to` which those had undone are in effect again. The reverts in effect after it
//! are therefore itself and those that were in effect at height `to`, the last of which is the last
//! revert below `to`. Reverts thus form a tree, in which those in effect at any height are one
//! path.

/// The reverts of a log, in order.
#[derive(Debug, Default)]
pub(super) struct Reverts {
    all: Vec<Revert>,
}

#[derive(Clone, Copy, Debug)]
struct Revert {
    at: u64,
    to: u64,
    /// Number of reverts in effect right after this one.
    depth: usize,
    /// The previous one of those.
    before: Option<usize>,
    /// An earlier one of those, so that a path is walked in a logarithmic number of steps.
    leap: Option<usize>,
}

impl Reverts {
    /// Adds a revert. One that is already known, because two parts of the index have it, changes
    /// nothing.
    pub(super) fn insert(&mut self, at: u64, to: u64) {
        if self.all.last().is_some_and(|last| last.at >= at) {
            return;
        }

        let before = self.last_below(to.min(at));
        let depth = 1 + self.depth(before);
        let leap = before.and_then(|near| {
            let middle = self.all[near].leap;
            let far = middle.and_then(|middle| self.all[middle].leap);
            let near_depth = depth - 1;
            let middle_depth = self.depth(middle);
            let far_depth = self.depth(far);
            // Two leaps of the same length are joined to one.
            if near_depth - middle_depth == middle_depth - far_depth {
                far
            } else {
                Some(near)
            }
        });

        self.all.push(Revert {
            at,
            to,
            depth,
            before,
            leap,
        });
    }

    /// Returns whether the entry at this height was reverted when the log had `end` entries.
    pub(super) fn is_void(&self, height: u64, end: u64) -> bool {
        let later = |at: &usize| self.all[*at].at > height;
        let Some(mut at) = self.last_below(end).filter(later) else {
            return false;
        };

        // The oldest revert in effect after the entry decides, since it undoes the most.
        loop {
            let Revert {
                to, before, leap, ..
            } = self.all[at];
            match leap.filter(later).or_else(|| before.filter(later)) {
                Some(older) => at = older,
                None => return to <= height,
            }
        }
    }

    /// Returns whether the chain as it was when the log had `end` entries can be replayed from a
    /// checkpoint at `height`.
    pub(super) fn leads(&self, height: u64, end: u64) -> bool {
        height <= end
            && height
                .checked_sub(1)
                .is_none_or(|last| !self.is_void(last, end))
    }

    /// Iterates over the heights of all reverts, newest first.
    pub(super) fn heights(&self) -> impl Iterator<Item = u64> {
        self.all.iter().rev().map(|revert| revert.at)
    }

    fn last_below(&self, height: u64) -> Option<usize> {
        self.all
            .partition_point(|revert| revert.at < height)
            .checked_sub(1)
    }

    fn depth(&self, at: Option<usize>) -> usize {
        at.map_or(0, |at| self.all[at].depth)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, time::Instant};

    use proptest::prelude::*;

    use super::*;

    /// Returns the entries in effect at each height, by definition.
    fn model(entries: &[Option<u64>]) -> Vec<BTreeSet<u64>> {
        let mut counts = vec![BTreeSet::new()];
        for (at, entry) in entries.iter().enumerate() {
            let mut next: BTreeSet<u64> = counts[entry.map_or(at, |to| to as usize)].clone();
            next.insert(at as u64);
            counts.push(next);
        }
        counts
    }

    proptest! {
        #[test]
        fn entries_in_effect_at_any_height_match_the_model(
            raw in prop::collection::vec(prop::option::weighted(0.4, 0..1_000_u64), 0..120),
        ) {
            assert_matches_the_model(&raw)?;
        }
    }

    fn assert_matches_the_model(raw: &[Option<u64>]) -> Result<(), TestCaseError> {
        let entries: Vec<Option<u64>> = raw
            .iter()
            .enumerate()
            .map(|(at, to)| to.map(|to| to % (at as u64 + 1)))
            .collect();
        let mut reverts = Reverts::default();
        for (at, to) in entries.iter().enumerate() {
            if let Some(to) = to {
                reverts.insert(at as u64, *to);
                reverts.insert(at as u64, *to);
            }
        }

        let counts = model(&entries);
        for (end, counting) in counts.iter().enumerate() {
            for (height, before) in counts.iter().enumerate().take(end) {
                prop_assert_eq!(
                    reverts.is_void(height as u64, end as u64),
                    !counting.contains(&(height as u64)),
                    "entry {} of {}",
                    height,
                    end
                );
                let leads = before.iter().all(|own| counting.contains(own))
                    && counting
                        .range(..height as u64)
                        .all(|own| before.contains(own));
                prop_assert_eq!(
                    reverts.leads(height as u64, end as u64),
                    leads,
                    "from {} to {}",
                    height,
                    end
                );
            }
        }
        Ok(())
    }

    #[test]
    fn many_reverts_are_inserted_and_queried_quickly() {
        const COUNT: u64 = 200_000;
        let mut reverts = Reverts::default();
        let start = Instant::now();
        for pair in 0..COUNT {
            reverts.insert(2 * pair + 1, 2 * pair);
        }
        // Alternately reverts to the middle and undoes that.
        for round in 0..COUNT {
            let at = 2 * COUNT + round;
            reverts.insert(at, if round % 2 == 0 { COUNT } else { at - 1 });
        }

        let void = (0..3 * COUNT)
            .filter(|height| reverts.is_void(*height, 3 * COUNT))
            .count();
        assert!(
            void > 0 && start.elapsed().as_secs() < 20,
            "{void} in {:?}",
            start.elapsed()
        );
    }
}

//! Price bars and volumes of each minute of a month.
//!
//! Minutes are grouped by hours, which clones share: a clone costs no more than a list of seven
//! hundred pointers.

mod stored;

use std::{collections::VecDeque, sync::Arc};

use tetrad_stdx::calendar::{DAY, MINUTE};

/// Minutes of a group.
const GROUP_MINUTES: u64 = 60;
/// Minutes of a day.
const DAY_MINUTES: u64 = DAY / MINUTE;
/// Minutes that queries may reach back: thirty days and the current minute.
const QUERIED_MINUTES: u64 = 30 * DAY_MINUTES + 1;
/// Minutes before the current one that are held: a day more, so that a revert does not mean
/// rebuilding.
const HELD_MINUTES: u64 = QUERIED_MINUTES + DAY_MINUTES;

/// Opening, highest, lowest and closing price of some time, in US dollars × 10^8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The price at the beginning.
    pub open: u64,
    /// The highest price.
    pub high: u64,
    /// The lowest price.
    pub low: u64,
    /// The price at the end.
    pub close: u64,
}

impl Bar {
    /// A price that did not move.
    pub(super) fn flat(price: u64) -> Self {
        Self {
            open: price,
            high: price,
            low: price,
            close: price,
        }
    }

    /// This bar followed by `next`, as one.
    pub(super) fn then(self, next: Self) -> Self {
        Self {
            open: self.open,
            high: self.high.max(next.high),
            low: self.low.min(next.low),
            close: next.close,
        }
    }

    fn to(&mut self, price: u64) {
        *self = self.then(Self::flat(price));
    }
}

/// All tokens' bars of one minute. Consecutive minutes with equal bars share a row.
type MinuteRow = Arc<[Bar]>;

/// Consecutive minutes, and their volumes: minute, token and US dollars × 10^8.
#[derive(Clone, Debug, Default)]
struct Group {
    rows: Vec<MinuteRow>,
    volumes: Vec<(u64, usize, u128)>,
}

/// The minutes, numbered since the Unix epoch.
#[derive(Clone, Debug)]
pub(super) struct Minutes {
    /// Past minutes by hours. The first and the last hour may be incomplete.
    groups: VecDeque<Arc<Group>>,
    /// The minute at which recording began.
    origin: u64,
    /// The oldest minute that is held.
    first: u64,
    /// The current minute.
    present: u64,
    /// The newest minute that cannot be rebuilt from blocks, beyond which there is no rewind.
    fixed: u64,
    /// Each token's bar of the current minute.
    bars: Vec<Bar>,
    /// Volumes of the current minute: token and US dollars × 10^8.
    volumes: Vec<(usize, u128)>,
}

impl Minutes {
    /// Returns minutes that begin at `time` with these prices.
    pub(super) fn starting(time: u64, prices: &[u64]) -> Self {
        let number = time / MINUTE;
        let bars = prices.iter().copied().map(Bar::flat).collect();
        Self {
            groups: VecDeque::new(),
            origin: number,
            first: number,
            present: number,
            fixed: number,
            bars,
            volumes: Vec::new(),
        }
    }

    /// Marks all minutes so far as not derived from blocks.
    pub(super) fn fix(&mut self) {
        self.fixed = self.present;
    }

    /// Advances to `time`.
    pub(super) fn advance(&mut self, time: u64) {
        let target = time / MINUTE;
        if target <= self.present {
            return;
        }

        let over = MinuteRow::from(self.bars.as_slice());
        let volumes = std::mem::take(&mut self.volumes);
        self.push(over, volumes);
        for bar in &mut self.bars {
            *bar = Bar::flat(bar.close);
        }

        let flat = MinuteRow::from(self.bars.as_slice());
        if target - self.present > HELD_MINUTES {
            // All minutes held are older than any query reaches.
            self.groups.clear();
            self.present = target - HELD_MINUTES;
            self.first = self.present;
        }

        while self.present < target {
            self.push(flat.clone(), Vec::new());
        }
        self.forget();
    }

    /// Returns the index of the group of a minute, which is at or after the oldest one held.
    fn group_index(&self, minute: u64) -> usize {
        (minute / GROUP_MINUTES - self.first / GROUP_MINUTES) as usize
    }

    /// Returns the first minute of the group of a minute.
    fn group_start(&self, minute: u64) -> u64 {
        let hour_start = minute - minute % GROUP_MINUTES;
        hour_start.max(self.first)
    }

    /// Ends the current minute with this row.
    fn push(&mut self, row: MinuteRow, volumes: Vec<(usize, u128)>) {
        if self.present.is_multiple_of(GROUP_MINUTES) || self.groups.is_empty() {
            self.groups.push_back(Arc::default());
        }

        if let Some(group) = self.groups.back_mut() {
            let group = Arc::make_mut(group);
            // Minutes without a change share a row.
            let same = group.rows.last().filter(|last| ***last == *row).cloned();
            group.rows.push(same.unwrap_or(row));
            group.volumes.extend(
                volumes
                    .into_iter()
                    .map(|(token, usd_e8)| (self.present, token, usd_e8)),
            );
        }

        self.present += 1;
    }

    /// Drops groups that are older than any query reaches.
    fn forget(&mut self) {
        while self.present - self.first > HELD_MINUTES {
            let Some(group) = self.groups.pop_front() else {
                return;
            };
            self.first += group.rows.len() as u64;
        }
    }

    /// Sets the price of a token from `time` on, which is within the current minute.
    pub(super) fn set(&mut self, token: usize, price: u64, time: u64) {
        // A price set at the very start of a minute is its opening price.
        if time == self.present * MINUTE {
            self.bars[token] = Bar::flat(price);
        } else {
            self.bars[token].to(price);
        }
    }

    /// Adds to the volume of a token in the current minute.
    pub(super) fn add_volume(&mut self, token: usize, usd_e8: u128) {
        match self.volumes.iter_mut().find(|(of, _)| *of == token) {
            Some((_, volume)) => *volume = volume.saturating_add(usd_e8),
            None => self.volumes.push((token, usd_e8)),
        }
    }

    /// Rewinds to the end of the minute before the one of `time`. Returns that end in seconds, or
    /// `None` if minutes that queries reach cannot be restored.
    pub(super) fn rewind(&mut self, time: u64) -> Option<u64> {
        let target = (time / MINUTE).min(self.present);
        if target <= self.fixed {
            return None;
        }

        let before = self.bar_rows(target.checked_sub(1)?)?;
        let oldest_queried = target.saturating_sub(QUERIED_MINUTES).max(self.origin);
        if self.first > oldest_queried {
            return None;
        }

        self.bars = before.iter().map(|bar| Bar::flat(bar.close)).collect();
        self.volumes.clear();
        self.drop_from(target);
        Some(target * MINUTE - 1)
    }

    /// Drops the past minutes from `target` on, which becomes the current one.
    fn drop_from(&mut self, target: u64) {
        while self.present > target {
            let Some(newest) = self.groups.back_mut() else {
                return;
            };

            let held = newest.rows.len() as u64;
            let surplus = self.present - target;
            if surplus >= held {
                self.groups.pop_back();
                self.present -= held;
                continue;
            }

            let newest = Arc::make_mut(newest);
            newest.rows.truncate((held - surplus) as usize);
            newest.volumes.retain(|(minute, ..)| *minute < target);
            self.present = target;
        }
    }

    /// Returns each token's bar of a minute that is held.
    fn bar_rows(&self, number: u64) -> Option<&[Bar]> {
        if number == self.present {
            return Some(&self.bars);
        }
        if !(self.first..self.present).contains(&number) {
            return None;
        }

        let group = self.groups.get(self.group_index(number))?;
        let index = number - self.group_start(number);
        group.rows.get(index as usize).map(|row| &**row)
    }

    /// A token's bar of a minute that is held.
    pub(super) fn bar(&self, number: u64, token: usize) -> Option<Bar> {
        self.bar_rows(number)?.get(token).copied()
    }

    /// Returns the start of the minute of `time`, and the price then. If the minute is not held,
    /// the oldest or the newest one takes its place.
    pub(super) fn at(&self, time: u64, token: usize) -> Option<(u64, u64)> {
        let number = (time / MINUTE).clamp(self.first, self.present);
        self.bar(number, token)
            .map(|bar| (number * MINUTE, bar.open))
    }

    /// The current price.
    pub(super) fn price(&self, token: usize) -> u64 {
        self.bars.get(token).map_or(0, |bar| bar.close)
    }

    /// The volume of each token since the beginning of minute `from`.
    pub(super) fn volumes_since(&self, from: u64) -> Vec<u128> {
        let mut sums = vec![0u128; self.bars.len()];

        if self.present >= from {
            for (token, usd_e8) in &self.volumes {
                add_volume(&mut sums, *token, *usd_e8);
            }
        }

        let first_group = self.group_index(from.max(self.first));
        for group in self.groups.iter().skip(first_group) {
            for (minute, token, usd_e8) in &group.volumes {
                if *minute >= from {
                    add_volume(&mut sums, *token, *usd_e8);
                }
            }
        }
        sums
    }

    /// Returns the volume of a token within the minutes of one candle.
    pub(super) fn volume(&self, token: usize, minutes: std::ops::Range<u64>) -> u128 {
        let last = minutes.end.saturating_sub(1);
        let first_group = self.group_index(minutes.start.max(self.first));
        let last_group = self.group_index(last.max(self.first));

        let past = self
            .groups
            .iter()
            .take(last_group.saturating_add(1))
            .skip(first_group)
            .flat_map(|group| &group.volumes)
            .filter(|(minute, of, _)| *of == token && minutes.contains(minute))
            .map(|(.., usd_e8)| *usd_e8);
        let present = self
            .volumes
            .iter()
            .filter(|(of, _)| *of == token && minutes.contains(&self.present))
            .map(|(_, usd_e8)| *usd_e8);

        past.chain(present).fold(0, u128::saturating_add)
    }

    /// The minutes that are held, including the current one.
    pub(super) fn held(&self) -> std::ops::RangeInclusive<u64> {
        self.first..=self.present
    }

    /// Whether the first minute of all is still held.
    pub(super) fn is_complete(&self) -> bool {
        self.first == self.origin
    }
}

fn add_volume(sums: &mut [u128], token: usize, usd_e8: u128) {
    if let Some(sum) = sums.get_mut(token) {
        *sum = sum.saturating_add(usd_e8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_what_happened_in_its_minute() {
        let mut minutes = Minutes::starting(100, &[5]);
        minutes.set(0, 7, 100);
        minutes.set(0, 3, 119);
        minutes.advance(120);
        minutes.set(0, 9, 120);
        minutes.advance(250);
        assert_eq!(
            minutes.bar(1, 0),
            Some(Bar {
                open: 5,
                high: 7,
                low: 3,
                close: 3
            })
        );
        assert_eq!(
            minutes.bar(2, 0),
            Some(Bar::flat(9)),
            "a price at the very beginning is the first"
        );
        assert_eq!((minutes.bar(0, 0), minutes.bar(5, 0)), (None, None));
        assert_eq!(
            (minutes.at(0, 0), minutes.at(179, 0), minutes.at(9_999, 0)),
            (Some((60, 5)), Some((120, 9)), Some((240, 9)))
        );
    }

    #[test]
    fn a_month_is_held_and_no_more() {
        let mut minutes = Minutes::starting(0, &[5, 6]);
        for n in 1..=50_000u64 {
            minutes.advance(n * MINUTE + 1);
            minutes.set(0, n, n * MINUTE + 1);
            minutes.add_volume(1, 2);
        }
        let held = minutes.held();
        assert!(
            held.end() - held.start() >= QUERIED_MINUTES - 1
                && held.end() - held.start() <= HELD_MINUTES,
            "{held:?}"
        );
        assert_eq!(minutes.bar(40_000, 0).map(|bar| bar.close), Some(40_000));
        assert_eq!(minutes.volumes_since(50_000 - 9), [0, 20]);
        assert_eq!(minutes.volume(1, 49_000..49_060), 120);
        assert!(!minutes.is_complete());
    }

    #[test]
    fn a_jump_of_ages_costs_no_more_than_a_month() {
        let mut minutes = Minutes::starting(0, &[5]);
        minutes.set(0, 8, 10);
        minutes.advance(u64::MAX);
        assert!(minutes.groups.len() as u64 <= HELD_MINUTES / GROUP_MINUTES + 2);
        assert_eq!(minutes.at(0, 0).map(|(_, price)| price), Some(8));
        assert_eq!(minutes.rewind(0), None);
    }
}

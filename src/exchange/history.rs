//! What prices were and how much was traded: a month by the minute.

mod file;

use super::{
    feed::Simulation,
    minutes::{MINUTE, Minutes},
};

pub use super::minutes::Bar;
pub(super) use file::{KeptHistory, kept_until};

/// Seconds in an hour and a day.
const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;
/// Hours of the past that are made up before the first block, besides a day by the minute: thirty days in all.
const SEEDED_HOURS: u64 = 29 * 24 + 1;

/// Where refused updates are counted, beside what was paid for tokens.
const REJECTIONS: usize = usize::MAX;

/// Past prices and volumes, derived from blocks in order. Times are seconds since the Unix epoch, prices US dollars ×
/// 10^8, tokens positions in the network's list.
#[derive(Clone, Debug)]
pub struct History {
    minutes: Minutes,
}

/// What happened in one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) time: u64,
    pub(super) prices: &'a [(usize, u64)],
    pub(super) trades: &'a [(usize, u128)],
    pub(super) rejections: u64,
}

impl History {
    /// A history that begins at `time` with these prices.
    pub(super) fn starting(time: u64, prices: &[u64]) -> Self {
        Self { minutes: Minutes::starting(time, prices) }
    }

    /// A history before the first block, which has time `genesis` and prices `prices`: a day by the minute, and before
    /// that a month by the hour, made up by the simulation.
    pub(super) fn seeded(simulation: &Simulation, genesis: u64, prices: &[u64]) -> Self {
        let mut market = simulation.backwards(genesis);
        // Newest first: instants before the first block, by the minute for a day, then by the hour.
        let last = genesis.saturating_sub(1);
        let minute_rows = last / MINUTE - last.saturating_sub(DAY) / MINUTE;
        let minutes: Vec<_> = (0..minute_rows).map(|n| (last / MINUTE - n) * MINUTE).collect();
        let day_ago = minutes.last().copied().unwrap_or(0);
        let hours = (1..=SEEDED_HOURS.min(day_ago / HOUR)).map(|n| (day_ago.div_ceil(HOUR) - n) * HOUR);
        let past: Vec<(u64, Vec<(usize, u64)>)> = minutes
            .into_iter()
            .chain(hours)
            .map(|time| (time, market.at(time).iter().copied().enumerate().collect()))
            .collect();

        let mut history = match past.last() {
            Some((oldest, row)) => Self::starting(*oldest, &row.iter().map(|(_, price)| *price).collect::<Vec<_>>()),
            None => Self::starting(genesis, prices),
        };
        past.iter()
            .rev()
            .for_each(|(time, row)| history.apply(Entry { time: *time, prices: row, trades: &[], rejections: 0 }));
        history.minutes.advance(genesis);
        history.minutes.seal();
        history
    }

    /// Takes in the next block.
    pub(super) fn apply(&mut self, entry: Entry<'_>) {
        self.minutes.advance(entry.time);
        entry.prices.iter().for_each(|(token, price)| self.minutes.set(*token, *price, entry.time));
        entry.trades.iter().for_each(|(token, usd_e8)| self.minutes.add_volume(*token, *usd_e8));
        if entry.rejections > 0 {
            self.minutes.add_volume(REJECTIONS, entry.rejections.into());
        }
    }

    /// Goes back to before `time`. Returns from when on blocks have to be applied again: those later than that. None if
    /// too much of the past is gone, and the history has to be made anew.
    pub(super) fn rewind(&mut self, time: u64) -> Option<u64> {
        self.minutes.rewind(time)
    }

    /// The price that held a day before `now`, to the minute; if that is not known, the oldest that is.
    pub fn day_ago(&self, token: usize, now: u64) -> u64 {
        self.minutes.at(now.saturating_sub(DAY), token).map_or(self.minutes.price(token), |(_, price)| price)
    }

    /// By how much the price has changed within a day, in hundredths of a per cent, halves away from zero.
    pub fn change_24h(&self, token: usize, price: u64, now: u64) -> i128 {
        let before = i128::from(self.day_ago(token, now));
        if before == 0 {
            return 0;
        }
        let doubled = 2 * (i128::from(price) - before) * 10_000;
        (doubled + doubled.signum() * before) / (2 * before)
    }

    /// What was paid for each token within the day before `now`, to the minute, in US dollars × 10^8.
    pub fn volumes_24h(&self, now: u64) -> Vec<u128> {
        self.minutes.volumes_since(day_before(now))
    }

    /// How many updates the oracle refused within the day before `now`, to the minute.
    pub fn rejections_24h(&self, now: u64) -> u64 {
        let minutes = day_before(now)..self.minutes.held().end() + 1;
        self.minutes.volume(REJECTIONS, minutes).try_into().unwrap_or(u64::MAX)
    }

    /// At most `count` prices of the `seconds` before `now`, evenly spaced, each with its time, oldest first. The last is
    /// the present one.
    pub fn series(&self, token: usize, price: u64, now: u64, seconds: u64, count: u64) -> Vec<(u64, u64)> {
        let start = now.saturating_sub(seconds);
        let mut series: Vec<(u64, u64)> = Vec::with_capacity(count as usize);
        for n in 1..count {
            let wanted = start + (u128::from(seconds) * u128::from(n) / u128::from(count)) as u64;
            let Some((time, price)) = self.minutes.at(wanted, token) else { continue };
            if time < now && series.last().is_none_or(|(last, _)| *last < time) {
                series.push((time, price));
            }
        }
        series.push((now, price));
        series
    }

    /// The newest `count` intervals of `seconds` each, which is a number of minutes, oldest first: when each began, what
    /// the price did, and what was paid. The one of `now` is not over. Those that are not known whole are left out,
    /// unless the history begins with them.
    pub fn candles(&self, token: usize, now: u64, seconds: u64, count: u64) -> Vec<(u64, Bar, u128)> {
        let (length, last) = (seconds / MINUTE, now / seconds);
        let held = self.minutes.held();
        let begun = held.start() / length;
        let oldest = if self.minutes.is_complete() { begun } else { held.start().div_ceil(length) };
        let candle = |number: u64| {
            let minutes = number * length..(number + 1) * length;
            let within = minutes.start.max(*held.start())..minutes.end.min(held.end() + 1);
            let bars = within.filter_map(|minute| self.minutes.bar(minute, token));
            let bar = bars.reduce(Bar::then)?;
            Some((number * seconds, bar, self.minutes.volume(token, minutes)))
        };
        (oldest.max((last + 1).saturating_sub(count))..=last).filter_map(candle).collect()
    }
}

/// The first minute that is whole within the day before `now`.
fn day_before(now: u64) -> u64 {
    now.checked_sub(DAY).map_or(0, |from| from / MINUTE + 1)
}

#[cfg(test)]
mod tests;

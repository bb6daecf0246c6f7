//! Past prices and volumes: a month by the minute.

mod file;

use tetrad_stdx::calendar::{DAY, HOUR, MINUTE};

pub(super) use file::{KeptHistory, kept_until};

pub(crate) use super::minutes::Bar;
use super::{feed::Simulation, minutes::Minutes};

/// Simulated hours before the first block, in addition to a day by the minute: thirty days in all.
const SEEDED_HOURS: u64 = 29 * 24 + 1;

/// The token index under which rejected updates are counted among the volumes.
const REJECTIONS: usize = usize::MAX;

/// Past prices and volumes, derived from blocks in order. Times are seconds since the Unix epoch,
/// prices US dollars × 10^8, tokens positions in the network's list.
#[derive(Clone, Debug)]
pub struct PriceHistory {
    minutes: Minutes,
}

/// Prices and volumes of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPrices<'a> {
    pub(super) time: u64,
    pub(super) prices: &'a [(usize, u64)],
    pub(super) trades: &'a [(usize, u128)],
    pub(super) rejections: u64,
}

impl PriceHistory {
    /// A history that begins at `time` with these prices.
    pub(super) fn starting(time: u64, prices: &[u64]) -> Self {
        Self {
            minutes: Minutes::starting(time, prices),
        }
    }

    /// A simulated history before the first block, which has time `genesis` and prices `prices`: a
    /// day by the minute, and before that a month by the hour.
    pub(super) fn seeded(simulation: &Simulation, genesis: u64, prices: &[u64]) -> Self {
        let mut market = simulation.backwards(genesis);

        // Instants before the first block, newest first: by the minute for a day, then by the hour.
        let last = genesis.saturating_sub(1);
        let minute_rows = last / MINUTE - last.saturating_sub(DAY) / MINUTE;
        let minutes: Vec<_> = (0..minute_rows)
            .map(|n| (last / MINUTE - n) * MINUTE)
            .collect();
        let day_ago = minutes.last().copied().unwrap_or(0);
        let hours =
            (1..=SEEDED_HOURS.min(day_ago / HOUR)).map(|n| (day_ago.div_ceil(HOUR) - n) * HOUR);

        let past: Vec<(u64, Vec<(usize, u64)>)> = minutes
            .into_iter()
            .chain(hours)
            .map(|time| (time, market.at(time).iter().copied().enumerate().collect()))
            .collect();

        let mut history = match past.last() {
            Some((oldest, row)) => Self::starting(
                *oldest,
                &row.iter().map(|(_, price)| *price).collect::<Vec<_>>(),
            ),
            None => Self::starting(genesis, prices),
        };
        for (time, row) in past.iter().rev() {
            history.apply(BlockPrices {
                time: *time,
                prices: row,
                trades: &[],
                rejections: 0,
            });
        }

        history.minutes.advance(genesis);
        history.minutes.fix();
        history
    }

    /// Applies the next block.
    pub(super) fn apply(&mut self, entry: BlockPrices<'_>) {
        self.minutes.advance(entry.time);
        for (token, price) in entry.prices {
            self.minutes.set(*token, *price, entry.time);
        }
        for (token, usd_e8) in entry.trades {
            self.minutes.add_volume(*token, *usd_e8);
        }
        if entry.rejections > 0 {
            self.minutes.add_volume(REJECTIONS, entry.rejections.into());
        }
    }

    /// Returns the number of prices by the minute that are held, of each token.
    pub(super) fn prices_held(&self) -> u64 {
        let held = self.minutes.held();
        held.end() - held.start() + 1
    }

    /// Rewinds to before `time`. Returns the instant after which blocks have to be applied again;
    /// none if too much of the past is gone and the history has to be rebuilt.
    pub(super) fn rewind(&mut self, time: u64) -> Option<u64> {
        self.minutes.rewind(time)
    }

    /// The price a day before `now`, to the minute; the oldest known one if the history is shorter.
    pub(crate) fn day_ago(&self, token: usize, now: u64) -> u64 {
        self.minutes
            .at(now.saturating_sub(DAY), token)
            .map_or(self.minutes.price(token), |(_, price)| price)
    }

    /// The change of the price within a day, in hundredths of a per cent, halves rounded away from
    /// zero.
    pub(crate) fn change_24h(&self, token: usize, price: u64, now: u64) -> i128 {
        let before = i128::from(self.day_ago(token, now));
        if before == 0 {
            return 0;
        }
        let doubled = 2 * (i128::from(price) - before) * 10_000;
        (doubled + doubled.signum() * before) / (2 * before)
    }

    /// The volume of each token within the day before `now`, to the minute, in US dollars × 10^8.
    pub(crate) fn volumes_24h(&self, now: u64) -> Vec<u128> {
        self.minutes.volumes_since(day_before(now))
    }

    /// The number of updates that the oracle rejected within the day before `now`, to the minute.
    pub fn rejections_24h(&self, now: u64) -> u64 {
        let minutes = day_before(now)..self.minutes.held().end() + 1;
        self.minutes
            .volume(REJECTIONS, minutes)
            .try_into()
            .unwrap_or(u64::MAX)
    }

    /// At most `count` prices of the `seconds` before `now`, evenly spaced, each with its time,
    /// oldest first. The last is the present one.
    pub fn series(
        &self,
        token: usize,
        price: u64,
        now: u64,
        seconds: u64,
        count: u64,
    ) -> Vec<(u64, u64)> {
        let start = now.saturating_sub(seconds);

        let mut series: Vec<(u64, u64)> = Vec::with_capacity(count as usize);
        for n in 1..count {
            let wanted = start + (u128::from(seconds) * u128::from(n) / u128::from(count)) as u64;
            let Some((time, price)) = self.minutes.at(wanted, token) else {
                continue;
            };
            if time < now && series.last().is_none_or(|(last, _)| *last < time) {
                series.push((time, price));
            }
        }

        series.push((now, price));
        series
    }

    /// The newest `count` intervals of `seconds` each, a whole number of minutes, oldest first:
    /// start, bar and volume. The last one contains `now` and has not ended. Intervals that are
    /// known in part only are left out, unless the history begins with them.
    pub fn candles(
        &self,
        token: usize,
        now: u64,
        seconds: u64,
        count: u64,
    ) -> Vec<(u64, Bar, u128)> {
        let length = seconds / MINUTE;
        let last = now / seconds;
        let held = self.minutes.held();
        let begun = held.start() / length;
        // What is held may begin in the middle of a period, whose candle would be incomplete.
        let oldest = if self.minutes.is_complete() {
            begun
        } else {
            held.start().div_ceil(length)
        };

        (oldest.max((last + 1).saturating_sub(count))..=last)
            .filter_map(|number| self.candle(token, seconds, number))
            .collect()
    }

    /// The interval of `seconds` with this number since the Unix epoch, as far as it is held.
    fn candle(&self, token: usize, seconds: u64, number: u64) -> Option<(u64, Bar, u128)> {
        let length = seconds / MINUTE;
        let minutes = number * length..(number + 1) * length;

        let held = self.minutes.held();
        let within = minutes.start.max(*held.start())..minutes.end.min(held.end() + 1);
        let bars = within.filter_map(|minute| self.minutes.bar(minute, token));
        let bar = bars.reduce(Bar::then)?;
        Some((number * seconds, bar, self.minutes.volume(token, minutes)))
    }
}

/// The first minute that is whole within the day before `now`.
fn day_before(now: u64) -> u64 {
    now.checked_sub(DAY).map_or(0, |from| from / MINUTE + 1)
}

#[cfg(test)]
mod tests;

//! What prices were and how much was traded: a day by the minute, a month by the hour.

use std::{collections::VecDeque, sync::Arc};

use super::{
    feed::Simulation,
    ring::{Ring, Row},
};

/// Seconds in a minute, an hour and a day.
const MINUTE: u64 = 60;
const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;

/// Rows that questions may be about, and spare ones.
const MINUTES: (u64, u64) = (1_441, 1_440);
const HOURS: (u64, u64) = (721, 48);

/// What was paid for a token within a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Volume {
    /// The minute's end, in minutes since the Unix epoch.
    minute: u64,
    token: usize,
    usd_e8: u128,
}

/// Past prices and volumes, derived from blocks in order. Times are seconds since the Unix epoch, prices US dollars ×
/// 10^8, tokens positions in the network's list.
#[derive(Clone, Debug)]
pub struct History {
    minutes: Ring,
    hours: Ring,
    /// The prices that hold from here on.
    now: Row,
    volumes: VecDeque<Volume>,
}

/// What happened in one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) time: u64,
    pub(super) prices: &'a [(usize, u64)],
    pub(super) trades: &'a [(usize, u128)],
}

impl History {
    /// A history that begins at `time` with these prices.
    pub(super) fn starting(time: u64, prices: &[u64]) -> Self {
        Self {
            minutes: Ring::new(MINUTE, MINUTES.0, MINUTES.1, time),
            hours: Ring::new(HOUR, HOURS.0, HOURS.1, time),
            now: Arc::from(prices),
            volumes: VecDeque::new(),
        }
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
        let hour_rows = HOURS.0.min(day_ago / HOUR);
        let older = (1..=hour_rows).map(|n| (day_ago.div_ceil(HOUR) - n) * HOUR);
        let past: Vec<(u64, Row)> =
            minutes.iter().copied().chain(older).map(|time| (time, Arc::from(market.at(time)))).collect();

        let oldest = past.last().map_or(genesis, |(time, _)| *time);
        let mut history = Self::starting(oldest, prices);
        history.minutes = Ring::new(MINUTE, MINUTES.0, MINUTES.1, day_ago.min(genesis));
        for (time, row) in past.iter().rev() {
            if *time >= day_ago {
                history.minutes.advance(time + 1, row);
            }
            if time.is_multiple_of(HOUR) {
                history.hours.advance(time + 1, row);
            }
        }
        history
    }

    /// Takes in the next block.
    pub(super) fn apply(&mut self, entry: Entry<'_>) {
        self.minutes.advance(entry.time, &self.now);
        self.hours.advance(entry.time, &self.now);
        if entry.prices.iter().any(|(token, price)| self.now[*token] != *price) {
            let mut now: Vec<_> = self.now.to_vec();
            entry.prices.iter().for_each(|(token, price)| now[*token] = *price);
            self.now = now.into();
        }
        let minute = entry.time.div_ceil(MINUTE);
        for &(token, usd_e8) in entry.trades {
            let same = self.volumes.iter_mut().rev().take_while(|volume| volume.minute == minute);
            match same.into_iter().find(|volume| volume.token == token) {
                Some(volume) => volume.usd_e8 = volume.usd_e8.saturating_add(usd_e8),
                None => self.volumes.push_back(Volume { minute, token, usd_e8 }),
            }
        }
        let forgotten = minute.saturating_sub(MINUTES.0 + MINUTES.1);
        while self.volumes.front().is_some_and(|volume| volume.minute < forgotten) {
            self.volumes.pop_front();
        }
    }

    /// Goes back to before `time`. Returns from when on blocks have to be applied again: those later than that. None if
    /// too much of the past is gone, and the history has to be made anew.
    pub(super) fn rewind(&mut self, time: u64) -> Option<u64> {
        let complete = [self.minutes.rewind(time), self.hours.rewind(time)];
        let (newest, row) = self.minutes.newest().filter(|_| complete == [true, true])?;
        self.now = row.clone();
        while self.volumes.back().is_some_and(|volume| volume.minute > newest / MINUTE) {
            self.volumes.pop_back();
        }
        Some(newest)
    }

    /// The price that held a day before `now`, to the minute; if that is not known, the oldest that is.
    pub fn day_ago(&self, token: usize, now: u64) -> u64 {
        self.minutes.at(now.saturating_sub(DAY)).map_or(self.now[token], |(_, row)| row[token])
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

    /// What was paid for the token within the day before `now`, to the minute, in US dollars × 10^8.
    pub fn volume_24h(&self, token: usize, now: u64) -> u128 {
        let from = now.saturating_sub(DAY) / MINUTE;
        let within = self.volumes.iter().filter(|volume| volume.minute > from && volume.token == token);
        within.fold(0, |sum, volume| sum.saturating_add(volume.usd_e8))
    }

    /// At most `count` prices of the `seconds` before `now`, evenly spaced, each with its time, oldest first. The last is
    /// the present one.
    pub fn series(&self, token: usize, price: u64, now: u64, seconds: u64, count: u64) -> Vec<(u64, u64)> {
        let ring = if seconds <= DAY { &self.minutes } else { &self.hours };
        let start = now.saturating_sub(seconds);
        let mut series: Vec<(u64, u64)> = Vec::with_capacity(count as usize);
        for n in 1..count {
            let wanted = start + (u128::from(seconds) * u128::from(n) / u128::from(count)) as u64;
            let Some((time, row)) = ring.at(wanted) else { continue };
            if time < now && series.last().is_none_or(|(last, _)| *last < time) {
                series.push((time, row[token]));
            }
        }
        series.push((now, price));
        series
    }
}

#[cfg(test)]
mod tests;

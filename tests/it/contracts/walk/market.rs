//! Time and prices: feeds that move, jump, stop, are halted, and reach their bounds.

use alloy_primitives::U256;
use tetrad_contracts::contracts::bindings::PriceOracle;

use super::{DAY, Walk};
use crate::contracts::network::{ORACLE, OWNER};

impl Walk {
    pub(super) fn let_time_and_prices_move(&mut self) {
        if self.random.chance(40) {
            let longest =
                self.random
                    .pick(&[10, 60, 600, 3_600, 3_600, DAY, DAY, 5 * DAY, 30 * DAY]);
            let longest = if self.weather.prudent {
                longest.clamp(DAY, 9 * DAY)
            } else {
                longest
            };

            let seconds = self.random.below(longest) + 1;
            // Occasionally prices are left to become stale.
            if self.random.chance(90) {
                self.pass(seconds)
            } else {
                self.warp(seconds)
            }
        }

        if self.random.chance(20) {
            let index = self.random.below(self.tokens.len() as u64) as usize;
            let spread = self.weather.spread;
            let crash = self.random.chance(self.weather.crash);
            let thousandths = if crash {
                -900
            } else {
                self.random.below(2 * spread) as i64 - spread as i64
            };
            self.set_price(index, thousandths);
        }

        if !self.weather.prudent && self.random.chance(3) {
            self.disturb_a_feed();
        }
    }

    /// Lets time pass without price changes of feeds that have not stopped.
    pub(super) fn pass(&mut self, seconds: u64) {
        self.warp(seconds);
        (0..self.tokens.len()).for_each(|index| self.set_price(index, 0));
    }

    fn warp(&mut self, seconds: u64) {
        self.network.warp(seconds);
        self.model.now = self.network.now();
    }

    /// Stops or restarts a feed, halts or resumes its token, or sends its price to a bound for as
    /// long as it takes to move again.
    fn disturb_a_feed(&mut self) {
        let index = self.random.below(self.tokens.len() as u64) as usize;
        match self.random.below(5) {
            0 | 1 if !self.stopped.remove(&index) => drop(self.stopped.insert(index)),
            0 | 1 => self.set_price(index, 0),
            2 | 3 => self.halt_or_resume(index),
            _ => {
                let bound = if self.random.chance(50) {
                    1
                } else {
                    (1 << 63) - 1
                };
                self.record_price(index, bound);
            }
        }
    }

    fn halt_or_resume(&mut self, index: usize) {
        let halted = &mut self.model.assets[index].halted;
        *halted = !*halted;
        if *halted {
            self.network.halt(self.tokens[index])
        } else {
            self.network.resume_trading(self.tokens[index])
        }
    }

    /// Moves a price unless its feed has stopped, but never so far from the reference that amounts
    /// become meaningless.
    pub(super) fn set_price(&mut self, index: usize, thousandths: i64) {
        if self.stopped.contains(&index) {
            return;
        }
        let reference = self.tokens[index].price_usd_e8;
        let current: i128 = self.model.assets[index].price.to();
        let moved = current + current / 1_000 * i128::from(thousandths);
        self.record_price(
            index,
            moved.clamp(i128::from(reference / 20), i128::from(reference * 5)) as u64,
        );
    }

    pub(super) fn record_price(&mut self, index: usize, price: u64) {
        let price = U256::from(price);
        let call = PriceOracle::setPriceCall {
            token: self.tokens[index].address,
            price,
        };
        self.network.send(OWNER, ORACLE, call).unwrap();
        (
            self.model.assets[index].price,
            self.model.assets[index].priced_at,
        ) = (price, self.network.now());
    }
}

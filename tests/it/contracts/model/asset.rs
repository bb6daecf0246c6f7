//! One asset: its supply and debt, and their growth.

use alloy_primitives::{Address, U256};
use tetrad_contracts::contracts::bindings::{AssetParameters, ReserveState};

use super::{ceil, floor, n, ray};

const YEAR: u128 = 31_536_000;
const MULTIPLIERS: [u128; 5] = [10_000, 9_500, 9_000, 8_250, 7_500];

#[derive(Clone)]
pub(crate) struct Asset {
    pub(crate) id: usize,
    pub(crate) address: Address,
    pub(crate) unit: U256,
    pub(crate) parameters: AssetParameters,
    /// Whole tokens; 0 for none.
    pub(crate) supply_cap: U256,
    pub(crate) borrow_cap: U256,
    pub(crate) paused: bool,
    pub(crate) halted: bool,
    pub(crate) price: U256,
    pub(crate) priced_at: u64,
    pub(crate) updated_at: u64,
    pub(crate) state: ReserveState,
}

impl Asset {
    pub(crate) fn accrue(&mut self, now: u64) {
        let elapsed = now - self.updated_at;
        self.updated_at = now;
        if elapsed == 0 {
            return;
        }
        let before = self.debt();
        let annual = self.annual_rate();
        for (index, multiplier) in self.state.borrowIndexes.iter_mut().zip(MULTIPLIERS) {
            let rate = annual * n(multiplier) / n(10_000) / n(YEAR);
            *index = floor(*index, power(ray() + rate, elapsed), ray());
        }
        let interest = self.debt() - before;
        let cut = ceil(
            interest,
            U256::from(self.parameters.reserveFactorBps),
            n(10_000),
        );
        if !self.state.scaledSupply.is_zero() {
            self.state.liquidityIndex += floor(interest - cut, ray(), self.state.scaledSupply);
        }
        self.earn(cut);
    }

    pub(crate) fn earn(&mut self, income: U256) {
        let recovered = income.min(self.state.deficit);
        self.state.deficit -= recovered;
        self.state.treasury += income - recovered;
    }

    pub(crate) fn debt(&self) -> U256 {
        let bands = self.state.scaledDebts.iter().zip(&self.state.borrowIndexes);
        bands.fold(U256::ZERO, |sum, (&scaled, &index)| {
            sum + ceil(scaled, index, ray())
        })
    }

    pub(crate) fn supplied(&self) -> U256 {
        floor(self.state.scaledSupply, self.state.liquidityIndex, ray())
    }

    /// The pool's assets beyond its obligations, which must never fall.
    pub(crate) fn slack(&self) -> U256 {
        let owned = self.state.cash + self.debt() + self.state.deficit;
        owned
            .checked_sub(self.supplied() + self.state.treasury)
            .expect("the pool owes more than it owns")
    }

    pub(crate) fn usd_down(&self, amount: U256) -> U256 {
        floor(amount, self.price, self.unit)
    }

    pub(crate) fn usd_up(&self, amount: U256) -> U256 {
        ceil(amount, self.price, self.unit)
    }

    /// Whether its price is fresh.
    pub(crate) fn fresh(&self, now: u64) -> bool {
        now <= self.priced_at + 600
    }

    /// Whether its price is good enough for new debt.
    pub(crate) fn reliable(&self, now: u64) -> bool {
        self.fresh(now) && !self.halted
    }

    fn annual_rate(&self) -> U256 {
        let debt = self.debt();
        let used = if debt.is_zero() {
            debt
        } else {
            floor(debt, ray(), self.state.cash + debt)
        };
        let share = |bps: u16| U256::from(bps) * ray() / n(10_000);
        let base = share(self.parameters.baseRateBps);
        let slope1 = share(self.parameters.slope1Bps);
        let slope2 = share(self.parameters.slope2Bps);
        let kink = share(self.parameters.kinkBps);
        if used <= kink {
            base + floor(slope1, used, kink)
        } else {
            base + slope1 + floor(slope2, used - kink, ray() - kink)
        }
    }
}

/// Exponentiation by squaring, from the lowest bit: from the highest bit it would round
/// differently.
fn power(mut base: U256, mut exponent: u64) -> U256 {
    let mut result = ray();
    loop {
        if exponent % 2 == 1 {
            result = floor(result, base, ray());
        }
        exponent /= 2;
        if exponent == 0 {
            return result;
        }
        base = floor(base, base, ray());
    }
}

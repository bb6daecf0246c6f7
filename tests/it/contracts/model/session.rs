//! One operation on one user's account, from opening to closing it.

use alloy_primitives::{Address, Bytes, LogData, U256};
use alloy_sol_types::SolEvent;
use tetrad_contracts::contracts::bindings::{LendingPool, LendingPoolErrors};

use super::{
    asset::Asset,
    ceil,
    credit::{History, Worth, band_of},
    floor, n, ray,
};
use crate::contracts::bench::refusal;

/// A user's part of an asset, and the asset as of now. Only changed parts are stored.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) index: usize,
    pub(crate) asset: Asset,
    pub(crate) supply: U256,
    pub(crate) debt: U256,
    pub(crate) collateral: bool,
    pub(crate) changed: bool,
}

pub(crate) struct Session {
    pub(crate) user: Address,
    pub(crate) now: u64,
    pub(crate) history: History,
    pub(crate) parts: Vec<Part>,
    pub(crate) score: u64,
    pub(crate) events: Vec<LogData>,
}

impl Part {
    pub(crate) fn supplied(&self) -> U256 {
        floor(self.supply, self.asset.state.liquidityIndex, ray())
    }

    pub(crate) fn owed(&self, band: usize) -> U256 {
        ceil(self.debt, self.asset.state.borrowIndexes[band], ray())
    }

    pub(crate) fn take_supply(&mut self, amount: U256) -> U256 {
        let all = amount == self.supplied();
        let scaled = if all {
            self.supply
        } else {
            ceil(amount, ray(), self.asset.state.liquidityIndex)
        };
        self.supply -= scaled;
        self.collateral &= !self.supply.is_zero();
        self.changed = true;
        scaled
    }

    pub(crate) fn lend(&mut self, band: usize, amount: U256) {
        let scaled = ceil(amount, ray(), self.asset.state.borrowIndexes[band]);
        self.debt += scaled;
        self.asset.state.scaledDebts[band] += scaled;
        self.asset.state.cash -= amount;
        self.changed = true;
    }

    pub(crate) fn pay(&mut self, band: usize, amount: U256) {
        let all = amount == self.owed(band);
        let scaled = if all {
            self.debt
        } else {
            floor(amount, ray(), self.asset.state.borrowIndexes[band])
        };
        self.debt -= scaled;
        self.asset.state.scaledDebts[band] -= scaled;
        self.asset.state.cash += amount;
        self.changed = true;
    }
}

impl Session {
    pub(crate) fn part(&mut self, index: usize) -> Option<&mut Part> {
        self.parts.iter_mut().find(|part| part.index == index)
    }

    pub(crate) fn emit(&mut self, event: &impl SolEvent) {
        self.events.push(event.encode_log_data());
    }

    pub(crate) fn worth(&self) -> Worth {
        let mut worth = Worth {
            supplied: 0,
            debt: 0,
            cover: 0,
        };
        for part in &self.parts {
            let supplied: u128 = if part.collateral {
                part.asset.usd_down(part.supplied()).to()
            } else {
                0
            };
            worth.supplied += supplied;
            worth.debt += part.asset.usd_up(part.owed(self.history.band)).to::<u128>();
            worth.cover +=
                supplied * u128::from(part.asset.parameters.liquidationThresholdBps) / 10_000;
        }
        worth
    }

    pub(crate) fn power(&self) -> U256 {
        let counted = self
            .parts
            .iter()
            .filter(|part| part.collateral && part.asset.reliable(self.now));
        let powers = counted.map(|part| {
            let min = part.asset.parameters.minLtvBps;
            let max = part.asset.parameters.maxLtvBps;
            let ltv = u64::from(min) + u64::from(max - min) * (self.score - 300) / 550;
            floor(
                part.asset.usd_down(part.supplied()),
                U256::from(ltv),
                n(10_000),
            )
        });
        powers.fold(U256::ZERO, |sum, power| sum + power)
    }

    pub(crate) fn owes(&self) -> bool {
        self.parts.iter().any(|part| !part.debt.is_zero())
    }

    pub(crate) fn open(&mut self) {
        self.score = self.history.score(self.worth());
        self.move_to(band_of(self.score));
    }

    /// Closes the session. Returns the user's new score.
    pub(crate) fn close(&mut self) -> u64 {
        let worth = self.worth();
        let owes = self.owes();
        self.history.settle(worth, owes);
        let score = self.history.score(worth);
        self.move_to(band_of(score));
        score
    }

    /// Closes it after a transaction of another account: the band falls only as far as the history
    /// requires.
    pub(crate) fn observe(&mut self) -> u64 {
        let worth = self.worth();
        self.history.observe(worth);
        let score = self.history.score(worth);
        let in_full_health = self.history.score(Worth {
            supplied: 100 * 100_000_000,
            debt: 0,
            cover: 0,
        });
        self.move_to(band_of(score).max(self.history.band.min(band_of(in_full_health))));
        score
    }

    /// The first collateral without a fresh price.
    pub(crate) fn stale_collateral(&self) -> Option<Address> {
        let mut held = self
            .parts
            .iter()
            .filter(|part| part.collateral && !part.supply.is_zero());
        held.find(|part| !part.asset.fresh(self.now))
            .map(|part| part.asset.address)
    }

    /// Whether the debts may stand with less collateral or more debt in an asset.
    pub(crate) fn check_covered(&self, index: usize) -> Result<(), Bytes> {
        for part in self
            .parts
            .iter()
            .filter(|part| !part.debt.is_zero() || part.index == index)
        {
            let asset = part.asset.address;
            if !part.asset.fresh(self.now) {
                return Err(refusal(LendingPoolErrors::StalePrice { asset }));
            }
            if part.asset.halted {
                return Err(refusal(LendingPoolErrors::TokenHalted { asset }));
            }
        }
        let debtUsd = U256::from(self.worth().debt);
        let borrowingPowerUsd = self.power();
        if debtUsd > borrowingPowerUsd {
            return Err(refusal(LendingPoolErrors::BorrowingPowerExceeded {
                debtUsd,
                borrowingPowerUsd,
            }));
        }
        Ok(())
    }

    pub(crate) fn write_off(&mut self) {
        let band = self.history.band;
        for index in 0..self.parts.len() {
            let part = &mut self.parts[index];
            if part.debt.is_zero() {
                continue;
            }
            let amount = part.owed(band);
            let state = &mut part.asset.state;
            let fromTreasury = amount.min(state.treasury);
            state.treasury -= fromTreasury;
            state.deficit += amount - fromTreasury;
            state.scaledDebts[band] -= part.debt;
            part.debt = U256::ZERO;
            part.changed = true;
            let asset = part.asset.address;
            self.emit(&LendingPool::DebtWrittenOff {
                asset,
                user: self.user,
                amount,
                fromTreasury,
            });
        }
    }

    fn move_to(&mut self, band: usize) {
        let from = self.history.band;
        if from == band {
            return;
        }
        self.history.band = band;
        for part in self.parts.iter_mut().filter(|part| !part.debt.is_zero()) {
            let scaled = ceil(part.owed(from), ray(), part.asset.state.borrowIndexes[band]);
            part.asset.state.scaledDebts[from] -= part.debt;
            part.asset.state.scaledDebts[band] += scaled;
            part.debt = scaled;
            part.changed = true;
        }
    }
}

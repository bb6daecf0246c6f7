//! The pool's operations.

use std::collections::BTreeMap;

use alloy_primitives::{Address, Bytes, LogData, U256};
use tetrad::internals::contracts::bindings::{LendingPool, LendingPoolErrors, TokenErrors};

use super::{
    asset::Asset,
    credit::History,
    floor, n, ray,
    session::{Part, Session},
};
use crate::contracts::bench::refusal;

pub(crate) type Outcome = Result<Vec<LogData>, Bytes>;

#[derive(Clone, Default)]
pub(crate) struct User {
    pub(crate) history: History,
    /// Scaled supply and scaled debt by asset.
    pub(crate) positions: BTreeMap<usize, (U256, U256)>,
}

#[derive(Clone)]
pub(crate) struct Pool {
    pub(crate) now: u64,
    pub(crate) assets: Vec<Asset>,
    pub(crate) users: BTreeMap<Address, User>,
}

impl Pool {
    pub(crate) fn deposit(&mut self, user: Address, index: usize, amount: U256) -> Outcome {
        self.check_usable(index, amount)?;
        let mut session = self.open(user, Some(index));
        let cap = self.assets[index].supply_cap;
        let part = session.part(index).unwrap();
        let scaled = floor(amount, ray(), part.asset.state.liquidityIndex);
        let lost = amount - floor(scaled, part.asset.state.liquidityIndex, ray());
        if scaled.is_zero() || lost > n(100) && lost > amount / n(10_000) {
            return Err(refusal(LendingPoolErrors::AmountTooSmall {}));
        }
        part.supply += scaled;
        part.asset.state.scaledSupply += scaled;
        part.asset.state.cash += amount;
        part.changed = true;
        let supplied = part.asset.supplied();
        if !cap.is_zero() && supplied > cap {
            return Err(refusal(LendingPoolErrors::SupplyCapExceeded { supplied, cap }));
        }
        session.emit(&LendingPool::Deposit { asset: self.assets[index].address, user, amount });
        Ok(self.close(session))
    }

    pub(crate) fn withdraw(&mut self, user: Address, index: usize, amount: U256) -> Outcome {
        self.check_usable(index, amount)?;
        let mut session = self.open(user, Some(index));
        let asset = self.assets[index].address;
        let part = session.part(index).unwrap();
        let amount = amount.min(part.supplied());
        if amount.is_zero() {
            return Err(refusal(LendingPoolErrors::NothingSupplied { asset, user }));
        }
        check_cash(amount, part.asset.state.cash)?;
        let scaled = part.take_supply(amount);
        part.asset.state.scaledSupply -= scaled;
        part.asset.state.cash -= amount;
        if session.owes() {
            session.check_covered(self.now)?;
        }
        session.emit(&LendingPool::Withdraw { asset, user, amount });
        Ok(self.close(session))
    }

    pub(crate) fn borrow(&mut self, user: Address, index: usize, amount: U256) -> Outcome {
        self.check_usable(index, amount)?;
        let mut session = self.open(user, Some(index));
        let (band, cap) = (session.history.band, self.assets[index].borrow_cap);
        let part = session.part(index).unwrap();
        check_cash(amount, part.asset.state.cash)?;
        part.lend(band, amount);
        let borrowed = part.asset.debt();
        if !cap.is_zero() && borrowed > cap {
            return Err(refusal(LendingPoolErrors::BorrowCapExceeded { borrowed, cap }));
        }
        session.check_covered(self.now)?;
        session.history.lend(self.now);
        session.emit(&LendingPool::Borrow { asset: self.assets[index].address, user, amount });
        Ok(self.close(session))
    }

    pub(crate) fn repay(&mut self, user: Address, index: usize, amount: U256) -> Outcome {
        if amount.is_zero() {
            return Err(refusal(LendingPoolErrors::ZeroAmount {}));
        }
        let mut session = self.open(user, Some(index));
        let (band, debt, asset) = (session.history.band, session.worth().debt, self.assets[index].address);
        let part = session.part(index).unwrap();
        let amount = amount.min(part.owed(band));
        if amount.is_zero() {
            return Err(refusal(LendingPoolErrors::NothingOwed { asset, user }));
        }
        let paid = part.asset.usd_down(amount).to();
        part.pay(band, amount);
        session.history.pay(paid, debt, self.now);
        session.emit(&LendingPool::Repay { asset, user, amount });
        Ok(self.close(session))
    }

    pub(crate) fn refresh(&mut self, user: Address) -> Outcome {
        let session = self.open(user, None);
        Ok(self.close(session))
    }

    pub(crate) fn transfer(&mut self, from: Address, to: Address, index: usize, amount: U256) -> Outcome {
        if amount.is_zero() {
            return Ok(vec![]);
        }
        self.check_usable(index, amount)?;
        let mut session = self.open(from, Some(index));
        let part = session.part(index).unwrap();
        let balance = part.supplied();
        if amount > balance {
            return Err(refusal(TokenErrors::ERC20InsufficientBalance { sender: from, balance, needed: amount }));
        }
        let scaledAmount = part.take_supply(amount);
        if session.owes() {
            session.check_covered(self.now)?;
        }
        let asset = self.assets[index].address;
        session.emit(&LendingPool::SupplyTransferred { asset, from, to, amount, scaledAmount });
        let mut events = self.close(session);
        events.extend(self.receive(to, index, scaledAmount));
        Ok(events)
    }

    pub(crate) fn write_off(&mut self, user: Address) -> Outcome {
        let mut session = self.open(user, None);
        session.check_fresh(self.now)?;
        let worth = session.worth();
        if worth.supplied != 0 || !session.owes() {
            let healthFactorBps = worth.health().map_or(U256::MAX, U256::from);
            return Err(refusal(LendingPoolErrors::NotLiquidatable { healthFactorBps }));
        }
        session.write_off();
        Ok(self.close(session))
    }

    /// The account as an operation of this moment would start with it.
    pub(crate) fn open(&self, user: Address, extra: Option<usize>) -> Session {
        let stored = self.users.get(&user).cloned().unwrap_or_default();
        let mut positions = stored.positions.clone();
        if let Some(index) = extra {
            positions.entry(index).or_default();
        }
        let part = |(index, (supply, debt)): (usize, (U256, U256))| {
            let mut asset = self.assets[index].clone();
            asset.accrue(self.now);
            Part { index, asset, supply, debt, changed: false }
        };
        let parts = positions.into_iter().map(part).collect();
        let mut session = Session { user, history: stored.history, parts, score: 0, events: vec![] };
        session.open(self.now);
        session
    }

    pub(super) fn close(&mut self, mut session: Session) -> Vec<LogData> {
        let score = session.close();
        let (user, band) = (session.user, session.history.band);
        let stored = self.users.entry(user).or_default();
        for part in session.parts.clone().into_iter().filter(|part| part.changed) {
            let (asset, state) = (part.asset.address, part.asset.state.clone());
            self.assets[part.index] = part.asset;
            session.emit(&LendingPool::ReserveUpdated { asset, state });
            let (scaledSupply, scaledDebt) = (part.supply, part.debt);
            let position =
                LendingPool::PositionUpdated { user, asset, scaledSupply, scaledDebt, band: U256::from(band) };
            session.emit(&position);
            if (scaledSupply, scaledDebt) == (U256::ZERO, U256::ZERO) {
                stored.positions.remove(&part.index);
            } else {
                stored.positions.insert(part.index, (scaledSupply, scaledDebt));
            }
        }
        session.history.held = stored.positions.keys().map(|&index| 1 << self.assets[index].id).sum();
        stored.history = session.history.clone();
        let (score, credit) = (U256::from(score), session.history.stored());
        session.emit(&LendingPool::CreditUpdated { user, score, credit });
        session.events
    }

    pub(super) fn receive(&mut self, user: Address, index: usize, scaled: U256) -> Vec<LogData> {
        let mut session = self.open(user, Some(index));
        let part = session.part(index).unwrap();
        part.supply += scaled;
        part.changed = true;
        self.close(session)
    }

    pub(super) fn check_usable(&self, index: usize, amount: U256) -> Result<(), Bytes> {
        let asset = &self.assets[index];
        match () {
            () if amount.is_zero() => Err(refusal(LendingPoolErrors::ZeroAmount {})),
            () if asset.paused => Err(refusal(LendingPoolErrors::AssetPaused { asset: asset.address })),
            () => Ok(()),
        }
    }
}

pub(super) fn check_cash(needed: U256, available: U256) -> Result<(), Bytes> {
    if needed > available {
        return Err(refusal(LendingPoolErrors::InsufficientLiquidity { needed, available }));
    }
    Ok(())
}

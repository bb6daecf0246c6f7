//! The pool's operations.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address, Bytes, LogData, U256};
use alloy_sol_types::SolEvent;
use tetrad_contracts::contracts::bindings::{LendingPool, LendingPoolErrors, TokenErrors};

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
    pub(crate) collateral: BTreeSet<usize>,
    pub(crate) refused: BTreeSet<usize>,
}

#[derive(Clone)]
pub(crate) struct Pool {
    pub(crate) now: u64,
    pub(crate) assets: Vec<Asset>,
    pub(crate) least_loan: U256,
    pub(crate) users: BTreeMap<Address, User>,
}

impl Pool {
    pub(crate) fn deposit(&mut self, user: Address, index: usize, amount: U256) -> Outcome {
        self.check_usable(index, amount)?;
        let mut session = self.open(user, Some(index));
        let cap = self.assets[index].supply_cap * self.assets[index].unit;
        let refused = self
            .users
            .get(&user)
            .is_some_and(|user| user.refused.contains(&index));

        let part = session.part(index).unwrap();
        let scaled = floor(amount, ray(), part.asset.state.liquidityIndex);
        let lost = amount - floor(scaled, part.asset.state.liquidityIndex, ray());
        if scaled.is_zero() || lost > n(100) && lost > amount / n(10_000) {
            return Err(refusal(LendingPoolErrors::AmountTooSmall {}));
        }

        part.supply += scaled;
        part.asset.state.scaledSupply += scaled;
        part.asset.state.cash += amount;
        part.collateral |= !refused;
        part.changed = true;

        let supplied = part.asset.supplied();
        if !cap.is_zero() && supplied > cap {
            return Err(refusal(LendingPoolErrors::SupplyCapExceeded {
                supplied,
                cap,
            }));
        }

        session.emit(&LendingPool::Deposit {
            asset: self.assets[index].address,
            user,
            amount,
        });
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
            session.check_covered(index)?;
        }
        session.emit(&LendingPool::Withdraw {
            asset,
            user,
            amount,
        });
        Ok(self.close(session))
    }

    pub(crate) fn borrow(&mut self, user: Address, index: usize, amount: U256) -> Outcome {
        self.check_usable(index, amount)?;
        let mut session = self.open(user, Some(index));
        let band = session.history.band;
        let cap = self.assets[index].borrow_cap * self.assets[index].unit;

        let part = session.part(index).unwrap();
        check_cash(amount, part.asset.state.cash)?;
        part.lend(band, amount);

        let borrowed = part.asset.debt();
        if !cap.is_zero() && borrowed > cap {
            return Err(refusal(LendingPoolErrors::BorrowCapExceeded {
                borrowed,
                cap,
            }));
        }

        session.check_covered(index)?;
        let part = session.part(index).unwrap();
        let debtUsd = part.asset.usd_up(part.owed(band));
        let leastLoanUsd = self.least_loan;
        if debtUsd < leastLoanUsd {
            return Err(refusal(LendingPoolErrors::LoanTooSmall {
                debtUsd,
                leastLoanUsd,
            }));
        }

        session.history.lend(self.now);
        session.emit(&LendingPool::Borrow {
            asset: self.assets[index].address,
            user,
            amount,
        });
        Ok(self.close(session))
    }

    pub(crate) fn repay(&mut self, user: Address, index: usize, amount: U256) -> Outcome {
        if amount.is_zero() {
            return Err(refusal(LendingPoolErrors::ZeroAmount {}));
        }
        let mut session = self.open(user, Some(index));
        let band = session.history.band;
        let debt = session.worth().debt;
        let asset = self.assets[index].address;
        let part = session.part(index).unwrap();
        let amount = amount.min(part.owed(band));
        if amount.is_zero() {
            return Err(refusal(LendingPoolErrors::NothingOwed { asset, user }));
        }
        let paid = part.asset.usd_down(amount).to();
        part.pay(band, amount);
        session.history.pay(paid, debt, self.now);
        session.emit(&LendingPool::Repay {
            asset,
            user,
            amount,
        });
        Ok(self.close(session))
    }

    pub(crate) fn refresh(&mut self, user: Address) -> Outcome {
        let mut session = self.load(user, &[]);
        let score = session.observe();
        Ok(self.store(session, score))
    }

    pub(crate) fn set_collateral(&mut self, user: Address, index: usize, enabled: bool) -> Outcome {
        let mut session = self.open(user, Some(index));
        let part = session.part(index).unwrap();
        (part.collateral, part.changed) = (enabled, true);
        if !enabled && session.owes() {
            session.check_covered(index)?;
        }
        let refused = &mut self.users.entry(user).or_default().refused;
        if enabled {
            refused.remove(&index);
        } else {
            refused.insert(index);
        }
        session.emit(&LendingPool::CollateralSet {
            asset: self.assets[index].address,
            user,
            enabled,
        });
        Ok(self.close(session))
    }

    pub(crate) fn transfer(
        &mut self,
        from: Address,
        to: Address,
        index: usize,
        amount: U256,
    ) -> Outcome {
        if amount.is_zero() {
            return Ok(vec![]);
        }
        self.check_usable(index, amount)?;

        let mut session = self.open(from, Some(index));
        let part = session.part(index).unwrap();
        let balance = part.supplied();
        if amount > balance {
            return Err(refusal(TokenErrors::ERC20InsufficientBalance {
                sender: from,
                balance,
                needed: amount,
            }));
        }
        if from == to {
            return Ok(vec![]);
        }

        let scaledAmount = part.take_supply(amount);
        if session.owes() {
            session.check_covered(index)?;
        }

        let asset = self.assets[index].address;
        session.emit(&LendingPool::SupplyTransferred {
            asset,
            from,
            to,
            amount,
            scaledAmount,
        });

        let mut events = self.close(session);
        events.extend(self.receive(to, index, scaledAmount));
        Ok(events)
    }

    pub(crate) fn write_off(&mut self, user: Address) -> Outcome {
        let mut session = self.open(user, None);
        if let Some(asset) = session.stale_collateral() {
            return Err(refusal(LendingPoolErrors::StalePrice { asset }));
        }
        let worth = session.worth();
        if worth.supplied != 0 || !session.owes() {
            let healthFactorBps = worth.health().map_or(U256::MAX, U256::from);
            return Err(refusal(LendingPoolErrors::NotLiquidatable {
                healthFactorBps,
            }));
        }
        session.write_off();
        Ok(self.close(session))
    }

    /// The account as an operation would open it now.
    pub(crate) fn open(&self, user: Address, extra: Option<usize>) -> Session {
        let mut session = self.load(user, extra.as_slice());
        session.open();
        session
    }

    /// As [`Self::open`], with all assets of the user, as in the views.
    pub(crate) fn view(&self, user: Address) -> Session {
        let held: Vec<usize> = self
            .users
            .get(&user)
            .map_or(vec![], |user| user.positions.keys().copied().collect());
        let mut session = self.load(user, &held);
        session.open();
        session
    }

    /// The account with its history up to now: debts, collateral, and the assets in `extra`.
    pub(super) fn load(&self, user: Address, extra: &[usize]) -> Session {
        let stored = self.users.get(&user).cloned().unwrap_or_default();
        let owed = stored
            .positions
            .iter()
            .filter(|(_, (_, debt))| !debt.is_zero())
            .map(|(index, _)| *index);
        let assets: BTreeSet<usize> = owed
            .chain(stored.collateral.iter().copied())
            .chain(extra.iter().copied())
            .collect();

        let parts = assets
            .into_iter()
            .map(|index| {
                let mut asset = self.assets[index].clone();
                asset.accrue(self.now);
                let (supply, debt) = stored.positions.get(&index).copied().unwrap_or_default();
                Part {
                    index,
                    asset,
                    supply,
                    debt,
                    collateral: stored.collateral.contains(&index),
                    changed: false,
                }
            })
            .collect();

        let mut session = Session {
            user,
            now: self.now,
            history: stored.history,
            parts,
            score: 0,
            events: vec![],
        };

        session.history.advance(session.worth(), self.now);
        session
    }

    pub(super) fn close(&mut self, mut session: Session) -> Vec<LogData> {
        let score = session.close();
        self.store(session, score)
    }

    fn store(&mut self, mut session: Session, score: u64) -> Vec<LogData> {
        let user = session.user;
        let band = session.history.band;

        let stored = self.users.entry(user).or_default();

        for part in session
            .parts
            .clone()
            .into_iter()
            .filter(|part| part.changed)
        {
            let (asset, state) = (part.asset.address, part.asset.state.clone());
            self.assets[part.index] = part.asset;
            session.emit(&LendingPool::ReserveUpdated { asset, state });

            let scaledSupply = part.supply;
            let scaledDebt = part.debt;
            let position = LendingPool::PositionUpdated {
                user,
                asset,
                scaledSupply,
                scaledDebt,
                band: U256::from(band),
            };
            session.emit(&position);

            if (scaledSupply, scaledDebt) == (U256::ZERO, U256::ZERO) {
                stored.positions.remove(&part.index);
            } else {
                stored
                    .positions
                    .insert(part.index, (scaledSupply, scaledDebt));
            }

            if part.collateral {
                stored.collateral.insert(part.index);
            } else {
                stored.collateral.remove(&part.index);
            }
        }

        let bit = |index: &usize| 1_u64 << self.assets[*index].id;
        let owed = stored
            .positions
            .iter()
            .filter(|(_, (_, debt))| !debt.is_zero());
        session.history.borrowed = owed.map(|(index, _)| bit(index)).sum();
        session.history.collateral = stored.collateral.iter().map(bit).sum();
        session.history.refused = stored.refused.iter().map(bit).sum();

        stored.history = session.history.clone();
        let score = U256::from(score);
        let credit = session.history.stored();
        session.emit(&LendingPool::CreditUpdated {
            user,
            score,
            credit,
        });

        session.events
    }

    pub(super) fn receive(&mut self, user: Address, index: usize, scaled: U256) -> Vec<LogData> {
        let stored = self.users.entry(user).or_default();
        if !stored.collateral.contains(&index) {
            let (supply, debt) = stored.positions.entry(index).or_default();
            *supply += scaled;
            let asset = self.assets[index].address;
            let scaledSupply = *supply;
            let scaledDebt = *debt;
            let band = U256::from(stored.history.band);
            return vec![
                LendingPool::PositionUpdated {
                    user,
                    asset,
                    scaledSupply,
                    scaledDebt,
                    band,
                }
                .encode_log_data(),
            ];
        }
        let mut session = self.load(user, &[]);
        let part = session.part(index).unwrap();
        part.supply += scaled;
        part.changed = true;
        let score = session.observe();
        self.store(session, score)
    }

    pub(super) fn check_usable(&self, index: usize, amount: U256) -> Result<(), Bytes> {
        let asset = &self.assets[index];
        if amount.is_zero() {
            return Err(refusal(LendingPoolErrors::ZeroAmount {}));
        }
        if asset.paused {
            return Err(refusal(LendingPoolErrors::AssetPaused {
                asset: asset.address,
            }));
        }
        Ok(())
    }
}

pub(super) fn check_cash(needed: U256, available: U256) -> Result<(), Bytes> {
    if needed > available {
        return Err(refusal(LendingPoolErrors::InsufficientLiquidity {
            needed,
            available,
        }));
    }
    Ok(())
}

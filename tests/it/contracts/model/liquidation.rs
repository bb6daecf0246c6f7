//! Liquidation.

use alloy_primitives::{Address, Bytes, U256};
use tetrad_contracts::contracts::bindings::{LendingPool, LendingPoolErrors};

use super::{
    ceil, floor, n,
    pool::{Outcome, Pool, check_cash},
    ray,
    session::Session,
};
use crate::contracts::bench::refusal;

/// The parties, assets and amount of a liquidation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Liquidation {
    pub(crate) liquidator: Address,
    pub(crate) borrower: Address,
    pub(crate) debt: usize,
    pub(crate) collateral: usize,
    pub(crate) amount: U256,
    pub(crate) in_kind: bool,
}

impl Pool {
    pub(crate) fn liquidate(&mut self, terms: Liquidation) -> Outcome {
        self.check_usable(terms.debt, terms.amount)?;
        self.check_usable(terms.collateral, terms.amount)?;
        let mut session = self.load(terms.borrower, &[terms.debt, terms.collateral]);
        session.open();
        for index in [terms.debt, terms.collateral] {
            let asset = &self.assets[index];
            if !asset.fresh(self.now) {
                return Err(refusal(LendingPoolErrors::StalePrice {
                    asset: asset.address,
                }));
            }
        }
        let health = session.worth().health();
        if health.is_none_or(|health| health >= 10_000) {
            let healthFactorBps = health.map_or(U256::MAX, U256::from);
            return Err(refusal(LendingPoolErrors::NotLiquidatable {
                healthFactorBps,
            }));
        }
        let debtAsset = self.assets[terms.debt].address;
        let collateralAsset = self.assets[terms.collateral].address;
        let (repaid, seized, fee) = self.price(&mut session, terms, health.unwrap())?;

        let band = session.history.band;
        session.part(terms.debt).unwrap().pay(band, repaid);
        let part = session.part(terms.collateral).unwrap();
        if !terms.in_kind {
            check_cash(seized - fee, part.asset.state.cash)?;
        }
        let scaled = part.take_supply(seized);
        let burned = if terms.in_kind {
            ceil(fee, ray(), part.asset.state.liquidityIndex)
        } else {
            scaled
        };
        part.asset.state.scaledSupply -= burned;
        part.asset.state.cash -= if terms.in_kind {
            U256::ZERO
        } else {
            seized - fee
        };
        part.asset.earn(fee);

        session.emit(&LendingPool::Liquidation {
            borrower: terms.borrower,
            debtAsset,
            collateralAsset,
            liquidator: terms.liquidator,
            repaid,
            seized,
            fee,
            inKind: terms.in_kind,
        });
        if session.worth().supplied == 0 && session.stale_collateral().is_none() {
            session.write_off();
        }
        session.history.liquidate(self.now);
        let mut events = self.close(session);
        if terms.in_kind {
            events.extend(self.receive(terms.liquidator, terms.collateral, scaled - burned));
        }
        Ok(events)
    }

    /// The amounts that a liquidation repays, seizes, and leaves to the treasury.
    fn price(
        &self,
        session: &mut Session,
        terms: Liquidation,
        health: u128,
    ) -> Result<(U256, U256, U256), Bytes> {
        let band = session.history.band;
        let user = terms.borrower;
        let owed = session
            .part(terms.debt)
            .filter(|part| !part.debt.is_zero())
            .cloned();
        let asset = self.assets[terms.debt].address;
        let owed = owed.ok_or_else(|| refusal(LendingPoolErrors::NothingOwed { asset, user }))?;
        let collateral = session
            .part(terms.collateral)
            .filter(|part| !part.supply.is_zero())
            .cloned();
        let asset = self.assets[terms.collateral].address;
        let collateral = collateral
            .ok_or_else(|| refusal(LendingPoolErrors::NothingSupplied { asset, user }))?;
        if !collateral.collateral {
            return Err(refusal(LendingPoolErrors::NotCollateral { asset, user }));
        }

        let small = n(2_000 * 100_000_000);
        let debt = owed.owed(band);
        let supplied = collateral.supplied();
        let at_once = health < 9_500
            || owed.asset.usd_up(debt) < small
            || collateral.asset.usd_down(supplied) < small;
        let mut repaid = terms.amount.min(if at_once { debt } else { debt / n(2) });

        let bonus = U256::from(collateral.asset.parameters.liquidationBonusBps);
        let paid_per_debt = owed.asset.price * (n(10_000) + bonus) * collateral.asset.unit;
        let paid_per_collateral = collateral.asset.price * n(10_000) * owed.asset.unit;
        let mut seized = floor(repaid, paid_per_debt, paid_per_collateral);
        if seized > supplied {
            seized = supplied;
            repaid = repaid.min(ceil(supplied, paid_per_collateral, paid_per_debt));
        }
        if seized.is_zero() {
            return Err(refusal(LendingPoolErrors::AmountTooSmall {}));
        }
        let fee = floor(seized, bonus, n(10_000) + bonus).div_ceil(n(10));
        Ok((repaid, seized, fee))
    }
}

//! Invariants after every step, and the views, which must match the model.

use alloy_primitives::{Address, U256};
use tetrad_contracts::contracts::bindings::{LendingLens, Token};

use super::{USERS, Walk};
use crate::contracts::{
    model::{pool::Pool, ray, session::Part},
    network::{LENS, POOL},
};

impl Walk {
    pub(super) fn check_invariants(&self, before: &Pool) {
        for (index, (asset, old)) in self.model.assets.iter().zip(&before.assets).enumerate() {
            assert!(asset.slack() >= old.slack(), "the slack fell");

            let new = &asset.state;
            let was = &old.state;
            assert!(
                new.liquidityIndex >= was.liquidityIndex,
                "the liquidity index fell"
            );

            for band in 0..5 {
                assert!(
                    new.borrowIndexes[band] >= was.borrowIndexes[band],
                    "a borrow index fell"
                );
                assert!(
                    band == 0 || new.borrowIndexes[band] <= new.borrowIndexes[band - 1],
                    "a better band paid more"
                );
            }

            let mut claims = U256::ZERO;
            let mut debts = U256::ZERO;
            for (supply, debt, band) in self.positions(index) {
                claims += supply * asset.state.liquidityIndex / ray();
                debts += (debt * asset.state.borrowIndexes[band]).div_ceil(ray());
            }

            assert!(
                claims <= asset.supplied(),
                "users claim more than is supplied"
            );
            assert!(debts >= asset.debt(), "users owe less than is lent");
        }
    }

    fn positions(&self, index: usize) -> impl Iterator<Item = (U256, U256, usize)> + '_ {
        self.model.users.values().filter_map(move |user| {
            let (supply, debt) = *user.positions.get(&index)?;
            Some((supply, debt, user.history.band))
        })
    }

    pub(super) fn check_views(&mut self) {
        let user = self.random.pick(&USERS);
        self.check_account_view(user);
        self.check_positions(user);
        for index in 0..self.tokens.len() {
            self.check_pool_view(index);
        }
    }

    fn check_account_view(&mut self, user: Address) {
        let session = self.model.view(user);
        let view = self.network.account(user);

        assert_eq!(view.score, U256::from(session.score));
        assert_eq!(view.band, U256::from(session.history.band));
        assert_eq!(view.dueAt, U256::from(session.history.due_at));

        let worth = session.worth();
        let supplied = session
            .parts
            .iter()
            .map(|part| part.asset.usd_down(part.supplied()))
            .fold(U256::ZERO, |sum, value| sum + value);
        assert_eq!(view.suppliedUsd, supplied);
        assert_eq!(view.debtUsd, U256::from(worth.debt));
        assert_eq!(
            view.healthFactorBps,
            worth.health().map_or(U256::MAX, U256::from)
        );

        // A debt without a reliable price prevents further loans.
        let is_unreliable =
            |part: &Part| !part.debt.is_zero() && !part.asset.reliable(self.model.now);
        let available = if session.parts.iter().any(is_unreliable) {
            U256::ZERO
        } else {
            session.power().saturating_sub(U256::from(worth.debt))
        };
        assert_eq!(view.borrowingPowerUsd, session.power());
        assert_eq!(view.availableUsd, available);
    }

    fn check_positions(&mut self, user: Address) {
        let session = self.model.view(user);

        let collateral: Vec<Address> = session
            .parts
            .iter()
            .filter(|part| part.collateral)
            .map(|part| part.asset.address)
            .collect();
        let shown = self
            .network
            .look(LENS, LendingLens::getCollateralCall { user });
        assert_eq!(shown, collateral);

        let view = self.network.account(user);
        let held = session
            .parts
            .iter()
            .filter(|part| !part.supply.is_zero() || !part.debt.is_zero());
        assert_eq!(view.positions.len(), held.clone().count());
        for (position, part) in view.positions.iter().zip(held) {
            assert_eq!(
                (position.asset, position.supplied),
                (part.asset.address, part.supplied())
            );
            assert_eq!(position.debt, part.owed(session.history.band));

            let claim = self
                .network
                .balance_of(self.tokens[part.index].p_token(), user);
            assert_eq!(claim, position.supplied);
        }
    }

    fn check_pool_view(&mut self, index: usize) {
        let mut asset = self.model.assets[index].clone();
        asset.accrue(self.model.now);
        let token = self.tokens[index];
        let view = self.network.look(
            LENS,
            LendingLens::getPoolCall {
                asset: token.address,
            },
        );

        assert_eq!(
            (view.totalSupplied, view.totalDebt),
            (asset.supplied(), asset.debt())
        );
        let state = &asset.state;
        assert_eq!(
            (view.cash, view.treasury, view.deficit),
            (state.cash, state.treasury, state.deficit)
        );

        assert_eq!(
            self.network.balance_of(token.address, POOL),
            asset.state.cash,
            "the pool holds its cash"
        );
        assert_eq!(
            self.network
                .look(token.p_token(), Token::totalSupplyCall {}),
            asset.supplied()
        );
    }
}

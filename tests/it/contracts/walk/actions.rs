//! Actions of users and the owner, applied to the contract and to the model.

use alloy_primitives::{Address, Bytes, LogData, U256};
use tetrad_contracts::contracts::bindings::LendingPool;

use super::{DAY, USERS, Walk};
use crate::contracts::{
    bench::Receipt,
    model::{
        liquidation::Liquidation,
        pool::Outcome,
        session::{Part, Session},
    },
    network::{OWNER, POOL},
};

#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    Deposit,
    Withdraw,
    Borrow,
    Repay,
    Transfer,
    Liquidate,
    WriteOff,
    Refresh,
    SetCollateral,
    Dust,
    Dip,
    Farm,
    Spike,
    Collect,
    Govern,
}

const ACTIONS: [(Action, u64); 15] = [
    (Action::Deposit, 18),
    (Action::Withdraw, 12),
    (Action::Borrow, 24),
    (Action::Repay, 14),
    (Action::Transfer, 8),
    (Action::Liquidate, 14),
    (Action::WriteOff, 2),
    (Action::Refresh, 5),
    (Action::SetCollateral, 4),
    (Action::Dust, 1),
    (Action::Dip, 1),
    (Action::Farm, 1),
    (Action::Spike, 1),
    (Action::Collect, 2),
    (Action::Govern, 2),
];

impl Walk {
    pub(super) fn act(&mut self) {
        let action = self.choose();
        self.perform(action);
    }

    fn choose(&mut self) -> Action {
        let total = ACTIONS.iter().map(|(_, weight)| weight).sum();
        let mut drawn = self.random.below(total);

        for (action, weight) in ACTIONS {
            if drawn < weight {
                return action;
            }
            drawn -= weight;
        }
        unreachable!()
    }

    fn perform(&mut self, action: Action) {
        let user = self.random.pick(&USERS);
        let index = self.random.below(self.tokens.len() as u64) as usize;
        let token = self.tokens[index];

        let (real, expected) = match action {
            Action::Deposit => {
                let amount = self.amount(token.worth(100_000));
                (
                    self.network.deposit(user, token, amount),
                    self.model.deposit(user, index, amount),
                )
            }
            Action::Withdraw => {
                let amount = self.amount_of_supply(user, index);
                (
                    self.network.withdraw(user, token, amount),
                    self.model.withdraw(user, index, amount),
                )
            }
            Action::Borrow => {
                let amount = self.amount_in_reach(user, index);
                (
                    self.network.borrow(user, token, amount),
                    self.model.borrow(user, index, amount),
                )
            }
            Action::Repay => {
                let owed = self.owed(user, index);
                let amount = self.amount(owed);
                (
                    self.network.repay(user, token, amount),
                    self.model.repay(user, index, amount),
                )
            }
            Action::Transfer => {
                let value = self.amount_of_supply(user, index);
                let to = self.random.pick(&USERS);
                (
                    self.network.give(user, to, token, value),
                    self.model.transfer(user, to, index, value),
                )
            }
            Action::Liquidate => return self.liquidate(user),
            Action::Dust => return self.send_dust(user),
            Action::Dip => return self.attack_in_a_dip(user),
            Action::Farm => return self.farm(user, index),
            Action::Spike => return self.farm_in_a_spike(user, index),
            Action::SetCollateral => {
                let enabled = self.random.chance(70);
                (
                    self.network.set_collateral(user, token, enabled),
                    self.model.set_collateral(user, index, enabled),
                )
            }
            Action::Govern => self.govern(index),
            Action::WriteOff => (
                self.network
                    .send(OWNER, POOL, LendingPool::writeOffCall { user }),
                self.model.write_off(user),
            ),
            Action::Refresh => (
                self.network
                    .send(OWNER, POOL, LendingPool::refreshCall { user }),
                self.model.refresh(user),
            ),
            Action::Collect => {
                let amount = self.amount(token.worth(10));
                let to = OWNER;
                let asset = token.address;
                let call = LendingPool::collectTreasuryCall { asset, amount, to };
                (
                    self.network.send(OWNER, POOL, call),
                    self.model.collect(index, amount, to),
                )
            }
        };

        self.compare(action, real, expected);
    }

    /// A user's debt in an asset.
    fn owed(&self, user: Address, index: usize) -> U256 {
        let session = self.model.open(user, Some(index));
        session
            .parts
            .iter()
            .find(|part| part.index == index)
            .unwrap()
            .owed(session.history.band)
    }

    /// Repays half of each user's largest debt when the term is about to end.
    pub(super) fn pay_before_terms_end(&mut self) {
        for user in USERS {
            let session = self.model.open(user, None);
            let band = session.history.band;
            let due = session.history.due_at;
            let now = self.model.now;
            if due < now || due >= now + 10 * DAY {
                continue;
            }

            let owed = session.parts.iter().filter(|part| !part.debt.is_zero());
            let largest = owed.max_by_key(|part| part.asset.usd_up(part.owed(band)));
            let Some(part) = largest else {
                continue;
            };

            let index = part.index;
            let amount = part.owed(band).div_ceil(U256::from(2));
            let real = self.network.repay(user, self.tokens[index], amount);
            let expected = self.model.repay(user, index, amount);
            self.compare(Action::Repay, real, expected);
        }
    }

    /// Changes what the owner may change, mostly back to what it was.
    fn govern(&mut self, index: usize) -> (Result<Receipt, Bytes>, Outcome) {
        let token = self.tokens[index];
        let asset = self.tokens[index].address;

        match self.random.below(4) {
            0 => {
                let paused = self.random.chance(20);
                let real =
                    self.network
                        .send(OWNER, POOL, LendingPool::setPausedCall { asset, paused });
                (real, self.model.set_paused(index, paused))
            }
            1 => {
                let cap = if self.random.chance(40) {
                    (token.worth(150_000) / token.unit()).to()
                } else {
                    0
                };
                let call = LendingPool::setCapsCall {
                    asset,
                    supplyCapTokens: cap,
                    borrowCapTokens: cap / 2,
                };
                (
                    self.network.send(OWNER, POOL, call),
                    self.model.set_caps(index, cap, cap / 2),
                )
            }
            2 => {
                let usd = if self.random.chance(50) {
                    1_000_000_000
                } else {
                    0
                };
                let call = LendingPool::setLeastLoanCall {
                    usd: U256::from(usd),
                };
                (
                    self.network.send(OWNER, POOL, call),
                    self.model.set_least_loan(usd),
                )
            }
            _ => {
                let mut parameters = token.parameters();
                parameters.reserveFactorBps = self.random.below(10_001) as u16;
                let call = LendingPool::setParametersCall {
                    asset,
                    parameters: parameters.clone(),
                };
                (
                    self.network.send(OWNER, POOL, call),
                    self.model.set_parameters(index, parameters),
                )
            }
        }
    }

    /// Liquidates a user, preferably one below health 1, for assets that the user owes and holds,
    /// if any.
    fn liquidate(&mut self, liquidator: Address) {
        let victims: Vec<Address> = USERS
            .into_iter()
            .filter(|user| is_liquidatable(&self.model.open(*user, None)))
            .collect();
        let borrower = if victims.is_empty() {
            self.random.pick(&USERS)
        } else {
            self.random.pick(&victims)
        };

        let session = self.model.view(borrower);
        let owed: Vec<usize> = session
            .parts
            .iter()
            .filter(|part| !part.debt.is_zero())
            .map(|part| part.index)
            .collect();
        let held: Vec<usize> = session
            .parts
            .iter()
            .filter(|part| !part.supply.is_zero())
            .map(|part| part.index)
            .collect();
        let any = [self.random.below(4) as usize];
        let debt = self.random.pick(if owed.is_empty() { &any } else { &owed });
        let collateral = self.random.pick(if held.is_empty() { &any } else { &held });

        let all = self.random.chance(40);
        let amount = if all {
            U256::MAX
        } else {
            self.amount(self.tokens[debt].worth(50_000))
        };
        let in_kind = self.random.chance(40);

        let call = LendingPool::liquidateCall {
            borrower,
            debtAsset: self.tokens[debt].address,
            collateralAsset: self.tokens[collateral].address,
            amount,
            inKind: in_kind,
        };
        let real = self.network.send(liquidator, POOL, call);

        let terms = Liquidation {
            liquidator,
            borrower,
            debt,
            collateral,
            amount,
            in_kind,
        };
        let expected = self.model.liquidate(terms);

        self.compare(Action::Liquidate, real, expected);
    }

    /// Every account below health 1 can be liquidated if the debt and the collateral have fresh
    /// prices, whatever the other prices are, unless one of the two is paused or worth less than a
    /// unit of the other.
    pub(super) fn check_liquidations(&self) {
        for borrower in USERS {
            let session = self.model.view(borrower);
            if !is_liquidatable(&session) {
                continue;
            }

            let owed = session.parts.iter().filter(|part| !part.debt.is_zero());
            for (debt, collateral) in
                owed.flat_map(|owed| session.parts.iter().map(move |part| (owed, part)))
            {
                let debt_amount = debt.owed(session.history.band);
                if self.can_be_exchanged(debt, debt_amount, collateral) {
                    self.check_liquidation(borrower, debt, debt_amount, collateral);
                }
            }
        }
    }

    /// Whether both have usable prices, and the debt is worth at least a unit of the collateral.
    fn can_be_exchanged(&self, debt: &Part, debt_amount: U256, collateral: &Part) -> bool {
        let dollar = U256::from(100_000_000);
        let is_usable = |part: &Part| part.asset.fresh(self.model.now) && !part.asset.paused;
        let unit = collateral.asset.usd_up(U256::from(1));

        is_usable(debt)
            && is_usable(collateral)
            && collateral.collateral
            && collateral.asset.usd_down(collateral.supplied()) >= dollar
            && debt.asset.usd_up(debt_amount) >= unit.max(dollar)
    }

    /// Liquidates a user on a copy of the network.
    fn check_liquidation(
        &self,
        borrower: Address,
        debt: &Part,
        debt_amount: U256,
        collateral: &Part,
    ) {
        let mut twin = self.network.twin();
        // The liquidator has enough tokens.
        twin.mint(debt.asset.address, OWNER, debt_amount);
        twin.approve(OWNER, debt.asset.address, POOL, U256::MAX);

        let call = LendingPool::liquidateCall {
            borrower,
            debtAsset: debt.asset.address,
            collateralAsset: collateral.asset.address,
            amount: U256::MAX,
            inKind: true,
        };
        let result = twin.send(OWNER, POOL, call);
        assert!(
            result.is_ok(),
            "{borrower} cannot be liquidated: {result:?}"
        );
    }

    /// The contract's events or error must be the model's.
    pub(super) fn compare(
        &mut self,
        action: Action,
        real: Result<Receipt, Bytes>,
        expected: Outcome,
    ) {
        match (real, expected) {
            (Ok(receipt), Ok(expected)) => {
                let ours = receipt.logs.into_iter().filter(|log| log.address == POOL);
                let events: Vec<LogData> = ours.map(|log| log.data).collect();
                assert_eq!(events, expected, "{action:?}");

                self.seen.selectors.extend(
                    events
                        .iter()
                        .map(|event| -> [u8; 4] { event.topics()[0][..4].try_into().unwrap() }),
                );
            }
            (Err(refusal), Err(expected)) => {
                assert_eq!(refusal, expected, "{action:?}");
                self.seen.selectors.insert(refusal[..4].try_into().unwrap());
            }
            (real, expected) => {
                panic!("{action:?}: the contract returns {real:?}, the model {expected:?}")
            }
        }
    }
}

/// Whether an account is below health 1.
fn is_liquidatable(session: &Session) -> bool {
    session
        .worth()
        .health()
        .is_some_and(|health| health < 10_000)
}

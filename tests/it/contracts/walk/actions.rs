//! What users and the owner do, each time to the contract and to the model.

use alloy_primitives::{Address, Bytes, LogData, U256};
use tetrad::internals::contracts::bindings::{LendingPool, Token};

use super::{USERS, Walk};
use crate::contracts::{
    bench::Receipt,
    model::{liquidation::Liquidation, pool::Outcome},
    network::{OWNER, POOL},
};

#[derive(Clone, Copy, Debug)]
enum Action {
    Deposit,
    Withdraw,
    Borrow,
    Repay,
    Transfer,
    Liquidate,
    WriteOff,
    Refresh,
    Collect,
    Govern,
}

const ACTIONS: [(Action, u64); 10] = [
    (Action::Deposit, 18),
    (Action::Withdraw, 12),
    (Action::Borrow, 24),
    (Action::Repay, 14),
    (Action::Transfer, 8),
    (Action::Liquidate, 14),
    (Action::WriteOff, 2),
    (Action::Refresh, 5),
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
        let (token, asset) = (self.tokens[index], self.tokens[index].address);
        let (real, expected) = match action {
            Action::Deposit => {
                let amount = self.amount(token.worth(100_000));
                (self.network.deposit(user, token, amount), self.model.deposit(user, index, amount))
            }
            Action::Withdraw => {
                let amount = self.amount_of_supply(user, index);
                (self.network.withdraw(user, token, amount), self.model.withdraw(user, index, amount))
            }
            Action::Borrow => {
                let amount = self.amount_in_reach(user, index);
                (self.network.borrow(user, token, amount), self.model.borrow(user, index, amount))
            }
            Action::Repay => {
                let owed = self.model.open(user, Some(index));
                let owed = owed.parts.iter().find(|part| part.index == index).unwrap().owed(owed.history.band);
                let amount = self.amount(owed);
                (self.network.repay(user, token, amount), self.model.repay(user, index, amount))
            }
            Action::Transfer => {
                let (value, to) = (self.amount_of_supply(user, index), self.random.pick(&USERS));
                let real = self.network.send(user, token.p_token(), Token::transferCall { to, value });
                (real, self.model.transfer(user, to, index, value))
            }
            Action::Liquidate => return self.liquidate(user),
            Action::Govern => self.govern(index),
            Action::WriteOff => {
                (self.network.send(OWNER, POOL, LendingPool::writeOffCall { user }), self.model.write_off(user))
            }
            Action::Refresh => {
                (self.network.send(OWNER, POOL, LendingPool::refreshCall { user }), self.model.refresh(user))
            }
            Action::Collect => {
                let (amount, to) = (self.amount(token.worth(10)), OWNER);
                let real = self.network.send(OWNER, POOL, LendingPool::collectTreasuryCall { asset, amount, to });
                (real, self.model.collect(index, amount, to))
            }
        };
        self.compare(action, real, expected);
    }

    /// Changes what the owner may change, mostly back to what it was.
    fn govern(&mut self, index: usize) -> (Result<Receipt, Bytes>, Outcome) {
        let (token, asset) = (self.tokens[index], self.tokens[index].address);
        match self.random.below(3) {
            0 => {
                let paused = self.random.chance(20);
                let real = self.network.send(OWNER, POOL, LendingPool::setPausedCall { asset, paused });
                (real, self.model.set_paused(index, paused))
            }
            1 => {
                let cap = if self.random.chance(40) { token.worth(150_000).to() } else { 0 };
                let call = LendingPool::setCapsCall { asset, supplyCap: cap, borrowCap: cap / 2 };
                (self.network.send(OWNER, POOL, call), self.model.set_caps(index, cap, cap / 2))
            }
            _ => {
                let mut parameters = token.parameters();
                parameters.reserveFactorBps = self.random.below(10_001) as u16;
                let call = LendingPool::setParametersCall { asset, parameters: parameters.clone() };
                (self.network.send(OWNER, POOL, call), self.model.set_parameters(index, parameters))
            }
        }
    }

    fn liquidate(&mut self, liquidator: Address) {
        let sick = |user: &Address| self.model.open(*user, None).worth().health().is_some_and(|health| health < 10_000);
        let victims: Vec<Address> = USERS.into_iter().filter(sick).collect();
        let borrower = if victims.is_empty() { self.random.pick(&USERS) } else { self.random.pick(&victims) };
        let session = self.model.open(borrower, None);
        let owed: Vec<usize> =
            session.parts.iter().filter(|part| !part.debt.is_zero()).map(|part| part.index).collect();
        let held: Vec<usize> =
            session.parts.iter().filter(|part| !part.supply.is_zero()).map(|part| part.index).collect();
        let any = [self.random.below(4) as usize];
        let debt = self.random.pick(if owed.is_empty() { &any } else { &owed });
        let collateral = self.random.pick(if held.is_empty() { &any } else { &held });
        let all = self.random.chance(40);
        let amount = if all { U256::MAX } else { self.amount(self.tokens[debt].worth(50_000)) };
        let in_kind = self.random.chance(40);
        let call = LendingPool::liquidateCall {
            borrower,
            debtAsset: self.tokens[debt].address,
            collateralAsset: self.tokens[collateral].address,
            amount,
            inKind: in_kind,
        };
        let real = self.network.send(liquidator, POOL, call);
        let terms = Liquidation { liquidator, borrower, debt, collateral, amount, in_kind };
        let expected = self.model.liquidate(terms);
        self.compare(Action::Liquidate, real, expected);
    }

    fn compare(&mut self, action: Action, real: Result<Receipt, Bytes>, expected: Outcome) {
        match (real, expected) {
            (Ok(receipt), Ok(expected)) => {
                let ours = receipt.logs.into_iter().filter(|log| log.address == POOL);
                let events: Vec<LogData> = ours.map(|log| log.data).collect();
                assert_eq!(events, expected, "{action:?}");
                self.seen
                    .selectors
                    .extend(events.iter().map(|event| -> [u8; 4] { event.topics()[0][..4].try_into().unwrap() }));
            }
            (Err(refusal), Err(expected)) => {
                assert_eq!(refusal, expected, "{action:?}");
                self.seen.selectors.insert(refusal[..4].try_into().unwrap());
            }
            (real, expected) => panic!("{action:?}: the contract says {real:?}, the model {expected:?}"),
        }
    }
}

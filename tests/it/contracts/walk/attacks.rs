//! Deliberate attacks, which must gain nothing.

use alloy_primitives::{Address, U256};
use tetrad_contracts::contracts::bindings::LendingPool;

use super::{DAY, USERS, Walk, actions::Action};
use crate::contracts::{
    model::credit::band_of,
    network::{POOL, STRANGER},
};

/// Seconds of a term.
const TERM: u64 = 30 * DAY;

/// An account's possibilities and earnings: borrowing power, health, seconds up to an hour from
/// now, and rate band.
#[derive(Debug, PartialEq)]
struct Standing {
    power: U256,
    available: U256,
    health: Option<u128>,
    seconds: (u64, u64),
    band: usize,
}

impl Walk {
    /// Lets a price crash for a block, in which a stranger refreshes the victim and sends dust, and
    /// compares the victim's account afterwards with the account without the attack.
    pub(super) fn attack_in_a_dip(&mut self, user: Address) {
        let index = self.random.below(self.tokens.len() as u64) as usize;
        let price: u64 = self.model.assets[index].price.to();

        // Setting a price makes it fresh, which changes what the account may do, and a debt that is
        // cheaper for a block improves the account.
        let owed = self
            .model
            .open(user, Some(index))
            .parts
            .iter()
            .any(|part| part.index == index && !part.debt.is_zero());
        if owed
            || self.stopped.contains(&index)
            || !self.model.assets[index].fresh(self.model.now)
            || price < 100
        {
            return;
        }

        // The victim's seconds and band, as a refresh would leave them without the dip.
        self.refresh(user);
        let before = self.standing(user);

        self.record_price(index, price / 20);
        self.refresh(user);
        self.send_dust(user);
        self.refresh(user);
        self.record_price(index, price);

        assert_eq!(
            self.standing(user),
            before,
            "a stranger changed what {user} may do"
        );
    }

    fn refresh(&mut self, user: Address) {
        let real = self
            .network
            .send(STRANGER, POOL, LendingPool::refreshCall { user });
        let expected = self.model.refresh(user);
        self.compare(Action::Refresh, real, expected);
    }

    /// Sends the user a unit of every claim that another user has and that is not the user's
    /// collateral.
    pub(super) fn send_dust(&mut self, user: Address) {
        let accepted = self
            .model
            .users
            .get(&user)
            .map(|user| user.collateral.clone())
            .unwrap_or_default();
        for index in 0..self.tokens.len() {
            let sender = USERS
                .into_iter()
                .find(|sender| *sender != user && self.can_give(*sender, index));
            let Some(sender) = sender.filter(|_| !accepted.contains(&index)) else {
                continue;
            };
            let value = U256::from(1);
            let real = self.network.give(sender, user, self.tokens[index], value);
            let expected = self.model.transfer(sender, user, index, value);
            self.compare(Action::Transfer, real, expected);
        }
    }

    /// Whether a user has more than dust of a claim, and no debt that a transfer could endanger.
    fn can_give(&self, user: Address, index: usize) -> bool {
        let session = self.model.open(user, Some(index));
        let supplied = session
            .parts
            .iter()
            .find(|part| part.index == index)
            .unwrap()
            .supplied();
        !session.owes() && supplied > U256::from(1) && !self.model.assets[index].paused
    }

    fn standing(&self, user: Address) -> Standing {
        let session = self.model.open(user, None);
        let worth = session.worth();
        let power = session.power();
        let mut later = self.model.clone();
        later.now += 3_600;
        let history = later.open(user, None).history;
        Standing {
            power,
            available: power.saturating_sub(U256::from(worth.debt)),
            health: worth.health(),
            seconds: (history.deposit.total, history.healthy.total),
            band: band_of(session.score),
        }
    }

    /// Repays the whole debt in an asset and borrows it again a day later, for points.
    pub(super) fn farm(&mut self, user: Address, index: usize) {
        let token = self.tokens[index];
        for _ in 0..3 {
            let session = self.model.open(user, Some(index));
            let part = session
                .parts
                .iter()
                .find(|part| part.index == index)
                .unwrap();
            let owed = part.owed(session.history.band);
            let real = self.network.repay(user, token, U256::MAX);
            let expected = self.model.repay(user, index, U256::MAX);
            self.compare(Action::Repay, real, expected);
            self.check_payments();
            let real = self.network.borrow(user, token, owed);
            let expected = self.model.borrow(user, index, owed);
            self.compare(Action::Borrow, real, expected);
            self.pass(DAY);
        }
    }

    /// Raises a price for a block, in which the user acts so that seconds count, and lets a
    /// stranger observe the account afterwards. The user earns nothing between two observations
    /// that both find too little.
    pub(super) fn farm_in_a_spike(&mut self, user: Address, index: usize) {
        let token = self.tokens[index];
        let price = self.model.assets[index].price.to::<u64>();
        if self.stopped.contains(&index) || price > 1 << 58 {
            return;
        }

        self.record_price(index, price * 20);
        let amount = token.worth(1);
        let real = self.network.deposit(user, token, amount);
        let expected = self.model.deposit(user, index, amount);
        self.compare(Action::Deposit, real, expected);

        self.record_price(index, price);
        let mut found: Option<[(bool, u64); 2]> = None;
        for _ in 0..4 {
            let seconds = 1 + self.random.below(DAY);
            self.pass(seconds);
            self.refresh(user);

            let session = self.model.open(user, None);
            let (depositing, healthy) = session.worth().counts();
            let now = [
                (depositing, session.history.deposit.total),
                (healthy, session.history.healthy.total),
            ];

            for (before, after) in found.iter().flatten().zip(&now) {
                assert!(
                    before.0 || after.0 || before.1 == after.1,
                    "{user} earned seconds without enough: {now:?}"
                );
            }

            found = Some(now);
        }
    }

    /// At most one payment in a term earns points, however the debt is recycled.
    pub(super) fn check_payments(&mut self) {
        for (user, now) in &self.model.users {
            let times = self.earned.entry(*user).or_default();
            let known = times.len() as u64;
            times.extend((known..now.history.on_time).map(|_| self.model.now));
            for (index, first) in times.iter().enumerate() {
                let last = times[times.len() - 1];
                let count = (times.len() - index) as u64;
                assert!(
                    last - first + 2 * TERM > count * TERM,
                    "{user} earned too often: {times:?}"
                );
            }
        }
    }
}

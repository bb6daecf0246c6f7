//! Random amounts.

use alloy_primitives::{Address, U256};

use super::Walk;
use crate::contracts::model::n;

impl Walk {
    /// Mostly a part of a sensible amount; occasionally dust, all of it, or far too much.
    pub(super) fn amount(&mut self, sensible: U256) -> U256 {
        match self.random.below(10) {
            0 => U256::from(self.random.below(5)),
            1 => sensible,
            2 => sensible + U256::from(self.random.below(3)),
            _ => self.random.part_of(sensible),
        }
    }

    pub(super) fn amount_of_supply(&mut self, user: Address, index: usize) -> U256 {
        let session = self.model.open(user, Some(index));
        let supplied = session
            .parts
            .iter()
            .find(|part| part.index == index)
            .unwrap()
            .supplied();
        if self.random.chance(15) {
            U256::MAX
        } else {
            self.amount(supplied)
        }
    }

    /// Amounts around the user's remaining borrowing power.
    pub(super) fn amount_in_reach(&mut self, user: Address, index: usize) -> U256 {
        let session = self.model.open(user, None);
        let available = session
            .power()
            .saturating_sub(U256::from(session.worth().debt));
        let asset = &self.model.assets[index];
        let reach = available * asset.unit / asset.price;
        let prudence = if self.weather.prudent { 8 } else { 1 };
        self.amount(reach / n(prudence))
    }
}

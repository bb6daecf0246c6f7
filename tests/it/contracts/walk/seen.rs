//! What a walk came by. One that never got anywhere would prove nothing.

use std::collections::BTreeSet;

use alloy_primitives::keccak256;
use alloy_sol_types::{SolError, SolEvent};

use super::WALK;
use crate::contracts::abi_lending::{PoolErrors, PoolEvents};

/// The first four bytes of events and refusals, and the credit bands of those in debt.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) selectors: BTreeSet<[u8; 4]>,
    pub(super) bands: BTreeSet<usize>,
}

impl Seen {
    pub(super) fn check_expected(&self, steps: u64) {
        for signature in EXPECTED.iter().filter(|_| steps >= 3 * WALK) {
            let selector: [u8; 4] = keccak256(signature)[..4].try_into().unwrap();
            assert!(self.selectors.contains(&selector), "{signature} never happened");
        }
    }
}

/// The events and refusals that every weather must have brought about.
const EXPECTED: [&str; 22] = [
    PoolEvents::Deposit::SIGNATURE,
    PoolEvents::Withdraw::SIGNATURE,
    PoolEvents::Borrow::SIGNATURE,
    PoolEvents::Repay::SIGNATURE,
    PoolEvents::SupplyTransferred::SIGNATURE,
    PoolEvents::Liquidation::SIGNATURE,
    PoolEvents::DebtWrittenOff::SIGNATURE,
    PoolEvents::TreasuryCollected::SIGNATURE,
    PoolEvents::ParametersChanged::SIGNATURE,
    PoolEvents::CapsChanged::SIGNATURE,
    PoolEvents::PausedChanged::SIGNATURE,
    PoolErrors::ZeroAmount::SIGNATURE,
    PoolErrors::AmountTooSmall::SIGNATURE,
    PoolErrors::AssetPaused::SIGNATURE,
    PoolErrors::StalePrice::SIGNATURE,
    PoolErrors::InsufficientLiquidity::SIGNATURE,
    PoolErrors::BorrowingPowerExceeded::SIGNATURE,
    PoolErrors::SupplyCapExceeded::SIGNATURE,
    PoolErrors::BorrowCapExceeded::SIGNATURE,
    PoolErrors::NothingSupplied::SIGNATURE,
    PoolErrors::NothingOwed::SIGNATURE,
    PoolErrors::NotLiquidatable::SIGNATURE,
];

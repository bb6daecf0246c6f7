//! The events and refusals of a walk. A walk without them would prove nothing.

use std::collections::BTreeSet;

use alloy_primitives::keccak256;
use alloy_sol_types::{SolError, SolEvent};
use tetrad_contracts::contracts::bindings::{LendingPool, LendingPoolErrors};

use super::WALK;

/// The first four bytes of events and refusals, and the credit bands of borrowers.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) selectors: BTreeSet<[u8; 4]>,
    pub(super) bands: BTreeSet<usize>,
}

impl Seen {
    pub(super) fn check_expected(&self, steps: u64) {
        for signature in EXPECTED.iter().filter(|_| steps >= 5 * WALK) {
            assert!(self.has(signature), "{signature} never happened");
        }
    }

    pub(super) fn has(&self, signature: &str) -> bool {
        self.selectors.contains(&keccak256(signature)[..4])
    }
}

/// The events and refusals that every walk must produce.
const EXPECTED: [&str; 26] = [
    LendingPool::Deposit::SIGNATURE,
    LendingPool::Withdraw::SIGNATURE,
    LendingPool::Borrow::SIGNATURE,
    LendingPool::Repay::SIGNATURE,
    LendingPool::SupplyTransferred::SIGNATURE,
    LendingPool::Liquidation::SIGNATURE,
    LendingPool::TreasuryCollected::SIGNATURE,
    LendingPool::ParametersChanged::SIGNATURE,
    LendingPool::CapsChanged::SIGNATURE,
    LendingPool::PausedChanged::SIGNATURE,
    LendingPool::CollateralSet::SIGNATURE,
    LendingPool::LeastLoanChanged::SIGNATURE,
    LendingPoolErrors::ZeroAmount::SIGNATURE,
    LendingPoolErrors::AmountTooSmall::SIGNATURE,
    LendingPoolErrors::AssetPaused::SIGNATURE,
    LendingPoolErrors::StalePrice::SIGNATURE,
    LendingPoolErrors::TokenHalted::SIGNATURE,
    LendingPoolErrors::LoanTooSmall::SIGNATURE,
    LendingPoolErrors::NotCollateral::SIGNATURE,
    LendingPoolErrors::InsufficientLiquidity::SIGNATURE,
    LendingPoolErrors::BorrowingPowerExceeded::SIGNATURE,
    LendingPoolErrors::SupplyCapExceeded::SIGNATURE,
    LendingPoolErrors::BorrowCapExceeded::SIGNATURE,
    LendingPoolErrors::NothingSupplied::SIGNATURE,
    LendingPoolErrors::NothingOwed::SIGNATURE,
    LendingPoolErrors::NotLiquidatable::SIGNATURE,
];

//! The owner's operations.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolEvent;
use tetrad_contracts::contracts::bindings::{AssetParameters, LendingPool, LendingPoolErrors};

use super::{
    n,
    pool::{Outcome, Pool, check_cash},
};
use crate::contracts::bench::refusal;

impl Pool {
    pub(crate) fn collect(&mut self, index: usize, amount: U256, receiver: Address) -> Outcome {
        let mut asset = self.assets[index].clone();
        asset.accrue(self.now);
        let amount = amount.min(asset.state.treasury);
        if amount.is_zero() {
            return Err(refusal(LendingPoolErrors::ZeroAmount {}));
        }
        check_cash(amount, asset.state.cash)?;
        asset.state.treasury -= amount;
        asset.state.cash -= amount;
        let address = asset.address;
        let state = asset.state.clone();
        self.assets[index] = asset;
        Ok(vec![
            LendingPool::TreasuryCollected {
                asset: address,
                receiver,
                amount,
            }
            .encode_log_data(),
            LendingPool::ReserveUpdated {
                asset: address,
                state,
            }
            .encode_log_data(),
        ])
    }

    pub(crate) fn set_parameters(&mut self, index: usize, parameters: AssetParameters) -> Outcome {
        let asset = &mut self.assets[index];
        asset.accrue(self.now);
        asset.parameters = parameters.clone();
        let address = asset.address;
        let state = asset.state.clone();
        Ok(vec![
            LendingPool::ReserveUpdated {
                asset: address,
                state,
            }
            .encode_log_data(),
            LendingPool::ParametersChanged {
                asset: address,
                parameters,
            }
            .encode_log_data(),
        ])
    }

    pub(crate) fn set_caps(&mut self, index: usize, supply_cap: u128, borrow_cap: u128) -> Outcome {
        let asset = &mut self.assets[index];
        (asset.supply_cap, asset.borrow_cap) = (n(supply_cap), n(borrow_cap));
        let event = LendingPool::CapsChanged {
            asset: asset.address,
            supplyCapTokens: asset.supply_cap,
            borrowCapTokens: asset.borrow_cap,
        };
        Ok(vec![event.encode_log_data()])
    }

    pub(crate) fn set_least_loan(&mut self, usd: u64) -> Outcome {
        let previousUsd = self.least_loan;
        let newUsd = U256::from(usd);
        self.least_loan = newUsd;
        Ok(vec![
            LendingPool::LeastLoanChanged {
                previousUsd,
                newUsd,
            }
            .encode_log_data(),
        ])
    }

    pub(crate) fn set_paused(&mut self, index: usize, paused: bool) -> Outcome {
        let asset = &mut self.assets[index];
        asset.paused = paused;
        Ok(vec![
            LendingPool::PausedChanged {
                asset: asset.address,
                paused,
            }
            .encode_log_data(),
        ])
    }
}

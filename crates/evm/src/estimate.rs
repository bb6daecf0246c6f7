//! Gas estimation: the least gas with which a call succeeds. It takes the same steps as geth's
//! `gasestimator`, so that both nodes return the same figure for the same call.

use alloy_eips::eip4844::DATA_GAS_PER_BLOB;
use alloy_primitives::{Bytes, U256};
use revm::context_interface::result::{ExecutionResult, HaltReason, InvalidTransaction};

use super::{Call, CallContext, Environment, Fork, TransactionError};

/// The intrinsic gas of a transaction without data.
const TRANSFER_GAS: u64 = 21_000;
/// The stipend that a call with value gives its recipient.
const CALL_STIPEND: u64 = 2_300;
/// The largest gas limit of a transaction since Osaka (EIP-7825).
const MAX_TRANSACTION_GAS: u64 = 1 << 24;
/// The most by which geth's estimates may exceed the least gas, relative to the estimate.
pub const ESTIMATE_TOLERANCE: f64 = 0.015;

/// The reason why there is no estimate.
#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    /// The call reverts with any amount of gas.
    #[error("execution reverted")]
    Revert(Bytes),
    /// The call fails with any amount of gas.
    #[error("{}", super::halt_message(.0))]
    Halt(HaltReason),
    /// The call needs more gas than the sender can pay for, the caller allows or the node permits.
    #[error("gas required exceeds allowance ({0})")]
    Allowance(u64),
    /// The sender's balance does not cover the value.
    #[error("insufficient funds for transfer")]
    InsufficientFunds,
    /// The call breaks a rule.
    #[error(transparent)]
    Transaction(#[from] TransactionError),
}

/// The result of a call with a given amount of gas; `None` if it is below the intrinsic gas.
type Attempt = Option<ExecutionResult>;

impl CallContext<'_> {
    /// Estimates the gas that `call` needs. The search ends when its bounds are within `tolerance` of
    /// each other, relative to the upper one; with 0 the estimate is the least gas.
    pub fn estimate(&self, call: &Call, tolerance: f64) -> Result<u64, EstimateError> {
        let mut high = self.highest(call)?;

        // A plain transfer needs exactly this, which spares the search, as in geth.
        if call.input.is_empty()
            && self.is_plain_account(call)?
            && succeeded(&self.attempt(call, TRANSFER_GAS)?)
        {
            return Ok(TRANSFER_GAS);
        }

        // If the largest amount does not suffice, none does.
        let gas = match self.attempt(call, high)? {
            Some(ExecutionResult::Success { gas, .. }) => gas,
            Some(ExecutionResult::Revert { output, .. }) => {
                return Err(EstimateError::Revert(output));
            }
            Some(ExecutionResult::Halt { reason, .. })
                if !matches!(reason, HaltReason::OutOfGas(_)) =>
            {
                return Err(EstimateError::Halt(reason));
            }
            _ => return Err(EstimateError::Allowance(high)),
        };

        // As in geth, the gas that was used bounds the estimate from below.
        let mut low = gas.tx_gas_used() - 1;
        // Most calls succeed with the gas they used before refunds, plus the 64th that each inner
        // call leaves behind.
        let spent = gas.total_gas_spent().max(gas.floor_gas());
        let optimistic = (spent + CALL_STIPEND) * 64 / 63;
        if optimistic < high {
            self.narrow(call, optimistic, &mut low, &mut high)?;
        }

        while low + 1 < high && (high - low) as f64 / high as f64 >= tolerance {
            // Most calls need little more than they use, so the search favours the low side.
            self.narrow(call, ((high + low) / 2).min(low * 2), &mut low, &mut high)?;
        }
        Ok(high)
    }

    /// Estimates the gas that `call` needs now and a second later. A block may have the time of the
    /// one before it, and what a contract does once time has passed (charge interest, extend a
    /// record) costs nothing until then; the transaction that follows the estimate may meet the
    /// next second.
    pub fn lasting_estimate(&self, call: &Call, tolerance: f64) -> Result<u64, EstimateError> {
        let gas = self.estimate(call, tolerance)?;
        let environment = Environment {
            timestamp: self.environment.timestamp.saturating_add(1),
            ..self.environment.clone()
        };

        let later = CallContext {
            environment: &environment,
            ..*self
        };
        if later
            .attempt(call, gas)
            .is_ok_and(|attempt| succeeded(&attempt))
        {
            return Ok(gas);
        }

        // A call that fails then with any amount of gas, such as one whose deadline passes, is
        // still worth sending now.
        Ok(later
            .estimate(call, tolerance)
            .map_or(gas, |more| more.max(gas)))
    }

    /// The upper bound of the search.
    fn highest(&self, call: &Call) -> Result<u64, EstimateError> {
        // As in geth, a limit that no transaction may have counts as none.
        let mut high = call
            .gas
            .filter(|gas| *gas >= TRANSFER_GAS)
            .unwrap_or(self.environment.gas_limit);
        if self.environment.rules.has(Fork::Osaka) && self.chain.limits.transaction_gas {
            high = high.min(MAX_TRANSACTION_GAS);
        }

        let max_fee = self.max_fee(call);
        if max_fee > 0 {
            high = high.min(self.affordable(call, max_fee)?);
        }
        Ok(high.min(self.gas_cap))
    }

    /// The most gas that the sender can pay for at this price, after the call's other costs.
    fn affordable(&self, call: &Call, max_fee: u128) -> Result<u64, EstimateError> {
        let balance = self
            .prepare()?
            .0
            .account(call.from)
            .map_err(TransactionError::from)?
            .map(|info| info.balance);
        let mut available = balance.unwrap_or_default();

        let blobs = call.blob_hashes.as_ref().map_or(0, Vec::len) as u64;
        let blob_gas = U256::from(blobs * DATA_GAS_PER_BLOB);
        for cost in [
            call.value,
            blob_gas * U256::from(call.max_fee_per_blob_gas.unwrap_or_default()),
        ] {
            // As in geth, something has to be left for gas.
            if cost > U256::ZERO && cost >= available {
                return Err(EstimateError::InsufficientFunds);
            }
            available -= cost;
        }

        Ok((available / U256::from(max_fee)).saturating_to())
    }

    fn is_plain_account(&self, call: &Call) -> Result<bool, TransactionError> {
        let Some(to) = call.to else { return Ok(false) };
        Ok(self
            .prepare()?
            .0
            .account(to)?
            .is_none_or(|info| info.is_empty_code_hash()))
    }

    fn attempt(&self, call: &Call, gas: u64) -> Result<Attempt, TransactionError> {
        use InvalidTransaction as Invalid;
        match self.run(call, gas) {
            Ok(result) => Ok(Some(result)),
            Err(TransactionError::Invalid(
                Invalid::CallGasCostMoreThanGasLimit { .. }
                | Invalid::GasFloorMoreThanGasLimit { .. }
                | Invalid::TxGasLimitGreaterThanCap { .. },
            )) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Tries `gas` and moves one of the bounds there.
    fn narrow(
        &self,
        call: &Call,
        gas: u64,
        low: &mut u64,
        high: &mut u64,
    ) -> Result<(), TransactionError> {
        if succeeded(&self.attempt(call, gas)?) {
            *high = gas;
        } else {
            *low = gas;
        }
        Ok(())
    }
}

fn succeeded(attempt: &Attempt) -> bool {
    attempt.as_ref().is_some_and(ExecutionResult::is_success)
}

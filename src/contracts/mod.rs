//! The network's contracts as exchange, lending and genesis use them: bindings, set-up steps, and reads.

pub mod bindings;

use alloy_primitives::{Address, U256};
use alloy_sol_types::{SolCall, SolConstructor};
use revm::context_interface::result::ExecutionResult;

use crate::{
    artifacts::Artifact,
    chain::{Step, View},
    evm::{Call, StateOverrides, TransactionError, halt_message},
    network::Token,
};

/// Gas limit of a contract read: plenty for the network's tokens, and an end for a contract gone wrong.
const READ_GAS: u64 = 100_000_000;

/// The amount of a token, in its smallest unit, that is worth `usd` dollars at the reference price.
pub fn worth(token: &Token, usd: u64) -> U256 {
    U256::from(usd) * U256::from(100_000_000u64) * unit(token) / U256::from(token.reference_price)
}

/// One whole token in its smallest unit.
pub fn unit(token: &Token) -> U256 {
    U256::from(10).pow(U256::from(token.decimals))
}

/// The step that deploys a contract at `address`.
pub(crate) fn deploy(
    name: &str,
    address: Address,
    deployer: Address,
    artifact: Artifact,
    constructor: impl SolConstructor,
) -> Step {
    let code = [artifact.creation_code().as_ref(), &constructor.abi_encode()].concat().into();
    Step::Deploy { name: format!("deploy {name}"), address, deployer, code }
}

/// The step that calls a contract.
pub fn call(name: &str, from: Address, to: Address, call: impl SolCall) -> Step {
    Step::Call { name: name.to_owned(), from, to, input: call.abi_encode().into() }
}

/// A contract could not be read. Only a development method can break the network's own contracts that way.
#[derive(Debug, thiserror::Error)]
pub enum ReadContractError {
    /// The call could not begin.
    #[error("{contract}: {error}")]
    Call {
        /// The contract.
        contract: Address,
        /// The reason.
        error: TransactionError,
    },
    /// The call failed.
    #[error("{contract}: {reason}")]
    Failed {
        /// The contract.
        contract: Address,
        /// Revert data or the reason why execution stopped.
        reason: String,
    },
    /// The output is not one of the function: another contract, or none, is at the address.
    #[error("{contract}: unexpected output: {error}")]
    Output {
        /// The contract.
        contract: Address,
        /// The reason why it does not decode.
        error: alloy_sol_types::Error,
    },
}

/// Reads a contract, as `eth_call` at the view's block does.
///
/// # Errors
/// See [`ReadContractError`].
pub fn read<C: SolCall>(view: &View, contract: Address, function: &C) -> Result<C::Return, ReadContractError> {
    let overrides = StateOverrides::new();
    let call = Call { to: Some(contract), input: function.abi_encode().into(), ..Call::default() };
    let failed = |reason| ReadContractError::Failed { contract, reason };
    let result = view.call_context(&overrides, READ_GAS).call(&call);
    match result.map_err(|error| ReadContractError::Call { contract, error })? {
        ExecutionResult::Success { output, .. } => {
            C::abi_decode_returns(output.data()).map_err(|error| ReadContractError::Output { contract, error })
        }
        ExecutionResult::Revert { output, .. } => Err(failed(format!("reverted with {output}"))),
        ExecutionResult::Halt { reason, .. } => Err(failed(halt_message(&reason))),
    }
}

//! The network's contracts, for exchange, lending and genesis: bindings, set-up steps, and reads.

pub mod bindings;

use alloy_primitives::{Address, U256};
use alloy_sol_types::{SolCall, SolConstructor};
use revm::context_interface::result::ExecutionResult;
use tetrad_chain::{Step, View};
use tetrad_evm::{Call, StateOverrides, TransactionError, halt_message};
use tetrad_network::network::Token;

use crate::artifacts::Artifact;

/// The gas limit of a contract read: ample for the network's tokens, and a bound for a faulty
/// contract.
const READ_GAS: u64 = 100_000_000;

/// Returns the amount of a token, in its smallest unit, that is worth `usd` dollars at the
/// reference price.
pub fn worth(token: &Token, usd: u64) -> U256 {
    U256::from(usd) * U256::from(100_000_000u64) * unit(token) / U256::from(token.reference_price)
}

/// Returns one whole token in its smallest unit.
pub fn unit(token: &Token) -> U256 {
    U256::from(10).pow(U256::from(token.decimals))
}

/// Returns the step that deploys a contract at `address`.
pub fn deploy(
    name: &str,
    address: Address,
    deployer: Address,
    artifact: Artifact,
    constructor: impl SolConstructor,
) -> Step {
    let code = [artifact.creation_code().as_ref(), &constructor.abi_encode()]
        .concat()
        .into();
    Step::Deploy {
        name: format!("deploy {name}"),
        address,
        deployer,
        code,
    }
}

/// Returns the step that calls a contract.
pub fn call(name: &str, from: Address, to: Address, call: impl SolCall) -> Step {
    Step::Call {
        name: name.to_owned(),
        from,
        to,
        input: call.abi_encode().into(),
    }
}

/// The error of a failed contract read. The network's own contracts fail only after a development
/// method has changed them.
#[derive(Debug, thiserror::Error)]
pub enum ReadContractError {
    /// A call that could not begin.
    #[error("{contract}: {error}")]
    Call {
        /// The contract.
        contract: Address,
        /// The reason.
        error: TransactionError,
    },
    /// A failed call.
    #[error("{contract}: {reason}")]
    Failed {
        /// The contract.
        contract: Address,
        /// Revert data or the reason why execution stopped.
        reason: String,
    },
    /// An output that is not the function's: another contract, or none, is at the address.
    #[error("{contract}: unexpected output: {error}")]
    Output {
        /// The contract.
        contract: Address,
        /// The error of decoding.
        error: alloy_sol_types::Error,
    },
}

/// Reads a contract, as `eth_call` at the view's block does.
///
/// # Errors
/// See [`ReadContractError`].
pub fn read<C: SolCall>(
    view: &View,
    contract: Address,
    function: &C,
) -> Result<C::Return, ReadContractError> {
    let overrides = StateOverrides::new();
    let call = Call {
        to: Some(contract),
        input: function.abi_encode().into(),
        ..Call::default()
    };
    let result = view.call_context(&overrides, READ_GAS).call(&call);

    let failed = |reason| ReadContractError::Failed { contract, reason };
    match result.map_err(|error| ReadContractError::Call { contract, error })? {
        ExecutionResult::Success { output, .. } => C::abi_decode_returns(output.data())
            .map_err(|error| ReadContractError::Output { contract, error }),
        ExecutionResult::Revert { output, .. } => Err(failed(format!("reverted with {output}"))),
        ExecutionResult::Halt { reason, .. } => Err(failed(halt_message(&reason))),
    }
}

//! What everybody shares who deals with the network's contracts: the tokens' interface, steps that set contracts up,
//! and reading them.

#[expect(clippy::too_many_arguments, reason = "generated, one for each member of an event")]
pub mod events;

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::{SolCall, sol};
use revm::context_interface::result::ExecutionResult;

use crate::{
    chain::{Step, View},
    evm::{Call, StateOverrides, TransactionError, halt_message},
    network::Token,
};

/// Gas that reading a contract may use: plenty for twelve tokens, and an end for a contract gone wrong.
const READ_GAS: u64 = 100_000_000;

sol! {
    /// ERC-20 with a faucet for its owner.
    interface Erc20 {
        function approve(address spender, uint256 value) external returns (bool);
        function balanceOf(address account) external view returns (uint256);
        function mint(address to, uint256 amount) external;
    }
}

/// The amount of a token, in its smallest unit, that is worth so many dollars at the reference price.
pub fn worth(token: &Token, usd: u64) -> U256 {
    U256::from(usd) * U256::from(100_000_000u64) * unit(token) / U256::from(token.reference_price)
}

/// One whole token in its smallest unit.
pub fn unit(token: &Token) -> U256 {
    U256::from(10).pow(U256::from(token.decimals))
}

/// Deploys `code` with constructor `arguments`.
pub fn deploy(name: &str, address: Address, deployer: Address, code: Bytes, arguments: Vec<u8>) -> Step {
    Step::Deploy {
        name: format!("deploy {name}"),
        address,
        deployer,
        code: [code.as_ref(), &arguments].concat().into(),
    }
}

/// Calls a contract.
pub fn call(name: &str, from: Address, to: Address, call: impl SolCall) -> Step {
    Step::Call { name: name.to_owned(), from, to, input: call.abi_encode().into() }
}

/// A contract could not be read. On the network's own state that takes a development method that broke it.
#[derive(Debug, thiserror::Error)]
pub enum ReadContractError {
    /// The call could not begin.
    #[error("{contract}: {error}")]
    Call {
        /// The contract.
        contract: Address,
        /// Why.
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
    /// What it returned is not what the function returns: another contract, or none, is at the address.
    #[error("{contract}: unexpected output: {error}")]
    Output {
        /// The contract.
        contract: Address,
        /// What is wrong with it.
        error: alloy_sol_types::Error,
    },
}

/// Calls a contract without leaving a trace: what `eth_call` at the view's block would answer.
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

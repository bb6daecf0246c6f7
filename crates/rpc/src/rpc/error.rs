//! Errors on the wire: codes and texts, and the only place where domain errors are mapped to codes.

use std::time::Duration;

use alloy_primitives::{B256, Bytes};
use alloy_sol_types::{ContractError, GenericContractError, SolInterface};
use revm::context_interface::result::{ExecutionResult, HaltReason, InvalidTransaction};
use tetrad_chain::{
    BuildError, ChangeError, PositionExpired, SimulationError, Stopped, SubmitError, ViewError,
};
use tetrad_evm::{BlockError, EstimateError, TransactionError, halt_message};
use tetrad_primitives::state::ReadError;
use tetrad_stdx::text::excerpt;
pub(crate) use tetrad_web::json_rpc::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR,
};
use tetrad_web::{AnswerError, ExecutionFailed};

use crate::fork::ForkCallError;

/// The clients whose conventions the interface follows (see the book, "JSON-RPC").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Clients of the network: JSON-RPC's five standard codes carry the standard texts with the
    /// details in `data`, and what the network's specification requires is required: an identifier,
    /// and some parameters.
    #[default]
    Network,
    /// Clients of go-ethereum: the text has the details, block parameters may be left out, and the
    /// envelope is that of JSON-RPC 2.0, with notifications.
    Ethereum,
}

/// The error of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// The code.
    pub code: i32,
    /// The details for the standard codes, otherwise the message.
    pub message: String,
    /// Revert data.
    pub data: Option<Bytes>,
    /// The transaction in a block that failed with this error.
    pub transaction: Option<B256>,
}

/// The request was understood and refused.
pub(crate) const SERVER_ERROR: i32 = -32000;
/// The requested history is older than what the node holds (EIP-4444, as in geth).
pub(crate) const HISTORY_PRUNED: i32 = 4444;
/// The requested thing does not exist.
pub(crate) const RESOURCE_NOT_FOUND: i32 = -32001;
/// The response exceeds the node's limit.
pub(crate) const TOO_LARGE: i32 = -32003;
/// Execution reverted.
pub(crate) const REVERTED: i32 = 3;
/// A submitted transaction has no receipt in time (EIP-7966).
pub(crate) const NO_RECEIPT: i32 = 4;
/// Execution failed without reverting, in the result of a simulated call.
pub(crate) const VM_ERROR: i32 = -32015;
/// The execution took too long.
pub const TIMEOUT: i32 = -32016;

impl From<AnswerError> for RpcError {
    fn from(error: AnswerError) -> Self {
        Self::does_not_fit(error, "ask for less")
    }
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            transaction: None,
        }
    }

    /// Invalid parameters.
    pub(crate) fn invalid_params(what: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, what)
    }

    /// The request was understood and refused.
    pub fn server(message: impl Into<String>) -> Self {
        Self::new(SERVER_ERROR, message)
    }

    /// The text is not JSON.
    pub fn parse(what: impl Into<String>) -> Self {
        Self::new(PARSE_ERROR, what)
    }

    /// The JSON is not a request.
    pub fn invalid_request(what: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, what)
    }

    /// There is no such method.
    pub(crate) fn method_not_found(method: &str) -> Self {
        let shown = excerpt(method, 100);
        Self::new(
            METHOD_NOT_FOUND,
            format!("the method {shown} does not exist/is not available"),
        )
    }

    /// The method is one of the development methods, which this node does not have.
    pub(crate) fn only_for_development(method: &str) -> Self {
        let message = format!(
            "the method {method} does not exist/is not available: it needs the development profile"
        );
        Self::new(METHOD_NOT_FOUND, message)
    }

    /// The requested thing does not exist.
    pub(crate) fn resource_not_found(message: impl Into<String>) -> Self {
        Self::new(RESOURCE_NOT_FOUND, message)
    }

    /// The requested history is older than what the node holds.
    pub(crate) fn history_pruned(message: impl Into<String>) -> Self {
        Self::new(HISTORY_PRUNED, message)
    }

    /// The execution took too long.
    pub fn timeout(message: impl Into<String>) -> Self {
        Self::new(TIMEOUT, message)
    }

    /// The response exceeds the node's limit.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(TOO_LARGE, message)
    }

    /// The response would exceed `limit` bytes; `advice` says how to request less.
    pub fn exceeds(limit: usize, advice: &str) -> Self {
        Self::too_large(format!(
            "response too large: it exceeds {limit} bytes; {advice}"
        ))
    }

    /// The response does not fit; `advice` says how to request less.
    pub fn does_not_fit(error: AnswerError, advice: &str) -> Self {
        match error {
            AnswerError::TooLong(limit) => Self::exceeds(limit, advice),
            AnswerError::NoRoom => Self::no_room(),
            AnswerError::Abandoned | AnswerError::Unwritable => Self::internal(error.to_string()),
        }
    }

    /// A submitted transaction is in no block after the time `waited` (EIP-7966). The data is its
    /// hash.
    pub(crate) fn no_receipt(hash: B256, waited: Duration) -> Self {
        let message = format!(
            "transaction {hash} is in the pool, but in no block after {} ms",
            waited.as_millis()
        );
        Self {
            data: Some(hash.into()),
            ..Self::new(NO_RECEIPT, message)
        }
    }

    /// The memory for responses in progress is exhausted.
    pub fn no_room() -> Self {
        Self::new(
            TOO_LARGE,
            "response too large for the memory that is left; try again",
        )
    }

    /// An internal error.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(INTERNAL_ERROR, what)
    }

    /// Execution reverted with `data`. The message includes the reason if the data is
    /// `Error(string)` or `Panic(uint256)`.
    pub fn reverted(data: Bytes) -> Self {
        let message = match revert_reason(&data) {
            Some(reason) => format!("execution reverted: {reason}"),
            None => "execution reverted".to_owned(),
        };
        Self {
            data: Some(data),
            ..Self::new(REVERTED, message)
        }
    }

    /// JSON-RPC's standard text for the code, if it has one.
    pub(crate) fn standard_text(&self) -> Option<&'static str> {
        match self.code {
            PARSE_ERROR => Some("Parse error"),
            INVALID_REQUEST => Some("Invalid request"),
            METHOD_NOT_FOUND => Some("Method not found"),
            INVALID_PARAMS => Some("Invalid params"),
            INTERNAL_ERROR => Some("Internal error"),
            _ => None,
        }
    }
}

/// The text of `Error(string)` or `Panic(uint256)`, as geth words it.
pub fn revert_reason(data: &[u8]) -> Option<String> {
    match GenericContractError::abi_decode(data).ok()? {
        ContractError::Revert(revert) => Some(revert.reason),
        ContractError::Panic(panic) => Some(panic.as_geth_str().into_owned()),
        ContractError::CustomError(never) => match never {},
    }
}

/// The output of a call, or the error with which it failed.
pub(crate) fn call_output(result: ExecutionResult) -> Result<Bytes, RpcError> {
    match result {
        ExecutionResult::Success { output, .. } => Ok(output.into_data()),
        ExecutionResult::Revert { output, .. } => Err(RpcError::reverted(output)),
        ExecutionResult::Halt { reason, gas, .. } => Err(RpcError::server(match reason {
            HaltReason::OutOfGas(_) => format!("out of gas: gas used {}", gas.tx_gas_used()),
            reason => halt_message(&reason),
        })),
    }
}

impl From<SubmitError> for RpcError {
    fn from(error: SubmitError) -> Self {
        // All of them are refusals; clients distinguish them by their texts.
        Self::server(error.to_string())
    }
}

impl From<ViewError> for RpcError {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::NotFound => Self::server("header not found"),
            ViewError::Pruned(pruned) => Self::new(HISTORY_PRUNED, pruned.to_string()),
            ViewError::Pending(error) => error.into(),
        }
    }
}

impl From<BlockError> for RpcError {
    fn from(error: BlockError) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<ChangeError> for RpcError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Read(error) => error.into(),
            ChangeError::Block(error) => error.into(),
            // Only the operator can act on the reason, but the client has to know that the change
            // was not made.
            ChangeError::Append(_) => Self::server(error.to_string()),
            ChangeError::Dump(error) => Self::invalid_params(error.to_string()),
            ChangeError::TooLate(_) | ChangeError::TooManyImpersonated(_) => {
                Self::invalid_params(error.to_string())
            }
            ChangeError::Pruned(_)
            | ChangeError::Transaction(_)
            | ChangeError::Timestamp(_)
            | ChangeError::Recorded
            | ChangeError::NotLeading
            | ChangeError::Unavailable(_)
            | ChangeError::Stopped(_) => Self::server(error.to_string()),
            ChangeError::Snapshot(_) | ChangeError::Outcome(_) => Self::internal(error.to_string()),
        }
    }
}

impl From<ExecutionFailed> for RpcError {
    fn from(error: ExecutionFailed) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<ReadError> for RpcError {
    fn from(error: ReadError) -> Self {
        Self::server(error.to_string())
    }
}

impl From<Stopped> for RpcError {
    fn from(error: Stopped) -> Self {
        Self::server(error.to_string())
    }
}

impl From<TransactionError> for RpcError {
    fn from(error: TransactionError) -> Self {
        match error {
            TransactionError::Read(error) => error.into(),
            TransactionError::Machine(message) => Self::internal(message),
            TransactionError::Override(error) => Self::server(error.to_string()),
            TransactionError::Cosmos(error) => Self::server(error.to_string()),
            TransactionError::Invalid(invalid) => Self::server(invalid_message(&invalid)),
            error @ (TransactionError::BlockFull { .. }
            | TransactionError::BlobsFull
            | TransactionError::Stopped) => Self::server(error.to_string()),
        }
    }
}

/// The message for a broken rule: geth's where that differs.
fn invalid_message(invalid: &InvalidTransaction) -> String {
    use InvalidTransaction as Invalid;

    match invalid {
        Invalid::GasPriceLessThanBasefee => "max fee per gas less than block base fee".to_owned(),
        Invalid::PriorityFeeGreaterThanMaxFee => {
            "max priority fee per gas higher than max fee per gas".to_owned()
        }
        Invalid::LackOfFundForMaxFee { fee, balance } => {
            format!("insufficient funds for gas * price + value: have {balance} want {fee}")
        }
        Invalid::CallGasCostMoreThanGasLimit {
            initial_gas,
            gas_limit,
        } => format!("intrinsic gas too low: have {gas_limit}, want {initial_gas}"),
        Invalid::GasFloorMoreThanGasLimit {
            gas_floor,
            gas_limit,
        } => {
            format!("insufficient gas for floor data gas cost: have {gas_limit}, want {gas_floor}")
        }
        Invalid::NonceTooLow { tx, state } => format!("nonce too low: tx: {tx} state: {state}"),
        Invalid::NonceTooHigh { tx, state } => format!("nonce too high: tx: {tx} state: {state}"),
        Invalid::CreateInitCodeSizeLimit => "max initcode size exceeded".to_owned(),
        other => other.to_string(),
    }
}

impl From<SimulationError> for RpcError {
    fn from(error: SimulationError) -> Self {
        let code = match &error {
            SimulationError::TooManyBlocks => -38026,
            SimulationError::NumberOrder(..) => -38020,
            SimulationError::TimeOrder(..) => -38021,
            SimulationError::BlockGasLimit(..) => -38015,
            SimulationError::Override(_) => SERVER_ERROR,
            SimulationError::Block(_) => INTERNAL_ERROR,
            SimulationError::Timeout => TIMEOUT,
            SimulationError::TooLarge(_) => TOO_LARGE,
            SimulationError::Call(error) => simulation_code(error),
        };

        match error {
            SimulationError::Call(error) => {
                // geth prefixes these messages like this.
                Self::new(code, format!("err: {}", Self::from(error).message))
            }
            error => Self::new(code, error.to_string()),
        }
    }
}

/// The code of `eth_simulateV1` for a broken rule (`execution-apis`).
fn simulation_code(error: &TransactionError) -> i32 {
    use InvalidTransaction as Invalid;
    let TransactionError::Invalid(invalid) = error else {
        return INTERNAL_ERROR;
    };
    match invalid {
        Invalid::NonceTooLow { .. } => -38010,
        Invalid::NonceTooHigh { .. } => -38011,
        Invalid::GasPriceLessThanBasefee => -38012,
        Invalid::CallGasCostMoreThanGasLimit { .. } | Invalid::GasFloorMoreThanGasLimit { .. } => {
            -38013
        }
        Invalid::LackOfFundForMaxFee { .. } => -38014,
        Invalid::RejectCallerWithCode => -38024,
        Invalid::CreateInitCodeSizeLimit => -38025,
        Invalid::PriorityFeeGreaterThanMaxFee => INVALID_PARAMS,
        _ => INTERNAL_ERROR,
    }
}

impl From<EstimateError> for RpcError {
    fn from(error: EstimateError) -> Self {
        match error {
            EstimateError::Revert(data) => Self::reverted(data),
            EstimateError::Transaction(error) => error.into(),
            error @ (EstimateError::Halt(_)
            | EstimateError::Allowance(_)
            | EstimateError::InsufficientFunds) => Self::server(error.to_string()),
        }
    }
}

impl From<BuildError> for RpcError {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Transaction(index, error) => Self::server(format!(
                "transaction {index}: {}",
                Self::from(error).message
            )),
            BuildError::Block(error) => error.into(),
            error @ BuildError::Size(_) => Self::invalid_params(format!("params[2]: {error}")),
            error @ BuildError::Timestamp(..) => Self::invalid_params(format!("params[1].{error}")),
        }
    }
}

impl From<PositionExpired> for RpcError {
    fn from(missed: PositionExpired) -> Self {
        let what = format!(
            "{missed}: the filter was not polled for too long; it continues from the newest block"
        );
        Self::history_pruned(what)
    }
}

impl From<ForkCallError> for RpcError {
    fn from(error: ForkCallError) -> Self {
        match error {
            // The other node's own error.
            ForkCallError::ErrorResponse {
                code,
                message,
                data,
                ..
            } => Self {
                data: data.and_then(|data| serde_json::from_value(data).ok()),
                ..Self::new(i32::try_from(code).unwrap_or(SERVER_ERROR), message)
            },
            ForkCallError::NoRoom { .. } => Self::no_room(),
            ForkCallError::NoAnswer { .. }
            | ForkCallError::TooLong { .. }
            | ForkCallError::Abandoned { .. } => {
                Self::server(format!("the forked node did not answer: {error}"))
            }
        }
    }
}

//! The errors of transactions and blocks.

use alloy_primitives::Address;
use revm::context_interface::result::{EVMError, InvalidTransaction};
use tetrad_primitives::{block::cosmos::CosmosError, state::ReadError};

use super::{OverrideError, requests::MalformedDeposit, time_limit::STOPPED};

/// A transaction cannot be included in this block. The state is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// It breaks a rule or does not fit the sender's account.
    #[error("{0}")]
    Invalid(InvalidTransaction),
    /// The rest of the block is too small for its gas limit.
    #[error("gas limit {gas_limit} exceeds what the block has left, {left}")]
    BlockFull {
        /// The transaction's gas limit.
        gas_limit: u64,
        /// The gas that the block has left.
        left: u64,
    },
    /// The block already holds the maximum number of blobs.
    #[error("blob gas limit of the block exceeded")]
    BlobsFull,
    /// An override cannot be applied.
    #[error(transparent)]
    Override(#[from] OverrideError),
    /// The state could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A Cosmos transaction breaks a rule or does not fit the sender's account.
    #[error(transparent)]
    Cosmos(#[from] CosmosError),
    /// The execution took too long.
    #[error("execution aborted (timeout)")]
    Stopped,
    /// The EVM failed in a way that no transaction should cause.
    #[error("internal error of the EVM: {0}")]
    Machine(String),
}

/// A block breaks a rule outside of its transactions, or the state could not be read.
#[derive(Debug, serde::Serialize, serde::Deserialize, thiserror::Error)]
pub enum BlockError {
    /// The state could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A system contract failed.
    #[error("system call to {0} failed: {1}")]
    SystemCall(Address, String),
    /// A system contract that every block needs does not exist (EIP-7002, EIP-7251).
    #[error("system contract {0} has no code")]
    NoSystemContract(Address),
    /// A deposit event could not be decoded.
    #[error(transparent)]
    Deposit(#[from] MalformedDeposit),
    /// The block would be later than any block may be.
    #[error(
        "no block follows: its time {0} would be after 9999-12-31T23:59:59Z, the last one of the chain"
    )]
    TooLate(u64),
}

impl From<EVMError<ReadError>> for TransactionError {
    fn from(error: EVMError<ReadError>) -> Self {
        match error {
            EVMError::Transaction(invalid) => Self::Invalid(invalid),
            EVMError::Database(error) if error.0 == STOPPED => Self::Stopped,
            EVMError::Database(error) => Self::Read(error),
            EVMError::Custom(message) if message == STOPPED => Self::Stopped,
            other => Self::Machine(other.to_string()),
        }
    }
}

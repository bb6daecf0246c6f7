//! Errors of submitting a transaction, in geth's words, on which clients match, and of changing the
//! chain.

use alloy_primitives::{Address, B256, U256};
use serde::{Deserialize, Serialize};
use tetrad_evm::BlockError;
use tetrad_primitives::{
    block::{DecodeError, cosmos::CosmosError},
    state::ReadError,
};
use tetrad_stdx::calendar::LAST_SECOND;
use tetrad_store::log::AppendError;

use super::{DumpError, Pruned};

/// The reason why the pool or the writer rejected a transaction.
#[derive(Clone, Debug, Serialize, Deserialize, thiserror::Error)]
pub enum SubmitError {
    /// The bytes are not a valid transaction.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A Cosmos transaction breaks a rule of the SDK.
    #[error(transparent)]
    Cosmos(#[from] CosmosError),
    /// The transaction is already in the pool.
    #[error("already known")]
    AlreadyKnown,
    /// The transaction is signed for another chain (EIP-155).
    #[error("invalid sender: invalid chain id for signer: have {have} want {want}")]
    WrongChain {
        /// The transaction's chain id.
        have: u64,
        /// The chain's id.
        want: u64,
    },
    /// The chain's fork does not support the transaction type.
    #[error("transaction type not supported: type {0} rejected, pool not yet in its fork")]
    TypeNotSupported(u8),
    /// The encoded transaction is too large.
    #[error("oversized data: transaction size {size}, limit {limit}")]
    Oversized {
        /// Size of the transaction in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The init code exceeds the limit of EIP-3860.
    #[error("max initcode size exceeded: code size {size}, limit {limit}")]
    InitCodeSize {
        /// Size of the code in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The gas limit exceeds that of a block.
    #[error("exceeds block gas limit")]
    BlockGasLimit,
    /// The gas limit exceeds the cap of EIP-7825.
    #[error("transaction gas limit too high (cap: {cap}, tx: {gas})")]
    TransactionGasCap {
        /// The cap.
        cap: u64,
        /// The transaction's gas limit.
        gas: u64,
    },
    /// The tip exceeds the maximum fee.
    #[error(
        "max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: {tip}, \
         maxFeePerGas: {max}"
    )]
    TipAboveFeeCap {
        /// The tip in wei per gas.
        tip: u128,
        /// The maximum in wei per gas.
        max: u128,
    },
    /// The tip is below the node's minimum.
    #[error("transaction underpriced: gas tip cap {tip}, minimum needed {minimum}")]
    Underpriced {
        /// The tip in wei per gas.
        tip: u128,
        /// The node's minimum in wei per gas.
        minimum: u128,
    },
    /// The gas limit is below the intrinsic gas.
    #[error("intrinsic gas too low: gas {gas}, minimum needed {needed}")]
    IntrinsicGas {
        /// The transaction's gas limit.
        gas: u64,
        /// The intrinsic gas.
        needed: u64,
    },
    /// The gas limit is below the floor cost of the transaction's data (EIP-7623).
    #[error("insufficient gas for floor data gas cost: gas {gas}, minimum needed {needed}")]
    FloorDataGas {
        /// The transaction's gas limit.
        gas: u64,
        /// The floor cost in gas.
        needed: u64,
    },
    /// The nonce is already used.
    #[error("nonce too low: next nonce {next}, tx nonce {nonce}")]
    NonceTooLow {
        /// The sender's next nonce.
        next: u64,
        /// The transaction's nonce.
        nonce: u64,
    },
    /// The nonce has the maximum value (EIP-2681).
    #[error("nonce has max value: address {0}, nonce: 18446744073709551615")]
    NonceMax(Address),
    /// The sender is a contract (EIP-3607).
    #[error("sender not an eoa: address {0}")]
    SenderHasCode(Address),
    /// The sender's balance does not cover the maximum cost of the transaction, or of all its
    /// pooled transactions.
    #[error("insufficient funds for gas * price + value: balance {balance}, tx cost {cost}, overshot {}", .cost.saturating_sub(*.balance))]
    InsufficientFunds {
        /// The sender's balance in wei.
        balance: U256,
        /// The maximum cost of this and, if needed, of the sender's other pooled transactions, in
        /// wei.
        cost: U256,
    },
    /// A pooled transaction has the same nonce, and this one does not pay enough to replace it.
    #[error("replacement transaction underpriced")]
    ReplacementUnderpriced,
    /// A blob transaction has no blobs, too many, or no sidecar.
    #[error("{0}")]
    Blobs(String),
    /// A set-code transaction has no authorizations.
    #[error("set code transaction must have at least one authorization tuple")]
    EmptyAuthorizationList,
    /// The pool is full, and nothing can be evicted.
    #[error("txpool is full")]
    PoolFull,
    /// The pool is full, and all its transactions pay as much or more.
    #[error("transaction underpriced: txpool is full")]
    Outbid,
    /// The pool is full of executable transactions, which a queued one cannot displace.
    #[error("future transaction tries to replace pending: txpool is full")]
    FutureReplacesPending,
    /// The sender's pooled transactions have reached the limit of one account.
    #[error(
        "account limit exceeded: {count} transactions of this sender with {bytes} bytes are waiting"
    )]
    AccountLimit {
        /// Number of the sender's pooled transactions.
        count: usize,
        /// Their size in memory, in bytes.
        bytes: usize,
    },
    /// The pool evicted the transaction for others that pay more.
    #[error("transaction evicted: txpool is full of transactions that pay more")]
    Evicted,
    /// The transaction waited too long for another one or for a lower base fee.
    #[error("transaction expired: it waited too long for another one or for a lower base fee")]
    Expired,
    /// The transaction was accepted but could not be executed.
    #[error("{0}")]
    Dropped(String),
    /// The block, or the pending transaction, could not be written to disk.
    #[error("the chain cannot be written: {0}")]
    Storage(String),
    /// The sender's account could not be read, on a fork from the other node.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The node holds no key of this account.
    #[error("unknown account")]
    UnknownAccount,
    /// The node does not lead the cluster. The transaction was not included and can be sent to
    /// another node.
    #[error("this node does not lead the cluster")]
    NotLeading,
    /// No leader could be reached in time. The transaction may still be included.
    #[error("the cluster cannot be reached: {0}")]
    Unavailable(String),
    /// The node is shutting down.
    #[error("the node is shutting down")]
    Stopped,
    /// The maximum fee is below the base fee of the next block, on a chain whose base fee falls
    /// only with further transactions.
    #[error(
        "max fee per gas less than block base fee: address {sender}, maxFeePerGas: {max}, baseFee: \
         {base_fee}"
    )]
    FeeCapTooLow {
        /// The sender.
        sender: Address,
        /// The maximum in wei per gas.
        max: u128,
        /// The base fee in wei per gas.
        base_fee: u64,
    },
}

/// The reason why a change was not made. The chain is unchanged.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub enum ChangeError {
    /// The state could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A block could not be built.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The change could not be recorded.
    #[error("the chain cannot be written: {0}")]
    Append(#[from] AppendError),
    /// The history does not reach far enough back.
    #[error(transparent)]
    Pruned(#[from] Pruned),
    /// A snapshot could not be restored from the log.
    #[error("the snapshot cannot be restored: {0}")]
    Snapshot(String),
    /// A transaction cannot be executed in the block for which it is meant.
    #[error("transaction {0} cannot be executed in its block")]
    Transaction(B256),
    /// The requested timestamp is too early after the newest block, whose timestamp this is.
    #[error("the timestamp is not after that of the newest block, {0}")]
    Timestamp(u64),
    /// The requested time is after the last one that a block can have.
    #[error(
        "the time {0} is after 9999-12-31T23:59:59Z ({LAST_SECOND}), the last one of the chain"
    )]
    TooLate(u64),
    /// So many accounts are impersonated that there may be no more.
    #[error(
        "{0} accounts are impersonated: stop that for some, or impersonate all with \
         anvil_autoImpersonateAccount"
    )]
    TooManyImpersonated(usize),
    /// The chain has a data directory, which cannot change to another chain.
    #[error(
        "a chain in a data directory cannot become another one; start a node without --data-dir"
    )]
    Recorded,
    /// The dump is invalid.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// The node does not lead the cluster. The change was not made and can be sent to another node.
    #[error("this node does not lead the cluster")]
    NotLeading,
    /// No leader could be reached in time, or it changed meanwhile. The change may have been made.
    #[error("the cluster cannot be reached: {0}")]
    Unavailable(String),
    /// The writer refused the request.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The writer answered with the outcome of another kind of change.
    #[error("unexpected outcome {0} of a change")]
    Outcome(String),
}

/// The reason why the writer refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Stopped {
    /// The writer has stopped.
    #[error("the node is shutting down")]
    Ended,
    /// A change of the time could not be recorded and was undone.
    #[error("the chain cannot be written: the time is unchanged")]
    Unrecorded,
}

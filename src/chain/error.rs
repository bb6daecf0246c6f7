//! Why a transaction is not accepted, in the words that clients of geth match on, and why a change is not made.

use alloy_primitives::{Address, B256, U256};

use super::{DumpError, Outcome, Pruned};
use crate::{block::DecodeError, evm::BlockError, log::AppendError, state::ReadError};

/// The pool or the writer turned a transaction down.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SubmitError {
    /// The bytes are no transaction.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The pool has it already.
    #[error("already known")]
    AlreadyKnown,
    /// Signed for another chain (EIP-155).
    #[error("invalid sender: invalid chain id for signer: have {have} want {want}")]
    WrongChain {
        /// The transaction's chain id.
        have: u64,
        /// This chain's.
        want: u64,
    },
    /// The chain's fork does not know the type.
    #[error("transaction type not supported: type {0} rejected, pool not yet in its fork")]
    TypeNotSupported(u8),
    /// Longer than the pool takes.
    #[error("oversized data: transaction size {size}, limit {limit}")]
    Oversized {
        /// Bytes of the transaction.
        size: usize,
        /// Bytes that the pool takes.
        limit: usize,
    },
    /// Creation code over the limit of EIP-3860.
    #[error("max initcode size exceeded: code size {size}, limit {limit}")]
    InitCodeSize {
        /// Bytes of the code.
        size: usize,
        /// Bytes that are allowed.
        limit: usize,
    },
    /// No block has room for it.
    #[error("exceeds block gas limit")]
    BlockGasLimit,
    /// Over the limit of EIP-7825.
    #[error("transaction gas limit too high (cap: {cap}, tx: {gas})")]
    TransactionGasCap {
        /// The limit.
        cap: u64,
        /// The transaction's gas limit.
        gas: u64,
    },
    /// The tip exceeds the maximum fee.
    #[error("max priority fee per gas higher than max fee per gas: maxPriorityFeePerGas: {tip}, maxFeePerGas: {max}")]
    TipAboveFeeCap {
        /// The tip in wei per gas.
        tip: u128,
        /// The maximum in wei per gas.
        max: u128,
    },
    /// The tip is lower than the node accepts.
    #[error("transaction underpriced: gas tip cap {tip}, minimum needed {minimum}")]
    Underpriced {
        /// The tip in wei per gas.
        tip: u128,
        /// What the node asks for.
        minimum: u128,
    },
    /// Less gas than the transaction costs before it begins.
    #[error("intrinsic gas too low: gas {gas}, minimum needed {needed}")]
    IntrinsicGas {
        /// The transaction's gas limit.
        gas: u64,
        /// What is needed.
        needed: u64,
    },
    /// Less gas than its data costs at least (EIP-7623).
    #[error("insufficient gas for floor data gas cost: gas {gas}, minimum needed {needed}")]
    FloorDataGas {
        /// The transaction's gas limit.
        gas: u64,
        /// What is needed.
        needed: u64,
    },
    /// The nonce was used already.
    #[error("nonce too low: next nonce {next}, tx nonce {nonce}")]
    NonceTooLow {
        /// The sender's next nonce.
        next: u64,
        /// The transaction's.
        nonce: u64,
    },
    /// No nonce follows it (EIP-2681).
    #[error("nonce has max value: address {0}, nonce: 18446744073709551615")]
    NonceMax(Address),
    /// The sender is a contract (EIP-3607).
    #[error("sender not an eoa: address {0}")]
    SenderHasCode(Address),
    /// The sender cannot pay for it, or not for it and its pooled transactions.
    #[error("insufficient funds for gas * price + value: balance {balance}, tx cost {cost}, overshot {}", .cost.saturating_sub(*.balance))]
    InsufficientFunds {
        /// The sender's balance in wei.
        balance: U256,
        /// What this and the sender's other pooled transactions may cost.
        cost: U256,
    },
    /// A pooled transaction has this nonce and pays nearly as much or more.
    #[error("replacement transaction underpriced")]
    ReplacementUnderpriced,
    /// A blob transaction without blobs, or with too many.
    #[error("{0}")]
    Blobs(String),
    /// A set-code transaction that sets nothing.
    #[error("set code transaction must have at least one authorization tuple")]
    EmptyAuthorizationList,
    /// The pool is at its limit, and no room can be made.
    #[error("txpool is full")]
    PoolFull,
    /// The pool is at its limit, and everything in it pays as much or more.
    #[error("transaction underpriced: txpool is full")]
    Outbid,
    /// The pool is at its limit, and all that could make room can be executed before this one.
    #[error("future transaction tries to replace pending: txpool is full")]
    FutureReplacesPending,
    /// The sender has as much waiting as one account may.
    #[error("account limit exceeded: {count} transactions of this sender with {bytes} bytes are waiting")]
    AccountLimit {
        /// Transactions that are waiting.
        count: usize,
        /// What they take in memory.
        bytes: usize,
    },
    /// It was accepted, but others that pay more took its place.
    #[error("transaction evicted: txpool is full of transactions that pay more")]
    Evicted,
    /// It was accepted, but waited for too long for what it needs to be executed.
    #[error("transaction expired: it waited too long for another one or for a lower base fee")]
    Expired,
    /// It was accepted, but when its turn came it could not be executed.
    #[error("{0}")]
    Dropped(String),
    /// Its block, or the transaction itself, could not be written to disk.
    #[error("the chain cannot be written: {0}")]
    Storage(String),
    /// The sender's account is not known: on a fork, where the other chain did not tell.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The node holds no key of this account.
    #[error("unknown account")]
    UnknownAccount,
    /// The node is shutting down.
    #[error("the node is shutting down")]
    Stopped,
}

/// A change to the chain was not made. The chain is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The state could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A block could not be made.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The change could not be recorded.
    #[error("the chain cannot be written: {0}")]
    Append(#[from] AppendError),
    /// The chain's past is not held that far back.
    #[error(transparent)]
    Pruned(#[from] Pruned),
    /// A transaction cannot be part of the block that it was meant for.
    #[error("transaction {0} cannot be executed in the block it is meant for")]
    Transaction(B256),
    /// The time asked for is before that of the newest block, which this is.
    #[error("the newest block is later: of second {0}")]
    Timestamp(u64),
    /// The chain is recorded in a directory, which holds one chain from its first block on.
    #[error("a chain in a data directory cannot become another one; start a node without --data-dir")]
    Recorded,
    /// A dump does not make a chain.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// The writer does not do what it was asked to.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The outcome is that of another kind of change.
    #[error("the chain's writer answered {0:?}")]
    Outcome(Outcome),
}

/// The chain's writer does not do what it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// It has ended.
    #[error("the node is shutting down")]
    Ended,
    /// It could not record a change of the time, and took it back.
    #[error("the chain cannot be written: the time is unchanged")]
    Unrecorded,
}

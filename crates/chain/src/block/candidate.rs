//! A candidate for the next block, which the writer seals and `pending` shows.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{Address, B256, map::DefaultHashBuilder};
use revm::context_interface::result::InvalidTransaction;
use tetrad_evm::{BlockError, BlockExecutor, Environment, Fork, Rules, TransactionError};
use tetrad_primitives::{
    block::{MAX_BLOCK_SIZE, Transaction},
    state::Changes,
};
use tetrad_stdx::calendar::LAST_SECOND;

use super::seal::BlockContent;
use crate::{Head, Pooled, SubmitError};

/// Bytes reserved for a block's header and the RLP prefixes of its lists.
const HEADER_ROOM: usize = 2_048;

/// The least gas of a transaction.
const MIN_TX_GAS: u64 = 21_000;

/// An executed block without a header.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) content: BlockContent,
    pub(crate) changes: Changes,
    pub(crate) left_out: LeftOut,
}

/// Transactions of the pool that a block leaves out.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// Transactions that cannot be executed, now or later, each with the reason.
    pub(crate) rejected: Vec<(B256, SubmitError)>,
    /// Transactions whose state could not be read.
    pub(crate) unread: Vec<UnreadTransaction>,
}

/// A transaction whose state could not be read.
#[derive(Debug)]
pub(crate) struct UnreadTransaction {
    pub(crate) hash: B256,
    pub(crate) sender: Address,
    pub(crate) reason: SubmitError,
    /// The duration of the attempt.
    pub(crate) took: Duration,
}

impl Candidate {
    /// Executes `first` on top of `head`, then as many of `pooled` as fit into the block and, with
    /// `until`, into the time. One whose state cannot be read is left out, so that it does not keep the
    /// others from being sealed, unless it is the client that gave up.
    pub(crate) fn build(
        head: &Head,
        environment: &Environment,
        first: Vec<Transaction>,
        pooled: &[Arc<Pooled>],
        until: Option<Instant>,
    ) -> Result<Self, BlockError> {
        if environment.timestamp > LAST_SECOND {
            return Err(BlockError::TooLate(environment.timestamp));
        }

        let is_given_up = || head.state.base().is_some_and(|base| base.is_given_up());
        let mut executor = BlockExecutor::begin(&head.params, environment, &head.state, head)?;
        let mut left_out = LeftOut::default();
        let mut room = max_size(environment.rules);
        let mut transactions = execute_own(&mut executor, first, &mut room);
        transactions.reserve(pooled.len());

        // Senders whose next transaction does not fit: those after it cannot be executed either.
        let mut waiting = HashSet::<Address, DefaultHashBuilder>::default();
        for pooled in pooled {
            // With less gas no transaction fits.
            if executor.gas_left() < MIN_TX_GAS
                || until.is_some_and(|until| Instant::now() >= until)
            {
                break;
            }
            let transaction = &pooled.transaction;
            if waiting.contains(&transaction.sender) {
                continue;
            }
            let Some(left) = room.checked_sub(transaction.envelope.network_len()) else {
                waiting.insert(transaction.sender);
                continue;
            };

            let began = Instant::now();
            match executor.execute(transaction) {
                Ok(_) => {
                    room = left;
                    transactions.push(transaction.clone());
                }
                Err(TransactionError::Read(error)) if is_given_up() => return Err(error.into()),
                Err(TransactionError::Read(error)) => {
                    waiting.insert(transaction.sender);
                    left_out.unread.push(UnreadTransaction {
                        hash: transaction.hash(),
                        sender: transaction.sender,
                        reason: error.into(),
                        took: began.elapsed(),
                    });
                }
                Err(error) => {
                    waiting.insert(transaction.sender);
                    let reason = rejection(error);
                    left_out
                        .rejected
                        .extend(reason.map(|reason| (transaction.hash(), reason)));
                }
            }
        }

        let (content, changes) = BlockContent::of(transactions, executor.finish(&[], None)?);
        Ok(Self {
            content,
            changes,
            left_out,
        })
    }
}

/// Executes the node's own transactions, and subtracts their sizes from `room`. Returns those that
/// succeeded.
fn execute_own(
    executor: &mut BlockExecutor<'_>,
    own: Vec<Transaction>,
    room: &mut usize,
) -> Vec<Arc<Transaction>> {
    let mut executed = Vec::new();
    for transaction in own {
        *room = room.saturating_sub(transaction.envelope.network_len());
        match executor.execute(&transaction) {
            Ok(_) => executed.push(Arc::new(transaction)),
            Err(error) => {
                tracing::warn!(
                    %error,
                    hash = %transaction.hash(),
                    "the node's own transaction failed"
                )
            }
        }
    }
    executed
}

/// Returns the most bytes that the transactions of a block may have in total.
fn max_size(rules: Rules) -> usize {
    // EIP-7934 limits the size of a block.
    if rules.has(Fork::Osaka) {
        MAX_BLOCK_SIZE - HEADER_ROOM
    } else {
        usize::MAX
    }
}

/// Returns the reason why the transaction can never be executed, or `None` if a later block may
/// include it.
fn rejection(error: TransactionError) -> Option<SubmitError> {
    use InvalidTransaction as Invalid;
    match error {
        TransactionError::BlockFull { .. } | TransactionError::BlobsFull => None,
        // A later block may have lower prices, or the nonces before.
        TransactionError::Invalid(
            Invalid::NonceTooHigh { .. }
            | Invalid::GasPriceLessThanBasefee
            | Invalid::BlobGasPriceGreaterThanMax { .. },
        ) => None,
        TransactionError::Invalid(Invalid::NonceTooLow { tx, state }) => {
            Some(SubmitError::NonceTooLow {
                next: state,
                nonce: tx,
            })
        }
        TransactionError::Invalid(Invalid::LackOfFundForMaxFee { fee, balance }) => {
            Some(SubmitError::InsufficientFunds {
                balance: *balance,
                cost: *fee,
            })
        }
        TransactionError::Cosmos(error) => Some(error.into()),
        other => Some(SubmitError::Dropped(other.to_string())),
    }
}

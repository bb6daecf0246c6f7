//! Filters that clients poll.

use std::sync::Arc;

use alloy_primitives::{B256, U256};
use serde_json::{Value, json};
use tetrad_chain::{ChainPosition, ChainUpdate};
use tetrad_primitives::block::Transaction;
use tetrad_web::{AnswerError, current_client};

use super::{log_filter::LogFilter, logs::Logs, render::RpcTransaction};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    filters::{FilterKind, FilterUpdate},
    hex::Quantity,
    json::{Json, JsonWriter, Written, array},
};

/// The number of blocks whose logs are searched on the current task.
const FEW_BLOCKS: usize = 16;
/// The gas that all of them have used at most. A log takes 375 at least.
const FEW_LOGS_GAS: u64 = 500_000;

pub(super) fn methods(table: &mut Table) {
    table
        .wait("eth_newFilter", new_filter, OnFork::OwnBlocks)
        .describe(
            ["filter"],
            "Creates a filter of logs to poll. It expires if it is not polled for 5 minutes.",
        );
    table
        .wait("eth_newBlockFilter", new_block_filter, OnFork::Node)
        .describe([], "Creates a filter of new blocks.");
    table
        .wait(
            "eth_newPendingTransactionFilter",
            new_pending_transaction_filter,
            OnFork::Node,
        )
        .describe(
            ["full"],
            "Creates a filter of transactions that the pool accepts: of their hashes, or of whole \
             ones.",
        );
    table
        .wait("eth_getFilterChanges", filter_changes, OnFork::Node)
        .describe(
            ["filter id"],
            "The changes since a filter was created or last polled: hashes, transactions, or logs, \
             those of removed blocks marked as removed.",
        );
    table
        .apart("eth_getFilterLogs", filter_logs, OnFork::Joined)
        .describe(["filter id"], "All logs so far that a filter selects.");
    table
        .read("eth_uninstallFilter", uninstall_filter, OnFork::Node)
        .describe(["filter id"], "Removes a filter.");
}

async fn new_filter(
    context: Arc<Context>,
    (filter,): (LogFilter,),
) -> Result<Quantity<u128>, RpcError> {
    let seen = ChainPosition::of(&context.chain.head());
    let filter = filter.of_future_logs(&context)?;
    add(&context, FilterKind::Logs(Arc::new(filter), seen))
}

async fn new_block_filter(context: Arc<Context>, (): ()) -> Result<Quantity<u128>, RpcError> {
    let seen = ChainPosition::of(&context.chain.head());
    add(&context, FilterKind::Blocks(seen))
}

async fn new_pending_transaction_filter(
    context: Arc<Context>,
    (full,): (Option<bool>,),
) -> Result<Quantity<u128>, RpcError> {
    // Nothing arrives that late: only the number of arrivals matters.
    let (_, seen) = context.chain.pool().arrivals_since(u64::MAX);
    add(
        &context,
        FilterKind::Pending {
            seen,
            full: full.unwrap_or(false),
        },
    )
}

/// Adds a filter of the client that is being answered.
fn add(context: &Context, kind: FilterKind) -> Result<Quantity<u128>, RpcError> {
    let client = current_client().address;
    context.filters.add(client, kind).map(Quantity)
}

/// The changes since a filter was created or last polled.
enum FilterChanges {
    Hashes(Vec<B256>),
    Written(Written),
}

impl Json for FilterChanges {
    fn is_written(&self) -> bool {
        matches!(self, Self::Written(_))
    }

    fn write(&self, out: &mut JsonWriter) {
        match self {
            Self::Hashes(hashes) => hashes.write(out),
            Self::Written(changes) => changes.write(out),
        }
    }

    fn append_to(self, out: &mut JsonWriter) {
        match self {
            Self::Hashes(hashes) => hashes.write(out),
            Self::Written(changes) => changes.append_to(out),
        }
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"anyOf": [
            Vec::<B256>::schema(None),
            Vec::<RpcTransaction>::schema(None),
            Logs::schema(None),
        ]})
    }
}

/// The changes since the filter was created or last polled: hashes, transactions, or logs, those of
/// removed blocks first.
async fn filter_changes(context: Arc<Context>, (id,): (U256,)) -> Result<FilterChanges, RpcError> {
    let written = match context.filters.news(id, &context.chain)? {
        FilterUpdate::Hashes(hashes) => return Ok(FilterChanges::Hashes(hashes)),
        FilterUpdate::Transactions(hashes) => {
            let own = context.clone();
            context
                .apart_for_caller(move || transactions(&own, &hashes))
                .await?
        }
        FilterUpdate::Logs(filter, update) if has_few_logs(&update) => {
            changed_logs(&context, &filter, &update)?
        }
        FilterUpdate::Logs(filter, update) => {
            let own = context.clone();
            context
                .apart_for_caller(move || changed_logs(&own, &filter, &update))
                .await?
        }
    };
    Ok(FilterChanges::Written(written))
}

/// Whether the logs of the removed and new blocks can be searched on the current task.
fn has_few_logs(update: &ChainUpdate) -> bool {
    let gas: u64 = update
        .removed
        .iter()
        .chain(&*update.added)
        .map(|block| block.header.gas_used)
        .sum();
    update.removed.len() + update.added.len() <= FEW_BLOCKS && gas <= FEW_LOGS_GAS
}

/// The selected logs of the removed and new blocks.
fn changed_logs(
    context: &Context,
    filter: &LogFilter,
    update: &ChainUpdate,
) -> Result<Written, RpcError> {
    let max_logs = context.config.max_logs;
    let max_bytes = context.config.max_batch_response;
    let out = context.writer(max_bytes);

    match filter.select_all(&update.removed, &update.added, max_logs, out) {
        Ok(Some(logs)) => Ok(logs),
        // The filter has moved on, so the client has to query these logs itself.
        Ok(None) | Err(AnswerError::TooLong(_)) => {
            let first = update
                .added
                .first()
                .or(update.removed.first())
                .map_or(0, |block| block.number());
            Err(RpcError::too_large(format!(
                "more than {max_logs} logs or {max_bytes} bytes: ask for the logs since block \
                 {first:#x} with eth_getLogs, piece by piece"
            )))
        }
        Err(error) => Err(RpcError::does_not_fit(error, "poll more often")),
    }
}

/// Transactions that the pool accepted, as they waited in it, even if they are in a block by now.
fn transactions(context: &Context, hashes: &[B256]) -> Result<Written, RpcError> {
    let accepted = hashes
        .iter()
        .filter_map(|hash| accepted_transaction(context, *hash));

    let mut out = context.writer(context.config.max_batch_response);
    array(&mut out, accepted, |transaction, out| {
        RpcTransaction::Waiting(transaction).write(out);
    });
    out.finish().map_err(|error| {
        RpcError::does_not_fit(error, "poll more often, or use a filter of hashes")
    })
}

/// A transaction in the pool, or in the chain if it left the pool.
fn accepted_transaction(context: &Context, hash: B256) -> Option<Arc<Transaction>> {
    if let Some(pooled) = context.chain.pool().get(hash) {
        return Some(pooled.transaction.clone());
    }
    let (block, index) = context.chain.transaction(&context.chain.head(), hash)?;
    block.transactions.get(index).cloned()
}

/// All logs so far that the filter selects.
fn filter_logs(context: &Context, (id,): (U256,)) -> Result<Logs, RpcError> {
    context.filters.log_filter(id)?.query_so_far(context)
}

fn uninstall_filter(context: &Context, (id,): (U256,)) -> Result<bool, RpcError> {
    Ok(context.filters.remove(id))
}

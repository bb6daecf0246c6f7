//! Filters that clients poll.

use alloy_primitives::B256;
use serde_json::{Value, json};

use super::logs::{LogFilter, Logs};
use crate::rpc::{
    Context, RpcError, Table,
    filters::{Kind, News},
    hex::Quantity,
    json::{Json, Written},
};

pub(super) fn methods(table: &mut Table) {
    table.read("eth_newFilter", new_filter);
    table.read("eth_newBlockFilter", new_block_filter);
    table.read("eth_newPendingTransactionFilter", new_pending_transaction_filter);
    table.execute("eth_getFilterChanges", filter_changes);
    table.apart("eth_getFilterLogs", filter_logs);
    table.read("eth_uninstallFilter", uninstall_filter);
}

fn new_filter(context: &Context, (filter,): (LogFilter,)) -> Result<Quantity<u64>, RpcError> {
    let seen = context.chain.head().trail().clone();
    context.filters.add(Kind::Logs(Box::new(filter), seen)).map(Quantity)
}

fn new_block_filter(context: &Context, (): ()) -> Result<Quantity<u64>, RpcError> {
    context.filters.add(Kind::Blocks(context.chain.head().trail().clone())).map(Quantity)
}

fn new_pending_transaction_filter(context: &Context, (): ()) -> Result<Quantity<u64>, RpcError> {
    let (_, seen) = context.chain.pool().arrivals_since(u64::MAX);
    context.filters.add(Kind::Pending(seen)).map(Quantity)
}

/// What is new since a filter was made or last asked.
enum Changes {
    Hashes(Vec<B256>),
    Logs(Written),
}

impl Json for Changes {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hashes(hashes) => hashes.write(out),
            Self::Logs(logs) => logs.write(out),
        }
    }

    fn schema(_: Option<&Value>) -> Value {
        json!({"anyOf": [Vec::<B256>::schema(None), Logs::schema(None)]})
    }
}

/// What is new since the filter was made or last asked: hashes, or logs, those of blocks that are gone first.
fn filter_changes(context: &Context, (id,): (u64,)) -> Result<Changes, RpcError> {
    Ok(match context.filters.news(id, &context.chain)? {
        News::Hashes(hashes) => Changes::Hashes(hashes),
        News::Blocks(filter, removed, added) => Changes::Logs(filter.select_all(context, &removed, &added)?),
    })
}

/// All logs that the filter selects.
fn filter_logs(context: &Context, (id,): (u64,)) -> Result<Logs, RpcError> {
    context.filters.log_filter(id)?.query(context).map(Logs)
}

fn uninstall_filter(context: &Context, (id,): (u64,)) -> Result<bool, RpcError> {
    Ok(context.filters.remove(id))
}

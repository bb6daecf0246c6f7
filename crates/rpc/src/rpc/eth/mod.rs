//! The `eth` namespace.

mod access_list;
mod account;
mod block;
mod call;
mod call_many;
mod config;
mod extra;
mod fee;
mod filter;
mod header;
mod log_filter;
mod logs;
mod overrides;
mod pooled;
mod proof;
mod render;
mod request;
mod sidecar;
mod sign;
mod simulate;
mod submit;
mod subscribe;
mod transaction;
mod transaction_type;
mod typed_data;
mod work;

pub(super) use block::{find, found_block};
pub(super) use call::estimate_at;
pub(super) use fee::suggested_tip;
pub(super) use header::header_by_number;
pub(super) use log_filter::{LogFilter, Range as LogRange};
pub(super) use overrides::BlockOverrides;
pub(super) use render::{
    RpcBlock, RpcHeader, RpcReceipt, RpcTransaction, write_mined_briefly, write_withdrawal,
};
pub(super) use request::{TransactionRequest, field};
pub(super) use sidecar::take_sidecar;
pub(super) use sign::{recover_message, sign_message};
pub(super) use submit::{
    BLOB_TYPE, estimate_apart, fill, send_impersonated, send_raw_transaction, sender_of,
};
pub(super) use typed_data::check_typed_data;

use super::{Context, OnFork, RpcError, Table, hex::Quantity};

pub(super) fn methods(table: &mut Table) {
    table.read("eth_chainId", chain_id, OnFork::Node).describe(
        [],
        "The chain id that transactions are signed for (EIP-155).",
    );
    table
        .read("eth_syncing", syncing, OnFork::Node)
        .describe([], "Whether the node is catching up. Always false.");
    access_list::methods(table);
    account::methods(table);
    block::methods(table);
    call::methods(table);
    call_many::methods(table);
    config::methods(table);
    extra::methods(table);
    fee::methods(table);
    filter::methods(table);
    header::methods(table);
    logs::methods(table);
    pooled::methods(table);
    proof::methods(table);
    sign::methods(table);
    simulate::methods(table);
    submit::methods(table);
    subscribe::methods(table);
    transaction::methods(table);
    work::methods(table);
}

/// The chain id that transactions are signed for (EIP-155).
fn chain_id(context: &Context, (): ()) -> Result<Quantity<u64>, RpcError> {
    Ok(Quantity(context.chain.params().chain_id))
}

/// Whether the node is syncing: never, since it builds the chain itself.
fn syncing(_: &Context, (): ()) -> Result<bool, RpcError> {
    Ok(false)
}

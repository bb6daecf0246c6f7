//! The node's own transactions that wait in the pool.

use std::sync::Arc;

use alloy_consensus::Transaction as _;
use alloy_primitives::B256;
use tetrad_primitives::block::Envelope;

use super::{TransactionRequest, render::RpcTransaction, submit::send_signed};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    json::{Json, WrittenAs, array},
};

pub(super) fn methods(table: &mut Table) {
    table.apart("eth_pendingTransactions", pending_transactions, OnFork::Node).describe(
        [],
        "The transactions in the pool that can go into the next block, of the accounts whose keys \
         the node holds.",
    );
    table.change("eth_resend", resend, OnFork::Node).describe(
        ["transaction", "gas price", "gas"],
        "Replaces a transaction of an account whose key the node holds, while it waits in the \
         pool, by one with another gas price or gas limit. The nonce names it, and whatever else \
         is given has to be as in the pool.",
    );
}

/// The executable transactions of the node's accounts.
fn pending_transactions(
    context: &Context,
    (): (),
) -> Result<WrittenAs<Vec<RpcTransaction>>, RpcError> {
    // Impersonated accounts have no key.
    let accounts = context
        .keyring
        .addresses()
        .into_iter()
        .filter(|account| context.keyring.get(*account).is_some());
    let own = accounts.flat_map(|account| context.chain.pool().content_of(account));
    let executable = own.filter_map(|(pooled, executable)| executable.then_some(pooled));

    let mut out = context.writer(context.config.max_batch_response);
    array(&mut out, executable, |pooled, out| {
        RpcTransaction::Waiting(pooled.transaction.clone()).write(out)
    });
    let written = out.finish().map_err(|error| {
        RpcError::does_not_fit(error, "ask for one account with txpool_contentFrom")
    })?;
    Ok(written.into())
}

/// Whether a transaction is the one that a request describes.
fn is_described(tx: &Envelope, request: &TransactionRequest) -> bool {
    tx.to() == request.to
        && tx.value() == request.value.unwrap_or_default()
        && *tx.input() == request.input.clone().unwrap_or_default()
        && request.gas.is_none_or(|gas| gas == tx.gas_limit())
        && request
            .gas_price
            .is_none_or(|price| tx.gas_price() == Some(price))
        && request
            .max_fee_per_gas
            .is_none_or(|fee| tx.is_dynamic_fee() && tx.max_fee_per_gas() == fee)
        && request
            .max_priority_fee_per_gas
            .is_none_or(|fee| tx.max_priority_fee_per_gas() == Some(fee))
        && request
            .access_list
            .as_ref()
            .is_none_or(|list| tx.access_list() == Some(list))
        && request
            .authorization_list
            .as_deref()
            .is_none_or(|list| tx.authorization_list() == Some(list))
        && request
            .blob_versioned_hashes
            .as_deref()
            .is_none_or(|hashes| tx.blob_versioned_hashes() == Some(hashes))
        && request
            .max_fee_per_blob_gas
            .is_none_or(|fee| tx.max_fee_per_blob_gas() == Some(fee))
        && request
            .transaction_type
            .is_none_or(|wanted| wanted == u64::from(tx.tx_type() as u8))
}

/// Replaces a waiting transaction by one with another gas price or gas limit.
async fn resend(
    context: Arc<Context>,
    (request, gas_price, gas): (TransactionRequest, Option<u128>, Option<u64>),
) -> Result<B256, RpcError> {
    let from = request
        .from
        .ok_or_else(|| RpcError::invalid_params("params[0].from: missing"))?;
    let nonce = request
        .nonce
        .ok_or_else(|| RpcError::server("missing transaction nonce in transaction spec"))?;

    let replaced = context
        .chain
        .pool()
        .content_of(from)
        .into_iter()
        .map(|(pooled, _)| pooled.transaction.clone())
        .find(|own| own.envelope.nonce() == nonce)
        .filter(|own| is_described(&own.envelope, &request))
        .ok_or_else(|| RpcError::server(format!("transaction {nonce} of {from} not found")))?;

    // It has the blobs of the one that it replaces.
    let kept = context.chain.blobs().transaction(replaced.hash());
    let sidecar = kept.and_then(|pooled| pooled.sidecar.clone());
    let replacement = replacement(request, &replaced.envelope, gas_price, gas);
    send_signed(context, replacement, from, sidecar).await
}

/// The request for a transaction like `tx`, with another gas price or gas limit. Zero counts as not
/// given.
fn replacement(
    request: TransactionRequest,
    tx: &Envelope,
    gas_price: Option<u128>,
    gas: Option<u64>,
) -> TransactionRequest {
    let price = gas_price.filter(|price| *price > 0);
    // The pool takes a replacement with blobs only if all of its prices are at least doubled.
    let max_fee_per_blob_gas = tx.max_fee_per_blob_gas().map(|fee| {
        if price.is_some() {
            fee.saturating_mul(2)
        } else {
            fee
        }
    });
    let mut fixed_price = None;
    let mut max_fee = None;
    let mut max_tip = None;
    if tx.is_dynamic_fee() {
        max_fee = price.or(Some(tx.max_fee_per_gas()));
        max_tip = price.or(tx.max_priority_fee_per_gas());
    } else {
        fixed_price = price.or(tx.gas_price());
    }

    TransactionRequest {
        gas: gas.filter(|gas| *gas > 0).or(Some(tx.gas_limit())),
        gas_price: fixed_price,
        max_fee_per_gas: max_fee,
        max_priority_fee_per_gas: max_tip,
        access_list: tx
            .access_list()
            .cloned()
            .filter(|_| tx.is_eip2930() || tx.is_dynamic_fee()),
        authorization_list: tx.authorization_list().map(<[_]>::to_vec),
        blobs: None,
        blob_versioned_hashes: tx.blob_versioned_hashes().map(<[_]>::to_vec),
        max_fee_per_blob_gas,
        // The type follows from the fields.
        transaction_type: None,
        ..request
    }
}

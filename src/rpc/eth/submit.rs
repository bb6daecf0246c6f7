//! Sending transactions.

use std::sync::Arc;

use alloy_consensus::{TxEip1559, TxEip2930, TxEip7702, TxLegacy};
use alloy_primitives::{Address, B256, Bytes, TxKind};

use super::{call::estimate, fee::suggested_tip, overrides::BlockOverrides, request::TransactionRequest};
use crate::{
    block::{Submission, Transaction, UnsignedTransaction},
    chain::{BlockId, SubmitError},
    evm::{Fork, StateOverrides},
    rpc::{Context, OnFork, RpcError, Table},
};

pub(super) fn methods(table: &mut Table) {
    table.wait("eth_sendRawTransaction", send_raw_transaction, OnFork::Node).describe(
        ["signed transaction"],
        "Submits a signed transaction and answers with its hash once the block is sealed. One that has to \
         wait is answered when the pool has it.",
    );
    table.wait("eth_sendTransaction", send_transaction, OnFork::Node).describe(
        ["transaction"],
        "Signs with a key that the node holds, submits, and answers with the hash once the block is \
         sealed. What is left out is filled in.",
    );
}

/// Submits a signed transaction. With instant sealing the answer comes when its block is published; a transaction
/// that has to wait is answered when the pool has it.
pub(super) async fn send_raw_transaction(context: Arc<Context>, (raw,): (Bytes,)) -> Result<B256, RpcError> {
    let accepted = context.chain.accept_raw(&raw)?;
    Ok(context.chain.settled(accepted).await?)
}

/// Signs with a key that the node holds, and submits. What the request leaves out is filled in.
pub(super) async fn send_transaction(
    context: Arc<Context>,
    (request,): (TransactionRequest,),
) -> Result<B256, RpcError> {
    let from = request.from.ok_or_else(|| RpcError::invalid_params("params[0].from: missing"))?;
    if !context.keyring.can_sign(from) {
        return Err(SubmitError::UnknownAccount.into());
    }
    send(context, request, from, |context, transaction| context.keyring.sign(from, transaction)).await
}

/// The same for an account that need not sign.
pub(in crate::rpc) async fn send_impersonated(
    context: Arc<Context>,
    request: TransactionRequest,
) -> Result<B256, RpcError> {
    let from = request.from.ok_or_else(|| RpcError::invalid_params("params[0].from: missing"))?;
    send(context, request, from, |_, transaction| Ok(Transaction::impersonated(transaction, from))).await
}

async fn send(
    context: Arc<Context>,
    request: TransactionRequest,
    from: Address,
    sign: impl FnOnce(&Context, UnsignedTransaction) -> Result<Transaction, SubmitError>,
) -> Result<B256, RpcError> {
    let gas = match request.gas {
        Some(gas) => gas,
        None => estimate_apart(context.clone(), request.clone(), None).await?,
    };
    let accepted = {
        // From choosing a nonce to having the transaction in the pool nobody else may choose one.
        let _turn = context.sending.lock().await;
        let transaction = sign(&context, fill(&context, request, from, gas)?)?;
        context.chain.accept(Submission { transaction, sidecar: None })?
    };
    Ok(context.chain.settled(accepted).await?)
}

/// The gas that a transaction needs (after a block, if one is given), found on a thread of its own.
pub(in crate::rpc) async fn estimate_apart(
    context: Arc<Context>,
    request: TransactionRequest,
    block: Option<BlockId>,
) -> Result<u64, RpcError> {
    let own = context.clone();
    let run = move || estimate(&own, request, block, &StateOverrides::new(), &BlockOverrides::default());
    context.execution.apart_for_caller(run).await
}

/// The transaction with everything that the request leaves to the node.
pub(in crate::rpc) fn fill(
    context: &Context,
    request: TransactionRequest,
    from: Address,
    gas: u64,
) -> Result<UnsignedTransaction, RpcError> {
    let chain_id = context.chain.params().chain_id;
    let head = context.chain.head();
    let next = context.chain.next_environment(&head);
    if request.gas_price.is_some() && (request.max_fee_per_gas.is_some() || request.max_priority_fee_per_gas.is_some())
    {
        let message = "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified";
        return Err(RpcError::server(message));
    }
    if let Some(have) = request.chain_id.filter(|id| *id != chain_id) {
        return Err(RpcError::server(format!("chainId does not match node's (have={have}, want={chain_id})")));
    }
    if request.blob_versioned_hashes.is_some() {
        return Err(RpcError::server("blob transactions have to be signed by the client"));
    }
    // The pool first, then the head: what has left the pool in between is in the head.
    let nonce = match request.nonce.or_else(|| context.chain.pool().pending_nonce(from)) {
        Some(nonce) => nonce,
        None => context.chain.head().state.nonce(from)?,
    };
    let (to, value) = (request.to.map_or(TxKind::Create, TxKind::Call), request.value.unwrap_or_default());
    let (input, access_list) = (request.input.unwrap_or_default(), request.access_list);
    let base_fee = u128::from(next.base_fee.unwrap_or(0));
    let wants_legacy = request.gas_price.is_some() || matches!(request.transaction_type, Some(0 | 1));
    if wants_legacy || !next.rules.has(Fork::London) {
        let gas_price = request.gas_price.unwrap_or_else(|| base_fee + suggested_tip(&head));
        let access_list = access_list.or((request.transaction_type == Some(1)).then(Default::default));
        return Ok(match access_list {
            Some(access_list) => {
                TxEip2930 { chain_id, nonce, gas_price, gas_limit: gas, to, value, access_list, input }.into()
            }
            None => {
                let chain_id = next.rules.has(Fork::SpuriousDragon).then_some(chain_id);
                TxLegacy { chain_id, nonce, gas_price, gas_limit: gas, to, value, input }.into()
            }
        });
    }
    let suggested = || request.max_fee_per_gas.map_or(suggested_tip(&head), |max| suggested_tip(&head).min(max));
    let max_priority_fee_per_gas = request.max_priority_fee_per_gas.unwrap_or_else(suggested);
    let max_fee_per_gas = request.max_fee_per_gas.unwrap_or(2 * base_fee + max_priority_fee_per_gas);
    let access_list = access_list.unwrap_or_default();
    match (request.authorization_list, to) {
        (Some(authorization_list), TxKind::Call(to)) => Ok(TxEip7702 {
            chain_id,
            nonce,
            gas_limit: gas,
            max_fee_per_gas,
            max_priority_fee_per_gas,
            to,
            value,
            access_list,
            authorization_list,
            input,
        }
        .into()),
        (Some(_), TxKind::Create) => Err(RpcError::server("set code transaction must not be a create transaction")),
        (None, to) => Ok(TxEip1559 {
            chain_id,
            nonce,
            gas_limit: gas,
            max_fee_per_gas,
            max_priority_fee_per_gas,
            to,
            value,
            access_list,
            input,
        }
        .into()),
    }
}

//! Sending transactions.

use std::sync::Arc;

use alloy_consensus::{Transaction as _, TxType};
use alloy_eips::eip7594::BlobTransactionSidecarVariant;
use alloy_primitives::{Address, B256, Bytes, U256};
use tetrad_chain::{Accepted, BlockId, Head, SubmitError, View};
use tetrad_evm::{
    AccountOverride, BlockExecutor, Environment, Fork, StateOverrides, usual_max_fee,
};
use tetrad_primitives::block::{
    GasPrice, Submission, Transaction, TransactionFields, UnsignedTransaction,
};

use super::{
    call::estimate, fee::suggested_tip, overrides::BlockOverrides, request::TransactionRequest,
    sidecar::take_sidecar,
};
use crate::rpc::{Context, OnFork, RpcError, Table, call_form::CallForm, error::call_output};

/// The first byte of an encoded transaction with blobs (EIP-4844).
pub(in crate::rpc) const BLOB_TYPE: u8 = TxType::Eip4844 as u8;

pub(super) fn methods(table: &mut Table) {
    table
        .change("eth_sendRawTransaction", send_raw_transaction, OnFork::Node)
        .records_failures(CallForm::Raw)
        .describe(
            ["signed transaction"],
            "Submits a signed transaction and returns its hash once the block is sealed. For a \
             transaction that has to wait, it returns as soon as the pool has it.",
        );
    table
        .change("eth_sendTransaction", send_transaction, OnFork::Node)
        .records_failures(CallForm::Transaction)
        .describe(
            ["transaction"],
            "Signs with a key that the node holds, submits, and returns the hash once the block is \
             sealed. Missing fields are filled in.",
        );
}

/// Submits a signed transaction. With instant sealing it returns when the block is published; for a
/// transaction that has to wait, as soon as the pool has it.
pub(in crate::rpc) async fn send_raw_transaction(
    context: Arc<Context>,
    (raw,): (Bytes,),
) -> Result<B256, RpcError> {
    let accepted = if raw.first() == Some(&BLOB_TYPE) {
        // Blobs take long to verify.
        let own = context.clone();
        context
            .apart_for_caller(move || Ok(own.chain.accept_raw(&raw)?))
            .await?
    } else {
        context.chain.accept_raw(&raw)?
    };
    acknowledged(context, accepted).await
}

/// Signs with a key that the node holds, and submits. Missing fields are filled in.
pub(super) async fn send_transaction(
    context: Arc<Context>,
    (mut request,): (TransactionRequest,),
) -> Result<B256, RpcError> {
    let from = sender_of(&context, &mut request)
        .ok_or_else(|| RpcError::invalid_params("params[0].from: missing"))?;
    if !context.keyring.can_sign(from) {
        return Err(SubmitError::UnknownAccount.into());
    }

    let sidecar = take_sidecar(&context, &mut request).await?;
    send_signed(context, request, from, sidecar).await
}

/// Signs a transaction with a key that the node holds, and submits it with its blobs.
pub(super) async fn send_signed(
    context: Arc<Context>,
    request: TransactionRequest,
    from: Address,
    sidecar: Option<Box<BlobTransactionSidecarVariant>>,
) -> Result<B256, RpcError> {
    send(context, request, from, sidecar, |context, transaction| {
        context.keyring.sign(from, transaction)
    })
    .await
}

/// Returns the account that a transaction to sign is from. In anvil's place, the request gets the first
/// one by default.
pub(in crate::rpc) fn sender_of(
    context: &Context,
    request: &mut TransactionRequest,
) -> Option<Address> {
    if context.config.anvil_conventions && request.from.is_none() {
        request.from = context.keyring.addresses().first().copied();
    }
    request.from
}

/// Submits a transaction of an impersonated account, without a signature.
pub(in crate::rpc) async fn send_impersonated(
    context: Arc<Context>,
    mut request: TransactionRequest,
) -> Result<B256, RpcError> {
    let from = request
        .from
        .ok_or_else(|| RpcError::invalid_params("params[0].from: missing"))?;
    let sidecar = take_sidecar(&context, &mut request).await?;
    send(context, request, from, sidecar, |_, transaction| {
        Ok(Transaction::impersonated(transaction, from))
    })
    .await
}

async fn send(
    context: Arc<Context>,
    request: TransactionRequest,
    from: Address,
    sidecar: Option<Box<BlobTransactionSidecarVariant>>,
    sign: impl FnOnce(&Context, UnsignedTransaction) -> Result<Transaction, SubmitError>,
) -> Result<B256, RpcError> {
    // Before the lock, since an estimate may take long.
    let gas = match request.gas {
        Some(gas) => gas,
        None => match estimate_to_send(&context, &request, from).await {
            // A transaction that fails is included as well; one that cannot be is refused below.
            Err(_) if context.config.anvil_conventions => {
                context
                    .chain
                    .next_environment(&context.chain.head())
                    .gas_limit
            }
            estimated => estimated?,
        },
    };

    let accepted = {
        // No other nonce may be chosen until the transaction is in the pool.
        let _turn = context.sending.lock().await;
        let transaction = sign(&context, fill(&context, request, from, gas)?)?;
        context.chain.accept(Submission {
            transaction,
            sidecar,
        })?
    };
    acknowledged(context, accepted).await
}

/// Estimates the gas of a transaction to send. Where the pool does not ask whether its sender can pay
/// for it yet, neither does the estimate.
async fn estimate_to_send(
    context: &Arc<Context>,
    request: &TransactionRequest,
    from: Address,
) -> Result<u64, RpcError> {
    let mut overrides = StateOverrides::new();
    if !context.chain.pool().checks_funds() {
        let rich = AccountOverride {
            balance: Some(U256::MAX),
            ..AccountOverride::default()
        };
        overrides.insert(from, rich);
    }
    estimate_with(context.clone(), request.clone(), None, overrides).await
}

/// Waits until an accepted transaction is acknowledged, and returns its hash.
async fn acknowledged(context: Arc<Context>, accepted: Accepted) -> Result<B256, RpcError> {
    let hash = context.chain.acknowledged(accepted).await?;
    // With hardhat's option, a failed transaction fails its submission.
    if context.config.throw_on_transaction_failure {
        let own = context.clone();
        context
            .apart_for_caller(move || succeeded(&own, hash))
            .await?;
    }
    Ok(hash)
}

/// Returns the error with which a transaction failed, if it is in a block and did.
fn succeeded(context: &Context, hash: B256) -> Result<(), RpcError> {
    let head = context.chain.head();
    let found = context.chain.transaction(&head, hash);
    let failed = found.filter(|(block, index)| {
        block
            .receipts
            .get(*index)
            .is_some_and(|receipt| !receipt.succeeded())
    });
    let Some((block, index)) = failed else {
        return Ok(());
    };

    // Receipts have no revert data: the block runs again up to the transaction.
    let state = head
        .state_before(block.number())
        .map_err(|pruned| RpcError::server(pruned.to_string()))?;
    let environment = head.environment_of(&block);
    let mut executor =
        BlockExecutor::begin(&head.params, &environment, &state, &*head)?.without_gas_limits();
    let mut last = Ok(Bytes::new());
    for transaction in block.transactions.iter().take(index + 1) {
        last = call_output(executor.execute(transaction)?);
    }

    let to = block
        .transactions
        .get(index)
        .and_then(|transaction| transaction.envelope.to());
    last.map(drop).map_err(|error| {
        let error = context.explained(error, &View::newest(head.clone()), to);
        RpcError {
            transaction: Some(hash),
            ..error
        }
    })
}

/// Estimates the gas of a transaction on a thread of its own (after a block, if one is given).
pub(in crate::rpc) async fn estimate_apart(
    context: Arc<Context>,
    request: TransactionRequest,
    block: Option<BlockId>,
) -> Result<u64, RpcError> {
    estimate_with(context, request, block, StateOverrides::new()).await
}

async fn estimate_with(
    context: Arc<Context>,
    request: TransactionRequest,
    block: Option<BlockId>,
    overrides: StateOverrides,
) -> Result<u64, RpcError> {
    let own = context.clone();
    let in_block = BlockOverrides::default();
    context
        .apart_for_caller(move || estimate(&own, request, block, &overrides, &in_block))
        .await
}

/// Fills in the fields that the request leaves to the node.
pub(in crate::rpc) fn fill(
    context: &Context,
    request: TransactionRequest,
    from: Address,
    gas: u64,
) -> Result<UnsignedTransaction, RpcError> {
    let chain_id = context.chain.params().chain_id;
    let head = context.chain.head();
    let next = context.chain.next_environment(&head);

    request.check(chain_id)?;
    let transaction_type = request.transaction_type(next.rules.has(Fork::London))?;

    let nonce = match request.nonce {
        Some(nonce) => nonce,
        None => next_nonce(context, from)?,
    };
    let base_fee = u128::from(next.base_fee.unwrap_or(0));
    let gas_price = gas_price(&request, transaction_type, &head, base_fee);

    let is_legacy = transaction_type == TxType::Legacy;
    // Legacy transactions have a chain id since Spurious Dragon (EIP-155).
    let chain_id = (!is_legacy || next.rules.has(Fork::SpuriousDragon)).then_some(chain_id);
    let access_list = if is_legacy {
        None
    } else {
        Some(request.access_list.unwrap_or_default())
    };
    let max_fee_per_blob_gas = request
        .max_fee_per_blob_gas
        .unwrap_or_else(|| usual_max_blob_fee(&next));
    let blobs = request
        .blob_versioned_hashes
        .map(|hashes| (hashes, max_fee_per_blob_gas));

    let fields = TransactionFields {
        chain_id,
        nonce,
        gas_limit: gas,
        gas_price,
        to: request.to,
        value: request.value.unwrap_or_default(),
        input: request.input.unwrap_or_default(),
        access_list,
        blobs,
        authorization_list: request.authorization_list,
    };
    Ok(fields.into())
}

/// The most that a transaction pays in wei per blob gas, unless it says: twice what the next block asks
/// for, as in geth.
fn usual_max_blob_fee(next: &Environment) -> u128 {
    next.blob_base_fee().unwrap_or(0).saturating_mul(2)
}

/// The nonce of an account's next transaction.
fn next_nonce(context: &Context, account: Address) -> Result<u64, RpcError> {
    // The pool first, then the head: a transaction that leaves the pool in between is in the head.
    if let Some(nonce) = context.chain.pool().pending_nonce(account) {
        return Ok(nonce);
    }
    Ok(context.chain.head().state.nonce(account)?)
}

/// The gas price of a transaction, as far as the request gives it.
fn gas_price(
    request: &TransactionRequest,
    transaction_type: TxType,
    head: &Head,
    base_fee: u128,
) -> GasPrice {
    if matches!(transaction_type, TxType::Legacy | TxType::Eip2930) {
        let price = request
            .gas_price
            .unwrap_or_else(|| base_fee + suggested_tip(head));
        return GasPrice::Fixed(price);
    }

    let max_tip = request.max_priority_fee_per_gas.unwrap_or_else(|| {
        let suggested = suggested_tip(head);
        // A tip above the maximum fee is not valid.
        request
            .max_fee_per_gas
            .map_or(suggested, |max_fee| suggested.min(max_fee))
    });
    let max_fee = request
        .max_fee_per_gas
        .unwrap_or(usual_max_fee(base_fee, max_tip));
    GasPrice::Dynamic { max_fee, max_tip }
}

//! Impersonation: sending transactions of accounts without their keys.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes};
use serde_json::value::RawValue;
use tetrad_chain::{Edit, RawSignature, Setting};

use super::{accounts::edit, mine::set};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    error::Dialect,
    eth::{TransactionRequest, send_impersonated},
    params::{ParamReader, ParamRules, ParamShape, Params, Reference},
};

pub(super) fn methods(table: &mut Table) {
    table
        .change("anvil_impersonateAccount", impersonate, OnFork::Node)
        .aliases(&["hardhat_impersonateAccount"])
        .describe(
            ["address"],
            "Allows `eth_sendTransaction` from this account, which may be a contract.",
        );

    table
        .change(
            "anvil_stopImpersonatingAccount",
            stop_impersonating,
            OnFork::Node,
        )
        .aliases(&["hardhat_stopImpersonatingAccount"])
        .describe(["address"], "Ends the impersonation of an account.");

    table
        .change(
            "anvil_autoImpersonateAccount",
            impersonate_all,
            OnFork::Node,
        )
        .aliases(&["hardhat_autoImpersonateAccount"])
        .describe(
            ["on"],
            "Allows or disallows `eth_sendTransaction` from any account.",
        );

    table
        .wait(
            "anvil_impersonateSignature",
            impersonate_signature,
            OnFork::Node,
        )
        .describe(
            ["signature", "address"],
            "Makes `ecrecover` return this account for a signature (`r`, `s`, `v`) of any message.",
        );

    table
        .change(
            "eth_sendUnsignedTransaction",
            send_unsigned_transaction,
            OnFork::Node,
        )
        .describe(
            ["transaction"],
            "Sends a transaction of any account, without a signature.",
        );
}

/// Allows `eth_sendTransaction` from this account, which may be a contract.
async fn impersonate(context: Arc<Context>, (address,): (Address,)) -> Result<(), RpcError> {
    set(&context, Setting::Impersonated(address, true)).await
}

/// Ends the impersonation of an account.
async fn stop_impersonating(context: Arc<Context>, (address,): (Address,)) -> Result<(), RpcError> {
    set(&context, Setting::Impersonated(address, false)).await
}

/// Allows or disallows `eth_sendTransaction` from any account.
async fn impersonate_all(context: Arc<Context>, (on,): (bool,)) -> Result<(), RpcError> {
    set(&context, Setting::AllImpersonated(on)).await
}

/// Two parameters or, as in anvil 1.7, one array of both.
#[derive(Debug)]
struct SignatureAndSigner((Bytes, Address));

impl Params for SignatureAndSigner {
    type Names = <(Bytes, Address) as Params>::Names;

    fn read(json: Option<&RawValue>, rules: ParamRules) -> Result<Self, RpcError> {
        let nested = json
            .and_then(|json| serde_json::from_str::<[&RawValue; 1]>(json.get()).ok())
            .map(|[inner]| inner)
            .filter(|inner| inner.get().starts_with('['));

        Params::read(nested.or(json), rules).map(Self)
    }

    fn shapes(dialect: Dialect) -> Vec<ParamShape> {
        <(Bytes, Address)>::shapes(dialect)
    }

    fn references() -> Vec<Option<Reference>> {
        <(Bytes, Address)>::references()
    }

    fn readers() -> Vec<ParamReader> {
        let mut readers = <(Bytes, Address)>::readers();
        readers.push(ParamReader::of_all::<Self>());
        readers
    }
}

/// Makes `ecrecover` return this account for a signature (`r`, `s`, `v`) of any message.
async fn impersonate_signature(
    context: Arc<Context>,
    SignatureAndSigner((signature, signer)): SignatureAndSigner,
) -> Result<(), RpcError> {
    let mut raw = RawSignature::try_from(signature.as_ref()).map_err(|_| {
        RpcError::invalid_params(format!(
            "params[0]: expected a 65-byte signature, got {} bytes",
            signature.len()
        ))
    })?;

    // Some clients send the plain recovery id; contracts see it with 27 added.
    if raw[64] < 27 {
        raw[64] += 27;
    }

    edit(&context, Edit::Signature(raw, signer)).await
}

/// Sends a transaction of any account, without a signature.
async fn send_unsigned_transaction(
    context: Arc<Context>,
    (request,): (TransactionRequest,),
) -> Result<B256, RpcError> {
    send_impersonated(context, request).await
}

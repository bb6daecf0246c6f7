//! Signing with keys that the node holds, and filling in what a transaction leaves out.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, Signature, eip191_hash_message};
use tetrad_chain::{SubmitError, UnsignedTransaction};
use tetrad_primitives::block::{Submission, Transaction, recover, without_signature};

use super::{
    render::RpcTransaction,
    request::TransactionRequest,
    sidecar::take_sidecar,
    submit::{estimate_apart, fill, sender_of},
    typed_data::TypedMessage,
};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    json::{Json, JsonWriter, Object},
};

pub(super) fn methods(table: &mut Table) {
    table.execute("eth_sign", sign, OnFork::Node).describe(
        ["address", "message"],
        "Signs a message with a key that the node holds, in a format that no transaction has \
         (EIP-191).",
    );
    table
        .execute("eth_signTypedData", sign_typed_data, OnFork::Node)
        .describe(["address", "typed data"], "Signs typed data (EIP-712).");
    table
        .execute("eth_signTypedData_v3", sign_typed_data, OnFork::Node)
        .describe(
            ["address", "typed data"],
            "Signs typed data (EIP-712), like `eth_signTypedData`.",
        );
    table
        .execute("eth_signTypedData_v4", sign_typed_data, OnFork::Node)
        .describe(
            ["address", "typed data"],
            "Signs typed data (EIP-712), like `eth_signTypedData`.",
        );
    table
        .wait("eth_signTransaction", sign_transaction, OnFork::Node)
        .describe(
            ["transaction"],
            "Signs with a key that the node holds, without submitting.",
        );
    table
        .wait("eth_fillTransaction", fill_transaction, OnFork::Node)
        .describe(
            ["transaction"],
            "Fills in what a transaction leaves out, for the client to sign.",
        );
}

/// A signature over `hash` as 65 bytes, the last of them 27 or 28.
fn sign_hash(context: &Context, address: Address, hash: B256) -> Result<Bytes, RpcError> {
    let key = context
        .keyring
        .get(address)
        .ok_or(SubmitError::UnknownAccount)?;
    let signature = key
        .sign_prehash(&hash)
        .map_err(|error| RpcError::server(error.to_string()))?;
    Ok(signature.as_bytes().into())
}

/// Signs a message in a format that no transaction has (EIP-191).
pub(in crate::rpc) fn sign_message(
    context: &Context,
    address: Address,
    message: &[u8],
) -> Result<Bytes, RpcError> {
    sign_hash(context, address, eip191_hash_message(message))
}

/// The account that signed a message (EIP-191).
pub(in crate::rpc) fn recover_message(
    message: &[u8],
    signature: &[u8],
) -> Result<Address, RpcError> {
    let signature = Signature::from_raw(signature)
        .map_err(|error| RpcError::invalid_params(format!("params[1]: {error}")))?;
    let signer = recover(&signature, eip191_hash_message(message));
    signer
        .map(|(address, _)| address)
        .ok_or_else(|| RpcError::invalid_params("params[1]: no key made this signature"))
}

/// Signs a message with the key of an account that the node holds.
fn sign(context: &Context, (address, message): (Address, Bytes)) -> Result<Bytes, RpcError> {
    sign_message(context, address, &message)
}

/// Signs typed data (EIP-712) with the key of an account that the node holds.
fn sign_typed_data(
    context: &Context,
    (address, data): (Address, TypedMessage),
) -> Result<Bytes, RpcError> {
    let hash = data
        .signing_hash()
        .map_err(|error| RpcError::invalid_params(format!("params[1]: {error}")))?;
    sign_hash(context, address, hash)
}

/// A transaction with its encoding, which has the blobs.
struct Encoded(Submission);

impl Json for Encoded {
    fn write(&self, out: &mut JsonWriter) {
        Object::begin(out)
            .member("raw", &Bytes::from(self.0.encode()))
            .member(
                "tx",
                &RpcTransaction::Waiting(Arc::new(self.0.transaction.clone())),
            )
            .end();
    }
}

async fn filled(
    context: &Arc<Context>,
    request: TransactionRequest,
    from: Address,
) -> Result<UnsignedTransaction, RpcError> {
    let gas = match request.gas {
        Some(gas) => gas,
        None => estimate_apart(context.clone(), request.clone(), None).await?,
    };
    fill(context, request, from, gas)
}

/// Signs a transaction without submitting it. What the request leaves out is filled in.
async fn sign_transaction(
    context: Arc<Context>,
    (mut request,): (TransactionRequest,),
) -> Result<Encoded, RpcError> {
    let from = sender_of(&context, &mut request)
        .ok_or_else(|| RpcError::invalid_params("params[0].from: missing"))?;
    // Impersonated accounts can send, but there is no key to sign with.
    if context.keyring.get(from).is_none() {
        return Err(SubmitError::UnknownAccount.into());
    }

    let sidecar = take_sidecar(&context, &mut request).await?;
    let unsigned = filled(&context, request, from).await?;
    Ok(Encoded(Submission {
        transaction: context.keyring.sign(from, unsigned)?,
        sidecar,
    }))
}

/// Fills in what a transaction leaves out, for the client to sign.
async fn fill_transaction(
    context: Arc<Context>,
    (mut request,): (TransactionRequest,),
) -> Result<Encoded, RpcError> {
    let from = sender_of(&context, &mut request).unwrap_or_default();
    let sidecar = take_sidecar(&context, &mut request).await?;
    let unsigned = filled(&context, request, from).await?;
    let transaction = Transaction {
        envelope: without_signature(unsigned),
        sender: from,
        public_key: None,
    };
    Ok(Encoded(Submission {
        transaction,
        sidecar,
    }))
}

//! The transaction object of calls, estimates and sends (see the book, "JSON-RPC").
//!
//! A call without a gas price runs with a base fee of zero, as in geth. A call with a tip alone has
//! the maximum fee that the node would fill in, so that every transaction that can be sent can be
//! estimated; geth refuses it.

use std::sync::Arc;

use alloy_eips::{
    eip2930::AccessList,
    eip4844::{Blob, Bytes48},
    eip7702::SignedAuthorization,
};
use alloy_primitives::{Address, B256, Bytes, FixedBytes, U256};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_evm::Call;
use tetrad_primitives::block::Blobs;

use crate::rpc::{
    error::RpcError,
    params::{self, Param, ParamRules},
    schema,
};

/// A transaction as a client describes it; everything may be left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransactionRequest {
    /// Sender.
    pub from: Option<Address>,
    /// Recipient; none for a creation.
    pub to: Option<Address>,
    /// Gas limit.
    pub gas: Option<u64>,
    /// Price in wei per gas.
    pub gas_price: Option<u128>,
    /// EIP-1559 maximum in wei per gas.
    pub max_fee_per_gas: Option<u128>,
    /// EIP-1559 tip in wei per gas.
    pub max_priority_fee_per_gas: Option<u128>,
    /// Value in wei.
    pub value: Option<U256>,
    /// Call data or creation code; `data` and `input` mean the same.
    pub input: Option<Bytes>,
    /// Nonce.
    pub nonce: Option<u64>,
    /// EIP-2930 access list.
    pub access_list: Option<AccessList>,
    /// Chain id.
    pub chain_id: Option<u64>,
    /// Transaction type, where the fields do not determine it.
    pub transaction_type: Option<u64>,
    /// EIP-4844 versioned hashes.
    pub blob_versioned_hashes: Option<Vec<B256>>,
    /// EIP-4844 maximum in wei per blob gas.
    pub max_fee_per_blob_gas: Option<u128>,
    /// EIP-4844 blobs, with what the client knows of them.
    pub blobs: Option<Arc<Blobs>>,
    /// EIP-7702 delegations.
    pub authorization_list: Option<Vec<SignedAuthorization>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawTransactionRequest<'a> {
    #[serde(borrow)]
    from: Option<&'a RawValue>,
    to: Option<&'a RawValue>,
    gas: Option<&'a RawValue>,
    gas_price: Option<&'a RawValue>,
    max_fee_per_gas: Option<&'a RawValue>,
    max_priority_fee_per_gas: Option<&'a RawValue>,
    value: Option<&'a RawValue>,
    data: Option<&'a RawValue>,
    input: Option<&'a RawValue>,
    nonce: Option<&'a RawValue>,
    access_list: Option<&'a RawValue>,
    chain_id: Option<&'a RawValue>,
    #[serde(rename = "type")]
    transaction_type: Option<&'a RawValue>,
    blob_versioned_hashes: Option<&'a RawValue>,
    max_fee_per_blob_gas: Option<&'a RawValue>,
    blobs: Option<&'a RawValue>,
    commitments: Option<&'a RawValue>,
    /// Proofs of blobs or of their cells; their number shows which.
    #[serde(alias = "cellProofs")]
    proofs: Option<&'a RawValue>,
    authorization_list: Option<&'a RawValue>,
}

/// A member of an object, if it is given and not null. Errors begin with its name.
pub(in crate::rpc) fn field<P: Param>(
    name: &str,
    raw: Option<&RawValue>,
    rules: ParamRules,
) -> Result<Option<P>, String> {
    let given = raw.filter(|raw| raw.get() != "null");
    given
        .map(|raw| P::read(raw.get(), rules).map_err(|what| format!("{name}: {what}")))
        .transpose()
}

fn shaped<T: serde::de::DeserializeOwned>(
    name: &str,
    raw: Option<&RawValue>,
) -> Result<Option<T>, String> {
    let given = raw.filter(|raw| raw.get() != "null");
    given
        .map(|raw| params::shape(raw.get()).map_err(|what| format!("{name}: {what}")))
        .transpose()
}

/// Values of a fixed size, such as blobs.
fn fixed<const N: usize>(
    name: &str,
    raw: Option<&RawValue>,
    rules: ParamRules,
) -> Result<Option<Vec<FixedBytes<N>>>, String> {
    let Some(given) = field::<Vec<Bytes>>(name, raw, rules)? else {
        return Ok(None);
    };

    let mut values = Vec::with_capacity(given.len());
    for (at, bytes) in given.iter().enumerate() {
        let value: &FixedBytes<N> = bytes
            .as_ref()
            .try_into()
            .map_err(|_| format!("{name}[{at}]: expected {N} bytes, got {}", bytes.len()))?;
        // From one place in the heap to another: some copies of a blob would fill the stack.
        values.extend_from_slice(std::slice::from_ref(value));
    }
    Ok(Some(values))
}

/// The blobs of a transaction, if any are given, or what is known of them.
fn blobs(raw: &RawTransactionRequest<'_>, rules: ParamRules) -> Result<Option<Blobs>, String> {
    let blobs: Option<Vec<Blob>> = fixed("blobs", raw.blobs, rules)?;
    let commitments: Option<Vec<Bytes48>> = fixed("commitments", raw.commitments, rules)?;
    let proofs: Option<Vec<Bytes48>> = fixed("proofs", raw.proofs, rules)?;

    if proofs.is_some() && commitments.is_none() {
        return Err("proofs: the commitments that they prove are missing".to_owned());
    }
    if blobs.is_none() && commitments.is_none() {
        return Ok(None);
    }
    Ok(Some(Blobs {
        blobs: blobs.unwrap_or_default(),
        commitments,
        proofs,
    }))
}

impl Param for u128 {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        u128::try_from(U256::read(json, rules)?)
            .map_err(|_| "expected a quantity of at most 128 bits".to_owned())
    }

    fn schema() -> Value {
        U256::schema()
    }
}

impl Param for TransactionRequest {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawTransactionRequest<'_> = serde_json::from_str(json)
            .map_err(|_| format!("expected a transaction object, got {}", params::kind(json)))?;

        let data: Option<Bytes> = field("data", raw.data, rules)?;
        let input: Option<Bytes> = field("input", raw.input, rules)?;
        if let (Some(data), Some(input)) = (&data, &input)
            && data != input
        {
            return Err("data and input differ; give one of them".to_owned());
        }

        Ok(Self {
            from: field("from", raw.from, rules)?,
            to: field("to", raw.to, rules)?,
            gas: field("gas", raw.gas, rules)?,
            gas_price: field("gasPrice", raw.gas_price, rules)?,
            max_fee_per_gas: field("maxFeePerGas", raw.max_fee_per_gas, rules)?,
            max_priority_fee_per_gas: field(
                "maxPriorityFeePerGas",
                raw.max_priority_fee_per_gas,
                rules,
            )?,
            value: field("value", raw.value, rules)?,
            input: input.or(data),
            nonce: field("nonce", raw.nonce, rules)?,
            access_list: shaped("accessList", raw.access_list)?,
            chain_id: field("chainId", raw.chain_id, rules)?,
            transaction_type: field("type", raw.transaction_type, rules)?,
            blobs: blobs(&raw, rules)?.map(Arc::new),
            blob_versioned_hashes: field("blobVersionedHashes", raw.blob_versioned_hashes, rules)?,
            max_fee_per_blob_gas: field("maxFeePerBlobGas", raw.max_fee_per_blob_gas, rules)?,
            authorization_list: shaped("authorizationList", raw.authorization_list)?,
        })
    }

    fn schema() -> Value {
        let properties = json!({
            "from": Address::schema(),
            "to": Address::schema(),
            "gas": u64::schema(),
            "gasPrice": u128::schema(),
            "maxFeePerGas": u128::schema(),
            "maxPriorityFeePerGas": u128::schema(),
            "value": U256::schema(),
            "data": Bytes::schema(),
            "input": Bytes::schema(),
            "nonce": u64::schema(),
            "accessList": {"type": "array"},
            "chainId": u64::schema(),
            "type": u64::schema(),
            "blobVersionedHashes": <Vec<B256> as Param>::schema(),
            "maxFeePerBlobGas": u128::schema(),
            "authorizationList": {"type": "array"},
        });
        let properties: serde_json::Map<_, _> = properties
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, own)| (name.clone(), schema::or_null(own.clone())))
            .collect();
        json!({"type": "object", "properties": properties})
    }
}

impl TransactionRequest {
    /// The call that a call or an estimate runs.
    pub(crate) fn into_call(mut self, chain_id: u64) -> Result<Call, RpcError> {
        if let (Some(blobs), None) = (&self.blobs, &self.blob_versioned_hashes) {
            let hashes = blobs
                .versioned_hashes()
                .map_err(|error| RpcError::server(error.to_string()))?;
            self.blob_versioned_hashes = Some(hashes);
        }
        self.check(chain_id)?;

        Ok(Call {
            from: self.from.unwrap_or_default(),
            to: self.to,
            gas: self.gas,
            gas_price: self.gas_price.or(self.max_fee_per_gas),
            priority_fee: self.max_priority_fee_per_gas,
            value: self.value.unwrap_or_default(),
            input: self.input.unwrap_or_default(),
            access_list: self.access_list,
            blob_hashes: self.blob_versioned_hashes,
            max_fee_per_blob_gas: self.max_fee_per_blob_gas,
            authorization_list: self.authorization_list,
        })
    }
}

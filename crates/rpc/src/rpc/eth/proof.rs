//! Merkle proofs (EIP-1186), and storage in bulk.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, U256};
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::BlockId;
use tetrad_primitives::state::AccountProof;

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
    params::{self, Param, ParamRules},
};

pub(super) fn methods(table: &mut Table) {
    table.execute("eth_getProof", proof, OnFork::Block).describe(
        ["address", "slots", "block"],
        "Proves an account and some of its storage against the state root of a block (EIP-1186).",
    );
    table
        .execute("eth_getStorageValues", storage_values, OnFork::State)
        .describe(
            ["slots by address", "block"],
            "The values of many storage slots, at most 1024.",
        );
}

/// The maximum number of slots in one request, as in geth.
const MAX_SLOTS: usize = 1_024;

/// A storage slot, and whether its index was given as 32 bytes or as a shorter number.
#[derive(Clone, Copy, Debug)]
struct ProofKey {
    index: U256,
    is_hash: bool,
}

impl Param for ProofKey {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let index = params::SlotIndex::read(json, rules)?.0;
        Ok(Self {
            index,
            // 32 bytes in hexadecimal, the prefix `0x` and two quotes.
            is_hash: json.len() == 68,
        })
    }

    fn schema() -> Value {
        params::SlotIndex::schema()
    }
}

/// The proof of an account and its slots.
struct RpcProof {
    address: Address,
    exists: bool,
    keys: Vec<ProofKey>,
    proof: AccountProof,
}

/// Proves an account and some of its storage slots against the state root of a block.
fn proof(
    context: &Context,
    (address, keys, block): (Address, Vec<ProofKey>, Option<BlockId>),
) -> Result<RpcProof, RpcError> {
    if keys.len() > MAX_SLOTS {
        return Err(RpcError::invalid_params(format!(
            "params[1]: too many slots (max {MAX_SLOTS})"
        )));
    }

    let state = context.chain.view(block.unwrap_or(BlockId::Latest))?.state;
    if state.base().is_some() {
        let message = "there are no proofs of this block: its state is that of a fork, or of a \
                       block older than the history in memory";
        return Err(RpcError::server(message));
    }

    let slots: Vec<U256> = keys.iter().map(|key| key.index).collect();
    Ok(RpcProof {
        address,
        exists: state.get(address)?.is_some(),
        proof: state.prove(address, &slots),
        keys,
    })
}

impl Json for RpcProof {
    fn write(&self, out: &mut JsonWriter) {
        let proof = &self.proof;
        // The proof has the hashes of empty code and empty storage for an account that does not
        // exist, which is written without them.
        let of_existing = |hash: B256| if self.exists { hash } else { B256::ZERO };

        let mut object = Object::begin(out);
        object
            .member("address", &self.address)
            .member("accountProof", &proof.nodes)
            .member("balance", &Quantity(proof.balance))
            .member("codeHash", &of_existing(proof.code_hash))
            .member("nonce", &Quantity(proof.nonce))
            .member("storageHash", &of_existing(proof.storage_root));

        array(
            object.name("storageProof"),
            self.keys.iter().zip(&proof.slots),
            |(key, slot), out| {
                let mut object = Object::begin(out);
                // The index as the client gave it.
                if key.is_hash {
                    object.member("key", &B256::from(key.index));
                } else {
                    object.member("key", &Quantity(key.index));
                }
                object
                    .member("value", &Quantity(slot.value))
                    .member("proof", &slot.nodes)
                    .end();
            },
        );
        object.end();
    }
}

/// Slots by account.
struct StorageRequest(Vec<(Address, Vec<params::SlotIndex>)>);

impl Param for StorageRequest {
    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let by_account: BTreeMap<Address, Vec<&RawValue>> = params::shape(json)?;

        let mut accounts = Vec::with_capacity(by_account.len());
        for (address, slots) in by_account {
            let slots: Result<Vec<_>, String> = slots
                .into_iter()
                .map(|slot| params::SlotIndex::read(slot.get(), rules))
                .collect();
            let slots = slots.map_err(|what| format!("{address}: {what}"))?;
            accounts.push((address, slots));
        }
        Ok(Self(accounts))
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "propertyNames": <Address as Param>::schema(),
            "additionalProperties": {"type": "array", "items": params::SlotIndex::schema()},
        })
    }
}

/// The values of slots by account.
struct StorageValues(Vec<(Address, Vec<B256>)>);

impl Json for StorageValues {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        for (address, values) in &self.0 {
            object.member(&format!("{address:#x}"), values);
        }
        object.end();
    }
}

/// The values of many storage slots of many accounts.
fn storage_values(
    context: &Context,
    (request, block): (StorageRequest, Option<BlockId>),
) -> Result<StorageValues, RpcError> {
    let slots: usize = request.0.iter().map(|(_, slots)| slots.len()).sum();
    if slots == 0 {
        return Err(RpcError::invalid_params("empty request"));
    }
    if slots > MAX_SLOTS {
        return Err(RpcError::invalid_params(format!(
            "too many slots (max {MAX_SLOTS})"
        )));
    }

    let state = context.chain.view(block.unwrap_or(BlockId::Latest))?.state;
    let mut accounts = Vec::with_capacity(request.0.len());
    for (address, slots) in request.0 {
        let mut values = Vec::with_capacity(slots.len());
        for slot in slots {
            values.push(B256::from(state.storage(address, slot.0)?));
        }
        accounts.push((address, values));
    }
    Ok(StorageValues(accounts))
}

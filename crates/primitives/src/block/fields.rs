//! Unsigned transactions from their fields.

use alloy_consensus::{TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy};
use alloy_eips::{eip2930::AccessList, eip7702::SignedAuthorization};
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};

use super::UnsignedTransaction;

/// The gas price that a transaction offers, in wei per gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GasPrice {
    /// One price, as before EIP-1559.
    Fixed(u128),
    /// The fees of EIP-1559.
    Dynamic {
        /// The most that is paid, base fee included.
        max_fee: u128,
        /// The most that is paid to who seals the block.
        max_tip: u128,
    },
}

/// The fields of a transaction of any type. Which ones are given decides on the type.
#[derive(Clone, Debug)]
pub struct TransactionFields {
    /// The chain id; a transaction of the legacy type goes without one before EIP-155.
    pub chain_id: Option<u64>,
    /// The nonce.
    pub nonce: u64,
    /// The gas limit.
    pub gas_limit: u64,
    /// The gas price.
    pub gas_price: GasPrice,
    /// The recipient; none for a creation.
    pub to: Option<Address>,
    /// The value in wei.
    pub value: U256,
    /// Call data or creation code.
    pub input: Bytes,
    /// The access list. With a fixed price it makes the type that of EIP-2930.
    pub access_list: Option<AccessList>,
    /// Versioned hashes, and the most that is paid in wei per blob gas (EIP-4844).
    pub blobs: Option<(Vec<B256>, u128)>,
    /// Delegations (EIP-7702).
    pub authorization_list: Option<Vec<SignedAuthorization>>,
}

impl TransactionFields {
    /// A call without access list, blobs or delegations.
    pub fn call(
        chain_id: u64,
        nonce: u64,
        gas_limit: u64,
        gas_price: GasPrice,
        to: Address,
        input: Bytes,
    ) -> Self {
        Self {
            chain_id: Some(chain_id),
            nonce,
            gas_limit,
            gas_price,
            to: Some(to),
            value: U256::ZERO,
            input,
            access_list: None,
            blobs: None,
            authorization_list: None,
        }
    }
}

impl From<TransactionFields> for UnsignedTransaction {
    fn from(fields: TransactionFields) -> Self {
        match fields.gas_price {
            GasPrice::Fixed(gas_price) => with_fixed_price(fields, gas_price),
            GasPrice::Dynamic { max_fee, max_tip } => with_dynamic_fees(fields, max_fee, max_tip),
        }
    }
}

/// A legacy transaction, or one of EIP-2930 if there is an access list.
fn with_fixed_price(fields: TransactionFields, gas_price: u128) -> UnsignedTransaction {
    let to = fields.to.map_or(TxKind::Create, TxKind::Call);
    match fields.access_list {
        None => TxLegacy {
            chain_id: fields.chain_id,
            nonce: fields.nonce,
            gas_price,
            gas_limit: fields.gas_limit,
            to,
            value: fields.value,
            input: fields.input,
        }
        .into(),
        Some(access_list) => TxEip2930 {
            chain_id: fields.chain_id.unwrap_or_default(),
            nonce: fields.nonce,
            gas_price,
            gas_limit: fields.gas_limit,
            to,
            value: fields.value,
            access_list,
            input: fields.input,
        }
        .into(),
    }
}

/// A transaction of EIP-7702 if there are delegations, of EIP-4844 if there are blobs, or of
/// EIP-1559.
fn with_dynamic_fees(
    fields: TransactionFields,
    max_fee_per_gas: u128,
    max_priority_fee_per_gas: u128,
) -> UnsignedTransaction {
    let TransactionFields {
        nonce,
        gas_limit,
        value,
        input,
        ..
    } = fields;
    let chain_id = fields.chain_id.unwrap_or_default();
    let access_list = fields.access_list.unwrap_or_default();

    if let Some(authorization_list) = fields.authorization_list {
        TxEip7702 {
            chain_id,
            nonce,
            gas_limit,
            max_fee_per_gas,
            max_priority_fee_per_gas,
            to: fields.to.unwrap_or_default(),
            value,
            access_list,
            authorization_list,
            input,
        }
        .into()
    } else if let Some((blob_versioned_hashes, max_fee_per_blob_gas)) = fields.blobs {
        TxEip4844 {
            chain_id,
            nonce,
            gas_limit,
            max_fee_per_gas,
            max_priority_fee_per_gas,
            to: fields.to.unwrap_or_default(),
            value,
            access_list,
            blob_versioned_hashes,
            max_fee_per_blob_gas,
            input,
        }
        .into()
    } else {
        TxEip1559 {
            chain_id,
            nonce,
            gas_limit,
            max_fee_per_gas,
            max_priority_fee_per_gas,
            to: fields.to.map_or(TxKind::Create, TxKind::Call),
            value,
            access_list,
            input,
        }
        .into()
    }
}

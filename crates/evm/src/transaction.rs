//! Signed transactions in revm's type.

use alloy_consensus::Transaction as _;
use revm::{context::TxEnv, context_interface::either::Either};
use tetrad_primitives::block::{Transaction, recover_authority};

/// The fields of `transaction` that execution depends on.
pub(crate) fn tx_env(transaction: &Transaction) -> TxEnv {
    let tx = &transaction.envelope;
    let authorizations = tx.authorization_list().unwrap_or_default().iter();
    TxEnv {
        tx_type: tx.tx_type() as u8,
        caller: transaction.sender,
        gas_limit: tx.gas_limit(),
        gas_price: tx.max_fee_per_gas(),
        kind: tx.kind(),
        value: tx.value(),
        data: tx.input().clone(),
        nonce: tx.nonce(),
        chain_id: tx.chain_id(),
        access_list: tx.access_list().cloned().unwrap_or_default(),
        gas_priority_fee: tx.max_priority_fee_per_gas(),
        blob_hashes: tx
            .blob_versioned_hashes()
            .map(<[_]>::to_vec)
            .unwrap_or_default(),
        max_fee_per_blob_gas: tx.max_fee_per_blob_gas().unwrap_or_default(),
        authorization_list: authorizations
            .map(|signed| Either::Right(recover_authority(signed)))
            .collect(),
    }
}

//! The maximum cost of a transaction, and the price of a replacement.

use alloy_consensus::{Transaction as _, TxType};
use alloy_primitives::U256;
use tetrad_primitives::block::{Transaction, cosmos::fee_of};

/// Returns the maximum cost of a transaction: value, gas at the fee cap and blob gas at the blob
/// fee cap, in wei. That of a Cosmos transaction is its fee.
pub(super) fn cost_of(transaction: &Transaction) -> U256 {
    let tx = &transaction.envelope;
    if transaction.is_cosmos()
        && let Some(fee) = fee_of(tx.input())
    {
        // A transfer that the balance does not cover fails in its block.
        return fee;
    }

    let gas = U256::from(tx.gas_limit()).saturating_mul(U256::from(tx.max_fee_per_gas()));
    let blob_price = U256::from(tx.max_fee_per_blob_gas().unwrap_or_default());
    let blobs = U256::from(tx.blob_gas_used().unwrap_or_default()).saturating_mul(blob_price);
    tx.value().saturating_add(gas).saturating_add(blobs)
}

/// Returns a transaction's tip cap and fee cap, in wei per gas.
pub(super) fn prices(transaction: &Transaction) -> (u128, u128) {
    let tx = &transaction.envelope;
    (
        tx.max_priority_fee_per_gas()
            .unwrap_or_else(|| tx.max_fee_per_gas()),
        tx.max_fee_per_gas(),
    )
}

/// Returns whether `new` pays enough to replace `old`: this many percent more in every price, or
/// at least 100 for a blob transaction.
pub(super) fn outbids(new: &Transaction, old: &Transaction, percent: u32) -> bool {
    let percent = if old.envelope.tx_type() == TxType::Eip4844 {
        percent.max(100)
    } else {
        percent
    };

    all_prices(new)
        .into_iter()
        .zip(all_prices(old))
        .all(|(new, old)| {
            let needed =
                U256::from(old) * (U256::from(100) + U256::from(percent)) / U256::from(100);
            // Rounding must not make an equal price enough.
            old == 0 || (new > old && U256::from(new) >= needed)
        })
}

/// Returns a transaction's fee cap, tip cap and blob fee cap, in wei per gas; 0 for one that it
/// does not have.
fn all_prices(transaction: &Transaction) -> [u128; 3] {
    let (tip, cap) = prices(transaction);
    let blob_cap = transaction.envelope.max_fee_per_blob_gas().unwrap_or(0);
    [cap, tip, blob_cap]
}

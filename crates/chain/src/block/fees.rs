//! The base fee and the excess blob gas of the next block.

use alloy_consensus::Header;
use alloy_eips::eip1559::{BaseFeeParams, INITIAL_BASE_FEE};
use tetrad_evm::{Fork, Rules};

/// Returns the base fee of the block after `parent` (EIP-1559), or `None` before London.
pub fn next_base_fee(parent: &Header, rules: Rules) -> Option<u64> {
    if !rules.has(Fork::London) {
        return None;
    }
    let Some(base_fee) = parent.base_fee_per_gas else {
        return Some(INITIAL_BASE_FEE);
    };

    // More than the limit is used only where it does not bound a block.
    let used = parent.gas_used.min(parent.gas_limit);
    // The target, which is half of the limit, must not be zero.
    let limit = parent.gas_limit.max(2);
    Some(BaseFeeParams::ethereum().next_block_base_fee(used, limit, base_fee))
}

/// Returns the excess blob gas of the block after `parent` (EIP-4844, since Osaka with EIP-7918's
/// reserve price), or `None` before Cancun.
pub fn next_excess_blob_gas(parent: &Header, rules: Rules) -> Option<u64> {
    let blobs = rules.blobs.filter(|_| rules.has(Fork::Cancun))?;
    Some(blobs.next_block_excess_blob_gas_osaka(
        parent.excess_blob_gas.unwrap_or(0),
        parent.blob_gas_used.unwrap_or(0),
        parent.base_fee_per_gas.unwrap_or(0),
    ))
}

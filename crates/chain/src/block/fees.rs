//! The base fee and the excess blob gas of the next block.

use alloy_consensus::Header;
use alloy_eips::eip1559::{BaseFeeParams, INITIAL_BASE_FEE};
use tetrad_evm::{Fork, Rules};

/// The highest base fee that a full block raises without exceeding 64 bits: by an eighth.
const MAX_RAISED_BASE_FEE: u64 = u64::MAX / 9 * 8;
/// The most excess blob gas and the most used blob gas that are counted, so that the sum of both, and
/// the latter times a number of blobs, fit into 64 bits.
const MAX_EXCESS_BLOB_GAS: u64 = u64::MAX / 2;
const MAX_BLOB_GAS_USED: u64 = u32::MAX as u64;

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
    if base_fee > MAX_RAISED_BASE_FEE && used > limit / 2 {
        return Some(u64::MAX);
    }
    Some(BaseFeeParams::ethereum().next_block_base_fee(used, limit, base_fee))
}

/// Returns the excess blob gas of the block after `parent` (EIP-4844, since Osaka with EIP-7918's
/// reserve price), or `None` before Cancun.
pub fn next_excess_blob_gas(parent: &Header, rules: Rules) -> Option<u64> {
    let blobs = rules.blobs.filter(|_| rules.has(Fork::Cancun))?;
    Some(blobs.next_block_excess_blob_gas_osaka(
        parent.excess_blob_gas.unwrap_or(0).min(MAX_EXCESS_BLOB_GAS),
        parent.blob_gas_used.unwrap_or(0).min(MAX_BLOB_GAS_USED),
        parent.base_fee_per_gas.unwrap_or(0),
    ))
}

#[cfg(test)]
mod tests {
    use tetrad_evm::Forks;

    use super::*;

    #[test]
    fn fees_of_any_header_stay_within_64_bits() {
        let rules = Forks::all_from_genesis(Fork::Osaka).at(1, 1);
        let numbers = [
            0,
            1,
            30_000_000,
            u64::MAX / 2,
            MAX_RAISED_BASE_FEE,
            u64::MAX - 1,
            u64::MAX,
        ];
        for base_fee in numbers {
            for used in numbers {
                let parent = Header {
                    base_fee_per_gas: Some(base_fee),
                    gas_used: used,
                    gas_limit: 30_000_000,
                    excess_blob_gas: Some(base_fee),
                    blob_gas_used: Some(used),
                    ..Header::default()
                };
                let next = next_base_fee(&parent, rules).unwrap();
                if used < parent.gas_limit / 2 {
                    assert!(next <= base_fee);
                } else {
                    assert!(next >= base_fee);
                }
                assert!(next_excess_blob_gas(&parent, rules).is_some());
            }
        }
    }
}

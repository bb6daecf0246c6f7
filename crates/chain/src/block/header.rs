//! Header rules: everything that geth's consensus engines check except the seal.
//!
//! The same functions compute the fields of this chain's own headers, so that other clients accept
//! its blocks.
//!
//! Seals of proof of work are not checked, and total difficulty is not tracked: a genesis file that
//! merges at a total difficulty is refused.

use alloy_consensus::{EMPTY_OMMER_ROOT_HASH, Header};
use alloy_eips::eip4844::DATA_GAS_PER_BLOB;
use alloy_primitives::{B64, U256};
use tetrad_evm::{ChainParams, DAO_EXTRA_DATA, DaoFork, Fork, Rules};
use tetrad_stdx::calendar::LAST_SECOND;

use super::{
    fees,
    foreign::{InvalidBlock, check, field},
};

/// The least gas limit of a block.
pub const MIN_GAS_LIMIT: u64 = 5_000;
/// The largest gas limit of a block.
pub const MAX_GAS_LIMIT: u64 = i64::MAX as u64;
/// The highest number of a block that a chain may start from: there are numbers for those that follow.
pub const MAX_START_NUMBER: u64 = i64::MAX as u64 / 2;
/// A block's gas limit differs from its parent's by less than this part of it.
const GAS_LIMIT_BOUND: u64 = 1_024;
/// The factor by which the gas limit grew with London (EIP-1559).
const ELASTICITY: u64 = 2;
/// Most bytes of extra data.
const MAX_EXTRA_DATA: usize = 32;
/// Number of blocks from the DAO fork on whose extra data marks their side of it (EIP-779).
const DAO_RANGE: u64 = 10;

/// The minimum difficulty.
const MIN_DIFFICULTY: U256 = U256::from_limbs([131_072, 0, 0, 0]);
/// The bound divisor of the difficulty adjustment.
const DIFFICULTY_BOUND: U256 = U256::from_limbs([2_048, 0, 0, 0]);
/// Blocks between two doublings of the difficulty bomb.
const BOMB_PERIOD: u64 = 100_000;
/// The delays of the difficulty bomb, in blocks, newest first: EIP-5133, EIP-4345, EIP-3554,
/// EIP-2384, EIP-1234 and EIP-649.
const BOMB_DELAYS: [(Fork, u64); 6] = [
    (Fork::GrayGlacier, 11_400_000),
    (Fork::ArrowGlacier, 10_700_000),
    (Fork::London, 9_700_000),
    (Fork::MuirGlacier, 9_000_000),
    (Fork::Constantinople, 5_000_000),
    (Fork::Byzantium, 3_000_000),
];

/// Checks a header against its parent. The caller has compared the parent hash.
pub(crate) fn verify(
    params: &ChainParams,
    parent: &Header,
    header: &Header,
) -> Result<(), InvalidBlock> {
    let rules = params.forks.at(header.number, header.timestamp);

    field("number", parent.number.saturating_add(1), header.number)?;
    check(
        "timestamp",
        header.timestamp > parent.timestamp,
        header.timestamp,
        || format!("more than {}", parent.timestamp),
    )?;
    check(
        "timestamp",
        header.timestamp <= LAST_SECOND,
        header.timestamp,
        || format!("at most {LAST_SECOND}"),
    )?;
    check(
        "extraData",
        header.extra_data.len() <= MAX_EXTRA_DATA,
        &header.extra_data,
        || format!("at most {MAX_EXTRA_DATA} bytes"),
    )?;

    verify_dao(params, header)?;
    verify_gas(parent, header, rules)?;
    field(
        "baseFeePerGas",
        fees::next_base_fee(parent, rules),
        header.base_fee_per_gas,
    )?;
    field(
        "difficulty",
        next_difficulty(parent, header.timestamp, rules),
        header.difficulty,
    )?;

    if rules.has(Fork::Paris) {
        field("nonce", B64::ZERO, header.nonce)?;
        field("sha3Uncles", EMPTY_OMMER_ROOT_HASH, header.ommers_hash)?;
    }

    verify_optional_fields(header, rules)?;
    verify_blobs(parent, header, rules)
}

/// Checks that a header has exactly the fields that its fork defines.
fn verify_optional_fields(header: &Header, rules: Rules) -> Result<(), InvalidBlock> {
    field(
        "withdrawalsRoot is present",
        rules.has(Fork::Shanghai),
        header.withdrawals_root.is_some(),
    )?;
    field(
        "parentBeaconBlockRoot is present",
        rules.has(Fork::Cancun),
        header.parent_beacon_block_root.is_some(),
    )?;
    field(
        "requestsHash is present",
        rules.has(Fork::Prague),
        header.requests_hash.is_some(),
    )?;

    // These belong to forks that are not supported.
    field(
        "blockAccessListHash is present",
        false,
        header.block_access_list_hash.is_some(),
    )?;
    field("slotNumber is present", false, header.slot_number.is_some())
}

fn verify_gas(parent: &Header, header: &Header, rules: Rules) -> Result<(), InvalidBlock> {
    let limit = header.gas_limit;
    check(
        "gasLimit",
        (MIN_GAS_LIMIT..=MAX_GAS_LIMIT).contains(&limit),
        limit,
        || format!("{MIN_GAS_LIMIT} to {MAX_GAS_LIMIT}"),
    )?;

    let from = gas_limit_before(parent, rules);
    let bound = from / GAS_LIMIT_BOUND;
    check("gasLimit", limit.abs_diff(from) < bound, limit, || {
        format!("{from} ± less than {bound}")
    })?;

    check("gasUsed", header.gas_used <= limit, header.gas_used, || {
        format!("at most the gas limit, {limit}")
    })
}

fn verify_blobs(parent: &Header, header: &Header, rules: Rules) -> Result<(), InvalidBlock> {
    let blobs = rules.blobs.filter(|_| rules.has(Fork::Cancun));
    field(
        "blobGasUsed is present",
        blobs.is_some(),
        header.blob_gas_used.is_some(),
    )?;

    if let (Some(blobs), Some(used)) = (blobs, header.blob_gas_used) {
        let most = blobs.max_blob_gas_per_block();
        check(
            "blobGasUsed",
            used <= most && used % DATA_GAS_PER_BLOB == 0,
            used,
            || format!("a multiple of {DATA_GAS_PER_BLOB} up to {most}"),
        )?;
    }

    field(
        "excessBlobGas",
        fees::next_excess_blob_gas(parent, rules),
        header.excess_blob_gas,
    )
}

/// Returns the extra data that a block must have because of the DAO fork, if any.
pub(crate) fn dao_extra_data(params: &ChainParams, number: u64) -> Option<&'static [u8]> {
    let dao = params.forks.dao()?;
    (dao.support && in_dao_range(&dao, number)).then_some(DAO_EXTRA_DATA)
}

fn in_dao_range(dao: &DaoFork, number: u64) -> bool {
    number
        .checked_sub(dao.block)
        .is_some_and(|since| since < DAO_RANGE)
}

/// Checks the extra data of the first blocks on either side of the DAO fork.
fn verify_dao(params: &ChainParams, header: &Header) -> Result<(), InvalidBlock> {
    let Some(dao) = params
        .forks
        .dao()
        .filter(|dao| in_dao_range(dao, header.number))
    else {
        return Ok(());
    };

    let marked = *header.extra_data == *DAO_EXTRA_DATA;
    let not = if dao.support { "" } else { "anything but " };
    check(
        "extraData",
        marked == dao.support,
        &header.extra_data,
        || {
            format!(
                "{not}`dao-hard-fork` in the {DAO_RANGE} blocks from {} on",
                dao.block
            )
        },
    )
}

/// Returns the parent's gas limit, doubled for the first block of London (EIP-1559).
fn gas_limit_before(parent: &Header, rules: Rules) -> u64 {
    let grows = rules.has(Fork::London) && parent.base_fee_per_gas.is_none();
    parent
        .gas_limit
        .saturating_mul(if grows { ELASTICITY } else { 1 })
}

/// Returns the gas limit of the block after `parent` that is closest to `wanted`.
pub(crate) fn next_gas_limit(parent: &Header, wanted: u64, rules: Rules) -> u64 {
    let from = gas_limit_before(parent, rules);
    let step = (from / GAS_LIMIT_BOUND).saturating_sub(1);
    wanted
        .clamp(MIN_GAS_LIMIT, MAX_GAS_LIMIT)
        .clamp(from.saturating_sub(step), from.saturating_add(step))
}

/// Returns the difficulty of a block after `parent` (EIP-2, EIP-100 and every delay of the bomb);
/// zero since the merge.
pub(crate) fn next_difficulty(parent: &Header, timestamp: u64, rules: Rules) -> U256 {
    if rules.has(Fork::Paris) {
        return U256::ZERO;
    }

    let seconds = timestamp.saturating_sub(parent.timestamp);
    let steps = difficulty_steps(parent, seconds, rules);
    let step = parent.difficulty / DIFFICULTY_BOUND * U256::from(steps.unsigned_abs());
    let moved = if steps < 0 {
        parent.difficulty.saturating_sub(step)
    } else {
        parent.difficulty.saturating_add(step)
    };

    // As if the delaying blocks had not been mined (EIP-649).
    let period = (parent.number + 1).saturating_sub(bomb_delay(rules)) / BOMB_PERIOD;

    // The bomb is 2^(period - 2), rounded down to nothing in the first two periods.
    let bomb = if period > 1 {
        U256::ONE.checked_shl(usize::try_from(period - 2).unwrap_or(usize::MAX))
    } else {
        None
    };

    moved
        .max(MIN_DIFFICULTY)
        .saturating_add(bomb.unwrap_or_default())
}

/// Returns the number of steps by which the difficulty of a block differs from that of its parent,
/// which is this number of seconds older.
fn difficulty_steps(parent: &Header, seconds: u64, rules: Rules) -> i64 {
    let steps = if rules.has(Fork::Byzantium) {
        // Blocks with uncles raise the difficulty (EIP-100).
        let base = if parent.ommers_hash == EMPTY_OMMER_ROOT_HASH {
            1
        } else {
            2
        };
        base - (seconds / 9).min(101) as i64
    } else if rules.has(Fork::Homestead) {
        1 - (seconds / 10).min(100) as i64
    } else if seconds < 13 {
        1
    } else {
        -1
    };
    steps.max(-99)
}

/// Returns the number of blocks by which the forks so far delay the difficulty bomb.
fn bomb_delay(rules: Rules) -> u64 {
    BOMB_DELAYS
        .into_iter()
        .find(|(fork, _)| rules.has(*fork))
        .map_or(0, |(_, delay)| delay)
}

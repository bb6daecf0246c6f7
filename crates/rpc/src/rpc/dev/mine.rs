//! Mining: when blocks are sealed, and their fields.
//!
//! `evm_setIntervalMining` means milliseconds in hardhat and seconds in anvil. Here numbers below
//! 1,000 are seconds and others milliseconds, since hundreds of blocks a second are as unlikely to
//! be wanted as one block in a quarter of an hour. `anvil_setIntervalMining` always takes seconds.

use std::{sync::Arc, time::Duration};

use alloy_primitives::{Address, B256};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{Change, ChangeError, MAX_MINED_BLOCKS, Mining, Pace, Setting};
use tetrad_evm::Fork;

use super::number::{AnyNumber, MAX_INTERVAL, Seconds, SmallNumber};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    eth::RpcBlock,
    params::{self, Param, ParamRules},
    schema,
};

pub(super) fn methods(table: &mut Table) {
    table.change("evm_mine", mine_one, OnFork::Node).describe(
        ["options"],
        "Seals a block, even an empty one; takes a timestamp, or an object with `timestamp` \
         and `blocks`.",
    );

    table
        .change("evm_mine_detailed", mine_detailed, OnFork::Node)
        .aliases(&["anvil_mine_detailed"])
        .describe(
            ["options"],
            "Seals blocks like `evm_mine`, and returns them.",
        );

    table
        .change("anvil_mine", mine, OnFork::Node)
        .aliases(&["hardhat_mine"])
        .describe(
            ["blocks", "seconds between them"],
            "Seals a number of blocks, advancing the chain's time by an interval before each. \
             Without the second parameter a block is at least a second later than its parent, and \
             time goes on from the newest. Many blocks are sealed in pieces, between which other \
             requests are served.",
        );

    table
        .change("anvil_setAutomine", set_automine, OnFork::Node)
        .aliases(&["evm_setAutomine"])
        .describe(
            ["on"],
            "Seals a block as soon as there is a transaction, or only on demand.",
        );

    table
        .read("anvil_getAutomine", automine, OnFork::Node)
        .aliases(&["hardhat_getAutomine"])
        .describe(
            [],
            "Whether a block is sealed as soon as there is a transaction.",
        );

    table
        .change("anvil_setIntervalMining", set_interval_mining, OnFork::Node)
        .describe(
            ["seconds"],
            "Seals blocks at an interval in seconds, which may be a fraction; with 0 only on demand.",
        );

    table
        .change(
            "evm_setIntervalMining",
            set_any_interval_mining,
            OnFork::Node,
        )
        .describe(
            ["interval"],
            "Seals blocks at an interval: below 1,000 in seconds, as in anvil, otherwise in \
             milliseconds, as in hardhat; with 0 no longer at an interval.",
        );

    table
        .read("anvil_getIntervalMining", interval_mining, OnFork::Node)
        .describe(
            [],
            "The interval between blocks in seconds, if there is one.",
        );

    table
        .change("anvil_setCoinbase", set_coinbase, OnFork::Node)
        .aliases(&["hardhat_setCoinbase"])
        .describe(["address"], "Sets the recipient of the tips of new blocks.");

    table
        .change("anvil_setBlockGasLimit", set_block_gas_limit, OnFork::Node)
        .aliases(&["evm_setBlockGasLimit"])
        .describe(
            ["gas"],
            "Sets the gas limit of new blocks, from the next one on. On a chain from a genesis \
             file that may be further than one block can go by Ethereum's rules: other clients do \
             not take the block then.",
        );

    table
        .change(
            "anvil_setNextBlockBaseFeePerGas",
            set_next_block_base_fee,
            OnFork::Node,
        )
        .aliases(&["hardhat_setNextBlockBaseFeePerGas"])
        .describe(["wei"], "Sets the base fee of the next block.");

    table
        .change("anvil_setMinGasPrice", set_min_gas_price, OnFork::Node)
        .aliases(&["hardhat_setMinGasPrice"])
        .describe(
            ["wei"],
            "Sets the minimum gas price; only for chains before EIP-1559.",
        );

    table
        .change("hardhat_setPrevRandao", set_prev_randao, OnFork::Node)
        .describe(["randomness"], "Sets `PREVRANDAO` of the next block.");
}

/// By default a block is at least a second later than its parent.
const SECONDS_APART: u64 = 1;

/// The parameter of `evm_mine`: nothing, a timestamp, or an object with a timestamp and the number
/// of blocks.
#[derive(Clone, Copy, Debug)]
struct MineOptions {
    timestamp: Option<u64>,
    blocks: u64,
}

/// The parameter as an object.
#[derive(Deserialize)]
struct MineObject<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    blocks: Option<&'a RawValue>,
}

impl Param for MineOptions {
    const DEFAULT: Option<fn() -> Self> = Some(|| Self {
        timestamp: None,
        blocks: 1,
    });

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        if !json.starts_with('{') {
            return SmallNumber::read(json, rules).map(|SmallNumber(at)| Self {
                timestamp: Some(at),
                blocks: 1,
            });
        }

        let object: MineObject<'_> = serde_json::from_str(json).map_err(|_| {
            format!(
                "expected an object with timestamp and blocks, got {}",
                params::kind(json)
            )
        })?;

        Ok(Self {
            timestamp: read_number("timestamp", object.timestamp, rules)?,
            blocks: read_number("blocks", object.blocks, rules)?.unwrap_or(1),
        })
    }

    fn schema() -> Value {
        let object = schema::options([
            ("timestamp", SmallNumber::schema()),
            ("blocks", SmallNumber::schema()),
        ]);
        json!({"anyOf": [SmallNumber::schema(), object]})
    }
}

/// Reads a member of an object, if it is there.
fn read_number(
    name: &str,
    raw: Option<&RawValue>,
    rules: ParamRules,
) -> Result<Option<u64>, String> {
    let Some(raw) = raw else { return Ok(None) };
    match SmallNumber::read(raw.get(), rules) {
        Ok(SmallNumber(number)) => Ok(Some(number)),
        Err(what) => Err(format!("{name}: {what}")),
    }
}

fn check_count(blocks: u64) -> Result<u64, RpcError> {
    match blocks {
        0..=MAX_MINED_BLOCKS => Ok(blocks),
        _ => Err(RpcError::invalid_params(format!(
            "params[0]: at most {MAX_MINED_BLOCKS} blocks at once, got {blocks}"
        ))),
    }
}

/// Seals blocks, even empty ones.
async fn mine_one(
    context: Arc<Context>,
    (options,): (MineOptions,),
) -> Result<&'static str, RpcError> {
    let blocks = check_count(options.blocks)?;
    let pace = Pace {
        first: options.timestamp,
        interval: None,
        at_least: SECONDS_APART,
    };
    // The result that anvil returns.
    mine_at(&context, blocks, pace).await.map(|()| "0x0")
}

/// Seals blocks like `evm_mine`, and returns them.
async fn mine_detailed(
    context: Arc<Context>,
    options: (MineOptions,),
) -> Result<Vec<RpcBlock>, RpcError> {
    let before = context.chain.head().number();
    mine_one(context.clone(), options).await?;

    let head = context.chain.head();
    let blocks = head.blocks_from(before + 1).cloned();
    Ok(blocks
        .map(|block| RpcBlock {
            block,
            full: true,
            pending: false,
        })
        .collect())
}

/// Seals a number of blocks, advancing the chain's time by an interval before each.
async fn mine(
    context: Arc<Context>,
    (blocks, interval): (Option<SmallNumber>, Option<SmallNumber>),
) -> Result<(), RpcError> {
    let blocks = check_count(blocks.map_or(1, |blocks| blocks.0))?;
    let interval = interval.map(|interval| interval.0);

    let pace = Pace {
        first: None,
        interval,
        // Only an interval of 0 permits blocks with the time of their parent.
        at_least: interval.unwrap_or(SECONDS_APART).min(SECONDS_APART),
    };
    mine_at(&context, blocks, pace).await
}

async fn mine_at(context: &Context, blocks: u64, pace: Pace) -> Result<(), RpcError> {
    context
        .chain
        .mine(blocks, pace)
        .await
        .map_err(|error| match error {
            ChangeError::Timestamp(parent) => {
                timestamp_error(pace.first.unwrap_or_default(), parent)
            }
            error => error.into(),
        })
}

/// Makes a setting.
pub(super) async fn set(context: &Context, setting: Setting) -> Result<(), RpcError> {
    context.chain.change(Change::Set(setting)).await?;
    Ok(())
}

/// Seals a block as soon as there is a transaction, or only on demand.
async fn set_automine(context: Arc<Context>, (on,): (bool,)) -> Result<(), RpcError> {
    let mining = if on { Mining::Instant } else { Mining::Manual };
    set(&context, Setting::Mining(mining)).await
}

fn automine(context: &Context, (): ()) -> Result<bool, RpcError> {
    Ok(context.chain.mining() == Mining::Instant)
}

/// Seals blocks at an interval in seconds; with 0 only on demand.
async fn set_interval_mining(
    context: Arc<Context>,
    (interval,): (Seconds,),
) -> Result<(), RpcError> {
    let mining = if interval.0.is_zero() {
        Mining::Manual
    } else {
        Mining::Interval(interval.0)
    };
    set(&context, Setting::Mining(mining)).await
}

/// Seals blocks at an interval, in seconds if the number is small and in milliseconds otherwise;
/// with 0 no longer at an interval.
async fn set_any_interval_mining(
    context: Arc<Context>,
    (interval,): (SmallNumber,),
) -> Result<bool, RpcError> {
    let mining = match (interval.0, context.chain.mining()) {
        (0, Mining::Interval(_) | Mining::Mixed(_)) => Mining::Manual,
        (0, mining) => mining,
        (seconds @ 1..1_000, _) => Mining::Interval(Duration::from_secs(seconds)),
        (ms, _) => Mining::Interval(Duration::from_millis(ms).min(MAX_INTERVAL)),
    };
    set(&context, Setting::Mining(mining)).await?;
    Ok(true)
}

/// The interval between blocks in seconds, if there is one.
fn interval_mining(context: &Context, (): ()) -> Result<Option<i64>, RpcError> {
    let interval = context.chain.mining().interval();
    Ok(interval.map(|interval| interval.as_secs() as i64))
}

/// Sets the recipient of the tips of new blocks.
async fn set_coinbase(context: Arc<Context>, (address,): (Address,)) -> Result<(), RpcError> {
    set(&context, Setting::Beneficiary(address)).await
}

/// Sets the gas limit of new blocks.
async fn set_block_gas_limit(
    context: Arc<Context>,
    (limit,): (SmallNumber,),
) -> Result<bool, RpcError> {
    if limit.0 == 0 || limit.0 > i64::MAX as u64 {
        return Err(RpcError::invalid_params(
            "params[0]: expected a gas limit from 1 to 9223372036854775807",
        ));
    }

    set(&context, Setting::GasLimit(limit.0)).await?;
    Ok(true)
}

/// Sets the base fee of the next block, in wei per gas.
async fn set_next_block_base_fee(
    context: Arc<Context>,
    (wei,): (SmallNumber,),
) -> Result<(), RpcError> {
    set(&context, Setting::NextBaseFee(wei.0)).await
}

/// Sets the minimum gas price, in wei; only for chains before EIP-1559.
async fn set_min_gas_price(context: Arc<Context>, (wei,): (AnyNumber,)) -> Result<(), RpcError> {
    let has_base_fee = context
        .chain
        .next_environment(&context.chain.head())
        .rules
        .has(Fork::London);
    if has_base_fee {
        return Err(RpcError::invalid_params(
            "anvil_setMinGasPrice is not supported when EIP-1559 is active",
        ));
    }

    let wei = wei.0.saturating_to();
    set(&context, Setting::MinTip(wei)).await
}

/// Sets `PREVRANDAO` of the next block.
async fn set_prev_randao(
    context: Arc<Context>,
    (randomness,): (AnyNumber,),
) -> Result<bool, RpcError> {
    let randomness = B256::from(randomness.0);
    set(&context, Setting::NextRandomness(randomness)).await?;
    Ok(true)
}

/// An error text that clients of anvil match on.
pub(super) fn timestamp_error(timestamp: u64, parent: u64) -> RpcError {
    RpcError::invalid_params(format!(
        "Timestamp error: {timestamp} is lower than previous block's timestamp ({parent})"
    ))
}

//! The chain's time.

use std::sync::Arc;

use tetrad_chain::{Change, ChangeError};

use super::{mine::timestamp_error, number::SmallNumber};
use crate::rpc::{Context, OnFork, RpcError, Table};

pub(super) fn methods(table: &mut Table) {
    table
        .change("anvil_increaseTime", increase_time, OnFork::Node)
        .aliases(&["evm_increaseTime"])
        .describe(
            ["seconds"],
            "Advances the chain's time; the result is the number of seconds that it is now ahead \
             of the clock.",
        );

    table
        .change(
            "anvil_setNextBlockTimestamp",
            set_next_block_timestamp,
            OnFork::Node,
        )
        .aliases(&["evm_setNextBlockTimestamp"])
        .describe(["time"], "Sets the timestamp of the next block.");

    table
        .change("anvil_setTime", set_time, OnFork::Node)
        .aliases(&["evm_setTime"])
        .describe(
            ["time"],
            "Sets the chain's time, in seconds since the Unix epoch, from the newest block's time (in \
             the place of anvil also before it) to the end of the year 9999; the result is the number of \
             seconds that it moved.",
        );

    table
        .change(
            "anvil_setBlockTimestampInterval",
            set_block_timestamp_interval,
            OnFork::Node,
        )
        .describe(
            ["seconds"],
            "Sets the interval between the timestamps of blocks.",
        );

    table
        .change(
            "anvil_removeBlockTimestampInterval",
            remove_block_timestamp_interval,
            OnFork::Node,
        )
        .describe(
            [],
            "Removes the timestamp interval; the result is whether there was one.",
        );
}

/// Advances the chain's time; the result is the number of seconds that it is now ahead of the
/// clock.
async fn increase_time(context: Arc<Context>, (seconds,): (SmallNumber,)) -> Result<i64, RpcError> {
    // More is refused as too late in any case.
    let seconds = i64::try_from(seconds.0).unwrap_or(i64::MAX);
    Ok(context.chain.increase_time(seconds).await?)
}

/// Sets the timestamp of the next block, in seconds since the Unix epoch.
async fn set_next_block_timestamp(
    context: Arc<Context>,
    (at,): (SmallNumber,),
) -> Result<(), RpcError> {
    let set = context.chain.change(Change::SetNextTimestamp(at.0)).await;
    set.map(drop).map_err(|error| refusal(error, at.0))
}

/// Sets the chain's time, in seconds since the Unix epoch; the result is the number of seconds that
/// it moved.
async fn set_time(context: Arc<Context>, (at,): (SmallNumber,)) -> Result<i64, RpcError> {
    context
        .chain
        .set_time(at.0)
        .await
        .map_err(|error| refusal(error, at.0))
}

/// The refusal of a time that was set by hand.
fn refusal(error: ChangeError, at: u64) -> RpcError {
    match error {
        ChangeError::Timestamp(parent) => timestamp_error(at, parent),
        error => error.into(),
    }
}

/// Sets the interval between the timestamps of blocks.
async fn set_block_timestamp_interval(
    context: Arc<Context>,
    (seconds,): (SmallNumber,),
) -> Result<(), RpcError> {
    match context.chain.set_block_interval(Some(seconds.0)).await {
        Err(ChangeError::Timestamp(_)) => Err(RpcError::invalid_params(
            "params[0]: expected at least 1: each block of this chain is later than its parent",
        )),
        set => {
            set?;
            Ok(())
        }
    }
}

/// Removes the timestamp interval; the result is whether there was one.
async fn remove_block_timestamp_interval(context: Arc<Context>, (): ()) -> Result<bool, RpcError> {
    Ok(context.chain.set_block_interval(None).await?)
}

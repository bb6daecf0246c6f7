//! The chain's time.

use std::sync::Arc;

use super::{mine::timestamp_error, number::SmallNumber};
use crate::{
    chain::{Change, ChangeError},
    rpc::{Context, OnFork, RpcError, Table},
};

pub(super) fn methods(table: &mut Table) {
    table.wait("anvil_increaseTime", increase_time, OnFork::Node).aliases(&["evm_increaseTime"]).describe(
        ["seconds"],
        "Advances the chain's time; the result is the number of seconds that it is now ahead of the clock.",
    );
    table
        .wait("anvil_setNextBlockTimestamp", set_next_block_timestamp, OnFork::Node)
        .aliases(&["evm_setNextBlockTimestamp"])
        .describe(["time"], "Sets the timestamp of the next block.");
    table.wait("anvil_setTime", set_time, OnFork::Node).aliases(&["evm_setTime"]).describe(
        ["time"],
        "Sets the chain's time, in seconds since the Unix epoch; the result is the number of seconds that it moved.",
    );
    table
        .wait("anvil_setBlockTimestampInterval", set_block_timestamp_interval, OnFork::Node)
        .describe(["seconds"], "Sets the interval between the timestamps of blocks.");
    table
        .wait("anvil_removeBlockTimestampInterval", remove_block_timestamp_interval, OnFork::Node)
        .describe([], "Removes the timestamp interval; the result is whether there was one.");
}

/// Checks that a time or an interval fits into a header: 63 bits of seconds.
fn check(seconds: u64) -> Result<u64, RpcError> {
    match i64::try_from(seconds) {
        Ok(_) => Ok(seconds),
        Err(_) => Err(RpcError::invalid_params("params[0]: expected a number of seconds of at most 63 bits")),
    }
}

/// Advances the chain's time; the result is the number of seconds that it is now ahead of the clock.
async fn increase_time(context: Arc<Context>, (seconds,): (SmallNumber,)) -> Result<i64, RpcError> {
    let seconds = check(seconds.0)? as i64;
    Ok(context.chain.increase_time(seconds).await?)
}

/// Sets the timestamp of the next block, in seconds since the Unix epoch.
async fn set_next_block_timestamp(context: Arc<Context>, (at,): (SmallNumber,)) -> Result<(), RpcError> {
    let at = check(at.0)?;
    match context.chain.change(Change::SetNextTimestamp(at)).await {
        Err(ChangeError::Timestamp(parent)) => Err(timestamp_error(at, parent)),
        set => Ok(set.map(drop)?),
    }
}

/// Sets the chain's time, in seconds since the Unix epoch; the result is the number of seconds that it moved.
async fn set_time(context: Arc<Context>, (at,): (SmallNumber,)) -> Result<i64, RpcError> {
    let at = check(at.0)?;
    Ok(context.chain.set_time(at).await?)
}

/// Sets the interval between the timestamps of blocks.
async fn set_block_timestamp_interval(context: Arc<Context>, (seconds,): (SmallNumber,)) -> Result<(), RpcError> {
    let seconds = check(seconds.0)?;
    Ok(context.chain.set_block_interval(Some(seconds)).await.map(drop)?)
}

/// Removes the timestamp interval; the result is whether there was one.
async fn remove_block_timestamp_interval(context: Arc<Context>, (): ()) -> Result<bool, RpcError> {
    Ok(context.chain.set_block_interval(None).await?)
}

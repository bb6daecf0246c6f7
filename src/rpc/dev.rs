//! Development methods: time, mining and snapshots. They exist in the development profile only.

use std::sync::Arc;

use super::{
    Context, RpcError, Table,
    hex::Quantity,
    params::{LooseNumber, Param},
};
use crate::chain::Mining;

pub(super) fn methods(table: &mut Table) {
    table.wait("evm_mine", mine);
    table.wait("evm_snapshot", snapshot);
    table.wait("evm_revert", revert);
    table.wait("evm_setAutomine", set_automine);
    table.wait("evm_increaseTime", increase_time);
    table.wait("evm_setNextBlockTimestamp", set_next_block_timestamp);
}

/// What `evm_mine` takes: nothing, a timestamp, or an object with one and the number of blocks.
#[derive(Clone, Copy, Debug, Default)]
struct MineOptions {
    timestamp: Option<u64>,
    blocks: u64,
}

impl Param for MineOptions {
    const DEFAULT: Option<fn() -> Self> = Some(|| Self { timestamp: None, blocks: 1 });

    fn read(json: &str) -> Result<Self, String> {
        #[derive(serde::Deserialize)]
        struct Object<'a> {
            #[serde(borrow)]
            timestamp: Option<&'a serde_json::value::RawValue>,
            blocks: Option<&'a serde_json::value::RawValue>,
        }
        if !json.starts_with('{') {
            return LooseNumber::read(json).map(|LooseNumber(at)| Self { timestamp: Some(at), blocks: 1 });
        }
        let object: Object<'_> = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let number =
            |raw: Option<&serde_json::value::RawValue>| raw.map(|raw| LooseNumber::read(raw.get())).transpose();
        Ok(Self {
            timestamp: number(object.timestamp)?.map(|number| number.0),
            blocks: number(object.blocks)?.map_or(1, |number| number.0),
        })
    }
}

/// Blocks that one call may mine.
const MAX_BLOCKS: u64 = 100_000;

/// Seals a block, even an empty one. Its time is at least a second after its parent's.
async fn mine(context: Arc<Context>, (options,): (MineOptions,)) -> Result<&'static str, RpcError> {
    if options.blocks > MAX_BLOCKS {
        return Err(RpcError::invalid_params(format!("params[0].blocks: at most {MAX_BLOCKS}")));
    }
    let mined = context.chain.change(move |executor| {
        if let Some(timestamp) = options.timestamp {
            executor.set_next_timestamp(timestamp).map_err(|parent| timestamp_error(timestamp, parent))?;
        }
        (0..options.blocks).try_for_each(|_| executor.seal_block(1).map(|_| ()).map_err(RpcError::from))
    });
    mined.await??;
    Ok("0x0")
}

/// Remembers the chain as it is. The result is what `evm_revert` takes.
async fn snapshot(context: Arc<Context>, (): ()) -> Result<Quantity<u64>, RpcError> {
    Ok(Quantity(context.chain.change(|executor| executor.snapshot()).await?))
}

/// Goes back to a snapshot, which is used up with all later ones: state, blocks, pool and time.
async fn revert(context: Arc<Context>, (id,): (LooseNumber,)) -> Result<bool, RpcError> {
    Ok(context.chain.change(move |executor| executor.revert(id.0)).await??)
}

/// Seals blocks as soon as there is something to include, or only on demand.
async fn set_automine(context: Arc<Context>, (on,): (bool,)) -> Result<bool, RpcError> {
    let mining = if on { Mining::Instant } else { Mining::Manual };
    context.chain.change(move |executor| executor.set_mining(mining)).await?;
    Ok(true)
}

/// Moves the chain's time by so many seconds; the result is by how many it is now ahead of the clock.
async fn increase_time(context: Arc<Context>, (seconds,): (LooseNumber,)) -> Result<i64, RpcError> {
    let seconds = i64::try_from(seconds.0).map_err(|_| RpcError::invalid_params("params[0]: too large"))?;
    Ok(context.chain.change(move |executor| executor.increase_time(seconds)).await?)
}

/// Puts a time, in seconds since the Unix epoch, on the next block.
async fn set_next_block_timestamp(context: Arc<Context>, (at,): (LooseNumber,)) -> Result<(), RpcError> {
    let set = context.chain.change(move |executor| executor.set_next_timestamp(at.0)).await?;
    set.map_err(|parent| timestamp_error(at.0, parent))
}

fn timestamp_error(timestamp: u64, parent: u64) -> RpcError {
    RpcError::invalid_params(format!("params[0]: timestamp {timestamp} is lower than the newest block's, {parent}"))
}

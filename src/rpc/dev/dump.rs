//! Taking the whole chain along, in anvil's format and with all that it has no place for.

use std::{
    io::{Read, Write},
    sync::Arc,
};

use alloy_primitives::Bytes;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};

use crate::{
    chain::Dump,
    rpc::{Context, RpcError, Table},
};

/// Bytes that a dump may have when it is unpacked.
const MAX_UNPACKED: u64 = 1 << 30;

pub(super) fn methods(table: &mut Table) {
    for name in ["anvil_dumpState", "hardhat_dumpState"] {
        table.wait(name, dump_state);
    }
    for name in ["anvil_loadState", "hardhat_loadState"] {
        table.wait(name, load_state);
    }
}

/// The whole chain: compressed JSON. Whether past states are wanted does not matter, they are in it.
async fn dump_state(context: Arc<Context>, _: (bool,)) -> Result<Bytes, RpcError> {
    let dump = context.chain.change(|executor| executor.dump()).await?;
    let pack = move || {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        let written = serde_json::to_vec(&dump).map_err(|error| RpcError::internal(error.to_string()))?;
        let done = packed.write_all(&written).and_then(|()| packed.finish());
        done.map(Bytes::from).map_err(|error| RpcError::internal(error.to_string()))
    };
    context.execution.apart_for_caller(pack).await
}

/// Goes on from a dump of this node, of another one, or of anvil; compressed, or JSON as it is.
async fn load_state(context: Arc<Context>, (packed,): (Bytes,)) -> Result<bool, RpcError> {
    let unpack = move || {
        let mut unpacked = Vec::new();
        if packed.starts_with(&[0x1f, 0x8b]) {
            let read = GzDecoder::new(packed.as_ref()).take(MAX_UNPACKED + 1).read_to_end(&mut unpacked);
            read.map_err(|error| RpcError::invalid_params(format!("params[0]: cannot be unpacked: {error}")))?;
        } else {
            unpacked.extend_from_slice(&packed);
        }
        if unpacked.len() as u64 > MAX_UNPACKED {
            return Err(RpcError::invalid_params(format!("params[0]: more than {MAX_UNPACKED} bytes unpacked")));
        }
        serde_json::from_slice::<Dump>(&unpacked)
            .map_err(|error| RpcError::invalid_params(format!("params[0]: not a dump: {error}")))
    };
    let dump = context.execution.apart_for_caller(unpack).await?;
    let loaded = context.chain.change(move |executor| executor.load(dump)).await?;
    loaded.map_err(|error| RpcError::invalid_params(format!("params[0]: {error}")))?;
    Ok(true)
}

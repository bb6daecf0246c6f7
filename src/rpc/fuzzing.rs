//! What fuzzers throw bytes at: the readers that stand between clients and everything else.

use alloy_primitives::{Address, B256, Bytes, U256};
use serde_json::value::RawValue;

use super::{
    envelope::{self, Body},
    error::Dialect,
    eth::{BlockOverrides, LogFilter, TransactionRequest},
    params::{LooseNumber, Param, Params, SlotIndex, StateBlock},
    tracing::TraceOptions,
};
use crate::{chain::BlockId, evm::StateOverrides};

/// Reads a body as a request or a batch of them; returns how many requests there are.
pub fn envelope(body: &[u8]) -> usize {
    match envelope::read_body(body) {
        Err(_) | Ok(Body::Single(Err(_))) => 0,
        Ok(Body::Single(Ok(request))) => {
            for dialect in [Dialect::Network, Dialect::Ethereum] {
                let _ = <(Option<U256>, Option<Address>, Option<String>)>::read(request.params, dialect);
            }
            1
        }
        Ok(Body::Batch(items)) => items.into_iter().filter_map(|item| item.request().ok()).count(),
    }
}

/// Reads JSON as a parameter of every type; returns how many types took it.
pub fn parameters(json: &[u8]) -> usize {
    // Parameters are read after the body has been found to be JSON.
    let Ok(json) = serde_json::from_slice::<&RawValue>(json) else { return 0 };
    let json = json.get();
    fn taken<P: Param>(json: &str) -> bool {
        P::read(json).is_ok()
    }
    let readers: [fn(&str) -> bool; 21] = [
        taken::<Address>,
        taken::<B256>,
        taken::<Bytes>,
        taken::<U256>,
        taken::<u64>,
        taken::<u128>,
        taken::<bool>,
        taken::<String>,
        taken::<LooseNumber>,
        taken::<SlotIndex>,
        taken::<StateBlock>,
        taken::<BlockId>,
        taken::<Option<B256>>,
        taken::<Vec<Bytes>>,
        taken::<TransactionRequest>,
        taken::<StateOverrides>,
        taken::<BlockOverrides>,
        taken::<LogFilter>,
        taken::<TraceOptions>,
        super::eth::simulation_is_readable,
        super::eth::typed_data_is_readable,
    ];
    readers.iter().filter(|reader| reader(json)).count()
}

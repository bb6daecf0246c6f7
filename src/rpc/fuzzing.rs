//! Entry points for fuzzers: the readers of client input.

use std::sync::LazyLock;

use alloy_primitives::{Address, U256};
use serde_json::value::RawValue;

use super::{
    Rpc,
    envelope::{self, Batch, Body},
    error::Dialect,
    eth::typed_data_is_readable,
    params::{ParamReader, ParamRules, Params},
};

/// Reads a body as a request or a batch, in both dialects; returns the number of requests in the network's.
pub fn envelope(body: &[u8]) -> usize {
    let [count, _] = [Dialect::Network, Dialect::Ethereum].map(|dialect| requests(body, dialect));
    count
}

/// The number of valid requests in a body.
fn requests(body: &[u8], dialect: Dialect) -> usize {
    match envelope::read_body(body, usize::MAX, dialect) {
        Err(_) | Ok(Body::Single(Err(_))) => 0,
        Ok(Body::Single(Ok(request))) => {
            let rules = ParamRules::new(dialect, false);
            let _ = <(Option<U256>, Option<Address>, Option<String>)>::read(request.params, rules);
            1
        }
        Ok(Body::Batch(Batch::TooLong)) => 0,
        Ok(Body::Batch(Batch::Items(items))) => items.into_iter().filter_map(|item| item.request(dialect).ok()).count(),
    }
}

/// Reads JSON as a parameter of every type that a method takes; returns the number of types that accept it.
pub fn parameters(json: &[u8]) -> usize {
    // Parameters are read only after the body has been parsed as JSON.
    let Ok(json) = serde_json::from_slice::<&RawValue>(json) else { return 0 };
    static READERS: LazyLock<Vec<ParamReader>> = LazyLock::new(|| Rpc::methods(true).readers());
    let readers: &[ParamReader] = &READERS;
    let signed = typed_data_is_readable(json.get());
    readers.iter().filter(|reader| (reader.reads)(json.get())).count() + usize::from(signed)
}

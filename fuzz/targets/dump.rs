//! Arbitrary dumps are loaded into a chain, which then continues, or are rejected.
#![no_main]

#[allow(dead_code, reason = "other targets use the rest")]
mod support;

use std::sync::LazyLock;

use tetrad_chain::Chain;
use tetrad_rpc::rpc::fuzzing;
use tokio::runtime::Runtime;

static CHAIN: LazyLock<(Runtime, Chain)> = LazyLock::new(|| {
    let runtime = support::runtime();
    let chain = support::chain(&runtime);
    (runtime, chain)
});

libfuzzer_sys::fuzz_target!(|packed: &[u8]| {
    let (runtime, chain) = &*CHAIN;
    runtime.block_on(fuzzing::dump(chain, packed));
});

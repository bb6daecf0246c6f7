//! Arbitrary bodies and queries are answered within their limits by a small chain, or are rejected.
#![no_main]

#[allow(dead_code, reason = "other targets use the rest")]
mod support;

use std::sync::LazyLock;

use tetrad_rpc::rpc::GraphQueries;
use tokio::runtime::Runtime;

static QUERIES: LazyLock<(Runtime, GraphQueries)> = LazyLock::new(|| {
    let runtime = support::runtime();
    let queries = support::graphql(&runtime);
    (runtime, queries)
});

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let (runtime, queries) = &*QUERIES;
    let _entered = runtime.enter();
    queries.run(body);
});

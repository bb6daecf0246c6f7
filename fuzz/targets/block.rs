//! Arbitrary bytes are a valid next block, or are rejected without a panic.
#![no_main]

#[allow(dead_code, reason = "other targets use the rest")]
mod support;

use std::sync::LazyLock;

use alloy_rlp::Decodable;
use tetrad_chain::{ForeignBlock, Head, apply};

static GENESIS: LazyLock<Head> = LazyLock::new(support::genesis);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(block) = ForeignBlock::decode(&mut &bytes[..]) {
        let _ = apply(&GENESIS, block);
    }
});

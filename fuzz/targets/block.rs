//! Arbitrary bytes are a valid next block, or are rejected without a panic.
#![no_main]

use std::sync::{Arc, OnceLock};

use alloy_rlp::Decodable;
use tetrad::internals::{
    chain::{ForeignBlock, Genesis, Head, apply},
    evm::{ChainParams, Fork, Forks},
};

fn genesis() -> &'static Head {
    static HEAD: OnceLock<Head> = OnceLock::new();
    HEAD.get_or_init(|| {
        let params = ChainParams {
            chain_id: 125,
            forks: Forks::all_from_genesis(Fork::LATEST),
            deposit_contract: Default::default(),
            network_precompiles: true,
            standard: false,
            increasing_timestamps: false,
            limits: Default::default(),
            signers: Default::default(),
            cosmos: Default::default(),
        };
        Genesis::empty(0, 30_000_000).build(Arc::new(params)).expect("an empty genesis")
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(block) = ForeignBlock::decode(&mut &bytes[..]) {
        let _ = apply(genesis(), block);
    }
});

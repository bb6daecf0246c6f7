//! Arbitrary bodies parse as requests, or are rejected without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    tetrad_rpc::rpc::fuzzing::envelope(body);
});

//! Arbitrary bytes decode as a transaction, or are rejected without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = tetrad_primitives::block::Submission::decode(bytes);
});

//! Arbitrary records are a checkpoint with one state, or are rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad::internals::store::fuzzing::checkpoint(bytes);
});

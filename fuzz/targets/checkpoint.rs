//! Arbitrary records are a checkpoint with one state, or are rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_store::store::fuzzing::checkpoint(bytes);
});

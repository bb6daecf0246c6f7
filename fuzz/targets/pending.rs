//! Arbitrary bytes are a pending transaction with one encoding, or are rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_store::store::fuzzing::pending(bytes);
});

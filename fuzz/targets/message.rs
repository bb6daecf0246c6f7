//! Arbitrary bytes decode as a message between nodes with one encoding, or are rejected without a
//! panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_cluster::fuzzing::message(bytes);
});

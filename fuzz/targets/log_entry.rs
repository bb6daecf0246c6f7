//! Arbitrary bytes are an entry of the log with one encoding, or are rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_store::log::fuzzing::entry(bytes);
});

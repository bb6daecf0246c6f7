//! Arbitrary bodies are forms and JSON with sources, or are rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad::internals::explorer::fuzzing::upload(bytes);
});

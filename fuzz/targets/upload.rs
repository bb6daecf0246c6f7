//! Arbitrary bodies are forms and JSON with sources, or are rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_explorer::explorer::fuzzing::upload(bytes);
});

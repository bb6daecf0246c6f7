//! Arbitrary code has metadata or not, and matches itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_contracts::sources::fuzzing::code(bytes);
});

//! Arbitrary JSON is the output of a compiler, whose contracts match themselves.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_contracts::sources::fuzzing::compiler_output(bytes);
});

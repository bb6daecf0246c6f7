//! Transactions that follow from arbitrary bytes, signed in every way, are valid for what was
//! signed and nothing else.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_cosmos::fuzzing::signature(bytes);
});

//! Arbitrary bytes decode as a Cosmos transaction, which fits into a block and can be shown, or are
//! rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_cosmos::fuzzing::transaction(bytes);
});

//! Arbitrary data decodes by arbitrary ABIs to little more than itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_explorer::explorer::fuzzing::abi(bytes);
});

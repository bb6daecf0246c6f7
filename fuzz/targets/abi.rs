//! Arbitrary data decodes by arbitrary ABIs to little more than itself.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad::internals::explorer::fuzzing::abi(bytes);
});

//! Arbitrary JSON is typed data (EIP-712) with one hash, or is rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_rpc::rpc::fuzzing::typed_data(bytes);
});

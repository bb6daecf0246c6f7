//! Arbitrary JSON parses as each parameter type, or is rejected without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|json: &[u8]| {
    tetrad_rpc::rpc::fuzzing::parameters(json);
});

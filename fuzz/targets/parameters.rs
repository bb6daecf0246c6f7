//! Any JSON is a parameter of every type, or is not.
#![no_main]

libfuzzer_sys::fuzz_target!(|json: &[u8]| {
    tetrad::internals::rpc::fuzzing::parameters(json);
});

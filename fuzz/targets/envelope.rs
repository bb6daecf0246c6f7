//! Any body is read as requests, or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    tetrad::internals::rpc::fuzzing::envelope(body);
});

//! Arbitrary text is a query of CometBFT for events, or is rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_cosmos::fuzzing::event_query(bytes);
});

//! Arbitrary bytes and JSON are a protobuf message that can be shown, whatever messages are in it,
//! or are rejected.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_cosmos::fuzzing::message(bytes);
});

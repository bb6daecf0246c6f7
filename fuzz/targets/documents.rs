//! Arbitrary bytes on a socket without HTTP are documents, whatever the pieces that they arrive in.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_web::fuzzing::documents(bytes);
});

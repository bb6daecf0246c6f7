//! Any bytes are a transaction, or are not.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = tetrad::internals::block::Submission::decode(bytes);
});

//! Messages in arbitrary order make those entries whose parts came one after another.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    tetrad_cluster::fuzzing::parts(bytes);
});

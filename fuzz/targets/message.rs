//! Arbitrary bytes decode as a message between nodes, or are rejected without a panic.
#![no_main]

use tetrad::internals::cluster::message::{Request, Response};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(request) = Request::decode(bytes) {
        request.encode().expect("a decoded request has an encoding");
    }
    let _ = Response::decode(bytes);
});

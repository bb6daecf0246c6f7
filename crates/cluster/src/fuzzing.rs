//! The entry point for fuzzers: what other nodes send.

use super::{
    bucket::{Claim, ClusterChain},
    message::{Request, Response},
    state,
};
use crate::jetstream::check_parts;

/// Reads bytes as each message that a node receives. Returns the number of types that accept them.
pub fn message(bytes: &[u8]) -> usize {
    let request = Request::decode(bytes).is_ok_and(|request| {
        let encoded = request.encode().expect("a decoded request has an encoding");
        let again = Request::decode(&encoded).expect("an encoded request can be decoded");
        assert_eq!(format!("{again:?}"), format!("{request:?}"));
        true
    });
    let response = Response::decode(bytes).is_ok_and(|response| {
        // Errors of the system keep their text only.
        let once = response.encode();
        let again = Response::decode(&once).expect("an encoded response can be decoded");
        assert_eq!(again.encode(), once);
        true
    });
    let state = state::read(bytes).is_some_and(|state| {
        let encoded = serde_json::to_vec(&state).expect("a state has JSON");
        // Numbers and escapes may be longer than what was sent.
        assert!(state::read(&encoded).is_some() || encoded.len() > bytes.len());
        true
    });
    let claim = serde_json::from_slice::<Claim>(bytes).is_ok();
    let chain = serde_json::from_slice::<ClusterChain>(bytes).is_ok();
    [request, response, state, claim, chain]
        .into_iter()
        .filter(|accepted| *accepted)
        .count()
}

/// Reads the header of a message of the log, or puts entries together from messages, two bytes for
/// each. Returns the number of entries.
pub fn parts(bytes: &[u8]) -> usize {
    check_parts(bytes)
}

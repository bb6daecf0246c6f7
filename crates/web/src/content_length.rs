//! The length of a body before it is read.

use axum::http::{HeaderMap, header};

/// Returns the length that the headers announce, in bytes.
pub(super) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

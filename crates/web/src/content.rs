//! Content types, encodings and lengths of bodies, as headers announce them.
//!
//! Bodies with a content encoding get 415, since limits apply to the bytes of a body as they are
//! sent.

use axum::{
    extract::Request,
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::Response,
};

use super::RestError;

/// Whether the content type is one that JSON-RPC clients use for JSON. Browsers send a preflight
/// request before a page of another origin can use one of these.
pub fn is_json(headers: &HeaderMap) -> bool {
    const TYPES: [&str; 3] = [
        "application/json",
        "application/json-rpc",
        "application/jsonrequest",
    ];

    media_type(headers)
        .is_some_and(|media_type| TYPES.iter().any(|one| one.eq_ignore_ascii_case(media_type)))
}

/// The content type without its parameters.
fn media_type(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    value.split(';').next().map(str::trim)
}

/// Returns the length of a body in bytes.
pub(super) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

/// Whether a body has a content encoding, which the node does not decode.
pub(crate) fn is_encoded(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether the content type is TOML's. Browsers send a preflight request for it, as for JSON.
fn is_toml(headers: &HeaderMap) -> bool {
    media_type(headers).is_some_and(|media_type| media_type.eq_ignore_ascii_case(TOML_TYPE))
}

/// The media type of TOML.
pub(super) const TOML_TYPE: &str = "application/toml";

/// Lets only requests with a TOML body through, as [`only_json`] does for JSON.
pub(super) async fn only_toml(request: Request, next: Next) -> Result<Response, RestError> {
    if is_encoded(request.headers()) {
        return Err(RestError::UnsupportedMediaType(
            "a body has to come without a content encoding",
        ));
    }
    if !is_toml(request.headers()) {
        return Err(RestError::UnsupportedMediaType(
            "this route takes content type application/toml",
        ));
    }
    Ok(next.run(request).await)
}

/// Lets only requests through for which browsers send a preflight request on behalf of a page of
/// another origin: those with a JSON body, or without a body if the method alone requires it.
pub(super) async fn only_json(request: Request, next: Next) -> Result<Response, RestError> {
    let headers = request.headers();
    if is_encoded(headers) {
        return Err(RestError::UnsupportedMediaType(
            "a body has to come without a content encoding",
        ));
    }

    let bare = request.method() != Method::POST && !headers.contains_key(header::CONTENT_TYPE);
    if !bare && !is_json(headers) {
        return Err(RestError::UnsupportedMediaType(
            "this route takes content type application/json",
        ));
    }
    Ok(next.run(request).await)
}

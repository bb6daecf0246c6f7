//! What a request says that its body is.

use axum::{
    extract::Request,
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::Response,
};

use super::RestError;

/// Whether a body is said to be JSON, by one of the types that clients of JSON-RPC use for it. No page of another origin
/// can send one without its browser asking first.
pub fn is_json(headers: &HeaderMap) -> bool {
    const TYPES: [&str; 3] = ["application/json", "application/json-rpc", "application/jsonrequest"];
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| TYPES.iter().any(|one| one.eq_ignore_ascii_case(essence)))
}

/// Whether a body is said to be compressed. None is decoded here.
pub fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(header::CONTENT_ENCODING).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Lets requests through that may change something: those with a body of JSON, or without any where the method alone
/// makes a browser ask before it sends the request of another origin's page.
pub(super) async fn only_json(request: Request, next: Next) -> Result<Response, RestError> {
    let headers = request.headers();
    if is_encoded(headers) {
        return Err(RestError::UnsupportedMediaType("a body has to come without a content encoding"));
    }
    let bare = request.method() != Method::POST && !headers.contains_key(header::CONTENT_TYPE);
    if !bare && !is_json(headers) {
        return Err(RestError::UnsupportedMediaType("this route takes content type application/json"));
    }
    Ok(next.run(request).await)
}

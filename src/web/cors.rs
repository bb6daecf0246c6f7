//! Pages from anywhere may use every interface: nothing here authenticates by cookie.

use std::time::Duration;

use axum::http::{HeaderName, header};
use tower_http::cors::{Any, CorsLayer, Vary};

/// How long a browser may remember the answer to its preflight request.
const MAX_AGE: Duration = Duration::from_secs(3_600);

/// The layer for all interfaces. It answers `OPTIONS` itself, so preflight requests count against no limit. Pages on
/// public addresses may reach a node on a private one, which is what a development node is.
pub fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(Any)
        .allow_headers(Any)
        .allow_private_network(true)
        .expose_headers(exposed())
        .max_age(MAX_AGE)
        // The answer is the same for every origin.
        .vary(Vary::list([]))
}

/// Headers of answers that pages may read besides the few that they always may.
fn exposed() -> Vec<HeaderName> {
    let limits = ["ratelimit-policy", "ratelimit", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
    limits.map(HeaderName::from_static).into_iter().chain([header::RETRY_AFTER, header::ETAG, header::AGE]).collect()
}

//! The rate limit: requests per minute and client, and the headers that report it.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use parking_lot::Mutex;
use tetrad_stdx::clock::Clock;

use super::{Operation, RateDecision, RestError, SlidingWindow, current_client};

/// The window in which requests are counted.
const WINDOW_MS: u64 = 60_000;
/// Most clients that are tracked.
const MAX_CLIENTS: usize = 16_384;

/// A limit on requests.
pub struct RateLimit {
    limit: u32,
    window: Mutex<SlidingWindow>,
    clock: Arc<dyn Clock>,
}

impl RateLimit {
    /// A limit of `limit` requests per minute for each client.
    pub fn new(limit: u32, clock: Arc<dyn Clock>) -> Self {
        Self {
            limit,
            window: Mutex::new(SlidingWindow::new(limit as usize, WINDOW_MS, MAX_CLIENTS)),
            clock,
        }
    }

    /// Applies the limit to all routes of `router`, including its fallback, and adds status 429 to
    /// their `operations`. 0 means no limit.
    pub fn protect(
        limit: u32,
        clock: Arc<dyn Clock>,
        (router, operations): (Router, Vec<Operation>),
    ) -> (Router, Vec<Operation>) {
        if limit == 0 {
            return (router, operations);
        }
        let router = router.layer(from_fn_with_state(Arc::new(Self::new(limit, clock)), guard));
        (
            router,
            operations
                .into_iter()
                .map(|operation| operation.fails::<RestError>(&[StatusCode::TOO_MANY_REQUESTS]))
                .collect(),
        )
    }

    fn admit(&self) -> (RateDecision, u64) {
        let now = self.clock.now_ms();
        (self.window.lock().admit(current_client().address, now), now)
    }
}

async fn guard(State(limit): State<Arc<RateLimit>>, request: Request, next: Next) -> Response {
    let (admission, now) = limit.admit();
    let mut response = if admission.admitted {
        next.run(request).await
    } else {
        let retry_after = admission.reset_ms.div_ceil(1_000).max(1);
        RestError::TooManyRequests {
            limit: limit.limit,
            retry_after,
        }
        .into_response()
    };

    describe(limit.limit, admission, now, response.headers_mut());
    response
}

/// Adds the customary `x-ratelimit-*` headers and those of draft-ietf-httpapi-ratelimit-headers.
/// All tell when the next request is admitted, in whole seconds, rounded up.
fn describe(limit: u32, admission: RateDecision, now_ms: u64, headers: &mut HeaderMap) {
    let RateDecision {
        remaining,
        reset_ms,
        ..
    } = admission;
    // The draft counts seconds from now; the customary header names a time.
    let seconds = reset_ms.div_ceil(1_000);
    let at = (now_ms + reset_ms).div_ceil(1_000);

    let fields = [
        (
            "ratelimit-policy",
            format!("\"default\";q={limit};w={}", WINDOW_MS / 1_000),
        ),
        (
            "ratelimit",
            format!("\"default\";r={remaining};t={seconds}"),
        ),
        ("x-ratelimit-limit", limit.to_string()),
        ("x-ratelimit-remaining", remaining.to_string()),
        ("x-ratelimit-reset", at.to_string()),
    ];

    for (name, value) in fields {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

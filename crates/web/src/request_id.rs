//! Request ids in the log, in traces and in responses: `x-request-id`.
//!
//! An id from a proxy or a client is adopted. Without one, an id is generated only if slow requests
//! are logged or traces are exported; otherwise it would cost bytes and time on every request for
//! nothing.

use std::{
    convert::Infallible,
    future::Future,
    hash::{BuildHasher, Hasher, RandomState},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use axum::{
    http::{HeaderName, HeaderValue, Request},
    response::Response,
};
use opentelemetry::global;
use opentelemetry_http::HeaderExtractor;
use tracing::{Instrument, Span, field::Empty};
use tracing_opentelemetry::OpenTelemetrySpanExt;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is adopted.
const LONGEST: usize = 128;

/// Finds or generates the ids of requests.
#[derive(Debug)]
pub struct RequestIds {
    made: Option<Made>,
}

/// Generated ids: 16 digits that are fixed for the process, and a number.
#[derive(Debug)]
struct Made {
    process: u64,
    next: AtomicU64,
}

/// A request with its id and span.
pub(super) struct Named {
    id: Option<HeaderValue>,
    span: Span,
}

impl RequestIds {
    /// Adopts the ids of clients; with `always` it generates ids for requests without one.
    pub fn new(always: bool) -> Self {
        Self {
            made: always.then(|| Made {
                process: RandomState::new().build_hasher().finish(),
                next: AtomicU64::new(1),
            }),
        }
    }

    /// The id of a request, and its span if traces are exported.
    pub(super) fn of<B>(&self, request: &Request<B>) -> Named {
        let given = request
            .headers()
            .get(&X_REQUEST_ID)
            .filter(|given| is_name(given.as_bytes()));
        let id = given
            .cloned()
            .or_else(|| self.made.as_ref().and_then(Made::next));

        let span = tracing::trace_span!(
            target: "tetrad::span",
            "http",
            otel.name = request.method().as_str(),
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = request.method().as_str(),
            http.response.status_code = Empty,
            url.path = request.uri().path(),
            request.id = id.as_ref().and_then(|id| id.to_str().ok()),
        );

        if !span.is_disabled() {
            let parent = global::get_text_map_propagator(|known| {
                known.extract(&HeaderExtractor(request.headers()))
            });
            // Fails only if the span is not part of a trace.
            let _ = span.set_parent(parent);
        }

        Named { id, span }
    }
}

impl Made {
    fn next(&self) -> Option<HeaderValue> {
        HeaderValue::from_maybe_shared(format!(
            "{:016x}-{}",
            self.process,
            self.next.fetch_add(1, Relaxed)
        ))
        .ok()
    }
}

impl Named {
    /// Runs `answer` with the id in its log lines, and adds the id to the response.
    pub(super) async fn answer(
        self,
        answer: impl Future<Output = Response>,
    ) -> Result<Response, Infallible> {
        let Self { id, span } = self;
        let mut response = match &id {
            None if span.is_disabled() => return Ok(answer.await),
            None => answer.instrument(span.clone()).await,
            Some(id) => {
                let id = id.to_str().unwrap_or_default();
                // At the highest level, so that no filter hides the id.
                let line = tracing::error_span!(parent: &span, "request", id);
                answer.instrument(line).instrument(span.clone()).await
            }
        };

        let status = response.status();
        span.record("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            span.record("otel.status_code", "ERROR");
        }

        if let Some(id) = id {
            response.headers_mut().insert(X_REQUEST_ID, id);
        }
        Ok(response)
    }
}

/// Whether an id is safe in log lines and headers.
fn is_name(bytes: &[u8]) -> bool {
    let harmless = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@".contains(byte);
    (1..=LONGEST).contains(&bytes.len()) && bytes.iter().all(harmless)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(ids: &RequestIds, given: Option<&[u8]>) -> Option<String> {
        let mut request = Request::new(());
        if let Some(given) = given {
            let value = HeaderValue::from_bytes(given).expect("a header");
            request.headers_mut().insert(X_REQUEST_ID, value);
        }
        ids.of(&request)
            .id
            .map(|id| id.to_str().expect("text").to_owned())
    }

    #[test]
    fn names_are_followed_if_they_are_harmless() {
        let ids = RequestIds::new(false);
        for good in ["1", "7f3c-2", "01J9Z:a/b+c==", "x".repeat(LONGEST).as_str()] {
            assert_eq!(id(&ids, Some(good.as_bytes())).as_deref(), Some(good));
        }

        for bad in [
            &b""[..],
            b"two words",
            b"\xff",
            b"a\"b",
            b"<script>",
            &[b'x'; LONGEST + 1],
        ] {
            assert_eq!(id(&ids, Some(bad)), None);
        }

        assert_eq!(id(&ids, None), None);
    }

    #[test]
    fn names_that_are_made_differ() {
        let ids = RequestIds::new(true);
        let first = id(&ids, None).expect("a name");
        let second = id(&ids, Some(b"two words")).expect("a name");
        assert!(
            first != second && is_name(first.as_bytes()),
            "{first} {second}"
        );

        assert_ne!(
            id(&RequestIds::new(true), None),
            id(&RequestIds::new(true), None)
        );
    }
}

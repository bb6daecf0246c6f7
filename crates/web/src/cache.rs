//! Bodies that are rendered once and sent often, with the headers for HTTP caches (RFC 9110, RFC
//! 9111).

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, UNIX_EPOCH},
};

use alloy_primitives::{hex, keccak256};
use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use headers::{Age, ETag, HeaderMapExt, IfModifiedSince, IfNoneMatch};

use super::{Effort, Prepared, shared};

/// The time for which caches may keep a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    /// For this many seconds without revalidation.
    MaxAge(u64),
    /// Only with a revalidation before each use.
    Revalidate,
}

/// A JSON body that stays valid until something changes.
#[derive(Debug)]
pub struct Rendered {
    first: Variant,
    /// The body of every answer after the first, if it differs.
    again: Option<Variant>,
    served: AtomicBool,
    rendered_ms: u64,
    /// Whether other responses have the same body, which takes no memory for one of them then.
    is_shared: bool,
}

#[derive(Debug)]
struct Variant {
    body: Prepared,
    etag: ETag,
}

impl Variant {
    fn new(body: String) -> Self {
        let etag = entity_tag(body.as_bytes());
        Self {
            body: Prepared::new(body.into(), Effort::Repeated),
            etag,
        }
    }
}

/// The entity tag of a body, derived from its hash.
pub fn entity_tag(body: &[u8]) -> ETag {
    let tag = format!("\"{}\"", hex::encode(&keccak256(body)[..12]));
    tag.parse()
        .expect("hexadecimal digits in quotes are an entity tag")
}

impl Rendered {
    /// A body, rendered at `now_ms` in milliseconds since the Unix epoch.
    pub fn new(body: String, now_ms: u64) -> Self {
        Self {
            first: Variant::new(body),
            again: None,
            served: AtomicBool::new(false),
            rendered_ms: now_ms,
            is_shared: true,
        }
    }

    /// A body that was rendered for one response.
    pub fn for_one(body: String, now_ms: u64) -> Self {
        Self {
            is_shared: false,
            ..Self::new(body, now_ms)
        }
    }

    /// A body that states whether it was sent before: `first` until then, `again` afterwards.
    pub fn with_repeat(first: String, again: String, now_ms: u64) -> Self {
        Self {
            again: Some(Variant::new(again)),
            ..Self::new(first, now_ms)
        }
    }

    /// The answer to a request with these headers: the body, or 304 if the client has it already.
    ///
    /// Both variants say the same, so having either is having it. `Last-Modified` is the second
    /// before the present one at the latest: within a second the body may change again, and a
    /// client that compares dates must not miss that.
    pub fn respond(&self, request: &HeaderMap, policy: CachePolicy, now_ms: u64) -> Response {
        let repeated = self.served.swap(true, Ordering::Relaxed);
        let variant = self
            .again
            .as_ref()
            .filter(|_| repeated)
            .unwrap_or(&self.first);

        let unchanged = self.is_known(request);
        let body = if unchanged {
            Bytes::new()
        } else {
            variant.body.bytes().clone()
        };
        let mut response = if self.is_shared {
            shared(body)
        } else {
            Response::new(Body::from(body))
        };

        let modified = (self.rendered_ms / 1_000).min((now_ms / 1_000).saturating_sub(1));
        let headers = response.headers_mut();
        headers.typed_insert(variant.etag.clone());
        headers.typed_insert(Age::from_secs(
            now_ms.saturating_sub(self.rendered_ms) / 1_000,
        ));

        // Typed headers would take twice as long to format these.
        let cache_control = match policy {
            CachePolicy::MaxAge(seconds) => format!("public, max-age={seconds}"),
            CachePolicy::Revalidate => "no-cache".to_owned(),
        };
        let last_modified = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(modified));
        insert_text(headers, header::CACHE_CONTROL, cache_control);
        insert_text(headers, header::LAST_MODIFIED, last_modified);

        // A 304 carries only what a cache needs to update its copy (RFC 9110, 15.4.5).
        if unchanged {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            headers.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            );
        }

        variant.body.mark(request, &mut response);
        response
    }

    /// Returns true if the client has this body already. `If-None-Match` takes precedence over
    /// `If-Modified-Since` (RFC 9110, 13.2.2).
    fn is_known(&self, request: &HeaderMap) -> bool {
        if let Some(known) = request.typed_get::<IfNoneMatch>() {
            let mut variants = std::iter::once(&self.first).chain(&self.again);
            return variants.any(|variant| !known.precondition_passes(&variant.etag));
        }

        let rendered = UNIX_EPOCH + Duration::from_secs(self.rendered_ms / 1_000);
        request
            .typed_get::<IfModifiedSince>()
            .is_some_and(|since| !since.is_modified(rendered))
    }
}

/// Inserts a header of ASCII text, whose conversion cannot fail.
fn insert_text(headers: &mut HeaderMap, name: HeaderName, text: String) {
    if let Ok(value) = HeaderValue::try_from(text) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).expect("a header"))])
    }

    #[test]
    fn either_variant_is_known_again() {
        let rendered = Rendered::with_repeat("1".to_owned(), "2".to_owned(), 5_000);
        let none = HeaderMap::new();
        let tags = [0; 3].map(|_| {
            rendered
                .respond(&none, CachePolicy::MaxAge(2), 9_000)
                .headers()[header::ETAG]
                .clone()
        });

        assert_ne!(tags[0], tags[1]);
        assert_eq!(tags[1], tags[2]);

        for tag in &tags {
            let tag = tag.to_str().expect("text");
            for value in [tag.to_owned(), format!("\"x\", W/{tag}"), "*".to_owned()] {
                let answer = rendered.respond(
                    &headers(header::IF_NONE_MATCH, &value),
                    CachePolicy::Revalidate,
                    9_000,
                );
                assert_eq!(answer.status(), StatusCode::NOT_MODIFIED, "{value}");
                assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-cache");
                assert_eq!(answer.headers()[header::AGE], "4");
            }
        }

        let answer = rendered.respond(
            &headers(header::IF_NONE_MATCH, "\"x\", garbage"),
            CachePolicy::Revalidate,
            9_000,
        );
        assert_eq!(answer.status(), StatusCode::OK);
    }

    #[test]
    fn dates_never_hide_a_change_within_a_second() {
        let old = Rendered::new("old".to_owned(), 10_200);
        let date = old
            .respond(&HeaderMap::new(), CachePolicy::Revalidate, 10_500)
            .headers()[header::LAST_MODIFIED]
            .clone();
        let known = headers(header::IF_MODIFIED_SINCE, date.to_str().expect("text"));

        let new = Rendered::new("new".to_owned(), 10_700);
        assert_eq!(
            new.respond(&known, CachePolicy::Revalidate, 12_000)
                .status(),
            StatusCode::OK
        );

        let later = new
            .respond(&HeaderMap::new(), CachePolicy::Revalidate, 12_000)
            .headers()[header::LAST_MODIFIED]
            .clone();
        let known = headers(header::IF_MODIFIED_SINCE, later.to_str().expect("text"));
        assert_eq!(
            new.respond(&known, CachePolicy::Revalidate, 12_000)
                .status(),
            StatusCode::NOT_MODIFIED
        );

        for nonsense in ["yesterday", "", "Thu, 01 Jan 1970 00:00:09 GMT"] {
            let answer = new.respond(
                &headers(header::IF_MODIFIED_SINCE, nonsense),
                CachePolicy::Revalidate,
                12_000,
            );
            assert_eq!(answer.status(), StatusCode::OK, "{nonsense}");
        }
    }
}

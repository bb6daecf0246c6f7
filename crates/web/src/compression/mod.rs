//! Compression of responses for clients that accept it: Brotli and gzip.
//!
//! It comes after everything else, at the connection, since the fast path of JSON-RPC has no
//! layers. A body that is sent often brings its compressed forms with it ([`Prepared`]); any other
//! is compressed for the one response.
//!
//! A client that accepts no coding costs one look at its headers. tower-http's layer is not used:
//! it wraps a router's bodies, compresses a body again each time, and brings async-compression.
//! `brotli` brings three small crates; for gzip flate2, which was there, has zlib-rs as its backend
//! in place of miniz_oxide and its two.
//!
//! Bodies made for one response are compressed with gzip where the client accepts both codings,
//! because Brotli takes more time for them (1.8 KB of a block: 23 µs and 31 µs); prepared ones with
//! Brotli. A body of up to 64 KiB is compressed at once, a longer one in pieces while the client
//! reads it; other tasks run between two pieces, and the encoder's memory comes from the budget. If
//! there is none left, the body is sent as it is. So is a body of unknown length, whose parts the
//! client may be waiting for.
//!
//! Entity tags of compressed bodies are the weak forms of the others': one tag is known to the node
//! in every coding, as with nginx.

mod encoder;
mod negotiation;
mod prepared;
mod stream;

use axum::{
    body::{Body, HttpBody, to_bytes},
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header},
    response::Response,
};

pub use self::{encoder::Effort, prepared::Prepared};
use self::{
    encoder::{Encoder, encode},
    negotiation::{Accepted, Coding},
    stream::EncodedBody,
};
use super::{Budget, Held, answer::CountedBody, content::content_length};

/// Size in bytes from which on a body is compressed: a shorter one fits into one packet as it is.
const LEAST: usize = 1 << 10;
/// Size in bytes up to which a body is compressed at once. Longer ones are compressed while the
/// client reads them.
const SHORT: u64 = 64 << 10;

/// A request's preferences for the coding of its response.
pub(super) struct Negotiation {
    accepted: Option<Accepted>,
    is_head: bool,
    /// Whether caches may store the response.
    is_read: bool,
}

impl Negotiation {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let is_head = request.method() == Method::HEAD;
        Self {
            accepted: Accepted::of(request.headers()),
            is_head,
            is_read: is_head || request.method() == Method::GET,
        }
    }

    /// Whether every response is sent unchanged.
    pub(super) fn changes_nothing(&self) -> bool {
        self.accepted.is_none() && !self.is_read
    }

    /// The response in the coding that the client prefers. `budget` limits the memory of all
    /// requests and responses.
    pub(super) async fn apply(
        self,
        mut response: Response<CountedBody>,
        budget: &Budget,
    ) -> Response<CountedBody> {
        match self.accepted {
            None => {
                if self.is_read && depends_on_client(&response) {
                    vary(response.headers_mut());
                }
                response
            }
            // Boxed, so that it does not enlarge the future of every request.
            Some(accepted) => Box::pin(encoded(response, accepted, self.is_head, budget)).await,
        }
    }
}

async fn encoded(
    mut response: Response<CountedBody>,
    accepted: Accepted,
    is_head: bool,
    budget: &Budget,
) -> Response<CountedBody> {
    if !depends_on_client(&response) {
        return response;
    }
    // Even where the body stays as it is: another client may get it in a coding.
    vary(response.headers_mut());

    if let Some(prepared) = response.extensions_mut().remove::<Prepared>() {
        return from_prepared(response, &prepared, accepted, is_head).await;
    }

    if response.status() == StatusCode::NOT_MODIFIED {
        return response;
    }

    let Some(coding) = accepted.choose(Coding::Gzip) else {
        return response;
    };

    // A body of unknown size is a stream, whose parts the client may be waiting for.
    let length = if is_head {
        content_length(response.headers())
    } else {
        response.body().size_hint().exact()
    };
    // Compressing a short body gains nothing, but a client may refuse the identity coding.
    match length {
        Some(length) if length >= LEAST as u64 || (accepted.refuses_identity() && length > 0) => {}
        _ => return response,
    }

    if is_head {
        // The length would be known only after the work.
        response.headers_mut().remove(header::CONTENT_LENGTH);
        label(response.headers_mut(), coding);
        return response;
    }

    let (mut head, body) = response.into_parts();
    let (body, is_encoded) = if length > Some(SHORT) {
        in_pieces(body, coding, budget)
    } else {
        at_once(body, coding, budget).await
    };

    if is_encoded {
        head.headers.remove(header::CONTENT_LENGTH);
        label(&mut head.headers, coding);
    }
    Response::from_parts(head, body)
}

/// A response with the prepared form of its body, or 304 for a client that has this form.
async fn from_prepared(
    mut response: Response<CountedBody>,
    prepared: &Prepared,
    accepted: Accepted,
    is_head: bool,
) -> Response<CountedBody> {
    let Some(coding) = accepted.choose(Coding::Brotli) else {
        return response;
    };

    if response.status() == StatusCode::NOT_MODIFIED {
        // Such a client has the coded form, whose tag is weak.
        weaken(response.headers_mut());
        return response;
    }

    let Some(form) = prepared.encoded(coding).await else {
        return response;
    };

    response
        .headers_mut()
        .insert(header::CONTENT_LENGTH, form.len().into());
    label(response.headers_mut(), coding);

    *response.body_mut() =
        CountedBody::from_counted(if is_head { Body::empty() } else { form.into() });
    response
}

/// Compresses a short body. Returns it unchanged if that makes it no shorter.
async fn at_once(body: CountedBody, coding: Coding, budget: &Budget) -> (CountedBody, bool) {
    // The body is one piece in memory: nothing waits here, and nothing fails.
    let body = to_bytes(Body::new(body), usize::MAX)
        .await
        .unwrap_or_default();

    let mut held = Held::default();
    match encode(&body, coding, Effort::Once) {
        Ok(encoded) if encoded.len() < body.len() && budget.try_grow(&mut held, encoded.len()) => {
            (CountedBody::from_counted(held.attach(encoded).into()), true)
        }
        _ => (CountedBody::from_counted(body.into()), false),
    }
}

/// Compresses a long body while the client reads it. Returns it unchanged if the memory is needed
/// for responses.
fn in_pieces(body: CountedBody, coding: Coding, budget: &Budget) -> (CountedBody, bool) {
    let mut held = Held::default();
    if !budget.is_ample() || !budget.try_grow(&mut held, Encoder::memory(coding)) {
        return (body, false);
    }
    let encoded = EncodedBody::new(body, Encoder::new(coding, Effort::Once, 0), held);
    (CountedBody::from_counted(Body::new(encoded)), true)
}

/// Whether the response is one that some clients get in a coding.
fn depends_on_client<B>(response: &Response<B>) -> bool {
    let headers = response.headers();
    let is_whole = !matches!(
        response.status(),
        StatusCode::SWITCHING_PROTOCOLS | StatusCode::NO_CONTENT | StatusCode::PARTIAL_CONTENT
    );
    is_whole
        && (response.status() == StatusCode::NOT_MODIFIED
            || headers.get(header::CONTENT_TYPE).is_some_and(is_text))
        && !headers.contains_key(header::CONTENT_ENCODING)
        && !headers.contains_key(header::CONTENT_RANGE)
}

/// Whether bodies of a content type become shorter. Events are sent one by one, and never held
/// back.
fn is_text(content_type: &HeaderValue) -> bool {
    let value = content_type.as_bytes();
    let essence = value
        .split(|byte| *byte == b';')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    match essence {
        b"text/event-stream" => false,
        b"application/json"
        | b"application/javascript"
        | b"application/toml"
        | b"application/xml" => true,
        other => {
            other.starts_with(b"text/") || other.ends_with(b"+json") || other.ends_with(b"+xml")
        }
    }
}

fn vary(headers: &mut HeaderMap) {
    headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
}

fn label(headers: &mut HeaderMap, coding: Coding) {
    headers.insert(header::CONTENT_ENCODING, coding.name());
    weaken(headers);
}

/// Makes the entity tag a weak one: the bytes differ between codings, and the content does not (RFC
/// 9110, 8.8.1). Conditions of requests to read compare tags weakly.
fn weaken(headers: &mut HeaderMap) {
    let Some(tag) = headers
        .get(header::ETAG)
        .filter(|tag| tag.as_bytes().starts_with(b"\""))
    else {
        return;
    };
    if let Ok(weak) = HeaderValue::from_bytes(&[&b"W/"[..], tag.as_bytes()].concat()) {
        headers.insert(header::ETAG, weak);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_long_body_encoded(budget: &Budget) -> bool {
        let body = CountedBody::from_counted(vec![b'a'; 1 << 20].into());
        in_pieces(body, Coding::Gzip, budget).1
    }

    #[tokio::test]
    async fn long_bodies_are_not_compressed_while_memory_is_scarce() {
        let budget = Budget::new(64 << 20);

        assert!(is_long_body_encoded(&budget));
        let held = budget.hold(16 << 20).await.expect("room");
        assert!(
            !is_long_body_encoded(&budget),
            "a quarter is used by responses"
        );
        drop(held);
        assert!(is_long_body_encoded(&budget));
    }
}

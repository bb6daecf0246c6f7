//! Bodies that are sent often, and compressed once.

use std::sync::Arc;

use axum::{
    body::Bytes,
    http::{HeaderMap, header},
    response::Response,
};
use tokio::{sync::OnceCell, task::spawn_blocking};

use super::{
    LEAST,
    encoder::{Effort, encode},
    negotiation::Coding,
};

/// Most bytes that are compressed on the thread of a request.
const SHORT: usize = 32 << 10;

/// A body and its compressed forms, made when a client first accepts them. Clones share them.
#[derive(Clone, Debug)]
pub struct Prepared(Arc<Forms>);

#[derive(Debug)]
struct Forms {
    body: Bytes,
    effort: Effort,
    brotli: OnceCell<Option<Bytes>>,
    gzip: OnceCell<Option<Bytes>>,
}

impl Prepared {
    /// A body that is worth this effort.
    pub fn new(body: Bytes, effort: Effort) -> Self {
        Self(Arc::new(Forms { body, effort, brotli: OnceCell::new(), gzip: OnceCell::new() }))
    }

    /// The body without a coding.
    pub fn bytes(&self) -> &Bytes {
        &self.0.body
    }

    /// Marks a response with this body, which may also be 304, so that it is sent in the form that the client accepts. The
    /// response has the body without a coding.
    pub fn mark(&self, request: &HeaderMap, response: &mut Response) {
        // Extensions are allocated, which is in vain for a client that accepts no coding.
        if self.0.body.len() >= LEAST && request.contains_key(header::ACCEPT_ENCODING) {
            response.extensions_mut().insert(self.clone());
        }
    }

    /// The body in this coding; none if it would not be shorter.
    pub(super) async fn encoded(&self, coding: Coding) -> Option<Bytes> {
        let form = match coding {
            Coding::Brotli => &self.0.brotli,
            Coding::Gzip => &self.0.gzip,
        };
        form.get_or_init(|| self.encode(coding)).await.clone()
    }

    async fn encode(&self, coding: Coding) -> Option<Bytes> {
        let (body, effort) = (self.0.body.clone(), self.0.effort);
        let work = move || encode(&body, coding, effort).ok().filter(|encoded| encoded.len() < body.len());
        let encoded = match self.0.body.len() {
            // Fails only while the runtime ends.
            long if long > SHORT || effort == Effort::Always => spawn_blocking(work).await.ok().flatten(),
            _ => work(),
        };
        encoded.map(Bytes::from)
    }
}

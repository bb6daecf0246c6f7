//! Bodies that are sent often, and compressed once.

use std::sync::Arc;

use axum::{
    body::Bytes,
    http::{HeaderMap, header},
    response::Response,
};
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{
    LEAST,
    encoder::{Effort, encode},
    negotiation::Coding,
};
use crate::MadeOnce;

/// Most bytes that are compressed on a thread of the runtime.
const SHORT: usize = 32 << 10;

/// Limits the bodies that are compressed at the same time to one, since an encoder takes many
/// megabytes.
static ENCODING: Semaphore = Semaphore::const_new(1);

/// A body and its compressed forms, made when a client first accepts them. Clones share them.
#[derive(Clone, Debug)]
pub struct Prepared(Arc<Forms>);

#[derive(Debug)]
struct Forms {
    body: Bytes,
    effort: Effort,
    brotli: MadeOnce<Option<Bytes>>,
    gzip: MadeOnce<Option<Bytes>>,
}

impl Prepared {
    /// A body that is worth this effort.
    pub fn new(body: Bytes, effort: Effort) -> Self {
        Self(Arc::new(Forms {
            body,
            effort,
            brotli: MadeOnce::default(),
            gzip: MadeOnce::default(),
        }))
    }

    /// The body without a coding.
    pub fn bytes(&self) -> &Bytes {
        &self.0.body
    }

    /// Marks a response with this body, which may also be 304, so that it is sent in the form that
    /// the client accepts. The response has the body without a coding.
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
        let prepared = self.clone();
        form.get(move || prepared.encode(coding)).await.flatten()
    }

    async fn encode(self, coding: Coding) -> Option<Option<Bytes>> {
        let is_long = self.0.body.len() > SHORT || self.0.effort == Effort::Always;
        if !is_long {
            return Some(self.encode_here(coding));
        }

        let _turn = ENCODING.acquire().await;
        spawn_blocking(move || self.encode_here(coding)).await.ok()
    }

    /// Encodes the body on the current thread.
    fn encode_here(&self, coding: Coding) -> Option<Bytes> {
        let Forms { body, effort, .. } = &*self.0;
        encode(body, coding, *effort)
            .ok()
            .filter(|encoded| encoded.len() < body.len())
            .map(Bytes::from)
    }
}

//! Bodies that are sent often, and compressed once.

use std::sync::Arc;

use axum::{
    body::Bytes,
    http::{HeaderMap, header},
    response::Response,
};
use tokio::{
    sync::{OnceCell, Semaphore},
    task::spawn_blocking,
};

use super::{
    LEAST,
    encoder::{Effort, encode},
    negotiation::Coding,
};

/// Most bytes that are compressed on the thread of a request.
const SHORT: usize = 32 << 10;

/// Limits the bodies that are compressed at the same time to one, since an encoder takes many megabytes.
static ENCODING: Semaphore = Semaphore::const_new(1);

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
        let form = self.form(coding);
        if let Some(made) = form.get() {
            return made.clone();
        }
        if self.0.body.len() <= SHORT && self.0.effort != Effort::Always {
            return form.get_or_init(|| async { self.encode(coding) }).await.clone();
        }
        // A task of its own goes on when the client hangs up: the next client would begin again.
        let prepared = self.clone();
        let making = tokio::spawn(async move {
            let form = prepared.form(coding);
            form.get_or_init(|| prepared.encode_aside(coding)).await.clone()
        });
        // Fails only while the runtime ends.
        making.await.ok().flatten()
    }

    fn form(&self, coding: Coding) -> &OnceCell<Option<Bytes>> {
        match coding {
            Coding::Brotli => &self.0.brotli,
            Coding::Gzip => &self.0.gzip,
        }
    }

    async fn encode_aside(&self, coding: Coding) -> Option<Bytes> {
        let _turn = ENCODING.acquire().await;
        let prepared = self.clone();
        spawn_blocking(move || prepared.encode(coding)).await.ok().flatten()
    }

    fn encode(&self, coding: Coding) -> Option<Bytes> {
        let Forms { body, effort, .. } = &*self.0;
        encode(body, coding, *effort).ok().filter(|encoded| encoded.len() < body.len()).map(Bytes::from)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_form_is_made_once_even_if_clients_hang_up() {
        let prepared = Prepared::new(vec![b'a'; 300_000].into(), Effort::Always);
        let blocked = ENCODING.acquire().await.expect("a permit");
        for _ in 0..100 {
            assert!(prepared.encoded(Coding::Brotli).now_or_never().is_none(), "a client that hangs up at once");
            tokio::task::yield_now().await;
        }
        drop(blocked);
        let made = async {
            while !prepared.0.brotli.initialized() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), made).await.expect("nobody has to ask again");
        let first = prepared.encoded(Coding::Brotli).await.expect("shorter");
        let second = prepared.encoded(Coding::Brotli).await.expect("shorter");
        assert_eq!(first.as_ptr(), second.as_ptr());
    }
}

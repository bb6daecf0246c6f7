//! What a listener serves: a router, and before it what answers the requests that come in numbers.

use std::sync::Arc;

use axum::{Router, http::Request, response::Response};
use futures_util::future::BoxFuture;
use hyper::body::Incoming;

use super::Peer;

/// Answers some requests without a router. A router copies what its layers and handlers hold for every request, and
/// counting those copies is slow where processors do it at the same time.
pub trait FastPath: Send + Sync + 'static {
    /// The answer, or the request, for the router to answer.
    fn answer(&self, request: Request<Incoming>, peer: Peer) -> Result<BoxFuture<'_, Response>, Box<Request<Incoming>>>;
}

/// Everything that is served at a listener. Clones share it.
#[derive(Clone)]
pub struct Front {
    pub(super) router: Router,
    pub(super) fast: Option<Arc<dyn FastPath>>,
}

impl Front {
    /// A router behind a fast path, which has to answer as the router would.
    pub fn new(router: Router, fast: Arc<dyn FastPath>) -> Self {
        Self { router, fast: Some(fast) }
    }
}

impl From<Router> for Front {
    fn from(router: Router) -> Self {
        Self { router, fast: None }
    }
}

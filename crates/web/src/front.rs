//! The service of a listener: a router, and a fast path for the most frequent requests before it.

use std::sync::Arc;

use axum::{Router, http::Request, response::Response};
use futures_util::future::BoxFuture;

use super::{Faults, IncomingBody};

/// Answers some requests without the router, which clones its layers and handlers for every
/// request: their reference counts are contended across processors.
pub trait FastPath: Send + Sync + 'static {
    /// The response, or the request if it is for the router.
    fn answer(
        &self,
        request: Request<IncomingBody>,
    ) -> Result<BoxFuture<'_, Response>, Box<Request<IncomingBody>>>;
}

/// The service of a listener. Clones share it.
#[derive(Clone)]
pub struct Front {
    pub(super) router: Router,
    pub(super) fast: Option<Arc<dyn FastPath>>,
    /// The faults that WebSockets suffer.
    pub(super) faults: Faults,
}

impl Front {
    /// A router behind a fast path, which has to respond as the router would.
    pub fn new(router: Router, fast: Arc<dyn FastPath>) -> Self {
        Self {
            fast: Some(fast),
            ..router.into()
        }
    }

    /// Has WebSockets suffer these faults. Requests suffer those of the router, which therefore
    /// answers all of them while there are faults.
    #[must_use]
    pub fn with_faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }
}

impl From<Router> for Front {
    fn from(router: Router) -> Self {
        Self {
            router,
            fast: None,
            faults: Faults::default(),
        }
    }
}

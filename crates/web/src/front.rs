//! The service of a listener: a router, and a fast path for the most frequent requests before it.

use std::sync::Arc;

use axum::{Router, http::Request, response::Response};
use futures_util::future::BoxFuture;

use super::{
    Faults, IncomingBody, SocketProtocol, WebSockets,
    socket::{JsonService, JsonSockets},
};

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
    /// Serves the connections of a Unix socket on which JSON documents come instead of HTTP.
    pub(super) json: Option<Arc<dyn JsonService>>,
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

    /// Serves those connections of a Unix socket that begin with a JSON document instead of HTTP,
    /// each with the protocol that `begin` creates, like one of these WebSockets.
    #[must_use]
    pub fn with_json<P: SocketProtocol>(
        self,
        sockets: WebSockets,
        begin: impl Fn() -> P + Send + Sync + 'static,
    ) -> Self {
        Self {
            json: Some(Arc::new(JsonSockets { sockets, begin })),
            ..self
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
            json: None,
            faults: Faults::default(),
        }
    }
}

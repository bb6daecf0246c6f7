//! The addresses at which a node listens.

use std::{net::SocketAddr, sync::Arc};

use tetrad_web::Tls;

/// The addresses of a node.
#[derive(Clone)]
pub(super) struct Addresses {
    pub(super) main: SocketAddr,
    /// Further ones at which the same is served.
    pub(super) also: Vec<SocketAddr>,
    pub(super) prices: Option<SocketAddr>,
    pub(super) comet: Option<SocketAddr>,
    pub(super) cosmos_rest: Option<SocketAddr>,
    pub(super) grpc: Option<SocketAddr>,
    pub(super) tls: Option<Arc<Tls>>,
}

impl Addresses {
    /// Returns `http` or `ws`, with an `s` appended if connections are encrypted.
    pub(super) fn scheme(&self, plain: &str) -> String {
        format!("{plain}{}", if self.tls.is_some() { "s" } else { "" })
    }

    /// Returns the URL of one of the listeners over HTTP.
    pub(super) fn http_url(&self, address: SocketAddr) -> String {
        format!("{}://{address}", self.scheme("http"))
    }
}

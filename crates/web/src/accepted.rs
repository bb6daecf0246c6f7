//! The parts of an accepted connection: a stream, a slot and limits.

use std::{sync::Arc, time::Duration};

use tokio::{net::TcpStream, sync::OwnedSemaphorePermit};
use tokio_rustls::TlsAcceptor;

/// The limits of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ListenerLimits {
    /// Most concurrent connections; further ones wait to be accepted.
    pub connections: usize,
    /// The time that a client may take to send the head of a request, including the first.
    pub header_timeout: Duration,
    /// The time for which a client may stop reading a response.
    pub write_timeout: Duration,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            connections: 20_000,
            header_timeout: Duration::from_secs(15),
            write_timeout: Duration::from_secs(10),
        }
    }
}

/// A connection's slot among those that a listener allows. Requests carry it as an extension; an
/// upgraded connection keeps it.
#[derive(Clone, Debug)]
pub struct ConnectionSlot(
    #[expect(dead_code, reason = "held, not used")] pub(super) Arc<OwnedSemaphorePermit>,
);

/// An accepted connection.
pub(super) enum AcceptedStream {
    Tcp(TcpStream),
    Tls(TcpStream, TlsAcceptor),
    #[cfg(unix)]
    Unix(tokio::net::UnixStream),
}

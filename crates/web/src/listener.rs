//! Accepts connections within limits.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpSocket},
    sync::Semaphore,
};

#[cfg(unix)]
use super::UnixSocket;
use super::{
    Capacity, ConnectionSlot, Flow, Front, Hosts, ListenerLimits, Peer, RequestIds, Shutdown, Tls,
    accepted::AcceptedStream,
    connection::{Connection, Requests},
};

/// Number of connections accepted so far.
static CONNECTIONS: AtomicU64 = AtomicU64::new(1);

/// Connections that the system queues until they are accepted.
const BACKLOG: u32 = 1_024;

/// Listens on `address`. `send_buffer` is the size in bytes of the send buffer of each connection;
/// by default the system decides, and that may be megabytes.
pub fn listen(address: SocketAddr, send_buffer: Option<u32>) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;

    // As in the standard library, so that a restarted node can bind the port again. On Windows the
    // option has another meaning.
    if cfg!(unix) {
        socket.set_reuseaddr(true)?;
    }

    if let Some(bytes) = send_buffer {
        socket.set_send_buffer_size(bytes)?;
    }

    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A source of connections.
#[derive(Debug)]
pub enum Listener {
    /// Plain TCP.
    Tcp(TcpListener),
    /// TCP with TLS.
    Tls(TcpListener, Arc<Tls>),
    /// A Unix socket. Its clients count as local.
    #[cfg(unix)]
    Unix(UnixSocket),
}

impl Listener {
    /// TCP, with TLS if there is a certificate.
    pub fn new(listener: TcpListener, tls: Option<&Arc<Tls>>) -> Self {
        match tls {
            Some(tls) => Self::Tls(listener, tls.clone()),
            None => Self::Tcp(listener),
        }
    }

    /// Whether only programs on this machine can connect.
    fn is_local(&self) -> bool {
        match self {
            Self::Tcp(_) | Self::Tls(..) => false,
            #[cfg(unix)]
            Self::Unix(_) => true,
        }
    }

    async fn accept(&self) -> io::Result<(AcceptedStream, SocketAddr)> {
        match self {
            Self::Tcp(listener) => listener
                .accept()
                .await
                .map(|(stream, peer)| (AcceptedStream::Tcp(stream), peer)),
            Self::Tls(listener, tls) => {
                let (stream, peer) = listener.accept().await?;
                Ok((AcceptedStream::Tls(stream, tls.acceptor()), peer))
            }
            #[cfg(unix)]
            Self::Unix(socket) => {
                let here = SocketAddr::from(([127, 0, 0, 1], 0));
                socket
                    .accept()
                    .await
                    .map(|stream| (AcceptedStream::Unix(stream), here))
            }
        }
    }
}

/// Serves `front` on `listener` to requests for these `hosts` until shutdown; then finishes the
/// requests in flight. Pages cannot reach a Unix socket, so its clients may use any host name.
pub async fn serve(
    listener: Listener,
    front: Front,
    hosts: Arc<Hosts>,
    limits: ListenerLimits,
    ids: Arc<RequestIds>,
    capacity: Capacity,
    mut shutdown: Shutdown,
) {
    let permits = Arc::new(Semaphore::new(limits.connections));
    let hosts = if listener.is_local() {
        Arc::new(Hosts::Any)
    } else {
        hosts
    };

    loop {
        // Before accepting: a connection over the limit waits in the system's queue.
        let Ok(permit) = permits.clone().acquire_owned().await else {
            return;
        };

        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.begun() => return,
        };

        match accepted {
            Ok((stream, peer)) => {
                let slot = ConnectionSlot(Arc::new(permit));
                let peer = Peer {
                    address: peer,
                    connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed),
                };

                let requests = Arc::new(Requests {
                    peer,
                    slot,
                    front: front.clone(),
                    hosts: hosts.clone(),
                    permitted_host: OnceLock::new(),
                    ids: ids.clone(),
                    addresses: capacity.addresses.clone(),
                    flow: Arc::new(Flow::new(capacity.clone(), front.faults.clone())),
                });
                let connection = Connection {
                    requests,
                    limits,
                    shutdown: shutdown.clone(),
                };
                tokio::spawn(connection.serve(stream));
            }
            Err(error) => wait_after_failure(&error).await,
        }
    }
}

/// Waits until accepting may work again. Too many open files, or a client that disconnected: neither
/// ends the listener.
async fn wait_after_failure(error: &io::Error) {
    tracing::debug!(%error, "accept failed");
    if !is_connection_error(error) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn is_connection_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

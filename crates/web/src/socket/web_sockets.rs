//! The WebSockets of an interface: their limits, and how many there are.

use std::{sync::Arc, time::Duration};

use governor::Quota;
use tetrad_stdx::metrics::{Counter, Gauge};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::{FaultScope, Shutdown, client_slots::ClientSlots};

/// The time that a client may take to accept a message, where no setting says otherwise.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// The limits of a WebSocket.
#[derive(Clone, Copy, Debug)]
pub struct SocketLimits {
    /// Bytes of a message.
    pub max_message: usize,
    /// Bytes of each of a connection's buffers, for reading and for writing.
    pub buffer: usize,
    /// Messages that a client may send; `None` for no limit.
    pub messages: Option<Quota>,
    /// Connections of one client; `None` for no limit other than the listener's.
    pub per_client: Option<usize>,
    /// The time that a client may take to accept a message.
    pub write_timeout: Duration,
}

impl SocketLimits {
    pub(super) fn config(&self) -> WebSocketConfig {
        WebSocketConfig::default()
            .max_message_size(Some(self.max_message))
            .max_frame_size(Some(self.max_message))
            .read_buffer_size(self.buffer)
            .write_buffer_size(self.buffer)
    }
}

/// The WebSockets of one interface. Clones share the counts.
#[derive(Clone, Debug)]
pub struct WebSockets(pub(super) Arc<SharedSockets>);

#[derive(Debug)]
pub(super) struct SharedSockets {
    interface: &'static str,
    /// The interface as faults distinguish it; none if no fault concerns it.
    pub(super) fault_scope: Option<FaultScope>,
    pub(super) limits: SocketLimits,
    pub(super) slots: Option<ClientSlots>,
    shutdown: Shutdown,
    pub(super) open: Gauge,
    cut: Counter,
}

impl WebSockets {
    /// The WebSockets of an interface, by the name that it has in metrics and in the log. They are
    /// closed when `shutdown` begins, and suffer the faults of `fault_scope`.
    pub fn new(
        interface: &'static str,
        fault_scope: Option<FaultScope>,
        limits: SocketLimits,
        shutdown: Shutdown,
    ) -> Self {
        let slots = limits.per_client.map(ClientSlots::new);
        Self(Arc::new(SharedSockets {
            interface,
            fault_scope,
            limits,
            slots,
            shutdown,
            open: Gauge::default(),
            cut: Counter::default(),
        }))
    }

    /// The name of the interface.
    pub fn interface(&self) -> &'static str {
        self.0.interface
    }

    /// Whether connections are accepted: until the node shuts down.
    pub fn are_accepted(&self) -> bool {
        !self.0.shutdown.has_begun()
    }

    /// The number of open connections.
    pub fn open(&self) -> usize {
        usize::try_from(self.0.open.get()).unwrap_or_default()
    }

    /// The number of connections that were closed because the client did not read.
    pub fn cut(&self) -> u64 {
        self.0.cut.get()
    }

    pub(super) fn limits(&self) -> &SocketLimits {
        &self.0.limits
    }

    pub(super) fn shutdown(&self) -> Shutdown {
        self.0.shutdown.clone()
    }

    pub(super) fn count_cut(&self) {
        self.0.cut.add(1);
    }
}

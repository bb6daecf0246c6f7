//! WebSockets: one loop for all protocols.
//!
//! [`WebSockets`] accepts the connections of an interface; on a Unix socket, JSON documents may take
//! the place of frames (`json.rs`). For each connection a task (`task.rs`)
//! reads, writes, sends pings, enforces the limits and closes with a reason (`ending.rs`). A
//! [`SocketProtocol`] supplies what differs: the replies to messages, and the events that are sent
//! unprompted.
//!
//! Replies are asynchronous; the messages of an event are rendered as the client reads them. Long
//! messages go in frames of 64 KiB, since the library copies frames.
//!
//! A client that is too slow for JSON-RPC's subscriptions is closed with 1008, any other slow one
//! with 1013. A subscriber must get every block and would be too slow again after reconnecting,
//! while missed prices are superseded by the newest ones.

mod accept;
mod ending;
#[doc(hidden)]
pub mod fuzzing;
mod json;
mod task;
#[cfg(test)]
mod tests;
mod web_sockets;

use std::future::Future;

use futures_util::future::BoxFuture;
pub use tokio_tungstenite::tungstenite::Utf8Bytes;

pub(crate) use self::json::{JsonService, JsonSockets};
pub use self::{
    accept::socket_operation,
    web_sockets::{SocketLimits, WRITE_TIMEOUT, WebSockets},
};
use super::{Answer, AnswerError, Held};

/// A protocol spoken over a WebSocket. Every connection has a value of its own.
pub trait SocketProtocol: Send + Sync + 'static {
    /// An event that is reported to the client.
    type Event: Send + Sync;

    /// Whether clients are owed every event. A client that is too slow for them is then closed with
    /// 1008, since it would be too slow after connecting again as well; with 1013 otherwise.
    const EVERY_EVENT: bool = false;

    /// Returns the first message of the connection.
    fn greeting(&mut self) -> Option<Utf8Bytes> {
        None
    }

    /// Handles a message, which the client may have sent as text or as binary data.
    fn receive(&mut self, message: Utf8Bytes) -> SocketReply;

    /// Waits for the next event; `None` if the node is shutting down and there will be none. Has to
    /// be cancel safe: the future is dropped whenever something else happens first.
    fn next_event(&mut self) -> impl Future<Output = Option<Self::Event>> + Send;

    /// The messages about an event. Each is rendered when the client has taken the previous one.
    /// One that does not fit ends the connection. Between them is `None` wherever finding the next
    /// one may take long, so that others run meanwhile.
    fn messages<'a>(
        &'a self,
        event: &'a Self::Event,
    ) -> impl Iterator<Item = Result<Option<SocketMessage>, AnswerError>> + Send + 'a;
}

/// A message to the client, with the memory that it holds until it is written. What that does not
/// cover is counted when the message is sent.
#[derive(Debug, Default)]
pub struct SocketMessage {
    pub(super) text: Utf8Bytes,
    pub(super) held: Held,
}

impl From<Utf8Bytes> for SocketMessage {
    fn from(text: Utf8Bytes) -> Self {
        Self {
            text,
            held: Held::default(),
        }
    }
}

impl From<Answer> for SocketMessage {
    /// A message that was written as JSON, which is UTF-8.
    fn from(json: Answer) -> Self {
        let (bytes, held) = json.into_parts();
        Self {
            text: String::from_utf8(bytes).unwrap_or_default().into(),
            held,
        }
    }
}

/// The reply to a message.
pub enum SocketReply {
    /// There is none.
    Nothing,
    /// Sent before anything else is read.
    Now(SocketMessage),
    /// Sent as soon as it is complete; an empty one is not sent. Dropped if the connection ends
    /// first.
    Later(BoxFuture<'static, SocketMessage>),
    /// Like [`Later`](Self::Later), and events wait until it is written: without it the client
    /// would not understand them.
    BeforeEvents(BoxFuture<'static, SocketMessage>),
}

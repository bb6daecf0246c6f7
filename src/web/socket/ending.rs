//! The reasons why a WebSocket ends, and their close frames.

use std::{error::Error, io, time::Duration};

use axum::extract::ws::{CloseFrame, close_code};
use tokio_tungstenite::tungstenite::{self, error::ProtocolError};

/// How long closing may take.
pub(super) const CLOSING: Duration = Duration::from_secs(1);
/// How long closing may take for a slow client, which has to read what was written before the close frame.
const CLOSING_SLOWLY: Duration = Duration::from_secs(10);

/// The reason why a WebSocket ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The connection broke.
    Lost,
    /// A fault cuts it, as if the network had failed.
    Cut,
    /// The client closed it.
    ClosedByClient,
    ShuttingDown,
    /// The client did not answer pings.
    Silent,
    /// The client did not take a message in time.
    Stalled,
    /// The client did not take the message of an event that it was owed in time.
    TooSlow,
    TooManyMessages,
    /// A message exceeded this number of bytes.
    TooLarge(usize),
    NotUtf8,
    /// The client broke the rules of RFC 6455.
    Violation,
    /// The budget had no room for a message.
    NoRoom,
}

impl Ending {
    /// The ending after a failed read on a connection with this limit.
    pub(super) fn of(error: &axum::Error, max_message: usize) -> Self {
        let mut source: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = source {
            if let Some(error) = error.downcast_ref::<tungstenite::Error>() {
                return match error {
                    tungstenite::Error::Capacity(_) => Self::TooLarge(max_message),
                    tungstenite::Error::Utf8(_) => Self::NotUtf8,
                    tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::Lost,
                    tungstenite::Error::Protocol(_) => Self::Violation,
                    // From `web/flow.rs`.
                    tungstenite::Error::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => Self::NoRoom,
                    _ => Self::Lost,
                };
            }
            source = error.source();
        }
        Self::Lost
    }

    /// The close frame; `None` if the node does not close the connection itself.
    pub(super) fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Lost | Self::Cut | Self::ClosedByClient => return None,
            Self::ShuttingDown => (close_code::AWAY, "the node is shutting down"),
            Self::Silent => (close_code::POLICY, "no sign of life for 60 seconds"),
            Self::Stalled => (close_code::AGAIN, "the connection is stalled"),
            Self::TooSlow => (close_code::POLICY, "the connection reads too slowly"),
            Self::TooManyMessages => (close_code::POLICY, "too many messages"),
            Self::TooLarge(limit) => {
                let reason = format!("messages may have at most {limit} bytes").into();
                return Some(CloseFrame { code: close_code::SIZE, reason });
            }
            Self::NotUtf8 => (close_code::INVALID, "messages have to be UTF-8"),
            Self::Violation => (close_code::PROTOCOL, "the frame breaks the rules of RFC 6455"),
            Self::NoRoom => (close_code::AGAIN, "out of memory for large requests and responses"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }

    /// Whether the client did not read.
    pub(super) fn is_slow(self) -> bool {
        matches!(self, Self::Stalled | Self::TooSlow)
    }

    /// How long closing may take.
    pub(super) fn patience(self) -> Duration {
        if self.is_slow() || self == Self::NoRoom { CLOSING_SLOWLY } else { CLOSING }
    }
}

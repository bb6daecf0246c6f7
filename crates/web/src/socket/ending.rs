//! The reasons why a WebSocket ends, and their close frames.

use std::{io, time::Duration};

use tokio_tungstenite::tungstenite::{
    self,
    error::ProtocolError,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

/// The time that closing may take.
pub(super) const CLOSING: Duration = Duration::from_secs(1);
/// The time that closing may take for a slow client, which has to read what was written before the
/// close frame.
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
    pub(super) fn of(error: &tungstenite::Error, max_message: usize) -> Self {
        match error {
            tungstenite::Error::Capacity(_) => Self::TooLarge(max_message),
            tungstenite::Error::Utf8(_) => Self::NotUtf8,
            tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::Lost,
            tungstenite::Error::Protocol(_) => Self::Violation,
            // From `web/flow.rs`.
            tungstenite::Error::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                Self::NoRoom
            }
            _ => Self::Lost,
        }
    }

    /// The close frame; `None` if the node does not close the connection itself.
    pub(super) fn frame(self) -> Option<CloseFrame> {
        // The codes of RFC 6455, 7.4.1, and 1013: the client may try again later.
        let (code, reason) = match self {
            Self::Lost | Self::Cut | Self::ClosedByClient => return None,
            Self::ShuttingDown => (CloseCode::Away, "the node is shutting down"),
            Self::Silent => (CloseCode::Policy, "no sign of life for 60 seconds"),
            Self::Stalled => (CloseCode::Again, "the connection is stalled"),
            Self::TooSlow => (CloseCode::Policy, "the connection reads too slowly"),
            Self::TooManyMessages => (CloseCode::Policy, "too many messages"),
            Self::TooLarge(limit) => {
                let reason = format!("messages may have at most {limit} bytes").into();
                return Some(CloseFrame {
                    code: CloseCode::Size,
                    reason,
                });
            }
            Self::NotUtf8 => (CloseCode::Invalid, "messages have to be UTF-8"),
            Self::Violation => (
                CloseCode::Protocol,
                "the frame breaks the rules of RFC 6455",
            ),
            Self::NoRoom => (
                CloseCode::Again,
                "out of memory for large requests and responses",
            ),
        };

        Some(CloseFrame {
            code,
            reason: reason.into(),
        })
    }

    /// Whether the client did not read.
    pub(super) fn is_slow(self) -> bool {
        matches!(self, Self::Stalled | Self::TooSlow)
    }

    /// The time that closing may take.
    pub(super) fn timeout(self) -> Duration {
        if self.is_slow() || self == Self::NoRoom {
            CLOSING_SLOWLY
        } else {
            CLOSING
        }
    }
}

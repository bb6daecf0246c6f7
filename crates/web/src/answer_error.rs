//! The reasons why a response cannot be written.

use std::io;

/// The reason why a body cannot grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The body would exceed its limit of bytes.
    #[error("the response would have more than {0} bytes: ask for less at once")]
    TooLong(usize),
    /// The memory for responses is in use.
    #[error("the memory for long responses is in use by other clients; try again")]
    NoRoom,
    /// The client has disconnected.
    #[error("the client has disconnected")]
    Abandoned,
    /// A value has no JSON.
    #[error("the response cannot be written")]
    Unwritable,
}

impl From<serde_json::Error> for AnswerError {
    /// The reason why a writer that asks for room was refused.
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).downcast().unwrap_or_else(|error| {
            tracing::error!(%error, "a response cannot be written as JSON");
            Self::Unwritable
        })
    }
}

//! The failures of requests, and of single attempts.

use std::time::Duration;

use serde_json::Value;

/// The maximum size of an answer in bytes.
pub(super) const MAX_ANSWER: usize = 128 << 20;

/// A request to the other node failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AskError {
    /// There was no memory for the answer.
    #[error("{method}: the memory for long responses is in use by other clients; try again")]
    NoRoom {
        /// The method.
        method: String,
    },
    /// There was no readable answer.
    #[error("{method}: {what}")]
    Silent {
        /// The method.
        method: String,
        /// The reason. Never contains the URL, which may hold a key.
        what: String,
    },
    /// The answer was too long.
    #[error("{method}: the answer has more than {MAX_ANSWER} bytes")]
    TooLong {
        /// The method.
        method: String,
    },
    /// The client left before there was an answer, or the node shuts down.
    #[error("{method}: cancelled, since {reason}")]
    Abandoned {
        /// The method.
        method: String,
        /// The reason why the caller no longer waits.
        reason: &'static str,
    },
    /// The other node answered with an error.
    #[error("{method}: {message} (code {code})")]
    Refused {
        /// The method.
        method: String,
        /// The error's code.
        code: i64,
        /// Its text.
        message: String,
        /// Its data.
        data: Option<Value>,
    },
}

pub(super) fn silent(method: &str, what: impl Into<String>) -> AskError {
    AskError::Silent {
        method: method.to_owned(),
        what: what.into(),
    }
}

/// The failure of a call for which the other node is asked too slowly.
pub(super) fn crowded(method: &str) -> AskError {
    silent(
        method,
        "too many calls wait for their turn (fork.requests-per-second, fork.compute-units-per-second)",
    )
}

/// The failure of one attempt.
pub(super) enum AttemptError {
    /// A retry may succeed, after this time if the other node says one.
    Passing(AskError, Option<Duration>),
    /// A retry would fail the same way.
    Lasting(AskError),
}

impl AttemptError {
    pub(super) fn passing(method: &str, what: impl Into<String>) -> Self {
        Self::Passing(silent(method, what), None)
    }

    pub(super) fn lasting(method: &str, what: impl Into<String>) -> Self {
        Self::Lasting(silent(method, what))
    }
}

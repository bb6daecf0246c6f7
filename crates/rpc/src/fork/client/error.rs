//! The failures of calls, and of single attempts to send them.

use std::time::Duration;

use serde_json::Value;

/// A call of the other node failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ForkCallError {
    /// There was no memory for the answer.
    #[error("{method}: the memory for long responses is in use by other clients; try again")]
    NoRoom {
        /// The method.
        method: String,
    },
    /// There was no readable answer.
    #[error("{method}: {reason}")]
    NoAnswer {
        /// The method.
        method: String,
        /// The reason. Never contains the URL, which may hold a key.
        reason: String,
    },
    /// The answer was too long.
    #[error("{method}: the answer has more than {limit} bytes")]
    TooLong {
        /// The method.
        method: String,
        /// The maximum size of an answer in bytes.
        limit: usize,
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
    ErrorResponse {
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

impl ForkCallError {
    pub(super) fn no_answer(method: &str, reason: impl Into<String>) -> Self {
        Self::NoAnswer {
            method: method.to_owned(),
            reason: reason.into(),
        }
    }

    /// The failure of a call that has waited too long for its turn, or would.
    pub(super) fn queue_full(method: &str) -> Self {
        Self::no_answer(
            method,
            "too many calls wait for their turn (fork.requests-per-second, fork.compute-units-per-second)",
        )
    }
}

/// The failure of one attempt.
pub(super) enum AttemptError {
    /// A retry may succeed.
    Transient {
        error: ForkCallError,
        /// The time that the other node asks to wait before it.
        retry_after: Option<Duration>,
    },
    /// A retry would fail the same way.
    Permanent(ForkCallError),
}

impl AttemptError {
    pub(super) fn transient(method: &str, reason: impl Into<String>) -> Self {
        Self::Transient {
            error: ForkCallError::no_answer(method, reason),
            retry_after: None,
        }
    }

    pub(super) fn permanent(method: &str, reason: impl Into<String>) -> Self {
        Self::Permanent(ForkCallError::no_answer(method, reason))
    }

    /// The failure of the call, where no other attempt follows.
    pub(super) fn into_error(self) -> ForkCallError {
        match self {
            Self::Transient { error, .. } | Self::Permanent(error) => error,
        }
    }
}

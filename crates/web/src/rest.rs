//! Errors of the REST interfaces, and the one place where they become statuses.

use std::sync::Arc;

use axum::{
    Json,
    extract::rejection::{PathRejection, QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use tetrad_stdx::{
    calendar::{HOUR, MINUTE},
    clock::{Clock, SystemClock},
    text::excerpt,
};

use super::{
    AnswerError, BodyError, ExecutionFailed,
    operation::{Failure, Input, Operation},
    parameters::{ParameterError, ParameterPlace, ValueError},
};

/// An error of a REST request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestError {
    /// A parameter, or a member of the body, is malformed or missing.
    #[error("{name}: {what}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The reason.
        what: String,
    },
    /// The query has a parameter that the route does not take.
    #[error("{name}: {}", unknown_parameter(.known))]
    UnknownParameter {
        /// The parameter's name, cut short.
        name: String,
        /// The names that the route takes.
        known: Arc<[String]>,
    },
    /// The route or the thing it is about does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The route does not take this method.
    #[error("this route takes GET")]
    MethodNotAllowed,
    /// The body could not be read: it is too long, or the connection broke.
    #[error("{what}")]
    Body {
        /// The status for the reason.
        status: StatusCode,
        /// The reason.
        what: String,
    },
    /// The body has a content type or an encoding that the route does not take.
    #[error("{0}")]
    UnsupportedMediaType(&'static str),
    /// The route requires the token that administers the node.
    #[error("this route requires the node's admin token, as `Authorization: Bearer`")]
    Unauthorized,
    /// The client has exceeded its rate limit.
    #[error("rate limit exceeded: {limit} requests per minute; try again in {retry_after} s")]
    TooManyRequests {
        /// Requests per minute.
        limit: u32,
        /// Seconds until the next request is admitted.
        retry_after: u64,
    },
    /// The client has got what it may get for now.
    #[error("{what}; try again in {}", waiting(*.retry_after))]
    QuotaExceeded {
        /// The limit.
        what: String,
        /// Seconds until there is more.
        retry_after: u64,
    },
    /// The client has reached its limit of connections.
    #[error("too many connections: at most {0} from one address")]
    TooManyConnections(usize),
    /// The memory for long requests and responses is in use.
    #[error("out of memory for large requests and responses; try again")]
    NoRoom,
    /// The node failed.
    #[error("{0}")]
    Internal(String),
    /// The node cannot answer at present.
    #[error("{0}")]
    Unavailable(String),
    /// The account that would pay cannot.
    #[error("{0}")]
    OutOfFunds(String),
}

/// The body of every error.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorBody {
    /// Always false.
    success: bool,
    /// The message, for people.
    message: String,
    /// The kind of error, for programs.
    error: &'static str,
    /// Milliseconds since the Unix epoch.
    timestamp: u64,
}

/// The reason why a route refuses a parameter, with those that it takes.
fn unknown_parameter(known: &[String]) -> String {
    match known {
        [] => "this route takes no parameters".to_owned(),
        known => format!("this route takes only {}", known.join(", ")),
    }
}

/// A time in the largest unit that leaves it above one, rounded up.
fn waiting(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds.div_ceil(MINUTE)),
        _ => format!("{} h", seconds.div_ceil(HOUR)),
    }
}

impl RestError {
    /// The error of a parameter, or of a member of the body.
    pub fn parameter(name: &'static str, what: impl Into<String>) -> Self {
        Self::Parameter {
            name,
            what: what.into(),
        }
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Parameter { .. } | Self::UnknownParameter { .. } => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Body { status, .. } => *status,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooManyRequests { .. }
            | Self::QuotaExceeded { .. }
            | Self::TooManyConnections(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::NoRoom | Self::Unavailable(_) | Self::OutOfFunds(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }

    /// The kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Parameter { .. } | Self::UnknownParameter { .. } => "invalid_parameter",
            Self::NotFound(_) => "not_found",
            Self::Body { .. } => "invalid_body",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Unauthorized => "unauthorized",
            Self::UnsupportedMediaType(_) => "unsupported_media_type",
            Self::TooManyRequests { .. } => "rate_limit_exceeded",
            Self::QuotaExceeded { .. } => "quota_exceeded",
            Self::TooManyConnections(_) => "too_many_connections",
            Self::NoRoom => "out_of_memory",
            Self::Internal(_) => "internal_error",
            Self::Unavailable(_) => "unavailable",
            Self::OutOfFunds(_) => "out_of_funds",
        }
    }
}

impl IntoResponse for RestError {
    fn into_response(self) -> Response {
        if let Self::Internal(what) = &self {
            tracing::error!(%what, "a REST request failed");
        }

        let body = ErrorBody {
            success: false,
            message: self.to_string(),
            error: self.code(),
            timestamp: SystemClock.now_ms(),
        };
        let mut response = (
            self.status(),
            [(header::CACHE_CONTROL, "no-store")],
            Json(body),
        )
            .into_response();

        match self {
            Self::TooManyRequests { retry_after, .. } | Self::QuotaExceeded { retry_after, .. } => {
                response
                    .headers_mut()
                    .insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
            }
            Self::NoRoom => {
                response
                    .headers_mut()
                    .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Self::Unauthorized => {
                // Required with 401 (RFC 9110, 15.5.2).
                response
                    .headers_mut()
                    .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::UnsupportedMediaType(_) => {
                // With 415, this names the coding as a possible cause (RFC 9110, 15.5.16).
                response.headers_mut().insert(
                    header::ACCEPT_ENCODING,
                    HeaderValue::from_static("identity"),
                );
            }
            Self::Parameter { .. }
            | Self::UnknownParameter { .. }
            | Self::NotFound(_)
            // The router adds `Allow`, with the methods of the route.
            | Self::MethodNotAllowed
            | Self::Body { .. }
            | Self::TooManyConnections(_)
            | Self::Internal(_)
            | Self::Unavailable(_)
            | Self::OutOfFunds(_) => {}
        }

        response
    }
}

impl Failure for RestError {
    type Body = ErrorBody;
    const STATUSES: &'static [StatusCode] = &[
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
    ];

    fn reason(status: StatusCode) -> &'static str {
        match status {
            StatusCode::BAD_REQUEST => {
                "A parameter is missing, malformed or unknown; the message names it."
            }
            StatusCode::UNAUTHORIZED => "The admin token is missing or wrong.",
            StatusCode::NOT_FOUND => "There is nothing under this name.",
            StatusCode::PAYLOAD_TOO_LARGE => "The body is too long.",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "The body is not JSON, or is compressed.",
            StatusCode::TOO_MANY_REQUESTS => {
                "The client has used up its share; `Retry-After` says when there is more."
            }
            StatusCode::SERVICE_UNAVAILABLE => "Temporarily unavailable.",
            _ => "The node failed.",
        }
    }
}

/// An input whose errors the handler answers in a form of its own.
impl<S, T: Input<S>> Input<S> for Result<T, RestError> {
    fn describe(operation: Operation) -> Operation {
        T::describe(operation)
    }
}

impl From<AnswerError> for RestError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::TooLong(_) => Self::Body {
                status: StatusCode::PAYLOAD_TOO_LARGE,
                what: error.to_string(),
            },
            AnswerError::NoRoom => Self::NoRoom,
            AnswerError::Abandoned | AnswerError::Unwritable => Self::Internal(error.to_string()),
        }
    }
}

impl From<ExecutionFailed> for RestError {
    fn from(error: ExecutionFailed) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<ParameterError> for RestError {
    fn from(ParameterError { name, place, error }: ParameterError) -> Self {
        match (error, place) {
            (ValueError::Missing, _) => Self::parameter(name, "is missing"),
            (ValueError::Malformed(what), _) => Self::parameter(name, what),
            (ValueError::Unknown(what), ParameterPlace::Path) => Self::NotFound(what),
            (ValueError::Unknown(what), ParameterPlace::Query) => {
                Self::NotFound(format!("{name}: {what}"))
            }
        }
    }
}

impl From<PathRejection> for RestError {
    fn from(rejection: PathRejection) -> Self {
        Self::parameter("path", rejection.body_text())
    }
}

impl From<BodyError> for RestError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Encoded => {
                Self::UnsupportedMediaType("a body has to come without a content encoding")
            }
            BodyError::NoRoom => Self::NoRoom,
            BodyError::TooLarge(_)
            | BodyError::TooManyValues(_)
            | BodyError::TooSlow
            | BodyError::Failed(_) => Self::Body {
                status: error.status(),
                what: error.to_string(),
            },
        }
    }
}

impl From<QueryRejection> for RestError {
    fn from(rejection: QueryRejection) -> Self {
        Self::parameter("query", rejection.body_text())
    }
}

/// The response to a path without a route.
pub async fn not_found(uri: axum::http::Uri) -> RestError {
    let path = excerpt(uri.path(), 100);
    RestError::NotFound(format!("no route {path}"))
}

/// The response to a method that a route does not take.
pub async fn method_not_allowed() -> RestError {
    RestError::MethodNotAllowed
}

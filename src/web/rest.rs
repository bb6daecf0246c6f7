//! Errors of the REST interfaces, and the one place where they become statuses.

use axum::{
    Json,
    extract::rejection::{BytesRejection, PathRejection, QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::api::MAX_BODY;
use crate::chain::{Clock, SystemClock};

/// What a REST request is answered instead of what it asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestError {
    /// A parameter is not what the route takes.
    #[error("{name}: {what}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// There is nothing here.
    #[error("{0}")]
    NotFound(String),
    /// The route exists, but not for this method.
    #[error("this route takes GET")]
    MethodNotAllowed,
    /// The body could not be read: it is too long, or the connection broke.
    #[error("{what}")]
    Body {
        /// The status that says why.
        status: StatusCode,
        /// What is wrong with it.
        what: String,
    },
    /// The body is not of a kind that the route takes.
    #[error("{0}")]
    UnsupportedMediaType(&'static str),
    /// The client has used up its share.
    #[error("rate limit exceeded: {limit} requests per minute; try again in {retry_after} s")]
    TooManyRequests {
        /// Requests per minute.
        limit: u32,
        /// Seconds after which there is room again.
        retry_after: u64,
    },
    /// The client has as many connections as it may.
    #[error("too many connections: at most {0} from one address")]
    TooManyConnections(usize),
    /// The node failed.
    #[error("{0}")]
    Internal(String),
    /// The answer cannot be given now.
    #[error("{0}")]
    Unavailable(String),
}

/// The body of every error.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorBody {
    /// Always false.
    success: bool,
    /// What is wrong, for people.
    message: String,
    /// The kind of error, for programs.
    error: &'static str,
    /// Milliseconds since the Unix epoch.
    timestamp: u64,
}

impl RestError {
    /// A parameter is not what the route takes.
    pub fn parameter(name: &'static str, what: impl Into<String>) -> Self {
        Self::Parameter { name, what: what.into() }
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Parameter { .. } => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Body { status, .. } => *status,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooManyRequests { .. } | Self::TooManyConnections(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Parameter { .. } => "invalid_parameter",
            Self::NotFound(_) => "not_found",
            Self::Body { .. } => "invalid_body",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::UnsupportedMediaType(_) => "unsupported_media_type",
            Self::TooManyRequests { .. } => "rate_limit_exceeded",
            Self::TooManyConnections(_) => "too_many_connections",
            Self::Internal(_) => "internal_error",
            Self::Unavailable(_) => "unavailable",
        }
    }
}

impl IntoResponse for RestError {
    fn into_response(self) -> Response {
        if let Self::Internal(what) = &self {
            tracing::error!(%what, "a REST request failed");
        }
        let (message, timestamp) = (self.to_string(), SystemClock.now_ms());
        let body = ErrorBody { success: false, message, error: self.code(), timestamp };
        let mut response = (self.status(), [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response();
        match self {
            Self::TooManyRequests { retry_after, .. } => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
            }
            Self::MethodNotAllowed => {
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET,HEAD,OPTIONS"));
            }
            Self::UnsupportedMediaType(_) => {
                response.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
            }
            Self::Parameter { .. }
            | Self::NotFound(_)
            | Self::Body { .. }
            | Self::TooManyConnections(_)
            | Self::Internal(_)
            | Self::Unavailable(_) => {}
        }
        response
    }
}

impl From<PathRejection> for RestError {
    fn from(rejection: PathRejection) -> Self {
        Self::parameter("path", rejection.body_text())
    }
}

impl From<BytesRejection> for RestError {
    fn from(rejection: BytesRejection) -> Self {
        match rejection.status() {
            status @ StatusCode::PAYLOAD_TOO_LARGE => {
                Self::Body { status, what: format!("the body may have at most {MAX_BODY} bytes") }
            }
            status => Self::Body { status, what: rejection.body_text() },
        }
    }
}

impl From<QueryRejection> for RestError {
    fn from(rejection: QueryRejection) -> Self {
        Self::parameter("query", rejection.body_text())
    }
}

/// The answer where nothing is.
pub async fn not_found(uri: axum::http::Uri) -> RestError {
    let path: String = uri.path().chars().take(100).collect();
    RestError::NotFound(format!("no route {path}"))
}

/// The answer to another method than `GET`.
pub async fn method_not_allowed() -> RestError {
    RestError::MethodNotAllowed
}

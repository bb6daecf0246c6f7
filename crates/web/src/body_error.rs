//! The reasons why the body of a request is not read.

use std::error::Error;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

/// The reason why a body was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It has a content encoding.
    #[error("bodies are taken without a content encoding")]
    Encoded,
    /// It is longer than this number of bytes.
    #[error("the body may have at most {0} bytes")]
    TooLarge(usize),
    /// It is JSON with more than this number of values.
    #[error("the JSON may have at most {0} values")]
    TooManyValues(usize),
    /// The client paused for too long.
    #[error("the body took too long")]
    TooSlow,
    /// The memory for bodies is in use.
    #[error("out of memory for large requests and responses; try again")]
    NoRoom,
    /// The connection failed.
    #[error("the body could not be read: {0}")]
    Failed(Box<dyn Error + Send + Sync>),
}

impl BodyError {
    /// The status of the response.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Encoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) | Self::TooManyValues(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::NoRoom => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed(_) => StatusCode::BAD_REQUEST,
        }
    }
}

impl IntoResponse for BodyError {
    fn into_response(self) -> Response {
        let mut response = (self.status(), format!("{self}\n")).into_response();
        let header = match self {
            // With 415, this names the coding as the cause (RFC 9110, 15.5.16).
            Self::Encoded => Some((header::ACCEPT_ENCODING, "identity")),
            Self::NoRoom => Some((header::RETRY_AFTER, "1")),
            Self::TooLarge(_) | Self::TooManyValues(_) | Self::TooSlow | Self::Failed(_) => None,
        };

        if let Some((name, value)) = header {
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

//! Errors of the gateway.

use axum::{
    Json,
    extract::rejection::{PathRejection, QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use tetrad_network::account::AddressError;
use tetrad_primitives::state::ReadError;
use tetrad_web::{AnswerError, BodyError, ExecutionFailed, Failure};

/// An error of the gateway: a gRPC code with the status that gateways map it to.
#[derive(Debug)]
pub enum GatewayError {
    InvalidArgument(String),
    /// The state at the height is not there: not yet, or no longer.
    InvalidHeight(String),
    NotFound(String),
    /// The state cannot be read at present.
    Unavailable(String),
    /// A simulation failed.
    Unknown(String),
    /// The node does not do this: the message names the alternative, if there is one.
    Unimplemented(&'static str),
    /// The node failed.
    Internal(String),
}

impl GatewayError {
    /// The code of gRPC.
    pub(super) fn code(&self) -> u32 {
        match self {
            Self::Unknown(_) => 2,
            Self::InvalidArgument(_) | Self::InvalidHeight(_) => 3,
            Self::NotFound(_) => 5,
            Self::Unimplemented(_) => 12,
            Self::Internal(_) => 13,
            Self::Unavailable(_) => 14,
        }
    }

    /// The SDK's code (`types/errors/errors.go`), with the text that clients match on.
    pub(super) fn abci(&self) -> (u32, String) {
        let message = self.message();
        match self {
            Self::InvalidArgument(_) => (
                18,
                format!("rpc error: code = InvalidArgument desc = {message}: invalid request"),
            ),
            Self::Unknown(_) => (
                18,
                format!("rpc error: code = Unknown desc = {message}: invalid request"),
            ),
            Self::InvalidHeight(_) => (26, format!("{message}: invalid height")),
            Self::NotFound(_) => (
                22,
                format!("rpc error: code = NotFound desc = {message}: key not found"),
            ),
            Self::Unavailable(_) => (
                1,
                format!("rpc error: code = Unavailable desc = {message}: internal error"),
            ),
            Self::Internal(_) => (
                1,
                format!("rpc error: code = Internal desc = {message}: internal error"),
            ),
            Self::Unimplemented(_) => (29, format!("{message}: feature not supported")),
        }
    }

    pub(super) fn message(&self) -> &str {
        match self {
            Self::Unimplemented(message) => message,
            Self::InvalidArgument(message)
            | Self::InvalidHeight(message)
            | Self::NotFound(message)
            | Self::Unavailable(message)
            | Self::Unknown(message)
            | Self::Internal(message) => message,
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::InvalidArgument(_) | Self::InvalidHeight(_) => StatusCode::BAD_REQUEST,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unimplemented(_) => StatusCode::NOT_IMPLEMENTED,
            Self::Unknown(_) | Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// `google.rpc.Status` as JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GatewayError")]
pub struct GatewayErrorBody {
    /// A code of gRPC.
    code: u32,
    message: String,
    details: [(); 0],
}

impl IntoResponse for GatewayError {
    fn into_response(self) -> Response {
        if let Self::Internal(what) = &self {
            tracing::error!(%what, "a query failed");
        }
        let body = GatewayErrorBody {
            code: self.code(),
            message: self.message().to_owned(),
            details: [],
        };
        (self.status(), Json(body)).into_response()
    }
}

impl Failure for GatewayError {
    type Body = GatewayErrorBody;
    const STATUSES: &'static [StatusCode] = &[
        StatusCode::BAD_REQUEST,
        StatusCode::NOT_FOUND,
        StatusCode::NOT_IMPLEMENTED,
        StatusCode::SERVICE_UNAVAILABLE,
    ];

    fn reason(status: StatusCode) -> &'static str {
        match status {
            StatusCode::BAD_REQUEST => "A part of the request is malformed.",
            StatusCode::NOT_FOUND => "There is no such thing.",
            StatusCode::SERVICE_UNAVAILABLE => "The state cannot be read now.",
            StatusCode::INTERNAL_SERVER_ERROR => "The transaction fails.",
            _ => "This node does not do that.",
        }
    }
}

impl From<ReadError> for GatewayError {
    fn from(error: ReadError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<ExecutionFailed> for GatewayError {
    fn from(error: ExecutionFailed) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<AnswerError> for GatewayError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::TooLong(_) => Self::InvalidArgument(error.to_string()),
            AnswerError::NoRoom => Self::Unavailable(error.to_string()),
            AnswerError::Abandoned | AnswerError::Unwritable => Self::Internal(error.to_string()),
        }
    }
}

impl From<BodyError> for GatewayError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::NoRoom => Self::Unavailable(error.to_string()),
            BodyError::Encoded
            | BodyError::TooLarge(_)
            | BodyError::TooManyValues(_)
            | BodyError::TooSlow
            | BodyError::Failed(_) => Self::InvalidArgument(error.to_string()),
        }
    }
}

impl From<PathRejection> for GatewayError {
    fn from(rejection: PathRejection) -> Self {
        Self::InvalidArgument(rejection.body_text())
    }
}

impl From<QueryRejection> for GatewayError {
    fn from(rejection: QueryRejection) -> Self {
        Self::InvalidArgument(rejection.body_text())
    }
}

impl From<AddressError> for GatewayError {
    fn from(error: AddressError) -> Self {
        Self::InvalidArgument(format!("invalid address: {error}"))
    }
}

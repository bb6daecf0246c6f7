//! Errors of a gateway.

use axum::{
    Json,
    extract::rejection::PathRejection,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{account::AddressError, state::ReadError};

/// Why there is no answer: a code of gRPC with the status that the gateway maps it to.
#[derive(Debug)]
pub(super) enum GatewayError {
    InvalidArgument(String),
    NotFound(String),
    /// What is asked for cannot be told now.
    Unavailable(String),
    /// What a gateway has and this one has not.
    Unimplemented,
    /// What this node will never do, and what to do instead.
    Unsupported(&'static str),
}

/// `google.rpc.Status` as JSON.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "GatewayError")]
pub(super) struct GatewayErrorBody {
    /// A code of gRPC.
    code: u32,
    message: String,
    details: [(); 0],
}

impl IntoResponse for GatewayError {
    fn into_response(self) -> Response {
        let (status, code, message) = match self {
            Self::InvalidArgument(message) => (StatusCode::BAD_REQUEST, 3, message),
            Self::NotFound(message) => (StatusCode::NOT_FOUND, 5, message),
            Self::Unavailable(message) => (StatusCode::SERVICE_UNAVAILABLE, 14, message),
            Self::Unimplemented => (StatusCode::NOT_IMPLEMENTED, 12, "Not Implemented".to_owned()),
            Self::Unsupported(message) => (StatusCode::NOT_IMPLEMENTED, 12, message.to_owned()),
        };
        (status, Json(GatewayErrorBody { code, message, details: [] })).into_response()
    }
}

impl From<PathRejection> for GatewayError {
    fn from(rejection: PathRejection) -> Self {
        Self::InvalidArgument(rejection.body_text())
    }
}

impl From<ReadError> for GatewayError {
    fn from(error: ReadError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<AddressError> for GatewayError {
    fn from(error: AddressError) -> Self {
        Self::InvalidArgument(format!("invalid address: {error}"))
    }
}

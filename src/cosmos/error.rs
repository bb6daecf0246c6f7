//! Errors of the gateway.

use axum::{
    Json,
    extract::rejection::{PathRejection, QueryRejection},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    account::AddressError,
    state::ReadError,
    web::{
        Failure,
        parameters::{ParamError, ParameterError},
    },
};

/// An error of the gateway: a gRPC code with the status that gateways map it to.
#[derive(Debug)]
pub enum GatewayError {
    InvalidArgument(String),
    NotFound(String),
    /// The state cannot be read at present.
    Unavailable(String),
    /// The node does not do this: the message names the alternative, if there is one.
    Unimplemented(&'static str),
}

/// The only error of handlers that look something up: it does not exist.
#[derive(Debug)]
pub(super) struct NotFound(pub(super) String);

/// The only error of handlers that read the state: it cannot be read at present.
#[derive(Debug)]
pub(super) struct Unavailable(ReadError);

/// The only error of handlers that refuse every request, with the alternative.
#[derive(Debug)]
pub(super) struct Unsupported(pub(super) &'static str);

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
        let (status, code, message) = match self {
            Self::InvalidArgument(message) => (StatusCode::BAD_REQUEST, 3, message),
            Self::NotFound(message) => (StatusCode::NOT_FOUND, 5, message),
            Self::Unavailable(message) => (StatusCode::SERVICE_UNAVAILABLE, 14, message),
            Self::Unimplemented(message) => (StatusCode::NOT_IMPLEMENTED, 12, message.to_owned()),
        };
        (status, Json(GatewayErrorBody { code, message, details: [] })).into_response()
    }
}

fn reason(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "A part of the request is malformed.",
        StatusCode::NOT_FOUND => "There is no such thing.",
        StatusCode::SERVICE_UNAVAILABLE => "The state cannot be read now.",
        _ => "This node does not do that.",
    }
}

/// Declares the statuses of an error type.
macro_rules! fails_with {
    ($error:ty: $($status:ident),+) => {
        impl Failure for $error {
            type Body = GatewayErrorBody;
            const STATUSES: &'static [StatusCode] = &[$(StatusCode::$status),+];

            fn reason(status: StatusCode) -> &'static str {
                reason(status)
            }
        }
    };
}

fails_with!(GatewayError: NOT_FOUND, SERVICE_UNAVAILABLE);
fails_with!(NotFound: NOT_FOUND);
fails_with!(Unavailable: SERVICE_UNAVAILABLE);
fails_with!(Unsupported: NOT_IMPLEMENTED);

impl IntoResponse for NotFound {
    fn into_response(self) -> Response {
        GatewayError::NotFound(self.0).into_response()
    }
}

impl IntoResponse for Unavailable {
    fn into_response(self) -> Response {
        GatewayError::from(self.0).into_response()
    }
}

impl IntoResponse for Unsupported {
    fn into_response(self) -> Response {
        GatewayError::Unimplemented(self.0).into_response()
    }
}

impl From<ReadError> for Unavailable {
    fn from(error: ReadError) -> Self {
        Self(error)
    }
}

impl From<ReadError> for GatewayError {
    fn from(error: ReadError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<ParameterError> for GatewayError {
    fn from(ParameterError { name, error, .. }: ParameterError) -> Self {
        match error {
            ParamError::Missing => Self::InvalidArgument(format!("empty {name}")),
            ParamError::Malformed(what) => Self::InvalidArgument(what),
            ParamError::Unknown(what) => Self::NotFound(what),
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

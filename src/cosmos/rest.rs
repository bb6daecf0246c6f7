//! The gateway's routes and errors.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Path, State, rejection::PathRejection},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use serde::Serialize;

use super::account::AccountResponse;
use crate::{
    account::{AddressError, parse_account_address},
    chain::Chain,
    network::Network,
};

/// Routes under `/cosmos`. What a gateway has and this one has not is not implemented.
pub fn router(chain: Chain, network: Arc<Network>) -> (Router, Vec<crate::web::Operation>) {
    let r = Router::new()
        .route("/cosmos/auth/v1beta1/accounts/{address}", get(account).fallback(not_implemented))
        // A gateway takes the empty text behind the slash for the address.
        .route("/cosmos/auth/v1beta1/accounts/", get(empty).fallback(not_implemented))
        .route("/cosmos", any(not_implemented))
        .route("/cosmos/", any(not_implemented))
        .route("/cosmos/{*rest}", any(not_implemented))
        .with_state((chain, network));
    (r, Vec::new())
}

/// Why there is no answer: a code of gRPC with the status that the gateway maps it to.
#[derive(Debug)]
enum GatewayError {
    InvalidArgument(String),
    NotFound(String),
    Unimplemented,
}

/// `google.rpc.Status` as JSON.
#[derive(Serialize)]
struct Body {
    code: u32,
    message: String,
    details: [(); 0],
}

impl IntoResponse for GatewayError {
    fn into_response(self) -> Response {
        let (status, code, message) = match self {
            Self::InvalidArgument(message) => (StatusCode::BAD_REQUEST, 3, message),
            Self::NotFound(message) => (StatusCode::NOT_FOUND, 5, message),
            Self::Unimplemented => (StatusCode::NOT_IMPLEMENTED, 12, "Not Implemented".to_owned()),
        };
        (status, Json(Body { code, message, details: [] })).into_response()
    }
}

async fn account(
    State((chain, network)): State<(Chain, Arc<Network>)>,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, GatewayError> {
    let Path(text) = path.map_err(|rejection| GatewayError::InvalidArgument(rejection.body_text()))?;
    let address = parse_account_address(&text, &network.hrp)
        .map_err(|error| GatewayError::InvalidArgument(format!("invalid address: {error}")))?;
    let head = chain.head();
    let account = head.state.get(address).ok_or_else(|| GatewayError::NotFound(format!("account {text} not found")))?;
    Ok(([(header::CACHE_CONTROL, "no-cache")], Json(AccountResponse::new(account, &network))).into_response())
}

async fn empty() -> GatewayError {
    GatewayError::InvalidArgument(format!("invalid address: {}", AddressError::Empty))
}

async fn not_implemented() -> GatewayError {
    GatewayError::Unimplemented
}

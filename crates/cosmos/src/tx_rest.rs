//! The gateway's routes that take a transaction in their body.

use axum::{
    extract::{FromRequest, Request, State},
    http::StatusCode,
};
use schemars::JsonSchema;
use serde_json::Value;
use tetrad_primitives::block::cosmos::MAX_COSMOS_TX_SIZE;
use tetrad_web::{Api, Held, Input, Operation, receive_json};

use super::{Gateway, error::GatewayError, protobuf::from_json, sdk_reply::SdkReply};

/// Most bytes of a body: a transaction in base64, with room for one that is too large by a little,
/// so that it gets the SDK's error.
const MAX_TX_BODY: usize = 4 * MAX_COSMOS_TX_SIZE;

/// Adds the routes.
pub(super) fn routes(api: Api<Gateway>) -> Api<Gateway> {
    api.inert_post("/cosmos/tx/v1beta1/txs", broadcast, "Sends a transaction.")
        .named("broadcastTx")
        .inert_post(
            "/cosmos/tx/v1beta1/simulate",
            simulate,
            "The gas that a transaction needs.",
        )
        .named("simulateTx")
        // As in the SDK, a transaction that fails is an unknown error of gRPC.
        .fails::<GatewayError>(&[StatusCode::INTERNAL_SERVER_ERROR])
}

/// The body of both routes, in protobuf's JSON.
#[derive(JsonSchema)]
#[allow(
    dead_code,
    reason = "the body is read by its descriptor; this describes it"
)]
struct TxRequest {
    /// `TxRaw` in base64.
    tx_bytes: String,
    /// How long a broadcast waits: `BROADCAST_MODE_SYNC`, or `BROADCAST_MODE_ASYNC` for not even
    /// the checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
}

/// A body of JSON, with the memory that it holds.
struct TxBody(Value, Held);

impl FromRequest<Gateway> for TxBody {
    type Rejection = GatewayError;

    async fn from_request(request: Request, _: &Gateway) -> Result<Self, GatewayError> {
        let (body, held) = receive_json(request, MAX_TX_BODY).await?;
        let read = serde_json::from_slice(&body)
            .map_err(|error| GatewayError::InvalidArgument(error.to_string()));
        Ok(Self(read?, held))
    }
}

impl Input<Gateway> for TxBody {
    fn describe(operation: Operation) -> Operation {
        operation.body::<TxRequest>()
    }
}

async fn broadcast(State(gateway): State<Gateway>, body: TxBody) -> Result<SdkReply, GatewayError> {
    answer(&gateway, "cosmos.tx.v1beta1.Service/BroadcastTx", body).await
}

async fn simulate(State(gateway): State<Gateway>, body: TxBody) -> Result<SdkReply, GatewayError> {
    answer(&gateway, "cosmos.tx.v1beta1.Service/Simulate", body).await
}

async fn answer(
    gateway: &Gateway,
    name: &str,
    TxBody(body, _held): TxBody,
) -> Result<SdkReply, GatewayError> {
    let method = gateway.methods.get(name);
    let method =
        method.ok_or_else(|| GatewayError::Internal(format!("{name} is not described")))?;

    let request = from_json(method.descriptor.input(), body);
    let request = request.map_err(|error| GatewayError::InvalidArgument(error.to_string()))?;

    let (body, _) = gateway
        .ask(
            method,
            || Ok(request),
            None,
            |gateway, method, content| content.json(gateway, method),
        )
        .await?;
    Ok(SdkReply(body))
}

//! Letting a client open a WebSocket: who it is, and whether it may have one more.

use std::net::{Ipv4Addr, SocketAddr};

use axum::{
    extract::{ConnectInfo, FromRequestParts, Request, WebSocketUpgrade},
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::{ClientAddresses, ClientKey, ClientSlots, ConnectionSlot, Operation, RestError, Slot};

/// What a WebSocket holds on to for as long as it is open: its client's slot, and the listener's count of connections,
/// which would otherwise end with the upgrade.
pub struct HeldSlots {
    _client: Slot,
    _connection: Option<ConnectionSlot>,
}

/// A route that upgrades to WebSocket, for the OpenAPI document.
pub fn socket_operation(tag: &'static str, path: &'static str, summary: &'static str) -> Operation {
    let plain = "text/plain; charset=utf-8";
    Operation::new(tag, summary)
        .answers_bare(StatusCode::SWITCHING_PROTOCOLS, "The WebSocket is open.")
        .answers_in::<String>(plain, StatusCode::BAD_REQUEST, "The request is no upgrade to WebSocket.")
        .answers_in::<String>(plain, StatusCode::UPGRADE_REQUIRED, "The request is no upgrade to WebSocket.")
        .fails(&[429])
        .at("get", path)
}

/// The upgrade that a request asks for, if its client may have one more socket; what to answer otherwise.
///
/// # Errors
/// The answer: the request is no upgrade, or the client has as many sockets as it may.
pub async fn admit_socket(
    request: Request,
    addresses: &ClientAddresses,
    sockets: &ClientSlots,
) -> Result<(WebSocketUpgrade, HeldSlots), Response> {
    let (mut parts, _) = request.into_parts();
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await.map_err(IntoResponse::into_response)?;
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(peer)| peer.ip());
    let client = ClientKey::from(addresses.client(peer, &parts.headers));
    let slot = sockets.take(client).ok_or_else(|| RestError::TooManyConnections(sockets.max()).into_response())?;
    let held = HeldSlots { _client: slot, _connection: parts.extensions.get::<ConnectionSlot>().cloned() };
    Ok((upgrade, held))
}

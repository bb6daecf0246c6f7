//! Accepting the WebSockets of an interface, within its limits.

use axum::{
    body::Body,
    extract::{FromRequestParts, Request, WebSocketUpgrade},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{handshake::derive_accept_key, protocol::Role},
};

use super::{SocketProtocol, WebSockets, task::SocketTask};
use crate::{ConnectionSlot, Operation, RequestContext, RestError, budget::UNCOUNTED};

impl WebSockets {
    /// Upgrades a request, and serves the connection with the protocol that `begin` creates.
    /// Refuses requests that are not an upgrade, and clients that have reached their limit of
    /// connections.
    pub async fn accept<P: SocketProtocol>(
        &self,
        request: Request,
        begin: impl FnOnce() -> P + Send + 'static,
    ) -> Response {
        let (mut parts, _) = request.into_parts();

        // Checks the request. What it would serve takes messages as a whole only, so that the
        // connection is not upgraded by it.
        let upgrade = parts.extensions.get::<OnUpgrade>().cloned();
        if let Err(rejection) = WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
            return rejection.into_response();
        }
        let Some(upgrade) = upgrade else {
            return StatusCode::UPGRADE_REQUIRED.into_response();
        };

        let context = RequestContext::current().unwrap_or_default();
        let slot = self
            .0
            .slots
            .as_ref()
            .map(|slots| slots.take(context.client.address).ok_or(slots.max()));
        let slot = match slot.transpose() {
            Ok(slot) => slot,
            Err(max) => return RestError::TooManyConnections(max).into_response(),
        };

        // Kept, so that the listener continues to count the connection after the upgrade.
        let connection = parts.extensions.remove::<ConnectionSlot>();
        let held = (slot, connection, self.0.open.hold());
        let flow = context.flow.clone();
        let peer = parts.extensions.get().copied().unwrap_or_default();

        // Shorter messages are never counted.
        if self.0.limits.max_message > UNCOUNTED {
            flow.count();
        }

        let target = self.0.fault_scope.map(|scope| {
            flow.faults()
                .target(scope, peer, &parts.headers, &parts.uri)
        });

        let sockets = self.clone();
        let config = self.0.limits.config();
        // The upgrade is complete only once the response below is sent.
        tokio::spawn(async move {
            let _held = held;
            let Ok(upgraded) = upgrade.await else { return };
            let stream = TokioIo::new(upgraded);
            let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
            let task = SocketTask::new(socket, begin(), flow, sockets).with_fault_target(target);
            context.scope(task.run()).await;
        });

        switching_protocols(&parts.headers)
    }
}

/// The response to a request that is an upgrade (RFC 6455, 4.2.2).
fn switching_protocols(request: &HeaderMap) -> Response {
    let key = request
        .get(header::SEC_WEBSOCKET_KEY)
        .map_or(&[][..], HeaderValue::as_bytes);
    let accept = HeaderValue::try_from(derive_accept_key(key)).expect("base64 is a header value");

    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().extend([
        (header::CONNECTION, HeaderValue::from_static("upgrade")),
        (header::UPGRADE, HeaderValue::from_static("websocket")),
        (header::SEC_WEBSOCKET_ACCEPT, accept),
    ]);
    response
}

/// The description of a route that upgrades to WebSocket, for the OpenAPI document.
pub fn socket_operation(tag: &'static str, path: &'static str, summary: &'static str) -> Operation {
    let plain = "text/plain; charset=utf-8";
    Operation::new(tag, summary)
        .answers_bare(StatusCode::SWITCHING_PROTOCOLS, "The WebSocket is open.")
        .answers_in::<String>(
            plain,
            StatusCode::BAD_REQUEST,
            "The request is no upgrade to WebSocket.",
        )
        .answers_in::<String>(
            plain,
            StatusCode::UPGRADE_REQUIRED,
            "The request is no upgrade to WebSocket.",
        )
        .fails::<RestError>(&[StatusCode::TOO_MANY_REQUESTS])
        .answers_otherwise("The WebSocket was refused.")
        .at("get", path)
}

//! JSON-RPC over WebSocket: requests as over HTTP, and subscriptions.

use axum::extract::ws::Utf8Bytes;

use super::{
    Rpc, RpcConfig,
    envelope::{self, Body},
    subscriptions::{Follower, Subscriptions},
};
use crate::{
    chain::Event,
    web::{Client, FaultScope, Shutdown, SocketLimits, SocketProtocol, SocketReply, WebSockets},
};

/// The size of a connection's buffers in bytes.
const BUFFER: usize = 16 << 10;

/// The WebSockets of JSON-RPC. As with HTTP, only the listener limits connections, and messages are not limited in rate:
/// the number of requests in progress is, and clients share execution fairly.
pub fn web_sockets(config: &RpcConfig, shutdown: Shutdown) -> WebSockets {
    let limits = SocketLimits {
        max_message: config.max_body,
        buffer: BUFFER,
        messages: None,
        per_client: None,
        write_timeout: config.write_timeout,
    };
    WebSockets::new("rpc", Some(FaultScope::Rpc), limits, config.addresses.clone(), shutdown)
}

/// JSON-RPC on one WebSocket.
pub(super) struct RpcSocket {
    rpc: Rpc,
    client: Client,
    subscriptions: Subscriptions,
    /// Follows the chain while there are subscriptions.
    follower: Option<Follower>,
}

impl RpcSocket {
    pub(super) fn new(rpc: Rpc, client: Client) -> Self {
        Self { rpc, client, subscriptions: Subscriptions::default(), follower: None }
    }

    /// Answers the two methods that belong to a connection; none if the request calls another one.
    fn subscription_request(&mut self, text: &str) -> Option<String> {
        if !text.contains("subscribe") {
            return None;
        }
        let Ok(Body::Single(Ok(request))) = envelope::read_body(text.as_bytes(), 0) else { return None };
        let context = &self.rpc.context;
        let answer = match &*request.method {
            "eth_subscribe" => self.subscriptions.subscribe(context, request.params).map(|id| format!("\"{id}\"")),
            "eth_unsubscribe" => self.subscriptions.unsubscribe(context, request.params).map(|was| was.to_string()),
            _ => return None,
        };
        if self.subscriptions.is_empty() {
            self.follower = None;
        } else if self.follower.is_none() {
            self.follower = Some(Follower::new(&context.chain));
        }
        let mut out = Vec::new();
        match answer {
            Ok(result) => {
                envelope::begin(request.id, &mut out);
                out.extend_from_slice(result.as_bytes());
                envelope::end(&mut out);
            }
            Err(error) => envelope::error(request.id, &error, context.dialect, &mut out),
        }
        String::from_utf8(out).ok()
    }
}

impl SocketProtocol for RpcSocket {
    type Event = Event;

    const EVERY_EVENT: bool = true;

    fn receive(&mut self, message: Utf8Bytes) -> SocketReply {
        if let Some(answer) = self.subscription_request(&message) {
            return SocketReply::Now(answer.into());
        }
        let (rpc, client) = (self.rpc.clone(), self.client);
        SocketReply::Later(Box::pin(async move {
            let (answer, held) = rpc.answer(client, message.as_bytes()).await;
            // Responses are JSON, which is UTF-8.
            (String::from_utf8(answer).unwrap_or_default().into(), held)
        }))
    }

    async fn next_event(&mut self) -> Option<Event> {
        match &mut self.follower {
            Some(follower) => follower.next().await,
            None => std::future::pending().await,
        }
    }

    fn messages<'a>(&'a self, event: &'a Event) -> impl Iterator<Item = Utf8Bytes> + Send + 'a {
        self.subscriptions.notifications(event).map(Utf8Bytes::from)
    }
}

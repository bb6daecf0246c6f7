//! JSON-RPC over WebSocket: requests as over HTTP, and subscriptions. On a Unix socket the same is
//! spoken without frames, as geth's IPC.
//!
//! A batch may subscribe. These calls are executed before the others, when the message arrives, and
//! events wait until the response is written, so that none is lost, as in geth.

use axum::body::Bytes;
use tetrad_chain::Event;
use tetrad_web::{
    AnswerError, FaultScope, Front, Shutdown, SocketLimits, SocketMessage, SocketProtocol,
    SocketReply, Utf8Bytes, WebSockets,
};

use super::{
    Rpc, RpcConfig,
    batch::SocketResults,
    envelope::{self, Batch, Body, Request},
    json::Raw,
    subscriptions::{Follower, Subscriptions},
    table::SocketResult,
};

/// The size of a connection's buffers in bytes.
const BUFFER: usize = 16 << 10;

/// The WebSockets of JSON-RPC. As with HTTP, only the listener limits connections, and messages are
/// not limited in rate: the number of requests in progress is, and clients share execution fairly.
pub fn web_sockets(config: &RpcConfig, shutdown: Shutdown) -> WebSockets {
    let limits = SocketLimits {
        max_message: config.max_body,
        buffer: BUFFER,
        messages: None,
        per_client: None,
        write_timeout: config.write_timeout,
    };
    WebSockets::new("rpc", Some(FaultScope::Rpc), limits, shutdown)
}

/// Has a front serve JSON-RPC on the connections of a Unix socket that begin with JSON instead of
/// HTTP. They count among the `sockets`, and have their limits.
pub fn with_ipc(front: Front, rpc: Rpc, sockets: WebSockets) -> Front {
    front.with_json(sockets, move || RpcSocket::new(rpc.clone()))
}

/// JSON-RPC on one WebSocket.
pub(super) struct RpcSocket {
    rpc: Rpc,
    subscriptions: Subscriptions,
    /// Follows the chain while there are subscriptions.
    follower: Option<Follower>,
}

impl RpcSocket {
    pub(super) fn new(rpc: Rpc) -> Self {
        Self {
            rpc,
            subscriptions: Subscriptions::default(),
            follower: None,
        }
    }

    /// Executes a method that needs a connection, and returns the result as JSON; none if the
    /// request calls another one.
    fn execute(&mut self, request: &Request<'_>) -> Option<SocketResult> {
        let run = self.rpc.table.get_on_connection(&request.method)?;
        let context = &self.rpc.context;
        let result = run(&mut self.subscriptions, context, request.params);

        // Events are received only while a subscription needs them.
        if self.subscriptions.is_empty() {
            self.follower = None;
        } else if self.follower.is_none() {
            self.follower = Some(Follower::new(&context.chain));
        }
        Some(result)
    }

    /// Answers a request for one of these methods; none if the message is anything else.
    fn answer_single(&mut self, body: &Body<'_>) -> Option<SocketReply> {
        let Body::Single(Ok(request)) = body else {
            return None;
        };
        let result = self.execute(request)?;
        if request.id.is_none() {
            return Some(SocketReply::Nothing);
        }

        let mut out = self.rpc.context.writer(usize::MAX);
        self.rpc
            .finish(request.response_id(), result.map(Raw), &mut out);
        Some(SocketReply::Now(out.into_answer().into()))
    }

    /// Executes the calls of these methods in a batch, before its other elements.
    fn execute_batch(&mut self, body: Body<'_>) -> SocketResults {
        let Body::Batch(Batch::Items(items)) = body else {
            return SocketResults::new();
        };

        let dialect = self.rpc.context.dialect;
        // The future that answers the rest cannot change the connection's subscriptions.
        let mut results = SocketResults::new();
        for (at, item) in items.into_iter().enumerate() {
            if let Ok(request) = item.request(dialect)
                && let Some(result) = self.execute(&request)
            {
                results.insert(at, result);
            }
        }
        results
    }
}

impl SocketProtocol for RpcSocket {
    type Event = Event;

    const EVERY_EVENT: bool = true;

    fn receive(&mut self, message: Utf8Bytes) -> SocketReply {
        let mut of_socket = SocketResults::new();
        // Most messages are for other methods, and are read only where they are answered.
        if self.rpc.table.may_need_connection(&message)
            && let max_batch = self.rpc.context.config.max_batch
            && let Ok(body) =
                envelope::read_body(message.as_bytes(), max_batch, self.rpc.context.dialect)
        {
            if let Some(reply) = self.answer_single(&body) {
                return reply;
            }
            of_socket = self.execute_batch(body);
        }

        let subscribes = !of_socket.is_empty();
        let rpc = self.rpc.clone();
        let body = Bytes::from(message);
        let answer = Box::pin(async move { rpc.answer_with(&body, of_socket).await.into() });
        // The client learns the identifier before the subscription's first event.
        if subscribes {
            SocketReply::BeforeEvents(answer)
        } else {
            SocketReply::Later(answer)
        }
    }

    async fn next_event(&mut self) -> Option<Event> {
        match &mut self.follower {
            Some(follower) => follower.next().await,
            // Without subscriptions there are no events.
            None => std::future::pending().await,
        }
    }

    fn messages<'a>(
        &'a self,
        event: &'a Event,
    ) -> impl Iterator<Item = Result<Option<SocketMessage>, AnswerError>> + Send + 'a {
        let written = self.subscriptions.notifications(event, &self.rpc.context);
        written.map(|message| Ok(message?.map(SocketMessage::from)))
    }
}

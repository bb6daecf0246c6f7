//! Serving HTTP on one connection: HTTP/1.1 and HTTP/2 on the same port, with TLS and without.

use std::{
    convert::Infallible,
    future::pending,
    pin::{Pin, pin},
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderMap, HeaderValue, Request, StatusCode, Version, header},
    response::{IntoResponse, Response},
};
use hyper::{
    body::Incoming,
    service::{Service, service_fn},
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tower::ServiceExt;

use super::{
    ClientAddresses, ConnectionSlot, Flow, Front, Hosts, IncomingBody, ListenerLimits, Peer,
    RequestContext, RequestIds, RestError, Shutdown,
    accepted::AcceptedStream,
    answer::CountedBody,
    compression::Negotiation,
    flow::{StreamBytes, Watched},
    preface::{self, Protocol, Resumed},
    shared_stream::SharedStream,
    socket::JsonService,
    streams::{PIECE_SIZE, Pieces, SHORT_RESPONSE, Streams},
    tls::HTTP_2,
};

/// Most concurrent requests of an HTTP/2 connection.
const STREAMS: u32 = 128;
/// Most bytes of the headers of an HTTP/2 request; for HTTP/1.1 hyper has a limit of its own.
const HEADER_BYTES: u32 = 16 << 10;
/// Bytes of each of hyper's buffers for a connection, which are not counted: it fits the headers of
/// a request.
const BUFFER: usize = 64 << 10;
/// Bytes that a client of HTTP/2 may send before the node has read them, on a stream and on a
/// connection.
const STREAM_WINDOW: u32 = 64 << 10;
const CONNECTION_WINDOW: u32 = 256 << 10;

/// An accepted connection with the context to serve it.
pub(super) struct Connection {
    pub(super) requests: Arc<Requests>,
    pub(super) limits: ListenerLimits,
    pub(super) shutdown: Shutdown,
}

/// The service for the requests of one connection, which shares it with no other.
pub(super) struct Requests {
    pub(super) peer: Peer,
    pub(super) slot: ConnectionSlot,
    pub(super) front: Front,
    pub(super) hosts: Arc<Hosts>,
    /// The host name of its requests, once it was permitted.
    pub(super) permitted_host: OnceLock<HeaderValue>,
    pub(super) ids: Arc<RequestIds>,
    pub(super) flow: Arc<Flow>,
    /// Determines the client of a request.
    pub(super) addresses: ClientAddresses,
}

impl Requests {
    /// Answers a request. This is where every response passes: its body is counted, compressed,
    /// made `ready` for the protocol, and sent.
    async fn answer<B>(
        self: Arc<Self>,
        request: Request<Incoming>,
        ready: fn(CountedBody) -> B,
    ) -> Result<Response<B>, Infallible> {
        let negotiation = Negotiation::of(&request);
        let client = self.addresses.of(self.peer, request.headers());
        let context = RequestContext {
            client,
            flow: self.flow.clone(),
        };

        let is_stream = request.version() == Version::HTTP_2;
        let mut own_bytes = None;
        let mut pending_stream = None;
        if is_stream {
            // A short response has room from the beginning: what was executed must not be refused
            // then.
            own_bytes = self
                .flow
                .add_stream_bytes(head_bytes(&request).max(SHORT_RESPONSE));
            pending_stream = self.flow.add_pending_stream(client.address);
            if own_bytes.is_none() || pending_stream.is_none() {
                return Ok(no_room().map(ready));
            }
        }

        let request = IncomingBody::of(request, &self.flow);
        let answered = {
            let peer_left = pin!(self.peer_left(is_stream));
            // Pinned in place: moving a future copies its whole state. It is dropped outside of its
            // context.
            let responding = pin!(self.respond(request));
            tokio::select! {
                biased;
                Ok(response) = context.scope(responding) => Some(response),
                () = peer_left => None,
            }
        };
        let Some(mut response) = answered else {
            // hyper would wait for the rest of its body, which is not sent. The future above has
            // put it back.
            drop(self.flow.take_rest());
            return Ok(abandoned().map(ready));
        };

        self.discard_rest(&mut response).await;

        let mut counted = CountedBody::count(response, self.flow.budget()).await;
        if !negotiation.changes_nothing() {
            counted = negotiation.apply(counted, self.flow.budget()).await;
        }

        if !is_stream {
            return Ok(counted.map(ready));
        }

        // Released first, to make room for the bytes of the response.
        drop(pending_stream);
        Ok(self.hold_stream_bytes(counted, own_bytes).map(ready))
    }

    /// Waits until the peer has left. HTTP/2 reads all the time, and ends the requests of a peer
    /// that left.
    async fn peer_left(&self, is_stream: bool) {
        if is_stream {
            pending().await
        } else {
            self.flow.peer_left().await
        }
    }

    /// Reads what the client still sends of the request. Closing the connection meanwhile would
    /// lose the response.
    async fn discard_rest(&self, response: &mut Response) {
        if let Some(rest) = self.flow.take_rest()
            && !Box::pin(rest.discard()).await
        {
            response
                .headers_mut()
                .insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// Counts the bytes of a response that wait to be sent on an HTTP/2 stream; those of a short
    /// one were counted with the request. Without room, the response is a refusal.
    fn hold_stream_bytes(
        &self,
        response: Response<CountedBody>,
        own_bytes: Option<StreamBytes>,
    ) -> Response<CountedBody> {
        let waiting = Pieces::waiting_bytes(response.body());
        let stream_bytes = if waiting <= SHORT_RESPONSE {
            own_bytes
        } else {
            self.flow.add_stream_bytes(waiting)
        };

        match stream_bytes {
            Some(bytes) => response.map(|body| body.with_stream_bytes(bytes)),
            None => no_room(),
        }
    }

    async fn respond(&self, request: Request<IncomingBody>) -> Result<Response, Infallible> {
        // Before everything else, so that refusals have an id as well.
        let named = self.ids.of(&request);
        if let Some(refusal) = self.hosts.refusal(&request, &self.permitted_host) {
            return named.answer(async { refusal }).await;
        }

        // Faults are injected by the router, so the fast path is not used while they are active.
        let request = match self
            .front
            .fast
            .as_ref()
            .filter(|_| !self.front.faults.are_active())
        {
            None => request,
            Some(fast) => match fast.answer(request) {
                Ok(answer) => return named.answer(answer).await,
                Err(request) => *request,
            },
        };

        // Boxed for the router only; the fast path reads the body as it is.
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.peer);
        request.extensions_mut().insert(self.slot.clone());

        let router = self.front.router.clone();
        let answer = named.answer(async {
            let Ok(answer) = router.oneshot(request).await;
            answer
        });
        answer.await.inspect(|answer| {
            // From here on the WebSocket's own write timeouts apply.
            if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
                self.flow.upgrade();
            }
        })
    }
}

/// The response to a request that no client waits for any longer. It ends the connection, with
/// the requests behind this one.
fn abandoned() -> Response<CountedBody> {
    let response = (StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")]).into_response();
    response.map(CountedBody::from_counted)
}

/// The refusal of a request for which there is no memory.
fn no_room() -> Response<CountedBody> {
    RestError::NoRoom
        .into_response()
        .map(CountedBody::from_counted)
}

/// The bytes of a request's head, as HTTP/2 counts them (RFC 9113 section 6.5.2).
fn head_bytes<B>(request: &Request<B>) -> usize {
    const FIELD: usize = 32;
    let fields = request
        .headers()
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + FIELD);

    let target = request
        .uri()
        .path_and_query()
        .map_or(0, |target| target.as_str().len());

    fields.sum::<usize>() + target
}

impl Connection {
    /// Serves requests until either side closes the connection.
    pub(super) async fn serve(self, accepted: AcceptedStream) {
        match accepted {
            AcceptedStream::Tcp(stream) => {
                // Responses are small and complete: waiting to fill packets only delays them.
                let _ = stream.set_nodelay(true);
                let stream = self.watch(SharedStream::tcp(stream));
                self.look(stream, None).await;
            }
            AcceptedStream::Tls(stream, acceptor) => {
                let _ = stream.set_nodelay(true);
                let stream = self.watch(SharedStream::tcp(stream));
                // Limited like the head of a request, or silent peers would occupy connections.
                match timeout(self.limits.header_timeout, acceptor.accept(stream)).await {
                    // The handshake negotiated the protocol.
                    Ok(Ok(stream)) if stream.get_ref().1.alpn_protocol() == Some(HTTP_2) => {
                        self.http2(stream).await
                    }
                    Ok(Ok(stream)) => self.http1(stream).await,
                    Ok(Err(error)) => {
                        tracing::debug!(%error, peer = %self.requests.peer.address, "the TLS handshake failed")
                    }
                    Err(_) => {
                        tracing::debug!(peer = %self.requests.peer.address, "the TLS handshake took too long")
                    }
                }
            }
            #[cfg(unix)]
            AcceptedStream::Unix(stream) => {
                let stream = self.watch(SharedStream::unix(stream));
                let json = self.requests.front.json.clone();
                self.look(stream, json).await;
            }
        }
    }

    fn watch(&self, stream: SharedStream) -> Watched {
        Watched::new(
            stream,
            self.requests.flow.clone(),
            self.limits.write_timeout,
        )
    }

    /// Serves a plain stream, whose first bytes tell the protocol. Most proxies and browsers never
    /// use HTTP/2 without TLS; gRPC tools and `curl --http2-prior-knowledge` do. `json` serves
    /// streams of documents, where they are accepted.
    async fn look<S>(mut self, stream: S, json: Option<Arc<dyn JsonService>>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let limit = self.limits.header_timeout;
        // Clients of documents connect long before they ask, and expect to stay connected.
        let silence = match json {
            Some(_) => Duration::MAX,
            None => limit,
        };
        let looked = tokio::select! {
            looked = preface::look(stream, silence, limit) => looked,
            // No request has begun that would have to be finished.
            () = self.shutdown.begun() => return,
        };

        match looked {
            Ok((stream, protocol)) => match (protocol, json) {
                (Protocol::Http2, _) => self.http2::<Resumed<S>>(stream).await,
                (Protocol::Json, Some(json)) => self.documents(stream, &*json).await,
                (Protocol::Http1 | Protocol::Json, _) => self.http1::<Resumed<S>>(stream).await,
            },
            Err(error) => {
                tracing::trace!(%error, peer = %self.requests.peer.address, "connection ended")
            }
        }
    }

    /// Serves a stream of JSON documents.
    async fn documents<S>(self, stream: S, json: &dyn JsonService)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let peer = self.requests.peer;
        let context = RequestContext {
            client: self.requests.addresses.of(peer, &HeaderMap::new()),
            flow: self.requests.flow.clone(),
        };
        json.serve(Box::new(stream), context, peer).await;
    }

    async fn http1<S>(self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .max_buf_size(BUFFER)
            .serve_connection(TokioIo::new(stream), self.service(|body| body))
            .with_upgrades();

        self.run(pin!(connection), |connection| {
            connection.graceful_shutdown()
        })
        .await;
    }

    /// WebSockets are not offered here (RFC 8441 is optional): browsers open a connection of
    /// HTTP/1.1 for them.
    async fn http2<S>(self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // An idle peer answers the ping; a peer that is gone does not.
        let silence = self.limits.header_timeout;
        let streams = Streams {
            write_timeout: self.limits.write_timeout,
            flow: self.requests.flow.clone(),
        };

        let connection = hyper::server::conn::http2::Builder::new(streams)
            .timer(TokioTimer::new())
            .keep_alive_interval(silence)
            .keep_alive_timeout(silence)
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEADER_BYTES)
            .initial_stream_window_size(STREAM_WINDOW)
            .max_send_buf_size(PIECE_SIZE)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .serve_connection(TokioIo::new(stream), self.service(Pieces::of));

        self.run(pin!(connection), |connection| {
            connection.graceful_shutdown()
        })
        .await;
    }

    /// Serves a connection until it ends, or until shutdown cuts it.
    async fn run<C>(mut self, mut connection: Pin<&mut C>, shut_down_gracefully: fn(Pin<&mut C>))
    where
        C: Future<Output = Result<(), hyper::Error>>,
    {
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.shutdown.begun() => {
                // Requests under way are finished; the connection then closes.
                shut_down_gracefully(connection.as_mut());
                tokio::select! {
                    ended = connection => ended,
                    () = self.shutdown.cut() => return,
                }
            }
        };
        self.ended(ended);
    }

    /// The service for hyper, which adapts the bodies of responses to the protocol.
    fn service<B>(
        &self,
        ready: fn(CountedBody) -> B,
    ) -> impl Service<
        Request<Incoming>,
        Response = Response<B>,
        Error = Infallible,
        Future: Send + 'static,
    > + use<B>
    where
        B: HttpBody<Data = Bytes, Error = axum::Error> + Send + 'static,
    {
        let requests = self.requests.clone();
        service_fn(move |request| requests.clone().answer(request, ready))
    }

    fn ended(&self, ended: Result<(), hyper::Error>) {
        if let Err(error) = ended {
            tracing::trace!(%error, peer = %self.requests.peer.address, "connection ended");
        }
    }
}

//! Requests as bytes, and a client that measures responses.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    time::{Duration, Instant},
};

use axum::{
    body::Bytes,
    http::{HeaderMap, Request as HttpRequest},
};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::{TcpSocket, TcpStream};

use super::subject::Subject;

/// Bytes of a response that are read. Longer responses count as this long.
pub(super) const READ_LIMIT: usize = 16 << 20;
/// Bytes of a response that are kept for inspection.
const KEPT: usize = 1 << 20;
/// How long a response may take.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);

/// The protocol of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Protocol {
    /// HTTP/1.1.
    Http,
    /// HTTP/2.
    Http2,
    /// A unary gRPC call.
    Grpc,
}

/// A request to a listener.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The listener's name in the ready file.
    pub listener: String,
    pub protocol: Protocol,
    pub method: String,
    /// Path and query.
    pub target: String,
    pub media: Option<String>,
    pub body: Bytes,
}

impl Request {
    /// The HTTP/1.1 head with further fields, each with its line end.
    pub(super) fn head(&self, fields: &str) -> String {
        let media = self
            .media
            .iter()
            .map(|media| format!("content-type: {media}\r\n"))
            .collect::<String>();
        format!(
            "{} {} HTTP/1.1\r\nhost: localhost\r\n{media}{fields}\r\n",
            self.method, self.target
        )
    }

    /// The complete HTTP/1.1 request.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let body = self.sent_body();
        let length = if self.media.is_some() {
            format!("content-length: {}\r\n", body.len())
        } else {
            String::new()
        };
        [self.head(&length).as_bytes(), &body].concat()
    }

    /// The body as sent.
    pub(super) fn sent_body(&self) -> Bytes {
        match self.protocol {
            Protocol::Http | Protocol::Http2 => self.body.clone(),
            Protocol::Grpc => self.framed(),
        }
    }

    /// The message of a gRPC call with its frame.
    fn framed(&self) -> Bytes {
        let length = u32::try_from(self.body.len())
            .expect("no message is that long")
            .to_be_bytes();
        [&[0][..], &length, &self.body].concat().into()
    }

    /// Whether an ordinary client can send the request: some values make a target too long, or an
    /// invalid URI.
    pub(super) fn is_sendable(&self) -> bool {
        self.http().is_ok()
    }

    fn http(&self) -> Result<HttpRequest<Full<Bytes>>, String> {
        let mut request = HttpRequest::builder().method(self.method.as_str());
        request = match self.protocol {
            Protocol::Http => request.uri(&self.target).header("host", "localhost"),
            Protocol::Http2 => request.uri(format!("http://localhost{}", self.target)),
            Protocol::Grpc => request
                .uri(format!("http://localhost{}", self.target))
                .header("te", "trailers"),
        };
        if let Some(media) = &self.media {
            request = request.header("content-type", media);
        }
        request
            .body(Full::new(self.sent_body()))
            .map_err(|error| error.to_string())
    }
}

/// The outcome of a request.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub status: u16,
    /// The gRPC status.
    pub grpc_status: Option<u32>,
    pub media: String,
    /// Bytes of the body, of which at most [`READ_LIMIT`] were read.
    pub bytes: usize,
    /// The beginning of the body.
    pub body: Vec<u8>,
    pub took: Duration,
}

impl Outcome {
    /// Whether the whole body was kept.
    fn is_whole(&self) -> bool {
        self.bytes == self.body.len()
    }

    /// The error of a JSON-RPC response.
    fn rpc_error(&self) -> Option<i64> {
        let start = &self.body[..self.body.len().min(200)];
        if !self.is_whole() || !String::from_utf8_lossy(start).contains("\"error\"") {
            return None;
        }
        serde_json::from_slice::<Value>(&self.body).ok()?["error"]["code"].as_i64()
    }

    /// Whether this is the SDK's answer to a transaction that fails in a simulation: UNKNOWN, in
    /// the gateways' notation.
    fn is_unknown(&self) -> bool {
        let is_json = self.is_whole() && self.media.starts_with("application/json");
        is_json && serde_json::from_slice::<Value>(&self.body).is_ok_and(|body| body["code"] == 2)
    }

    /// Whether the request was served rather than refused.
    pub(super) fn is_success(&self) -> bool {
        let is_served =
            (200..300).contains(&self.status) && self.grpc_status.is_none_or(|status| status == 0);
        is_served && self.rpc_error().is_none()
    }

    /// The defect that no response may have; none if it has none.
    pub(super) fn defect(&self) -> Option<String> {
        // gRPC's INTERNAL and DATA_LOSS.
        if let Some(status @ (13 | 15)) = self.grpc_status {
            return Some(format!("gRPC status {status}"));
        }
        // CometBFT answers every JSON-RPC error of a GET with status 500.
        let may_fail = matches!(self.status, 501 | 503 | 504)
            || self.rpc_error().is_some()
            || self.is_unknown();
        if self.status >= 500 && !may_fail {
            return Some(format!("status {}: {}", self.status, self.excerpt()));
        }
        if self.is_whole() && self.bytes > 0 && self.media.starts_with("application/json") {
            // Its numbers and its depth are the client's problem.
            let parsed = serde_json::from_slice::<&serde_json::value::RawValue>(&self.body);
            return parsed
                .err()
                .map(|error| format!("no JSON: {error}: {}", self.excerpt()));
        }
        None
    }

    /// The beginning of the body as text.
    pub(super) fn excerpt(&self) -> String {
        String::from_utf8_lossy(&self.body[..self.body.len().min(200)]).into_owned()
    }
}

/// Connects from an address of this machine, optionally with a custom receive buffer.
pub(super) async fn connect(
    to: SocketAddr,
    from: IpAddr,
    buffer: Option<u32>,
) -> Result<TcpStream, String> {
    let socket = TcpSocket::new_v4().map_err(|error| error.to_string())?;
    if let Some(bytes) = buffer {
        socket
            .set_recv_buffer_size(bytes)
            .map_err(|error| error.to_string())?;
        // A disconnecting client resets the connection. Otherwise its end would wait behind unread
        // bytes, and the node could not notice it.
        socket
            .set_zero_linger()
            .map_err(|error| error.to_string())?;
    }
    socket
        .bind((from, 0).into())
        .map_err(|error| error.to_string())?;
    let connected = tokio::time::timeout(RESPONSE_TIMEOUT, socket.connect(to)).await;
    let connected = connected.map_err(|_| "no connection in time".to_owned())?;
    let stream = connected.map_err(|error| format!("no connection: {error}"))?;
    // HTTP/2 frames would wait for each other.
    stream
        .set_nodelay(true)
        .map_err(|error| error.to_string())?;
    Ok(stream)
}

/// The sender of a connection.
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// A server, and the protocol of a connection to it.
type Peer = (SocketAddr, Protocol);

/// A client with one connection for each listener and protocol.
pub(super) struct Client {
    from: IpAddr,
    senders: HashMap<Peer, Sender>,
    /// The last request on each connection.
    last: HashMap<Peer, String>,
}

/// An error with its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

impl Client {
    /// A client that connects from this address.
    pub(super) fn new(from: IpAddr) -> Self {
        Self {
            from,
            senders: HashMap::new(),
            last: HashMap::new(),
        }
    }

    /// Sends a request and reads the response.
    pub(super) async fn ask(
        &mut self,
        subject: &Subject,
        request: &Request,
    ) -> Result<Outcome, String> {
        let peer = (subject.address(&request.listener), request.protocol);
        let began = Instant::now();
        let asked = tokio::time::timeout(RESPONSE_TIMEOUT, self.response(peer, request)).await;
        let asked = asked.unwrap_or_else(|_| Err(format!("no response in {RESPONSE_TIMEOUT:?}")));

        match asked {
            Ok((outcome, is_reusable)) => {
                if !is_reusable {
                    self.senders.remove(&peer);
                }
                Ok(Outcome {
                    took: began.elapsed(),
                    ..outcome
                })
            }
            Err(error) => {
                self.senders.remove(&peer);
                // A server that closes a connection has to announce it in the response before.
                let before = self
                    .last
                    .get(&peer)
                    .filter(|_| error.contains("connection closed before message"));
                Err(before
                    .map(|before| format!("{error}, on the connection of {before}"))
                    .unwrap_or(error))
            }
        }
    }

    async fn response(&mut self, peer: Peer, request: &Request) -> Result<(Outcome, bool), String> {
        let http = request.http()?;
        let is_open = match self.senders.get_mut(&peer) {
            Some(Sender::Http1(sender)) => sender.ready().await.is_ok(),
            Some(Sender::Http2(sender)) => sender.ready().await.is_ok(),
            None => false,
        };

        if !is_open {
            let stream = connect(peer.0, self.from, None).await?;
            self.senders
                .insert(peer, handshake(stream, request.protocol).await?);
            self.last.remove(&peer);
        }

        let sent = match self.senders.get_mut(&peer) {
            Some(Sender::Http1(sender)) => sender.send_request(http).await,
            Some(Sender::Http2(sender)) => sender.send_request(http).await,
            None => return Err("no connection".to_owned()),
        };
        let response = sent.map_err(|error| format!("no response: {}", with_causes(&error)))?;

        let (parts, mut body) = response.into_parts();
        let mut outcome = Outcome {
            status: parts.status.as_u16(),
            grpc_status: grpc_status(&parts.headers),
            media: parts
                .headers
                .get("content-type")
                .map(|media| String::from_utf8_lossy(media.as_bytes()).into())
                .unwrap_or_default(),
            bytes: 0,
            body: Vec::new(),
            took: Duration::ZERO,
        };

        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| format!("the response ends early: {error}"))?;
            if let Some(trailers) = frame.trailers_ref() {
                outcome.grpc_status = grpc_status(trailers).or(outcome.grpc_status);
            } else if let Some(data) = frame.data_ref() {
                outcome.bytes += data.len();
                let room = KEPT.saturating_sub(outcome.body.len());
                outcome
                    .body
                    .extend_from_slice(&data[..data.len().min(room)]);
            }
            if outcome.bytes >= READ_LIMIT {
                return Ok((outcome, false));
            }
        }

        self.last
            .insert(peer, format!("{} {:.100}", request.method, request.target));
        Ok((outcome, true))
    }
}

async fn handshake(stream: TcpStream, protocol: Protocol) -> Result<Sender, String> {
    let stream = TokioIo::new(stream);
    match protocol {
        Protocol::Http => {
            let (sender, connection) = http1::handshake(stream)
                .await
                .map_err(|error| error.to_string())?;
            tokio::spawn(connection);
            Ok(Sender::Http1(sender))
        }
        Protocol::Http2 | Protocol::Grpc => {
            let handshake = http2::handshake(TokioExecutor::new(), stream).await;
            let (sender, connection) = handshake.map_err(|error| error.to_string())?;
            tokio::spawn(connection);
            Ok(Sender::Http2(sender))
        }
    }
}

fn grpc_status(headers: &HeaderMap) -> Option<u32> {
    headers.get("grpc-status")?.to_str().ok()?.parse().ok()
}

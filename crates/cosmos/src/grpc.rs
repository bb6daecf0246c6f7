//! The queries over gRPC, and reflection, which lists the services for clients.
//!
//! A client may have 16 streams of reflection, and send 64 KiB of requests within a minute on each.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody},
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use bytes::{Buf, Bytes};
use futures_util::{FutureExt, StreamExt};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, SizeHint};
use tetrad_primitives::block::cosmos::MAX_COSMOS_TX_SIZE;
use tetrad_stdx::text::excerpt;
use tetrad_web::{
    Answer, AnswerError, AnswerWriter, ClientSlots, MAX_ANSWER, current_client, receive,
};
use tokio::time::sleep;
use tonic::{
    Code, Status,
    codec::{DecodeBuf, Decoder, Streaming},
    metadata::MetadataValue,
};
use tonic_reflection::server::Builder;
use tower::ServiceExt;

use super::{
    Gateway,
    error::GatewayError,
    rest::{HEIGHT_HEADER, height as height_of},
};

/// Most bytes of a request: a transaction, with room for one that is too large by a little, so that
/// it gets the SDK's error.
const MAX_MESSAGE: usize = 2 * MAX_COSMOS_TX_SIZE;
/// Most characters of a status's message. Percent-encoded, each has at most twelve bytes: clients
/// accept 16 KiB.
const LONGEST_MESSAGE: usize = 1_000;
/// Most bytes of a body, with room for a message that is too large by a little.
const MAX_BODY: usize = 2 * MAX_MESSAGE;

/// Most bytes of a request of reflection, which has a name, and of all requests of a stream.
const MAX_REFLECTED: usize = 4 << 10;
const MAX_REFLECTION: usize = 64 << 10;
/// The time for which a stream of reflection takes requests. Its response begins at once, so that
/// nothing else limits it.
const REFLECTION_TIME: Duration = Duration::from_secs(60);
/// Streams of reflection that a client may have at a time. One takes memory for as long as its
/// client likes.
const REFLECTION_STREAMS: usize = 16;

/// Bytes before a message: whether it is compressed, and its length.
const MESSAGE_PREFIX: usize = 5;
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_CONTENT_TYPE: HeaderValue = HeaderValue::from_static("application/grpc");

/// A service of gRPC, of whatever type.
type Service = tower::util::BoxCloneSyncService<Request, Response, Infallible>;

/// The services. Clones share them.
#[derive(Clone)]
pub(super) struct Grpc {
    gateway: Gateway,
    /// Reflection in both versions, by the name of the service, once a client has asked for it.
    reflection: Arc<OnceLock<Vec<(&'static str, Service)>>>,
    /// The clients' streams of reflection.
    reflecting: ClientSlots,
}

impl Grpc {
    pub(super) fn new(gateway: Gateway) -> Self {
        Self {
            gateway,
            reflection: Arc::default(),
            reflecting: ClientSlots::new(REFLECTION_STREAMS),
        }
    }

    /// The service of reflection that has this name, if one does.
    fn reflection(&self, name: &str) -> Option<&Service> {
        if ![V1, V1_ALPHA].contains(&name) {
            return None;
        }
        // Building it would take a good part of the time of a start.
        let built = self.reflection.get_or_init(|| self.build_reflection());
        let service = built.iter().find(|(known, _)| *known == name);
        service.map(|(_, service)| service)
    }

    fn build_reflection(&self) -> Vec<(&'static str, Service)> {
        // Queries work without reflection.
        self.try_build_reflection().unwrap_or_else(|error| {
            tracing::error!(%error, "gRPC has no reflection");
            Vec::new()
        })
    }

    fn try_build_reflection(
        &self,
    ) -> Result<Vec<(&'static str, Service)>, tonic_reflection::server::Error> {
        let encoded = self.gateway.messages.encoded();
        let v1 = self.configure_reflection(&encoded).build_v1()?;
        // Older tools know only the alpha version.
        let alpha = self.configure_reflection(&encoded).build_v1alpha()?;

        let v1 = boxed(v1.max_decoding_message_size(MAX_REFLECTED));
        let alpha = boxed(alpha.max_decoding_message_size(MAX_REFLECTED));
        Ok(vec![(V1, v1), (V1_ALPHA, alpha)])
    }

    /// A builder of the service that describes the queries and itself.
    fn configure_reflection<'a>(&self, encoded: &'a [u8]) -> Builder<'a> {
        let builder = Builder::configure().register_encoded_file_descriptor_set(encoded);
        let builder = self
            .gateway
            .methods
            .services()
            .into_iter()
            .fold(builder, |builder, name| builder.with_service_name(name));
        builder.with_service_name(V1).with_service_name(V1_ALPHA)
    }

    /// The routes: all paths.
    pub(super) fn router(self) -> Router {
        Router::new().fallback(move |request: Request| self.answer(request))
    }

    async fn answer(self, request: Request) -> Response {
        let name = request.uri().path().trim_start_matches('/').to_owned();
        let service = name.split('/').next().unwrap_or_default();
        if let Some(reflection) = self.reflection(service) {
            let Some(slot) = self.reflecting.take(current_client().address) else {
                let refusal =
                    format!("a client has at most {REFLECTION_STREAMS} streams of reflection");
                return status(Code::ResourceExhausted, &refusal).into_http();
            };
            let limited = request.map(|body| {
                let requests = Limited::new(body, MAX_REFLECTION).into_data_stream();
                Body::from_stream(requests.take_until(sleep(REFLECTION_TIME)))
            });
            let Ok(response) = reflection.clone().oneshot(limited).await;

            return response.map(|body| {
                Body::new(body.map_frame(move |frame| {
                    // Taken until the stream has ended.
                    let _ = &slot;
                    frame
                }))
            });
        }

        let height = request.headers().get(HEIGHT_HEADER);
        let height = height.map(|value| height_of(value.as_bytes())).transpose();
        let encoding = check_encoding(request.headers());
        // Tonic would wait for a body without a limit of time, and would not count it.
        let (body, _held) = match receive(request, MAX_BODY).await {
            Ok(received) => received,
            Err(error) => return Status::from(GatewayError::from(error)).into_http(),
        };

        let answered = match encoding.and_then(|()| read_message(body)) {
            Ok(message) => answer(&self.gateway, &name, message, height).await,
            Err(status) => Err(status),
        };
        answered.unwrap_or_else(Status::into_http)
    }
}

/// Refuses compressed requests.
fn check_encoding(headers: &HeaderMap) -> Result<(), Status> {
    let encoding = headers.get("grpc-encoding").map(HeaderValue::as_bytes);
    let Some(encoding) = encoding.filter(|encoding| *encoding != b"identity") else {
        return Ok(());
    };

    // gRPC's `compression.md` asks for this code, with the codings that are accepted.
    let encoding = String::from_utf8_lossy(encoding);
    let mut refusal = status(
        Code::Unimplemented,
        &format!("Content is compressed with `{encoding}` which isn't supported"),
    );
    refusal.metadata_mut().insert(
        "grpc-accept-encoding",
        MetadataValue::from_static("identity"),
    );
    Err(refusal)
}

/// Returns the message in the body of a request that has one.
fn read_message(body: Bytes) -> Result<Bytes, Status> {
    let mut messages = Streaming::new_request(Encoded, Body::from(body), None, Some(MAX_MESSAGE));
    // The body is here as a whole, so that nothing waits.
    let message = messages.message().now_or_never().unwrap_or(Ok(None))?;
    message.ok_or_else(|| Status::internal("Missing request message."))
}

/// Returns the response with a message, which keeps the memory that it holds.
fn write_message(message: Answer, height: u64) -> Result<Response, AnswerError> {
    let length = message.bytes().len();
    let mut framed = AnswerWriter::new(MAX_ANSWER + MESSAGE_PREFIX);
    // Not compressed.
    framed.push(&[0])?;
    framed.push(&(length as u32).to_be_bytes())?;
    framed.append(message)?;

    let length = (MESSAGE_PREFIX + length) as u64;
    let response = framed.finish().into_response();
    let mut response = response.map(|body| {
        let trailers = HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from_static("0"))]);
        Body::new(OneMessage {
            body,
            length,
            trailers: Some(trailers),
        })
    });
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, GRPC_CONTENT_TYPE);
    headers.insert(HEIGHT_HEADER, HeaderValue::from(height));
    Ok(response)
}

/// A body with one message, and the status after it. Its length is an upper bound, so that the
/// response gets no `Content-Length`.
struct OneMessage {
    body: Body,
    length: u64,
    trailers: Option<HeaderMap>,
}

impl HttpBody for OneMessage {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let trailers = || Some(Ok(Frame::trailers(self.trailers.take()?)));
        Poll::Ready(frame.or_else(trailers))
    }

    fn is_end_stream(&self) -> bool {
        self.trailers.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        hint.set_upper(self.length);
        hint
    }
}

/// `router`, with `grpc` for the requests that are gRPC's by their content type.
pub(super) fn beside(grpc: Router, router: Router) -> Router {
    async fn choose(State(grpc): State<Router>, request: Request, next: Next) -> Response {
        if !is_grpc(&request) {
            return next.run(request).await;
        }
        let Ok(response) = grpc.oneshot(request).await;
        response
    }
    router.layer(from_fn_with_state(grpc, choose))
}

const V1: &str = "grpc.reflection.v1.ServerReflection";
const V1_ALPHA: &str = "grpc.reflection.v1alpha.ServerReflection";

fn boxed<S, B>(service: S) -> Service
where
    S: tower::Service<
            Request,
            Response = axum::http::Response<B>,
            Error = Infallible,
            Future: Send,
        > + Clone
        + Send
        + Sync
        + 'static,
    B: axum::body::HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    Service::new(service.map_response(|response| response.map(Body::new)))
}

/// Whether a request is one of gRPC. That of gRPC-Web is another protocol.
fn is_grpc(request: &Request) -> bool {
    let value = request
        .headers()
        .get(header::CONTENT_TYPE)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    value
        .strip_prefix(b"application/grpc")
        .is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// The response to a query, with the height that it is for.
async fn answer(
    gateway: &Gateway,
    name: &str,
    message: Bytes,
    height: Result<Option<u64>, GatewayError>,
) -> Result<Response, Status> {
    let Some(method) = gateway.methods.get(name) else {
        let name = excerpt(name, 100);
        return Err(status(
            Code::Unimplemented,
            &format!("unknown method {name}"),
        ));
    };

    let (message, height) = gateway.ask_encoded(method, message, height?).await?;
    Ok(write_message(message, height).map_err(GatewayError::from)?)
}

impl From<GatewayError> for Status {
    fn from(error: GatewayError) -> Self {
        if let GatewayError::Internal(what) = &error {
            tracing::error!(%what, "a query failed");
        }
        let code = i32::try_from(error.code()).map_or(Code::Unknown, Code::from_i32);
        status(code, error.message())
    }
}

/// Returns a status. Its message may quote what a client sent, but travels as a header.
fn status(code: Code, message: &str) -> Status {
    Status::new(code, excerpt(message, LONGEST_MESSAGE))
}

/// Messages as bytes: the queries decode them.
#[derive(Clone, Copy)]
struct Encoded;

impl Decoder for Encoded {
    type Error = Status;
    type Item = Bytes;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        // A copy, since a request that waits would keep tonic's buffer of 8 KiB.
        let mut message = vec![0; bytes.remaining()];
        bytes.copy_to_slice(&mut message);
        Ok(Some(message.into()))
    }
}

//! The queries over gRPC, and reflection, which tells clients what there is.
//!
//! A client may send 64 KiB of reflection requests within a minute.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody},
    extract::{Request, State},
    http::{HeaderValue, header},
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use bytes::{Buf, BufMut, Bytes};
use futures_util::{StreamExt, future::BoxFuture};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, SizeHint};
use tetrad_primitives::block::cosmos::MAX_COSMOS_TX_SIZE;
use tetrad_web::receive;
use tokio::time::sleep;
use tonic::{
    Code, Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    metadata::MetadataValue,
};
use tonic_reflection::server::Builder;
use tower::{ServiceExt, service_fn};

use super::{
    Gateway,
    error::GatewayError,
    rest::{HEIGHT_HEADER, height},
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
/// How long a stream of reflection takes requests. Its response begins at once, so that nothing
/// else limits it.
const REFLECTION_TIME: Duration = Duration::from_secs(60);

/// Bytes before a message: whether it is compressed, and its length.
const MESSAGE_PREFIX: usize = 5;

/// A service of gRPC, of whatever type.
type Service = tower::util::BoxCloneSyncService<Request, Response, Infallible>;

/// The services. Clones share them.
#[derive(Clone)]
pub(super) struct Grpc {
    gateway: Gateway,
    /// Reflection in both versions, by the name of the service.
    reflection: Arc<[(&'static str, Service)]>,
}

impl Grpc {
    pub(super) fn new(gateway: Gateway) -> Self {
        let encoded = gateway.messages.encoded();
        let configure = || {
            let builder = Builder::configure().register_encoded_file_descriptor_set(&encoded);
            let builder = gateway
                .methods
                .services()
                .into_iter()
                .fold(builder, |builder, name| builder.with_service_name(name));
            builder.with_service_name(V1).with_service_name(V1_ALPHA)
        };

        let built = || -> Result<_, tonic_reflection::server::Error> {
            let v1 = configure().build_v1()?;
            let alpha = configure().build_v1alpha()?;
            let v1 = boxed(v1.max_decoding_message_size(MAX_REFLECTED));
            let alpha = boxed(alpha.max_decoding_message_size(MAX_REFLECTED));
            Ok([(V1, v1), (V1_ALPHA, alpha)])
        };
        let reflection = built().map(Arc::from).unwrap_or_else(|error| {
            tracing::error!(%error, "gRPC has no reflection");
            Arc::from([])
        });
        Self {
            gateway,
            reflection,
        }
    }

    /// The routes: all paths.
    pub(super) fn router(self) -> Router {
        let answer = move |request: Request| {
            let grpc = self.clone();
            async move { grpc.answer(request).await }
        };
        Router::new().fallback(answer)
    }

    async fn answer(self, request: Request) -> Response {
        let name = request.uri().path().trim_start_matches('/').to_owned();
        let service = name.split('/').next().unwrap_or_default();
        if let Some((_, reflection)) = self.reflection.iter().find(|(known, _)| *known == service) {
            let requests = |body| Limited::new(body, MAX_REFLECTION).into_data_stream();
            let limited = request
                .map(|body| Body::from_stream(requests(body).take_until(sleep(REFLECTION_TIME))));
            let Ok(response) = reflection.clone().oneshot(limited).await;
            return response;
        }

        let (head, body) = request.into_parts();
        // Tonic would wait for a body without a limit of time, and would not count it.
        let received = receive(Request::from_parts(head.clone(), body), MAX_BODY).await;
        let (body, _held) = match received {
            Ok(received) => received,
            Err(error) => return Status::from(GatewayError::from(error)).into_http(),
        };
        let request = Request::from_parts(head, Body::from(body));

        let gateway = self.gateway;
        let query = service_fn(move |request: tonic::Request<Bytes>| {
            let gateway = gateway.clone();
            let name = name.clone();
            Box::pin(async move { answer(&gateway, &name, &request).await })
                as BoxFuture<'static, _>
        });
        let mut grpc = tonic::server::Grpc::new(Encoded).max_decoding_message_size(MAX_MESSAGE);
        let mut response = grpc.unary(query, request).await;

        let length = response
            .extensions_mut()
            .remove::<MessageLength>()
            .map_or(0, |MessageLength(length)| length);
        response.map(|body| Body::new(OneMessage { body, length }))
    }
}

/// The length of a response's message with its prefix.
#[derive(Clone, Copy)]
struct MessageLength(u64);

/// A body with one message. Tonic does not tell its length, which is what it takes while it is
/// sent.
struct OneMessage<B> {
    body: B,
    length: u64,
}

impl<B: HttpBody<Data = Bytes> + Unpin> HttpBody for OneMessage<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
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
    request: &tonic::Request<Bytes>,
) -> Result<tonic::Response<Bytes>, Status> {
    let Some(method) = gateway.methods.get(name) else {
        let name: String = name.chars().take(100).collect();
        return Err(status(
            Code::Unimplemented,
            &format!("unknown method {name}"),
        ));
    };

    let at = request
        .metadata()
        .get(HEIGHT_HEADER)
        .map(|value| height(value.as_encoded_bytes()))
        .transpose()?;
    let (message, height) = gateway
        .ask_encoded(method, request.get_ref().clone(), at)
        .await?;

    let (message, held) = message.into_parts();
    let length = MessageLength((MESSAGE_PREFIX + message.len()) as u64);
    let mut response = tonic::Response::new(held.attach(message));
    response.extensions_mut().insert(length);
    response
        .metadata_mut()
        .insert(HEIGHT_HEADER, MetadataValue::from(height));
    Ok(response)
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
    Status::new(
        code,
        message.chars().take(LONGEST_MESSAGE).collect::<String>(),
    )
}

/// Messages as bytes: the queries decode and encode them.
#[derive(Clone, Copy)]
struct Encoded;

impl Codec for Encoded {
    type Decode = Bytes;
    type Decoder = Self;
    type Encode = Bytes;
    type Encoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Encoded {
    type Error = Status;
    type Item = Bytes;

    fn encode(&mut self, item: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(item);
        Ok(())
    }
}

impl Decoder for Encoded {
    type Error = Status;
    type Item = Bytes;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(bytes.copy_to_bytes(bytes.remaining())))
    }
}

//! A client of gRPC for unary calls, which shows the status that the trailers have.

use std::net::SocketAddr;

use axum::{
    body::Bytes,
    http::{HeaderMap, Request, StatusCode},
};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

/// A connection.
pub(crate) struct GrpcClient(SendRequest<Full<Bytes>>);

/// The response to a call.
pub(crate) struct GrpcAnswer {
    /// The status, such as 0 for success or 5 for something that was not found.
    pub code: u32,
    /// The message of an error, percent-encoded.
    pub message: String,
    /// The message of the response; empty on an error.
    pub body: Vec<u8>,
    pub headers: HeaderMap,
}

impl GrpcClient {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("it listens");
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .expect("HTTP/2");
        tokio::spawn(connection);
        Self(sender)
    }

    pub(crate) async fn call(
        &mut self,
        path: &str,
        message: &[u8],
        height: Option<&str>,
    ) -> GrpcAnswer {
        let length = u32::try_from(message.len())
            .expect("not that long")
            .to_be_bytes();
        let body = [&[0][..], &length, message].concat();
        let request = Request::post(format!("http://localhost{path}"));
        let request = request
            .header("content-type", "application/grpc+proto")
            .header("te", "trailers");
        let request = height.into_iter().fold(request, |request, height| {
            request.header("x-cosmos-block-height", height)
        });
        self.0.ready().await.expect("the connection is open");
        let response = self
            .0
            .send_request(request.body(Full::new(body.into())).expect("a request"))
            .await;
        let response = response.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(
            response.headers()["content-type"],
            "application/grpc",
            "{path}"
        );
        let headers = response.headers().clone();
        let collected = response.into_body().collect().await.expect("a body");
        // An error may come without a body, in the headers.
        let status = collected
            .trailers()
            .cloned()
            .unwrap_or_else(|| headers.clone());
        let text = |name: &str| {
            status
                .get(name)
                .map_or("", |value| value.to_str().expect("text"))
                .to_owned()
        };
        let framed = collected.to_bytes();
        let body = if framed.is_empty() {
            Vec::new()
        } else {
            framed[5..].to_vec()
        };
        GrpcAnswer {
            code: text("grpc-status").parse().expect("a status"),
            message: text("grpc-message"),
            body,
            headers,
        }
    }
}

//! A gRPC client that shows the status in the trailers.

use std::{convert::Infallible, future::Future, net::SocketAddr, sync::Arc};

use axum::{
    body::Bytes,
    http::{HeaderMap, Request, Response, StatusCode},
};
use futures_util::stream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::{
    body::Incoming,
    client::conn::http2::{SendRequest, handshake},
    rt::Executor,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::{net::TcpStream, task::JoinSet};

/// The text of a header, empty if there is none.
fn text(headers: &HeaderMap, name: &str) -> String {
    headers
        .get(name)
        .map_or("", |value| value.to_str().expect("text"))
        .to_owned()
}

/// A connection, which is closed with this.
pub(crate) struct GrpcClient {
    sender: SendRequest<BoxBody<Bytes, Infallible>>,
    _tasks: TasksGuard,
}

/// Runs the tasks of an HTTP/2 connection, which would continue by itself while it has streams.
#[derive(Clone, Default)]
pub(crate) struct ConnectionTasks(Arc<Mutex<JoinSet<()>>>);

/// Ends the tasks, and with them the connection, on drop.
pub(crate) struct TasksGuard(ConnectionTasks);

impl ConnectionTasks {
    pub(crate) fn guard(&self) -> TasksGuard {
        TasksGuard(self.clone())
    }
}

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for ConnectionTasks {
    fn execute(&self, task: F) {
        self.0.lock().spawn(async { drop(task.await) });
    }
}

impl Drop for TasksGuard {
    fn drop(&mut self) {
        self.0.0.lock().abort_all();
    }
}

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
        let tasks = ConnectionTasks::default();
        let guard = tasks.guard();
        let (sender, connection) = handshake(tasks.clone(), TokioIo::new(stream))
            .await
            .expect("HTTP/2");
        tasks.execute(connection);
        Self {
            sender,
            _tasks: guard,
        }
    }

    /// Begins a call whose requests do not end. Returns its response, or the status of a refusal.
    pub(crate) async fn begin(&mut self, path: &str) -> Result<Incoming, u32> {
        let body = StreamBody::new(stream::pending()).boxed();
        let response = self.send(path, None, body).await;
        match response.headers().get("grpc-status") {
            Some(status) => Err(status.to_str().unwrap().parse().expect("a number")),
            None => Ok(response.into_body()),
        }
    }

    async fn send(
        &mut self,
        path: &str,
        height: Option<&str>,
        body: BoxBody<Bytes, Infallible>,
    ) -> Response<Incoming> {
        let request = Request::post(format!("http://localhost{path}"))
            .header("content-type", "application/grpc+proto")
            .header("te", "trailers");
        let request = height.into_iter().fold(request, |request, height| {
            request.header("x-cosmos-block-height", height)
        });
        self.sender.ready().await.expect("the connection is open");
        let sent = self
            .sender
            .send_request(request.body(body).expect("a request"));
        sent.await.expect("an answer")
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

        let response = self
            .send(path, height, Full::new(body.into()).boxed())
            .await;
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

        let framed = collected.to_bytes();
        let body = if framed.is_empty() {
            Vec::new()
        } else {
            framed[5..].to_vec()
        };
        GrpcAnswer {
            code: text(&status, "grpc-status").parse().expect("a status"),
            message: text(&status, "grpc-message"),
            body,
            headers,
        }
    }
}

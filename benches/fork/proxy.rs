//! A node far away: a proxy whose answers come late, and which refuses some methods.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use axum::{
    Router, body::Bytes, extract::State, http::header::CONTENT_TYPE, response::IntoResponse,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, runtime::Builder, sync::oneshot, time::sleep};

/// What a forked node does not have.
#[derive(Clone, Copy)]
pub(crate) enum Refusals {
    Nothing,
    /// The methods whose names begin with `debug_`.
    Traces,
    /// These, and `eth_createAccessList`.
    Both,
}

/// A running proxy, which ends when it is dropped.
pub(crate) struct Proxy {
    port: u16,
    requests: Arc<AtomicUsize>,
    _end: oneshot::Sender<()>,
}

#[derive(Clone)]
struct Far {
    url: String,
    delay: Duration,
    refusals: Refusals,
    requests: Arc<AtomicUsize>,
    http: reqwest::Client,
}

impl Proxy {
    /// Starts a proxy of the node on a port of this machine.
    pub(crate) fn start(port: u16, delay: Duration, refusals: Refusals) -> Self {
        tetrad_stdx::tls::install_provider();
        let requests = Arc::new(AtomicUsize::new(0));
        let far = Far {
            url: format!("http://127.0.0.1:{port}"),
            delay,
            refusals,
            requests: requests.clone(),
            http: reqwest::Client::new(),
        };

        let (end, ended) = oneshot::channel();
        let (bound, listening) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                bound.send(listener.local_addr().unwrap().port()).unwrap();
                let router = Router::new().fallback(forward).with_state(far);
                tokio::select! {
                    served = async { axum::serve(listener, router).await } => served.unwrap(),
                    _ = ended => {}
                }
            });
        });

        Self {
            port: listening.recv().unwrap(),
            requests,
            _end: end,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The number of HTTP requests so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

async fn forward(State(far): State<Far>, body: Bytes) -> impl IntoResponse {
    far.requests.fetch_add(1, Ordering::Relaxed);
    sleep(far.delay).await;

    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = if far.refuses(request["method"].as_str().unwrap_or_default()) {
        let error = json!({"code": -32601, "message": "the method is not available"});
        json!({"jsonrpc": "2.0", "id": request["id"], "error": error})
            .to_string()
            .into()
    } else {
        let request = far
            .http
            .post(&far.url)
            .header(CONTENT_TYPE, "application/json");
        request
            .body(body)
            .send()
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap()
    };
    ([(CONTENT_TYPE, "application/json")], answer)
}

impl Far {
    fn refuses(&self, method: &str) -> bool {
        match self.refusals {
            Refusals::Nothing => false,
            Refusals::Traces => method.starts_with("debug_"),
            Refusals::Both => method.starts_with("debug_") || method == "eth_createAccessList",
        }
    }
}

//! The probes of a node of a cluster while it starts. It may have to wait for the servers, fetch a
//! checkpoint and replay a long log, and a proxy should learn at once that it is not ready.

use std::{io, sync::Arc, time::Duration};

use axum::{Router, extract::State, http::header, response::IntoResponse, routing::get};
use tetrad_web::{
    self, Capacity, Checked, ClientAddresses, Listener, NoStore, RequestIds, ShutdownHandle, Tls,
};
use tokio::{net::TcpListener, sync::watch};

use super::probes::{Alive, Ready};
use crate::config::Config;

/// Time in which answers under way are finished once the node has started.
const ANSWERS_TIMEOUT: Duration = Duration::from_secs(1);

/// A node that starts. In a cluster, it answers every request but `/health` with 503 and the stage
/// of the start.
pub(super) struct Starting {
    stage: watch::Sender<&'static str>,
    /// Ends the answers, if there are any.
    end: Option<ShutdownHandle>,
}

impl Starting {
    /// Answers on the node's main listener, if the node is one of a cluster.
    pub(super) fn serve(
        main: &TcpListener,
        tls: Option<&Arc<Tls>>,
        config: &Config,
    ) -> io::Result<Self> {
        let (stage, stages) = watch::channel("it connects to the NATS servers of the cluster");
        let listener = if config.cluster.is_enabled() {
            clone(main)?
        } else {
            None
        };
        let Some(listener) = listener else {
            return Ok(Self { stage, end: None });
        };

        // The process is alive, whatever it waits for: an orchestrator must not restart it.
        let alive = || async { NoStore(Alive::alone()) };
        let router = Router::new()
            .route("/health", get(alive))
            .fallback(not_ready)
            .with_state(stages);

        let (end, shutdown) = ShutdownHandle::new();
        let capacity = Capacity {
            budget: config.rpc.budget.clone(),
            execution: None,
            addresses: ClientAddresses::new(config.trusted_proxies.clone()),
        };
        tokio::spawn(tetrad_web::serve(
            Listener::new(listener, tls),
            router.into(),
            Arc::new(config.hosts.clone()),
            config.listener,
            Arc::new(RequestIds::new(false)),
            capacity,
            shutdown,
        ));
        Ok(Self {
            stage,
            end: Some(end),
        })
    }

    /// Names the stage of the start that begins.
    pub(super) fn at(&self, stage: &'static str) {
        self.stage.send_replace(stage);
    }

    /// Ends before the node itself serves.
    pub(super) async fn end(self) {
        if let Some(end) = self.end {
            end.shut_down(ANSWERS_TIMEOUT).await;
        }
    }
}

async fn not_ready(State(stages): State<watch::Receiver<&'static str>>) -> impl IntoResponse {
    let reason = format!("the node starts: {}", *stages.borrow());
    (
        [(header::RETRY_AFTER, "1")],
        Checked {
            passed: false,
            body: Ready::not_yet(reason),
        },
    )
}

/// Returns another handle of the same socket, where there can be one.
fn clone(listener: &TcpListener) -> io::Result<Option<TcpListener>> {
    #[cfg(unix)]
    {
        let socket = std::os::fd::AsFd::as_fd(listener).try_clone_to_owned()?;
        TcpListener::from_std(socket.into()).map(Some)
    }
    #[cfg(not(unix))]
    {
        let _ = listener;
        Ok(None)
    }
}

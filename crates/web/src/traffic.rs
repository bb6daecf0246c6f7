//! HTTP traffic by interface: number of requests, statuses and latency.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use tetrad_stdx::metrics::{Counter, Distribution, Histogram};

/// Statuses that are counted separately, with the label for all others last.
const STATUSES: [(u16, &str); 12] = [
    (101, "101"),
    (200, "200"),
    (304, "304"),
    (400, "400"),
    (404, "404"),
    (405, "405"),
    (429, "429"),
    (500, "500"),
    (501, "501"),
    (503, "503"),
    (0, "4xx"),
    (0, "5xx"),
];

/// The traffic of one interface. Clones share it.
#[derive(Clone, Debug)]
pub struct Traffic(Arc<TrafficCounters>);

#[derive(Debug)]
struct TrafficCounters {
    interface: &'static str,
    statuses: [Counter; STATUSES.len()],
    latency: Histogram,
    /// Requests that take longer are logged.
    slow: Option<Duration>,
}

impl Traffic {
    /// An interface without traffic so far.
    pub fn new(interface: &'static str, slow: Option<Duration>) -> Self {
        Self(Arc::new(TrafficCounters {
            interface,
            statuses: Default::default(),
            latency: Histogram::default(),
            slow,
        }))
    }

    /// Counts the requests of `router`.
    pub fn count(&self, router: Router) -> Router {
        router.layer(from_fn_with_state(self.clone(), observe))
    }

    /// The name of the interface.
    pub fn interface(&self) -> &'static str {
        self.0.interface
    }

    /// The number of responses by status; statuses without responses are left out.
    pub fn statuses(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = STATUSES
            .iter()
            .zip(&self.0.statuses)
            .map(|((_, name), counter)| (*name, counter.get()));
        all.filter(|(_, count)| *count > 0)
    }

    /// The latency of responses.
    pub fn latency(&self) -> Distribution {
        self.0.latency.distribution()
    }

    fn answered(&self, status: u16, took: Duration) {
        // Statuses without a counter of their own count with their class, which bounds the metrics.
        let exact = STATUSES.iter().position(|(known, _)| *known == status);
        let class = if status < 500 { "4xx" } else { "5xx" };
        let at = exact.or_else(|| STATUSES.iter().position(|(_, name)| *name == class));

        if let Some(counter) = at.and_then(|at| self.0.statuses.get(at)) {
            counter.add(1);
        }
        self.0.latency.observe(took);
    }
}

async fn observe(State(traffic): State<Traffic>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    // Copied only where slow requests are logged: the request is gone by then.
    let path = traffic.0.slow.map(|_| request.uri().path().to_owned());

    let response = next.run(request).await;
    let took = began.elapsed();
    traffic.answered(response.status().as_u16(), took);

    if let (Some(slow), Some(path)) = (traffic.0.slow, path)
        && took >= slow
    {
        tracing::warn!(
            interface = traffic.0.interface,
            path,
            status = response.status().as_u16(),
            seconds = took.as_secs_f64(),
            "slow request"
        );
    }
    response
}

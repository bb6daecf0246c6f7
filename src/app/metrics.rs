//! `GET /metrics`: the node's counters and gauges, for Prometheus.

mod data_directory;
mod process;

use std::{path::PathBuf, sync::Arc};

use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use tetrad_chain::Chain;
use tetrad_cluster::{Cluster, Role};
use tetrad_exchange::{Exchange, Market, feed::SourceHealth};
use tetrad_rpc::{
    fork::{ChainForks, ForkStats},
    rpc::Rpc,
};
use tetrad_stdx::clock::Clock;
use tetrad_web::{
    Api, Exposition, METRICS_TYPE, Operation, Output, Traffic, WebSockets, method_not_allowed,
};

/// The sources of the metrics.
pub(super) struct Sources {
    pub(super) chain: Chain,
    pub(super) cluster: Option<Cluster>,
    pub(super) rpc: Rpc,
    pub(super) forks: Arc<ChainForks>,
    pub(super) exchange: Option<Exchange>,
    pub(super) sockets: Vec<WebSockets>,
    pub(super) traffic: Vec<Traffic>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) started_ms: u64,
    pub(super) data_dir: Option<PathBuf>,
}

/// The text exposition of all metrics.
struct MetricsText(String);

impl IntoResponse for MetricsText {
    fn into_response(self) -> Response {
        (
            [
                (header::CONTENT_TYPE, METRICS_TYPE),
                (header::CACHE_CONTROL, "no-store"),
            ],
            self.0,
        )
            .into_response()
    }
}

impl Output for MetricsText {
    fn describe(operation: Operation) -> Operation {
        operation.answers_in::<String>(
            METRICS_TYPE,
            StatusCode::OK,
            "The text exposition format 0.0.4.",
        )
    }
}

/// The route and its description.
pub(super) fn router(sources: Sources) -> (Router, Vec<Operation>) {
    Api::new("Node")
        .get("/metrics", scrape, "Metrics, for Prometheus.")
        .and(|router| router.method_not_allowed_fallback(method_not_allowed))
        .with_state(Arc::new(sources))
}

async fn scrape(State(sources): State<Arc<Sources>>) -> MetricsText {
    let mut out = Exposition::default();

    sources.chain(&mut out);
    sources.sealing(&mut out);
    if let Some(cluster) = &sources.cluster {
        sources.cluster(cluster, &mut out);
    }
    sources.json_rpc(&mut out);
    if let Some(fork) = sources.forks.current() {
        forked_node(&fork.client.stats(), &mut out);
    }
    sources.sockets(&mut out);
    sources.http(&mut out);
    if let Some(exchange) = &sources.exchange {
        price_sources(exchange, &mut out);
        sources.prices(exchange.market(), &mut out).await;
    }
    if let Some(directory) = &sources.data_dir {
        data_directory::write(&mut out, directory, sources.chain.checkpoint());
    }
    process::write(&mut out, sources.started_ms);

    MetricsText(out.finish())
}

/// Writes what was asked of the forked node.
fn forked_node(asked: &ForkStats, out: &mut Exposition) {
    out.counter(
        "tetrad_fork_requests_total",
        "HTTP requests to the forked node.",
    )
    .sample(&[], asked.requests);
    out.counter(
        "tetrad_fork_retries_total",
        "HTTP requests to the forked node that had to be sent again.",
    )
    .sample(&[], asked.retries);
    out.counter(
        "tetrad_fork_received_bytes_total",
        "Bytes of the forked node's answers.",
    )
    .sample(&[], asked.bytes);
    out.counter(
        "tetrad_fork_lookups_total",
        "Lookups of accounts, slots, block hashes and answers, by whether they were at hand.",
    )
    .sample(&[("outcome", "hit")], asked.hits)
    .sample(&[("outcome", "miss")], asked.misses);
    out.counter(
        "tetrad_fork_waited_seconds_total",
        "Seconds that callers waited for the forked node, summed over concurrent ones.",
    )
    .sample(&[], asked.waited_ms as f64 / 1_000.0);

    let mut calls = out.counter(
        "tetrad_fork_calls_total",
        "Calls of the forked node's methods.",
    );
    for (method, count) in &asked.calls {
        calls.sample(&[("method", method)], count);
    }
}

fn price_sources(exchange: &Exchange, out: &mut Exposition) {
    let conditions = exchange.sources();
    let mut up = out.gauge(
        "tetrad_price_source_up",
        "Whether a price source is healthy: 1 or 0.",
    );
    for condition in &conditions {
        up.sample(
            &[("source", &condition.name)],
            u8::from(condition.status == SourceHealth::Ok),
        );
    }

    let mut failures = out.gauge(
        "tetrad_price_source_failures",
        "Consecutive failures of a price source.",
    );
    for condition in &conditions {
        failures.sample(&[("source", &condition.name)], condition.failures);
    }
}

impl Sources {
    fn chain(&self, out: &mut Exposition) {
        let head = self.chain.head();
        let header = &head.block.header;
        out.gauge("tetrad_build_info", "The program; always 1.")
            .sample(
                &[
                    ("version", env!("CARGO_PKG_VERSION")),
                    ("chain_id", &self.chain.params().chain_id.to_string()),
                ],
                1,
            );

        out.gauge("tetrad_head_block", "Height of the newest block.")
            .sample(&[], head.number());
        out.gauge(
            "tetrad_head_timestamp_seconds",
            "Timestamp of the newest block, in seconds since the Unix epoch.",
        )
        .sample(&[], header.timestamp);
        out.gauge("tetrad_head_gas_used", "Gas used by the newest block.")
            .sample(&[], header.gas_used);
        out.gauge("tetrad_head_gas_limit", "Gas limit of the newest block.")
            .sample(&[], header.gas_limit);
        out.gauge(
            "tetrad_head_base_fee_wei",
            "Base fee per gas of the newest block.",
        )
        .sample(&[], header.base_fee_per_gas.unwrap_or_default());

        out.gauge(
            "tetrad_oldest_block",
            "Height of the oldest block that is held.",
        )
        .sample(&[], head.oldest());
        out.gauge(
            "tetrad_history_bytes",
            "Rough size in memory of the blocks that are held.",
        )
        .sample(&[], head.held_bytes());
        out.gauge("tetrad_state_accounts", "Accounts in the state.")
            .sample(&[], head.state.len());
    }

    /// Writes how blocks are sealed, what waits for one, and what those since the start hold.
    fn sealing(&self, out: &mut Exposition) {
        let mut family = out.histogram(
            "tetrad_block_phase_duration_seconds",
            "Duration of the phases of sealing a block.",
        );
        for (phase, seen) in self.chain.block_phases() {
            family.distribution(&[("phase", phase)], &seen);
        }

        out.gauge(
            "tetrad_pool_transactions",
            "Transactions that wait for a block.",
        )
        .sample(&[], self.chain.pool().len());

        let produced = self.chain.produced();
        out.counter(
            "tetrad_blocks_total",
            "Blocks added to the chain since the start.",
        )
        .sample(&[], produced.blocks.get());
        out.counter(
            "tetrad_transactions_total",
            "Transactions in blocks added to the chain since the start.",
        )
        .sample(&[], produced.transactions.get());
        out.counter(
            "tetrad_gas_used_total",
            "Gas used by blocks added to the chain since the start.",
        )
        .sample(&[], produced.gas.get());
    }

    fn cluster(&self, cluster: &Cluster, out: &mut Exposition) {
        let state = cluster.state(&self.chain);
        out.gauge(
            "tetrad_cluster_leader",
            "Whether the node leads the cluster: 1 or 0.",
        )
        .sample(&[], u8::from(state.role == Role::Leader));
        out.gauge(
            "tetrad_cluster_connected",
            "Whether a NATS server is connected: 1 or 0.",
        )
        .sample(&[], u8::from(state.connected));

        out.gauge(
            "tetrad_cluster_epoch",
            "Number of the newest epoch in the node's log.",
        )
        .sample(&[], state.epoch);
        out.gauge(
            "tetrad_cluster_height",
            "Entries of the log that the node's head includes.",
        )
        .sample(&[], state.height);

        out.gauge(
            "tetrad_cluster_lag_entries",
            "Entries by which the node is behind the leader.",
        )
        .sample(&[], state.lag);
        out.gauge(
            "tetrad_cluster_lag_seconds",
            "Time for which the node has been behind the leader.",
        )
        .sample(&[], state.lag_seconds);

        out.gauge(
            "tetrad_cluster_nodes",
            "Nodes that announced themselves lately.",
        )
        .sample(&[], state.nodes.len());
        self.cluster_counts(cluster, out);
    }

    fn cluster_counts(&self, cluster: &Cluster, out: &mut Exposition) {
        let counts = &cluster.counts;
        out.counter(
            "tetrad_cluster_terms_total",
            "Times that the node began to lead since the start.",
        )
        .sample(&[], counts.terms.get());
        out.counter(
            "tetrad_cluster_forwarded_total",
            "Requests that the node sent to the leader.",
        )
        .sample(&[], counts.forwarded.get());
        out.counter(
            "tetrad_cluster_retried_total",
            "Transactions that the node sent to a leader again.",
        )
        .sample(&[], counts.retried.get());
        out.counter(
            "tetrad_cluster_executed_total",
            "Requests of other nodes that the node executed as the leader.",
        )
        .sample(&[], counts.executed.get());
        out.counter(
            "tetrad_cluster_conflicts_total",
            "Entries that the log refused because another node was first.",
        )
        .sample(&[], self.chain.conflicts());
    }

    fn json_rpc(&self, out: &mut Exposition) {
        let mut family = out.histogram(
            "tetrad_rpc_request_duration_seconds",
            "Duration of JSON-RPC requests, by method.",
        );
        for (method, seen) in self.rpc.latencies() {
            family.distribution(&[("method", method)], &seen);
        }

        let mut family = out.counter(
            "tetrad_rpc_errors_total",
            "JSON-RPC errors that were answered, by code.",
        );
        for (code, count) in self.rpc.errors() {
            family.sample(&[("code", code)], count);
        }
    }

    fn sockets(&self, out: &mut Exposition) {
        for sockets in &self.sockets {
            let name = sockets.interface();
            out.gauge(
                &format!("tetrad_{name}_sockets"),
                "WebSockets that are open.",
            )
            .sample(&[], sockets.open());
            let help = "WebSockets that were cut off because the client did not read.";
            out.counter(&format!("tetrad_{name}_sockets_cut_total"), help)
                .sample(&[], sockets.cut());
        }
    }

    fn http(&self, out: &mut Exposition) {
        let mut family = out.counter(
            "tetrad_http_requests_total",
            "HTTP requests by interface and status; 429 are those beyond the rate limit.",
        );
        for traffic in &self.traffic {
            for (status, count) in traffic.statuses() {
                family.sample(
                    &[("interface", traffic.interface()), ("status", status)],
                    count,
                );
            }
        }

        let mut family = out.histogram(
            "tetrad_http_request_duration_seconds",
            "Duration of HTTP requests.",
        );
        for traffic in &self.traffic {
            family.distribution(&[("interface", traffic.interface())], &traffic.latency());
        }
    }

    /// Writes prices and their age; nothing if the contracts cannot be read.
    async fn prices(&self, market: &Market, out: &mut Exposition) {
        let Ok(state) = market.current().await else {
            return;
        };

        let now = self.clock.now_ms() as f64 / 1_000.0;
        let listed = || market.network().tokens.iter().zip(&state.quotes);

        let mut family = out.gauge(
            "tetrad_price_usd",
            "The oracle's price of a token, in US dollars.",
        );
        for (token, quote) in listed() {
            family.sample(&[("token", &token.symbol)], quote.price as f64 / 1e8);
        }

        let mut family = out.gauge(
            "tetrad_price_age_seconds",
            "Age of the oracle's price of a token, in seconds.",
        );
        for (token, quote) in listed() {
            family.sample(
                &[("token", &token.symbol)],
                (now - quote.updated_at as f64).max(0.0),
            );
        }

        out.gauge(
            "tetrad_price_rejections",
            "Price updates that the oracle rejected within a day.",
        )
        .sample(&[], state.history.rejections_24h(state.time));
        out.gauge(
            "tetrad_prices_fresh",
            "Whether prices are fresh enough to trade at: 1 or 0.",
        )
        .sample(&[], u8::from(market.is_fresh(&state)));
    }
}

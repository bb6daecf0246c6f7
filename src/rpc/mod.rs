//! JSON-RPC over HTTP and WebSocket (specification, 4.1 and 7).
//!
//! [`Rpc::answer`] takes a body and gives a body; the transports around it are thin. A namespace is a file or folder
//! whose `methods` function registers its handlers in the [`Table`], with everything about them but their examples.

mod batch;
mod debug;
mod dev;
mod discover;
mod envelope;
pub mod error;
mod eth;
mod examples;
mod execution;
mod filters;
mod forked;
pub mod fuzzing;
mod hex;
mod http;
mod json;
mod meter;
mod net;
mod ots;
mod params;
mod personal;
mod schema;
mod subscriptions;
mod table;
mod testing;
mod trace;
mod tracing;
mod txpool;
mod web3;
mod ws;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use ::tracing::{Instrument, Span, field::Empty};
use serde_json::value::RawValue;

pub use error::{Dialect, RpcError};
pub use examples::{Answers, Example, Exchange, examples};
pub use http::{Direct, operations, service};
pub use table::Table;
pub use ws::web_sockets;

use self::{
    discover::Methods,
    envelope::{Body, Request},
    execution::{Caller, Execution, Slice},
    filters::Filters,
    forked::OnFork,
    json::Written,
    meter::{Meter, Meters},
    table::{Handler, Pending, Rendered},
};
use crate::{
    chain::{Chain, Keyring},
    fork::{Fork, Forks},
    web::{Budget, Client, ClientAddresses, Held},
};

/// How the interface behaves.
#[derive(Clone, Debug)]
pub struct RpcConfig {
    /// Which clients the texts of errors are for.
    pub dialect: Dialect,
    /// Whether the development methods exist.
    pub development: bool,
    /// What `web3_clientVersion` answers.
    pub client_version: String,
    /// Bytes that a request may have.
    pub max_body: usize,
    /// Requests that a batch may hold.
    pub max_batch: usize,
    /// Bytes of a batch's response after which the rest is refused.
    pub max_batch_response: usize,
    /// Gas that a call or an estimate may use.
    pub gas_cap: u64,
    /// How long a simulation or a trace may take.
    pub execution_timeout: Duration,
    /// Bytes that an answer with traces may have.
    pub max_trace_bytes: usize,
    /// Memory that a dump of the chain may take, roughly.
    pub max_dump_bytes: usize,
    /// Logs that a query may return.
    pub max_logs: usize,
    /// Filters that may exist at a time.
    pub max_filters: usize,
    /// Filters that one client may have at a time.
    pub max_filters_per_client: usize,
    /// How long a filter is kept that is not asked for.
    pub filter_lifetime: Duration,
    /// Subscriptions that one connection may have.
    pub max_subscriptions: usize,
    /// Gas limit of the node's own blocks, for when it stops forking.
    pub gas_limit: u64,
    /// How long a client of a WebSocket may take to accept a message before it is cut off.
    pub write_timeout: Duration,
    /// Calls that execute at a time on threads of their own; fewer where that is more than the processors can run.
    pub max_executions: usize,
    /// Finds out who sent a request, so that clients share what executes.
    pub addresses: ClientAddresses,
    /// Memory for requests and answers under way.
    pub budget: Budget,
    /// Whether the terminal tells of transactions; a development method switches it.
    pub logging: Arc<AtomicBool>,
    /// How long a request may take before the log tells of it.
    pub slow: Option<Duration>,
}

impl Default for RpcConfig {
    fn default() -> Self {
        Self {
            dialect: Dialect::Network,
            development: true,
            client_version: concat!("tetrad/v", env!("CARGO_PKG_VERSION")).to_owned(),
            max_body: 5 << 20,
            max_batch: 1_000,
            max_batch_response: 64 << 20,
            gas_cap: 50_000_000,
            execution_timeout: Duration::from_secs(5),
            max_trace_bytes: 64 << 20,
            max_dump_bytes: 256 << 20,
            max_logs: 50_000,
            max_filters: 10_000,
            max_filters_per_client: 1_000,
            filter_lifetime: Duration::from_secs(5 * 60),
            max_subscriptions: 1_000,
            gas_limit: 60_000_000,
            write_timeout: Duration::from_secs(10),
            max_executions: 32,
            addresses: ClientAddresses::default(),
            budget: Budget::default(),
            logging: Arc::new(AtomicBool::new(true)),
            slow: None,
        }
    }
}

/// What handlers work with.
pub struct Context {
    chain: Chain,
    keyring: Arc<Keyring>,
    config: RpcConfig,
    dialect: Dialect,
    filters: Filters,
    execution: Execution,
    meters: Meters,
    methods: Methods,
    /// Which chain is forked, and how to change that.
    forks: Option<Arc<Forks>>,
    /// Held by the one dump that is written or read at a time.
    dumping: Arc<tokio::sync::Mutex<()>>,
    /// Held while a nonce is chosen for a transaction that the node signs.
    sending: tokio::sync::Mutex<()>,
}

impl Context {
    /// The chain that is forked now.
    fn fork(&self) -> Option<Arc<Fork>> {
        self.forks.as_ref()?.current()
    }

    /// Tells, from now on, whether an execution takes too long.
    fn time_limit(&self) -> impl Fn() -> bool + Send + Sync + use<> {
        let (begun, limit) = (Instant::now(), self.config.execution_timeout);
        move || execution::interrupted() || begun.elapsed() > limit
    }
}

/// Bytes of a result from which on it is not copied.
const LONG: usize = 16 << 10;

/// What became of a call at first.
enum Began {
    /// It was answered, after this time.
    Answered(Duration),
    UnderWay(Started),
}

/// A call that is under way.
struct Started {
    pending: Pending,
    /// Whether it needs a place among those that execute.
    executes: bool,
    name: &'static str,
    meter: Arc<Meter>,
    began: Instant,
    span: Span,
}

/// Another interface of JSON-RPC at the same address, for what this one can make nothing of: the response to a body, if
/// it calls a method of that interface.
pub type Neighbour = dyn Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync;

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Rpc {
    context: Arc<Context>,
    table: Arc<Table>,
    neighbour: Option<Arc<Neighbour>>,
}

impl Rpc {
    /// The interface to `chain`, signing with the keys of `keyring`.
    ///
    /// With `forks` it answers for what is forked, too.
    pub fn new(chain: Chain, keyring: Arc<Keyring>, config: RpcConfig, forks: Option<Arc<Forks>>) -> Self {
        let table = Self::methods(config.development);
        let context = Context {
            filters: Filters::new(&config),
            execution: Execution::new(config.max_executions),
            meters: Meters::default(),
            dumping: Arc::default(),
            sending: tokio::sync::Mutex::default(),
            methods: Methods::of(&table, config.dialect),
            dialect: config.dialect,
            forks,
            chain,
            keyring,
            config,
        };
        Self { context: Arc::new(context), table: Arc::new(table), neighbour: None }
    }

    /// All methods, with those for development or without.
    fn methods(development: bool) -> Table {
        let mut table = Table::default();
        eth::methods(&mut table);
        net::methods(&mut table);
        web3::methods(&mut table);
        personal::methods(&mut table);
        txpool::methods(&mut table);
        debug::methods(&mut table);
        trace::methods(&mut table);
        ots::methods(&mut table);
        discover::methods(&mut table);
        if development {
            testing::methods(&mut table);
            dev::methods(&mut table);
        }
        table
    }

    /// The same interface at an address that it shares with another one.
    #[must_use]
    pub fn beside(&self, neighbour: Arc<Neighbour>) -> Self {
        Self { neighbour: Some(neighbour), ..self.clone() }
    }

    /// The methods.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The response to a body: to a request, or to a batch of them. With it what it holds of the memory for such.
    pub async fn answer(&self, client: Client, body: &[u8]) -> (Vec<u8>, Held) {
        let mut held = Held::default();
        let mut out = Vec::with_capacity(256);
        let read = envelope::read_body(body, self.context.config.max_batch);
        if let Some(neighbour) = &self.neighbour
            && !matches!(&read, Ok(Body::Batch(_)))
            && !matches!(&read, Ok(Body::Single(Ok(request))) if self.table.get(&request.method).is_some())
            && let Some(answer) = neighbour(body)
        {
            return (answer, held);
        }
        match read {
            Err(error) | Ok(Body::Single(Err(error))) => self.refuse("null", &error, &mut out),
            Ok(Body::Single(Ok(request))) => {
                if let Began::UnderWay(started) = self.start(client, &request, &mut out) {
                    let answer = self.wait(started).await.map(|rendered| {
                        held = rendered.held;
                        rendered.json
                    });
                    self.finish(request.id, answer, &mut out);
                } else if !self.context.config.budget.grow(&mut held, out.len()).await {
                    out.clear();
                    self.refuse(request.id, &RpcError::no_room(), &mut out);
                }
            }
            Ok(Body::Batch(batch)) => held = self.answer_batch(client, batch, &mut out).await,
        }
        (out, held)
    }

    /// Answers what can be answered at once, by appending to `out`; otherwise returns what is under way.
    fn start(&self, client: Client, request: &Request<'_>, out: &mut Vec<u8>) -> Began {
        let began = Instant::now();
        let Some(method) = self.table.get(&request.method) else {
            self.refuse(request.id, &RpcError::method_not_found(&request.method), out);
            return Began::Answered(Duration::ZERO);
        };
        let span = ::tracing::trace_span!(
            target: "tetrad::span",
            "rpc",
            otel.name = method.name,
            rpc.system = "jsonrpc",
            rpc.method = method.name,
            rpc.jsonrpc.error_code = Empty,
        );
        let mut caller = Caller { client, ..Caller::default() };
        let under_way = |pending, span| {
            let (name, meter) = (method.name, method.meter.clone());
            let executes = !matches!(method.handler, Handler::Wait(_));
            Began::UnderWay(Started { pending, executes, name, meter, began, span })
        };
        if let Some(fork) = self.context.fork() {
            caller.remote = true;
            let pending = self.on_fork(fork, caller, method.name, request.params.map(ToOwned::to_owned));
            return under_way(pending, span);
        }
        let entered = span.enter();
        let length = out.len();
        let mut slice = None;
        let at_once = match &method.handler {
            Handler::Quick(run) => {
                envelope::begin(request.id, out);
                Some(run(&self.context, caller, request.params, out))
            }
            Handler::Execute(run, _) if let Some(_place) = self.context.execution.inline(client) => {
                envelope::begin(request.id, out);
                let (outcome, ran) = Slice::run(began, || run(&self.context, caller, request.params, out));
                slice = Some(ran);
                caller.long = ran.overran;
                Some(outcome).filter(|_| !ran.overran)
            }
            Handler::Execute(..) | Handler::Apart(_) | Handler::Wait(_) => None,
        };
        let outcome = match (at_once, &method.handler) {
            (Some(outcome), _) => outcome,
            (None, Handler::Quick(_)) => Err(RpcError::internal("not answered")),
            (None, Handler::Execute(_, run) | Handler::Apart(run) | Handler::Wait(run)) => {
                out.truncate(length);
                if let Some(slice) = slice.take() {
                    self.context.execution.charge(client, slice, began.elapsed());
                }
                run(self.context.clone(), caller, request.params).map(Some)
            }
        };
        match outcome {
            Ok(None) => envelope::end(out),
            Ok(Some(pending)) => {
                drop(entered);
                out.truncate(length);
                return under_way(pending, span);
            }
            Err(error) => {
                span.record("rpc.jsonrpc.error_code", error.code);
                out.truncate(length);
                self.refuse(request.id, &error, out);
            }
        }
        let took = method.meter.answered(method.name, began, self.context.config.slow);
        if let Some(slice) = slice {
            self.context.execution.charge(client, slice, took);
        }
        Began::Answered(took)
    }

    /// Answers on a fork, where everything may have to wait for the other node: on threads of its own.
    fn on_fork(&self, fork: Arc<Fork>, caller: Caller, name: &'static str, params: Option<Box<RawValue>>) -> Pending {
        let (context, table) = (self.context.clone(), self.table.clone());
        Box::pin(async move {
            let Some(method) = table.get(name) else { return Err(RpcError::method_not_found(name)) };
            if let Some(forward) = method.forward() {
                let (own, given) = (context.clone(), params.clone());
                let ask = move || forked::answer(&own, &fork, name, forward, given.as_deref());
                if let Some(answer) = context.execution.apart(caller, ask).await? {
                    return Rendered::new(Written(answer), &context);
                }
            }
            if let Handler::Apart(run) | Handler::Wait(run) = &method.handler {
                let pending = run(context, caller, params.as_deref())?;
                return pending.await;
            }
            let own = context.clone();
            let run = move || {
                let mut out = Vec::new();
                if let Some(Handler::Quick(run) | Handler::Execute(run, _)) =
                    table.get(name).map(|method| &method.handler)
                {
                    run(&own, caller, params.as_deref(), &mut out)?;
                }
                Rendered::new(Written(out), &own)
            };
            context.execution.apart(caller, run).await
        })
    }

    async fn wait(&self, started: Started) -> table::Answer {
        // Nearly nobody records traces, and a future within a span is a larger one.
        let answer = if started.span.is_disabled() {
            started.pending.await
        } else {
            let answer = started.pending.instrument(started.span.clone()).await;
            if let Err(error) = &answer {
                started.span.record("rpc.jsonrpc.error_code", error.code);
            }
            answer
        };
        started.meter.answered(started.name, started.began, self.context.config.slow);
        answer
    }

    fn finish(&self, id: &str, answer: Result<Vec<u8>, RpcError>, out: &mut Vec<u8>) {
        match answer {
            // What is long is not copied.
            Ok(mut result) if out.is_empty() && result.len() > LONG => {
                envelope::begin(id, out);
                result.splice(0..0, out.drain(..));
                *out = result;
                envelope::end(out);
            }
            Ok(result) => {
                envelope::begin(id, out);
                out.extend_from_slice(&result);
                envelope::end(out);
            }
            Err(error) => self.refuse(id, &error, out),
        }
    }

    fn refuse(&self, id: &str, error: &RpcError, out: &mut Vec<u8>) {
        self.context.meters.failed(error.code);
        envelope::error(id, error, self.context.dialect, out);
    }
}

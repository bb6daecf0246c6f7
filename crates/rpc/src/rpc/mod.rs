//! JSON-RPC over HTTP and WebSocket (see the book, "JSON-RPC").
//!
//! [`Rpc::answer`] turns a request body into a response body; the transports around it are thin. A
//! namespace is a file or folder whose `methods` function registers its handlers in the [`Table`]
//! with everything about them except examples.
//!
//! # Dialects
//!
//! The dialect (`rpc.dialect`) says whose conventions hold:
//!
//! - `network`: the network's specification wins. The message of an error is exactly its text,
//!   `data` gives the reason, the block parameter is required where the specification requires it,
//!   and so is an integer or a string as `id`. `eth_` methods take no JSON integer for a quantity.
//! - `ethereum`: geth's texts, no `data`, block optional, and the envelope is that of JSON-RPC 2.0:
//!   `"id": null` is answered, a request without `id` is executed and not answered, and, as in
//!   geth, `"params": null` is none. A JSON integer counts as a quantity. It is the default with a
//!   genesis file and on a fork.
//!
//! The namespaces that tools call with JSON integers take them in either dialect.
//!
//! # Where methods run
//!
//! Quick methods run on the task of their request. Methods that replay blocks or scan many of them
//! are long from the start, and so are requests for blocks and states that have to be read from
//! disk (`Param::is_far`). A batch runs four such calls at a time, sixteen on a fork. On a fork all
//! requests run on threads of their own, since any of them may wait for the other node.

mod admin;
mod batch;
mod catalog;
mod debug;
mod dev;
mod discover;
mod envelope;
pub mod error;
mod eth;
mod examples;
mod failures;
mod filters;
mod forked;
#[doc(hidden)]
pub mod fuzzing;
mod graphql;
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
mod tetrad;
mod trace;
mod tracing;
mod txpool;
mod web3;
mod ws;

use std::{
    path::PathBuf,
    sync::{Arc, LazyLock, atomic::AtomicBool},
    time::{Duration, Instant},
};

use ::tracing::{Instrument, Span, field::Empty};
use axum::body::Bytes;
use futures_util::future::BoxFuture;
use tetrad_chain::{Chain, Keyring};
use tetrad_contracts::sources::KnownContracts;
use tetrad_stdx::failed_calls::FailedCalls;
use tetrad_web::{
    Answer, Budget, Caller, Client, Execution, Slice, check_json, current_client, interrupted,
};

pub use error::{Dialect, RpcError};
pub use examples::{Answers, Example, ExampleExchange, examples};
pub use graphql::{fuzzing::GraphQueries, graphql_operation, graphql_service};
pub use http::{Direct, operations, service};
pub use table::Table;
#[cfg(all(feature = "js-tracer", unix))]
pub use tracing::{TRACER_COMMAND, run_tracer};
pub use ws::web_sockets;

use self::{
    batch::SocketResults,
    discover::Methods,
    envelope::{Body, NO_ID, Request},
    filters::Filters,
    forked::OnFork,
    json::{Json, JsonWriter, Written},
    meter::{Meter, Meters},
    params::ParamRules,
    table::{Handler, KeptParams, Pending, Reached},
};
use crate::fork::{ChainFork, ChainForks};

/// The most bytes of parameters that are read on the task of their request, unless the method
/// waits.
const LONG_PARAMS: usize = 64 << 10;
/// Bytes of the longest identifier that a response without memory repeats.
const MAX_REFUSED_ID: usize = 1 << 10;

/// Settings of the interface.
#[derive(Clone, Debug)]
pub struct RpcConfig {
    /// The clients whose conventions are followed.
    pub dialect: Dialect,
    /// Whether the development methods exist.
    pub development: bool,
    /// Whether submitting a transaction that fails in its block is an error.
    pub throw_on_transaction_failure: bool,
    /// The result of `web3_clientVersion`.
    pub client_version: String,
    /// The maximum size of a request in bytes.
    pub max_body: usize,
    /// The maximum number of requests in a batch.
    pub max_batch: usize,
    /// The size of a batch's response in bytes beyond which the remaining requests are refused.
    pub max_batch_response: usize,
    /// The maximum gas of a call or an estimate.
    pub gas_cap: u64,
    /// The time limit of a simulation or a trace.
    pub execution_timeout: Duration,
    /// The maximum size of a response with traces in bytes.
    pub max_trace_bytes: usize,
    /// The memory limit of a JavaScript tracer in bytes.
    pub max_tracer_memory: usize,
    /// The program that runs JavaScript tracers: this one. Without it there are none.
    pub tracer_program: Option<PathBuf>,
    /// The approximate memory in bytes that a dump of the chain may take.
    pub max_dump_bytes: usize,
    /// The maximum number of logs that a query may return.
    pub max_logs: usize,
    /// The maximum number of filters.
    pub max_filters: usize,
    /// The maximum number of filters of one client.
    pub max_filters_per_client: usize,
    /// How long a filter is kept without being polled.
    pub filter_lifetime: Duration,
    /// The maximum number of subscriptions of one connection.
    pub max_subscriptions: usize,
    /// The gas limit of the node's own blocks, used when it stops forking.
    pub gas_limit: u64,
    /// How long a WebSocket client may take to accept a message before it is disconnected.
    pub write_timeout: Duration,
    /// The maximum number of calls that execute at a time on threads of their own; fewer on a
    /// machine with fewer processors.
    pub max_executions: usize,
    /// The memory budget for requests and responses in progress.
    pub budget: Budget,
    /// The calls that failed lately; none are recorded without development methods.
    pub failed_calls: FailedCalls,
    /// Whether the terminal logs transactions; a development method switches it.
    pub logging: Arc<AtomicBool>,
    /// The duration above which a request is logged.
    pub slow: Option<Duration>,
}

impl Default for RpcConfig {
    fn default() -> Self {
        Self {
            dialect: Dialect::Network,
            development: true,
            throw_on_transaction_failure: false,
            client_version: concat!("tetrad/v", env!("CARGO_PKG_VERSION")).to_owned(),
            max_body: 5 << 20,
            max_batch: 1_000,
            max_batch_response: 64 << 20,
            gas_cap: 50_000_000,
            execution_timeout: Duration::from_secs(5),
            max_trace_bytes: 64 << 20,
            max_tracer_memory: 256 << 20,
            tracer_program: None,
            max_dump_bytes: 256 << 20,
            max_logs: 50_000,
            max_filters: 10_000,
            max_filters_per_client: 1_000,
            filter_lifetime: Duration::from_secs(5 * 60),
            max_subscriptions: 1_000,
            gas_limit: 60_000_000,
            write_timeout: Duration::from_secs(10),
            max_executions: 32,
            budget: Budget::default(),
            failed_calls: FailedCalls::default(),
            logging: Arc::new(AtomicBool::new(true)),
            slow: None,
        }
    }
}

/// The state that handlers share.
pub struct Context {
    chain: Chain,
    keyring: Arc<Keyring>,
    config: RpcConfig,
    dialect: Dialect,
    filters: Filters,
    execution: Arc<Execution>,
    meters: Meters,
    methods: Methods,
    /// Contracts whose sources are known.
    known: KnownContracts,
    /// The forked chain, and how to change it.
    forks: Option<Arc<ChainForks>>,
    /// Held by a dump while it is written or read: one at a time.
    dumping: Arc<tokio::sync::Mutex<()>>,
    /// Held while a nonce is chosen for a transaction that the node signs.
    sending: tokio::sync::Mutex<()>,
}

impl Context {
    /// The chain that is currently forked.
    fn fork(&self) -> Option<Arc<ChainFork>> {
        self.forks.as_ref()?.current()
    }

    /// The rules of parameters of the standard methods.
    fn rules(&self) -> ParamRules {
        ParamRules::new(self.dialect, false)
    }

    /// An empty result of at most `limit` bytes.
    fn writer(&self, limit: usize) -> JsonWriter {
        JsonWriter::new(&self.config.budget, limit)
    }

    /// The JSON of a result.
    fn render(&self, result: impl Json) -> table::Answer {
        let mut out = self.writer(usize::MAX);
        result.append_to(&mut out);
        Ok(out.finish()?)
    }

    /// Runs `work` of a method that waits on a thread of its own, in the turn of its client.
    async fn apart_for_caller<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<R, RpcError> + Send + 'static,
    ) -> Result<R, RpcError> {
        let caller = Caller {
            client: current_client(),
            long: false,
            remote: self.fork().is_some(),
        };
        self.execution.apart(caller, work).await
    }

    /// Returns a check of the time limit of an execution that begins now.
    fn time_limit(&self) -> impl Fn() -> bool + Send + Sync + use<> {
        let (begun, limit) = (Instant::now(), self.config.execution_timeout);
        move || interrupted() || begun.elapsed() > limit
    }
}

/// The state of a call after it was started.
enum Began {
    /// The call was answered, after this time.
    Answered(Duration),
    UnderWay(Started),
}

/// A call in progress.
struct Started {
    pending: Pending,
    /// Whether it needs a place among the executing calls.
    executes: bool,
    name: &'static str,
    meter: Arc<Meter>,
    began: Instant,
    span: Span,
}

/// Another JSON-RPC interface at the same address, for requests with unknown methods: returns the
/// response to a body that calls a method of that interface.
pub type Neighbour = dyn Fn(&[u8]) -> Option<BoxFuture<'static, Answer>> + Send + Sync;

/// The interface. Clones share it.
#[derive(Clone)]
pub struct Rpc {
    context: Arc<Context>,
    table: Arc<Table>,
    neighbour: Option<Arc<Neighbour>>,
}

impl Rpc {
    /// The interface to `chain`, signing with the keys of `keyring`. Calls run on the threads of
    /// `execution`.
    ///
    /// With `forks` it also answers for the forked chain.
    pub fn new(
        chain: Chain,
        keyring: Arc<Keyring>,
        config: RpcConfig,
        known: KnownContracts,
        forks: Option<Arc<ChainForks>>,
        execution: Arc<Execution>,
    ) -> Self {
        let table = Self::methods(config.development);
        let context = Context {
            filters: Filters::new(&config),
            execution,
            meters: Meters::default(),
            dumping: Arc::default(),
            sending: tokio::sync::Mutex::default(),
            methods: Methods::of(&table, config.dialect),
            dialect: config.dialect,
            known,
            forks,
            chain,
            keyring,
            config,
        };
        Self {
            context: Arc::new(context),
            table: Arc::new(table),
            neighbour: None,
        }
    }

    /// The error of a method that this node does not have.
    fn no_method(&self, name: &str) -> RpcError {
        static DEVELOPMENT: LazyLock<Table> = LazyLock::new(|| Rpc::methods(true));
        if !self.context.config.development && DEVELOPMENT.get(name).is_some() {
            return RpcError::only_for_development(name);
        }
        RpcError::method_not_found(name)
    }

    /// The table of all methods, with or without the development methods.
    fn methods(development: bool) -> Table {
        let mut table = Table::default();
        eth::methods(&mut table);
        net::methods(&mut table);
        web3::methods(&mut table);
        admin::methods(&mut table);
        personal::methods(&mut table);
        txpool::methods(&mut table);
        debug::methods(&mut table);
        trace::methods(&mut table);
        ots::methods(&mut table);
        tetrad::methods(&mut table, development);
        discover::methods(&mut table);
        if development {
            testing::methods(&mut table);
            dev::methods(&mut table);
        }
        table
    }

    /// Shares the interface's address with another interface.
    #[must_use]
    pub fn beside(&self, neighbour: Arc<Neighbour>) -> Self {
        Self {
            neighbour: Some(neighbour),
            ..self.clone()
        }
    }

    /// The table of methods.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The response to a body, which is a request or a batch, with the memory that it holds. It is
    /// empty if there is none: notifications are not answered.
    pub async fn answer(&self, body: &Bytes) -> Answer {
        self.answer_with(body, SocketResults::new()).await
    }

    /// The response to a body whose elements at these positions the connection has already
    /// executed.
    async fn answer_with(&self, body: &Bytes, of_socket: SocketResults) -> Answer {
        let client = current_client();
        let mut out = self.context.writer(usize::MAX);
        let read = envelope::read_body(body, self.context.config.max_batch, self.context.dialect);
        if let Some(neighbour) = &self.neighbour
            && !matches!(&read, Ok(Body::Batch(_)))
            && !matches!(&read, Ok(Body::Single(Ok(request))) if self.table.get(&request.method).is_some())
            && let Some(answer) = neighbour(body)
        {
            return answer.await;
        }
        match read {
            Err(error) | Ok(Body::Single(Err(error))) => self.refuse(NO_ID, &error, &mut out),
            Ok(Body::Single(Ok(request))) => {
                if let Began::UnderWay(started) = self.start(client, body, &request, &mut out) {
                    let answer = self.wait(started).await;
                    self.finish(request.response_id(), answer, &mut out);
                }
                if out.check().is_err() {
                    out = self.context.writer(usize::MAX);
                    // The identifier may be what is too long.
                    let id = Some(request.response_id())
                        .filter(|id| id.len() <= MAX_REFUSED_ID)
                        .unwrap_or(NO_ID);
                    self.refuse_for_memory(id, &RpcError::no_room(), &mut out);
                }
                if request.id.is_none() {
                    return Answer::default();
                }
            }
            Ok(Body::Batch(batch)) => {
                return self.answer_batch(client, body, batch, of_socket, out).await;
            }
        }
        out.into_answer()
    }

    /// Answers a request of a body at once by appending to `out`, or returns it in progress.
    /// Without memory for all of it, a part of the response is missing in `out`.
    fn start(
        &self,
        client: Client,
        body: &Bytes,
        request: &Request<'_>,
        out: &mut JsonWriter,
    ) -> Began {
        let began = Instant::now();
        let id = request.response_id();
        let Some(method) = self.table.get(&request.method) else {
            self.refuse(id, &self.no_method(&request.method), out);
            return Began::Answered(Duration::ZERO);
        };
        if let Some(Err(error)) = request
            .params
            .map(|params| check_json(params.get().as_bytes()))
        {
            self.refuse(
                id,
                &RpcError::invalid_params(format!("params: {error}")),
                out,
            );
            return Began::Answered(Duration::ZERO);
        }
        let span = ::tracing::trace_span!(
            target: "tetrad::span",
            "rpc",
            otel.name = method.name,
            rpc.system = "jsonrpc",
            rpc.method = method.name,
            rpc.jsonrpc.error_code = Empty,
        );
        let mut caller = Caller {
            client,
            ..Caller::default()
        };
        let keep = || KeptParams::new(request.params, body);
        let under_way = |pending, span| {
            let (name, meter) = (method.name, method.meter.clone());
            let pending = self.recording(name, keep(), pending);
            let executes = !matches!(method.handler, Handler::Wait(_));
            Began::UnderWay(Started {
                pending,
                executes,
                name,
                meter,
                began,
                span,
            })
        };
        if let Some(fork) = self.context.fork() {
            caller.remote = true;
            let pending = self.on_fork(fork, caller, method.name, keep());
            return under_way(pending, span);
        }
        let entered = span.enter();
        let length = out.len();
        let mut slice = None;
        let is_long = request
            .params
            .is_some_and(|params| params.get().len() > LONG_PARAMS);
        let at_once = match &method.handler {
            Handler::Quick(run, _) if !is_long => {
                envelope::begin(id, out);
                Some(run(&self.context, request.params, out))
            }
            Handler::Execute(run, _)
                if !is_long && let Some(_place) = self.context.execution.inline(client) =>
            {
                envelope::begin(id, out);
                let (outcome, ran) = Slice::run(began, || run(&self.context, request.params, out));
                slice = Some(ran);
                caller.long = ran.overran;
                Some(outcome).filter(|_| !ran.overran)
            }
            _ => None,
        };
        let outcome = match at_once {
            Some(Ok(Reached::Near)) => Ok(None),
            Some(Err(error)) => Err(error),
            not_yet => {
                out.truncate(length);
                if let Some(slice) = slice.take() {
                    self.context
                        .execution
                        .charge(client, slice, began.elapsed());
                }
                // It was tried, and is far or long.
                let skips_slice = not_yet.is_some();
                method
                    .handler
                    .later(self.context.clone(), caller, keep(), skips_slice)
                    .map(Some)
            }
        };
        match outcome {
            Ok(None) => envelope::end(out),
            Ok(Some(pending)) => {
                drop(entered);
                return under_way(pending, span);
            }
            Err(error) => {
                span.record("rpc.jsonrpc.error_code", error.code);
                self.context
                    .record_failure(method.name, request.params, &error);
                out.truncate(length);
                self.refuse(id, &error, out);
            }
        }
        let took = method
            .meter
            .answered(method.name, began, self.context.config.slow);
        if let Some(slice) = slice {
            self.context.execution.charge(client, slice, took);
        }
        Began::Answered(took)
    }

    /// Has the failure of a method recorded, if failures of this method are.
    fn recording(&self, name: &'static str, params: KeptParams, pending: Pending) -> Pending {
        if !self.context.records_failures(name) {
            return pending;
        }
        let context = self.context.clone();
        Box::pin(async move {
            pending
                .await
                .inspect_err(|error| context.record_failure(name, params.get(), error))
        })
    }

    /// Answers on a fork, on a thread of its own, since any request may have to wait for the other
    /// node.
    fn on_fork(
        &self,
        fork: Arc<ChainFork>,
        caller: Caller,
        name: &'static str,
        params: KeptParams,
    ) -> Pending {
        let (context, table) = (self.context.clone(), self.table.clone());
        Box::pin(async move {
            let Some(method) = table.get(name) else {
                return Err(RpcError::method_not_found(name));
            };
            if let Some(forward) = method.forward() {
                let (own, given) = (context.clone(), params.clone());
                let ask = move || forked::answer(&own, &fork, name, forward, given.get());
                if let Some(answer) = context.execution.apart(caller, ask).await? {
                    return Ok(Written(answer));
                }
            }
            method.handler.later(context, caller, params, false)?.await
        })
    }

    async fn wait(&self, started: Started) -> table::Answer {
        // Tracing is rarely enabled, and a future within a span is larger.
        let answer = if started.span.is_disabled() {
            started.pending.await
        } else {
            let answer = started.pending.instrument(started.span.clone()).await;
            if let Err(error) = &answer {
                started.span.record("rpc.jsonrpc.error_code", error.code);
            }
            answer
        };
        started
            .meter
            .answered(started.name, started.began, self.context.config.slow);
        answer
    }

    fn finish(&self, id: &str, answer: Result<impl Json, RpcError>, out: &mut JsonWriter) {
        match answer {
            Ok(result) => {
                envelope::begin(id, out);
                result.append_to(out);
                envelope::end(out);
            }
            Err(error) => self.refuse(id, &error, out),
        }
    }

    fn refuse(&self, id: &str, error: &RpcError, out: &mut JsonWriter) {
        self.context.meters.failed(error.code);
        out.extend_from_slice(envelope::error(id, error, self.context.dialect).as_bytes());
    }

    /// Refuses a request for lack of memory, which has to be said even so.
    fn refuse_for_memory(&self, id: &str, error: &RpcError, out: &mut JsonWriter) {
        self.context.meters.failed(error.code);
        out.extend_anyway(&envelope::error(id, error, self.context.dialect));
    }
}

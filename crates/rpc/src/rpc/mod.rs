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
//!   geth, `"params": null` counts as absent. A JSON integer counts as a quantity. It is the
//!   default with a genesis file and on a fork.
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
mod call_form;
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
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, AtomicU64},
    },
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
use tokio::sync::broadcast;

pub use dev::read_dump;
pub use error::{Dialect, RpcError};
pub use examples::{Answers, Example, ExampleExchange, examples};
pub use graphql::{fuzzing::GraphQueries, graphql_operation, graphql_service};
pub use http::{Direct, operations, service};
pub use table::Table;
#[cfg(all(feature = "js-tracer", unix))]
pub use tracing::{TRACER_COMMAND, run_tracer};
pub use ws::{web_sockets, with_ipc};

use self::{
    batch::SocketResults,
    call_form::CallForm,
    discover::Methods,
    envelope::{Body, NO_ID, Request},
    filters::Filters,
    forked::OnFork,
    json::{Json, JsonWriter, Written},
    meter::{Meter, Meters},
    table::{Handler, KeptParams, Method, Pending, Reached},
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
    /// Whether anvil's conventions hold: a transaction comes from the first account by default, and is
    /// sent even if it reverts, and the price of a call may be below the base fee.
    pub anvil_conventions: bool,
    /// The maximum size of a request in bytes.
    pub max_body: usize,
    /// The maximum number of requests in a batch.
    pub max_batch: usize,
    /// The size of a batch's response in bytes beyond which the remaining requests are refused.
    pub max_batch_response: usize,
    /// The maximum gas of a call or an estimate.
    pub gas_cap: u64,
    /// The most by which an estimate may exceed the least gas, relative to the estimate.
    pub estimate_tolerance: f64,
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
    /// The time for which a filter is kept without being polled.
    pub filter_lifetime: Duration,
    /// The maximum number of subscriptions of one connection.
    pub max_subscriptions: usize,
    /// The gas limit of the node's own blocks, used when it stops forking.
    pub gas_limit: u64,
    /// The time that a WebSocket client may take to accept a message before it is disconnected.
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
    /// Receives the name of each method that is called, if they are shown.
    pub called: Option<broadcast::Sender<&'static str>>,
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
            anvil_conventions: false,
            estimate_tolerance: tetrad_evm::ESTIMATE_TOLERANCE,
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
            called: None,
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
    /// Held by a dump while it is read: one at a time.
    loading: Arc<tokio::sync::Mutex<()>>,
    /// Held while a nonce is chosen for a transaction that the node signs.
    sending: tokio::sync::Mutex<()>,
    /// The number of resets of the chain.
    resets: AtomicU64,
}

impl Context {
    /// The chain that is currently forked.
    fn fork(&self) -> Option<Arc<ChainFork>> {
        self.forks.as_ref()?.current()
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
    fn time_check(&self) -> impl Fn() -> bool + Send + Sync + use<> {
        let begun = Instant::now();
        let limit = self.config.execution_timeout;

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

/// A request for a method that the node has.
struct Call<'a> {
    client: Client,
    body: &'a Bytes,
    request: &'a Request<'a>,
    method: &'a Method,
    began: Instant,
}

impl Call<'_> {
    /// The parameters, for a call that outlives its request.
    fn kept_params(&self) -> KeptParams {
        KeptParams::new(self.request.params, self.body)
    }

    /// The call in progress, which has its failure recorded.
    fn under_way(&self, rpc: &Rpc, pending: Pending, span: Span) -> Began {
        let name = self.method.name;
        Began::UnderWay(Started {
            pending: rpc.recording(self.method, self.kept_params(), pending),
            executes: !matches!(self.method.handler, Handler::Wait(_)),
            name,
            meter: self.method.meter.clone(),
            began: self.began,
            span,
        })
    }
}

/// The outcome of trying a call on the task of its request.
#[derive(Default)]
struct Attempt {
    /// The result, if the call was tried and ended within its slice.
    outcome: Option<Result<Reached, RpcError>>,
    /// The slice in which it executed, which has to be charged to its client.
    slice: Option<Slice>,
}

/// The span of a call, with OpenTelemetry's names for its fields.
fn span_of(method: &'static str) -> Span {
    ::tracing::trace_span!(
        target: "tetrad::span",
        "rpc",
        otel.name = method,
        rpc.system = "jsonrpc",
        rpc.method = method,
        rpc.jsonrpc.error_code = Empty,
    )
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
            loading: Arc::default(),
            sending: tokio::sync::Mutex::default(),
            resets: AtomicU64::new(0),
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
            && self.may_be_for_neighbour(&read)
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

    /// Whether a body is neither a batch nor a request for a method of this interface.
    fn may_be_for_neighbour(&self, read: &Result<Body<'_>, RpcError>) -> bool {
        match read {
            Ok(Body::Batch(_)) => false,
            Ok(Body::Single(Ok(request))) => self.table.get(&request.method).is_none(),
            Ok(Body::Single(Err(_))) | Err(_) => true,
        }
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
        let method = match self.method_for(request) {
            Ok(method) => method,
            Err(error) => {
                self.refuse(request.response_id(), &error, out);
                return Began::Answered(Duration::ZERO);
            }
        };
        let span = span_of(method.name);
        let call = Call {
            client,
            body,
            request,
            method,
            began,
        };

        if let Some(fork) = self.context.fork() {
            // Any method may wait for the other node, so none runs on this task.
            let pending = self.on_fork(fork, client, method.name, call.kept_params());
            return call.under_way(self, pending, span);
        }
        self.start_here(&call, span, out)
    }

    /// Starts a call that this node answers itself.
    fn start_here(&self, call: &Call<'_>, span: Span, out: &mut JsonWriter) -> Began {
        let entered = span.enter();
        let length = out.len();
        let Attempt { outcome, mut slice } = self.attempt(call, out);
        let outcome = match outcome {
            Some(Ok(Reached::Near)) => Ok(None),
            Some(Err(error)) => Err(error),
            not_yet => {
                out.truncate(length);
                // It was tried, and is far or long.
                let skips_slice = not_yet.is_some();
                self.later(call, slice.take(), skips_slice).map(Some)
            }
        };

        match outcome {
            Ok(None) => envelope::end(out),
            Ok(Some(pending)) => {
                // The span is entered again whenever the call continues.
                drop(entered);
                return call.under_way(self, pending, span);
            }
            Err(error) => {
                span.record("rpc.jsonrpc.error_code", error.code);
                out.truncate(length);
                self.fail(call, &error, out);
            }
        }

        let Method { name, meter, .. } = call.method;
        let took = meter.answered(name, call.began, self.context.config.slow);
        if let Some(slice) = slice {
            self.context.execution.charge(call.client, slice, took);
        }
        Began::Answered(took)
    }

    /// The method that a request calls, if its parameters are valid JSON.
    fn method_for(&self, request: &Request<'_>) -> Result<&Method, RpcError> {
        let Some(method) = self.table.get(&request.method) else {
            return Err(self.no_method(&request.method));
        };
        if let Some(called) = &self.context.config.called {
            // Fails if there is no receiver any longer.
            let _ = called.send(method.name);
        }
        // Before they are read: the number of values decides how much memory that takes.
        if let Some(params) = request.params {
            check_json(params.get().as_bytes())
                .map_err(|error| RpcError::invalid_params(format!("params: {error}")))?;
        }
        Ok(method)
    }

    /// Runs a call on this task if its handler and its parameters allow that, and for no longer
    /// than a slice if it executes code. Appends the beginning of a response.
    fn attempt(&self, call: &Call<'_>, out: &mut JsonWriter) -> Attempt {
        let id = call.request.response_id();
        let params = call.request.params;
        if params.is_some_and(|params| params.get().len() > LONG_PARAMS) {
            return Attempt::default();
        }

        match &call.method.handler {
            Handler::Quick(run, _) => {
                envelope::begin(id, out);
                Attempt {
                    outcome: Some(run(&self.context, params, out)),
                    slice: None,
                }
            }
            Handler::Execute(run, _) => {
                let Some(_place) = self.context.execution.inline(call.client) else {
                    return Attempt::default();
                };
                envelope::begin(id, out);
                let (outcome, slice) = Slice::run(call.began, || run(&self.context, params, out));
                Attempt {
                    outcome: Some(outcome).filter(|_| !slice.overran),
                    slice: Some(slice),
                }
            }
            Handler::Apart(_) | Handler::Wait(_) | Handler::OnConnection(_) => Attempt::default(),
        }
    }

    /// Begins a call that was not answered at once, after charging the slice in which it was tried.
    fn later(
        &self,
        call: &Call<'_>,
        slice: Option<Slice>,
        skips_slice: bool,
    ) -> Result<Pending, RpcError> {
        if let Some(slice) = slice {
            self.context
                .execution
                .charge(call.client, slice, call.began.elapsed());
        }

        let caller = Caller {
            client: call.client,
            long: slice.is_some_and(|slice| slice.overran),
            ..Caller::default()
        };
        call.method.handler.later(
            self.context.clone(),
            caller,
            call.kept_params(),
            skips_slice,
        )
    }

    /// Records the failure of a call, and appends the error response.
    fn fail(&self, call: &Call<'_>, error: &RpcError, out: &mut JsonWriter) {
        if let Some(form) = self.recorded_form(call.method) {
            self.context
                .record_failure(call.method.name, form, call.request.params, error);
        }
        self.refuse(call.request.response_id(), error, out);
    }

    /// The form of a method's calls, if their failures are recorded by this node.
    fn recorded_form(&self, method: &Method) -> Option<CallForm> {
        method
            .recorded()
            .filter(|_| self.context.config.development)
    }

    /// Has the failure of a method recorded, if failures of this method are.
    fn recording(&self, method: &Method, params: KeptParams, pending: Pending) -> Pending {
        let Some(form) = self.recorded_form(method) else {
            return pending;
        };
        let name = method.name;
        let context = self.context.clone();
        Box::pin(async move {
            pending
                .await
                .inspect_err(|error| context.record_failure(name, form, params.get(), error))
        })
    }

    /// Answers on a fork, on a thread of its own, since any request may have to wait for the other
    /// node.
    fn on_fork(
        &self,
        fork: Arc<ChainFork>,
        client: Client,
        name: &'static str,
        params: KeptParams,
    ) -> Pending {
        let caller = Caller {
            client,
            remote: true,
            ..Caller::default()
        };
        let context = self.context.clone();
        let table = self.table.clone();
        Box::pin(async move {
            // Looked up again, since the future cannot borrow the method.
            let Some(method) = table.get(name) else {
                return Err(RpcError::method_not_found(name));
            };

            if let Some(forward) = method.forward() {
                let own = context.clone();
                let rules = method.rules(context.dialect);
                let given = params.clone();
                let ask = move || forked::answer(&own, &fork, name, forward, rules, given.get());
                if let Some(answer) = context.execution.apart(caller, ask).await? {
                    return Ok(Written(answer));
                }
            }

            method.handler.later(context, caller, params, false)?.await
        })
    }

    /// Waits for a call in progress, and counts it.
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

    /// Appends the response to a request: its result, or its error.
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

    /// Appends an error response, and counts it.
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

//! The methods by name.
//!
//! A handler is a plain function over the context and a tuple of parameters; registering it wraps
//! it into a uniform [`Handler`]. The registration of a method carries everything about it:
//!
//! - how it runs: [`read`](Table::read), [`execute`](Table::execute), [`apart`](Table::apart),
//!   [`wait`](Table::wait), [`change`](Table::change) or
//!   [`on_connection`](Table::on_connection). Blocks and states that have to be read from disk or
//!   built first go to a thread of their own in any case, and so do long results, long parameters,
//!   or those with many values of a method that waits. Requests that wait for their turn keep them
//!   unread;
//! - what a fork does with it: [`OnFork`];
//! - whether it [changes the chain](Registration::changes_state), [awaits a
//!   receipt](Registration::awaits_receipt), or has its [failures
//!   recorded](Registration::records_failures);
//! - its documentation: the names of its parameters and a summary, see [`Registration::describe`].
//!   Its example is in the `examples.jsonl` of its namespace.
//!
//! Properties common to all methods of a namespace are in the [`Namespace`] with which their names
//! begin.

use std::{
    collections::{BTreeMap, HashMap},
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    time::Instant,
};

use alloy_primitives::map::DefaultHashBuilder;
use axum::body::Bytes;
use serde_json::{Value, value::RawValue};
use tetrad_web::{Caller, Held, Slice, json_memory};

use super::{
    Context, OnFork,
    call_form::CallForm,
    catalog::{Effort, Namespace},
    error::{Dialect, RpcError},
    forked::Forward,
    json::{Json, JsonWriter, Written},
    meter::Meter,
    params::{ParamReader, ParamRules, ParamShape, Params, Reach, Reference},
    subscriptions::Subscriptions,
};

/// Most bytes of a result that are written on the task that received the request: about a
/// millisecond of work.
const MAX_AT_ONCE: usize = 512 << 10;

/// The result of a method, or an error.
pub(super) type Answer = Result<Written, RpcError>;

/// The result of a method that needs a connection, as JSON, or an error.
pub(super) type SocketResult = Result<String, RpcError>;

/// A method call in progress.
pub(super) type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Appends the result, unless it is long or a parameter is [far](Params::is_far).
type Quick =
    dyn Fn(&Context, Option<&RawValue>, &mut JsonWriter) -> Result<Reached, RpcError> + Send + Sync;
/// Reads the parameters, and waits for something.
type Wait = dyn Fn(Arc<Context>, Option<&RawValue>) -> Result<Pending, RpcError> + Send + Sync;
/// Reads the parameters, and runs the method. Since no type of a method is in it, what runs it is
/// compiled once.
type Work = dyn Fn(&Context, Option<&RawValue>) -> Answer + Send + Sync;
/// Reads the parameters, and runs the method on the subscriptions of a connection.
type OnConnection =
    dyn Fn(&mut Subscriptions, &Context, Option<&RawValue>) -> SocketResult + Send + Sync;

/// Whether a method has a short result, and what its parameters refer to at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// The method was run.
    Near,
    /// It has to run on a thread of its own.
    Far,
}

/// The parameters of a request that waits for its turn, unread, as a part of its body.
#[derive(Clone, Default)]
pub(super) struct KeptParams(Option<Bytes>);

impl KeptParams {
    /// The parameters of a request in this body.
    pub(super) fn new(params: Option<&RawValue>, body: &Bytes) -> Self {
        Self(params.map(|params| body.slice_ref(params.get().as_bytes())))
    }

    /// The parameters, if there are any.
    pub(super) fn get(&self) -> Option<&RawValue> {
        self.0
            .as_deref()
            .and_then(|json| serde_json::from_slice(json).ok())
    }

    /// The memory in bytes of what is read from them; 0 if that is little.
    fn memory(&self) -> usize {
        json_memory(self.0.as_deref().unwrap_or_default())
    }

    /// Takes memory for what is read from them.
    fn hold(&self, context: &Context) -> Result<Held, RpcError> {
        let mut held = Held::default();
        if context.config.budget.try_grow(&mut held, self.memory()) {
            Ok(held)
        } else {
            Err(RpcError::no_room())
        }
    }
}

/// The JSON schema of a method's result, given an example of it.
pub(super) type ResultSchema = fn(Option<&Value>) -> Value;

/// The description of a method.
pub(super) struct Described {
    pub(super) name: &'static str,
    pub(super) namespace: &'static Namespace,
    /// The names of the parameters.
    pub(super) parameters: Vec<&'static str>,
    pub(super) summary: &'static str,
    /// The method whose example documents this one.
    pub(super) example: &'static str,
    /// The types of the parameters, as many as there are names.
    pub(super) shapes: Vec<ParamShape>,
    pub(super) result: ResultSchema,
    pub(super) effort: Effort,
    pub(super) changes_state: bool,
    pub(super) needs_connection: bool,
}

/// How a method runs.
#[derive(Clone)]
pub(super) enum Handler {
    /// At once, if that is quick.
    Quick(Arc<Quick>, Arc<Work>),
    /// At once, if that is quick and an execution place is free.
    Execute(Arc<Quick>, Arc<Work>),
    /// On a thread of its own.
    Apart(Arc<Work>),
    /// As a future that waits for something.
    Wait(Arc<Wait>),
    /// By the WebSocket that received it. [`Table::get`] returns none of these.
    OnConnection(Arc<OnConnection>),
}

impl Handler {
    /// Begins a call that is not answered at once. One that executes code has a slice first, unless
    /// its state is far or its result is long.
    pub(super) fn later(
        &self,
        context: Arc<Context>,
        caller: Caller,
        params: KeptParams,
        skips_slice: bool,
    ) -> Result<Pending, RpcError> {
        Ok(match self {
            // At once, since transactions of a batch keep their order.
            Self::Wait(run) if params.memory() == 0 => run(context, params.get())?,
            Self::Wait(run) => Box::pin(wait_for(run.clone(), context, caller, params)),
            Self::Apart(work) => {
                let caller = Caller {
                    long: true,
                    ..caller
                };
                Box::pin(in_turn(work.clone(), context, caller, params))
            }
            Self::Execute(_, work) if !skips_slice => {
                Box::pin(in_slices(work.clone(), context, caller, params))
            }
            Self::Execute(_, work) | Self::Quick(_, work) => {
                Box::pin(in_turn(work.clone(), context, caller, params))
            }
            Self::OnConnection(_) => {
                return Err(RpcError::internal("the method belongs to a connection"));
            }
        })
    }
}

/// The types of a method's parameters and result.
#[derive(Clone, Copy)]
struct Types {
    shapes: fn(Dialect) -> Vec<ParamShape>,
    references: fn() -> Vec<Option<Reference>>,
    readers: fn() -> Vec<ParamReader>,
    result: ResultSchema,
}

/// Properties of how a method runs, from its registration.
#[derive(Clone, Copy, Default)]
struct Properties {
    changes_state: bool,
    awaits_receipt: bool,
    recorded: Option<CallForm>,
}

/// One method.
pub(super) struct Method {
    pub(super) name: &'static str,
    namespace: &'static Namespace,
    pub(super) handler: Handler,
    pub(super) meter: Arc<Meter>,
    on_fork: OnFork,
    types: Types,
    /// Whether it takes JSON integers in every dialect.
    takes_integers: bool,
    properties: Properties,
    parameters: Vec<&'static str>,
    summary: &'static str,
    example: &'static str,
}

impl Method {
    /// How a fork forwards requests, if it does.
    pub(super) fn forward(&self) -> Option<Forward> {
        self.on_fork.forward(&(self.types.references)())
    }

    /// The form of the calls whose failures are recorded, if they are.
    pub(super) fn recorded(&self) -> Option<CallForm> {
        self.properties.recorded
    }

    /// The rules by which its parameters are read.
    pub(super) fn rules(&self, dialect: Dialect) -> ParamRules {
        ParamRules::new(dialect, self.takes_integers)
    }

    /// Whether it exists only over WebSocket.
    fn needs_connection(&self) -> bool {
        matches!(self.handler, Handler::OnConnection(_))
    }

    fn describe(&self, dialect: Dialect) -> Described {
        Described {
            name: self.name,
            namespace: self.namespace,
            parameters: self.parameters.clone(),
            summary: self.summary,
            example: self.example,
            shapes: (self.types.shapes)(dialect),
            result: self.types.result,
            effort: Effort {
                executes: matches!(self.handler, Handler::Execute(..)),
                is_long: matches!(self.handler, Handler::Apart(_)),
                looks_back: (self.types.references)().iter().any(Option::is_some),
                awaits_receipt: self.properties.awaits_receipt,
            },
            changes_state: self.properties.changes_state,
            needs_connection: self.needs_connection(),
        }
    }
}

/// All methods.
#[derive(Default)]
pub struct Table {
    methods: HashMap<&'static str, Method, DefaultHashBuilder>,
    /// The names of the methods that need a connection.
    on_connection: Vec<&'static str>,
}

/// A method that enters the table when it is [described](Self::describe).
#[must_use = "a method without a description is not added"]
pub(super) struct Registration<'t, P> {
    table: &'t mut Table,
    name: &'static str,
    aliases: &'static [&'static str],
    handler: Handler,
    on_fork: OnFork,
    types: Types,
    properties: Properties,
    params: PhantomData<P>,
}

impl<P: Params> Registration<'_, P> {
    /// Other names of the method. Whichever of them is called, parameters are read by the rules of
    /// the first name's namespace.
    pub(super) fn aliases(mut self, names: &'static [&'static str]) -> Self {
        self.aliases = names;
        self
    }

    /// The method changes the chain, its pool or the node's settings. Filters, which belong to
    /// their client, do not count.
    pub(super) fn changes_state(mut self) -> Self {
        self.properties.changes_state = true;
        self
    }

    /// The method waits for the receipt of a transaction, for a limited time.
    pub(super) fn awaits_receipt(mut self) -> Self {
        self.properties.awaits_receipt = true;
        self
    }

    /// The failures of the method are recorded on development nodes.
    pub(super) fn records_failures(mut self, form: CallForm) -> Self {
        self.properties.recorded = Some(form);
        self
    }

    /// Adds the method with its documentation: the names of its parameters and a summary.
    pub(super) fn describe(self, parameters: P::Names, summary: &'static str) {
        let Self {
            table,
            name: example,
            aliases,
            handler,
            on_fork,
            types,
            properties,
            ..
        } = self;
        let parameters: Vec<&'static str> = parameters.into();
        let takes_integers = Namespace::of(example).takes_integers;
        for name in [&[example], aliases].concat() {
            let method = Method {
                name,
                namespace: Namespace::of(name),
                handler: handler.clone(),
                meter: Arc::default(),
                on_fork,
                types,
                takes_integers,
                properties,
                parameters: parameters.clone(),
                summary,
                example,
            };
            if method.needs_connection() {
                table.on_connection.push(name);
            }
            let before = table.methods.insert(name, method);
            debug_assert!(before.is_none(), "{name} is registered twice");
        }
    }
}

impl Table {
    /// Adds a method that waits for nothing and is quick, unless a parameter is far.
    pub(super) fn read<P, R>(
        &mut self,
        name: &'static str,
        handler: fn(&Context, P) -> Result<R, RpcError>,
        on_fork: OnFork,
    ) -> Registration<'_, P>
    where
        P: Params + Send + 'static,
        R: Json + 'static,
    {
        let handler = Handler::Quick(at_once(handler, Reach::Block, name), work(handler, name));
        self.register::<P, R>(name, handler, on_fork)
    }

    /// Adds a method that executes code, see [`Execution`](tetrad_web::Execution).
    pub(super) fn execute<P, R>(
        &mut self,
        name: &'static str,
        handler: fn(&Context, P) -> Result<R, RpcError>,
        on_fork: OnFork,
    ) -> Registration<'_, P>
    where
        P: Params + Send + 'static,
        R: Json + 'static,
    {
        let handler = Handler::Execute(at_once(handler, Reach::State, name), work(handler, name));
        self.register::<P, R>(name, handler, on_fork)
    }

    /// Adds a method that may always take long and therefore runs on a thread of its own.
    pub(super) fn apart<P, R>(
        &mut self,
        name: &'static str,
        handler: fn(&Context, P) -> Result<R, RpcError>,
        on_fork: OnFork,
    ) -> Registration<'_, P>
    where
        P: Params + Send + 'static,
        R: Json + 'static,
    {
        self.register::<P, R>(name, Handler::Apart(work(handler, name)), on_fork)
    }

    /// Adds a method that waits until it has [changed](Registration::changes_state) something.
    pub(super) fn change<P, R, F>(
        &mut self,
        name: &'static str,
        handler: fn(Arc<Context>, P) -> F,
        on_fork: OnFork,
    ) -> Registration<'_, P>
    where
        P: Params + Send + 'static,
        R: Json + Send + 'static,
        F: Future<Output = Result<R, RpcError>> + Send + 'static,
    {
        self.wait(name, handler, on_fork).changes_state()
    }

    /// Adds a method that waits for something, and [changes](Registration::changes_state) nothing.
    pub(super) fn wait<P, R, F>(
        &mut self,
        name: &'static str,
        handler: fn(Arc<Context>, P) -> F,
        on_fork: OnFork,
    ) -> Registration<'_, P>
    where
        P: Params + Send + 'static,
        R: Json + Send + 'static,
        F: Future<Output = Result<R, RpcError>> + Send + 'static,
    {
        self.register::<P, R>(name, Handler::Wait(wait(handler, name)), on_fork)
    }

    /// Adds a method that belongs to a WebSocket connection, and has a short result.
    pub(super) fn on_connection<P, R>(
        &mut self,
        name: &'static str,
        handler: fn(&mut Subscriptions, &Context, P) -> Result<R, RpcError>,
    ) -> Registration<'_, P>
    where
        P: Params + 'static,
        R: Json + Into<Value> + 'static,
    {
        let takes_integers = Namespace::of(name).takes_integers;
        let run = move |subscriptions: &mut Subscriptions,
                        context: &Context,
                        params: Option<&RawValue>| {
            let params = P::read(params, ParamRules::new(context.dialect, takes_integers))?;
            let result: Value = handler(subscriptions, context, params)?.into();
            Ok(result.to_string())
        };
        self.register::<P, R>(name, Handler::OnConnection(Arc::new(run)), OnFork::Node)
    }

    fn register<P: Params, R: Json>(
        &mut self,
        name: &'static str,
        handler: Handler,
        on_fork: OnFork,
    ) -> Registration<'_, P> {
        let types = Types {
            shapes: P::shapes,
            references: P::references,
            readers: P::readers,
            result: R::schema,
        };
        Registration {
            table: self,
            name,
            aliases: &[],
            handler,
            on_fork,
            types,
            properties: Properties::default(),
            params: PhantomData,
        }
    }

    /// The method with this name, unless it needs a connection.
    pub(super) fn get(&self, name: &str) -> Option<&Method> {
        self.methods
            .get(name)
            .filter(|method| !method.needs_connection())
    }

    /// The method with this name that needs a connection.
    pub(super) fn get_on_connection(&self, name: &str) -> Option<&OnConnection> {
        match &self.methods.get(name)?.handler {
            Handler::OnConnection(run) => Some(&**run),
            _ => None,
        }
    }

    /// Whether a message may call a method that needs a connection: it contains the name of one, or
    /// escapes, with which a name may be written.
    pub(super) fn may_need_connection(&self, message: &str) -> bool {
        message.contains('\\') || self.on_connection.iter().any(|name| message.contains(name))
    }

    /// The descriptions of all methods, sorted by name.
    pub(super) fn describe(&self, dialect: Dialect) -> Vec<Described> {
        let mut all: Vec<_> = self
            .methods
            .values()
            .map(|method| method.describe(dialect))
            .collect();
        all.sort_unstable_by_key(|described| described.name);
        all
    }

    /// The parameter readers, one for each type that a method takes.
    pub(super) fn readers(&self) -> Vec<ParamReader> {
        let readers = self
            .methods
            .values()
            .flat_map(|method| (method.types.readers)());
        let by_name: BTreeMap<_, _> = readers.map(|reader| (reader.name, reader)).collect();
        by_name.into_values().collect()
    }

    /// The counters, in the order of the names.
    pub(super) fn meters(&self) -> impl Iterator<Item = (&'static str, &Meter)> {
        self.names()
            .into_iter()
            .filter_map(|name| Some((name, &*self.methods.get(name)?.meter)))
    }

    /// The names of all methods, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.methods.keys().copied().collect();
        names.sort_unstable();
        names
    }
}

/// Runs a handler on the task that received the request.
fn at_once<P, R>(
    handler: fn(&Context, P) -> Result<R, RpcError>,
    reach: Reach,
    method: &str,
) -> Arc<Quick>
where
    P: Params + Send + 'static,
    R: Json + 'static,
{
    // Determined once for the method, not for each call.
    let takes_integers = Namespace::of(method).takes_integers;
    Arc::new(move |context, params, out| {
        let params = P::read(params, ParamRules::new(context.dialect, takes_integers))?;
        if params.is_far(&context.chain, reach) {
            return Ok(Reached::Far);
        }

        let result = handler(context, params)?;
        if out.write_short(MAX_AT_ONCE, |out| result.append_to(out)) {
            Ok(Reached::Near)
        } else {
            Ok(Reached::Far)
        }
    })
}

/// Runs a handler wherever it is called.
fn work<P, R>(handler: fn(&Context, P) -> Result<R, RpcError>, method: &str) -> Arc<Work>
where
    P: Params + Send + 'static,
    R: Json + 'static,
{
    let takes_integers = Namespace::of(method).takes_integers;
    Arc::new(move |context, params| {
        let params = P::read(params, ParamRules::new(context.dialect, takes_integers))?;
        context.render(handler(context, params)?)
    })
}

/// Waits for a handler, and writes its result on the same task unless it is long.
fn wait<P, R, F>(handler: fn(Arc<Context>, P) -> F, method: &str) -> Arc<Wait>
where
    P: Params + Send + 'static,
    R: Json + Send + 'static,
    F: Future<Output = Result<R, RpcError>> + Send + 'static,
{
    let takes_integers = Namespace::of(method).takes_integers;
    Arc::new(move |context: Arc<Context>, params: Option<&RawValue>| {
        let params = P::read(params, ParamRules::new(context.dialect, takes_integers))?;
        let answer = async move {
            let result = handler(context.clone(), params).await?;
            // Nothing is left to write, however long the result is.
            if result.is_written() {
                return context.render(result);
            }

            let mut out = context.writer(usize::MAX);
            if out.write_short(MAX_AT_ONCE, |out| result.write(out)) {
                return Ok(out.finish()?);
            }

            let own = context.clone();
            context.apart_for_caller(move || own.render(result)).await
        };
        Ok(Box::pin(answer) as Pending)
    })
}

/// Runs a call on a thread of its own, for a slice at first. A longer one starts again among the
/// long executions.
async fn in_slices(
    work: Arc<Work>,
    context: Arc<Context>,
    caller: Caller,
    params: KeptParams,
) -> Answer {
    // Waiting for another node would use up a slice without executing.
    if caller.long || caller.remote {
        return in_turn(work, context, caller, params).await;
    }

    let own = context.clone();
    let given = params.clone();
    let first = work.clone();
    let rendered = context
        .execution
        .apart(caller, move || run_slice(&*first, &own, &given))
        .await?;
    if let Some(rendered) = rendered {
        return Ok(rendered);
    }

    let caller = Caller {
        long: true,
        ..caller
    };
    in_turn(work, context, caller, params).await
}

/// Runs a call for a slice. Returns nothing if it takes longer.
fn run_slice(
    work: &Work,
    context: &Context,
    params: &KeptParams,
) -> Result<Option<Written>, RpcError> {
    let _held = params.hold(context)?;
    let (outcome, slice) = Slice::run(Instant::now(), || work(context, params.get()));
    if slice.overran {
        Ok(None)
    } else {
        outcome.map(Some)
    }
}

/// Runs a call on a thread of its own.
async fn in_turn(
    work: Arc<Work>,
    context: Arc<Context>,
    caller: Caller,
    params: KeptParams,
) -> Answer {
    let own = context.clone();
    context
        .execution
        .apart(caller, move || {
            let _held = params.hold(&own)?;
            work(&own, params.get())
        })
        .await
}

/// Reads parameters with many values on a thread of its own, and waits for the call. They count
/// until it is answered.
async fn wait_for(
    run: Arc<Wait>,
    context: Arc<Context>,
    caller: Caller,
    params: KeptParams,
) -> Answer {
    let own = context.clone();
    let (pending, _held) = context
        .execution
        .apart(caller, move || {
            let held = params.hold(&own)?;
            Ok::<_, RpcError>((run(own, params.get())?, held))
        })
        .await?;
    pending.await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::Rpc;

    /// Whether a method runs blocks again, or goes through them or the pool.
    fn runs_long(name: &str) -> bool {
        let prefixes = [
            "trace_",
            "debug_trace",
            "debug_storage",
            "ots_search",
            "ots_trace",
            "ots_getInternal",
        ];
        let others = [
            "eth_simulateV1",
            "eth_createAccessList",
            "eth_getTransactionBySenderAndNonce",
            "txpool_content",
        ];
        prefixes.iter().any(|prefix| name.starts_with(prefix)) || others.contains(&name)
    }

    #[test]
    fn whatever_runs_blocks_again_or_goes_through_them_is_kept_off_the_runtimes_workers() {
        let table = Rpc::methods(true);
        let names: Vec<_> = table
            .names()
            .into_iter()
            .filter(|name| runs_long(name))
            .collect();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            assert!(
                matches!(table.get(name).unwrap().handler, Handler::Apart(_)),
                "{name}"
            );
        }
    }

    #[test]
    fn what_a_fork_does_with_a_method_fits_its_parameters() {
        let table = Rpc::methods(true);
        for (name, method) in &table.methods {
            let references = (method.types.references)();
            assert_eq!(references.len(), method.parameters.len(), "{name}");

            let refers_to = |wanted| references.contains(&Some(wanted));
            // Block hashes and transaction hashes have the same type.
            let names_past = refers_to(Reference::Block)
                || refers_to(Reference::Range)
                || method
                    .parameters
                    .iter()
                    .any(|parameter| parameter.contains("block") && !parameter.contains("blocks"))
                || method.parameters.contains(&"transaction hash");

            match method.on_fork {
                OnFork::Block | OnFork::State | OnFork::Transaction | OnFork::Range => {
                    assert!(
                        method.forward().is_some(),
                        "{name}: no parameter says whether a request is forwarded"
                    );
                    let transaction = method.parameters.first() == Some(&"transaction hash");
                    assert_eq!(
                        transaction,
                        method.on_fork == OnFork::Transaction,
                        "{name}: {:?}",
                        method.on_fork
                    );
                }
                OnFork::Node => assert!(
                    !names_past,
                    "{name}: its parameters may be about the other chain"
                ),
                OnFork::Joined | OnFork::Kept | OnFork::OwnBlocks => {
                    assert!(
                        !refers_to(Reference::Block),
                        "{name}: its block decides which node has the answer"
                    );
                }
            }
        }
    }

    #[test]
    fn what_asks_does_not_count_as_a_change() {
        let described = Rpc::methods(true).describe(Dialect::Network);
        let changing: Vec<_> = described
            .iter()
            .filter(|method| method.changes_state)
            .map(|method| method.name)
            .collect();

        for name in [
            "eth_call",
            "eth_newFilter",
            "eth_sign",
            "anvil_nodeInfo",
            "hardhat_dumpState",
            "debug_traceCall",
        ] {
            assert!(!changing.contains(&name), "{name}");
        }

        // Other methods that change the chain exist for development only.
        let for_production: Vec<_> = Rpc::methods(false)
            .describe(Dialect::Network)
            .into_iter()
            .filter(|method| method.changes_state)
            .map(|method| method.name)
            .collect();
        assert_eq!(
            for_production,
            [
                "eth_resend",
                "eth_sendRawTransaction",
                "eth_sendRawTransactionSync",
                "eth_sendTransaction",
                "eth_sendTransactionSync",
                "eth_submitHashrate",
                "eth_submitWork",
            ]
        );
    }

    #[test]
    fn every_method_is_documented() {
        let table = Rpc::methods(true);
        for method in table.describe(Dialect::Network) {
            assert!(!method.summary.is_empty(), "{}", method.name);
            assert!(!method.summary.contains('\n'), "{}", method.name);
            assert!(
                method.parameters.iter().all(|name| !name.is_empty()),
                "{}",
                method.name
            );
            assert_eq!(
                method.parameters.len(),
                method.shapes.len(),
                "{}",
                method.name
            );
        }
    }
}

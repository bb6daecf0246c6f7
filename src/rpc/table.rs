//! The methods by name.
//!
//! A handler is a plain function over the context and a tuple of parameters; registering it wraps it into a
//! uniform [`Handler`]. How a handler runs is part of its registration: cheap reads on the connection's own task,
//! everything that executes code where it may take long. What is read from disk or has to be built first goes to a
//! thread of its own whatever the method is.

use std::{
    collections::{BTreeMap, HashMap},
    future::Future,
    pin::Pin,
    sync::Arc,
    time::Instant,
};

use alloy_primitives::map::DefaultHashBuilder;
use serde_json::{Value, value::RawValue};

use super::{
    Context,
    error::{Dialect, RpcError},
    execution::{CALLER, Caller, Slice},
    json::Json,
    meter::Meter,
    params::{Params, Reach, Reader, Shape},
};
use crate::web::Held;

/// The JSON of a result, and the memory for answers under way that it takes.
pub struct Rendered {
    pub(super) json: Vec<u8>,
    pub(super) held: Held,
}

impl Rendered {
    /// The JSON of `result`, if there is memory for it.
    pub(super) fn new(result: impl Json, context: &Context) -> Result<Self, RpcError> {
        let (json, mut held) = (result.into_json(), Held::default());
        match context.config.budget.try_grow(&mut held, json.len()) {
            true => Ok(Self { json, held }),
            false => Err(RpcError::no_room()),
        }
    }
}

/// The result of a method, or an error.
pub type Answer = Result<Rendered, RpcError>;

/// A method that was called and is under way.
pub type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Appends the result, unless what is asked for is [far](Params::is_far): then it is under way.
type Quick =
    dyn Fn(&Arc<Context>, Caller, Option<&RawValue>, &mut Vec<u8>) -> Result<Option<Pending>, RpcError> + Send + Sync;
type Slow = dyn Fn(Arc<Context>, Caller, Option<&RawValue>) -> Result<Pending, RpcError> + Send + Sync;

/// The JSON schema of what a method answers, given an example of it.
pub(super) type ResultSchema = fn(Option<&Value>) -> Value;

/// What the table knows of a method.
pub(super) struct Described {
    pub(super) name: &'static str,
    pub(super) shapes: Vec<Shape>,
    pub(super) result: ResultSchema,
}

/// How a method runs.
pub(super) enum Handler {
    /// At once.
    Quick(Box<Quick>),
    /// At once where there is a place for it, otherwise as a future.
    Execute(Box<Quick>, Box<Slow>),
    /// On a thread of its own.
    Apart(Box<Slow>),
    /// As a future that waits for something.
    Wait(Box<Slow>),
}

/// One method.
pub(super) struct Method {
    pub(super) name: &'static str,
    pub(super) handler: Handler,
    /// What it takes.
    shapes: fn(Dialect) -> Vec<Shape>,
    /// What reads that.
    readers: fn() -> Vec<Reader>,
    /// What it answers.
    result: ResultSchema,
    pub(super) meter: Arc<Meter>,
}

/// All methods.
#[derive(Default)]
pub struct Table {
    methods: HashMap<&'static str, Method, DefaultHashBuilder>,
}

impl Table {
    /// Adds a method that only reads, and quickly, unless it is about something far.
    pub(super) fn read<P, R>(&mut self, name: &'static str, handler: fn(&Context, P) -> Result<R, RpcError>)
    where
        P: Params + Send + 'static,
        R: Json + 'static,
    {
        self.add::<P, R>(name, Handler::Quick(at_once(handler, Reach::Block)));
    }

    /// Adds a method that executes code, see [`super::execution`].
    pub(super) fn execute<P, R>(&mut self, name: &'static str, handler: fn(&Context, P) -> Result<R, RpcError>)
    where
        P: Params + Send + 'static,
        R: Json + 'static,
    {
        self.add::<P, R>(name, Handler::Execute(at_once(handler, Reach::State), in_slices(handler)));
    }

    /// Adds a method that may take long whatever it is asked: it always runs on a thread of its own.
    pub(super) fn apart<P, R>(&mut self, name: &'static str, handler: fn(&Context, P) -> Result<R, RpcError>)
    where
        P: Params + Send + 'static,
        R: Json + 'static,
    {
        self.add::<P, R>(name, Handler::Apart(apart(handler)));
    }

    /// Adds a method that waits for something.
    pub(super) fn wait<P, R, F>(&mut self, name: &'static str, handler: fn(Arc<Context>, P) -> F)
    where
        P: Params + Send + 'static,
        R: Json + 'static,
        F: Future<Output = Result<R, RpcError>> + Send + 'static,
    {
        self.add::<P, R>(
            name,
            Handler::Wait(Box::new(move |context, caller, params| {
                let params = P::read(params, context.dialect)?;
                Ok(Box::pin(CALLER.scope(caller, async move {
                    let result = handler(context.clone(), params).await?;
                    Rendered::new(result, &context)
                })))
            })),
        );
    }

    fn add<P: Params, R: Json>(&mut self, name: &'static str, handler: Handler) {
        let method =
            Method { name, handler, shapes: P::shapes, readers: P::readers, result: R::schema, meter: Arc::default() };
        let before = self.methods.insert(name, method);
        debug_assert!(before.is_none(), "{name} is registered twice");
    }

    pub(super) fn get(&self, name: &str) -> Option<&Method> {
        self.methods.get(name)
    }

    /// What each method takes and answers, sorted by name.
    pub(super) fn describe(&self, dialect: Dialect) -> Vec<Described> {
        let describe = |method: &Method| {
            let (name, shapes, result) = (method.name, (method.shapes)(dialect), method.result);
            Described { name, shapes, result }
        };
        let mut all: Vec<_> = self.methods.values().map(describe).collect();
        all.sort_unstable_by_key(|described| described.name);
        all
    }

    /// What reads parameters, one for each type that a method takes.
    pub(super) fn readers(&self) -> Vec<Reader> {
        let each = self.methods.values().flat_map(|method| (method.readers)());
        let by_name: BTreeMap<_, _> = each.map(|reader| (reader.name, reader)).collect();
        by_name.into_values().collect()
    }

    /// What was counted, in the order of the names.
    pub(super) fn meters(&self) -> impl Iterator<Item = (&'static str, &Meter)> {
        self.names().into_iter().filter_map(|name| Some((name, &*self.methods.get(name)?.meter)))
    }

    /// The names of all methods, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.methods.keys().copied().collect();
        names.sort_unstable();
        names
    }
}

/// A handler on the task that brought the request.
fn at_once<P, R>(handler: fn(&Context, P) -> Result<R, RpcError>, reach: Reach) -> Box<Quick>
where
    P: Params + Send + 'static,
    R: Json + 'static,
{
    Box::new(move |context, caller, params, out| {
        let params = P::read(params, context.dialect)?;
        // On a fork everything runs on threads already.
        if params.is_far(&context.chain, reach) && context.fork().is_none() {
            return Ok(Some(Box::pin(run_apart(handler, context.clone(), caller, params))));
        }
        handler(context, params)?.write(out);
        Ok(None)
    })
}

/// A handler on a thread of its own, for a slice at first. What takes longer begins again among the long executions.
fn in_slices<P, R>(handler: fn(&Context, P) -> Result<R, RpcError>) -> Box<Slow>
where
    P: Params + Send + 'static,
    R: Json + 'static,
{
    Box::new(move |context, caller, params| {
        let first = P::read(params, context.dialect)?;
        if caller.long || caller.remote {
            return Ok(Box::pin(run_apart(handler, context, caller, first)));
        }
        let params = params.map(ToOwned::to_owned);
        Ok(Box::pin(async move {
            let own = context.clone();
            let run = move || {
                let work = || handler(&own, first).and_then(|result| Rendered::new(result, &own));
                let (outcome, slice) = Slice::run(Instant::now(), work);
                if slice.overran { Ok(None) } else { outcome.map(Some) }
            };
            if let Some(rendered) = context.execution.apart(caller, run).await? {
                return Ok(rendered);
            }
            let again = P::read(params.as_deref(), context.dialect)?;
            run_apart(handler, context, Caller { long: true, ..caller }, again).await
        }))
    })
}

/// A handler on a thread of its own, among the long executions.
fn apart<P, R>(handler: fn(&Context, P) -> Result<R, RpcError>) -> Box<Slow>
where
    P: Params + Send + 'static,
    R: Json + 'static,
{
    Box::new(move |context, caller, params| {
        let params = P::read(params, context.dialect)?;
        Ok(Box::pin(run_apart(handler, context, Caller { long: true, ..caller }, params)))
    })
}

async fn run_apart<P, R>(
    handler: fn(&Context, P) -> Result<R, RpcError>,
    context: Arc<Context>,
    caller: Caller,
    params: P,
) -> Answer
where
    P: Params + Send + 'static,
    R: Json + 'static,
{
    let own = context.clone();
    let run = move || handler(&own, params).and_then(|result| Rendered::new(result, &own));
    context.execution.apart(caller, run).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::Rpc;

    #[test]
    fn whatever_runs_blocks_again_or_goes_through_them_is_kept_off_the_runtimes_workers() {
        let table = Rpc::methods(true);
        let others = ["eth_simulateV1", "eth_createAccessList", "eth_getTransactionBySenderAndNonce", "txpool_content"];
        let long = |name: &&str| {
            let runs_again = ["trace_", "debug_trace", "debug_storage", "ots_search", "ots_trace", "ots_getInternal"];
            runs_again.iter().any(|prefix| name.starts_with(prefix)) || others.contains(name)
        };
        let names: Vec<_> = table.names().into_iter().filter(long).collect();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            assert!(matches!(table.get(name).unwrap().handler, Handler::Apart(_)), "{name}");
        }
    }
}

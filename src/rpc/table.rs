//! The methods by name.
//!
//! A handler is a plain function over the context and a tuple of parameters; registering it wraps it into a
//! uniform [`Method`]. How a handler runs is part of its registration: cheap reads on the connection's own task,
//! everything that executes code on threads where it may take long.

use std::{collections::HashMap, future::Future, pin::Pin, sync::Arc};

use alloy_primitives::map::DefaultHashBuilder;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Context, error::RpcError, params::Params};

/// What a method came to: the JSON of its result, or an error.
pub type Answer = Result<Vec<u8>, RpcError>;

/// A method that was called and is under way.
pub type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;

type Quick = dyn Fn(&Context, Option<&RawValue>, &mut Vec<u8>) -> Result<(), RpcError> + Send + Sync;
type Slow = dyn Fn(Arc<Context>, Option<&RawValue>) -> Result<Pending, RpcError> + Send + Sync;

/// How a method runs.
pub(super) enum Handler {
    /// At once; appends the result.
    Quick(Box<Quick>),
    /// As a future.
    Slow(Box<Slow>),
}

/// All methods.
#[derive(Default)]
pub struct Table {
    methods: HashMap<&'static str, Handler, DefaultHashBuilder>,
}

impl Table {
    /// Adds a method that only reads, and quickly.
    pub fn read<P, R>(&mut self, name: &'static str, handler: fn(&Context, P) -> Result<R, RpcError>)
    where
        P: Params + 'static,
        R: Serialize + 'static,
    {
        self.add(
            name,
            Handler::Quick(Box::new(move |context, params, out| {
                let result = handler(context, P::read(params, context.dialect)?)?;
                write(&result, out)
            })),
        );
    }

    /// Adds a method that executes code. It runs on a thread of its own, within the context's limit of such threads.
    pub fn execute<P, R>(&mut self, name: &'static str, handler: fn(&Context, P) -> Result<R, RpcError>)
    where
        P: Params + Send + 'static,
        R: Serialize + 'static,
    {
        self.add(
            name,
            Handler::Slow(Box::new(move |context, params| {
                let params = P::read(params, context.dialect)?;
                Ok(Box::pin(async move {
                    let permit = context.executions.clone().acquire_owned().await;
                    let run = move || {
                        let _permit = permit;
                        let result = handler(&context, params)?;
                        let mut out = Vec::new();
                        write(&result, &mut out).map(|()| out)
                    };
                    match tokio::task::spawn_blocking(run).await {
                        Ok(answer) => answer,
                        Err(error) => Err(RpcError::internal(format!("execution failed: {error}"))),
                    }
                }))
            })),
        );
    }

    /// Adds a method that waits for something.
    pub fn wait<P, R, F>(&mut self, name: &'static str, handler: fn(Arc<Context>, P) -> F)
    where
        P: Params + Send + 'static,
        R: Serialize + 'static,
        F: Future<Output = Result<R, RpcError>> + Send + 'static,
    {
        self.add(
            name,
            Handler::Slow(Box::new(move |context, params| {
                let params = P::read(params, context.dialect)?;
                Ok(Box::pin(async move {
                    let result = handler(context, params).await?;
                    let mut out = Vec::new();
                    write(&result, &mut out).map(|()| out)
                }))
            })),
        );
    }

    fn add(&mut self, name: &'static str, handler: Handler) {
        let before = self.methods.insert(name, handler);
        debug_assert!(before.is_none(), "{name} is registered twice");
    }

    pub(super) fn get(&self, name: &str) -> Option<&Handler> {
        self.methods.get(name)
    }

    /// The names of all methods, sorted.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.methods.keys().copied().collect();
        names.sort_unstable();
        names
    }
}

fn write(result: &impl Serialize, out: &mut Vec<u8>) -> Result<(), RpcError> {
    serde_json::to_writer(out, result).map_err(|error| RpcError::internal(format!("result not representable: {error}")))
}

//! Builds without JavaScript tracers.

use std::marker::PhantomData;

use serde_json::value::RawValue;

use super::{
    budget::Budget,
    subject::{Subject, TracePosition},
};
use crate::rpc::{RpcConfig, RpcError, json::JsonWriter};

/// A tracer written in JavaScript, of which there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Script {}

impl Script {
    /// The refusal of a script.
    pub(super) fn new(_: String, _: Option<&RawValue>) -> Result<Self, String> {
        Err(
            "tracer: this build has no JavaScript tracers; released binaries have them, and so has \
             one that is built with `cargo build --release --features js-tracer`"
                .to_owned(),
        )
    }
}

/// Runs the scripts of one request.
pub(super) struct ScriptRunner<'r>(PhantomData<&'r Budget>);

impl<'r> ScriptRunner<'r> {
    /// Runs nothing.
    pub(super) fn new(_: &'r RpcConfig, _: &'r Budget) -> Self {
        Self(PhantomData)
    }

    /// There is no script to trace with.
    pub(super) fn trace(
        &mut self,
        script: &Script,
        _: TracePosition,
        _: Subject<'_, '_>,
        _: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        match *script {}
    }
}

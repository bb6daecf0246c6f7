//! The scripts of one request.

use std::sync::Arc;

use revm::inspector::NoOpInspector;
use serde_json::value::RawValue;
use tetrad_evm::Watch;

use super::{
    message::Task,
    process::{Failure, TracerProcess},
};
use crate::rpc::{
    RpcConfig, RpcError,
    json::JsonWriter,
    tracing::{
        budget::Budget,
        subject::{Subject, TracePosition},
    },
};

/// A tracer written in JavaScript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    code: Arc<str>,
    /// The argument of its `setup`.
    config: Arc<str>,
}

impl Script {
    /// A script with a request's `tracerConfig`.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "builds without JavaScript tracers refuse it"
    )]
    pub(crate) fn new(code: String, config: Option<&RawValue>) -> Result<Self, String> {
        Ok(Self {
            code: code.into(),
            config: config
                .map(RawValue::get)
                .filter(|json| *json != "null")
                .unwrap_or("{}")
                .into(),
        })
    }
}

/// Runs the scripts of one request in a process, which is started for the first transaction.
pub(crate) struct ScriptRunner<'r> {
    config: &'r RpcConfig,
    budget: &'r Budget,
    process: Option<TracerProcess>,
}

impl<'r> ScriptRunner<'r> {
    /// No process yet.
    pub(crate) fn new(config: &'r RpcConfig, budget: &'r Budget) -> Self {
        Self {
            config,
            budget,
            process: None,
        }
    }

    /// Traces one transaction; appends the script's result.
    pub(crate) fn trace(
        &mut self,
        script: &Script,
        place: TracePosition,
        subject: Subject<'_, '_>,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        let budget = self.budget;
        let process = self.process()?;
        let traced = subject.detached(|execution, state| {
            let task = Task {
                script: script.code.to_string(),
                config: script.config.to_string(),
                block: place.block,
                transaction: place.transaction,
                index: place.index,
                max_bytes: budget.bytes_left(out),
                execution,
            };
            process.trace(task, state, budget)
        })?;

        let traced = match traced {
            Ok(traced) => Some(traced),
            Err(Failure::Rejected) => None,
            Err(failure) => return Err(self.error(failure)),
        };

        // The block goes on after the transaction, which is executed here as well. A refusal is
        // reported as for other tracers.
        let gas_used = self.execute(subject)?;

        // Different gas would mean that the script saw another execution.
        match traced {
            Some((traced, result)) if traced == gas_used => {
                out.extend_from_slice(result.get().as_bytes());
                Ok(())
            }
            Some((traced, _)) => Err(RpcError::internal(format!(
                "with the tracer, {traced} gas is used, without {gas_used}"
            ))),
            None => Err(RpcError::internal(
                "the tracer could not execute the transaction",
            )),
        }
    }

    /// The process of this request, which is started if there is none yet.
    fn process(&mut self) -> Result<&mut TracerProcess, RpcError> {
        match &mut self.process {
            Some(process) => Ok(process),
            none => {
                let program = self.config.tracer_program.as_deref().ok_or_else(|| {
                    RpcError::server("JavaScript tracers run in the tetrad program only")
                })?;
                let process =
                    TracerProcess::start(program, self.config.max_tracer_memory, self.budget)?;
                Ok(none.insert(process))
            }
        }
    }

    /// Executes the transaction without the script; returns the gas used.
    fn execute(&self, subject: Subject<'_, '_>) -> Result<u64, RpcError> {
        let budget = self.budget;
        let out_of_time = || budget.is_out_of_time();
        let mut nothing = NoOpInspector;

        let mut watch = Watch::new(&mut nothing, &out_of_time, budget.max_bytes());
        let ran = subject.run(&mut watch, |inspected, _| {
            inspected.outcome.result.tx_gas_used()
        });

        budget.check(watch.stopped())?;
        Ok(ran?)
    }

    fn error(&self, failure: Failure) -> RpcError {
        match failure {
            Failure::Time => self.budget.timeout(),
            Failure::TooLarge => self.budget.too_large(),
            Failure::Script(message) => RpcError::server(message),
            Failure::Read(error) => error.into(),
            Failure::Memory => RpcError::server(format!(
                "the tracer used more than {} MiB of memory (rpc.max-tracer-megabytes)",
                self.config.max_tracer_memory >> 20
            )),
            Failure::Process(what) => {
                ::tracing::warn!(what, "a tracer's process failed");
                RpcError::internal(format!("the tracer's process failed: {what}"))
            }
            Failure::Rejected => RpcError::internal("the tracer could not execute the transaction"),
        }
    }
}

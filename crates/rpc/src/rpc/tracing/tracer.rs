//! The tracers by name, and the trace of one transaction.

use std::fmt::Display;

use alloy_rpc_types_trace::geth::{
    GethDebugBuiltInTracerType, GethDebugTracerConfig, GethDebugTracerType,
    GethDebugTracingOptions, GethTrace,
};
use revm_inspectors::tracing::{DebugInspector, TransactionContext};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_evm::{Inspected, Watch};
use tetrad_stdx::text::excerpt;

use super::{
    budget::Budget,
    built_in::BuiltIns,
    javascript::{Script, ScriptRunner},
    preimages::PreimageTracer,
    struct_log::{StructLogOptions, StructLogger},
    subject::{Subject, TracePosition},
};
use crate::rpc::{
    RpcConfig, RpcError,
    eth::field,
    json::JsonWriter,
    params::{self, Param, ParamRules},
    schema,
};

/// The trace options of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceOptions {
    steps: StructLogOptions,
    tracer: Option<TracerName>,
    config: GethDebugTracerConfig,
    /// The client's timeout, if it is shorter than the node's.
    pub timeout: Option<GoDuration>,
}

/// A tracer's name, or a tracer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TracerName {
    /// One of revm-inspectors.
    BuiltIn(GethDebugBuiltInTracerType),
    /// `keccak256PreimageTracer`.
    Preimages,
    /// A script.
    JavaScript(Script),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawOptions<'a> {
    #[serde(borrow)]
    tracer: Option<&'a RawValue>,
    tracer_config: Option<&'a RawValue>,
    timeout: Option<&'a RawValue>,
}

impl Param for TraceOptions {
    const DEFAULT: Option<fn() -> Self> = Some(Self::default);

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawOptions<'_> = params::fields(json)?;

        let name: Option<String> = field("tracer", raw.tracer, rules)?;
        let tracer = name
            .filter(|name| !name.is_empty())
            .map(|name| TracerName::new(name, raw.tracer_config))
            .transpose()?;

        let config = match (&tracer, raw.tracer_config) {
            // A script gets the text.
            (Some(TracerName::JavaScript(_)), _) | (_, None) => Ok(None),
            (_, Some(raw)) => params::shape(raw.get()).map(Some),
        };
        let options = Self {
            steps: params::shape(json)?,
            tracer,
            config: config.map_err(wrong_config)?.unwrap_or_default(),
            timeout: field("timeout", raw.timeout, rules)?,
        };

        // An invalid configuration is refused before anything runs.
        options.tracer()?;
        Ok(options)
    }

    fn schema() -> Value {
        let switch = || json!({"type": "boolean"});
        let count = || json!({"type": "integer", "minimum": 0});
        schema::options([
            ("tracer", json!({"type": "string"})),
            ("tracerConfig", json!({"type": "object"})),
            ("timeout", GoDuration::schema()),
            ("enableMemory", switch()),
            ("disableStack", switch()),
            ("disableStorage", switch()),
            ("enableReturnData", switch()),
            ("limit", count()),
            ("offset", count()),
            ("stackLimit", count()),
        ])
    }
}

impl TracerName {
    /// The tracer that a request names, with the request's configuration.
    fn new(name: String, config: Option<&RawValue>) -> Result<Self, String> {
        if name == "keccak256PreimageTracer" {
            return Ok(Self::Preimages);
        }

        let known = serde_json::from_value(Value::String(name.clone()));
        if let Ok(GethDebugTracerType::BuiltInTracer(tracer)) = known {
            return Ok(Self::BuiltIn(tracer));
        }

        // As in geth, text that cannot be a name is a script.
        if name.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return Err(unknown(&name));
        }
        Ok(Self::JavaScript(Script::new(name, config)?))
    }
}

/// The error for an unknown name.
fn unknown(name: &str) -> String {
    format!(
        "tracer: no \"{}\"; one of callTracer, prestateTracer, 4byteTracer, flatCallTracer, \
         muxTracer, noopTracer, erc7562Tracer, keccak256PreimageTracer, or none for the opcode \
         tracer",
        excerpt(name, 50)
    )
}

/// The error for a configuration that its tracer does not accept.
fn wrong_config(what: impl Display) -> String {
    format!("tracerConfig: {what}")
}

/// A duration as Go writes it: `300ms`, `5s`, `2m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GoDuration(pub std::time::Duration);

impl Param for GoDuration {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        let text = params::string(json)?;

        let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let number: f64 = text[..text.len() - unit.len()]
            .parse()
            .map_err(|_| wrong_duration(&text))?;

        let seconds = match unit {
            "ns" => number * 1e-9,
            "us" | "µs" => number * 1e-6,
            "ms" => number * 1e-3,
            "s" => number,
            "m" => number * 60.0,
            "h" => number * 3_600.0,
            _ => return Err(wrong_duration(&text)),
        };

        std::time::Duration::try_from_secs_f64(seconds)
            .map(Self)
            .map_err(|_| wrong_duration(&text))
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^[0-9.]+(ns|us|µs|ms|s|m|h)$"})
    }
}

fn wrong_duration(text: &str) -> String {
    format!(
        "expected a duration such as 300ms, 5s or 2m, got {}",
        excerpt(text, 50)
    )
}

impl TraceOptions {
    /// Advice on how to request less.
    pub(crate) fn advice(&self) -> &'static str {
        match &self.tracer {
            None => {
                "set a limit, stackLimit or disableStack, or leave out enableMemory and \
                 enableReturnData"
            }
            Some(TracerName::BuiltIn(GethDebugBuiltInTracerType::CallTracer)) => {
                "set onlyTopCall, or trace the transactions of a block one by one"
            }
            Some(TracerName::BuiltIn(GethDebugBuiltInTracerType::PreStateTracer)) => {
                "set disableCode or disableStorage, or trace the transactions of a block one by one"
            }
            Some(TracerName::JavaScript(_)) => {
                "return less from result(), or trace the transactions of a block one by one"
            }
            Some(_) => {
                "use the callTracer with onlyTopCall, or trace the transactions of a block one by \
                 one"
            }
        }
    }

    fn tracer(&self) -> Result<Tracer<'_>, String> {
        let tracer = match &self.tracer {
            Some(TracerName::BuiltIn(tracer)) => *tracer,
            Some(TracerName::JavaScript(script)) => return Ok(Tracer::JavaScript(script)),
            Some(TracerName::Preimages) => return Ok(Tracer::Preimages(Box::default())),
            None => return Ok(Tracer::Steps(self.steps)),
        };

        if let Some(tracers) = BuiltIns::new(tracer, &self.config.0).map_err(wrong_config)? {
            return Ok(Tracer::Calls(tracers));
        }

        let options = GethDebugTracingOptions {
            tracer: Some(GethDebugTracerType::BuiltInTracer(tracer)),
            tracer_config: self.config.clone(),
            ..Default::default()
        };
        let inspector = DebugInspector::new(options).map_err(wrong_config)?;
        Ok(Tracer::Named(Box::new(inspector)))
    }
}

enum Tracer<'o> {
    Steps(StructLogOptions),
    Calls(BuiltIns),
    Named(Box<DebugInspector>),
    Preimages(Box<PreimageTracer>),
    JavaScript(&'o Script),
}

/// The tracer of one request, which may be for many transactions.
pub(crate) struct RequestTracer<'r> {
    options: &'r TraceOptions,
    budget: &'r Budget,
    scripts: ScriptRunner<'r>,
}

impl<'r> RequestTracer<'r> {
    /// The tracer that `options` name.
    pub(crate) fn new(
        config: &'r RpcConfig,
        options: &'r TraceOptions,
        budget: &'r Budget,
    ) -> Self {
        Self {
            options,
            budget,
            scripts: ScriptRunner::new(config, budget),
        }
    }

    /// Traces one transaction; appends the trace.
    pub(crate) fn trace(
        &mut self,
        place: TracePosition,
        subject: Subject<'_, '_>,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        let options = self.options;
        match options.tracer().map_err(RpcError::invalid_params)? {
            Tracer::Steps(options) => self.trace_steps(options, subject, out),
            Tracer::Calls(tracers) => self.trace_calls(&tracers, place, subject, out),
            Tracer::Named(inspector) => self.trace_named(*inspector, place, subject, out),
            Tracer::Preimages(tracer) => self.trace_preimages(*tracer, subject, out),
            Tracer::JavaScript(script) => self.scripts.trace(script, place, subject, out),
        }
    }

    fn trace_steps(
        &self,
        options: StructLogOptions,
        subject: Subject<'_, '_>,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        let budget = self.budget;
        let out_of_time = || budget.is_out_of_time();
        let mut logger = StructLogger::new(options, budget);

        let mut watch = Watch::new(&mut logger, &out_of_time, budget.bytes_left(out));
        let result = subject.run(&mut watch, |inspected, _| inspected.outcome.result.clone());
        let stopped = watch.stopped();

        // The lines first: where there is no memory for them, the watch reports a size only.
        logger.check(budget)?;
        budget.check(stopped)?;
        logger.finish(&result?, budget, out)
    }

    fn trace_calls(
        &self,
        tracers: &BuiltIns,
        place: TracePosition,
        subject: Subject<'_, '_>,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        let budget = self.budget;
        let out_of_time = || budget.is_out_of_time();
        let mut recorder = tracers.recorder();
        let mut watch = Watch::new(&mut recorder, &out_of_time, budget.bytes_left(out))
            .top_only(tracers.is_top_only());

        let written = subject.run(&mut watch, |seen, watch| {
            // An incomplete record is not rendered.
            budget.check(watch.stopped())?;
            tracers.write(watch.inner(), &place, seen, budget, out)
        });

        // An execution that was stopped has failed, but the limit is the reason.
        budget.check(watch.stopped())?;
        written?
    }

    fn trace_named(
        &self,
        mut inspector: DebugInspector,
        place: TracePosition,
        subject: Subject<'_, '_>,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        let budget = self.budget;
        let out_of_time = || budget.is_out_of_time();
        let mut watch = Watch::new(&mut inspector, &out_of_time, budget.bytes_left(out));

        let seen = subject.run(&mut watch, |inspected, watch| {
            // An incomplete record is not rendered.
            budget.check(watch.stopped())?;
            result_of(watch.inner(), &place, inspected)
        });

        // An execution that was stopped has failed, but the limit is the reason.
        budget.check(watch.stopped())?;
        budget.write_nested(seen??, out)
    }

    fn trace_preimages(
        &self,
        mut tracer: PreimageTracer,
        subject: Subject<'_, '_>,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        let budget = self.budget;
        let out_of_time = || budget.is_out_of_time();

        let mut watch = Watch::new(&mut tracer, &out_of_time, budget.bytes_left(out));
        let ran = subject.run(&mut watch, |_, _| ());

        // An execution that was stopped has failed, but the limit is the reason.
        budget.check(watch.stopped())?;
        ran?;

        tracer.finish(out);
        budget.check_size(out)
    }
}

/// The result of an inspector that has seen a transaction.
fn result_of(
    inspector: &mut DebugInspector,
    place: &TracePosition,
    inspected: &mut Inspected<'_>,
) -> Result<GethTrace, RpcError> {
    let context = TransactionContext {
        block_hash: place.block,
        tx_hash: place.transaction,
        tx_index: place.index,
    };
    let Inspected {
        tx,
        block,
        outcome,
        before,
    } = inspected;

    inspector
        .get_result(Some(context), tx, block, outcome, before)
        .map_err(|error| RpcError::server(error.to_string()))
}

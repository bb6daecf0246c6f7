//! Geth's tracers of calls and accounts, one or several at once.

use alloy_rpc_types_trace::geth::{
    CallConfig, FlatCallConfig, GethDebugBuiltInTracerType as TracerType,
};
use revm_inspectors::tracing::TracingInspectorConfig;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tetrad_evm::Inspected;
use tetrad_stdx::text::excerpt;

use super::{
    Budget, TracePosition,
    call_recorder::{CallRecorder, RootGas},
    call_tree::write_call_tree,
    flat_calls::write_flat_calls,
    prestate::PrestateConfig,
};
use crate::rpc::{
    RpcError,
    json::{JsonWriter, Object},
};

/// A tracer whose result follows from the recorded calls and the changed accounts.
#[derive(Clone, Copy, Debug)]
enum BuiltIn {
    Calls(CallConfig),
    FlatCalls(FlatCallConfig),
    Prestate(PrestateConfig),
    Selectors,
    Nothing,
}

/// The tracers of one request.
#[derive(Clone, Debug)]
pub(super) enum BuiltIns {
    One(BuiltInTracer),
    /// `muxTracer`: several of them, by name.
    Several(Vec<(TracerType, BuiltInTracer)>),
}

/// One of them with its options.
#[derive(Clone, Copy, Debug)]
pub(super) struct BuiltInTracer(BuiltIn);

impl BuiltIns {
    /// The tracers that a name and a configuration stand for; none if the name is another tracer's.
    pub(super) fn new(name: TracerType, config: &Value) -> Result<Option<Self>, String> {
        if name != TracerType::MuxTracer {
            return Ok(BuiltInTracer::new(name, config)?.map(Self::One));
        }

        let Value::Object(configs) = config else {
            return Err(
                "expected an object with the options of each tracer by its name".to_owned(),
            );
        };
        configs
            .iter()
            .map(|(name, config)| BuiltInTracer::of_mux(name, config))
            .collect::<Result<_, String>>()
            .map(Self::Several)
            .map(Some)
    }

    fn all(&self) -> impl Iterator<Item = BuiltIn> {
        let (one, several) = match self {
            Self::One(one) => (Some(one), &[][..]),
            Self::Several(several) => (None, several.as_slice()),
        };
        one.into_iter()
            .chain(several.iter().map(|(_, tracer)| tracer))
            .map(|tracer| tracer.0)
    }

    /// A recorder of everything that they need.
    pub(super) fn recorder(&self) -> CallRecorder {
        // Records take memory, so that only what one of the tracers shows is recorded.
        let mut config = TracingInspectorConfig::none();
        for tracer in self.all() {
            config.record_inputs |= matches!(tracer, BuiltIn::Calls(_) | BuiltIn::FlatCalls(_));
            config.record_logs |= matches!(
                tracer,
                BuiltIn::Calls(CallConfig {
                    with_log: Some(true),
                    ..
                })
            );
        }

        let recorder = CallRecorder::new(config);
        let has_selectors = self
            .all()
            .any(|tracer| matches!(tracer, BuiltIn::Selectors));
        if has_selectors {
            recorder.with_selectors()
        } else {
            recorder
        }
    }

    /// Whether the outermost call is all that they need.
    pub(super) fn is_top_only(&self) -> bool {
        self.all().all(|tracer| match tracer {
            BuiltIn::Calls(config) => config.only_top_call == Some(true),
            BuiltIn::FlatCalls(_) | BuiltIn::Selectors => false,
            BuiltIn::Prestate(_) | BuiltIn::Nothing => true,
        })
    }

    /// Appends the result.
    pub(super) fn write(
        &self,
        recorder: &mut CallRecorder,
        place: &TracePosition,
        seen: &Inspected<'_>,
        budget: &Budget,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        recorder.set_root_gas(RootGas::Transaction, seen);

        match self {
            Self::One(tracer) => tracer.write(recorder, place, seen, budget, out),
            Self::Several(several) => {
                let mut object = Object::begin(out);
                for (kind, tracer) in several {
                    tracer.write(recorder, place, seen, budget, object.name(name_of(*kind)))?;
                }
                object.end();
                Ok(())
            }
        }
    }
}

impl BuiltInTracer {
    fn new(name: TracerType, config: &Value) -> Result<Option<Self>, String> {
        Ok(Some(Self(match name {
            TracerType::CallTracer => BuiltIn::Calls(options(config)?),
            TracerType::FlatCallTracer => BuiltIn::FlatCalls(options(config)?),
            TracerType::PreStateTracer => {
                let config: PrestateConfig = options(config)?;
                config.check()?;
                BuiltIn::Prestate(config)
            }
            TracerType::FourByteTracer => BuiltIn::Selectors,
            TracerType::NoopTracer => BuiltIn::Nothing,
            _ => return Ok(None),
        })))
    }

    /// The tracer with this name, and its options in the configuration of a `muxTracer`.
    fn of_mux(name: &str, config: &Value) -> Result<(TracerType, Self), String> {
        let kind =
            serde_json::from_value(Value::String(name.to_owned())).map_err(|_| not_in_mux(name))?;
        let tracer = Self::new(kind, config).map_err(|error| format!("{name}: {error}"))?;

        Ok((kind, tracer.ok_or_else(|| not_in_mux(name))?))
    }

    fn write(
        self,
        recorder: &CallRecorder,
        place: &TracePosition,
        seen: &Inspected<'_>,
        budget: &Budget,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        match self.0 {
            BuiltIn::Calls(config) => {
                write_call_tree(recorder, config, place.first_log, budget, out)?
            }
            BuiltIn::FlatCalls(config) => write_flat_calls(recorder, config, place, budget, out)?,
            BuiltIn::Prestate(config) => config.write(seen, budget, out)?,
            BuiltIn::Selectors => recorder.write_selectors(out),
            BuiltIn::Nothing => out.extend_from_slice(b"{}"),
        }
        budget.check_size(out)
    }
}

/// The error for a name that stands for no tracer in a `muxTracer`.
fn not_in_mux(name: &str) -> String {
    format!("{}: no tracer that muxTracer can hold", excerpt(name, 50))
}

/// The options in a tracer's configuration.
fn options<T: Default + DeserializeOwned>(config: &Value) -> Result<T, String> {
    if config.is_null() {
        Ok(T::default())
    } else {
        T::deserialize(config).map_err(|error| error.to_string())
    }
}

const fn name_of(kind: TracerType) -> &'static str {
    match kind {
        TracerType::CallTracer => "callTracer",
        TracerType::FlatCallTracer => "flatCallTracer",
        TracerType::PreStateTracer => "prestateTracer",
        TracerType::FourByteTracer => "4byteTracer",
        _ => "noopTracer",
    }
}

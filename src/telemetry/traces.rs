//! OpenTelemetry: spans of requests and blocks, sent to a collector over OTLP (protobuf over HTTP).
//!
//! Spans have a target of their own, which only the exporter enables; without it they cost as much
//! as a disabled log line.

use opentelemetry::{global, trace::TracerProvider};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{Sampler, SdkTracerProvider},
};
use tetrad_stdx::{redact, tls};
use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{Layer, filter::Targets, registry::LookupSpan};

use crate::config::Traces;

/// The target of all spans for traces. Only the exporter enables it, so that without a collector a
/// span costs as much as a disabled log line.
const TARGET: &str = "tetrad::span";

/// The error of an endpoint that spans cannot be sent to.
#[derive(Debug, thiserror::Error)]
#[error("traces.endpoint {endpoint}: {problem}")]
pub struct TracesError {
    endpoint: String,
    problem: String,
}

/// A guard of the background exporter. Dropping it sends the remaining spans.
pub(super) struct Exporting(SdkTracerProvider);

impl Drop for Exporting {
    fn drop(&mut self) {
        if let Err(error) = self.0.shutdown() {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

/// Returns a layer that sends spans to the collector and the guard that sends the last ones, or
/// `None` without a collector. A request with a `traceparent` (W3C Trace Context) joins that trace
/// and follows its sampling decision.
pub(super) fn layer<S>(config: &Traces) -> Result<Option<(impl Layer<S>, Exporting)>, TracesError>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let Some(endpoint) = &config.endpoint else {
        return Ok(None);
    };

    tls::install_provider();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(endpoint)
        .build()
        .map_err(|error| TracesError {
            endpoint: redact::url(endpoint),
            problem: error.to_string(),
        })?;

    let resource = Resource::builder()
        .with_service_name("tetrad")
        .with_attribute(opentelemetry::KeyValue::new(
            "service.version",
            env!("CARGO_PKG_VERSION"),
        ))
        .build();
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        // The service that begins a trace decides whether it is recorded.
        .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(
            config.sample_ratio,
        ))))
        .with_resource(resource)
        .build();

    global::set_text_map_propagator(TraceContextPropagator::new());
    let spans = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("tetrad"))
        .with_filter(Targets::new().with_target(TARGET, LevelFilter::TRACE));
    Ok(Some((spans, Exporting(provider))))
}

//! The log, and traces.

mod traces;

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

pub use self::traces::TracesError;
use crate::config::{Config, LogFormat};

/// Held while the process lives. Dropping it sends what was not sent yet.
pub(crate) struct Telemetry(#[expect(dead_code, reason = "held, not used")] Option<traces::Exporting>);

/// Sends log lines to standard error in the form that the configuration asks for, and spans to the collector that it
/// names. Once for a process.
///
/// # Errors
/// If spans cannot be sent to such a collector. Whether it answers shows later, and in the log.
pub(crate) fn install(config: &Config) -> Result<Telemetry, TracesError> {
    let level = if config.quiet { "error" } else { &config.log_level };
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info"));
    let to_stderr = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let lines = match config.log_format {
        LogFormat::Text => to_stderr.with_target(false).with_filter(filter).boxed(),
        LogFormat::Json => to_stderr.json().flatten_event(true).with_filter(filter).boxed(),
    };
    let (spans, exporting) = config.traces.as_ref().map(traces::layer).transpose()?.unzip();
    // A second installation, as in a program that embeds nodes, leaves the first one be.
    let _ = tracing_subscriber::registry().with(lines).with(spans).try_init();
    Ok(Telemetry(exporting))
}

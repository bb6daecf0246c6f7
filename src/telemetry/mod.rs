//! The log and the export of traces.

mod traces;

use std::io::{self, IsTerminal};

use tracing_subscriber::{
    EnvFilter,
    fmt::{self, writer::BoxMakeWriter},
    prelude::*,
};

pub(crate) use self::traces::TracesError;
use crate::config::{Config, LogFormat};

/// A guard to hold while the process lives. Dropping it sends the remaining spans.
pub(crate) struct Telemetry(
    #[expect(dead_code, reason = "held, not used")] Option<traces::Exporting>,
);

/// Sends log lines to standard error or output, and spans to the configured collector. Called once
/// per process.
///
/// # Errors
/// [`TracesError`] for an endpoint that spans cannot be sent to. An unreachable collector is
/// reported in the log later.
pub(crate) fn install(config: &Config) -> Result<Telemetry, TracesError> {
    let level = if config.quiet {
        "error"
    } else {
        &config.log_level
    };

    // The client of NATS logs every attempt to connect again, where this program logs changes of
    // the connection.
    let filter = EnvFilter::try_new(format!("async_nats=warn,{level}"))
        .unwrap_or_else(|_| EnvFilter::new("info"));

    let (writer, is_terminal) = if config.logs_to_stdout {
        (BoxMakeWriter::new(io::stdout), io::stdout().is_terminal())
    } else {
        (BoxMakeWriter::new(io::stderr), io::stderr().is_terminal())
    };
    let layer = fmt::layer().with_writer(writer).with_ansi(is_terminal);
    let lines = match config.log_format {
        LogFormat::Text => layer.with_target(false).with_filter(filter).boxed(),
        LogFormat::Json => layer.json().flatten_event(true).with_filter(filter).boxed(),
    };

    let (spans, exporting) = traces::layer(&config.traces)?.unzip();
    // Fails in a program that embeds nodes and has installed a subscriber, which is kept.
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(spans)
        .try_init();
    Ok(Telemetry(exporting))
}

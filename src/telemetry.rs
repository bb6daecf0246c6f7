//! The log.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use crate::config::{Config, LogFormat};

/// Sends log lines to standard error in the form that the configuration asks for. Once for a process.
pub(crate) fn install(config: &Config) {
    let level = if config.quiet { "error" } else { &config.log_level };
    let filter = EnvFilter::try_new(level).unwrap_or_else(|_| EnvFilter::new("info"));
    let registry = tracing_subscriber::registry().with(filter);
    let to_stderr = fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    // A second installation, as in a program that embeds nodes, leaves the first one be.
    let _ = match config.log_format {
        LogFormat::Text => registry.with(to_stderr.with_target(false)).try_init(),
        LogFormat::Json => registry.with(to_stderr.json().flatten_event(true)).try_init(),
    };
}

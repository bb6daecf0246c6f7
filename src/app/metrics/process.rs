//! Metrics of the process, under the names of Prometheus' client libraries.

use std::fs;

use tetrad_web::Exposition;

/// Ticks per second in `/proc/self/stat`; the same on every Linux architecture.
const TICKS_PER_SECOND: f64 = 100.0;

/// Writes the available metrics; without `/proc` only the start time.
pub(super) fn write(out: &mut Exposition, started_ms: u64) {
    out.gauge(
        "process_start_time_seconds",
        "Start time of the process since the Unix epoch.",
    )
    .sample(&[], started_ms as f64 / 1_000.0);
    if let Some(seconds) = cpu_seconds() {
        out.counter(
            "process_cpu_seconds_total",
            "User and system CPU time spent.",
        )
        .sample(&[], seconds);
    }

    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(kilobytes) = status_number(&status, "VmRSS") {
        out.gauge("process_resident_memory_bytes", "Resident memory size.")
            .sample(&[], kilobytes * 1_024);
    }
    if let Some(threads) = status_number(&status, "Threads") {
        out.gauge("process_threads", "Threads of the process.")
            .sample(&[], threads);
    }

    if let Ok(files) = fs::read_dir("/proc/self/fd") {
        // Reading the directory opens one more.
        out.gauge("process_open_fds", "Number of open file descriptors.")
            .sample(&[], files.count().saturating_sub(1));
    }
}

/// Returns the number of a line of `/proc/self/status`.
fn status_number(status: &str, name: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name in parentheses, which may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}

//! The events or calls of a transaction.

use alloy_primitives::utils::format_ether;
use revm_inspectors::tracing::types::{CallTrace, CallTraceNode, TraceMemberOrder};

use super::{Console, abi::Decoder, log, replay::ReplayedTransaction};

/// Maximum number of lines per transaction.
const MAX_LINES: usize = 2_000;

/// Appends a line for each event, in order. A failed transaction has none.
pub(super) fn events(
    console: &Console,
    decoder: &Decoder<'_>,
    seen: &ReplayedTransaction,
    out: &mut String,
) {
    let Some(root) = seen.calls.first().filter(|root| root.trace.success) else {
        return;
    };
    let mut lines = 0;
    walk_events(console, decoder, seen, root, &mut lines, out);
}

fn walk_events(
    console: &Console,
    decoder: &Decoder<'_>,
    seen: &ReplayedTransaction,
    node: &CallTraceNode,
    lines: &mut usize,
    out: &mut String,
) {
    if !node.trace.success {
        return;
    }

    for member in &node.ordering {
        match member {
            TraceMemberOrder::Log(at) if *lines < MAX_LINES => {
                *lines += 1;
                let account = decoder.account(node.execution_address());
                let event = event(decoder, node, *at);
                out.push_str(&format!(
                    "      {} {}\n",
                    console.styles.faint(&account),
                    event
                ));
            }
            TraceMemberOrder::Call(at) => {
                if let Some(child) = child(seen, node, *at) {
                    walk_events(console, decoder, seen, child, lines, out);
                }
            }
            TraceMemberOrder::Log(_) | TraceMemberOrder::Step(_) => {}
        }
    }
}

/// Appends a line for each call, indented by depth, with its events and its outcome.
pub(super) fn calls(
    console: &Console,
    decoder: &Decoder<'_>,
    seen: &ReplayedTransaction,
    out: &mut String,
) {
    let mut lines = TraceLines { count: 0, out };
    if let Some(root) = seen.calls.first() {
        walk(console, decoder, seen, root, &mut lines);
    }

    if lines.count >= MAX_LINES {
        out.push_str("      …\n");
    }
}

/// The lines of a trace, of which those after the first [`MAX_LINES`] are only counted.
struct TraceLines<'a> {
    count: usize,
    out: &'a mut String,
}

impl TraceLines<'_> {
    /// Adds a line of a call at this depth.
    fn push(&mut self, depth: usize, text: &str) {
        self.count += 1;
        if self.count <= MAX_LINES {
            let indent = "  ".repeat(3 + depth.min(40));
            self.out.push_str(&format!("{indent}{text}\n"));
        }
    }
}

fn walk(
    console: &Console,
    decoder: &Decoder<'_>,
    seen: &ReplayedTransaction,
    node: &CallTraceNode,
    lines: &mut TraceLines<'_>,
) {
    let trace = &node.trace;
    if log::is_console(trace.address) {
        let message = log::message(&trace.data).replace('\n', " ");
        let text = console.styles.log(&format!("console.log: {message}"));
        return lines.push(trace.depth, &text);
    }
    lines.push(trace.depth, &call_line(console, decoder, trace));

    for member in &node.ordering {
        match member {
            TraceMemberOrder::Log(at) => {
                let event = event(decoder, node, *at);
                lines.push(trace.depth, &format!("  emits {event}"));
            }
            TraceMemberOrder::Call(at) if lines.count <= MAX_LINES => {
                if let Some(child) = child(seen, node, *at) {
                    walk(console, decoder, seen, child, lines);
                }
            }
            TraceMemberOrder::Call(_) | TraceMemberOrder::Step(_) => {}
        }
    }

    if lines.count <= MAX_LINES
        && let Some(outcome) = outcome(console, decoder, trace)
    {
        lines.push(trace.depth, &format!("  {outcome}"));
    }
}

/// Formats the outcome of a call; none of one that succeeds without output.
fn outcome(console: &Console, decoder: &Decoder<'_>, trace: &CallTrace) -> Option<String> {
    if !trace.success {
        return Some(console.styles.failure(&format!(
            "reverts: {}",
            decoder.revert(trace.address, &trace.output)
        )));
    }
    if trace.kind.is_any_create() {
        return Some(format!("returns {} bytes of code", trace.output.len()));
    }
    if trace.output.is_empty() {
        return None;
    }
    Some(format!(
        "returns {}",
        decoder.output(trace.address, &trace.data, &trace.output)
    ))
}

/// Formats a call with its target, value and gas.
fn call_line(console: &Console, decoder: &Decoder<'_>, trace: &CallTrace) -> String {
    let account = decoder.account(trace.address);
    let kind = trace.kind.to_string().to_lowercase();
    let what = if trace.kind.is_any_create() {
        format!("new contract {}", trace.address.to_checksum(None))
    } else {
        format!("{}.{}", account, decoder.call(trace.address, &trace.data))
    };
    let value = if trace.value.is_zero() {
        String::new()
    } else {
        format!(" with {} {}", format_ether(trace.value), console.coin)
    };

    let gas = console.styles.faint(&format!("{} gas", trace.gas_used));
    format!("{kind} {}{value}  {gas}", console.styles.name(&what))
}

/// Formats an event of a call, by its position among the call's events.
fn event(decoder: &Decoder<'_>, node: &CallTraceNode, position: usize) -> String {
    node.logs
        .get(position)
        .map(|log| decoder.event(node.execution_address(), &log.raw_log))
        .unwrap_or_default()
}

/// Returns a call within a call, by its position among them.
fn child<'a>(
    seen: &'a ReplayedTransaction,
    node: &CallTraceNode,
    position: usize,
) -> Option<&'a CallTraceNode> {
    let index = node.children.get(position)?;
    seen.calls.get(*index)
}

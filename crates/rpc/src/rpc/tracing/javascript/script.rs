//! The script of a tracer, and what surrounds it.

use revm_inspectors::tracing::{
    TransactionContext,
    js::{JsInspector, RuntimeLimits},
};

/// The maximum depth of calls between functions.
const RECURSION: usize = 4_096;
/// The maximum number of values that these calls hold.
const VALUES: usize = 1 << 20;
/// The longest message of an error that is passed on, in bytes.
const MESSAGE: usize = 2_000;

/// Returns the script with code around it that catches errors of its functions: the inspector would
/// take them for failures of the transaction. `result` then returns text: `=` and the result as
/// JSON, or `!` and the error.
pub(super) fn wrapped(script: &str) -> String {
    // In its file the function is a statement.
    let wrap = include_str!("wrapper.js").trim_end().trim_end_matches(';');
    format!("{wrap}(\n{script}\n)")
}

/// The inspector that runs a script.
pub(super) fn inspector(
    script: &str,
    config: String,
    place: TransactionContext,
) -> Result<JsInspector, String> {
    let created = JsInspector::with_transaction_context(wrapped(script), config.into(), place);
    let mut inspector = created.map_err(|error| message(&error.to_string()))?;

    // Time and memory of the process are limited, so loops need no limit.
    let mut limits = RuntimeLimits::default();
    limits.set_loop_iteration_limit(u64::MAX);
    limits.set_recursion_limit(RECURSION);
    limits.set_stack_size_limit(VALUES);
    inspector.set_runtime_limits(limits);

    Ok(inspector)
}

/// The result as JSON, or the error's message, from what the wrapped `result` returned.
pub(super) fn unwrapped(returned: serde_json::Value) -> Result<String, String> {
    let serde_json::Value::String(mut text) = returned else {
        return Err("the result is not JSON".to_owned());
    };

    match text.as_bytes().first() {
        Some(b'=') => {
            text.remove(0);
            Ok(text)
        }
        Some(b'!') => Err(message(&text[1..])),
        _ => Err("the result is not JSON".to_owned()),
    }
}

/// The beginning of an error's message, without the functions that were being called.
pub(super) fn message(text: &str) -> String {
    let text = text
        .split_once("\n    at ")
        .map_or(text, |(message, _)| message);

    let end = text.floor_char_boundary(MESSAGE);
    if end < text.len() {
        format!("{}…", &text[..end])
    } else {
        text.to_owned()
    }
}

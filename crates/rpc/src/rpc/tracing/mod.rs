//! Traces: replays of transactions, or executions of calls, that record every step.
//!
//! The `debug`, `trace` and `ots` namespaces are built on this.
//!
//! A replay begins with `Head::state_before`, which includes edits by development methods before
//! the block. Every tracer of calls is written from one record (`call_recorder.rs`), geth's by
//! loops rather than recursion, since calls nest 1,024 deep.

mod budget;
mod built_in;
mod call_recorder;
mod call_tree;
mod flat_calls;
#[cfg(all(feature = "js-tracer", unix))]
mod javascript;
#[cfg(not(all(feature = "js-tracer", unix)))]
mod no_javascript;
mod preimages;
mod prestate;
mod replay;
mod struct_log;
mod subject;
mod tracer;

pub(super) use budget::Budget;
pub(super) use call_recorder::CallRecorder;
#[cfg(all(feature = "js-tracer", unix))]
pub use javascript::{TRACER_COMMAND, run as run_tracer};
#[cfg(not(all(feature = "js-tracer", unix)))]
use no_javascript as javascript;
pub(super) use replay::{BlockReplay, find_transaction};
pub(super) use subject::{Subject, TracePosition};
pub(super) use tracer::{RequestTracer, TraceOptions};

//! Traces: replays of transactions, or executions of calls, that record every step.
//!
//! The `debug`, `trace` and `ots` namespaces are built on this.

mod budget;
mod preimages;
mod replay;
mod struct_log;
mod tracer;

pub(super) use budget::Budget;
pub(super) use replay::{BlockReplay, find_transaction};
pub(super) use tracer::{Subject, TraceOptions, TracePosition, trace};

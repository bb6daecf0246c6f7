//! Traces: running again what ran before, or what never did, and telling every step of it.
//!
//! The `debug` and `trace` namespaces, and what others need of them, are built on this.

mod budget;
mod replay;
mod struct_log;
mod tracer;

pub(super) use budget::Budget;
pub(super) use replay::{Replay, find_transaction};
pub(super) use tracer::{Place, Subject, TraceOptions, trace};

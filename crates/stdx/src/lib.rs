//! TODO-DOC stdx

pub mod calendar;
pub mod causes;
pub mod clock;
pub mod codec;
pub mod decimal;
pub mod failed_calls;
pub mod keccak;
pub mod metrics;
pub mod nesting;
pub mod parallel;
pub mod redact;
pub mod ring;
pub mod tls;

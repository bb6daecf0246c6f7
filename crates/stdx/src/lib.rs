//! What the other crates miss in the standard library: amounts as decimal text, numbers of
//! nothing but digits, excerpts of text, dates, the binary encoding of data on disk, Keccak-256 of
//! many messages, metrics, an injected clock.
//!
//! The modules are independent of each other. The crate knows nothing of chains, of the network or
//! of HTTP.
//!
//! ```
//! use alloy_primitives::U256;
//! use tetrad_stdx::{calendar::rfc3339, decimal};
//!
//! assert_eq!(decimal::shortest(U256::from(351_235_000_000u64), 8), "3512.35");
//! assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
//! ```

pub mod calendar;
pub mod causes;
pub mod clock;
pub mod codec;
pub mod decimal;
pub mod digits;
pub mod failed_calls;
pub mod keccak;
pub mod metrics;
pub mod nesting;
pub mod parallel;
pub mod redact;
pub mod ring;
pub mod text;
pub mod tls;

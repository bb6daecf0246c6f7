//! Execution: a state, an environment and transactions in, changes and receipts out. Blocks and calls
//! run on revm, with the rules of the fork that the [schedule](Forks) has for their number and time.
//!
//! The crate knows nothing of how blocks are ordered, stored or requested, and reads no clock.
//!
//! ```
//! use tetrad_evm::{Fork, Forks};
//!
//! let forks = Forks::all_from_genesis(Fork::Prague);
//! let rules = forks.at(1, 1_700_000_000);
//! assert!(rules.has(Fork::Cancun));
//! assert!(!rules.has(Fork::Osaka));
//! ```
//!
//! Rules that revm lacks are added around it; no remaining rule of consensus requires a change of
//! revm:
//!
//! - The overlay returns an account with storage but neither code nor nonce with a code hash of
//!   zero, so that no contract can be created there (EIP-7610). On a fork the base's storage roots
//!   are not known, so the rule does not apply to its accounts.
//! - `SSTORE` of Constantinople without Petersburg (EIP-1283) is an instruction of its own.
//! - System calls get 30 million gas.
//!
//! On a fork whose base asks another node, an execution first runs on guesses, to find what it reads,
//! and all of that is fetched at once (`prefetch.rs`). The outcome is that of a run that made no
//! guess.
//!
//! An inspector is attached in two places only, `BlockExecutor::inspect` and
//! `CallContext::inspect`. A [`Watch`] ends an execution that exceeds its time limit, or whose
//! inspector would record too much: every [`Recorder`] reports the size of its records, and the
//! addition of each step is counted before the next one. The time limit is a function that the
//! caller passes, since the crate reads no clock.

mod block;
mod call;
mod context;
mod cosmos;
mod dao;
#[cfg(feature = "js-tracer")]
mod detached;
mod environment;
mod error;
mod estimate;
mod failure;
mod fork;
mod guesses;
mod inspected;
mod instructions;
mod internal_calls;
mod jumps;
mod overlay;
mod overrides;
mod precompile;
mod precompile_set;
mod prefetch;
mod recorder;
mod requests;
mod schedule;
mod signers;
mod time_limit;
mod transaction;
mod transfers;
mod watch;

pub use block::{
    BlockExecutor, BlockOutcome, call_gas_used, failure_message, halt_message, rewards,
};
pub use call::{Call, CallContext, lift_limits, usual_max_fee};
pub use context::{AnyInspector, EvmContext};
pub use dao::DAO_EXTRA_DATA;
#[cfg(feature = "js-tracer")]
pub use detached::DetachedExecution;
pub use environment::{ChainParams, Environment, Evm, Limits, transact};
pub use error::{BlockError, TransactionError};
pub use estimate::{ESTIMATE_TOLERANCE, EstimateError};
pub use failure::{FailedCall, FailureTracer};
pub use fork::{Fork, Rules};
pub use inspected::Inspected;
pub use internal_calls::{InternalCall, InternalCallKind, InternalCalls};
#[cfg(feature = "js-tracer")]
pub use overlay::DetachedAccount;
pub use overlay::{BlockHashes, Overlay};
pub use overrides::{AccountOverride, OverrideError, StateOverrides, apply_overrides};
pub use precompile_set::PrecompileSet;
pub use recorder::{RecordedData, Recorder};
pub use schedule::{Activation, DaoFork, Forks, UnsupportedConfig};
pub use signers::Signers;
pub use time_limit::{OutOfTime, TimeLimit};
pub use transfers::LogCollector;
pub use watch::{Stop, Watch};

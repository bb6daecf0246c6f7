//! The sources of contracts: verification of standard JSON input, artifacts of development tools,
//! and the registry of contracts whose names, ABIs and sources are known.
//!
//! The registry has three origins: the network's own contracts, verified ones, which are kept
//! beside the chain, and those that have the code of an artifact. A compiler runs with limits, and
//! reads nothing but its input. What differs between deployments of one source is set aside when
//! codes are compared: immutables, addresses of libraries, metadata.
//!
//! An address is looked up among the network's own contracts, then among verified ones, whose code
//! must still be the one that was verified, then among artifacts, by the length of the code without
//! metadata and a comparison (`code.rs`). The result is remembered by the code's hash. Names and
//! ABIs are in memory; sources are read when they are requested: from the program, from the
//! verified contract's document (`store.rs`), or from the artifact.
//!
//! A selector that the contract itself does not have is looked up among the network's ABIs and the
//! operator's, and at last among verified ones, since anyone may verify a contract with a
//! misleading function.

pub mod abi;
mod artifacts;
mod code;
mod compiler_run;
mod compilers;
mod contract;
#[doc(hidden)]
pub mod fuzzing;
mod known;
mod metadata;
mod network;
mod output;
mod signatures;
mod source_map;
mod standard_json;
mod store;
pub mod text;
mod verification;
mod watcher;

pub use code::{CodeMatch, CompiledCode};
pub use compilers::{CompilerVersion, Compilers};
pub use contract::{CompiledContract, KnownContract, Matches, Origin, read_abi};
pub use known::KnownContracts;
pub use standard_json::{ContractName, MAX_INPUT, StandardInput};
pub use verification::{
    DeployedContract, SubmitError, VerificationError, VerificationRequest, Verifier,
};
pub use watcher::{ArtifactWatcher, WatcherGuard};

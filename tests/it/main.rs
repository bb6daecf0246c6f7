//! The integration tests: one binary, every node on a port of its own.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, and says where")]

mod account;
mod chain;
mod config;
mod conformance;
#[allow(
    dead_code,
    unused_mut,
    non_snake_case,
    clippy::too_many_arguments,
    reason = "parts of the bench wait for the rest of the contracts' tests"
)]
mod contracts;
mod cosmos;
mod exchange;
mod lending;
mod rpc;
mod state;
mod structure;
mod support;
mod web;

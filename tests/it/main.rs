//! The integration tests: one binary, every node on a port of its own.

mod account;
mod chain;
mod config;
mod conformance;
mod contracts;
mod rpc;
mod state;
mod structure;
mod support;

//! The integration tests: one binary, every node on a port of its own.

mod account;
mod contracts;
mod cosmos;
mod exchange;
mod lending;
mod rpc;
mod state;
mod support;
mod web;

//! The integration tests: one binary, each node on its own port.

#![allow(
    clippy::unwrap_used,
    reason = "a test that panics has failed, and says where"
)]

mod account;
mod activity;
mod adversary;
mod chain;
mod cluster;
mod config;
mod conformance;
mod contracts;
mod cosmos;
mod day;
mod dev;
mod durability;
mod exchange;
mod explorer;
mod faucet;
mod fork;
mod fuzz;
mod lending;
mod published;
mod rpc;
mod scenario;
mod site;
mod state;
mod structure;
mod support;
mod web;

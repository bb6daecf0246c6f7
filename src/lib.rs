//! tetrad.
pub mod account;
pub mod activity;
mod app;
mod artifacts;
pub mod block;
pub mod chain;
pub mod cli;
pub mod config;
pub mod contracts;
pub mod cosmos;
pub mod decimal;
pub mod evm;
pub mod exchange;
pub mod genesis;
pub mod lending;
pub mod network;
pub mod rpc;
pub mod state;
mod telemetry;
pub mod web;

pub use app::{Node, SpawnError};
pub use config::Config;

//! tetrad.
pub mod account;
pub mod block;
pub mod chain;
pub mod cli;
pub mod evm;
pub mod rpc;
pub mod state;
pub mod web;

//! A whole network on your desk: JSON-RPC, exchange, lending and accounts over one EVM state.
//!
//! A node is a [`Config`] that was [spawned](Node::spawn):
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use tetrad::{Config, Node};
//!
//! let node = Node::spawn(Config::test()).await?;
//! println!("JSON-RPC at {}, REST at {}", node.rpc_url(), node.rest_url());
//! println!("block {}", node.chain().head().block.number());
//! node.shut_down().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! Imports go from top to bottom only, which `tests/it/structure` checks.
//!
//! | Module | What it is | What it knows nothing of |
//! |---|---|---|
//! | [`account`] | addresses in every form, keys, mnemonics, keystores | chains, files, clocks |
//! | [`block`] | blocks, transactions, receipts: encodings and hashes | state, execution |
//! | [`state`] | accounts, code and storage under one Merkle root, as a value | blocks, clocks, I/O |
//! | [`evm`] | (state, environment, transactions) → (changes, receipts) | how blocks are ordered or stored |
//! | [`chain`] | the ledger: one writer, readers on immutable heads | how it is asked: HTTP, wire codes |
//! | [`fork`] | chains that begin at a block of another node's | methods that others ask of this node |
//! | [`network`], [`contracts`], [`genesis`] | the mirrored network's facts, contracts and first block | HTTP |
//! | [`web`] | what all interfaces share: listeners, limits, caching, shutdown | any one interface |
//! | [`rpc`], [`exchange`], [`lending`], [`cosmos`] | the four public interfaces | each other |
//! | [`config`], [`cli`] | settings, and the command line | |
//!
//! # Invariants
//!
//! - Applying a block is a pure function of head and block: no clock, no environment, no random source.
//! - A reader takes one [`chain::Head`] for a whole request, and never waits for the writer.
//! - The interfaces keep no truth of their own: what they tell is read from the chain.
//! - No float touches an amount.
//! - Nothing that a user sends makes the node panic, hang, or grow without bound.

pub mod account;
pub mod activity;
mod app;
mod artifacts;
pub mod block;
pub mod chain;
pub mod cli;
pub mod codec;
pub mod config;
pub mod console;
pub mod contracts;
pub mod cosmos;
pub mod decimal;
pub mod evm;
pub mod exchange;
pub mod fork;
pub mod genesis;
pub mod lending;
pub mod log;
pub mod metrics;
pub mod network;
pub mod redact;
pub mod rpc;
pub mod site;
pub mod state;
pub mod storage;
pub mod store;
mod telemetry;
pub mod web;

pub use app::{Node, SpawnError};
pub use config::Config;

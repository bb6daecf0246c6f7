//! A network on your desk: JSON-RPC, an exchange, a lending service and accounts over one EVM
//! state.
//!
//! This crate is the node behind the `tetrad` program. Test suites in Rust start it in their own
//! process: a [`Node`] is a [`Config`] that was [spawned](Node::spawn), on free ports if the
//! configuration is [`Config::test`].
//!
//! ```
//! use serde_json::{Value, json};
//! use tetrad::{Config, Node};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let node = Node::spawn(Config::test()).await?;
//! # let _ = rustls::crypto::ring::default_provider().install_default();
//!
//! let request = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []});
//! let response = reqwest::Client::new().post(node.rpc_url()).json(&request).send().await?;
//! assert_eq!(response.json::<Value>().await?["result"], "0x7d");
//!
//! let prices = reqwest::get(format!("{}/api/prices", node.rest_url())).await?;
//! assert_eq!(prices.json::<Value>().await?["success"], true);
//!
//! node.shut_down().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The public interface is that of a node, its [configuration](config), the network's [account
//! model](account), and the command line ([`run`]). The parts of a node are crates of their own,
//! `tetrad-*`, whose interfaces may change at any time; ARCHITECTURE.md describes them.

mod app;
#[doc(hidden)]
pub mod cli;
pub mod config;
#[doc(hidden)]
pub mod console;
#[doc(hidden)]
pub mod genesis;
#[doc(hidden)]
pub mod scenario;
mod telemetry;

#[doc(inline)]
pub use tetrad_network::account;

pub use app::{Node, SpawnError, StateFileError};
pub use cli::run;
pub use config::Config;

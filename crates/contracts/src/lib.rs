//! Contracts: the [compiled ones](artifacts) that the network deploys, [bindings and
//! reads](contracts) of them, and the [sources] of all contracts whose sources are known.
//!
//! The crate reads contracts through a view of the chain. It knows nothing of HTTP, and not which
//! interface shows what it read.
//!
//! ```
//! use alloy_primitives::U256;
//! use tetrad_contracts::{artifacts::TOKEN, contracts::unit};
//! use tetrad_network::network::Network;
//!
//! assert!(!TOKEN.creation_code().is_empty());
//!
//! let network = Network::default();
//! let token = network.token("USDC").expect("a token");
//! assert_eq!(unit(token), U256::from(10).pow(U256::from(token.decimals)));
//! ```

pub mod artifacts;
pub mod contracts;
pub mod sources;

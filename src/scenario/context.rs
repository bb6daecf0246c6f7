//! The names that a document can refer to.

use std::sync::Arc;

use alloy_primitives::Address;
use tetrad_network::network::Network;

/// The node as documents refer to it.
#[derive(Clone, Debug)]
pub struct ScenarioContext {
    /// The network, if its contracts are on the chain.
    pub network: Option<Arc<Network>>,
    /// Whether prices move.
    pub has_prices: bool,
    /// Whether the development methods exist.
    pub development: bool,
    /// The account that owns the contracts.
    pub owner: Address,
    /// The development accounts.
    pub accounts: Vec<Address>,
}

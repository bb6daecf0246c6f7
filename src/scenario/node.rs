//! The node as scenarios act on it.

use std::sync::Arc;

use super::context::ScenarioContext;
use crate::{
    chain::{Chain, Sender},
    clock::Clock,
    exchange::{Market, feed::SourceSet},
    network::Network,
    web::{Faults, Shutdown},
};

/// What scenarios act on.
pub struct ScenarioNode {
    /// The chain.
    pub chain: Chain,
    /// The network.
    pub network: Arc<Network>,
    /// The market and the sources of its prices, if the chain has an exchange.
    pub exchange: Option<(Market, Arc<SourceSet>)>,
    /// The faults of the interfaces.
    pub faults: Faults,
    /// The account that owns the contracts.
    pub owner: Arc<Sender>,
    /// The development accounts.
    pub accounts: Vec<Arc<Sender>>,
    /// The names that documents can refer to.
    pub context: ScenarioContext,
    /// The clock of steps.
    pub clock: Arc<dyn Clock>,
    /// Ends all scenarios.
    pub shutdown: Shutdown,
}

//! The node as scenarios act on it.

use std::sync::Arc;

use tetrad_chain::{Chain, TransactionSender};
use tetrad_exchange::{Market, feed::SourceSet};
use tetrad_network::network::Network;
use tetrad_stdx::clock::Clock;
use tetrad_web::{Faults, Shutdown};

use super::context::ScenarioContext;

/// The parts of a node that scenarios act on.
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
    pub owner: Arc<TransactionSender>,
    /// The development accounts.
    pub accounts: Vec<Arc<TransactionSender>>,
    /// The names that documents can refer to.
    pub context: ScenarioContext,
    /// The clock of steps.
    pub clock: Arc<dyn Clock>,
    /// Ends all scenarios.
    pub shutdown: Shutdown,
}

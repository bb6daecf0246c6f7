//! Access to the crate's modules for its own tests, benchmarks and fuzz targets. No part of the
//! public interface: any version may change it.

use std::sync::Arc;

use alloy_primitives::Address;

use crate::{Config, Node, SpawnError, chain::Chain, clock::Clock, sources::KnownContracts};

pub mod activity {
    pub use crate::activity::*;
}

pub mod block {
    pub use crate::block::*;
}

pub mod chain {
    pub use crate::chain::*;
}

pub mod cli {
    pub use crate::cli::*;
}

/// The source of time.
pub mod clock {
    pub use crate::clock::*;
}

pub mod cluster {
    pub use crate::cluster::*;
}

pub mod codec {
    pub use crate::codec::*;
}

/// Calls that failed lately.
pub mod failed_calls {
    pub use crate::failed_calls::*;
}

pub mod console {
    pub use crate::console::*;
}

pub mod contracts {
    pub use crate::contracts::*;
}

pub mod cosmos {
    pub use crate::cosmos::*;
}

pub mod decimal {
    pub use crate::decimal::*;
}

pub mod evm {
    pub use crate::evm::*;
}

pub mod exchange {
    pub use crate::exchange::*;
}

pub mod explorer {
    pub use crate::explorer::*;
}

pub mod fork {
    pub use crate::fork::*;
}

pub mod genesis {
    pub use crate::genesis::*;
}

pub mod index {
    pub use crate::index::*;
}

pub mod lending {
    pub use crate::lending::*;
}

pub mod log {
    pub use crate::log::*;
}

pub mod metrics {
    pub use crate::metrics::*;
}

pub mod network {
    pub use crate::network::*;
}

pub mod redact {
    pub use crate::redact::*;
}

pub mod rpc {
    pub use crate::rpc::*;
}

pub mod scenario {
    pub use crate::scenario::*;
}

pub mod site {
    pub use crate::site::*;
}

pub mod sources {
    pub use crate::sources::*;
}

pub mod state {
    pub use crate::state::*;
}

pub mod storage {
    pub use crate::storage::*;
}

pub mod store {
    pub use crate::store::*;
}

pub mod tls {
    pub use crate::tls::*;
}

pub mod web {
    pub use crate::web::*;
}

impl Node {
    /// Starts a node whose time comes from `clock`.
    ///
    /// # Errors
    /// As [`Node::spawn`].
    pub async fn spawn_with_clock(
        config: Config,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SpawnError> {
        Self::start(config, clock).await
    }

    /// Returns the chain.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Returns the contracts whose sources are known.
    pub fn known(&self) -> &KnownContracts {
        &self.known
    }

    /// Returns the account that updates prices.
    pub fn updater(&self) -> Address {
        self.updater
    }

    /// Returns the configuration of the node.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

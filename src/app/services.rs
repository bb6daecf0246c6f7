//! The parts that the interfaces of a node share.

use std::{path::Path, sync::Arc, time::Duration};

use alloy_primitives::B256;
use axum::Router;
use tetrad_chain::{Chain, TransactionSender};
use tetrad_cluster::Cluster;
use tetrad_contracts::sources::{KnownContracts, Verifier};
use tetrad_exchange::{self, Exchange, ManualPrices, Market, ShareHolds, feed::SourceSet};
use tetrad_explorer::index::Index;
use tetrad_lending::faucet::{Faucet, FaucetSetup};
use tetrad_network::network::Network;
use tetrad_rpc::fork::ChainForks;
use tetrad_stdx::clock::Clock;
use tetrad_store::storage::Storage;
use tetrad_web::{AdminToken, Capacity, Execution, Faults, Shutdown};
use zeroize::Zeroizing;

use super::{SpawnError, cluster::OtherHolds, timer};
use crate::config::{Config, Profile};

/// The clients that may use the routes which administer the node.
#[derive(Clone, Copy, Debug)]
pub(super) enum AdminAccess {
    /// None: the routes do not exist.
    Nobody,
    /// All clients, as for the other methods of the development profile.
    Everybody,
    /// Clients with the token.
    Token(AdminToken),
}

impl AdminAccess {
    /// Reads the token, if there is one.
    pub(super) fn of(config: &Config) -> Result<Self, SpawnError> {
        match &config.admin_token_file {
            Some(file) => read_token(file).map(Self::Token).map_err(|what| {
                SpawnError::Key(format!("admin-token-file: {}: {what}", file.display()))
            }),
            None if config.profile == Profile::Development => Ok(Self::Everybody),
            None => Ok(Self::Nobody),
        }
    }

    /// Whether the routes exist.
    pub(super) fn is_open(self) -> bool {
        !matches!(self, Self::Nobody)
    }

    /// Whether clients need the token.
    pub(super) fn requires_token(self) -> bool {
        matches!(self, Self::Token(_))
    }

    /// Protects the routes of a router.
    pub(super) fn protect(self, router: Router) -> Router {
        match self {
            Self::Token(token) => token.protect(router),
            Self::Nobody | Self::Everybody => router,
        }
    }
}

fn read_token(file: &Path) -> Result<AdminToken, String> {
    let text = std::fs::read_to_string(file)
        .map(Zeroizing::new)
        .map_err(|error| error.to_string())?;
    AdminToken::parse(&text)
}

/// The parts that interfaces share.
pub(super) struct Services {
    pub(super) chain: Chain,
    /// The index of addresses; none without the explorer API.
    pub(super) index: Option<Index>,
    /// Contracts whose sources are known.
    pub(super) known: KnownContracts,
    pub(super) verifier: Verifier,
    pub(super) cluster: Option<Cluster>,
    pub(super) network: Arc<Network>,
    /// Files of the data directory.
    pub(super) storage: Option<Arc<dyn Storage>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) forks: Arc<ChainForks>,
    /// The capacity that the requests of all listeners share.
    pub(super) capacity: Capacity,
    /// The threads that execute.
    pub(super) execution: Arc<Execution>,
    pub(super) faults: Faults,
    /// The access to the routes that administer the node.
    pub(super) admin: AdminAccess,
    pub(super) shutdown: Shutdown,
}

impl Services {
    /// Returns the exchange and starts the tasks that update its prices. With the key of the
    /// contracts' owner prices can be set by hand.
    pub(super) fn exchange(
        &self,
        config: &Config,
        sources: Arc<SourceSet>,
        owner: Option<Arc<TransactionSender>>,
    ) -> Exchange {
        let tick = config.exchange.price_tick;
        let market = Market::new(
            self.chain.clone(),
            self.network.clone(),
            config.seed,
            tick.is_some(),
            self.storage.clone(),
        );

        tokio::spawn(tetrad_exchange::follow(
            market.clone(),
            self.shutdown.clone(),
        ));
        if self.storage.is_some() {
            tokio::spawn(tetrad_exchange::keep(market.clone(), self.shutdown.clone()));
        }
        if let Some(tick) = tick {
            self.update_prices(tick, &sources);
        }

        let others = self.cluster.clone().map(|cluster| {
            // Another node may lead next, and then asks the sources itself.
            let sources = sources.clone();
            cluster.follow_held_prices(move |token, price| sources.manual().hold(token, price));
            Arc::new(OtherHolds(cluster)) as Arc<dyn ShareHolds>
        });

        let manual_prices = ManualPrices::new(self.network.clone(), sources, owner, others);
        Exchange::new(
            market,
            manual_prices,
            config.exchange.price_tick,
            config.max_sockets_per_client,
            self.clock.clone(),
            self.shutdown.clone(),
        )
    }

    /// Starts the tasks that wake the chain for each tick and contact the sources of prices.
    fn update_prices(&self, tick: Duration, sources: &Arc<SourceSet>) {
        tokio::spawn(timer::prices(
            self.chain.clone(),
            tick,
            self.shutdown.clone(),
        ));

        if self.cluster.is_some() {
            // Only the leader asks the sources: the others see its blocks.
            tokio::spawn(timer::sources(
                self.chain.clone(),
                sources.clone(),
                self.shutdown.clone(),
            ));
        } else {
            sources.start(&self.shutdown).detach_all();
        }
    }

    /// Returns the faucet, which pays from the account of `treasury`.
    pub(super) fn faucet(
        &self,
        config: &Config,
        treasury: Arc<TransactionSender>,
        secret: B256,
        has_tokens: bool,
    ) -> Faucet {
        Faucet::new(FaucetSetup {
            chain: self.chain.clone(),
            network: self.network.clone(),
            has_tokens,
            sender: treasury,
            secret,
            config: config.faucet.clone(),
        })
    }
}

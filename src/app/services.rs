//! Which interfaces a node has, and what they are served from.

use std::sync::Arc;

use axum::Router;

use super::{network_info, price_timer, probes};
use crate::{
    account::SecretKey,
    activity::Activity,
    chain::{Chain, Clock, Keyring},
    config::Config,
    cosmos::Gateway,
    exchange::{self, Desk, Exchange, Market, feed::Panel},
    lending::Lending,
    network::Network,
    rpc::{self, Rpc},
    web::{self, ClientAddresses, ClientSlots, RateLimit, Shutdown},
};

/// What the interfaces are made of.
pub(super) struct Services {
    pub(super) chain: Chain,
    pub(super) network: Arc<Network>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) shutdown: Shutdown,
}

impl Services {
    /// The exchange, with what keeps its prices moving. With the key of the contracts' owner prices may be set by hand.
    pub(super) fn exchange(&self, config: &Config, panel: Arc<Panel>, owner: Option<SecretKey>) -> Exchange {
        let tick = config.exchange.price_tick;
        let market = Market::new(self.chain.clone(), self.network.clone(), config.seed, tick.is_some());
        tokio::spawn(exchange::follow(market.clone(), self.shutdown.clone()));
        if let Some(tick) = tick {
            tokio::spawn(price_timer::run(self.chain.clone(), tick, self.shutdown.clone()));
            panel.start(&self.shutdown);
        }
        let desk = Desk::new(self.chain.clone(), self.network.clone(), panel, owner);
        Exchange::new(market, desk, &config.exchange, self.clock.clone(), self.shutdown.clone())
    }

    /// All routes of the main listener.
    pub(super) fn router(&self, config: &Config, keyring: Arc<Keyring>, exchange: Option<&Exchange>) -> Router {
        let (chain, network) = (self.chain.clone(), self.network.clone());
        let rpc = Rpc::new(chain.clone(), keyring, config.rpc.clone());
        let market = exchange.map(|exchange| exchange.market().clone());
        let addresses = ClientAddresses::new(config.exchange.trusted_proxies.clone());
        let sockets = ClientSlots::new(config.exchange.max_sockets_per_client);
        let gateway = Gateway::new(chain.clone(), network.clone(), addresses.clone(), sockets, self.shutdown.clone());
        let (cosmos, mut operations) = gateway.router();
        let (probes, described) = probes::router(chain.clone(), market);
        operations.extend(described);
        let mut router = rpc::router(rpc, self.shutdown.clone()).merge(cosmos).merge(probes);
        if let Some(exchange) = exchange {
            let limited = |limit, routes| RateLimit::protect(limit, addresses.clone(), self.clock.clone(), routes);
            let parts = [
                exchange.router(),
                limited(config.exchange.rate_limit, Activity::new(chain.clone(), network.clone()).router()),
                limited(config.lending_rate_limit, Lending::new(chain, network, self.clock.clone()).router()),
                network_info::router(&self.network, self.chain.params().chain_id),
            ];
            for (routes, described) in parts {
                router = router.merge(routes);
                operations.extend(described);
            }
        }
        router = router.merge(web::openapi_router("tetrad", operations));
        router.layer(web::cors())
    }
}

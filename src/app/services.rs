//! Which interfaces a node has, and what they are served from.

use std::sync::Arc;

use axum::Router;

use super::{network_info, price_timer, probes};
use crate::{
    chain::{Chain, Clock, Keyring},
    config::Config,
    cosmos,
    exchange::{self, Exchange, Market},
    lending::Lending,
    network::Network,
    rpc::{self, Rpc},
    site::Site,
    web::{self, ClientAddresses, RateLimit, Shutdown},
};

/// What the interfaces are made of.
pub(super) struct Services {
    pub(super) chain: Chain,
    pub(super) network: Arc<Network>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) shutdown: Shutdown,
}

impl Services {
    /// The exchange, with what keeps its prices moving; none on another chain than the network's.
    pub(super) fn exchange(&self, config: &Config) -> Option<Exchange> {
        if config.genesis.is_some() {
            return None;
        }
        let tick = config.exchange.price_tick;
        let market = Market::new(self.chain.clone(), self.network.clone(), config.seed, tick.is_some());
        tokio::spawn(exchange::follow(market.clone(), self.shutdown.clone()));
        if let Some(tick) = tick {
            tokio::spawn(price_timer::run(self.chain.clone(), tick, self.shutdown.clone()));
        }
        Some(Exchange::new(market, &config.exchange, self.clock.clone(), self.shutdown.clone()))
    }

    /// All routes of the main listener.
    pub(super) fn router(&self, config: &Config, keyring: Arc<Keyring>, exchange: Option<&Exchange>) -> Router {
        let (chain, network) = (self.chain.clone(), self.network.clone());
        let rpc = Rpc::new(chain.clone(), keyring, config.rpc.clone());
        let market = exchange.map(|exchange| exchange.market().clone());
        let (json_rpc, site) = (rpc::service(rpc, self.shutdown.clone()), Site::default());
        let mut router = Router::new()
            .route("/rpc", json_rpc.clone())
            .route("/", site.before(json_rpc))
            .merge(site.router())
            .merge(cosmos::router(chain.clone(), network.clone()))
            .merge(probes::router(chain.clone(), market));
        if let Some(exchange) = exchange {
            let addresses = ClientAddresses::new(config.exchange.trusted_proxies.clone());
            let lending = Lending::new(chain, network, self.clock.clone()).router();
            let lending = RateLimit::protect(config.lending_rate_limit, addresses, self.clock.clone(), lending);
            router = router
                .merge(exchange.router())
                .merge(lending)
                .merge(network_info::router(&self.network, self.chain.params().chain_id));
        }
        router.layer(web::cors())
    }
}

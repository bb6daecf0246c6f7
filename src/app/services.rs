//! Which interfaces a node has, and what they are served from.

use std::sync::Arc;

use axum::Router;

use super::{
    metrics,
    metrics::{Produced, Sources},
    network_info, price_timer, probes,
};
use crate::{
    chain::{Chain, Clock, Keyring},
    config::{Config, MetricsAt},
    cosmos,
    exchange::{self, Exchange, Market},
    lending::Lending,
    network::Network,
    rpc::{self, Rpc},
    site::Site,
    web::{self, ClientAddresses, RateLimit, Shutdown, Traffic},
};

/// What the listeners serve.
pub(super) struct Routers {
    /// The main one.
    pub(super) main: Router,
    /// The one for metrics, if they have their own.
    pub(super) metrics: Router,
}

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

    /// All routes.
    pub(super) fn routers(&self, config: &Config, keyring: Arc<Keyring>, exchange: Option<&Exchange>) -> Routers {
        let (chain, network) = (self.chain.clone(), self.network.clone());
        let rpc = Rpc::new(chain.clone(), keyring, config.rpc.clone());
        let market = exchange.map(|exchange| exchange.market().clone());
        let mut traffic = Vec::new();
        let mut counted = |interface, router| {
            let counter = Traffic::new(interface, config.rpc.slow);
            traffic.push(counter.clone());
            counter.count(router)
        };
        let (json_rpc, site) = (rpc::service(rpc.clone(), self.shutdown.clone()), Site::default());
        let mut router = Router::new()
            .route("/rpc", json_rpc.clone())
            .route("/", site.before(json_rpc))
            .merge(counted("site", site.router()))
            .merge(counted("cosmos", cosmos::router(chain.clone(), network.clone())))
            .merge(probes::router(chain.clone(), market));
        if let Some(exchange) = exchange {
            let addresses = ClientAddresses::new(config.exchange.trusted_proxies.clone());
            let lending = Lending::new(chain.clone(), network, self.clock.clone()).router();
            let lending = RateLimit::protect(config.lending_rate_limit, addresses, self.clock.clone(), lending);
            router = router
                .merge(counted("exchange", exchange.router()))
                .merge(counted("lending", lending))
                .merge(network_info::router(&self.network, self.chain.params().chain_id));
        }
        let produced = Arc::<Produced>::default();
        tokio::spawn(produced.clone().follow(chain.clone(), self.shutdown.clone()));
        let (clock, exchange) = (self.clock.clone(), exchange.cloned());
        let started_ms = clock.now_ms();
        let metrics = metrics::router(Sources { chain, rpc, exchange, traffic, produced, clock, started_ms });
        if config.metrics == MetricsAt::Beside {
            router = router.merge(metrics.clone());
        }
        Routers { main: router.layer(web::cors()), metrics }
    }
}

//! The interfaces of a node and their routes.

use std::sync::Arc;

use axum::Router;

use super::{cluster::OtherHolds, metrics, metrics::Sources, network_info, probes, timer};
use crate::{
    account::SecretKey,
    activity::Activity,
    chain::{Chain, Clock, Keyring},
    cluster::Cluster,
    config::{Config, MetricsAt},
    cosmos::Gateway,
    exchange::{self, Exchange, ManualPrices, Market, ShareHolds, feed::SourceSet},
    fork::ChainForks,
    lending::Lending,
    network::Network,
    rpc::{self, Direct, Rpc, RpcConfig},
    site::Site,
    storage::Storage,
    web::{self, ClientAddresses, Front, Operation, RateLimit, Shutdown, Traffic},
};

/// The routes of the listeners.
pub(super) struct Routers {
    /// Routes of the main listener.
    pub(super) main: Front,
    /// Routes of the separate listener of metrics.
    pub(super) metrics: Router,
}

/// The parts that interfaces share.
pub(super) struct Services {
    pub(super) chain: Chain,
    pub(super) cluster: Option<Cluster>,
    pub(super) network: Arc<Network>,
    /// Files of the data directory.
    pub(super) storage: Option<Arc<dyn Storage>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) forks: Arc<ChainForks>,
    pub(super) shutdown: Shutdown,
}

impl Services {
    /// Returns the exchange and starts the tasks that update its prices. With the key of the contracts' owner prices can be
    /// set by hand.
    pub(super) fn exchange(&self, config: &Config, sources: Arc<SourceSet>, owner: Option<SecretKey>) -> Exchange {
        let tick = config.exchange.price_tick;
        let kept = self.storage.clone();
        let market = Market::new(self.chain.clone(), self.network.clone(), config.seed, tick.is_some(), kept);
        tokio::spawn(exchange::follow(market.clone(), self.shutdown.clone()));
        if self.storage.is_some() {
            tokio::spawn(exchange::keep(market.clone(), self.shutdown.clone()));
        }
        if let Some(tick) = tick {
            tokio::spawn(timer::prices(self.chain.clone(), tick, self.shutdown.clone()));
            match &self.cluster {
                // Only the leader asks the sources: the others see its blocks.
                Some(_) => {
                    drop(tokio::spawn(timer::sources(self.chain.clone(), sources.clone(), self.shutdown.clone())))
                }
                None => sources.start(&self.shutdown).detach_all(),
            }
        }
        let others = self.cluster.clone().map(|cluster| {
            let held = sources.clone();
            cluster.follow_holds(move |token, price| held.manual().hold(token, price));
            Arc::new(OtherHolds(cluster)) as Arc<dyn ShareHolds>
        });
        let manual_prices = ManualPrices::new(self.chain.clone(), self.network.clone(), sources, owner, others);
        Exchange::new(market, manual_prices, &config.exchange, self.clock.clone(), self.shutdown.clone())
    }

    /// Returns all routes.
    pub(super) fn routers(&self, config: &Config, keyring: Arc<Keyring>, exchange: Option<&Exchange>) -> Routers {
        let (chain, network) = (self.chain.clone(), self.network.clone());
        let addresses = ClientAddresses::new(config.exchange.trusted_proxies.clone());
        let (gas_limit, known) = (config.gas_limit, addresses.clone());
        let rpc_config = RpcConfig { gas_limit, addresses: known, ..config.rpc.clone() };
        let rpc_sockets = rpc::web_sockets(&rpc_config, self.shutdown.clone());
        let rpc = Rpc::new(chain.clone(), keyring, rpc_config, Some(self.forks.clone()));
        let market = exchange.map(|exchange| exchange.market().clone());
        let mut traffic = Vec::new();
        let mut operations: Vec<Operation> = Vec::new();
        let mut counted = |interface, router| {
            let counter = Traffic::new(interface, config.rpc.slow);
            traffic.push(counter.clone());
            counter.count(router)
        };
        let mut described = |(router, described): (Router, Vec<Operation>)| {
            operations.extend(described);
            router
        };
        let per_client = config.exchange.max_sockets_per_client;
        let gateway =
            Gateway::new(chain.clone(), network.clone(), addresses.clone(), per_client, self.shutdown.clone());
        let comet = gateway.clone();
        let comet = Arc::new(move |body: &[u8]| comet.answer(body));
        let (shared, site) = (rpc.beside(comet), Site::default());
        let json_rpc = |rpc: &Rpc| rpc::service(rpc.clone(), rpc_sockets.clone());
        let mut router = Router::new()
            .route("/rpc", json_rpc(&rpc))
            .route("/", site.before(json_rpc(&shared)))
            .merge(counted("site", site.router()))
            .merge(counted("cosmos", described(gateway.router())))
            .merge(described(probes::router(chain.clone(), self.cluster.clone(), market)));
        if let Some(exchange) = exchange {
            let limited = |limit, routes| RateLimit::protect(limit, addresses.clone(), self.clock.clone(), routes);
            let activity = Activity::new(chain.clone(), network.clone()).router();
            let lending = Lending::new(chain.clone(), network.clone(), self.clock.clone()).router();
            router = router
                .merge(counted("exchange", described(exchange.router())))
                .merge(counted("activity", described(limited(config.exchange.rate_limit, activity))))
                .merge(counted("lending", described(limited(config.lending_rate_limit, lending))))
                .merge(described(network_info::router(network, chain.clone())));
        }
        operations.extend(rpc::operations());
        let direct = Direct(vec![("/", shared), ("/rpc", rpc.clone())]);
        let (clock, exchange) = (self.clock.clone(), exchange.cloned());
        let (started_ms, data_dir) = (clock.now_ms(), config.data_dir.clone());
        let sockets = [Some(&rpc_sockets), Some(gateway.sockets()), exchange.as_ref().map(Exchange::sockets)];
        let sockets = sockets.into_iter().flatten().cloned().collect();
        let cluster = self.cluster.clone();
        let sources = Sources { chain, cluster, rpc, exchange, sockets, traffic, clock, started_ms, data_dir };
        let (metrics, described) = metrics::router(sources);
        if config.metrics == MetricsAt::Beside {
            router = router.merge(metrics.clone());
            operations.extend(described);
        }
        router = router.merge(web::openapi_router("tetrad", operations));
        Routers { main: Front::new(web::with_cors(router, &config.origins), Arc::new(direct)), metrics }
    }
}

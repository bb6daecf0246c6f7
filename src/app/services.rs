//! The interfaces of a node and their routes.

use std::sync::Arc;

use axum::{Router, routing::any};
use futures_util::future::BoxFuture;
use tetrad_chain::{Chain, Keyring, Sender};
use tetrad_cluster::Cluster;
use tetrad_contracts::sources::{KnownContracts, Verifier};
use tetrad_cosmos::Gateway;
use tetrad_exchange::{self, Exchange, ManualPrices, Market, ShareHolds, feed::SourceSet};
use tetrad_explorer::{explorer::Explorer, index::Index};
use tetrad_lending::{
    activity::Activity,
    faucet::{self, Faucet, FaucetSetup},
    lending::Lending,
};
use tetrad_network::network::Network;
use tetrad_page::Site;
use tetrad_rpc::{
    fork::ChainForks,
    rpc::{self, Direct, Rpc, RpcConfig},
};
use tetrad_stdx::clock::Clock;
use tetrad_store::storage::Storage;
use tetrad_web::{
    self, AdminToken, Answer, Capacity, Execution, Faults, Front, Operation, RateLimit, Shutdown,
    Traffic,
};
use zeroize::Zeroizing;

use super::{
    SpawnError, addresses::Addresses, cluster::OtherHolds, metrics, metrics::Sources, network_info,
    openapi, probes, timer,
};
use crate::{
    config::{Config, MetricsAt, Profile},
    scenario::{self, Scenarios},
};

/// The routes of the listeners.
pub(super) struct Routers {
    /// Routes of the main listener.
    pub(super) main: Front,
    /// Routes of the separate listener of metrics.
    pub(super) metrics: Router,
    /// Routes of the separate listener of CometBFT's interface.
    pub(super) comet: Router,
    /// Routes of the separate listener of the Cosmos gateway.
    pub(super) cosmos_rest: Router,
    /// Routes of the separate listener of gRPC.
    pub(super) grpc: Router,
}

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
            Some(file) => {
                let failed = |what: String| {
                    SpawnError::Key(format!("admin-token-file: {}: {what}", file.display()))
                };
                let text = std::fs::read_to_string(file).map(Zeroizing::new);
                let text = text.map_err(|error| failed(error.to_string()))?;
                AdminToken::parse(&text).map(Self::Token).map_err(failed)
            }
            None if config.profile == Profile::Development => Ok(Self::Everybody),
            None => Ok(Self::Nobody),
        }
    }

    /// Whether the routes exist.
    pub(super) fn is_open(self) -> bool {
        !matches!(self, Self::Nobody)
    }

    /// Whether clients need the token.
    fn requires_token(self) -> bool {
        matches!(self, Self::Token(_))
    }

    /// Protects the routes of a router.
    fn protect(self, router: Router) -> Router {
        match self {
            Self::Token(token) => token.protect(router),
            Self::Nobody | Self::Everybody => router,
        }
    }
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
    /// What the requests of all listeners share.
    pub(super) capacity: Capacity,
    /// The threads that execute.
    pub(super) execution: Arc<Execution>,
    pub(super) faults: Faults,
    /// Who may use the routes that administer the node.
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
        owner: Option<Arc<Sender>>,
    ) -> Exchange {
        let tick = config.exchange.price_tick;
        let kept = self.storage.clone();
        let market = Market::new(
            self.chain.clone(),
            self.network.clone(),
            config.seed,
            tick.is_some(),
            kept,
        );
        tokio::spawn(tetrad_exchange::follow(
            market.clone(),
            self.shutdown.clone(),
        ));
        if self.storage.is_some() {
            tokio::spawn(tetrad_exchange::keep(market.clone(), self.shutdown.clone()));
        }
        if let Some(tick) = tick {
            tokio::spawn(timer::prices(
                self.chain.clone(),
                tick,
                self.shutdown.clone(),
            ));
            match &self.cluster {
                // Only the leader asks the sources: the others see its blocks.
                Some(_) => drop(tokio::spawn(timer::sources(
                    self.chain.clone(),
                    sources.clone(),
                    self.shutdown.clone(),
                ))),
                None => sources.start(&self.shutdown).detach_all(),
            }
        }
        let others = self.cluster.clone().map(|cluster| {
            let held = sources.clone();
            cluster.follow_holds(move |token, price| held.manual().hold(token, price));
            Arc::new(OtherHolds(cluster)) as Arc<dyn ShareHolds>
        });
        let manual_prices = ManualPrices::new(self.network.clone(), sources, owner, others);
        Exchange::new(
            market,
            manual_prices,
            &config.exchange,
            self.clock.clone(),
            self.shutdown.clone(),
        )
    }

    /// Returns the faucet, which pays from the treasury's account.
    pub(super) fn faucet(
        &self,
        config: &Config,
        treasury: Arc<Sender>,
        has_tokens: bool,
    ) -> Faucet {
        Faucet::new(FaucetSetup {
            chain: self.chain.clone(),
            network: self.network.clone(),
            has_tokens,
            sender: treasury,
            config: config.faucet.clone(),
        })
    }

    /// Returns all routes.
    pub(super) fn routers(
        &self,
        config: &Config,
        listening: &Addresses,
        keyring: Arc<Keyring>,
        exchange: Option<&Exchange>,
        scenarios: &Scenarios,
        faucet: Faucet,
    ) -> Routers {
        let (chain, network) = (self.chain.clone(), self.network.clone());
        let rpc_config = RpcConfig {
            gas_limit: config.gas_limit,
            ..config.rpc.clone()
        };
        let rpc_sockets = rpc::web_sockets(&rpc_config, self.shutdown.clone());
        let rpc = Rpc::new(
            chain.clone(),
            keyring,
            rpc_config,
            self.known.clone(),
            Some(self.forks.clone()),
            self.execution.clone(),
        );
        let market = exchange.map(|exchange| exchange.market().clone());
        let cosmos_traffic = Traffic::new("cosmos", config.rpc.slow);
        let mut traffic = vec![cosmos_traffic.clone()];
        let cosmos = |router| cosmos_traffic.count(self.faults.affect(router, None));
        let mut operations: Vec<Operation> = Vec::new();
        let mut counted = |interface, router| {
            let counter = Traffic::new(interface, config.rpc.slow);
            traffic.push(counter.clone());
            // Requests that fail because of a fault are counted, too.
            counter.count(self.faults.affect(router, None))
        };
        let mut described = |(router, described): (Router, Vec<Operation>)| {
            operations.extend(described);
            router
        };
        let per_client = config.exchange.max_sockets_per_client;
        let gateway = Gateway::new(
            chain.clone(),
            network.clone(),
            per_client,
            self.shutdown.clone(),
        );
        let comet = gateway.clone();
        let comet = Arc::new(move |body: &[u8]| comet.answer(body));
        let (shared, site) = (rpc.beside(comet), Site::default());
        let json_rpc = |rpc: &Rpc| rpc::service(rpc.clone(), rpc_sockets.clone());
        let rpc_router = tetrad_web::at_interface_path(Router::new(), "/rpc", json_rpc(&rpc));
        let rpc_router = rpc_router.route("/", site.before(json_rpc(&shared)));
        let graphql = tetrad_web::at_interface_path(
            Router::new(),
            "/graphql",
            rpc::graphql_service(rpc.clone()),
        );
        let mut router = self
            .faults
            .affect(rpc_router, None)
            .merge(counted("graphql", graphql))
            .merge(counted("site", site.router()))
            .merge(cosmos(described(gateway.router())))
            .merge(described(probes::router(
                chain.clone(),
                self.cluster.clone(),
                market,
            )));
        let limited = |limit, routes| RateLimit::protect(limit, self.clock.clone(), routes);
        let faucet = limited(config.exchange.rate_limit, faucet::router(faucet));
        router = router.merge(counted("faucet", described(faucet)));
        if let Some(exchange) = exchange {
            let activity = Activity::new(chain.clone(), network.clone()).router();
            let lending = Lending::new(chain.clone(), network.clone(), self.clock.clone()).router();
            router = router
                .merge(counted(
                    "exchange",
                    self.admin.protect(described(exchange.router())),
                ))
                .merge(counted(
                    "activity",
                    described(limited(config.exchange.rate_limit, activity)),
                ))
                .merge(counted(
                    "lending",
                    described(limited(config.lending_rate_limit, lending)),
                ))
                .merge(self.faults.affect(
                    described(network_info::router(
                        network,
                        chain.clone(),
                        listening.clone(),
                    )),
                    None,
                ));
        }
        if let Some(index) = &self.index {
            let (own, rpc) = (self.network.clone(), rpc.clone());
            let json_rpc = move |body: Vec<u8>| -> BoxFuture<'static, Answer> {
                let rpc = rpc.clone();
                Box::pin(async move { rpc.answer(&body.into()).await })
            };
            let (known, verifier) = (self.known.clone(), self.verifier.clone());
            let explorer = Explorer::new(
                self.chain.clone(),
                index.clone(),
                own,
                known,
                verifier,
                Arc::new(json_rpc),
            );
            router = router.merge(counted("explorer", described(explorer.router())));
        } else {
            router = router.route("/api", any(tetrad_web::not_found));
        }
        // The other nodes of a cluster would know nothing of a scenario.
        if self.admin.is_open() && self.cluster.is_none() {
            router = router.merge(
                self.admin
                    .protect(described(scenario::router(scenarios.clone()))),
            );
        }
        operations.extend(rpc::operations());
        operations.push(rpc::graphql_operation());
        let direct = Direct(vec![("/", shared), ("/rpc", rpc.clone())]);
        let (clock, exchange) = (self.clock.clone(), exchange.cloned());
        let (started_ms, data_dir) = (clock.now_ms(), config.data_dir.clone());
        let sockets = [
            Some(&rpc_sockets),
            Some(gateway.sockets()),
            exchange.as_ref().map(Exchange::sockets),
        ];
        let sockets = sockets.into_iter().flatten().cloned().collect();
        let cluster = self.cluster.clone();
        let sources = Sources {
            chain,
            cluster,
            rpc,
            exchange,
            sockets,
            traffic,
            clock,
            started_ms,
            data_dir,
        };
        let (metrics, described) = metrics::router(sources);
        if config.metrics == MetricsAt::Beside {
            router = router.merge(metrics.clone());
            operations.extend(described);
        }
        router = router.merge(tetrad_web::openapi_router(
            &openapi::info(self.admin.requires_token()),
            operations,
        ));
        let grpc = cosmos(gateway.grpc_router());
        let router = Gateway::beside(grpc.clone(), router);
        let front = Front::new(
            tetrad_web::with_cors(router, &config.origins),
            Arc::new(direct),
        );
        Routers {
            main: front.with_faults(self.faults.clone()),
            metrics,
            comet: cosmos(gateway.comet_router()),
            cosmos_rest: cosmos(gateway.rest_router()),
            grpc,
        }
    }
}

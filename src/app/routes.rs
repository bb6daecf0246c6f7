//! The routes of a node's listeners.

use std::{mem, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::{Method, StatusCode, header},
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::any,
};
use futures_util::future::BoxFuture;
use tetrad_chain::Keyring;
use tetrad_cosmos::Gateway;
use tetrad_exchange::Exchange;
use tetrad_explorer::{explorer::Explorer, index::Index};
use tetrad_lending::{
    activity::Activity,
    faucet::{self, Faucet},
    lending::Lending,
};
use tetrad_page::Site;
use tetrad_rpc::{
    beacon,
    rpc::{self, Direct, Rpc, RpcConfig},
};
use tetrad_web::{
    self, Answer, Faults, Front, Operation, RateLimit, Traffic, WebSockets, at_interface_path,
};

use super::{
    addresses::Addresses,
    metrics::{self, Sources},
    network_info, openapi, probes,
    services::Services,
};
use crate::{
    config::{Config, MetricsAt},
    scenario::{self, Scenarios},
};

/// The type of a page.
const HTML: &[u8] = b"text/html";

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

/// Routes and their description in the OpenAPI document.
type DescribedRoutes = (Router, Vec<Operation>);

/// The routes of the main listener, as they are put together. Descriptions and metrics keep the
/// order in which interfaces are added.
struct MainRoutes {
    router: Router,
    operations: Vec<Operation>,
    traffic: Vec<Traffic>,
    faults: Faults,
    /// Requests that take longer are logged.
    slow: Option<Duration>,
}

impl MainRoutes {
    fn new(faults: Faults, slow: Option<Duration>) -> Self {
        Self {
            router: Router::new(),
            operations: Vec::new(),
            traffic: Vec::new(),
            faults,
            slow,
        }
    }

    /// Adds routes.
    fn add(&mut self, (router, operations): DescribedRoutes) {
        self.router = mem::take(&mut self.router).merge(router);
        self.operations.extend(operations);
    }

    /// Adds routes that suffer faults.
    fn add_exposed(&mut self, (router, operations): DescribedRoutes) {
        let router = self.faults.affect(router, None);
        self.add((router, operations));
    }

    /// Adds an interface, whose routes suffer faults and whose requests are counted.
    fn add_interface(&mut self, name: &'static str, routes: DescribedRoutes) {
        let traffic = self.traffic(name);
        self.add_counted(&traffic, routes);
    }

    /// Adds routes of an interface whose traffic other listeners count as well.
    fn add_counted(&mut self, traffic: &Traffic, (router, operations): DescribedRoutes) {
        let router = counted(traffic, &self.faults, router);
        self.add((router, operations));
    }

    /// Returns a new counter of an interface's requests, which the metrics show.
    fn traffic(&mut self, interface: &'static str) -> Traffic {
        let traffic = Traffic::new(interface, self.slow);
        self.traffic.push(traffic.clone());
        traffic
    }
}

/// Has the requests of a router suffer faults, and counts them. Requests that fail because of a
/// fault are counted, too.
fn counted(traffic: &Traffic, faults: &Faults, router: Router) -> Router {
    traffic.count(faults.affect(router, None))
}

/// JSON-RPC, which has two addresses.
struct JsonRpc {
    /// The interface at `/rpc`.
    rpc: Rpc,
    /// The interface at `/`, which answers the methods of CometBFT as well.
    shared: Rpc,
    sockets: WebSockets,
}

impl JsonRpc {
    /// Returns its routes. At `/` browsers get the page instead. In the place of anvil, other clients
    /// get its answer.
    fn router(&self, site: &Site, anvil_conventions: bool) -> Router {
        let service = rpc::service(self.rpc.clone(), self.sockets.clone());
        let shared = rpc::service(self.shared.clone(), self.sockets.clone());
        let mut root = site.before(shared);
        if anvil_conventions {
            root = root.layer(from_fn(without_page));
        }
        at_interface_path(Router::new(), "/rpc", service).route("/", root)
    }

    fn graphql_router(&self) -> Router {
        let service = rpc::graphql_service(self.rpc.clone());
        at_interface_path(Router::new(), "/graphql", service)
    }

    /// Returns the routes behind those on which requests bypass the router, and JSON-RPC without
    /// HTTP on a Unix socket.
    fn front(&self, router: Router) -> Front {
        let direct = vec![("/", self.shared.clone()), ("/rpc", self.rpc.clone())];
        let front = Front::new(router, Arc::new(Direct(direct)));
        rpc::with_ipc(front, self.rpc.clone(), self.sockets.clone())
    }
}

/// Answers a request for the page as anvil answers any `GET` that is not an upgrade, unless a
/// browser asks. Some programs that start anvil take this answer for its sign of life.
async fn without_page(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let accepted = headers.get(header::ACCEPT);
    let is_browser = accepted.is_some_and(|accepted| {
        let mut bytes = accepted.as_bytes().windows(HTML.len());
        bytes.any(|bytes| bytes == HTML)
    });
    if request.method() != Method::GET || headers.contains_key(header::UPGRADE) || is_browser {
        return next.run(request).await;
    }

    let text = "Connection header did not include 'upgrade'";
    (StatusCode::BAD_REQUEST, text).into_response()
}

impl Services {
    /// Returns all routes.
    pub(super) fn routers(
        &self,
        config: &Config,
        addresses: &Addresses,
        keyring: Arc<Keyring>,
        exchange: Option<&Exchange>,
        scenarios: &Scenarios,
        faucet: Faucet,
    ) -> Routers {
        let gateway = Gateway::new(
            self.chain.clone(),
            self.network.clone(),
            config.max_sockets_per_client,
            self.shutdown.clone(),
        );
        let json_rpc = self.json_rpc(config, keyring, &gateway);
        let site = Site::new(&config.page);

        let mut routes = MainRoutes::new(self.faults.clone(), config.rpc.slow);
        // The gateway's own listeners share this counter with the main listener.
        let cosmos = routes.traffic("cosmos");

        routes.add_exposed(undescribed(
            json_rpc.router(&site, config.anvil_conventions),
        ));
        routes.add_interface("graphql", undescribed(json_rpc.graphql_router()));
        let beacon = beacon::router(self.chain.clone(), self.network.clone());
        routes.add_interface("beacon", beacon);
        routes.add_interface("site", undescribed(site.router()));
        routes.add_counted(&cosmos, gateway.router());
        // Faults never affect what looks after the node.
        routes.add(self.probes(exchange));
        let faucet = self.limited(config.rate_limit, faucet::router(faucet));
        routes.add_interface("faucet", faucet);

        if let Some(exchange) = exchange {
            self.add_exchange(&mut routes, config, addresses, exchange);
        }
        self.add_explorer(&mut routes, &json_rpc.rpc);

        // The other nodes of a cluster would know nothing of a scenario.
        if self.admin.is_open() && self.cluster.is_none() {
            routes.add(self.protected(scenario::router(scenarios.clone())));
        }
        routes.operations.extend(rpc::operations());
        routes.operations.push(rpc::graphql_operation());

        let traffic = mem::take(&mut routes.traffic);
        let (metrics, described) = self.metrics(config, &json_rpc, &gateway, exchange, traffic);
        if config.metrics == MetricsAt::Beside {
            routes.add((metrics.clone(), described));
        }

        // gRPC shares the address of the others: its requests differ by their content type.
        let grpc = counted(&cosmos, &self.faults, gateway.grpc_router());
        let main = Gateway::beside(grpc.clone(), self.main_router(routes));
        let main = tetrad_web::with_cors(site.around(main), &config.origins);
        Routers {
            main: json_rpc.front(main).with_faults(self.faults.clone()),
            metrics,
            comet: counted(&cosmos, &self.faults, gateway.comet_router()),
            cosmos_rest: counted(&cosmos, &self.faults, gateway.rest_router()),
            grpc,
        }
    }

    fn json_rpc(&self, config: &Config, keyring: Arc<Keyring>, gateway: &Gateway) -> JsonRpc {
        let config = RpcConfig {
            gas_limit: config.gas_limit,
            anvil_conventions: config.anvil_conventions,
            ..config.rpc.clone()
        };
        let sockets = rpc::web_sockets(&config, self.shutdown.clone());
        let rpc = Rpc::new(
            self.chain.clone(),
            keyring,
            config,
            self.known.clone(),
            Some(self.forks.clone()),
            self.execution.clone(),
        );

        let comet = gateway.clone();
        let comet = Arc::new(move |body: &[u8]| comet.answer(body));
        JsonRpc {
            shared: rpc.beside(comet),
            rpc,
            sockets,
        }
    }

    fn probes(&self, exchange: Option<&Exchange>) -> DescribedRoutes {
        let market = exchange.map(|exchange| exchange.market().clone());
        probes::router(self.chain.clone(), self.cluster.clone(), market)
    }

    /// Adds the interfaces that only a chain with the network's contracts has.
    fn add_exchange(
        &self,
        routes: &mut MainRoutes,
        config: &Config,
        addresses: &Addresses,
        exchange: &Exchange,
    ) {
        let chain = &self.chain;
        let network = &self.network;
        routes.add_interface(
            "exchange",
            self.protected(exchange.router(config.rate_limit)),
        );

        let activity = Activity::new(chain.clone(), network.clone()).router();
        let activity = self.limited(config.rate_limit, activity);
        routes.add_interface("activity", activity);

        let lending = Lending::new(chain.clone(), network.clone(), self.clock.clone()).router();
        let lending = self.limited(config.lending_rate_limit, lending);
        routes.add_interface("lending", lending);

        routes.add_exposed(network_info::router(
            network.clone(),
            chain.clone(),
            addresses.clone(),
        ));
    }

    /// Adds the explorer API. Without an index its path answers that there is none.
    fn add_explorer(&self, routes: &mut MainRoutes, rpc: &Rpc) {
        match &self.index {
            Some(index) => {
                routes.add_interface("explorer", self.explorer(index.clone(), rpc).router());
            }
            None => {
                let router = mem::take(&mut routes.router);
                routes.router = router.route("/api", any(tetrad_web::not_found));
            }
        }
    }

    /// Returns the explorer API, which passes some of its requests on to `rpc`.
    fn explorer(&self, index: Index, rpc: &Rpc) -> Explorer {
        let rpc = rpc.clone();
        Explorer::new(
            self.chain.clone(),
            index,
            self.network.clone(),
            self.known.clone(),
            self.verifier.clone(),
            Arc::new(move |body: Vec<u8>| -> BoxFuture<'static, Answer> {
                let rpc = rpc.clone();
                Box::pin(async move { rpc.answer(&body.into()).await })
            }),
        )
    }

    fn metrics(
        &self,
        config: &Config,
        json_rpc: &JsonRpc,
        gateway: &Gateway,
        exchange: Option<&Exchange>,
        traffic: Vec<Traffic>,
    ) -> DescribedRoutes {
        let sockets = [
            Some(&json_rpc.sockets),
            Some(gateway.sockets()),
            exchange.map(Exchange::sockets),
        ];
        metrics::router(Sources {
            chain: self.chain.clone(),
            cluster: self.cluster.clone(),
            rpc: json_rpc.rpc.clone(),
            forks: self.forks.clone(),
            exchange: exchange.cloned(),
            sockets: sockets.into_iter().flatten().cloned().collect(),
            traffic,
            clock: self.clock.clone(),
            started_ms: self.clock.now_ms(),
            data_dir: config.data_dir.clone(),
        })
    }

    /// Returns the routes together with the document that describes them.
    fn main_router(&self, routes: MainRoutes) -> Router {
        let info = openapi::info(self.admin.requires_token());
        routes
            .router
            .merge(tetrad_web::openapi_router(info, routes.operations))
    }

    /// Requires the admin token for the administrative ones of these routes, if there is a token.
    fn protected(&self, (router, operations): DescribedRoutes) -> DescribedRoutes {
        (self.admin.protect(router), operations)
    }

    fn limited(&self, limit: u32, routes: DescribedRoutes) -> DescribedRoutes {
        RateLimit::protect(limit, self.clock.clone(), routes)
    }
}

fn undescribed(router: Router) -> DescribedRoutes {
    (router, Vec::new())
}

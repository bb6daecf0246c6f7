//! The composition root: puts the modules together into a node.

mod addresses;
mod cluster;
mod directory;
mod forks;
mod identity;
mod import;
mod keplr;
mod keystore;
mod listeners;
mod metrics;
mod network_info;
mod open;
mod openapi;
mod probes;
mod process;
mod ready;
mod scenarios;
mod secrets;
mod services;
mod starting;
mod timer;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use alloy_primitives::Address;
use tetrad_chain::{
    Chain, ChainConfig, GenesisError, Keyring, Mining, OpenError, Preamble, Sender, View,
    WriterThread,
};
use tetrad_cluster::{Cluster, ClusterError};
use tetrad_contracts::sources::{
    ArtifactWatcher, Compilers, KnownContracts, Verifier, WatcherGuard,
};
use tetrad_exchange::{
    Exchange, Market, UpdatePace, Updater,
    feed::{FeedError, SourceSet, SourceSetConfig},
};
use tetrad_explorer::index::{Index, IndexOptions};
use tetrad_lending::lending::deployed_pool;
use tetrad_network::{account::SecretKey, network::Network};
use tetrad_rpc::fork::ForkError;
use tetrad_stdx::{
    clock::{Clock, SystemClock},
    failed_calls::FailedCalls,
};
use tetrad_store::store::{DataDir, DataDirError};
use tetrad_web::{
    Capacity, ClientAddresses, Execution, Faults, Inherited, RequestIds, ShutdownHandle, TlsError,
};
use zeroize::Zeroizing;

pub(crate) use self::ready::ReadyError;
use self::{
    addresses::Addresses,
    cluster::Joining,
    identity::Identity,
    import::ImportError,
    listeners::Listeners,
    services::{AdminAccess, Services},
};
use crate::{
    config::{Config, ConfigError},
    genesis::file::GenesisFileError,
};

/// Time that requests in progress get at shutdown. With the steps after it a shutdown takes ten
/// seconds.
const PATIENCE: Duration = Duration::from_secs(8);

/// Seconds by which the newest block may be ahead of the clock without a warning.
const TOLERATED_AHEAD: u64 = 5;

/// Entries of the cache of short hashes, 128 bytes each.
const HASH_CACHE: usize = 1 << 15;

/// A running node. Dropping the handle leaves the node running; [`Node::shut_down`] ends it
/// gracefully.
///
/// ```
/// use tetrad::{Config, Node};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut config = Config::test();
/// config.accounts = 3;
/// let node = Node::spawn(config).await?;
/// for (address, private_key) in node.development_accounts() {
///     println!("{address} {}", private_key.as_str());
/// }
/// node.shut_down().await;
/// # Ok(())
/// # }
/// ```
pub struct Node {
    addresses: Addresses,
    pub(crate) chain: Chain,
    /// The index of addresses, which the explorer API reads.
    index: Option<Index>,
    /// Contracts whose sources are known.
    pub(crate) known: KnownContracts,
    verifier: Verifier,
    /// Follows the directory of artifacts, if there is one.
    _artifacts: Option<WatcherGuard>,
    cluster: Option<Cluster>,
    market: Option<Market>,
    writer: WriterThread,
    shutdown: ShutdownHandle,
    keyring: Arc<Keyring>,
    /// The account that updates prices. The terminal hides its transactions.
    pub(crate) updater: Address,
    /// The account that owns the network's contracts.
    pub(crate) treasury: Address,
    pub(crate) config: Config,
}

/// The error of starting a node.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address cannot be listened on.
    #[error("--{flag}: cannot listen on {address}: {source}")]
    Listen {
        /// The flag that named the address.
        flag: &'static str,
        /// The address.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// The Unix socket cannot be listened on.
    #[error("--listen-unix: cannot listen on {path}: {source}")]
    ListenUnix {
        /// Its path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// The first block could not be made.
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    /// The genesis file cannot be used.
    #[error(transparent)]
    GenesisFile(#[from] GenesisFileError),
    /// The other node's chain cannot be forked.
    #[error("--fork-url: {0}")]
    Fork(#[from] ForkError),
    /// The data directory cannot be used.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The chain in the data directory cannot be opened.
    #[error("--data-dir: {0}")]
    Open(#[from] OpenError),
    /// The node cannot join its cluster.
    #[error("--cluster: {0}")]
    Cluster(#[from] ClusterError),
    /// A file of blocks cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The certificate or its key cannot be used.
    #[error("tls: {0}")]
    Tls(#[from] TlsError),
    /// A price source cannot be set up.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// A key cannot be used.
    #[error("{0}")]
    Key(String),
    /// The verified sources in the data directory cannot be read.
    #[error("--data-dir: verified sources: {0}")]
    Sources(io::Error),
    /// The scenario cannot be started.
    #[error("--scenario {0}")]
    Scenario(String),
    /// The ready file could not be written, or that of an earlier run not removed.
    #[error(transparent)]
    Ready(#[from] ReadyError),
    /// Another system call failed.
    #[error(transparent)]
    System(#[from] io::Error),
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

    /// Starts a node: opens the chain, listens, and serves until it is [shut
    /// down](Self::shut_down).
    ///
    /// # Errors
    /// See [`SpawnError`]. On an error nothing is left running.
    pub async fn spawn(config: Config) -> Result<Self, SpawnError> {
        Self::start(config, Arc::new(SystemClock)).await
    }

    /// Starts a node on sockets that a service manager has bound.
    ///
    /// # Errors
    /// As for [`spawn`](Self::spawn).
    pub(crate) async fn spawn_on(config: Config, inherited: Inherited) -> Result<Self, SpawnError> {
        Self::begin(config, Arc::new(SystemClock), inherited).await
    }

    /// Starts a node with another clock for blocks, rate limits and caches.
    ///
    /// # Errors
    /// As for [`spawn`](Self::spawn).
    async fn start(config: Config, clock: Arc<dyn Clock>) -> Result<Self, SpawnError> {
        Self::begin(config, clock, Inherited::default()).await
    }

    async fn begin(
        mut config: Config,
        clock: Arc<dyn Clock>,
        inherited: Inherited,
    ) -> Result<Self, SpawnError> {
        // A cache of the hashes of addresses and slots, shared by all nodes of the process. The
        // first node sets its size.
        let _ = alloy_primitives::utils::init_keccak_cache(HASH_CACHE);
        if let Some(file) = &config.ready_file {
            ready::remove(file)?;
        }
        config.rpc.failed_calls = FailedCalls::new(clock.clone());
        let listeners = Listeners::bind(&config, inherited)?;
        let addresses = listeners.addresses()?;
        let starting = listeners.serve_while_starting(&config)?;

        let directory = config.data_dir.as_deref().map(DataDir::open).transpose()?;
        let storage = directory.as_ref().map(DataDir::storage);
        let mut joining = Joining::begin(&config, storage.as_ref()).await?;
        starting.at("it opens its chain");
        let mut identity = Identity::load(&config)?;
        let stored = keystore::keys(&config)?;
        let admin = AdminAccess::of(&config)?;
        secrets::warn(&config);
        let forks = Arc::new(forks::forks(&config, &identity, &clock));
        let mut recovered = match config.fork.url {
            Some(_) => forks::begin(&forks, config.fork.block).await?,
            None => open::chain(&config, &identity, directory, joining.as_ref(), &clock).await?,
        };
        if is_network_chain(&config) {
            let view = View::newest(Arc::new(recovered.head.clone()));
            config.network.contracts.lending_pool = deployed_pool(&view, &config.network);
        }
        let network = Arc::new(config.network.clone());
        let scenario_context = scenarios::context(&config, &network, &identity);
        let scenario = config
            .scenario
            .as_deref()
            .map(|file| scenarios::load(file, &scenario_context))
            .transpose()?;
        for file in &config.import {
            import::import(&mut recovered, file, config.history, config.import_continue)?;
        }
        if let (Some(joining), Some(directory)) = (&mut joining, &config.data_dir) {
            joining.publish(directory).await?;
        }
        let updater = identity.updater.address();
        let sources = sources(&config, &network, &clock)?;
        let preamble = sources
            .as_ref()
            .map(|sources| preamble(&config, &network, identity.updater.clone(), sources));
        let gas_limit = forks
            .current()
            .map_or(config.gas_limit, |fork| fork.gas_limit);
        let (chain, writer) = Chain::resume(
            recovered,
            chain_config(&config, gas_limit, clock.clone()),
            preamble,
        )?;

        let cluster = match joining {
            Some(joining) => {
                starting.at("it follows the log of the cluster");
                let url = format!("{}://{}/rpc", addresses.scheme("http"), addresses.main);
                Some(joining.join(&chain, &config, url).await?)
            }
            None => None,
        };
        let index = explorer_index(&config, &chain)?;
        let own = is_network_chain(&config).then_some(&config.network);
        let known = KnownContracts::open(own, storage.as_deref()).map_err(SpawnError::Sources)?;
        let compilers = config.solc_directory.clone().map(Compilers::new);
        let verifier = Verifier::new(compilers, known.clone(), clock.clone());
        let artifacts = watch_artifacts(&config, &known).await?;
        warn_of_clock(&chain);

        let (handle, shutdown) = ShutdownHandle::new();
        let keys = std::mem::take(&mut identity.development);
        let sender = |key: &SecretKey| Arc::new(Sender::new(chain.clone(), key.clone()));
        let treasury = identity.treasury.address();
        let (owner, accounts) = (
            sender(&identity.treasury),
            keys.iter().map(sender).collect(),
        );
        let keyring = Arc::new(Keyring::new(
            keys.into_iter().chain(stored),
            chain.impersonated(),
        ));
        let (kept, ending) = (cluster.clone(), shutdown.clone());
        let client_addresses = ClientAddresses::new(config.exchange.trusted_proxies.clone());
        let execution = Arc::new(Execution::new(config.rpc.max_executions));
        let capacity = Capacity {
            budget: config.rpc.budget.clone(),
            execution: Some(execution.clone()),
            addresses: client_addresses.clone(),
        };
        let faults = Faults::new(client_addresses, clock.clone(), shutdown.clone());
        let services = Services {
            chain: chain.clone(),
            index: index.clone(),
            known: known.clone(),
            verifier: verifier.clone(),
            cluster: kept,
            network,
            storage,
            clock,
            forks,
            capacity,
            execution,
            faults,
            admin,
            shutdown: ending,
        };
        let setter = admin.is_open().then(|| owner.clone());
        let exchange = sources
            .clone()
            .map(|sources| services.exchange(&config, sources, setter));
        let faucet = services.faucet(&config, owner.clone(), exchange.is_some());
        let scenario_exchange = exchange
            .as_ref()
            .map(|exchange| exchange.market().clone())
            .zip(sources);
        let scenarios = services.scenarios(scenario_exchange, owner, accounts, scenario_context);
        let routers = services.routers(
            &config,
            &addresses,
            keyring.clone(),
            exchange.as_ref(),
            &scenarios,
            faucet,
        );
        let prices = exchange.as_ref().map(Exchange::socket_router);
        // Request ids are needed only if slow requests are logged or traces are on.
        let ids = RequestIds::new(config.rpc.slow.is_some() || config.traces.endpoint.is_some());
        if let Some(lifetime) = config.pool.lifetime {
            tokio::spawn(timer::pool(chain.clone(), lifetime, shutdown.clone()));
        }
        starting.end().await;
        listeners.serve(routers, prices, &config, ids, &services, &shutdown);
        if let Some(scenario) = scenario {
            scenarios.begin(scenario);
        }
        let market = exchange.map(|exchange| exchange.market().clone());
        let node = Self {
            addresses,
            chain,
            treasury,
            index,
            known,
            verifier,
            cluster,
            market,
            writer,
            shutdown: handle,
            keyring,
            updater,
            config,
            _artifacts: artifacts,
        };
        if let Some(file) = &node.config.ready_file {
            ready::write(file, &node)?;
        }
        Ok(node)
    }

    /// Returns the address of the main listener.
    pub fn address(&self) -> SocketAddr {
        self.addresses.main
    }

    /// Reloads the certificate and its key. Does nothing without TLS.
    ///
    /// # Errors
    /// If the files cannot be used. The node then keeps the old certificate.
    pub fn reload(&self) -> Result<(), TlsError> {
        self.addresses
            .tls
            .as_ref()
            .map_or(Ok(()), |tls| tls.reload())
    }

    /// Returns the development accounts with their private keys in hex, which are not secret.
    /// Accounts of a keystore are not among them.
    pub fn development_accounts(&self) -> Vec<(Address, Zeroizing<String>)> {
        let key = |address| self.keyring.get(address).map(|key| (address, key.to_hex()));
        let own = self
            .keyring
            .addresses()
            .into_iter()
            .take(self.config.accounts as usize);
        own.filter_map(key).collect()
    }

    /// Returns the URL of JSON-RPC over HTTP.
    pub fn rpc_url(&self) -> String {
        format!(
            "{}://{}/rpc",
            self.addresses.scheme("http"),
            self.addresses.main
        )
    }

    /// Returns the URL of JSON-RPC over WebSocket.
    pub fn ws_url(&self) -> String {
        format!(
            "{}://{}/rpc",
            self.addresses.scheme("ws"),
            self.addresses.main
        )
    }

    /// Returns the base URL of the REST interfaces.
    pub fn rest_url(&self) -> String {
        format!(
            "{}://{}",
            self.addresses.scheme("http"),
            self.addresses.main
        )
    }

    /// Returns the URL of the price WebSocket.
    pub fn exchange_ws_url(&self) -> String {
        let scheme = self.addresses.scheme("ws");
        match self.addresses.prices {
            Some(address) => format!("{scheme}://{address}"),
            None => format!("{scheme}://{}/ws", self.addresses.main),
        }
    }

    /// Returns the URL of the listener of CometBFT's interface, if it has one of its own.
    pub fn comet_url(&self) -> Option<String> {
        self.addresses
            .comet
            .map(|address| format!("{}://{address}", self.addresses.scheme("http")))
    }

    /// Returns the URL of the listener of the Cosmos gateway's REST, if it has one of its own.
    pub fn cosmos_rest_url(&self) -> Option<String> {
        self.addresses
            .cosmos_rest
            .map(|address| format!("{}://{address}", self.addresses.scheme("http")))
    }

    /// Returns the URL of the listener of gRPC, if it has one of its own.
    pub fn grpc_url(&self) -> Option<String> {
        self.addresses
            .grpc
            .map(|address| format!("{}://{address}", self.addresses.scheme("http")))
    }

    /// Shuts the node down: stops accepting, finishes requests, closes WebSockets (code 1001),
    /// stops the chain.
    pub async fn shut_down(self) {
        self.chain.wind_down();
        if let Some(cluster) = &self.cluster {
            cluster.leave(&self.chain).await;
        }
        if !self.shutdown.shut_down(PATIENCE).await {
            tracing::warn!("some requests did not finish in time and were aborted");
        }
        if let Some(market) = &self.market {
            market.keep().await;
        }
        self.chain.stop();
        // The writer ends within the time of a block. The index then writes what it has to the
        // disk.
        let end = move || {
            self.verifier.stop();
            self.writer.join();
            if let Some(index) = self.index {
                index.stop();
            }
        };
        let _ = tokio::task::spawn_blocking(end).await;
    }
}

/// Warns of a chain that is ahead of the clock: it was made under another clock, or moved ahead by
/// hand.
fn warn_of_clock(chain: &Chain) {
    let (newest, now) = (chain.head().block.header.timestamp, chain.now());
    if newest > now + TOLERATED_AHEAD {
        tracing::warn!(
            newest_block = newest,
            clock = now,
            seconds_ahead = newest - now,
            "the newest block is later than this machine's clock says it is: blocks keep its time, and prices grow stale, \
             until the clock catches up; check the clock"
        );
    }
}

/// Returns whether the chain has the network's contracts: it began with neither a genesis file nor
/// a fork.
fn is_network_chain(config: &Config) -> bool {
    config.has_exchange()
}

/// Reads the artifacts of a development tool and follows them, if there is a directory of them.
async fn watch_artifacts(
    config: &Config,
    known: &KnownContracts,
) -> Result<Option<WatcherGuard>, SpawnError> {
    let Some(directory) = config.artifacts.clone() else {
        return Ok(None);
    };
    let watcher = ArtifactWatcher::new(directory, known.clone());
    let started = tokio::task::spawn_blocking(move || watcher.start()).await;
    Ok(Some(started.map_err(io::Error::other)??))
}

/// Starts the index of addresses, unless the node goes without.
fn explorer_index(config: &Config, chain: &Chain) -> Result<Option<Index>, SpawnError> {
    if config.no_explorer {
        return Ok(None);
    }
    let tokens = &config.network.tokens;
    let tokens = match is_network_chain(config) {
        true => tokens
            .iter()
            .flat_map(|token| [token.address, token.receipt])
            .collect(),
        false => Vec::new(),
    };
    let options = IndexOptions {
        directory: config.data_dir.clone(),
        tokens,
    };
    Ok(Some(Index::start(chain.clone(), options)?))
}

/// Returns the price sources; none on another chain than the network's.
fn sources(
    config: &Config,
    network: &Arc<Network>,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<SourceSet>>, FeedError> {
    if !is_network_chain(config) {
        return Ok(None);
    }
    let exchange = &config.exchange;
    let sources = SourceSetConfig {
        sources: &exchange.price_sources,
        policy: exchange.price_policy,
        upstream: &exchange.upstream,
        seed: config.seed,
    };
    SourceSet::new(sources, network, clock)
        .map(Arc::new)
        .map(Some)
}

/// Returns the updater that puts prices on the chain.
fn preamble(
    config: &Config,
    network: &Arc<Network>,
    key: SecretKey,
    sources: &Arc<SourceSet>,
) -> Box<dyn Preamble> {
    let pace = config.exchange.price_tick.map(|tick| UpdatePace {
        source: sources.clone(),
        tick,
    });
    Box::new(Updater::new(network.clone(), key, pace))
}

fn chain_config(config: &Config, gas_limit: u64, clock: Arc<dyn Clock>) -> ChainConfig {
    ChainConfig {
        mining: match config.block_time {
            _ if config.no_mining => Mining::Manual,
            Some(interval) => Mining::Interval(interval),
            None => Mining::Instant,
        },
        gas_limit,
        beneficiary: Address::ZERO,
        min_tip: config.min_tip.into(),
        pool: config.pool,
        history: config.history,
        clock,
        leads: !config.cluster.is_enabled(),
    }
}

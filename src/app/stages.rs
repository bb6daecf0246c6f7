//! The stages in which a node starts: its keys and its directory, the chain, the services, and at
//! last the listeners.

use std::{io, sync::Arc};

use alloy_primitives::Address;
use tetrad_chain::{
    Chain, ChainConfig, Keyring, Mining, Preamble, Recovered, Signer, TransactionSender, View,
    WriterThread, block_in_place,
};
use tetrad_cluster::Cluster;
use tetrad_contracts::sources::{
    ArtifactWatcher, Compilers, KnownContracts, Verifier, WatcherGuard,
};
use tetrad_exchange::{
    Exchange, Market, UpdatePace, Updater,
    feed::{FeedError, SourceSet, SourceSetConfig},
};
use tetrad_explorer::index::{Index, IndexOptions};
use tetrad_network::{account::SecretKey, network::Network};
use tetrad_rpc::{
    fork::{ChainForks, ForkError},
    rpc::RpcConfig,
};
use tetrad_stdx::{clock::Clock, failed_calls::FailedCalls};
use tetrad_store::{storage::Storage, store::DataDir};
use tetrad_web::{
    Capacity, ClientAddresses, Execution, Faults, Inherited, RequestIds, Shutdown, ShutdownHandle,
};

use super::{
    Node, SpawnError,
    addresses::Addresses,
    cluster::Joining,
    deployed::Deployed,
    forks,
    identity::Identity,
    import, keystore,
    listeners::Listeners,
    open, ready_file,
    routes::Routers,
    scenarios, secrets,
    services::{AdminAccess, Services},
    starting::Starting,
    state_file::{self, StateFile},
    timer,
};
use crate::{
    config::Config,
    scenario::{Scenario, ScenarioContext, Scenarios},
};

/// Seconds by which the newest block may be ahead of the clock without a warning.
const TOLERATED_AHEAD: u64 = 5;

/// Entries of the cache of short hashes, 128 bytes each.
const HASH_CACHE: usize = 1 << 15;

impl Node {
    /// Starts a node on the configured addresses, except for sockets that the service manager
    /// passed.
    pub(super) async fn begin(
        config: Config,
        clock: Arc<dyn Clock>,
        inherited: Inherited,
    ) -> Result<Self, SpawnError> {
        prepare_process();
        // A program that waits for the file must not find that of an earlier run.
        if let Some(file) = &config.ready_file {
            ready_file::remove(file)?;
        }
        let state_file = StateFile::of(&config)?;
        let config = with_failed_calls(config, &clock);

        // The addresses are bound first, so that a port in use is reported at once.
        let listeners = Listeners::bind(&config, inherited)?;
        let mut addresses = listeners.addresses()?;
        let starting = listeners.serve_while_starting(&config)?;

        let mut prerequisites = Prerequisites::gather(&config, &clock, &starting).await?;
        let opened =
            OpenedChain::open(&config, &clock, &addresses, &starting, &mut prerequisites).await?;
        if !opened.deployed.has_exchange {
            addresses.prices = None;
        }
        let records = Records::open(&config, &clock, &opened, &prerequisites).await?;
        warn_of_clock(&opened.chain);

        let (shutdown_handle, shutdown) = ShutdownHandle::new();
        let services = services(&config, clock, &prerequisites, &opened, &records, &shutdown);
        let keyring = Arc::new(prerequisites.keyring(&config, &opened.chain));
        let interfaces = Interfaces::new(
            &config,
            &addresses,
            &services,
            &prerequisites.identity,
            keyring.clone(),
            &opened,
        );

        // Both use the main listener: the answers of the start end before the node itself serves.
        starting.end().await;
        let market = interfaces.market();
        interfaces.serve(listeners, &config, &services, opened.scenario);

        let node = Self {
            addresses,
            chain: opened.chain,
            index: records.index,
            known: records.known,
            verifier: records.verifier,
            _artifacts: records.artifacts,
            cluster: opened.cluster,
            market,
            state_file,
            writer: opened.writer,
            forks: prerequisites.forks,
            shutdown: shutdown_handle,
            keyring,
            has_exchange: opened.deployed.has_exchange,
            updater: match &opened.deployed.updater {
                Some(updater) => updater.account(),
                None => prerequisites.identity.updater.address(),
            },
            treasury: prerequisites.identity.treasury.address(),
            config: with_network(config, &opened.deployed.network),
        };
        if let Some(file) = node.state_file.clone() {
            tokio::spawn(file.follow(node.chain.clone(), shutdown));
        }
        if let Some(file) = &node.config.ready_file {
            ready_file::write(file, &node)?;
        }
        Ok(node)
    }
}

/// Sets up a cache of the hashes of addresses and slots, shared by all nodes of the process. The
/// first node sets its size.
fn prepare_process() {
    let _ = alloy_primitives::utils::init_keccak_cache(HASH_CACHE);
}

/// Returns the configuration with a list of failed calls by the node's own clock.
fn with_failed_calls(config: Config, clock: &Arc<dyn Clock>) -> Config {
    let rpc = RpcConfig {
        failed_calls: FailedCalls::new(clock.clone()),
        ..config.rpc
    };
    Config { rpc, ..config }
}

/// Returns the configuration with the network as it is on the chain.
fn with_network(config: Config, network: &Network) -> Config {
    Config {
        network: network.clone(),
        ..config
    }
}

/// The first stage: what is needed to open the chain.
struct Prerequisites {
    /// The data directory, until the chain is opened in it.
    directory: Option<DataDir>,
    /// Files of the data directory.
    storage: Option<Arc<dyn Storage>>,
    /// The place in the cluster, until the node joins it.
    joining: Option<Joining>,
    identity: Identity,
    /// Keys of the keystore.
    keystore: Vec<SecretKey>,
    /// The access to the routes that administer the node.
    admin: AdminAccess,
    forks: Arc<ChainForks>,
}

impl Prerequisites {
    async fn gather(
        config: &Config,
        clock: &Arc<dyn Clock>,
        starting: &Starting,
    ) -> Result<Self, SpawnError> {
        let directory = config.data_dir.as_deref().map(DataDir::open).transpose()?;
        let storage = directory.as_ref().map(DataDir::storage);

        // An empty data directory is filled from the cluster, in production with keys as well, so
        // this comes before they are read.
        let joining = Joining::begin(config, storage.as_ref()).await?;
        starting.at("it opens its chain");

        let identity = Identity::load(config)?;
        let keystore = keystore::keys(config)?;
        let admin = AdminAccess::of(config)?;
        secrets::warn(config);

        let forks = Arc::new(forks::forks(config, &identity, clock)?);
        Ok(Self {
            directory,
            storage,
            joining,
            identity,
            keystore,
            admin,
            forks,
        })
    }

    /// Opens the chain of the data directory, or begins a new one.
    async fn open_chain(
        &mut self,
        config: &Config,
        clock: &Arc<dyn Clock>,
    ) -> Result<Recovered, SpawnError> {
        if config.fork.url.is_some() {
            let begun = forks::begin(&self.forks, config.fork.block).await?;
            return Ok(begun.with_next_base_fee(config.genesis_base_fee));
        }
        let directory = self.directory.take();
        open::chain(
            config,
            &self.identity,
            directory,
            self.joining.as_ref(),
            clock,
        )
        .await
    }

    /// Offers the chain to the other nodes of the cluster, if this node has just created it.
    async fn publish_chain(&mut self, config: &Config) -> Result<(), SpawnError> {
        if let (Some(joining), Some(directory)) = (&mut self.joining, &config.data_dir) {
            joining.publish(directory).await?;
        }
        Ok(())
    }

    async fn join_cluster(
        &mut self,
        config: &Config,
        chain: &Chain,
        addresses: &Addresses,
        starting: &Starting,
    ) -> Result<Option<Cluster>, SpawnError> {
        let Some(joining) = self.joining.take() else {
            return Ok(None);
        };

        starting.at("it follows the log of the cluster");
        let url = format!("{}://{}/rpc", addresses.scheme("http"), addresses.main);
        Ok(Some(joining.join(chain, config, url).await?))
    }

    /// Returns the keys that the node signs with on request.
    fn keyring(&mut self, config: &Config, chain: &Chain) -> Keyring {
        let development = self.identity.development.iter().cloned();
        let keystore = std::mem::take(&mut self.keystore);
        Keyring::new(development.chain(keystore), chain.impersonated())
            .impersonating_all(config.auto_impersonate)
    }
}

/// The second stage: the chain, which accepts transactions, in its place in the cluster.
struct OpenedChain {
    chain: Chain,
    writer: WriterThread,
    cluster: Option<Cluster>,
    /// The network's contracts on the chain.
    deployed: Deployed,
    /// The price sources, if the chain has an exchange.
    sources: Option<Arc<SourceSet>>,
    /// The scenario that runs from the start.
    scenario: Option<Scenario>,
    scenario_context: ScenarioContext,
}

impl OpenedChain {
    async fn open(
        config: &Config,
        clock: &Arc<dyn Clock>,
        addresses: &Addresses,
        starting: &Starting,
        prerequisites: &mut Prerequisites,
    ) -> Result<Self, SpawnError> {
        let mut recovered = prerequisites.open_chain(config, clock).await?;
        // A large file takes seconds.
        block_in_place(|| state_file::load(&mut recovered, config, clock))?;

        let identity = &prerequisites.identity;
        let deployed = block_in_place(|| {
            Deployed::find(config, identity, &prerequisites.forks, &recovered.head)
        });
        recovered.head =
            block_in_place(|| deployed.fund(config, recovered.head)).map_err(ForkError::from)?;

        let scenario_context = scenarios::context(config, &deployed, identity);
        let scenario = scenarios::configured(config, &scenario_context)?;

        // The imported blocks are a part of the chain that the cluster gets.
        for file in &config.import {
            import::import(&mut recovered, file, config.history, config.import_continue)?;
        }
        prerequisites.publish_chain(config).await?;

        let sources = sources(config, &deployed, clock)?;
        let preamble = sources
            .as_ref()
            .zip(deployed.updater.as_ref())
            .map(|(sources, updater)| preamble(config, &deployed.network, updater, sources));

        let fork = prerequisites.forks.current();
        let gas_limit = fork.map_or(config.gas_limit, |fork| fork.gas_limit);
        let chain_config = chain_config(config, gas_limit, clock.clone());
        let (chain, writer) = Chain::resume(recovered, chain_config, preamble)?;

        let cluster = prerequisites
            .join_cluster(config, &chain, addresses, starting)
            .await?;

        Ok(Self {
            chain,
            writer,
            cluster,
            deployed,
            sources,
            scenario,
            scenario_context,
        })
    }
}

/// The parts that describe the chain's contracts and accounts: sources and histories.
struct Records {
    /// The index of addresses; none without the explorer API.
    index: Option<Index>,
    known: KnownContracts,
    verifier: Verifier,
    artifacts: Option<WatcherGuard>,
}

impl Records {
    async fn open(
        config: &Config,
        clock: &Arc<dyn Clock>,
        opened: &OpenedChain,
        prerequisites: &Prerequisites,
    ) -> Result<Self, SpawnError> {
        let index = explorer_index(config, opened)?;

        let deployed = &opened.deployed;
        let own = deployed.has_exchange.then_some(&*deployed.network);
        let known = KnownContracts::open(own, prerequisites.storage.as_deref())
            .map_err(SpawnError::Sources)?;
        if deployed.is_forked {
            block_in_place(|| known.keep_deployed(&View::newest(opened.chain.head())));
        }

        let compilers = config.solc_directory.clone().map(Compilers::new);
        let verifier = Verifier::new(compilers, known.clone(), clock.clone());
        let artifacts = watch_artifacts(config, &known).await?;

        Ok(Self {
            index,
            known,
            verifier,
            artifacts,
        })
    }
}

/// Returns the parts that the interfaces share.
fn services(
    config: &Config,
    clock: Arc<dyn Clock>,
    prerequisites: &Prerequisites,
    opened: &OpenedChain,
    records: &Records,
    shutdown: &Shutdown,
) -> Services {
    let client_addresses = ClientAddresses::new(config.trusted_proxies.clone());
    let execution = Arc::new(Execution::new(config.rpc.max_executions));
    let capacity = Capacity {
        budget: config.rpc.budget.clone(),
        execution: Some(execution.clone()),
        addresses: client_addresses.clone(),
    };

    let faults = Faults::new(client_addresses, clock.clone(), shutdown.clone());
    Services {
        chain: opened.chain.clone(),
        index: records.index.clone(),
        known: records.known.clone(),
        verifier: records.verifier.clone(),
        cluster: opened.cluster.clone(),
        network: opened.deployed.network.clone(),
        storage: prerequisites.storage.clone(),
        clock,
        forks: prerequisites.forks.clone(),
        capacity,
        execution,
        faults,
        admin: prerequisites.admin,
        shutdown: shutdown.clone(),
    }
}

/// The accounts as which the interfaces send transactions.
struct Senders {
    /// The owner of the network's contracts, if the node may act for it.
    owner: Option<Arc<TransactionSender>>,
    /// The owner, or else the node's own treasury.
    treasury: Arc<TransactionSender>,
    development: Vec<Arc<TransactionSender>>,
}

impl Senders {
    fn new(opened: &OpenedChain, identity: &Identity) -> Self {
        let sender =
            |signer: Signer| Arc::new(TransactionSender::new(opened.chain.clone(), signer));
        let owner = opened.deployed.owner.clone().map(sender);
        let treasury = owner
            .clone()
            .unwrap_or_else(|| sender(Signer::Key(identity.treasury.clone())));
        let development = identity.development.iter().cloned();

        Self {
            owner,
            treasury,
            development: development.map(Signer::Key).map(sender).collect(),
        }
    }
}

/// The third stage: the interfaces, whose tasks run but which no listener serves yet.
struct Interfaces {
    exchange: Option<Exchange>,
    scenarios: Scenarios,
    routers: Routers,
}

impl Interfaces {
    fn new(
        config: &Config,
        addresses: &Addresses,
        services: &Services,
        identity: &Identity,
        keyring: Arc<Keyring>,
        opened: &OpenedChain,
    ) -> Self {
        let senders = Senders::new(opened, identity);

        // Prices are set by hand as the contracts' owner, by administrators only.
        let setter = senders.owner.clone().filter(|_| services.admin.is_open());
        let exchange = opened
            .sources
            .clone()
            .map(|sources| services.exchange(config, sources, setter));

        let has_tokens = opened.deployed.has_exchange && senders.owner.is_some();
        let secret = identity.treasury.secret("faucet");
        let faucet = services.faucet(config, senders.treasury.clone(), secret, has_tokens);

        let scenario_exchange = exchange
            .as_ref()
            .map(|exchange| exchange.market().clone())
            .zip(opened.sources.clone());
        let scenarios = services.scenarios(
            scenario_exchange,
            senders.treasury,
            senders.development,
            opened.scenario_context.clone(),
        );

        let routers = services.routers(
            config,
            addresses,
            keyring,
            exchange.as_ref(),
            &scenarios,
            faucet,
        );

        if let Some(lifetime) = config.pool.lifetime {
            let chain = opened.chain.clone();
            tokio::spawn(timer::pool(chain, lifetime, services.shutdown.clone()));
        }

        Self {
            exchange,
            scenarios,
            routers,
        }
    }

    fn market(&self) -> Option<Market> {
        self.exchange
            .as_ref()
            .map(|exchange| exchange.market().clone())
    }

    /// The last stage: serves the interfaces, and starts the configured scenario.
    fn serve(
        self,
        listeners: Listeners,
        config: &Config,
        services: &Services,
        scenario: Option<Scenario>,
    ) {
        let prices = self.exchange.as_ref().map(Exchange::socket_router);

        // Request ids are needed only if slow requests are logged or traces are on.
        let ids = RequestIds::new(config.rpc.slow.is_some() || config.traces.endpoint.is_some());

        listeners.serve(
            self.routers,
            prices,
            config,
            ids,
            services,
            &services.shutdown,
        );

        if let Some(scenario) = scenario {
            self.scenarios.begin(scenario);
        }
    }
}

/// Warns of a chain that is ahead of the clock: it was made under another clock, or moved ahead by
/// hand.
fn warn_of_clock(chain: &Chain) {
    let newest = chain.head().block.header.timestamp;
    let now = chain.now();
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

/// Reads the artifacts of a development tool and follows them, if there is a directory of them.
async fn watch_artifacts(
    config: &Config,
    known: &KnownContracts,
) -> Result<Option<WatcherGuard>, SpawnError> {
    let Some(directory) = config.artifacts.clone() else {
        return Ok(None);
    };

    let watcher = ArtifactWatcher::new(directory, known.clone());
    // Its first look reads all files of the directory.
    let started = tokio::task::spawn_blocking(move || watcher.start()).await;
    Ok(Some(started.map_err(io::Error::other)??))
}

/// Starts the index of addresses, unless the node goes without.
fn explorer_index(config: &Config, opened: &OpenedChain) -> Result<Option<Index>, SpawnError> {
    if config.no_explorer {
        return Ok(None);
    }

    let deployed = &opened.deployed;
    // Tokens of a forked chain are found by their transfers: reading the balances of each account
    // would take hundreds of requests.
    let tokens = if deployed.has_exchange && !deployed.is_forked {
        let tokens = deployed.network.tokens.iter();
        tokens
            .flat_map(|token| [token.address, token.receipt])
            .collect()
    } else {
        Vec::new()
    };

    let options = IndexOptions {
        directory: config.data_dir.clone(),
        tokens,
    };
    Ok(Some(Index::start(opened.chain.clone(), options)?))
}

/// Returns the price sources; none on another chain than the network's.
fn sources(
    config: &Config,
    deployed: &Deployed,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<SourceSet>>, FeedError> {
    if !deployed.has_exchange {
        return Ok(None);
    }

    let exchange = &config.exchange;
    let sources = SourceSetConfig {
        sources: &exchange.price_sources,
        policy: exchange.price_policy,
        upstream: &exchange.upstream,
        seed: config.seed,
    };
    SourceSet::new(sources, &deployed.network, clock)
        .map(Arc::new)
        .map(Some)
}

/// Returns the updater that puts prices on the chain.
fn preamble(
    config: &Config,
    network: &Arc<Network>,
    updater: &Signer,
    sources: &Arc<SourceSet>,
) -> Box<dyn Preamble> {
    let pace = config.exchange.price_tick.map(|tick| UpdatePace {
        source: sources.clone(),
        tick,
    });
    Box::new(Updater::new(network.clone(), updater.clone(), pace))
}

fn chain_config(config: &Config, gas_limit: u64, clock: Arc<dyn Clock>) -> ChainConfig {
    let mining = match config.block_time {
        _ if config.no_mining => Mining::Manual,
        Some(interval) if config.mixed_mining => Mining::Mixed(interval),
        Some(interval) => Mining::Interval(interval),
        None => Mining::Instant,
    };
    ChainConfig {
        mining,
        gas_limit,
        beneficiary: Address::ZERO,
        min_tip: config.min_tip.into(),
        pool: config.pool,
        history: config.history,
        clock,
        // A node of a cluster leads only once it is elected.
        leads: !config.cluster.is_enabled(),
        continues_time: config.genesis_time.is_some(),
        anvil_conventions: config.anvil_conventions,
        slots_in_an_epoch: config.slots_in_an_epoch,
    }
}

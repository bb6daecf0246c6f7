//! Opening the chain: a new one, or that of the data directory.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_eips::eip6110::MAINNET_DEPOSIT_CONTRACT_ADDRESS;
use alloy_primitives::{keccak256, utils::format_ether};
use tetrad_chain::{Genesis, OpenError, Opening, Recovered, open, repair};
use tetrad_evm::{ChainParams, Fork, Forks, Limits};
use tetrad_primitives::block::cosmos::CosmosNetwork;
use tetrad_stdx::clock::Clock;
use tetrad_store::{
    log::{Durability, LocalLogs, LogStore},
    store::{ChainStore, DataDir, PART_BYTES, Settings},
};

use super::{SpawnError, cluster::Joining, identity::Identity};
use crate::{
    config::{BlockTimestamps, Config, Profile},
    genesis::{
        FundedAccounts, GenesisOptions, bare_genesis,
        file::{self, GenesisFileError},
        missing_accounts, network_genesis,
    },
};

/// Time in which the leader of a cluster writes a checkpoint that its nodes need.
const LEADER_WRITES: Duration = Duration::from_secs(60);
/// Pause before a checkpoint is fetched again.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(1);

/// Opens the chain in `directory`, or creates one. Without a directory the chain is in memory. In a
/// cluster, its log is the cluster's.
pub(super) async fn chain(
    config: &Config,
    identity: &Identity,
    directory: Option<DataDir>,
    joining: Option<&Joining>,
    clock: &Arc<dyn Clock>,
) -> Result<Recovered, SpawnError> {
    let log = directory.as_ref().map(|directory| {
        let files = LocalLogs::new(directory.storage());
        match joining {
            // The stream is what a node of a cluster relies on; its files are a copy.
            Some(joining) => joining.log(Arc::new(files.with_durability(Durability::Os))),
            None => Arc::new(files.with_durability(config.durability)) as Arc<dyn LogStore>,
        }
    });
    let attempt = OpenAttempt {
        config: config.clone(),
        settings: settings(config, identity),
        funded: identity.funded_accounts(config),
        log,
        is_copy: joining.is_some(),
        clock: clock.clone(),
    };

    let mut directory = directory;
    let deadline = Instant::now() + LEADER_WRITES;
    loop {
        // Blocks the thread, with a large chain for seconds.
        let attempt = attempt.clone();
        let opened = tokio::task::spawn_blocking(move || attempt.run(directory))
            .await
            .map_err(std::io::Error::other)?;

        match (opened, joining) {
            (Err(SpawnError::Open(OpenError::Checkpoint(error))), Some(joining))
                if Instant::now() < deadline =>
            {
                // The chain was reverted to before all of them when the node ended. The leader
                // writes another one.
                tracing::warn!(%error, "no checkpoint in the data directory can be used: fetching one of the cluster");
                joining.fetch_checkpoint().await?;
                tokio::time::sleep(BETWEEN_ATTEMPTS).await;
                // The attempt has released the directory.
                directory = config.data_dir.as_deref().map(DataDir::open).transpose()?;
            }
            (opened, _) => return opened,
        }
    }
}

/// An attempt to open the chain, on a thread that may block.
#[derive(Clone)]
struct OpenAttempt {
    config: Config,
    settings: Settings,
    funded: FundedAccounts,
    /// The log; none without a data directory.
    log: Option<Arc<dyn LogStore>>,
    /// Whether the log in the data directory is a copy of the cluster's.
    is_copy: bool,
    clock: Arc<dyn Clock>,
}

impl OpenAttempt {
    fn run(self, directory: Option<DataDir>) -> Result<Recovered, SpawnError> {
        let config = &self.config;
        let (genesis, params) = first_block(config, &self.funded, &*self.clock)?;
        let params = Arc::new(params);
        let Some((directory, log)) = directory.zip(self.log.clone()) else {
            return Ok(Recovered::in_memory(genesis.build(params)?));
        };

        let store = ChainStore {
            storage: directory.storage(),
            log,
        };
        // A genesis file gives the same block every time. The network's own first block has the
        // time of its creation.
        let expected = config.genesis.is_some();

        let opening = self.opening(&store, &params, Some(directory));
        match open(opening, expected, || genesis.build(params.clone())) {
            Err(OpenError::Entry { height, what }) if self.is_copy => {
                // It may have been removed from the stream since.
                tracing::warn!(
                    height,
                    what,
                    "an entry of the cluster's log cannot be applied: reading it again"
                );
                repair(&store).map_err(std::io::Error::other)?;
                // The attempt has released the directory.
                let directory = config.data_dir.as_deref().map(DataDir::open).transpose()?;
                let opening = self.opening(&store, &params, directory);
                Ok(open(opening, expected, || genesis.build(params.clone()))?)
            }
            opened => Ok(opened?),
        }
    }

    fn opening(
        &self,
        store: &ChainStore,
        params: &Arc<ChainParams>,
        directory: Option<DataDir>,
    ) -> Opening {
        Opening {
            store: store.clone(),
            directory,
            params: params.clone(),
            settings: self.settings.clone(),
            limits: self.config.history,
            checkpoint_bytes: self.config.checkpoint_bytes,
            index_bytes: PART_BYTES,
        }
    }
}

/// Returns the first block, from the genesis file or the network's own.
pub(super) fn first_block(
    config: &Config,
    funded: &FundedAccounts,
    clock: &dyn Clock,
) -> Result<(Genesis, ChainParams), SpawnError> {
    if let Some(path) = &config.genesis {
        let (mut genesis, mut params) = file::load(path)?;
        if genesis.number > 0 && config.data_dir.is_some() {
            let name = path.display().to_string();
            return Err(GenesisFileError::NumberedOnDisk(name).into());
        }

        if config.bare {
            genesis.accounts.extend(missing_accounts(&genesis, funded));
        }
        params.chain_id = config.chosen_chain_id().unwrap_or(params.chain_id);
        return Ok((genesis, configured(config, params)));
    }

    let params = network_params(config);
    let options = GenesisOptions {
        number: config.genesis_number,
        timestamp: config.genesis_time.unwrap_or(clock.now_ms() / 1_000),
        base_fee: config.genesis_base_fee,
        create2_deployer: config.create2_deployer,
        gas_limit: config.gas_limit,
        limited_lending: config.profile == Profile::Production,
        frozen_prices: config.exchange.price_tick.is_none(),
    };
    let genesis = if config.bare {
        bare_genesis(funded, options, config.hardfork >= Fork::Shanghai)
    } else {
        network_genesis(&config.network, funded, options)
    };
    Ok((genesis, params))
}

/// Returns the parameters of the network's chain.
pub(super) fn network_params(config: &Config) -> ChainParams {
    let params = ChainParams {
        chain_id: config.chain_id,
        forks: Forks::all_from_genesis(config.hardfork),
        deposit_contract: MAINNET_DEPOSIT_CONTRACT_ADDRESS,
        network_precompiles: !config.bare,
        standard: false,
        increasing_timestamps: false,
        limits: Limits::default(),
        signers: Default::default(),
        cosmos: CosmosNetwork::default(),
    };
    configured(config, params)
}

/// Returns the parameters with what the configuration decides about new blocks and about Cosmos
/// transactions.
fn configured(config: &Config, params: ChainParams) -> ChainParams {
    let network = &config.network;
    ChainParams {
        cosmos: CosmosNetwork {
            chain_id: network.cosmos_chain_id.clone(),
            denom: network.denomination.clone(),
            prefix: network.hrp.as_str().to_owned(),
        },
        increasing_timestamps: config.block_timestamps() == BlockTimestamps::Increasing,
        limits: Limits {
            transaction_gas: config.caps_transaction_gas(),
            block_gas: !config.disable_block_gas_limit,
            code_size: !config.disable_code_size_limit,
        },
        ..params
    }
}

/// Returns the settings that are fixed when a chain is created.
fn settings(config: &Config, identity: &Identity) -> Settings {
    let named = |name: &str, value: String| (name.to_owned(), value);
    // Executing a block again depends on it.
    let sizes = config
        .disable_code_size_limit
        .then(|| named("--disable-code-size-limit", "true".to_owned()));
    if config.genesis.is_some() {
        // The content of the genesis file is compared separately, as is the chain id.
        return [named("--genesis", "a file".to_owned())]
            .into_iter()
            .chain(sizes)
            .collect();
    }

    let mnemonic = keccak256(config.mnemonic.as_bytes());
    let network = [
        named("--chain-id", config.chain_id.to_string()),
        named("--hardfork", config.hardfork.name().to_string()),
        named("--accounts", config.accounts.to_string()),
        named("--balance", format_ether(config.balance)),
        named("the --mnemonic with the hash", mnemonic.to_string()),
        named("the treasury", identity.treasury.address().to_string()),
        named("the updater", identity.updater.address().to_string()),
    ];
    let bare = config.bare.then(|| named("--bare", "true".to_owned()));
    // Left out by default, as in the directories from before there was a choice.
    let is_other_path = config.derivation_path != Config::default().derivation_path;
    let path = is_other_path.then(|| named("--derivation-path", config.derivation_path.clone()));
    let time = config
        .genesis_time
        .map(|time| named("--genesis-time", time.to_string()));
    let base_fee = config
        .genesis_base_fee
        .map(|wei| named("--genesis-base-fee", wei.to_string()));
    let first_block = time.into_iter().chain(base_fee);
    let chosen = bare.into_iter().chain(path).chain(first_block).chain(sizes);
    network.into_iter().chain(chosen).collect()
}

//! The configuration of a node.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use alloy_primitives::U256;
use ipnet::IpNet;
use tetrad_chain::{HistoryLimits, PoolLimits};
use tetrad_cluster::ClusterConfig;
use tetrad_evm::Fork;
use tetrad_exchange::ExchangeConfig;
use tetrad_lending::faucet::FaucetConfig;
use tetrad_network::network::Network;
use tetrad_page::PageConfig;
use tetrad_rpc::{fork::ForkConfig, rpc::RpcConfig};
use tetrad_store::log::Durability;
use tetrad_web::{Hosts, ListenerLimits, Origins};

use crate::console::ConsoleConfig;

/// The mnemonic that every development tool starts with by default.
pub const DEVELOPMENT_MNEMONIC: &str =
    "test test test test test test test test test test test junk";

/// A set of defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Funded accounts with known keys, and development methods.
    Development,
    /// No funded accounts, no development methods, a block every second.
    Production,
}

/// The timestamps of blocks that are sealed within a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockTimestamps {
    /// They share it, so that the chain stays in step with the clock.
    Shared,
    /// Each is later than its parent.
    Increasing,
}

/// The listener that serves metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsAt {
    /// The main listener.
    Beside,
    /// A separate listener.
    Own(SocketAddr),
    /// Metrics are not served.
    Off,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// The export of traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Traces {
    /// URL that spans are sent to, as OTLP in protobuf; none to export nothing.
    pub endpoint: Option<String>,
    /// Share of the traces started here that are recorded, from 0 to 1.
    pub sample_ratio: f64,
}

impl Default for Traces {
    fn default() -> Self {
        Self {
            endpoint: None,
            sample_ratio: 1.0,
        }
    }
}

/// The PEM files of a TLS listener.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificates, the server's own first.
    pub certificate: PathBuf,
    /// Private key of the server's certificate.
    pub key: PathBuf,
}

/// Files that a chain in memory is loaded from and written to.
#[derive(Clone, Debug)]
pub struct StateFiles {
    /// Read at the start, if it exists, and written.
    pub both: Option<PathBuf>,
    /// Read at the start.
    pub load: Option<PathBuf>,
    /// Written.
    pub dump: Option<PathBuf>,
    /// The interval at which a chain that changes is written. It is written at the end as well.
    pub interval: Duration,
}

impl Default for StateFiles {
    fn default() -> Self {
        Self {
            both: None,
            load: None,
            dump: None,
            interval: Duration::from_secs(60),
        }
    }
}

/// The configuration of a node. [`Config::default`] is a development node.
#[derive(Clone, Debug)]
pub struct Config {
    /// The profile that the defaults came from.
    pub profile: Profile,
    /// Address of the main listener, which serves everything.
    pub listen: SocketAddr,
    /// Further addresses of the main listener.
    pub also_listen: Vec<SocketAddr>,
    /// Address of a second listener for the price WebSocket.
    pub ws_listen: Option<SocketAddr>,
    /// Whether it is an error that another program uses `ws_listen`, even if that is the default:
    /// otherwise a warning, since the main listener serves the price WebSocket as well.
    pub ws_listen_required: bool,
    /// The listener that serves metrics.
    pub metrics: MetricsAt,
    /// Address of a listener for CometBFT's interface.
    pub comet_listen: Option<SocketAddr>,
    /// Address of a listener for the Cosmos gateway's REST.
    pub cosmos_rest_listen: Option<SocketAddr>,
    /// Address of a listener for gRPC.
    pub grpc_listen: Option<SocketAddr>,
    /// Unix socket that also serves everything.
    pub listen_unix: Option<PathBuf>,
    /// Certificate and private key of the listeners; without them they speak plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Origins of web pages that may use the interfaces.
    pub origins: Origins,
    /// Host names that requests may carry.
    pub hosts: Hosts,
    /// EVM chain id.
    pub chain_id: u64,
    /// Interval between blocks; without it a block is sealed as soon as there is a transaction to
    /// include.
    pub block_time: Option<Duration>,
    /// Seal blocks on demand only.
    pub no_mining: bool,
    /// Whether blocks are sealed at once as well, beside those at an interval.
    pub mixed_mining: bool,
    /// Keep no index of addresses, and do not serve the explorer API.
    pub no_explorer: bool,
    /// Directory of compilers, with which sources of contracts are verified.
    pub solc_directory: Option<PathBuf>,
    /// Directory of artifacts, by whose code deployed contracts are identified.
    pub artifacts: Option<PathBuf>,
    /// Gas limit of new blocks.
    pub gas_limit: u64,
    /// The timestamps of blocks that are sealed within a second; by default shared, and increasing
    /// with a genesis file and on a bare chain.
    pub block_timestamps: Option<BlockTimestamps>,
    /// Whether a block's transactions may use more than its gas limit.
    pub disable_block_gas_limit: bool,
    /// Whether contracts and the code that creates them may have any size.
    pub disable_code_size_limit: bool,
    /// Whether the gas limit of a transaction is capped since Osaka (EIP-7825); by default in
    /// production and with a genesis file.
    pub enable_tx_gas_limit: Option<bool>,
    /// The hardfork whose rules apply from the first block.
    pub hardfork: Fork,
    /// Mnemonic of the development accounts.
    pub mnemonic: String,
    /// Number of development accounts.
    pub accounts: u32,
    /// Path of the accounts' keys, to which their number is added.
    pub derivation_path: String,
    /// Balance of each development account in wei.
    pub balance: U256,
    /// A genesis file in geth's format, instead of the network's own first block. A fork begins with
    /// its accounts.
    pub genesis: Option<PathBuf>,
    /// Whether the chain begins without the network's contracts.
    pub bare: bool,
    /// Number of the first block.
    pub genesis_number: u64,
    /// Time of the first block, in seconds since the Unix epoch; the time of the start by default.
    pub genesis_time: Option<u64>,
    /// Base fee of the first block, in wei per gas; EIP-1559's initial one by default.
    pub genesis_base_fee: Option<u64>,
    /// Number of blocks after which one is safe, and half of those after which it is final.
    pub slots_in_an_epoch: u64,
    /// Whether anvil's conventions hold: the second block has the base fee of the first, and the time
    /// may be set to the past.
    pub anvil_conventions: bool,
    /// Whether the chain begins with the deployment proxy.
    pub create2_deployer: bool,
    /// Whether every account may send transactions without a signature, until a development method
    /// says otherwise.
    pub auto_impersonate: bool,
    /// Files of blocks to import before serving, in this order.
    pub import: Vec<PathBuf>,
    /// Whether the import skips invalid blocks instead of failing.
    pub import_continue: bool,
    /// Files that a chain in memory is loaded from and written to.
    pub state_files: StateFiles,
    /// Directory of the chain; without it the chain is in memory.
    pub data_dir: Option<PathBuf>,
    /// The durability of a block before it is acknowledged.
    pub durability: Durability,
    /// Bytes of the log between two checkpoints of the state.
    pub checkpoint_bytes: u64,
    /// Seed of the price simulation.
    pub seed: u64,
    /// A scenario to start with the node: a file, or the name of a ready-made one.
    pub scenario: Option<PathBuf>,
    /// File with the token that opens `/api/admin`; without it only the development profile has
    /// these routes.
    pub admin_token_file: Option<PathBuf>,
    /// File to write the URLs and the process id to once every listener is bound.
    pub ready_file: Option<PathBuf>,
    /// Print nothing but errors.
    pub quiet: bool,
    /// The output of transactions in the terminal.
    pub console: ConsoleConfig,
    /// The format of log lines.
    pub log_format: LogFormat,
    /// Whether log lines go to standard output instead of standard error.
    pub logs_to_stdout: bool,
    /// Filter of the log, as in `tracing_subscriber::EnvFilter`.
    pub log_level: String,
    /// The export of traces.
    pub traces: Traces,
    /// The chain to fork, if any.
    pub fork: ForkConfig,
    /// The cluster that the node belongs to, if any.
    pub cluster: ClusterConfig,
    /// The network that is mirrored.
    pub network: Network,
    /// JSON-RPC.
    pub rpc: RpcConfig,
    /// The exchange.
    pub exchange: ExchangeConfig,
    /// REST requests to the exchange per minute and client, as many to the faucet, and as many about
    /// users' activity; 0 for no limit.
    pub rate_limit: u32,
    /// REST requests to lending per minute and client; 0 for no limit.
    pub lending_rate_limit: u32,
    /// Reverse proxies whose forwarding headers name the client.
    pub trusted_proxies: Vec<IpNet>,
    /// Most WebSockets of one client for prices, and as many of CometBFT's.
    pub max_sockets_per_client: usize,
    /// The faucet.
    pub faucet: FaucetConfig,
    /// The origins from which the page may load.
    pub page: PageConfig,
    /// Limits of each listener.
    pub listener: ListenerLimits,
    /// Limits of the transaction pool.
    pub pool: PoolLimits,
    /// Lowest tip that the pool accepts, in wei per gas.
    pub min_tip: u64,
    /// Limits of the history in memory.
    pub history: HistoryLimits,
    /// File with the private key of the account that owns the contracts.
    pub treasury_file: Option<PathBuf>,
    /// Directory of keystore files with the accounts that the node signs for.
    pub keystore: Option<PathBuf>,
    /// File with the password of these keystore files.
    pub password_file: Option<PathBuf>,
    /// File with the private key of the account that updates prices.
    pub updater_file: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profile: Profile::Development,
            also_listen: Vec::new(),
            listen: SocketAddr::from(([127, 0, 0, 1], 8545)),
            ws_listen: Some(SocketAddr::from(([127, 0, 0, 1], 3001))),
            ws_listen_required: false,
            metrics: MetricsAt::Beside,
            comet_listen: None,
            cosmos_rest_listen: None,
            grpc_listen: None,
            listen_unix: None,
            tls: None,
            origins: Origins::Any,
            hosts: Hosts::default(),
            chain_id: 125,
            block_time: None,
            no_mining: false,
            mixed_mining: false,
            no_explorer: false,
            solc_directory: None,
            artifacts: None,
            gas_limit: 60_000_000,
            block_timestamps: None,
            disable_block_gas_limit: false,
            disable_code_size_limit: false,
            enable_tx_gas_limit: None,
            hardfork: Fork::LATEST,
            mnemonic: DEVELOPMENT_MNEMONIC.to_owned(),
            accounts: 10,
            balance: U256::from(10_000) * crate::genesis::COIN,
            derivation_path: "m/44'/60'/0'/0".to_owned(),
            genesis: None,
            bare: false,
            genesis_number: 0,
            genesis_time: None,
            genesis_base_fee: None,
            slots_in_an_epoch: 0,
            anvil_conventions: false,
            create2_deployer: true,
            auto_impersonate: false,
            import: Vec::new(),
            import_continue: false,
            data_dir: None,
            durability: Durability::Fsync,
            checkpoint_bytes: 32 << 20,
            seed: 1,
            scenario: None,
            admin_token_file: None,
            state_files: StateFiles::default(),
            ready_file: None,
            quiet: false,
            console: ConsoleConfig::default(),
            log_format: LogFormat::Text,
            logs_to_stdout: false,
            log_level: "info".to_owned(),
            traces: Traces::default(),
            fork: ForkConfig::default(),
            cluster: ClusterConfig::default(),
            network: Network::default(),
            rpc: RpcConfig::default(),
            exchange: ExchangeConfig::default(),
            rate_limit: 100,
            lending_rate_limit: 0,
            trusted_proxies: Vec::new(),
            max_sockets_per_client: 1_000,
            faucet: FaucetConfig::default(),
            page: PageConfig::default(),
            listener: ListenerLimits::default(),
            pool: PoolLimits::default(),
            min_tip: 0,
            history: HistoryLimits::default(),
            treasury_file: None,
            keystore: None,
            password_file: None,
            updater_file: None,
        }
    }
}

impl Config {
    /// Returns the configuration of a development node on free ports that prints nothing, for
    /// tests.
    pub fn test() -> Self {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        Self {
            listen: free,
            ws_listen: Some(free),
            quiet: true,
            ..Self::default()
        }
    }

    /// Returns whether the chain begins with the network's first block, and so with exchange and
    /// lending.
    pub fn begins_network(&self) -> bool {
        self.may_have_exchange() && self.fork.url.is_none()
    }

    /// Returns whether the chain may have exchange and lending: it begins with no genesis file, and
    /// is not bare. On a fork this depends on the other chain.
    pub fn may_have_exchange(&self) -> bool {
        !self.begins_with_file() && !self.bare
    }

    /// Returns whether the first block is that of a genesis file. That of a fork is the other chain's.
    pub fn begins_with_file(&self) -> bool {
        self.genesis.is_some() && self.fork.url.is_none()
    }

    /// Returns the chain id that was chosen in place of the one that a genesis file or the forked
    /// chain has.
    pub fn chosen_chain_id(&self) -> Option<u64> {
        self.fork.chain_id
    }

    /// Returns the chain id of the network, which a fork of it may have replaced by another.
    pub fn network_chain_id(&self) -> u64 {
        self.network.evm_chain_id().unwrap_or(self.chain_id)
    }

    /// Returns the timestamps of blocks that are sealed within a second.
    pub fn block_timestamps(&self) -> BlockTimestamps {
        let is_plain = self.begins_with_file() || self.bare;
        self.block_timestamps.unwrap_or(if is_plain {
            BlockTimestamps::Increasing
        } else {
            BlockTimestamps::Shared
        })
    }

    /// Returns whether the gas limit of a transaction is capped (EIP-7825).
    pub fn caps_transaction_gas(&self) -> bool {
        self.enable_tx_gas_limit
            .unwrap_or(self.profile == Profile::Production || self.begins_with_file())
    }

    /// Returns the defaults of a profile.
    pub fn of(profile: Profile) -> Self {
        let mut config = Self {
            profile,
            ..Self::default()
        };
        if profile == Profile::Production {
            config.accounts = 0;
            config.ws_listen_required = true;
            config.min_tip = 1;
            config.block_time = Some(Duration::from_secs(1));
            config.rpc.development = false;
            config.faucet = FaucetConfig::production();
        }
        config
    }
}

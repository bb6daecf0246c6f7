//! From settings to a checked configuration.
//!
//! What the user gave, in a file, the environment or flags, is one table of [`Values`]; [`Config::from_values`] turns it
//! into what the program means by it, or names what is wrong. Flags win over the environment, the environment over
//! the file, the file over the profile's defaults.

mod check;
mod check_fork;
mod layers;
mod problems;
mod reader;
mod settings;
mod show;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use alloy_primitives::U256;

pub use layers::{Origin, Values};
pub use problems::problems;
pub use settings::{Kind, SETTINGS, Setting};

use crate::{
    chain::{HistoryLimits, PoolLimits},
    console::ConsoleConfig,
    evm::Fork,
    exchange::ExchangeConfig,
    fork::ForkConfig,
    log::Durability,
    network::Network,
    rpc::RpcConfig,
    web::{Hosts, ListenerLimits, Origins},
};

/// The mnemonic that every development tool starts with.
pub const DEVELOPMENT_MNEMONIC: &str = "test test test test test test test test test test test junk";

/// What is wrong with a configuration. The message names the setting and where it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

impl ConfigError {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Which defaults hold, and whether there are development methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Funded accounts with known keys, development methods.
    Development,
    /// Neither.
    Production,
}

/// Where metrics are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsAt {
    /// At `/metrics`, beside everything else.
    Beside,
    /// At `/metrics` of a listener of their own.
    Own(SocketAddr),
    /// Nowhere.
    Off,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs: one JSON object a line.
    Json,
}

/// Traces, and who gets them.
#[derive(Clone, Debug, PartialEq)]
pub struct Traces {
    /// URL that spans are sent to, as OTLP in protobuf.
    pub endpoint: String,
    /// How many of the traces that begin here are recorded, from 0 to 1.
    pub sample_ratio: f64,
}

impl Traces {
    /// The ratio with which every trace is recorded.
    pub(crate) const ALL: f64 = 1.0;
}

/// What a node is to do. [`Config::default`] is a development node.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which defaults hold.
    pub profile: Profile,
    /// Where everything is served.
    pub listen: SocketAddr,
    /// Where the price WebSocket is served besides.
    pub ws_listen: Option<SocketAddr>,
    /// Where metrics are served.
    pub metrics: MetricsAt,
    /// A Unix socket where everything is served besides.
    pub listen_unix: Option<PathBuf>,
    /// Certificates and private key of the listeners, as PEM files; without them they speak plain HTTP.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Pages that may use the interfaces.
    pub origins: Origins,
    /// Names that requests may ask for the node by.
    pub hosts: Hosts,
    /// EVM chain id.
    pub chain_id: u64,
    /// Seal a block every so often, instead of as soon as there is something to include.
    pub block_time: Option<Duration>,
    /// Seal blocks on demand only.
    pub no_mining: bool,
    /// Gas limit of new blocks.
    pub gas_limit: u64,
    /// Rules from the first block on.
    pub hardfork: Fork,
    /// Mnemonic of the development accounts.
    pub mnemonic: String,
    /// Number of development accounts.
    pub accounts: u32,
    /// Balance of each in wei.
    pub balance: U256,
    /// A genesis file in geth's format, instead of the network's own first block.
    pub genesis: Option<PathBuf>,
    /// Files of blocks to import before serving, in this order.
    pub import: Vec<PathBuf>,
    /// Whether the import leaves out blocks that cannot follow, instead of ending there.
    pub import_continue: bool,
    /// Where the chain is kept.
    pub data_dir: Option<PathBuf>,
    /// What has to be on disk before something is acknowledged.
    pub durability: Durability,
    /// Bytes of the log between two checkpoints of the state.
    pub checkpoint_bytes: u64,
    /// Seed of the price simulation.
    pub seed: u64,
    /// What to write once everything listens.
    pub ready_file: Option<PathBuf>,
    /// Print nothing but errors.
    pub quiet: bool,
    /// What is printed of transactions.
    pub console: ConsoleConfig,
    /// How log lines look.
    pub log_format: LogFormat,
    /// What is logged.
    pub log_level: String,
    /// Where traces are sent, if anywhere.
    pub traces: Option<Traces>,
    /// The chain to begin on, if it is another node's.
    pub fork: ForkConfig,
    /// The network that is mirrored.
    pub network: Network,
    /// JSON-RPC.
    pub rpc: RpcConfig,
    /// The exchange.
    pub exchange: ExchangeConfig,
    /// REST requests to lending per minute and client; 0 for no limit.
    pub lending_rate_limit: u32,
    /// What each listener allows.
    pub listener: ListenerLimits,
    /// How much the pool holds.
    pub pool: PoolLimits,
    /// Least tip of a transaction that the pool accepts, in wei per gas.
    pub min_tip: u64,
    /// How much of the past is held in memory.
    pub history: HistoryLimits,
    /// Private key of the account that owns the contracts.
    pub treasury_file: Option<PathBuf>,
    /// Directory of keystore files whose accounts the node signs for.
    pub keystore: Option<PathBuf>,
    /// Their password.
    pub password_file: Option<PathBuf>,
    /// Private key of the account that updates prices.
    pub updater_file: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profile: Profile::Development,
            listen: SocketAddr::from(([127, 0, 0, 1], 8545)),
            ws_listen: Some(SocketAddr::from(([127, 0, 0, 1], 3001))),
            metrics: MetricsAt::Beside,
            listen_unix: None,
            tls: None,
            origins: Origins::Any,
            hosts: Hosts::default(),
            chain_id: 125,
            block_time: None,
            no_mining: false,
            gas_limit: 60_000_000,
            hardfork: Fork::LATEST,
            mnemonic: DEVELOPMENT_MNEMONIC.to_owned(),
            accounts: 10,
            balance: U256::from(10_000) * crate::genesis::COIN,
            genesis: None,
            import: Vec::new(),
            import_continue: false,
            data_dir: None,
            durability: Durability::Fsync,
            checkpoint_bytes: 32 << 20,
            seed: 1,
            ready_file: None,
            quiet: false,
            console: ConsoleConfig::default(),
            log_format: LogFormat::Text,
            log_level: "info".to_owned(),
            traces: None,
            fork: ForkConfig::default(),
            network: Network::default(),
            rpc: RpcConfig::default(),
            exchange: ExchangeConfig::default(),
            lending_rate_limit: 0,
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
    /// A development node on free ports that prints nothing: for tests.
    pub fn test() -> Self {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        Self { listen: free, ws_listen: Some(free), quiet: true, ..Self::default() }
    }

    /// The defaults of a profile.
    pub fn of(profile: Profile) -> Self {
        let mut config = Self { profile, ..Self::default() };
        if profile == Profile::Production {
            config.accounts = 0;
            config.min_tip = 1;
            config.block_time = Some(Duration::from_secs(1));
            config.rpc.development = false;
        }
        config
    }
}

//! From settings to a checked configuration.
//!
//! What the user gave, in a file, the environment or flags, is one table of [`Values`]; [`Config::from_values`] turns it
//! into what the program means by it, or names what is wrong. Flags win over the environment, the environment over
//! the file, the file over the profile's defaults.

mod layers;
mod settings;

use std::{fmt::Display, net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use alloy_primitives::{
    U256,
    utils::{format_ether, parse_ether},
};
use ipnet::IpNet;
use toml::Value;

pub use layers::{Origin, Values};
pub use settings::{Kind, SETTINGS, Setting};

use crate::{
    account::{Hrp, Mnemonic},
    chain::{HistoryLimits, PoolLimits},
    evm::Fork,
    exchange::ExchangeConfig,
    network::Network,
    rpc::{Dialect, RpcConfig},
    web::ListenerLimits,
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

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs: one JSON object a line.
    Json,
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
    /// Blocks to import before serving.
    pub import: Option<PathBuf>,
    /// Where the chain is kept.
    pub data_dir: Option<PathBuf>,
    /// Seed of the price simulation.
    pub seed: u64,
    /// What to write once everything listens.
    pub ready_file: Option<PathBuf>,
    /// Print nothing but errors.
    pub quiet: bool,
    /// How log lines look.
    pub log_format: LogFormat,
    /// What is logged.
    pub log_level: String,
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
    /// How much of the past is held in memory.
    pub history: HistoryLimits,
    /// Private key of the account that owns the contracts.
    pub treasury_file: Option<PathBuf>,
    /// Private key of the account that updates prices.
    pub updater_file: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            profile: Profile::Development,
            listen: SocketAddr::from(([127, 0, 0, 1], 8545)),
            ws_listen: Some(SocketAddr::from(([127, 0, 0, 1], 3001))),
            chain_id: 125,
            block_time: None,
            no_mining: false,
            gas_limit: 60_000_000,
            hardfork: Fork::LATEST,
            mnemonic: DEVELOPMENT_MNEMONIC.to_owned(),
            accounts: 10,
            balance: U256::from(10_000) * crate::genesis::COIN,
            genesis: None,
            import: None,
            data_dir: None,
            seed: 1,
            ready_file: None,
            quiet: false,
            log_format: LogFormat::Text,
            log_level: "info".to_owned(),
            network: Network::default(),
            rpc: RpcConfig::default(),
            exchange: ExchangeConfig::default(),
            lending_rate_limit: 0,
            listener: ListenerLimits::default(),
            pool: PoolLimits::default(),
            history: HistoryLimits::default(),
            treasury_file: None,
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
            config.block_time = Some(Duration::from_secs(1));
            config.rpc.development = false;
        }
        config
    }

    /// Checks values and puts them over the defaults of the profile they name.
    pub fn from_values(values: &Values) -> Result<Self, ConfigError> {
        let read = Reader(values);
        let profile =
            read.choice("profile", &[("development", Profile::Development), ("production", Profile::Production)])?;
        let mut config = Self::of(profile.unwrap_or(Profile::Development));

        read.parsed("listen", "an address and port, such as 127.0.0.1:8545", &mut config.listen)?;
        match read.text("ws-listen") {
            Some((text, _)) if text == "off" => config.ws_listen = None,
            _ => {
                let mut listen = config.ws_listen.unwrap_or(config.listen);
                read.parsed("ws-listen", "an address and port, such as 127.0.0.1:3001, or off", &mut listen)?;
                config.ws_listen = Some(listen);
            }
        }
        read.integer("chain-id", 1..=i64::MAX, &mut config.chain_id)?;
        if let Some(time) = read.seconds("block-time", 0.001..=86_400.0)? {
            config.block_time = Some(time);
        }
        read.switch("no-mining", &mut config.no_mining);
        read.integer("gas-limit", 1_000_000..=1_000_000_000_000, &mut config.gas_limit)?;
        read.parsed("hardfork", "the name of a hardfork", &mut config.hardfork)?;
        read.checked("mnemonic", &mut config.mnemonic, |words| {
            Mnemonic::from_phrase(words).map(|_| words.to_owned()).map_err(|error| error.to_string())
        })?;
        read.integer("accounts", 0..=1_000, &mut config.accounts)?;
        read.checked("balance", &mut config.balance, |text| {
            parse_ether(text).map_err(|_| format!("expected an amount of coins, got `{text}`"))
        })?;
        read.path("genesis", &mut config.genesis);
        read.path("import", &mut config.import);
        read.path("data-dir", &mut config.data_dir);
        read.integer("seed", 0..=i64::MAX, &mut config.seed)?;
        read.path("ready-file", &mut config.ready_file);
        read.switch("quiet", &mut config.quiet);
        if let Some(format) = read.choice("log-format", &[("text", LogFormat::Text), ("json", LogFormat::Json)])? {
            config.log_format = format;
        }
        read.checked("log-level", &mut config.log_level, |text| {
            tracing_subscriber::EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
        })?;
        config.read_network(&read)?;
        config.read_rpc(&read)?;
        config.read_services(&read)?;
        config.read_limits(&read)?;
        read.path("keys.treasury-file", &mut config.treasury_file);
        read.path("keys.updater-file", &mut config.updater_file);
        config.check()?;
        Ok(config)
    }

    fn read_network(&mut self, read: &Reader<'_>) -> Result<(), ConfigError> {
        let network = &mut self.network;
        for (name, field) in [
            ("network.cosmos-chain-id", &mut network.cosmos_chain_id),
            ("network.coin", &mut network.coin),
            ("network.denomination", &mut network.denomination),
            ("network.account-type", &mut network.account_type),
            ("network.key-type", &mut network.key_type),
        ] {
            read.checked(name, field, |text| {
                if text.is_empty() { Err("expected text that is not empty".to_owned()) } else { Ok(text.to_owned()) }
            })?;
        }
        read.checked("network.bech32-prefix", &mut network.hrp, |text| {
            Hrp::new(text).map_err(|error| error.to_string())
        })
    }

    fn read_rpc(&mut self, read: &Reader<'_>) -> Result<(), ConfigError> {
        let rpc = &mut self.rpc;
        // Another chain's file means that clients of go-ethereum will be asking.
        rpc.dialect = if self.genesis.is_some() { Dialect::Ethereum } else { Dialect::Network };
        let dialects = [("network", Dialect::Network), ("ethereum", Dialect::Ethereum)];
        rpc.dialect = read.choice("rpc.errors", &dialects)?.unwrap_or(rpc.dialect);
        read.integer("rpc.max-body", 1_024..=1 << 30, &mut rpc.max_body)?;
        read.integer("rpc.max-batch", 1..=1_000_000, &mut rpc.max_batch)?;
        read.integer("rpc.gas-cap", 21_000..=i64::MAX, &mut rpc.gas_cap)?;
        read.integer("rpc.max-logs", 1..=10_000_000, &mut rpc.max_logs)?;
        read.integer("rpc.max-filters", 0..=10_000_000, &mut rpc.max_filters)?;
        read.integer("rpc.max-subscriptions", 0..=1_000_000, &mut rpc.max_subscriptions)
    }

    fn read_services(&mut self, read: &Reader<'_>) -> Result<(), ConfigError> {
        let exchange = &mut self.exchange;
        if let Some(tick) = read.seconds("exchange.price-tick", 0.0..=3_600.0)? {
            exchange.price_tick = Some(tick).filter(|tick| !tick.is_zero());
        }
        read.integer("exchange.rate-limit", 0..=1_000_000, &mut exchange.rate_limit)?;
        if let Some((items, origin)) = read.list("exchange.trusted-proxies") {
            let network = |text: &str| {
                let single = || text.parse().map(|address: std::net::IpAddr| IpNet::from(address));
                let parsed = text.parse().or_else(|_| single());
                parsed.map_err(|_| {
                    ConfigError::new(format!("{origin}: expected addresses such as 10.0.0.0/8, got `{text}`"))
                })
            };
            exchange.trusted_proxies = items.into_iter().map(network).collect::<Result<_, _>>()?;
        }
        read.integer("exchange.max-sockets-per-client", 1..=1_000_000, &mut exchange.max_sockets_per_client)?;
        read.integer("lending.rate-limit", 0..=1_000_000, &mut self.lending_rate_limit)
    }

    fn read_limits(&mut self, read: &Reader<'_>) -> Result<(), ConfigError> {
        read.integer("limits.connections", 1..=1_000_000, &mut self.listener.connections)?;
        if let Some(timeout) = read.seconds("limits.header-timeout", 0.1..=3_600.0)? {
            self.listener.header_timeout = timeout;
        }
        read.integer("limits.pool", 1..=100_000_000, &mut self.pool.transactions)?;
        read.integer("limits.pool-per-account", 1..=100_000_000, &mut self.pool.per_account)?;
        read.integer("limits.history-blocks", 1..=1_000_000_000, &mut self.history.blocks)?;
        let mut megabytes = self.history.bytes >> 20;
        read.integer("limits.history-megabytes", 1..=1_000_000, &mut megabytes)?;
        self.history.bytes = megabytes << 20;
        Ok(())
    }

    /// What no single setting can tell.
    fn check(&self) -> Result<(), ConfigError> {
        if self.profile == Profile::Production && self.accounts > 0 {
            return Err(ConfigError::new("accounts: the production profile holds no keys; leave it out"));
        }
        if self.ws_listen == Some(self.listen) && self.listen.port() != 0 {
            return Err(ConfigError::new("ws-listen: the same address as listen; choose another port, or off"));
        }
        Ok(())
    }

    /// The value in effect of a setting, as a file would have it; none if it is not set.
    pub fn value_of(&self, name: &str) -> Option<Value> {
        let text = |text: &dyn Display| Some(Value::String(text.to_string()));
        let integer = |number: u64| Some(Value::Integer(number as i64));
        let seconds = |time: Duration| Some(Value::Float(time.as_secs_f64()));
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| Value::String(path.display().to_string()));
        match name {
            "profile" => text(&if self.profile == Profile::Development { "development" } else { "production" }),
            "listen" => text(&self.listen),
            "ws-listen" => Some(Value::String(self.ws_listen.map_or("off".to_owned(), |address| address.to_string()))),
            "chain-id" => integer(self.chain_id),
            "block-time" => self.block_time.and_then(seconds),
            "no-mining" => Some(Value::Boolean(self.no_mining)),
            "gas-limit" => integer(self.gas_limit),
            "hardfork" => text(&self.hardfork.name()),
            "mnemonic" => text(&self.mnemonic),
            "accounts" => integer(self.accounts.into()),
            "balance" => text(&format_ether(self.balance)),
            "genesis" => path(&self.genesis),
            "import" => path(&self.import),
            "data-dir" => path(&self.data_dir),
            "seed" => integer(self.seed),
            "ready-file" => path(&self.ready_file),
            "quiet" => Some(Value::Boolean(self.quiet)),
            "log-format" => text(&if self.log_format == LogFormat::Text { "text" } else { "json" }),
            "log-level" => text(&self.log_level),
            "network.cosmos-chain-id" => text(&self.network.cosmos_chain_id),
            "network.bech32-prefix" => text(&self.network.hrp),
            "network.coin" => text(&self.network.coin),
            "network.denomination" => text(&self.network.denomination),
            "network.account-type" => text(&self.network.account_type),
            "network.key-type" => text(&self.network.key_type),
            "rpc.errors" => text(&if self.rpc.dialect == Dialect::Network { "network" } else { "ethereum" }),
            "rpc.max-body" => integer(self.rpc.max_body as u64),
            "rpc.max-batch" => integer(self.rpc.max_batch as u64),
            "rpc.gas-cap" => integer(self.rpc.gas_cap),
            "rpc.max-logs" => integer(self.rpc.max_logs as u64),
            "rpc.max-filters" => integer(self.rpc.max_filters as u64),
            "rpc.max-subscriptions" => integer(self.rpc.max_subscriptions as u64),
            "exchange.price-tick" => seconds(self.exchange.price_tick.unwrap_or_default()),
            "exchange.rate-limit" => integer(self.exchange.rate_limit.into()),
            "exchange.trusted-proxies" => {
                let proxies = self.exchange.trusted_proxies.iter();
                Some(Value::Array(proxies.map(|proxy| Value::String(proxy.to_string())).collect()))
            }
            "exchange.max-sockets-per-client" => integer(self.exchange.max_sockets_per_client as u64),
            "lending.rate-limit" => integer(self.lending_rate_limit.into()),
            "limits.connections" => integer(self.listener.connections as u64),
            "limits.header-timeout" => seconds(self.listener.header_timeout),
            "limits.pool" => integer(self.pool.transactions as u64),
            "limits.pool-per-account" => integer(self.pool.per_account as u64),
            "limits.history-blocks" => integer(self.history.blocks),
            "limits.history-megabytes" => integer(self.history.bytes as u64 >> 20),
            "keys.treasury-file" => path(&self.treasury_file),
            "keys.updater-file" => path(&self.updater_file),
            _ => None,
        }
    }
}

/// Reads values into fields, with errors that name the setting.
struct Reader<'a>(&'a Values);

impl<'a> Reader<'a> {
    fn text(&self, name: &str) -> Option<(String, &'a Origin)> {
        let (value, origin) = self.0.get(name)?;
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some((text, origin))
    }

    fn list(&self, name: &str) -> Option<(Vec<&'a str>, &'a Origin)> {
        let (value, origin) = self.0.get(name)?;
        Some((value.as_array().into_iter().flatten().filter_map(Value::as_str).collect(), origin))
    }

    fn checked<T>(
        &self,
        name: &str,
        field: &mut T,
        check: impl Fn(&str) -> Result<T, String>,
    ) -> Result<(), ConfigError> {
        if let Some((text, origin)) = self.text(name) {
            *field = check(&text).map_err(|what| ConfigError::new(format!("{origin}: {what}")))?;
        }
        Ok(())
    }

    fn parsed<T: FromStr<Err: Display>>(&self, name: &str, expected: &str, field: &mut T) -> Result<(), ConfigError> {
        self.checked(name, field, |text| {
            text.parse().map_err(|error| format!("expected {expected}, got `{text}` ({error})"))
        })
    }

    fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>, ConfigError> {
        let Some((text, origin)) = self.text(name) else { return Ok(None) };
        let found = choices.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let wrong = || ConfigError::new(format!("{origin}: expected {}, got `{text}`", names.join(" or ")));
        found.map(Some).ok_or_else(wrong)
    }

    fn integer<T: TryFrom<i64>>(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<i64>,
        field: &mut T,
    ) -> Result<(), ConfigError> {
        let Some((value, origin)) = self.0.get(name) else { return Ok(()) };
        let number =
            value.as_integer().filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok());
        let (least, most) = (range.start(), range.end());
        *field =
            number.ok_or_else(|| ConfigError::new(format!("{origin}: expected {least} to {most}, got {value}")))?;
        Ok(())
    }

    fn seconds(&self, name: &str, range: std::ops::RangeInclusive<f64>) -> Result<Option<Duration>, ConfigError> {
        let Some((value, origin)) = self.0.get(name) else { return Ok(None) };
        let number = value.as_float().or(value.as_integer().map(|whole| whole as f64));
        let (least, most) = (range.start(), range.end());
        let wrong = || ConfigError::new(format!("{origin}: expected {least} to {most} seconds, got {value}"));
        number.filter(|number| range.contains(number)).map(Duration::from_secs_f64).map(Some).ok_or_else(wrong)
    }

    fn switch(&self, name: &str, field: &mut bool) {
        if let Some(value) = self.0.get(name).and_then(|(value, _)| value.as_bool()) {
            *field = value;
        }
    }

    fn path(&self, name: &str, field: &mut Option<PathBuf>) {
        if let Some((text, _)) = self.text(name) {
            *field = Some(PathBuf::from(text));
        }
    }
}

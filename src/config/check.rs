//! What values mean, or what is wrong with them.

use std::{path::PathBuf, time::Duration};

use alloy_primitives::utils::parse_ether;
use ipnet::IpNet;

use super::{Config, ConfigError, LogFormat, MetricsAt, Profile, Traces, Values, reader::Reader};
use crate::{
    account::{Hrp, Mnemonic},
    exchange::feed::Policy,
    log::Durability,
    redact,
    rpc::Dialect,
    web::{Budget, HostName, Hosts, Origin, Origins},
};

/// How long a call may take by default where it has to wait for another node's answers.
const FORK_EXECUTION: Duration = Duration::from_secs(60);

impl Config {
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
        read.checked("metrics-listen", &mut config.metrics, |text| match text {
            "beside" => Ok(MetricsAt::Beside),
            "off" => Ok(MetricsAt::Off),
            address => address.parse().map(MetricsAt::Own).map_err(|error| {
                format!("expected an address and port, such as 127.0.0.1:9125, beside or off, got `{text}` ({error})")
            }),
        })?;
        if let Some((items, origin)) = read.list("cors-origins") {
            let parse = |text: &str| {
                text.parse::<Origin>().map_err(|what| ConfigError::new(format!("{origin}: {what}, got `{text}`")))
            };
            config.origins = match items.as_slice() {
                ["*"] => Origins::Any,
                items => Origins::Listed(items.iter().map(|text| parse(text)).collect::<Result<_, _>>()?),
            };
        }
        if let Some((items, origin)) = read.list("allowed-hosts") {
            let parse = |text: &str| {
                text.parse::<HostName>().map_err(|what| ConfigError::new(format!("{origin}: {what}, got `{text}`")))
            };
            config.hosts = match items.as_slice() {
                ["*"] => Hosts::Any,
                items => Hosts::Listed(items.iter().map(|text| parse(text)).collect::<Result<_, _>>()?),
            };
        }
        read.path("listen-unix", &mut config.listen_unix);
        if cfg!(not(unix)) && config.listen_unix.is_some() {
            return Err(ConfigError::new("listen-unix: this system has no Unix sockets"));
        }
        let (mut certificate, mut key) = (None, None);
        read.path("tls.certificate-file", &mut certificate);
        read.path("tls.key-file", &mut key);
        config.tls = match (certificate, key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (Some(_), None) => return Err(ConfigError::new("tls.certificate-file: tls.key-file is missing")),
            (None, Some(_)) => return Err(ConfigError::new("tls.key-file: tls.certificate-file is missing")),
        };
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
        if let Some((paths, _)) = read.list("import") {
            config.import = paths.into_iter().map(PathBuf::from).collect();
        }
        read.switch("import-continue", &mut config.import_continue);
        read.path("data-dir", &mut config.data_dir);
        if let Some(durability) = read.choice("durability", &[("fsync", Durability::Fsync), ("os", Durability::Os)])? {
            config.durability = durability;
        }
        read.integer("seed", 0..=i64::MAX, &mut config.seed)?;
        read.path("ready-file", &mut config.ready_file);
        read.switch("quiet", &mut config.quiet);
        read.integer("verbosity", 0..=4, &mut config.console.verbosity)?;
        if let Some((paths, _)) = read.list("abi") {
            config.console.abi = paths.into_iter().map(PathBuf::from).collect();
        }
        if let Some(format) = read.choice("log-format", &[("text", LogFormat::Text), ("json", LogFormat::Json)])? {
            config.log_format = format;
        }
        read.checked("log-level", &mut config.log_level, |text| {
            tracing_subscriber::EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
        })?;
        if let Some(slow) = read.seconds("slow-request", 0.0..=3_600.0)? {
            config.rpc.slow = Some(slow).filter(|slow| !slow.is_zero());
        }
        config.traces = read_traces(&read)?;
        config.read_fork(&read)?;
        config.read_network(&read)?;
        config.read_rpc(&read)?;
        config.read_services(&read)?;
        config.read_limits(&read)?;
        read.path("keys.treasury-file", &mut config.treasury_file);
        read.path("keys.keystore", &mut config.keystore);
        read.path("keys.password-file", &mut config.password_file);
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
        // Another chain means that clients of go-ethereum will be asking.
        rpc.dialect =
            if self.genesis.is_some() || self.fork.url.is_some() { Dialect::Ethereum } else { Dialect::Network };
        let dialects = [("network", Dialect::Network), ("ethereum", Dialect::Ethereum)];
        rpc.dialect = read.choice("rpc.errors", &dialects)?.unwrap_or(rpc.dialect);
        read.integer("rpc.max-body", 1_024..=1 << 30, &mut rpc.max_body)?;
        read.integer("rpc.max-batch", 1..=1_000_000, &mut rpc.max_batch)?;
        read.integer("rpc.gas-cap", 21_000..=i64::MAX, &mut rpc.gas_cap)?;
        if let Some(timeout) = read.seconds("rpc.execution-timeout", 0.001..=3_600.0)? {
            rpc.execution_timeout = timeout;
        } else if self.fork.url.is_some() {
            rpc.execution_timeout = self.fork.timeout.max(FORK_EXECUTION);
        }
        let mut megabytes = rpc.max_trace_bytes >> 20;
        read.integer("rpc.max-trace-megabytes", 1..=100_000, &mut megabytes)?;
        rpc.max_trace_bytes = megabytes << 20;
        let mut megabytes = rpc.max_dump_bytes >> 20;
        read.integer("rpc.max-dump-megabytes", 1..=100_000, &mut megabytes)?;
        rpc.max_dump_bytes = megabytes << 20;
        read.integer("rpc.max-logs", 1..=10_000_000, &mut rpc.max_logs)?;
        read.integer("rpc.max-filters", 0..=10_000_000, &mut rpc.max_filters)?;
        read.integer("rpc.max-filters-per-client", 0..=10_000_000, &mut rpc.max_filters_per_client)?;
        read.integer("rpc.max-subscriptions", 0..=1_000_000, &mut rpc.max_subscriptions)
    }

    fn read_services(&mut self, read: &Reader<'_>) -> Result<(), ConfigError> {
        let exchange = &mut self.exchange;
        if let Some(tick) = read.seconds("exchange.price-tick", 0.0..=3_600.0)? {
            exchange.price_tick = Some(tick).filter(|tick| !tick.is_zero());
        }
        if let Some((items, origin)) = read.list("exchange.price-sources") {
            let source = |text: &str| text.parse().map_err(|error| ConfigError::new(format!("{origin}: {error}")));
            exchange.price_sources = items.into_iter().map(source).collect::<Result<_, _>>()?;
        }
        let policies = [("fallback", Policy::Fallback), ("median", Policy::Median)];
        exchange.price_policy = read.choice("exchange.price-policy", &policies)?.unwrap_or(exchange.price_policy);
        let upstream = &mut exchange.upstream;
        for (name, least, field) in [
            ("exchange.upstream-interval", 0.1, &mut upstream.interval),
            ("exchange.upstream-timeout", 0.1, &mut upstream.timeout),
            ("exchange.upstream-max-age", 1.0, &mut upstream.max_age),
        ] {
            *field = read.seconds(name, least..=86_400.0)?.unwrap_or(*field);
        }
        read.integer("exchange.upstream-retries", 0..=10, &mut upstream.retries)?;
        if let Some((text, _)) = read.text("exchange.upstream-subscribe") {
            upstream.subscribe = Some(text);
        }
        read.path("exchange.upstream-ca-file", &mut upstream.ca_file);
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
        let mut megabytes = self.rpc.budget.bytes() as u64 >> 20;
        read.integer("limits.transit-megabytes", 16..=1_000_000, &mut megabytes)?;
        self.rpc.budget = Budget::new((megabytes as usize) << 20);
        read.integer("limits.pool", 1..=100_000_000, &mut self.pool.transactions)?;
        read.integer("limits.pool-per-account", 1..=100_000_000, &mut self.pool.per_account)?;
        for (name, field) in [
            ("limits.pool-megabytes", &mut self.pool.bytes),
            ("limits.pool-per-account-megabytes", &mut self.pool.account_bytes),
        ] {
            let mut megabytes = *field >> 20;
            read.integer(name, 1..=1_000_000, &mut megabytes)?;
            *field = megabytes << 20;
        }
        if let Some(lifetime) = read.seconds("limits.pool-lifetime", 0.0..=31_536_000.0)? {
            self.pool.lifetime = Some(lifetime).filter(|lifetime| !lifetime.is_zero());
        }
        read.integer("limits.pool-min-tip", 0..=i64::MAX, &mut self.min_tip)?;
        read.integer("limits.history-blocks", 1..=1_000_000_000, &mut self.history.blocks)?;
        let mut megabytes = self.history.bytes >> 20;
        read.integer("limits.history-megabytes", 1..=1_000_000, &mut megabytes)?;
        self.history.bytes = megabytes << 20;
        let mut kilobytes = self.checkpoint_bytes >> 10;
        read.integer("limits.checkpoint-kilobytes", 16..=1_000_000_000, &mut kilobytes)?;
        self.checkpoint_bytes = kilobytes << 10;
        Ok(())
    }

    /// What no single setting can tell.
    fn check(&self) -> Result<(), ConfigError> {
        self.check_fork()?;
        if self.profile == Profile::Production && self.accounts > 0 {
            return Err(ConfigError::new("accounts: the production profile holds no keys; leave it out"));
        }
        if self.ws_listen == Some(self.listen) && self.listen.port() != 0 {
            return Err(ConfigError::new("ws-listen: the same address as listen; choose another port, or off"));
        }
        Ok(())
    }
}

fn read_traces(read: &Reader<'_>) -> Result<Option<Traces>, ConfigError> {
    let ratio = read.number("traces.sample-ratio", 0.0..=1.0)?;
    let mut endpoint = None;
    read.checked("traces.endpoint", &mut endpoint, |text| {
        let wrong =
            |what: &str| format!("expected a URL such as http://localhost:4318, got `{}` ({what})", redact::url(text));
        let mut url: reqwest::Url = text.parse().map_err(|error| wrong(&format!("{error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("neither http nor https"));
        }
        // What OTLP says of a URL that names the collector only.
        if url.path() == "/" {
            url.set_path("/v1/traces");
        }
        Ok(Some(url.to_string()))
    })?;
    Ok(endpoint.map(|endpoint| Traces { endpoint, sample_ratio: ratio.unwrap_or(Traces::ALL) }))
}

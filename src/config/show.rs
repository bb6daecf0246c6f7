//! The configuration in effect, as a file would have it.

use std::{fmt::Display, path::PathBuf, time::Duration};

use alloy_primitives::utils::format_ether;
use toml::Value;

use super::{Config, LogFormat, MetricsAt, Profile, Traces};
use crate::{
    exchange::feed::Policy,
    log::Durability,
    redact,
    rpc::Dialect,
    web::{Hosts, Origins},
};

impl Config {
    /// The same with `…` in place of what may be a secret of another service: passwords and keys in URLs, and headers.
    pub fn redacted_value_of(&self, name: &str) -> Option<Value> {
        let redacted = |text: &str| Value::String(redact::url(text));
        match name {
            "fork.url" => self.fork.url.as_ref().map(|url| redacted(url.as_str())),
            "fork.headers" => {
                let names = self.fork.headers.iter().map(|(name, _)| Value::String(format!("{name}: …")));
                Some(Value::Array(names.collect()))
            }
            "traces.endpoint" => self.traces.as_ref().map(|traces| redacted(&traces.endpoint)),
            "exchange.price-sources" => {
                let sources = self.exchange.price_sources.iter();
                Some(Value::Array(sources.map(|source| Value::String(source.redacted())).collect()))
            }
            _ => self.value_of(name),
        }
    }

    /// The value in effect of a setting, as a file would have it; none if it is not set.
    pub fn value_of(&self, name: &str) -> Option<Value> {
        let text = |text: &dyn Display| Some(Value::String(text.to_string()));
        let integer = |number: u64| Some(Value::Integer(number as i64));
        let seconds = |time: Duration| Some(Value::Float(time.as_secs_f64()));
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| Value::String(path.display().to_string()));
        let paths = |paths: &[PathBuf]| {
            Some(Value::Array(paths.iter().map(|path| Value::String(path.display().to_string())).collect()))
        };
        match name {
            "profile" => text(&if self.profile == Profile::Development { "development" } else { "production" }),
            "listen" => text(&self.listen),
            "ws-listen" => Some(Value::String(self.ws_listen.map_or("off".to_owned(), |address| address.to_string()))),
            "metrics-listen" => match &self.metrics {
                MetricsAt::Beside => text(&"beside"),
                MetricsAt::Own(address) => text(address),
                MetricsAt::Off => text(&"off"),
            },
            "listen-unix" => path(&self.listen_unix),
            "cors-origins" => Some(Value::Array(match &self.origins {
                Origins::Any => vec![Value::String("*".to_owned())],
                Origins::Listed(all) => all.iter().map(|origin| Value::String(origin.as_str().to_owned())).collect(),
            })),
            "allowed-hosts" => Some(Value::Array(match &self.hosts {
                Hosts::Any => vec![Value::String("*".to_owned())],
                Hosts::Listed(all) => all.iter().map(|host| Value::String(host.as_str().to_owned())).collect(),
            })),
            "chain-id" => integer(self.chain_id),
            "block-time" => self.block_time.and_then(seconds),
            "no-mining" => Some(Value::Boolean(self.no_mining)),
            "gas-limit" => integer(self.gas_limit),
            "hardfork" => text(&self.hardfork.name()),
            "mnemonic" => text(&self.mnemonic),
            "accounts" => integer(self.accounts.into()),
            "balance" => text(&format_ether(self.balance)),
            "genesis" => path(&self.genesis),
            "import" => paths(&self.import),
            "import-continue" => Some(Value::Boolean(self.import_continue)),
            "data-dir" => path(&self.data_dir),
            "durability" => text(&if self.durability == Durability::Fsync { "fsync" } else { "os" }),
            "seed" => integer(self.seed),
            "ready-file" => path(&self.ready_file),
            "quiet" => Some(Value::Boolean(self.quiet)),
            "verbosity" => integer(self.console.verbosity.into()),
            "abi" => paths(&self.console.abi),
            "log-format" => text(&if self.log_format == LogFormat::Text { "text" } else { "json" }),
            "log-level" => text(&self.log_level),
            "slow-request" => seconds(self.rpc.slow.unwrap_or_default()),
            "traces.endpoint" => self.traces.as_ref().map(|traces| Value::String(traces.endpoint.clone())),
            "traces.sample-ratio" => {
                Some(Value::Float(self.traces.as_ref().map_or(Traces::ALL, |traces| traces.sample_ratio)))
            }
            "fork.url" => self.fork.url.as_ref().and_then(|url| text(url)),
            "fork.block" => self.fork.block.and_then(integer),
            "fork.headers" => {
                let headers = self.fork.headers.iter();
                Some(Value::Array(headers.map(|(name, value)| Value::String(format!("{name}: {value}"))).collect()))
            }
            "fork.timeout" => seconds(self.fork.timeout),
            "fork.retries" => integer(self.fork.retries.into()),
            "fork.retry-backoff" => seconds(self.fork.retry_backoff),
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
            "rpc.execution-timeout" => seconds(self.rpc.execution_timeout),
            "rpc.max-trace-megabytes" => integer(self.rpc.max_trace_bytes as u64 >> 20),
            "rpc.max-dump-megabytes" => integer(self.rpc.max_dump_bytes as u64 >> 20),
            "rpc.max-logs" => integer(self.rpc.max_logs as u64),
            "rpc.max-filters" => integer(self.rpc.max_filters as u64),
            "rpc.max-filters-per-client" => integer(self.rpc.max_filters_per_client as u64),
            "rpc.max-subscriptions" => integer(self.rpc.max_subscriptions as u64),
            "exchange.price-tick" => seconds(self.exchange.price_tick.unwrap_or_default()),
            "exchange.price-sources" => {
                let sources = self.exchange.price_sources.iter();
                Some(Value::Array(sources.map(|source| Value::String(source.to_string())).collect()))
            }
            "exchange.price-policy" => {
                text(&if self.exchange.price_policy == Policy::Fallback { "fallback" } else { "median" })
            }
            "exchange.upstream-interval" => seconds(self.exchange.upstream.interval),
            "exchange.upstream-timeout" => seconds(self.exchange.upstream.timeout),
            "exchange.upstream-retries" => integer(self.exchange.upstream.retries.into()),
            "exchange.upstream-max-age" => seconds(self.exchange.upstream.max_age),
            "exchange.upstream-subscribe" => self.exchange.upstream.subscribe.clone().map(Value::String),
            "exchange.upstream-ca-file" => path(&self.exchange.upstream.ca_file),
            "exchange.rate-limit" => integer(self.exchange.rate_limit.into()),
            "exchange.trusted-proxies" => {
                let proxies = self.exchange.trusted_proxies.iter();
                Some(Value::Array(proxies.map(|proxy| Value::String(proxy.to_string())).collect()))
            }
            "exchange.max-sockets-per-client" => integer(self.exchange.max_sockets_per_client as u64),
            "lending.rate-limit" => integer(self.lending_rate_limit.into()),
            "limits.connections" => integer(self.listener.connections as u64),
            "limits.header-timeout" => seconds(self.listener.header_timeout),
            "limits.transit-megabytes" => integer(self.rpc.budget.bytes() as u64 >> 20),
            "limits.pool" => integer(self.pool.transactions as u64),
            "limits.pool-per-account" => integer(self.pool.per_account as u64),
            "limits.pool-megabytes" => integer(self.pool.bytes as u64 >> 20),
            "limits.pool-per-account-megabytes" => integer(self.pool.account_bytes as u64 >> 20),
            "limits.pool-min-tip" => integer(self.min_tip),
            "limits.pool-lifetime" => seconds(self.pool.lifetime.unwrap_or_default()),
            "limits.history-blocks" => integer(self.history.blocks),
            "limits.history-megabytes" => integer(self.history.bytes as u64 >> 20),
            "limits.checkpoint-kilobytes" => integer(self.checkpoint_bytes >> 10),
            "tls.certificate-file" => path(&self.tls.as_ref().map(|(certificate, _)| certificate.clone())),
            "tls.key-file" => path(&self.tls.as_ref().map(|(_, key)| key.clone())),
            "keys.keystore" => path(&self.keystore),
            "keys.password-file" => path(&self.password_file),
            "keys.treasury-file" => path(&self.treasury_file),
            "keys.updater-file" => path(&self.updater_file),
            _ => None,
        }
    }
}

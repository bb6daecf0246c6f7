//! How the exchange behaves.

use std::time::Duration;

use ipnet::IpNet;

use super::feed::{Policy, SourceSpec, UpstreamConfig};

/// Settings of the exchange.
#[derive(Clone, Debug)]
pub struct ExchangeConfig {
    /// How often prices move; none if they do not.
    pub price_tick: Option<Duration>,
    /// Where prices come from, in order.
    pub price_sources: Vec<SourceSpec>,
    /// Which of several sources is believed.
    pub price_policy: Policy,
    /// How upstreams are asked.
    pub upstream: UpstreamConfig,
    /// REST requests per minute and client; 0 for no limit.
    pub rate_limit: u32,
    /// Reverse proxies that may say who the client is.
    pub trusted_proxies: Vec<IpNet>,
    /// Price WebSockets of one client.
    pub max_sockets_per_client: usize,
}

impl Default for ExchangeConfig {
    fn default() -> Self {
        Self {
            price_tick: Some(Duration::from_secs(2)),
            price_sources: vec![SourceSpec::Simulation],
            price_policy: Policy::Fallback,
            upstream: UpstreamConfig::default(),
            rate_limit: 100,
            trusted_proxies: Vec::new(),
            max_sockets_per_client: 1_000,
        }
    }
}

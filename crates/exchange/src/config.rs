//! Configuration of the exchange.

use std::time::Duration;

use ipnet::IpNet;

use super::feed::{Policy, SourceSpec, UpstreamConfig};

/// Settings of the exchange.
#[derive(Clone, Debug)]
pub struct ExchangeConfig {
    /// Interval of price updates; none if prices do not move.
    pub price_tick: Option<Duration>,
    /// Price sources in order.
    pub price_sources: Vec<SourceSpec>,
    /// The way to combine several sources.
    pub price_policy: Policy,
    /// Settings of upstream sources.
    pub upstream: UpstreamConfig,
    /// REST requests per minute and client; 0 for no limit.
    pub rate_limit: u32,
    /// Reverse proxies whose forwarding headers name the client.
    pub trusted_proxies: Vec<IpNet>,
    /// Most price WebSockets of one client.
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

//! Configuration of the exchange.

use std::time::Duration;

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
}

impl Default for ExchangeConfig {
    fn default() -> Self {
        Self {
            price_tick: Some(Duration::from_secs(2)),
            price_sources: vec![SourceSpec::Simulation],
            price_policy: Policy::Fallback,
            upstream: UpstreamConfig::default(),
        }
    }
}

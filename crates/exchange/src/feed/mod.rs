//! Sources of prices.
//!
//! A [`Source`] proposes prices; the [updater](super::Updater) puts them on the chain. A source
//! keeps no state of the chain: each call passes what it needs, so that after a revert or a restart
//! it continues from the chain's prices. A [`SourceSet`] combines several sources.

mod condition;
mod error;
mod json_path;
mod manual;
mod noise;
mod replay;
mod scripted;
mod simulation;
mod source_set;
mod spec;
mod upstream;

use tetrad_network::network::USD_DECIMALS;
use tetrad_stdx::decimal;

pub use condition::{Condition, SourceHealth};
pub use error::FeedError;
pub use json_path::JsonPath;
pub use manual::Manual;
pub use replay::{Recording, Replay, ReplayError};
pub use scripted::{PricePath, PriceScript, ScriptedPrices};
pub use simulation::Simulation;
pub use source_set::{Policy, SourceSet, SourceSetConfig};
pub use spec::SourceSpec;
pub use upstream::{Upstream, UpstreamConfig};

use super::oracle::Feed;

/// The context of a price update, for sources.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The prices that the source continues from, in the order of the network's tokens: those of
    /// sources that take precedence over it, and the oracle's.
    pub current: &'a [Feed],
    /// Time of the block, in seconds since the Unix epoch.
    pub time: u64,
    /// Time of the first block.
    pub genesis: u64,
    /// Seconds over which prices move. While updates come on time this is the tick, so that the
    /// n-th update is the same in every run. Zero between ticks.
    pub elapsed: u64,
    /// Number of updates before this one.
    pub update: u64,
}

/// A source of prices.
pub trait Source: Send + Sync {
    /// A price for each of the network's tokens, in US dollars × 10^8; none where the source has no
    /// price.
    fn prices(&self, moment: &Moment<'_>) -> Vec<Option<u64>>;

    /// The condition of the source.
    fn condition(&self) -> Condition;
}

/// Parses a decimal number such as `3512.35` or `1.7e-1` as US dollars × 10^8, truncated; none if
/// the oracle cannot hold it.
pub fn usd_e8(text: &str) -> Option<u64> {
    let scaled = decimal::parse(text, USD_DECIMALS)?;
    u64::try_from(scaled)
        .ok()
        .filter(|price| (1..=i64::MAX as u64).contains(price))
}

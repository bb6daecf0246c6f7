//! Where prices come from.
//!
//! A [`Source`] says what prices should be; the [updater](super::Updater) puts them on the chain. A source keeps no
//! state of the chain's: what it needs of it comes with every question, so that after a revert or a restart it goes on
//! from whatever the chain says. Several sources make a [`Panel`], which decides whom to believe.

mod condition;
mod json_path;
mod manual;
mod noise;
mod panel;
mod replay;
mod simulation;
mod spec;
mod upstream;

pub use condition::{Condition, Health};
pub use json_path::JsonPath;
pub use manual::Manual;
pub use panel::{FeedError, Panel, PanelConfig, Policy};
pub use replay::{Recording, Replay, ReplayError};
pub use simulation::{Backwards, Simulation};
pub use spec::{SourceSpec, SpecError};
pub use upstream::{Upstream, UpstreamConfig};

use super::oracle::Feed;

/// What a source may look at when a block is about to get prices.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The oracle's prices, in the order of the network's tokens.
    pub current: &'a [Feed],
    /// Time of the block, in seconds since the Unix epoch.
    pub time: u64,
    /// Time of the first block.
    pub genesis: u64,
    /// Seconds over which prices move. As long as updates come about as often as they should it is the tick, so that
    /// the n-th update is the same in every run.
    pub elapsed: u64,
    /// How many updates came before.
    pub update: u64,
}

/// Something that knows prices.
pub trait Source: Send + Sync {
    /// A price for each of the network's tokens, in US dollars × 10^8; none where the source has no opinion.
    fn prices(&self, moment: &Moment<'_>) -> Vec<Option<u64>>;

    /// How well it does.
    fn condition(&self) -> Condition;
}

/// A decimal number such as `3512.35` or `1.7e-1` as US dollars × 10^8, what is below that cut off; none unless the
/// oracle can hold it.
pub(super) fn usd_e8(text: &str) -> Option<u64> {
    let scaled = crate::decimal::parse(text, super::quote::USD_DECIMALS)?;
    u64::try_from(scaled).ok().filter(|price| (1..=i64::MAX as u64).contains(price))
}

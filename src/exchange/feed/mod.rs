//! Where prices come from.
//!
//! A [`Source`] says what prices should be; the [updater](super::Updater) puts them on the chain. A source keeps no
//! state of the chain's: what it needs of it comes with every question, so that after a revert or a restart it goes on
//! from whatever the chain says.

mod noise;
mod simulation;

pub use simulation::{Backwards, Simulation};

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
}

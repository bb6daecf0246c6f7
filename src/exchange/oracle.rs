//! The oracle's state, and its events.

use alloy_primitives::{Address, Log};
use alloy_sol_types::SolEvent;

use crate::{
    chain::View,
    contracts::{ReadContractError, bindings::PriceOracle, read},
    network::Network,
};

/// One token's price on chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feed {
    /// US dollars × 10^8 for a whole token; 0 if it has none yet.
    pub price: u64,
    /// When it was set, in seconds since the Unix epoch.
    pub updated_at: u64,
}

/// The oracle at one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleState {
    /// A feed for each of the network's tokens, in their order.
    pub feeds: Vec<Feed>,
    /// Seconds for which a price is valid.
    pub max_age: u64,
    /// How far one update may move a price, in basis points.
    pub max_move_bps: u64,
}

impl OracleState {
    /// Reads the oracle.
    ///
    /// # Errors
    /// Those of [`read`].
    pub fn read(view: &View, network: &Network) -> Result<Self, ReadContractError> {
        let oracle = network.contracts.oracle;
        let tokens = network.tokens.iter().map(|token| token.address).collect();
        let prices = read(view, oracle, &PriceOracle::getPricesCall { tokens })?;
        let max_age = read(view, oracle, &PriceOracle::maxAgeCall {})?;
        let max_move_bps = read(view, oracle, &PriceOracle::maxMoveBpsCall {})?;
        let (requested, got) = (network.tokens.len(), prices.prices.len().min(prices.updatedAts.len()));
        if requested != got {
            let reason = format!("{got} prices for {requested} tokens");
            return Err(ReadContractError::Failed { contract: oracle, reason });
        }
        // The contract keeps both in 64 bits or less.
        let feed = |(price, updated_at): (&alloy_primitives::U256, &alloy_primitives::U256)| Feed {
            price: price.saturating_to(),
            updated_at: updated_at.saturating_to(),
        };
        Ok(Self {
            feeds: prices.prices.iter().zip(&prices.updatedAts).map(feed).collect(),
            max_age: max_age.to(),
            max_move_bps: max_move_bps.into(),
        })
    }

    /// When the newest price was set.
    pub fn newest(&self) -> u64 {
        self.feeds.iter().map(|feed| feed.updated_at).max().unwrap_or(0)
    }

    /// When the oldest price was set.
    pub fn oldest(&self) -> u64 {
        self.feeds.iter().map(|feed| feed.updated_at).min().unwrap_or(0)
    }

    /// Whether a price is missing or too old at `time`, by the oracle's own rule.
    pub fn is_stale(&self, time: u64) -> bool {
        self.feeds.iter().any(|feed| self.is_feed_stale(feed, time))
    }

    /// The same for one token.
    pub fn is_feed_stale(&self, feed: &Feed, time: u64) -> bool {
        feed.price == 0 || time.saturating_sub(feed.updated_at) > self.max_age
    }
}

/// Whether `log` is the oracle's rejection of an update.
pub(super) fn is_rejection(log: &Log, oracle: Address) -> bool {
    log.address == oracle && log.data.topics().first() == Some(&PriceOracle::PriceRejected::SIGNATURE_HASH)
}

/// The token and its new price, if `log` is a price update of the oracle.
pub fn price_update(log: &Log, oracle: Address) -> Option<(Address, Feed)> {
    if log.address != oracle {
        return None;
    }
    let event = PriceOracle::PriceUpdated::decode_log_data(&log.data).ok()?;
    let feed = Feed { price: event.price.saturating_to(), updated_at: event.timestamp.saturating_to() };
    Some((event.token, feed))
}

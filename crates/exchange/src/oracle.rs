//! The oracle's state, and its events.

use alloy_primitives::{Address, Log, U256};
use alloy_sol_types::SolEvent;
use tetrad_chain::View;
use tetrad_contracts::contracts::{
    ReadContractError,
    bindings::{Halt, PriceOracle},
    read,
};
use tetrad_network::network::Network;

/// One token's price on chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feed {
    /// US dollars × 10^8 for a whole token; 0 if it has none yet.
    pub price: u64,
    /// When it was set, in seconds since the Unix epoch.
    pub updated_at: u64,
    /// Whether the token is halted.
    pub halted: bool,
}

/// The reason for which a token is halted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenHalt {
    /// It is not halted.
    None,
    /// Its price is behind its source, which had this price.
    Behind(u64),
    /// The oracle's owner halted it.
    Owner,
}

impl TokenHalt {
    fn new(reason: &Halt, target: &U256) -> Self {
        match reason {
            Halt::None => Self::None,
            Halt::Behind => Self::Behind(target.saturating_to()),
            Halt::Owner | Halt::__Invalid => Self::Owner,
        }
    }
}

/// The oracle at one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleState {
    /// A feed for each of the network's tokens, in their order.
    pub feeds: Vec<Feed>,
    /// The halt of each of the tokens; none if the oracle was deployed before tokens could be
    /// halted.
    pub halts: Option<Vec<TokenHalt>>,
    /// Seconds for which a price is valid.
    pub max_age: u64,
    /// The most by which one update may move a price, in basis points.
    pub max_move_bps: u64,
}

impl OracleState {
    /// Reads the oracle.
    ///
    /// # Errors
    /// Those of [`read`].
    pub fn read(view: &View, network: &Network) -> Result<Self, ReadContractError> {
        let oracle = network.contracts.oracle;
        let tokens: Vec<_> = network.tokens.iter().map(|token| token.address).collect();
        let prices = read(
            view,
            oracle,
            &PriceOracle::getPricesCall {
                tokens: tokens.clone(),
            },
        )?;
        let halts = read_halts(view, oracle, tokens)?;
        let max_age = read(view, oracle, &PriceOracle::maxAgeCall {})?;
        let max_move_bps = read(view, oracle, &PriceOracle::maxMoveBpsCall {})?;

        let halted = halts.as_ref().map_or(network.tokens.len(), Vec::len);
        let requested = network.tokens.len();
        let got = prices.prices.len().min(prices.updatedAts.len()).min(halted);
        if requested != got {
            let reason = format!("{got} prices for {requested} tokens");
            return Err(ReadContractError::Failed {
                contract: oracle,
                reason,
            });
        }

        let feeds = prices
            .prices
            .iter()
            .zip(&prices.updatedAts)
            .enumerate()
            .map(|(token, (price, updated_at))| Feed {
                // The contract keeps both in 64 bits or less.
                price: price.saturating_to(),
                updated_at: updated_at.saturating_to(),
                halted: halts
                    .as_ref()
                    .is_some_and(|halts| halts[token] != TokenHalt::None),
            })
            .collect();

        Ok(Self {
            feeds,
            halts,
            max_age: max_age.to(),
            max_move_bps: max_move_bps.into(),
        })
    }

    /// When the newest price was set.
    pub fn newest(&self) -> u64 {
        self.feeds
            .iter()
            .map(|feed| feed.updated_at)
            .max()
            .unwrap_or(0)
    }

    /// When the oldest price was set.
    pub fn oldest(&self) -> u64 {
        self.feeds
            .iter()
            .map(|feed| feed.updated_at)
            .min()
            .unwrap_or(0)
    }

    /// Whether a price is missing or too old at `time`, by the oracle's own rule.
    pub(crate) fn is_stale(&self, time: u64) -> bool {
        self.feeds.iter().any(|feed| self.is_feed_stale(feed, time))
    }

    /// The same for one token.
    pub(crate) fn is_feed_stale(&self, feed: &Feed, time: u64) -> bool {
        feed.price == 0 || time.saturating_sub(feed.updated_at) > self.max_age
    }
}

/// The accounts that may change prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OracleRoles {
    /// The account that sets any price.
    pub owner: Address,
    /// The account that updates prices; the zero address if there is none.
    pub updater: Address,
}

impl OracleRoles {
    /// Reads the oracle's roles.
    ///
    /// # Errors
    /// Those of [`read`].
    pub fn read(view: &View, network: &Network) -> Result<Self, ReadContractError> {
        let oracle = network.contracts.oracle;
        Ok(Self {
            owner: read(view, oracle, &PriceOracle::ownerCall {})?,
            updater: read(view, oracle, &PriceOracle::updaterCall {})?,
        })
    }
}

/// Reads the tokens' halts; none from an oracle without them, which refuses the call.
fn read_halts(
    view: &View,
    oracle: Address,
    tokens: Vec<Address>,
) -> Result<Option<Vec<TokenHalt>>, ReadContractError> {
    let halts = match read(view, oracle, &PriceOracle::getHaltsCall { tokens }) {
        Ok(halts) => halts,
        Err(ReadContractError::Failed { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };

    let halts = halts
        .halts
        .iter()
        .zip(&halts.targets)
        .map(|(reason, target)| TokenHalt::new(reason, target))
        .collect();
    Ok(Some(halts))
}

/// Whether `log` is the oracle's rejection of an update.
pub(super) fn is_rejection(log: &Log, oracle: Address) -> bool {
    log.address == oracle
        && log.data.topics().first() == Some(&PriceOracle::PriceRejected::SIGNATURE_HASH)
}

/// An event of one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenEvent {
    /// A new price, and when it was set.
    Priced(u64, u64),
    /// The token was halted, or resumed.
    Halted(bool),
}

impl TokenEvent {
    /// The token and the event, if `log` is one of the oracle.
    pub(super) fn of(log: &Log, oracle: Address) -> Option<(Address, Self)> {
        if log.address != oracle {
            return None;
        }
        if let Ok(event) = PriceOracle::PriceUpdated::decode_log_data(&log.data) {
            return Some((
                event.token,
                Self::Priced(event.price.saturating_to(), event.timestamp.saturating_to()),
            ));
        }
        if let Ok(event) = PriceOracle::TokenHalted::decode_log_data(&log.data) {
            return Some((event.token, Self::Halted(true)));
        }
        let event = PriceOracle::TokenResumed::decode_log_data(&log.data).ok()?;
        Some((event.token, Self::Halted(false)))
    }
}

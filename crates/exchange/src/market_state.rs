//! The market at one block, immutable and shared by all readers.

use std::sync::{Arc, OnceLock, Weak};

use alloy_primitives::B256;
use tetrad_chain::Head;
use tetrad_network::network::Network;

use super::{
    history::PriceHistory,
    oracle::OracleState,
    price_message::{PriceMessage, TokenUpdate},
    quote::Quote,
};

/// The market as of one head.
#[derive(Debug)]
pub struct MarketState {
    /// The head. Weak, so that an old market state does not hold an old chain.
    head: Weak<Head>,
    pub(super) network: Arc<Network>,
    /// Height of the head's newest block.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
    /// That block's time, in seconds since the Unix epoch.
    pub time: u64,
    /// A quote for each of the network's tokens, in their order.
    pub quotes: Vec<Quote>,
    /// The oracle's state.
    pub oracle: OracleState,
    /// Past prices.
    pub history: Arc<PriceHistory>,
    /// Sequence number of the newest price message that it includes.
    pub sequence: u64,
    message: OnceLock<PriceMessage>,
}

impl MarketState {
    pub(super) fn new(
        head: &Arc<Head>,
        network: Arc<Network>,
        quotes: Vec<Quote>,
        oracle: OracleState,
        history: Arc<PriceHistory>,
        sequence: u64,
    ) -> Self {
        Self {
            head: Arc::downgrade(head),
            network,
            number: head.number(),
            hash: head.block.hash,
            time: head.block.header.timestamp,
            quotes,
            oracle,
            history,
            sequence,
            message: OnceLock::new(),
        }
    }

    /// Whether this is the market as of `head`. As long as the state exists no other head can
    /// be in its head's place.
    pub(crate) fn is_of(&self, head: &Arc<Head>) -> bool {
        std::ptr::eq(self.head.as_ptr(), Arc::as_ptr(head))
    }

    /// The present price of every token, as a message.
    pub(super) fn message(&self) -> &PriceMessage {
        self.message.get_or_init(|| {
            let quotes = self.quotes.iter().enumerate();
            let updates = quotes.map(|(token, quote)| TokenUpdate {
                token,
                price: quote.price,
                change_24h: quote.change_24h,
                updated_at: quote.updated_at,
                halted: quote.halted,
            });
            PriceMessage::new(self.sequence, self.time, &self.network.tokens, updates)
        })
    }
}

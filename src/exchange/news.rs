//! What a block's logs say about the exchange.

use alloy_primitives::{Address, Bloom, U256};
use alloy_sol_types::SolEvent;

use super::oracle::{Feed, is_rejection, price_update};
use crate::{
    block::Block,
    contracts::{
        bindings::Vault::{Swap, SwapPriced},
        unit,
    },
    network::Network,
};

/// New prices and trades of one block, by the tokens' positions in the network's list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// Prices, in the order in which they were set. A token may come more than once.
    pub prices: Vec<(usize, Feed)>,
    /// Amounts that changed hands in swaps, in US dollars × 10^8 at the price of the swap.
    pub trades: Vec<(usize, u128)>,
    /// Updates that the oracle refused to follow.
    pub rejections: u64,
}

/// Reads blocks.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    oracle: Address,
    vault: Address,
    /// Address and one whole token in its smallest unit.
    tokens: Vec<(Address, U256)>,
    /// Filters of blocks with logs of these have these bits.
    oracle_mark: Bloom,
    vault_mark: Bloom,
}

impl Reader {
    pub(super) fn new(network: &Network) -> Self {
        let (oracle, vault) = (network.contracts.oracle, network.contracts.vault);
        let mark = |address| {
            let mut bloom = Bloom::ZERO;
            bloom.accrue_raw_log(address, &[]);
            bloom
        };
        let tokens = network.tokens.iter().map(|token| (token.address, unit(token))).collect();
        Self { oracle, vault, tokens, oracle_mark: mark(oracle), vault_mark: mark(vault) }
    }

    /// Whether the block may have new prices. Almost never wrong.
    pub(super) fn may_have_prices(&self, block: &Block) -> bool {
        block.header.logs_bloom.contains(&self.oracle_mark)
    }

    /// What the block says.
    pub(super) fn read(&self, block: &Block) -> News {
        let mut news = News::default();
        // Most blocks of a busy chain say nothing, and their filters tell.
        if !self.may_have_prices(block) && !block.header.logs_bloom.contains(&self.vault_mark) {
            return news;
        }
        let mut swap: Option<Swap> = None;
        for at in block.logs() {
            if let Some((token, feed)) = price_update(at.log, self.oracle) {
                news.prices.extend(self.position(token).map(|position| (position, feed)));
            } else if is_rejection(at.log, self.oracle) {
                news.rejections += 1;
            } else if at.log.address == self.vault {
                let data = &at.log.data;
                match Swap::decode_log_data(data) {
                    Ok(event) => swap = Some(event),
                    // How the swap before it was priced.
                    Err(_) => {
                        if let (Ok(priced), Some(swap)) = (SwapPriced::decode_log_data(data), swap.take()) {
                            news.trades.extend(self.value(swap.tokenIn, swap.amountIn, priced.priceIn));
                            news.trades.extend(self.value(swap.tokenOut, swap.amountOut, priced.priceOut));
                        }
                    }
                }
            }
        }
        news
    }

    fn position(&self, token: Address) -> Option<usize> {
        self.tokens.iter().position(|(address, _)| *address == token)
    }

    fn value(&self, token: Address, amount: U256, price: U256) -> Option<(usize, u128)> {
        let position = self.position(token)?;
        let value = amount.saturating_mul(price) / self.tokens[position].1;
        Some((position, value.saturating_to()))
    }
}

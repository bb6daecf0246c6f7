//! Events of the exchange in the logs of a block.

use alloy_primitives::{Address, Bloom, U256};
use alloy_sol_types::SolEvent;
use tetrad_contracts::contracts::{
    bindings::Vault::{Swap, SwapPriced},
    unit,
};
use tetrad_network::network::Network;
use tetrad_primitives::block::Block;

use super::oracle::{TokenEvent, is_rejection};

/// Events of the oracle, and trades, of one block, by the tokens' positions in the network's list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExchangeEvents {
    /// Prices, and halts, in order. A token may occur more than once.
    pub tokens: Vec<(usize, TokenEvent)>,
    /// Both sides of each swap, in US dollars × 10^8 at the price of the swap.
    pub trades: Vec<(usize, u128)>,
    /// Updates that the oracle refused to follow.
    pub rejections: u64,
}

/// Reads the events of blocks.
#[derive(Clone, Debug)]
pub(super) struct EventReader {
    oracle: Address,
    vault: Address,
    /// The address of each token, and one whole token in its smallest unit.
    tokens: Vec<(Address, U256)>,
    /// Bits set in the bloom filter of every block with logs of the oracle, and of the vault.
    oracle_mark: Bloom,
    vault_mark: Bloom,
}

impl EventReader {
    pub(super) fn new(network: &Network) -> Self {
        let oracle = network.contracts.oracle;
        let vault = network.contracts.vault;
        let tokens = network
            .tokens
            .iter()
            .map(|token| (token.address, unit(token)))
            .collect();
        Self {
            oracle,
            vault,
            tokens,
            oracle_mark: mark_of(oracle),
            vault_mark: mark_of(vault),
        }
    }

    /// Whether the block may have price updates. False positives are rare.
    pub(super) fn may_have_prices(&self, block: &Block) -> bool {
        block.header.logs_bloom.contains(&self.oracle_mark)
    }

    /// Returns the events of a block.
    pub(super) fn read(&self, block: &Block) -> ExchangeEvents {
        let mut events = ExchangeEvents::default();
        // The filter rules out most blocks of a busy chain.
        if !self.may_have_prices(block) && !block.header.logs_bloom.contains(&self.vault_mark) {
            return events;
        }

        let mut swap: Option<Swap> = None;
        for at in block.logs() {
            if let Some((token, event)) = TokenEvent::of(at.log, self.oracle) {
                events
                    .tokens
                    .extend(self.position(token).map(|position| (position, event)));
            } else if is_rejection(at.log, self.oracle) {
                events.rejections += 1;
            } else if at.log.address == self.vault {
                let data = &at.log.data;
                match Swap::decode_log_data(data) {
                    Ok(event) => swap = Some(event),
                    // The pricing of the preceding swap.
                    Err(_) => {
                        if let (Ok(priced), Some(swap)) =
                            (SwapPriced::decode_log_data(data), swap.take())
                        {
                            events.trades.extend(self.value(
                                swap.tokenIn,
                                swap.amountIn,
                                priced.priceIn,
                            ));
                            events.trades.extend(self.value(
                                swap.tokenOut,
                                swap.amountOut,
                                priced.priceOut,
                            ));
                        }
                    }
                }
            }
        }
        events
    }

    fn position(&self, token: Address) -> Option<usize> {
        self.tokens
            .iter()
            .position(|(address, _)| *address == token)
    }

    fn value(&self, token: Address, amount: U256, price: U256) -> Option<(usize, u128)> {
        let position = self.position(token)?;
        let value = amount.saturating_mul(price) / self.tokens[position].1;
        Some((position, value.saturating_to()))
    }
}

/// The bits of a bloom filter that logs of this address set.
fn mark_of(address: Address) -> Bloom {
    let mut bloom = Bloom::ZERO;
    bloom.accrue_raw_log(address, &[]);
    bloom
}

//! Derives the exchange at a new head from the last one that was looked at.

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{B256, U256};
use tetrad_chain::{Head, HeldBlocks, View};
use tetrad_contracts::contracts::{ReadContractError, bindings::Vault, read, unit};
use tetrad_primitives::{block::Block, state::ReadState};

use super::{MESSAGE_BACKLOG, MarketError, SharedMarket};
use crate::{
    events::ExchangeEvents,
    history::{BlockPrices, PriceHistory},
    market_state::MarketState,
    oracle::{Feed, OracleState, TokenEvent},
    price_message::{PriceMessage, TokenUpdate},
    quote::Quote,
};

/// The progress of the market in following the chain.
pub(super) struct DerivationProgress {
    blocks: HeldBlocks,
    newest: B256,
    history: Arc<PriceHistory>,
    /// The prices last sent to listeners.
    announced: Vec<Feed>,
    sequence: u64,
}

impl SharedMarket {
    /// Catches up with the newest head.
    pub(super) fn derive(
        &self,
        known: &mut Option<DerivationProgress>,
    ) -> Result<Arc<MarketState>, MarketError> {
        let head = self.chain.head();
        let view = View::newest(head.clone());
        let oracle = OracleState::read(&view, &self.network)?;

        // Taken out while it changes: after a panic the next reader starts afresh.
        let mut progress = match known.take() {
            Some(mut progress) => {
                if !self.catch_up(&mut progress, &head) {
                    progress.history = Arc::new(self.history_of(&head)?);
                }
                progress
            }
            None => DerivationProgress {
                blocks: head.held_blocks().clone(),
                newest: head.block.hash,
                history: Arc::new(self.history_of(&head)?),
                announced: oracle.feeds.clone(),
                sequence: 0,
            },
        };

        progress.blocks = head.held_blocks().clone();
        progress.newest = head.block.hash;
        self.announce_differences(&mut progress, &oracle, head.block.header.timestamp);
        let progress = known.insert(progress);

        let quotes = self.quotes(&view, &oracle, &progress.history)?;
        let state = Arc::new(MarketState::new(
            &head,
            self.network.clone(),
            quotes,
            oracle,
            progress.history.clone(),
            progress.sequence,
        ));
        self.latest.store(Some(state.clone()));
        Ok(state)
    }

    /// Applies the blocks since. Returns false if the history has to be rebuilt.
    fn catch_up(&self, progress: &mut DerivationProgress, head: &Arc<Head>) -> bool {
        let (removed, added) = progress.blocks.difference(head.held_blocks());

        // After a reset with another first block nothing of the history remains.
        if added
            .first()
            .is_some_and(|first| first.number() == head.genesis.number())
        {
            return false;
        }

        if removed.is_empty() {
            if added
                .first()
                .is_some_and(|first| first.header.parent_hash != progress.newest)
            {
                // The chain no longer holds all of the blocks in between.
                return false;
            }
            // Listeners could not keep up with more messages, and get the resulting prices instead.
            let announce = added.len() < MESSAGE_BACKLOG && self.messages.receiver_count() > 0;
            for block in &added {
                let events = self.reader.read(block);
                apply(Arc::make_mut(&mut progress.history), block, &events);
                if announce {
                    let feeds = changed_feeds(&progress.announced, &events.tokens);
                    self.announce(progress, block.header.timestamp, feeds);
                }
            }
            return true;
        }
        self.replace(Arc::make_mut(&mut progress.history), head, &removed, &added)
    }

    /// Rewinds the history to before the blocks that were removed, and applies those that replaced
    /// them. Returns false if it has to be rebuilt.
    fn replace(
        &self,
        history: &mut PriceHistory,
        head: &Head,
        removed: &[Arc<Block>],
        added: &[Arc<Block>],
    ) -> bool {
        let shared = added
            .first()
            .or(removed.first())
            .map_or(0, |first| first.number().saturating_sub(1));
        // The newest block that both chains have.
        let Some(fork) = head.block(shared) else {
            return false;
        };
        let Some(from) = history.rewind(fork.header.timestamp) else {
            return false;
        };

        // Shared blocks after the instant that the history was rewound to, and all blocks that
        // replaced others.
        let again = head
            .blocks_from(0)
            .rev()
            .take_while(|block| block.header.timestamp > from)
            .count();
        let first = (head.number() + 1).saturating_sub(again as u64);
        if first < head.oldest() || (first == head.oldest() && first > head.genesis.number()) {
            return false;
        }

        for block in head.blocks_from(first) {
            self.replay(history, head, block);
        }
        true
    }

    pub(super) fn replay(&self, history: &mut PriceHistory, head: &Head, block: &Block) {
        if block.number() == head.genesis.number() {
            // On a fork the history begins with the prices that the oracle had.
            if head.state.is_remote() {
                return;
            }
            let prices: Vec<_> = self.reference_prices().into_iter().enumerate().collect();
            history.apply(BlockPrices {
                time: block.header.timestamp,
                prices: &prices,
                trades: &[],
                rejections: 0,
            });
        } else {
            apply(history, block, &self.reader.read(block));
        }
    }

    fn reference_prices(&self) -> Vec<u64> {
        self.network
            .tokens
            .iter()
            .map(|token| token.reference_price)
            .collect()
    }

    /// Builds the history from all blocks that `head` holds.
    fn history_of(&self, head: &Arc<Head>) -> Result<PriceHistory, MarketError> {
        if let Some(history) = self.kept_history(head) {
            return Ok(history);
        }

        let genesis = &head.genesis;
        // If the blocks that memory no longer holds are all on disk, nothing is missing; on a fork
        // what was before is the other chain's.
        let complete = !head.state.is_remote() && self.chain.oldest(head) <= genesis.number() + 1;

        let mut history = if complete {
            PriceHistory::seeded(
                &self.simulation,
                genesis.header.timestamp,
                &self.reference_prices(),
            )
        } else {
            self.history_from_oldest(head)?
        };

        let mut first = head.oldest();
        if complete && first > genesis.number() {
            self.replay(&mut history, head, genesis);
            for block in self.old_events(head, 0) {
                self.replay(&mut history, head, &block);
            }
        } else if !complete {
            // The history begins with the state after the oldest block.
            first += 1;
        }
        for block in head.blocks_from(first) {
            self.replay(&mut history, head, block);
        }
        Ok(history)
    }

    /// A history that begins with the oldest block that is held.
    fn history_from_oldest(&self, head: &Arc<Head>) -> Result<PriceHistory, MarketError> {
        let view =
            View::after(head.clone(), head.oldest()).unwrap_or_else(|_| View::newest(head.clone()));
        let time = view.block.header.timestamp;
        let oracle = OracleState::read(&view, &self.network)?;
        let prices: Vec<_> = oracle.feeds.iter().map(|feed| feed.price).collect();
        Ok(PriceHistory::starting(time, &prices))
    }

    /// Sends listeners the feeds that changed without a block: after a revert, or because a
    /// development method wrote to the state.
    fn announce_differences(
        &self,
        progress: &mut DerivationProgress,
        oracle: &OracleState,
        time: u64,
    ) {
        let feeds = oracle.feeds.iter().copied().enumerate();
        let different = feeds
            .filter(|(token, feed)| progress.announced.get(*token) != Some(feed))
            .collect();
        self.announce(progress, time, different);
    }

    /// Sends listeners the tokens' new feeds, set in a block of this time.
    fn announce(&self, progress: &mut DerivationProgress, time: u64, feeds: Vec<(usize, Feed)>) {
        for (token, feed) in &feeds {
            progress.announced[*token] = *feed;
        }
        if feeds.is_empty() {
            return;
        }

        progress.sequence += 1;
        if self.messages.receiver_count() > 0 {
            let updates = feeds.into_iter().map(|(token, feed)| TokenUpdate {
                token,
                price: feed.price,
                change_24h: progress.history.change_24h(token, feed.price, time),
                updated_at: feed.updated_at,
                halted: feed.halted,
            });
            let message = PriceMessage::new(progress.sequence, time, &self.network.tokens, updates);
            // The last listener may have left in the meantime.
            let _ = self.messages.send(Arc::new(message));
        }
    }

    fn quotes(
        &self,
        view: &View,
        oracle: &OracleState,
        history: &PriceHistory,
    ) -> Result<Vec<Quote>, ReadContractError> {
        let now = view.block.header.timestamp;
        let volumes = history.volumes_24h(now);

        let mut quotes = Vec::with_capacity(self.network.tokens.len());
        for (token, info) in self.network.tokens.iter().enumerate() {
            let feed = oracle.feeds.get(token).copied().unwrap_or_default();
            let reserve = read(
                view,
                self.network.contracts.vault,
                &Vault::reservesCall {
                    token: info.address,
                },
            )?;
            quotes.push(Quote {
                price: feed.price,
                updated_at: feed.updated_at,
                halted: feed.halted,
                change_24h: history.change_24h(token, feed.price, now),
                volume_24h: volumes.get(token).copied().unwrap_or_default(),
                reserve,
                liquidity: reserve.saturating_mul(U256::from(feed.price)) / unit(info),
            });
        }
        Ok(quotes)
    }
}

fn apply(history: &mut PriceHistory, block: &Block, events: &ExchangeEvents) {
    let prices: Vec<_> = events
        .tokens
        .iter()
        .filter_map(|(token, event)| match event {
            TokenEvent::Priced(price, _) => Some((*token, *price)),
            TokenEvent::Halted(_) => None,
        })
        .collect();
    history.apply(BlockPrices {
        time: block.header.timestamp,
        prices: &prices,
        trades: &events.trades,
        rejections: events.rejections,
    });
}

/// The feeds after a block's events of the tokens that have any, in the order of the tokens.
fn changed_feeds(before: &[Feed], events: &[(usize, TokenEvent)]) -> Vec<(usize, Feed)> {
    let mut changed = BTreeMap::new();
    for (token, event) in events {
        let feed: &mut Feed = changed
            .entry(*token)
            .or_insert_with(|| before.get(*token).copied().unwrap_or_default());
        match *event {
            TokenEvent::Priced(price, updated_at) => {
                (feed.price, feed.updated_at) = (price, updated_at)
            }
            TokenEvent::Halted(halted) => feed.halted = halted,
        }
    }
    changed.into_iter().collect()
}

//! The account that puts prices on the chain, with one transaction at the top of a block whenever an update is due.

use std::{sync::Arc, time::Duration};

use alloy_primitives::{Address, B256, Bloom, U256};
use alloy_sol_types::SolCall;
use parking_lot::Mutex;

use super::{
    feed::{Moment, Source},
    oracle::OracleState,
};
use crate::{
    account::SecretKey,
    block::{GasPrice, Transaction, TransactionFields, UnsignedTransaction},
    chain::{Head, Preamble, View, sign_transaction},
    contracts::{ReadContractError, bindings::PriceOracle},
    evm::Environment,
    network::Network,
};

/// The most that one update moves a price, in basis points. The oracle rejects moves of more than 25 %; larger ones take
/// several updates.
const MAX_MOVE_BPS: u64 = 2_000;
/// Gas for an update, and for each of its tokens.
const BASE_GAS: u64 = 100_000;
const TOKEN_GAS: u64 = 40_000;

/// The source of prices and the interval of updates.
pub struct UpdatePace {
    /// The source.
    pub source: Arc<dyn Source>,
    /// The least time between two moves, rounded up to the seconds that block times count in.
    pub tick: Duration,
}

/// Pushes prices to the oracle: those that changed, and those that would otherwise become stale.
///
/// Without an [`UpdatePace`] prices do not move and are only refreshed. The updater keeps no state of its own: the time of the
/// last move, the number of updates (the account's nonce), and whether the last one was attempted are read from the chain.
pub struct Updater {
    network: Arc<Network>,
    key: SecretKey,
    account: Address,
    pace: Option<UpdatePace>,
    /// Bits set in the bloom filter of every block with logs of the oracle.
    mark: Bloom,
    known: Mutex<Option<Arc<Known>>>,
}

/// The oracle as of one block.
#[derive(Clone)]
struct Known {
    block: B256,
    oracle: OracleState,
    /// The time from which on an update is due.
    due_at: u64,
}

impl Updater {
    /// An updater that signs with `key`.
    pub fn new(network: Arc<Network>, key: SecretKey, pace: Option<UpdatePace>) -> Self {
        let mut mark = Bloom::ZERO;
        mark.accrue_raw_log(network.contracts.oracle, &[]);
        Self { account: key.address(), network, key, pace, mark, known: Mutex::default() }
    }

    /// The oracle at `head`. It is read again only after a block that may have logs of it.
    fn known(&self, head: &Arc<Head>) -> Result<Arc<Known>, ReadContractError> {
        let mut known = self.known.lock();
        let block = &head.block;
        if let Some(known) = known.as_ref().filter(|known| known.block == block.hash) {
            return Ok(known.clone());
        }
        let silent = !block.header.logs_bloom.contains(&self.mark);
        if let Some(known) = known.as_mut().filter(|known| silent && known.block == block.header.parent_hash) {
            Arc::make_mut(known).block = block.hash;
            return Ok(known.clone());
        }
        let oracle = OracleState::read(&View::newest(head.clone()), &self.network)?;
        let refresh = oracle.oldest().saturating_add(oracle.max_age / 2);
        let due_at = self.next_move(&oracle).map_or(refresh, |next| next.min(refresh));
        Ok(known.insert(Arc::new(Known { block: block.hash, oracle, due_at })).clone())
    }

    /// The time of the next move.
    fn next_move(&self, oracle: &OracleState) -> Option<u64> {
        self.tick().map(|tick| oracle.newest().saturating_add(tick))
    }

    fn tick(&self) -> Option<u64> {
        self.pace.as_ref().map(|pace| pace.tick.as_secs() + u64::from(pace.tick.subsec_nanos() > 0))
    }

    /// The updates for a block of this time: prices that moved, and those that would otherwise become stale. A price that
    /// no source confirms any more is left to become stale.
    fn updates(&self, head: &Head, oracle: &OracleState, time: u64) -> Vec<(Address, u64)> {
        let since = time.saturating_sub(oracle.newest());
        let moves = self.tick().is_some_and(|tick| since >= tick);
        let opinions = self.opinions(head, oracle, time, since);
        let most = oracle.max_move_bps.min(MAX_MOVE_BPS);
        let feeds = oracle.feeds.iter().zip(opinions).zip(&self.network.tokens);
        let updates = feeds.filter_map(|((feed, opinion), token)| {
            // A token without a price gets its reference price.
            let now = if feed.price == 0 { token.reference_price } else { feed.price };
            let price = opinion.filter(|_| moves).map_or(now, |opinion| limited(now, opinion, most));
            let grows_old = time.saturating_sub(feed.updated_at) >= oracle.max_age / 2;
            let vouched = self.pace.is_none() || opinion.is_some();
            (price != feed.price || (grows_old && vouched)).then_some((token.address, price))
        });
        updates.collect()
    }

    /// The price of each token by the source.
    fn opinions(&self, head: &Head, oracle: &OracleState, time: u64, since: u64) -> Vec<Option<u64>> {
        let (Some(pace), Some(tick)) = (&self.pace, self.tick()) else { return vec![None; oracle.feeds.len()] };
        pace.source.prices(&Moment {
            current: &oracle.feeds,
            time,
            genesis: head.genesis.header.timestamp,
            elapsed: if since < tick.saturating_mul(2) { tick } else { since },
            update: self.nonce(head),
        })
    }

    fn nonce(&self, head: &Head) -> u64 {
        // Reading fails only on a fork, where no prices are pushed.
        head.state.nonce(self.account).unwrap_or_default()
    }

    /// The transaction that pushes `updates`. It pays the base fee and no tip, since it does not compete for its place.
    fn transaction(&self, head: &Head, environment: &Environment, updates: &[(Address, u64)]) -> UnsignedTransaction {
        let call = PriceOracle::updatePricesCall {
            tokens: updates.iter().map(|(token, _)| *token).collect(),
            prices: updates.iter().map(|(_, price)| U256::from(*price)).collect(),
        };
        let gas_limit = BASE_GAS + TOKEN_GAS * updates.len() as u64;
        let gas_price = match environment.base_fee {
            Some(base_fee) => GasPrice::Dynamic { max_fee: base_fee.into(), max_tip: 0 },
            None => GasPrice::Fixed(0),
        };
        let (oracle, input) = (self.network.contracts.oracle, call.abi_encode().into());
        let nonce = self.nonce(head);
        TransactionFields::call(head.params.chain_id, nonce, gas_limit, gas_price, oracle, input).into()
    }
}

impl Preamble for Updater {
    fn is_due(&self, head: &Arc<Head>, environment: &Environment) -> bool {
        let time = environment.timestamp;
        // An update that failed, because the oracle has another updater now, is not retried in every block.
        let tried = head.block.transactions.first().is_some_and(|first| first.sender == self.account)
            && time < head.block.header.timestamp.saturating_add(self.tick().unwrap_or(1));
        // A source without prices causes no blocks.
        let has_any = |known: &Known| time >= known.due_at && !self.updates(head, &known.oracle, time).is_empty();
        !tried && self.known(head).is_ok_and(|known| has_any(&known))
    }

    fn alone_every(&self) -> Option<Duration> {
        self.tick().map(Duration::from_secs)
    }

    fn transactions(&self, head: &Arc<Head>, environment: &Environment) -> Vec<Transaction> {
        let Ok(known) = self.known(head) else { return Vec::new() };
        let updates = self.updates(head, &known.oracle, environment.timestamp);
        if updates.is_empty() {
            return Vec::new();
        }
        match sign_transaction(&self.key, self.transaction(head, environment, &updates)) {
            Ok(transaction) => vec![transaction],
            Err(error) => {
                tracing::warn!(%error, "could not sign the price update");
                Vec::new()
            }
        }
    }
}

/// `proposal`, limited to the distance from `now` that the oracle accepts.
fn limited(now: u64, proposal: u64, most_bps: u64) -> u64 {
    let most = (u128::from(now) * u128::from(most_bps) / 10_000) as u64;
    proposal.clamp(now.saturating_sub(most).max(1), now.saturating_add(most).min(i64::MAX as u64))
}

impl std::fmt::Debug for Updater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Updater").field("account", &self.account).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_stays_within_what_the_oracle_accepts() {
        assert_eq!(limited(1_000, 1_100, 2_000), 1_100);
        assert_eq!(limited(1_000, 2_000, 2_000), 1_200);
        assert_eq!(limited(1_000, 1, 2_000), 800);
        assert_eq!(limited(1, 0, 2_000), 1);
        assert_eq!(limited(i64::MAX as u64, u64::MAX, 2_000), i64::MAX as u64);
    }
}

//! The account that puts prices on the chain, with one transaction at the top of a block whenever
//! an update is due.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::{Address, B256, Bloom, U256};
use alloy_sol_types::SolCall;
use parking_lot::Mutex;
use tetrad_chain::{Head, Preamble, Signer, View};
use tetrad_contracts::contracts::{ReadContractError, bindings::PriceOracle, read};
use tetrad_evm::Environment;
use tetrad_network::network::Network;
use tetrad_primitives::block::{GasPrice, Transaction, TransactionFields, UnsignedTransaction};

use super::{
    feed::{Moment, Source},
    oracle::OracleState,
    plan::{PlannedPrice, UpdatePlan},
};

/// Gas for an update, and for each of its tokens.
const BASE_GAS: u64 = 100_000;
const TOKEN_GAS: u64 = 40_000;
/// The time until the oracle is read again, if that failed.
const RETRY: Duration = Duration::from_secs(10);

/// The source of prices and the interval of updates.
pub struct UpdatePace {
    /// The source.
    pub source: Arc<dyn Source>,
    /// The time between two moves, rounded up to the seconds that block times count in. An
    /// exploitable price moves in the next block.
    pub tick: Duration,
}

/// Pushes prices to the oracle: those that changed, and those that would otherwise become stale.
///
/// A price that is far from its source's is updated in the next block, and halted as long as it is
/// on its way there: the update precedes all other transactions of its block, so no swap uses a
/// price that the source is known to have left.
///
/// Without an [`UpdatePace`] prices do not move and are only refreshed, which a chain that began
/// without one never needs: there prices do not age. The updater keeps no state of its own: the
/// time of the last block, the number of updates (the account's nonce), and whether the oracle takes
/// any from this account are read from the chain. Ticks are counted from the first block, whatever was
/// updated since, so that a price that moves in every block does not defer the others.
pub struct Updater {
    network: Arc<Network>,
    signer: Signer,
    pace: Option<UpdatePace>,
    /// Bits set in the bloom filter of every block with logs of the oracle.
    mark: Bloom,
    known: Mutex<Option<Arc<Known>>>,
    /// When reading the oracle failed last, as on a fork whose other node does not answer.
    unread_since: Mutex<Option<Instant>>,
}

/// The oracle as of one block.
#[derive(Clone)]
struct Known {
    block: B256,
    oracle: OracleState,
    /// Whether the oracle takes prices from this updater. A reset may bring a chain where it does not.
    is_updater: bool,
    /// The time from which on the oldest price must be refreshed.
    refresh_at: u64,
}

impl Updater {
    /// An updater whose transactions are those of `signer`.
    pub fn new(network: Arc<Network>, signer: Signer, pace: Option<UpdatePace>) -> Self {
        let mut mark = Bloom::ZERO;
        mark.accrue_raw_log(network.contracts.oracle, &[]);
        Self {
            network,
            signer,
            pace,
            mark,
            known: Mutex::default(),
            unread_since: Mutex::default(),
        }
    }

    /// The oracle at `head`. It is read again only after a block that may have logs of it.
    fn known(&self, head: &Arc<Head>) -> Result<Arc<Known>, ReadContractError> {
        let mut known = self.known.lock();
        let block = &head.block;
        if let Some(known) = known.as_ref().filter(|known| known.block == block.hash) {
            return Ok(known.clone());
        }

        // Without logs of the oracle in the block, its state is that of the parent block.
        let silent = !block.header.logs_bloom.contains(&self.mark);
        if let Some(known) = known
            .as_mut()
            .filter(|known| silent && known.block == block.header.parent_hash)
        {
            Arc::make_mut(known).block = block.hash;
            return Ok(known.clone());
        }

        let view = View::newest(head.clone());
        let oracle = OracleState::read(&view, &self.network)?;
        let updater = read(
            &view,
            self.network.contracts.oracle,
            &PriceOracle::updaterCall {},
        )?;
        let refresh_at = oracle.oldest().saturating_add(oracle.max_age / 2);
        Ok(known
            .insert(Arc::new(Known {
                block: block.hash,
                oracle,
                is_updater: updater == self.account(),
                refresh_at,
            }))
            .clone())
    }

    fn tick(&self) -> Option<u64> {
        self.pace
            .as_ref()
            .map(|pace| pace.tick.as_secs() + u64::from(pace.tick.subsec_nanos() > 0))
    }

    /// Whether a block of this time is to have an update. A source without prices causes no blocks.
    fn has_due_prices(&self, head: &Head, known: &Known, time: u64) -> bool {
        let follows = self.pace.is_some() && known.oracle.halts.is_some();
        let may_be = follows || time >= known.refresh_at || self.elapsed(head, time) > 0;
        known.is_updater && may_be && !self.prices(head, &known.oracle, time).is_empty()
    }

    /// The prices for a block of this time.
    fn prices(&self, head: &Head, oracle: &OracleState, time: u64) -> Vec<PlannedPrice> {
        let elapsed = self.elapsed(head, time);
        let opinions = self.opinions(head, oracle, time, elapsed);
        UpdatePlan {
            tokens: &self.network.tokens,
            oracle,
            opinions: opinions.as_deref(),
            moves: elapsed > 0,
            time,
        }
        .prices()
    }

    /// The seconds over which prices move in a block of this time; 0 unless a tick ends between the
    /// last block and it.
    fn elapsed(&self, head: &Head, time: u64) -> u64 {
        let Some(tick) = self.tick() else { return 0 };
        let first = head.genesis.header.timestamp;
        let last = head.block.header.timestamp;
        if ticks_between(first, time, tick) <= ticks_between(first, last, tick) {
            return 0;
        }

        let since = time.saturating_sub(last);
        if since < tick.saturating_mul(2) {
            tick
        } else {
            since
        }
    }

    /// The price of each token by the source; none without a source.
    fn opinions(
        &self,
        head: &Head,
        oracle: &OracleState,
        time: u64,
        elapsed: u64,
    ) -> Option<Vec<Option<u64>>> {
        Some(self.pace.as_ref()?.source.prices(&Moment {
            current: &oracle.feeds,
            time,
            genesis: head.genesis.header.timestamp,
            elapsed,
            update: self.nonce(head),
        }))
    }

    fn nonce(&self, head: &Head) -> u64 {
        // Reading fails only on a fork: the chain refuses the update, and the next block has another.
        head.state.nonce(self.account()).unwrap_or_default()
    }

    /// The transaction that pushes `prices`. It pays the base fee and no tip, since it does not
    /// compete for its place.
    fn transaction(
        &self,
        head: &Head,
        environment: &Environment,
        call: Vec<u8>,
        tokens: usize,
    ) -> UnsignedTransaction {
        let gas_limit = BASE_GAS + TOKEN_GAS * tokens as u64;
        let gas_price = match environment.base_fee {
            Some(base_fee) => GasPrice::Dynamic {
                max_fee: base_fee.into(),
                max_tip: 0,
            },
            None => GasPrice::Fixed(0),
        };

        TransactionFields::call(
            head.params.chain_id,
            self.nonce(head),
            gas_limit,
            gas_price,
            self.network.contracts.oracle,
            call.into(),
        )
        .into()
    }

    /// The call that pushes `prices`: with their targets, if the oracle knows any.
    fn call(&self, oracle: &OracleState, prices: &[PlannedPrice]) -> Vec<u8> {
        let tokens = prices
            .iter()
            .filter_map(|planned| self.network.tokens.get(planned.token))
            .map(|token| token.address)
            .collect();
        let targets = prices
            .iter()
            .map(|planned| U256::from(planned.target))
            .collect();
        let prices = prices
            .iter()
            .map(|planned| U256::from(planned.price))
            .collect();

        // An oracle that was deployed before there were halts lacks this function.
        match oracle.halts {
            Some(_) => PriceOracle::updatePricesTowardCall {
                tokens,
                prices,
                targets,
            }
            .abi_encode(),
            None => PriceOracle::updatePricesCall { tokens, prices }.abi_encode(),
        }
    }
}

fn ticks_between(first: u64, time: u64, tick: u64) -> u64 {
    time.saturating_sub(first)
        .checked_div(tick)
        .unwrap_or_default()
}

impl Preamble for Updater {
    fn account(&self) -> Address {
        self.signer.account()
    }

    fn is_due(&self, head: &Arc<Head>, environment: &Environment) -> bool {
        let time = environment.timestamp;
        let block = &head.block;

        // An update that failed is not retried in every block.
        let failed = block
            .transactions
            .first()
            .is_some_and(|first| first.sender == self.account())
            && block
                .receipts
                .first()
                .is_some_and(|receipt| !receipt.succeeded());
        if failed
            && time
                < block
                    .header
                    .timestamp
                    .saturating_add(self.tick().unwrap_or(1))
        {
            return false;
        }

        // The writer waits meanwhile: what fails is not tried again at once.
        let unread = *self.unread_since.lock();
        if unread.is_some_and(|since| since.elapsed() < RETRY) {
            return false;
        }
        match self.known(head) {
            Ok(known) => self.has_due_prices(head, &known, time),
            // A client that left says nothing of the other node.
            Err(_) if head.state.base().is_some_and(|base| base.is_given_up()) => false,
            Err(_) => {
                *self.unread_since.lock() = Some(Instant::now());
                false
            }
        }
    }

    fn alone_every(&self) -> Option<Duration> {
        self.tick().map(Duration::from_secs)
    }

    fn transactions(&self, head: &Arc<Head>, environment: &Environment) -> Vec<Transaction> {
        let Ok(known) = self.known(head) else {
            return Vec::new();
        };

        let prices = self.prices(head, &known.oracle, environment.timestamp);
        if prices.is_empty() {
            return Vec::new();
        }

        let call = self.call(&known.oracle, &prices);
        let transaction = self.transaction(head, environment, call, prices.len());
        match self.signer.sign(transaction) {
            Ok(transaction) => vec![transaction],
            Err(error) => {
                tracing::warn!(%error, "could not sign the price update");
                Vec::new()
            }
        }
    }
}

impl std::fmt::Debug for Updater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Updater")
            .field("account", &self.account())
            .finish_non_exhaustive()
    }
}

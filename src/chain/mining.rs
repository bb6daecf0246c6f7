//! Making blocks on demand, and what development methods decide about them.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::{Address, B256};
use tokio::sync::oneshot;

use super::{
    Chain, ChangeError, Executor, Head, Mining, Stopped,
    executor::{Sealed, block_span},
};

/// How long blocks are mined before other commands have a turn.
const PIECE: Duration = Duration::from_millis(20);
/// How long blocks are mined before and between reports of progress.
const TELL_EVERY: Duration = Duration::from_secs(3);
/// The node's own transactions go into so many last blocks of those that are asked for, into the last of each piece, and
/// before transactions of others: what the rest would say is overtaken before anybody can read it.
const LIVELY: u64 = 16;

/// How blocks that are mined on demand follow each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// The first one's time, in seconds since the Unix epoch, if that is decided.
    pub first: Option<u64>,
    /// Seconds by which the chain's time moves on before each block.
    pub interval: Option<u64>,
    /// Seconds by which a block is at least later than its parent.
    pub at_least: u64,
}

/// Not all blocks were mined.
#[derive(Debug, thiserror::Error)]
pub enum MineError {
    /// The time of the first one is before its parent's, which this is.
    #[error("the newest block is later: of second {0}")]
    Timestamp(u64),
    /// One could not be made.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The writer has ended.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Blocks that are being mined on demand.
pub(super) struct Order {
    count: u64,
    left: u64,
    pace: Pace,
    /// When progress was reported last, or else when the first block was begun.
    told: Instant,
    done: oneshot::Sender<Result<(), MineError>>,
}

impl Chain {
    /// Makes blocks of whatever is ready, even of nothing, and waits for them. A few are made at once, with nothing in
    /// between; many in pieces, between which others have their turn.
    pub async fn mine(&self, count: u64, pace: Pace) -> Result<(), MineError> {
        let (done, outcome) = oneshot::channel();
        self.change(move |executor| {
            executor.orders.push_back(Order { count, left: count, pace, told: Instant::now(), done });
            if executor.orders.len() == 1 {
                executor.mine_some();
            }
        })
        .await?;
        outcome.await.unwrap_or(Err(Stopped::Ended.into()))
    }
}

impl Executor {
    /// Goes on with what is being mined, unless somebody else waits for a turn. `is_awaited` says whether.
    pub(super) fn proceed_mining(&mut self, is_awaited: impl FnOnce() -> bool) {
        if self.is_ending() {
            self.orders.clear();
        } else if self.mined.elapsed() >= PIECE || !is_awaited() {
            self.mine_some();
        }
    }

    /// Mines a piece of the first order.
    fn mine_some(&mut self) {
        let Some(mut order) = self.orders.pop_front() else { return };
        let outcome = self.mine_piece(&mut order);
        self.mined = Instant::now();
        // A block that failed may have left a change of the time behind.
        self.record_time();
        let (mined, of) = (order.count - order.left, order.count);
        match outcome {
            Ok(()) if order.left > 0 => {
                if order.told.elapsed() >= TELL_EVERY {
                    tracing::info!(mined, of, "mining blocks");
                    order.told = self.mined;
                }
                self.orders.push_front(order);
            }
            outcome => {
                // Whoever asked may have gone.
                let _ = order.done.send(outcome);
            }
        }
    }

    /// Mines for a while. What is empty costs little: it is published together.
    fn mine_piece(&mut self, order: &mut Order) -> Result<(), MineError> {
        if let Some(first) = order.pace.first.take() {
            self.set_next_timestamp(first).map_err(MineError::Timestamp)?;
        }
        let until = Instant::now() + PIECE;
        let mut head = self.head();
        let (mut blocks, mut dropped, mut outcome) = (Vec::new(), Vec::new(), Ok(()));
        let mut time_is_up = false;
        while order.left > 0 && !time_is_up {
            time_is_up = Instant::now() >= until;
            let sealed = match self.mine_next(&head, order, time_is_up) {
                Ok(sealed) => sealed,
                Err(error) => {
                    outcome = Err(error.into());
                    break;
                }
            };
            order.left -= 1;
            let empty = sealed.block.transactions.is_empty();
            head = Arc::new(sealed.next);
            blocks.push(sealed.block);
            dropped.extend(sealed.dropped);
            // What a block holds has to leave the pool before the next one is made.
            if !empty {
                self.publish(Head::clone(&head), std::mem::take(&mut blocks), Vec::new());
                head = self.head();
            }
        }
        if !blocks.is_empty() {
            self.publish(Head::clone(&head), blocks, Vec::new());
        }
        dropped.iter().for_each(|old| self.shared.index.remove(old));
        self.after_blocks();
        outcome
    }

    /// Makes and records the next block of an order. `is_seen` says that others will see the chain as of this block.
    fn mine_next(&mut self, head: &Arc<Head>, order: &Order, is_seen: bool) -> Result<Sealed, ChangeError> {
        if let Some(interval) = order.pace.interval {
            self.increase_time(i64::try_from(interval).unwrap_or(i64::MAX));
        }
        let environment = self.shared.next_environment(head, order.pace.at_least);
        let _span = block_span(head);
        let is_lively = is_seen
            || order.left <= LIVELY
            || self.shared.pool.has_executable(environment.base_fee.unwrap_or_default());
        let first = if is_lively { self.preamble(head, &environment) } else { Vec::new() };
        let candidate = self.candidate(head, &environment, first)?;
        let sealed = self.seal(head, &environment, candidate);
        self.record_sealed(&sealed)?;
        Ok(sealed)
    }

    /// How blocks come about from now on. What waits goes into a block at once if that is how.
    pub fn set_mining(&mut self, mining: Mining) {
        self.shared.sealing.lock().mining = mining;
        self.schedule();
        self.seal_ready();
    }

    /// The base fee of the next block, in wei per gas, instead of what EIP-1559 says.
    pub fn set_next_base_fee(&mut self, base_fee: u64) {
        self.shared.sealing.lock().next_base_fee = Some(base_fee);
    }

    /// What `PREVRANDAO` gives in the next block.
    pub fn set_next_randomness(&mut self, randomness: B256) {
        self.shared.sealing.lock().next_randomness = Some(randomness);
    }

    /// Who gets the tips of new blocks.
    pub fn set_beneficiary(&mut self, beneficiary: Address) {
        self.shared.sealing.lock().beneficiary = beneficiary;
    }

    /// The gas limit of new blocks, from the next one on, however far it is from that of the newest.
    pub fn set_gas_limit(&mut self, gas_limit: u64) {
        let mut sealing = self.shared.sealing.lock();
        (sealing.gas_limit, sealing.gas_limit_at_once) = (gas_limit, true);
    }

    /// The least tip that the pool accepts, in wei per gas.
    pub fn set_min_tip(&mut self, min_tip: u128) {
        self.shared.sealing.lock().min_tip = min_tip;
    }

    /// Puts a time on the next block. It may not be before the newest one's, and on a chain whose blocks keep Ethereum's
    /// rules it has to be after it.
    pub fn set_next_timestamp(&mut self, timestamp: u64) -> Result<(), u64> {
        let head = self.head();
        let parent = head.block.header.timestamp;
        if timestamp < parent.saturating_add(head.params.standard.into()) {
            return Err(parent);
        }
        self.shared.timing.lock().promise_next(timestamp);
        Ok(())
    }

    /// Moves the chain's time; returns by how many seconds it is now ahead of the clock.
    pub fn increase_time(&mut self, seconds: i64) -> i64 {
        self.shared.timing.lock().increase(seconds)
    }

    /// Makes this the chain's time, in seconds since the Unix epoch; returns by how many seconds it jumped ahead.
    pub fn set_time(&mut self, now: u64) -> u64 {
        let mut timing = self.shared.timing.lock();
        let before = timing.now();
        timing.set(now);
        now.saturating_sub(before)
    }

    /// Fixes the seconds from each block to the next, or lets the clock decide again. Returns whether they were fixed.
    pub fn fix_block_interval(&mut self, seconds: Option<u64>) -> bool {
        self.shared.timing.lock().fix_interval(seconds)
    }
}

//! Mining blocks on demand, many of them in pieces.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    Writer,
    change::{Outcome, Pace, Reply},
    schedule::MiningOrder,
    sealing::{Sealed, block_span},
};
use crate::{
    chain::{ChangeError, Head},
    log::AppendError,
};

/// How long blocks are mined before other commands have a turn.
const PIECE: Duration = Duration::from_millis(20);
/// How long blocks are mined before and between reports of progress.
const REPORT_EVERY: Duration = Duration::from_secs(3);
/// The node's own transactions go into so many last blocks of those that are asked for, into the last of each piece, and
/// before transactions of others: what the rest would say is overtaken before anybody can read it.
const LIVELY: u64 = 16;

impl Writer {
    /// Mines blocks, unless others are being mined. A few are made at once, with nothing in between; many in pieces,
    /// between which other commands have their turn.
    pub(in crate::chain) fn order(&mut self, count: u64, pace: Pace, reply: Reply) {
        self.schedule.orders.push_back(MiningOrder { count, left: count, pace, reported: Instant::now(), reply });
        if self.schedule.orders.len() == 1 {
            self.mine_some();
        }
    }

    /// Goes on with what is being mined, unless a command waits for its turn.
    pub(super) fn proceed_mining(&mut self, is_awaited: impl FnOnce() -> bool) {
        if self.is_ending() {
            self.schedule.orders.clear();
        } else if self.schedule.mined.elapsed() >= PIECE || !is_awaited() {
            self.mine_some();
        }
    }

    /// Mines a piece of the first order.
    fn mine_some(&mut self) {
        let Some(mut order) = self.schedule.orders.pop_front() else { return };
        let outcome = match self.mine_piece(&mut order) {
            // The blocks before it are published; the next piece goes on after those of the other writer.
            Err(ChangeError::Append(AppendError::Conflict { .. })) => self.follow(),
            outcome => outcome,
        };
        self.schedule.mined = Instant::now();
        // A block that failed may have left a change of the time behind.
        self.record_time();
        let (mined, of) = (order.count - order.left, order.count);
        match outcome {
            Ok(()) if order.left > 0 => {
                if order.reported.elapsed() >= REPORT_EVERY {
                    tracing::info!(mined, of, "mining blocks");
                    order.reported = self.schedule.mined;
                }
                self.schedule.orders.push_front(order);
            }
            outcome => {
                // The caller may have gone.
                let _ = order.reply.send(outcome.map(|()| Outcome::Done));
            }
        }
    }

    /// Mines for a while. What is empty costs little: it is published together.
    fn mine_piece(&mut self, order: &mut MiningOrder) -> Result<(), ChangeError> {
        if let Some(first) = order.pace.first.filter(|_| order.left == order.count) {
            self.promise(first)?;
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
                    outcome = Err(error);
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
    fn mine_next(&mut self, head: &Arc<Head>, order: &MiningOrder, is_seen: bool) -> Result<Sealed, ChangeError> {
        if let Some(interval) = order.pace.interval {
            self.shared.timing.lock().increase(i64::try_from(interval).unwrap_or(i64::MAX));
        }
        let environment = self.shared.next_environment(head, order.pace.at_least);
        let _span = block_span(head);
        let is_lively = is_seen
            || order.left <= LIVELY
            || self.shared.pool.has_executable(environment.base_fee.unwrap_or_default());
        let first = if is_lively { self.preamble(head, &environment) } else { Vec::new() };
        let mut candidate = self.candidate(head, &environment, first)?;
        let rejected = std::mem::take(&mut candidate.rejected);
        let sealed = self.seal(head, &environment, candidate);
        self.record_sealed(&sealed)?;
        self.reject(rejected);
        Ok(sealed)
    }
}

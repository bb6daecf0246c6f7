//! Mining on demand. Large numbers of blocks are mined in pieces.
//!
//! A piece takes 20 ms, with other commands between two of them; a few blocks are mined at once.
//! Mining on demand moves the chain's time along, as `evm_increaseTime` does.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tetrad_store::log::{AppendError, RequestPart};

use super::{
    ChainWriter,
    change::{ChangeOutcome, Pace, Reply},
    journal::FollowTo,
    schedule::MiningOrder,
    sealing::{Sealed, block_span},
};
use crate::{ChangeError, Head};

/// The longest time that blocks are mined before waiting commands have a turn.
const PIECE_DURATION: Duration = Duration::from_millis(20);
/// The interval between two log lines on the progress.
const REPORT_EVERY: Duration = Duration::from_secs(3);
/// The number of last blocks of an order that begin with a preamble. Of the others, only the last
/// one of each piece and those with transactions do: the prices in the rest would be superseded
/// before anyone can read them.
const LAST_WITH_PREAMBLE: u64 = 16;

impl ChainWriter {
    /// Queues an order of blocks, of which `left` are not mined yet, and mines the first piece,
    /// unless another order is under way. Other commands have their turn between two pieces.
    pub(crate) fn order(&mut self, count: u64, left: u64, pace: Pace, reply: Reply) {
        let request = self.recorder.part.map(|part| part.id);
        self.schedule.orders.push_back(MiningOrder {
            count,
            left,
            pace,
            reported: Instant::now(),
            request,
            reply,
        });

        if self.schedule.orders.len() == 1 {
            self.mine_some();
        }
    }

    /// Continues mining, unless a command waits for its turn.
    pub(super) fn proceed_mining(&mut self, is_awaited: impl FnOnce() -> bool) {
        if self.is_ending() {
            self.abandon_orders();
        } else if self.schedule.mined.elapsed() >= PIECE_DURATION || !is_awaited() {
            // Commands that arrive without a pause delay mining by no more than one piece.
            self.mine_some();
        }
    }

    /// Stops mining, since the node ends. In a cluster the next leader mines what is left.
    pub(super) fn abandon_orders(&mut self) {
        for order in std::mem::take(&mut self.schedule.orders) {
            // The others learn from their closed channel that the chain has stopped.
            if order.request.is_some() {
                let error = order.deposed();
                let _ = order.reply.send(Err(error));
            }
        }
    }

    /// Answers the orders that have waited for this time, and of which nothing is mined, with an
    /// error.
    pub(super) fn refuse_orders(&mut self, waited: Duration, error: impl Fn() -> ChangeError) {
        for order in std::mem::take(&mut self.schedule.orders) {
            if order.left == order.count && order.reported.elapsed() >= waited {
                // The caller may have disconnected.
                let _ = order.reply.send(Err(error()));
            } else {
                self.schedule.orders.push_back(order);
            }
        }
    }

    /// Mines a piece of the first order that a caller waits for. The blocks that are mined when a
    /// caller leaves stay, as with anvil.
    fn mine_some(&mut self) {
        let mut orders = std::iter::from_fn(|| self.schedule.orders.pop_front());
        let Some(mut order) = orders.find(|order| !order.is_abandoned()) else {
            return;
        };

        let before = self.recorder.part;
        self.recorder.part = order.request.map(|id| RequestPart {
            id,
            left: order.left,
            answer: 0,
        });

        let outcome = match self.mine_piece(&mut order) {
            // The blocks so far are published; the next piece continues after those of the other
            // writer.
            Err(ChangeError::Append(AppendError::Conflict { .. })) => self.follow(FollowTo::LogEnd),
            outcome => outcome,
        };

        self.schedule.mined = Instant::now();
        let outcome = if self.leads {
            outcome
        } else {
            Err(order.deposed())
        };

        // A failed block may leave a changed time shift behind.
        self.recorder.expect_after(order.left as usize);
        self.record_time();
        self.recorder.part = before;

        let mined = order.count - order.left;
        let of = order.count;
        match outcome {
            Ok(()) if order.left > 0 => {
                if order.reported.elapsed() >= REPORT_EVERY {
                    tracing::info!(mined, of, "mining blocks");
                    order.reported = self.schedule.mined;
                }
                self.schedule.orders.push_front(order);
            }
            outcome => {
                // The caller may have disconnected.
                let _ = order.reply.send(outcome.map(|()| ChangeOutcome::Done));
            }
        }
    }

    /// Mines a piece of an order. Consecutive empty blocks are published together.
    fn mine_piece(&mut self, order: &mut MiningOrder) -> Result<(), ChangeError> {
        if let Some(first) = order.pace.first.filter(|_| order.left == order.count) {
            self.set_next_timestamp(first)?;
        }

        let until = Instant::now() + PIECE_DURATION;
        let mut head = self.head();
        let mut blocks = Vec::new();
        let mut dropped = Vec::new();
        let mut outcome = Ok(());
        let mut time_is_up = false;

        while order.left > 0 && !time_is_up {
            // Looked at before the block, because the last one of a piece begins with a preamble.
            time_is_up = Instant::now() >= until;
            self.recorder.expect_after(order.left as usize - 1);
            let sealed = match self.mine_next(&head, order, time_is_up) {
                Ok(sealed) => sealed,
                Err(error) => {
                    // The blocks before it are recorded, and have yet to be published.
                    outcome = Err(error);
                    break;
                }
            };

            order.left -= 1;
            let empty = sealed.block.transactions.is_empty();
            head = Arc::new(sealed.next);
            blocks.push(sealed.block);
            dropped.extend(sealed.dropped);

            // The block's transactions must leave the pool before the next one is built.
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

    /// Seals and records the next block of an order. `is_last` marks the last one of a piece.
    fn mine_next(
        &mut self,
        head: &Arc<Head>,
        order: &MiningOrder,
        is_last: bool,
    ) -> Result<Sealed, ChangeError> {
        // Clients that want no interval send 0, and expect the fixed one then.
        if let Some(interval) = order.pace.interval.filter(|interval| *interval > 0) {
            let seconds = i64::try_from(interval).unwrap_or(i64::MAX);
            self.shared
                .timing
                .lock()
                .space(head.block.header.timestamp, seconds)?;
        }

        let environment = self.shared.next_environment(head, order.pace.at_least);
        let _span = block_span(head);
        let has_preamble = is_last
            || order.left <= LAST_WITH_PREAMBLE
            || self
                .shared
                .pool
                .has_ready(environment.base_fee.unwrap_or_default());
        let first = if has_preamble {
            self.preamble(head, &environment)
        } else {
            Vec::new()
        };

        let candidate = self.candidate(head, &environment, first)?;
        let (sealed, _) = self.seal_and_record(head, &environment, candidate)?;
        Ok(sealed)
    }
}

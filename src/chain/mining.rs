//! Making blocks on demand, and what development methods decide about them.

use std::sync::Arc;

use alloy_primitives::{Address, B256};

use super::{ChangeError, Executor, Head, Mining, executor::block_span};
use crate::block::Block;

/// Empty blocks that are published together.
const BATCH: usize = 512;
/// The node's own transactions go into so many last blocks of those that are made at once: what the others would
/// say of the time in between is overtaken before anybody can read it.
const LIVELY: u64 = 16;

/// How the blocks of [`Executor::mine`] follow each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Seconds by which the chain's time moves on before each block.
    pub interval: Option<u64>,
    /// Seconds by which a block is at least later than its parent.
    pub at_least: u64,
}

impl Executor {
    /// Makes blocks of whatever is ready, even of nothing. Empty ones cost little: they are published in batches.
    pub fn mine(&mut self, count: u64, pace: Pace) -> Result<(), ChangeError> {
        let mut head = self.head();
        let mut blocks: Vec<Arc<Block>> = Vec::new();
        let mut outcome = Ok(());
        for left in (1..=count).rev() {
            if let Some(interval) = pace.interval {
                self.increase_time(i64::try_from(interval).unwrap_or(i64::MAX));
            }
            let environment = self.shared.next_environment(&head, pace.at_least);
            let _span = block_span(&head);
            let first = if left <= LIVELY { self.preamble(&head, &environment) } else { Vec::new() };
            let candidate = match self.candidate(&head, &environment, first) {
                Ok(candidate) => candidate,
                Err(error) => {
                    outcome = Err(error.into());
                    break;
                }
            };
            let sealed = self.seal(&head, &environment, candidate);
            if let Err(error) = self.record_sealed(&sealed) {
                outcome = Err(error.into());
                break;
            }
            sealed.dropped.iter().for_each(|old| self.shared.index.remove(old));
            let empty = sealed.block.transactions.is_empty();
            head = Arc::new(sealed.next);
            blocks.push(sealed.block);
            // What a block holds has to leave the pool before the next one is made.
            if !empty || blocks.len() >= BATCH {
                self.publish(Head::clone(&head), std::mem::take(&mut blocks), Vec::new());
                head = self.head();
            }
        }
        if !blocks.is_empty() {
            self.publish(Head::clone(&head), blocks, Vec::new());
        }
        self.after_blocks();
        outcome
    }

    /// How blocks come about from now on. What waits goes into a block at once if that is how.
    pub fn set_mining(&mut self, mining: Mining) {
        self.shared.sealing.lock().mining = mining;
        self.schedule();
        self.seal_ready(false);
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

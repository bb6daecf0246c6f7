//! One step towards the head: rows of blocks that were removed, dropped or added.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use alloy_primitives::Address;
use tetrad_chain::{BlockId, Chain, Head};

use super::{
    balances::answer,
    calls::execute,
    database::{Batch, IndexError, Meta, Rows},
    due::DueRead,
    rows::BlockRows,
    tokens::{TokenReads, TokenRecord},
    transfers::TokenKind,
};

/// The most rows of one step.
const MAX_ROWS: usize = 50_000;

/// The number of contract reads between two looks at the time.
const READS: usize = 64;

/// The accounts whose balances of the network's tokens are read at the start have numbers below
/// this: genesis gives out tokens without events.
const GENESIS_ACCOUNTS: u32 = 4_096;

/// The time between two steps whose changes are certain to survive a kill.
const DURABLE_EVERY: Duration = Duration::from_secs(1);

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    /// The newest indexed block.
    pub(super) tip: u64,
    /// Whether the index has everything up to the head.
    pub(super) is_complete: bool,
    /// Whether the step changed anything. One that did not will not do so at once either: a block
    /// cannot be read, or the node is shutting down.
    pub(super) has_advanced: bool,
}

/// The state of following a chain.
pub(super) struct Follower {
    pub(super) chain: Chain,
    pub(super) rows: Arc<Rows>,
    /// The directory of the chain; `None` for a chain in memory.
    pub(super) directory: Option<PathBuf>,
    /// Tokens that genesis gives out.
    pub(super) tokens: Vec<Address>,
    pub(super) ending: Arc<AtomicBool>,
    durable: Instant,
    /// The reads of tokens at the newest head.
    reads: Option<TokenReads>,
}

impl Follower {
    pub(super) fn new(
        chain: Chain,
        rows: Arc<Rows>,
        directory: Option<PathBuf>,
        tokens: Vec<Address>,
        ending: Arc<AtomicBool>,
    ) -> Self {
        Self {
            chain,
            rows,
            directory,
            tokens,
            ending,
            durable: Instant::now(),
            reads: None,
        }
    }

    fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Works towards `head` for so long, and a little longer to finish a block. However slow the
    /// machine is, a step adds a block if there is one.
    pub(super) fn step(
        &mut self,
        head: &Arc<Head>,
        time: Duration,
    ) -> Result<Progress, IndexError> {
        let deadline = Instant::now() + time;
        let durable = self.is_ending() || self.durable.elapsed() > DURABLE_EVERY;
        let transaction = self.rows.begin(durable)?;

        // Rows of another chain, or of another version, are of no use.
        let known = Batch::new(&transaction)?.meta()?;
        if known.is_none_or(|meta| meta.genesis != head.genesis.hash) {
            Batch::clear(&transaction)?;
        }

        let mut batch = Batch::new(&transaction)?;
        let progress = self.change(&mut batch, head, deadline)?;
        batch.finish()?;
        transaction.commit()?;

        if durable {
            self.durable = Instant::now();
        }
        Ok(progress)
    }

    fn change(
        &mut self,
        batch: &mut Batch<'_>,
        head: &Arc<Head>,
        deadline: Instant,
    ) -> Result<Progress, IndexError> {
        let mut left = Allowance {
            rows: MAX_ROWS,
            deadline,
        };
        let known = batch.meta()?;
        let mut meta = match known {
            Some(meta) => meta,
            None => self.begin(batch, head)?,
        };

        let done = self.remove(batch, head, &mut meta, &mut left)?
            && self.extend(batch, head, &mut meta, &mut left)?;
        batch.set_meta(meta)?;
        let is_complete = done && self.read_due(batch, head, &left)?;
        Ok(Progress {
            tip: meta.tip,
            is_complete,
            // Reads that are due are answered, at least some, once all blocks are there.
            has_advanced: done || known != Some(meta),
        })
    }

    /// Adds the first block, and the tokens of genesis.
    fn begin(&self, batch: &mut Batch<'_>, head: &Arc<Head>) -> Result<Meta, IndexError> {
        let genesis = &head.genesis;
        batch.add_block(genesis.number(), genesis.hash, BlockRows::of(genesis, &[]))?;
        // No transfer records the balances that the first block gives.
        let holders: Vec<_> = if self.tokens.is_empty() {
            Vec::new()
        } else {
            head.state
                .accounts()
                .filter(|account| account.number < GENESIS_ACCOUNTS)
                .map(|account| account.address)
                .collect()
        };

        for &token in &self.tokens {
            batch.add_token(token, &TokenRecord::new(TokenKind::Erc20))?;
            for &holder in &holders {
                batch.add_due(DueRead::Balance {
                    token,
                    holder,
                    unique: false,
                })?;
            }
        }

        Ok(Meta {
            genesis: genesis.hash,
            tip: genesis.number(),
            first: genesis.number() + 1,
        })
    }

    /// Removes blocks that are no longer on the chain, newest first, and blocks that the node has
    /// dropped.
    fn remove(
        &self,
        batch: &mut Batch<'_>,
        head: &Arc<Head>,
        meta: &mut Meta,
        left: &mut Allowance,
    ) -> Result<bool, IndexError> {
        while meta.tip > head.genesis.number() && !self.is_canonical(batch, head, meta.tip)? {
            left.take(batch.remove_block(meta.tip, true)?);
            meta.tip -= 1;
            if left.is_used_up() {
                return Ok(false);
            }
        }

        let oldest = self.chain.oldest(head);
        while meta.first < oldest && meta.first <= meta.tip {
            left.take(batch.remove_block(meta.first, false)?);
            meta.first += 1;
            if left.is_used_up() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_canonical(
        &self,
        batch: &Batch<'_>,
        head: &Arc<Head>,
        number: u64,
    ) -> Result<bool, IndexError> {
        if number > head.number() {
            return Ok(false);
        }
        let Some(known) = batch.hash_of(number)? else {
            return Ok(false);
        };

        let block = self
            .chain
            .block(head, BlockId::Number(number))
            .ok()
            .flatten();
        // A block that the node has dropped cannot be reverted.
        Ok(block.is_none_or(|block| block.hash == known))
    }

    fn extend(
        &self,
        batch: &mut Batch<'_>,
        head: &Arc<Head>,
        meta: &mut Meta,
        left: &mut Allowance,
    ) -> Result<bool, IndexError> {
        // Blocks that memory dropped before they were indexed are skipped.
        let mut next = (meta.tip + 1).max(self.chain.oldest(head));
        if meta.first > meta.tip {
            meta.first = next;
        }

        while next <= head.number() {
            if self.is_ending() {
                return Ok(false);
            }
            // The node drops blocks from memory while they are indexed.
            let Some(block) = self.chain.block(head, BlockId::Number(next)).ok().flatten() else {
                return Ok(false);
            };
            let Ok(executed) = execute(head, &block, &|| self.is_ending()) else {
                return Ok(false);
            };
            // Blocks without rows count as well, so that a step over many of them ends.
            left.take(1 + batch.add_block(next, block.hash, BlockRows::of(&block, &executed))?);
            meta.tip = next;
            next += 1;
            if left.is_used_up() {
                return Ok(next > head.number());
            }
        }
        Ok(true)
    }

    /// Answers the reads that are due; returns whether none is left.
    fn read_due(
        &mut self,
        batch: &mut Batch<'_>,
        head: &Arc<Head>,
        left: &Allowance,
    ) -> Result<bool, IndexError> {
        let reads = self
            .reads
            .take()
            .filter(|reads| reads.are_at(head))
            .unwrap_or_else(|| TokenReads::new(head.clone()));
        let is_done = self.read_all(batch, &reads, left);
        self.reads = Some(reads);
        is_done
    }

    fn read_all(
        &self,
        batch: &mut Batch<'_>,
        reads: &TokenReads,
        left: &Allowance,
    ) -> Result<bool, IndexError> {
        loop {
            let due = batch.due(READS)?;
            if due.is_empty() {
                return Ok(true);
            }

            for read in due {
                answer(batch, reads, read)?;
            }

            if left.is_used_up() || self.is_ending() {
                return Ok(false);
            }
        }
    }
}

/// The rest of the limits of a step.
struct Allowance {
    rows: usize,
    deadline: Instant,
}

impl Allowance {
    fn take(&mut self, rows: usize) {
        self.rows = self.rows.saturating_sub(rows);
    }

    fn is_used_up(&self) -> bool {
        self.rows == 0 || Instant::now() >= self.deadline
    }
}

//! Lookup of blocks by the identifiers that clients use, and the pending block.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::B256;
use tetrad_evm::BlockError;
use tetrad_primitives::block::Block;
use tetrad_store::store::Found;
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::{
    BlockId, Chain, Head, Pruned, View, ViewError,
    block::{candidate::Candidate, seal::seal},
    shared::PendingBlock,
    writer::sealing::MAX_OFFERED,
};

/// Most pooled transactions with which the pending block is quick to build.
const MAX_QUICK_PENDING: usize = 16;

/// The longest time that transactions are executed for a pending block. Longer than any block
/// takes, unless a development method has raised the gas limit out of proportion.
const PENDING_TIMEOUT: Duration = Duration::from_secs(2);

impl Chain {
    /// Returns the block, if it exists. [`BlockId::Pending`] returns the block that would be sealed
    /// next.
    pub fn block(&self, head: &Arc<Head>, id: BlockId) -> Result<Option<Arc<Block>>, BlockError> {
        Ok(match id {
            BlockId::Pending => Some(self.pending(head)?.block.clone()),
            BlockId::Hash(hash) => self.block_by_hash(head, hash),
            other => self.number(head, other).and_then(|number| {
                head.block(number)
                    .cloned()
                    .or_else(|| self.old_block(head, number))
            }),
        })
    }

    fn block_by_hash(&self, head: &Head, hash: B256) -> Option<Arc<Block>> {
        let recent = self.shared.index.block(head, hash).cloned();
        recent.or_else(|| match self.shared.history.as_ref()?.find(hash)? {
            Found::Block(block) if block.number() < head.oldest() => Some(block),
            _ => None,
        })
    }

    /// Returns the number that `id` stands for, or `None` for an unknown hash. The pending block is
    /// one above the head.
    pub fn number(&self, head: &Head, id: BlockId) -> Option<u64> {
        Some(match id {
            BlockId::Latest => head.number(),
            BlockId::Safe => self.epochs_before(head, 1),
            BlockId::Finalized => self.epochs_before(head, 2),
            BlockId::Pending => head.number() + 1,
            BlockId::Earliest => head.genesis.number(),
            BlockId::Number(number) => number,
            BlockId::Hash(hash) => self.block_by_hash(head, hash)?.number(),
        })
    }

    /// Returns the number of the block so many epochs before the newest one, or of the first block.
    fn epochs_before(&self, head: &Head, epochs: u64) -> u64 {
        let blocks = self.shared.slots_in_an_epoch.saturating_mul(epochs);
        head.number()
            .saturating_sub(blocks)
            .max(head.genesis.number())
    }

    /// Returns whether the block, or with `with_state` the state after it, is available without
    /// reading from disk, or building a large block.
    pub fn is_at_hand(&self, id: BlockId, with_state: bool) -> bool {
        let head = match id {
            BlockId::Latest => return true,
            _ => self.head(),
        };
        let is_on_disk = self.shared.history.is_some();

        match id {
            BlockId::Pending => {
                self.shared.pool.len() <= MAX_QUICK_PENDING || self.built_pending(&head).is_some()
            }
            BlockId::Hash(hash) => match self.shared.index.block(&head, hash) {
                Some(block) => is_held(&head, block.number(), with_state),
                None => !is_on_disk,
            },
            id => self.number(&head, id).is_none_or(|number| {
                is_held(&head, number, with_state)
                    || number > head.number()
                    || (number < head.oldest() && !is_on_disk)
            }),
        }
    }

    /// Returns the chain as of a block.
    pub fn view(&self, id: BlockId) -> Result<View, ViewError> {
        let head = self.head();
        if id == BlockId::Pending {
            return Ok(View::clone(&*self.pending(&head)?));
        }

        let Some(block) = self.block(&head, id)? else {
            // A block that was compacted away is reported as pruned, not as unknown.
            let existed = |number: &u64| (head.genesis.number()..head.number()).contains(number);
            return Err(self
                .number(&head, id)
                .filter(existed)
                .map_or(ViewError::NotFound, |number| Pruned(number).into()));
        };

        let state = head.state_after(block.number())?;
        Ok(View {
            environment: head.environment_of(&block),
            block,
            state,
            head,
        })
    }

    /// Returns the block that would be sealed on top of `head` now. It is built on request and kept
    /// until the head, the pool, or the settings of the next block change. One caller builds it;
    /// callers that arrive meanwhile share the next one.
    fn pending(&self, head: &Arc<Head>) -> Result<Arc<View>, BlockError> {
        if let Some(view) = self.built_pending(head) {
            return Ok(view);
        }

        let shared = &self.shared;
        let asked = Instant::now();
        // The lock is held while a whole block is executed.
        block_in_place(|| {
            let mut kept = shared.pending.lock();
            if let Some(pending) = kept.as_ref()
                && pending.serves(shared, head, asked)
            {
                return Ok(pending.view.clone());
            }

            let began = Instant::now();
            // Read before the transactions: one that comes later makes the block stale.
            let pool_version = shared.pool.version();
            let environment = shared.next_environment(head, 0);
            let pooled = shared
                .pool
                .ready(environment.base_fee.unwrap_or(0), MAX_OFFERED);
            let first = shared.preamble(head, &environment);
            let deadline = Some(began + PENDING_TIMEOUT);
            let candidate = Candidate::build(head, &environment, first, &pooled, deadline)?;

            let mut state = head.state.clone();
            let root = state.apply(&candidate.changes);
            let block = Arc::new(seal(&environment, candidate.content, root));
            let view = Arc::new(View {
                head: head.clone(),
                block,
                state,
                environment,
            });

            *kept = Some(PendingBlock {
                pool_version,
                began,
                is_complete: candidate.left_out.unread.is_empty(),
                view: view.clone(),
            });
            Ok(view)
        })
    }

    /// Returns the pending block, if it is already built.
    fn built_pending(&self, head: &Arc<Head>) -> Option<Arc<View>> {
        let pending = self.shared.pending.try_lock()?;
        let current = pending
            .as_ref()
            .filter(|pending| pending.is_current(&self.shared, head));
        current.map(|pending| pending.view.clone())
    }
}

/// Returns whether memory holds the block with this number, or with `with_state` the state after
/// it.
fn is_held(head: &Head, number: u64, with_state: bool) -> bool {
    if with_state {
        head.holds_state(number)
    } else {
        head.block(number).is_some()
    }
}

/// Runs `work`, which may block. On a worker of the runtime, its other tasks move to another
/// worker.
pub fn block_in_place<R>(work: impl FnOnce() -> R) -> R {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

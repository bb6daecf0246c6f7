//! Finding blocks by what clients name them, and the pending one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::B256;
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::{
    block::Block,
    chain::{
        BlockId, Chain, Head, Pruned, View, ViewError,
        block::{candidate::Candidate, seal::seal},
        shared::PendingBlock,
        writer::sealing::MAX_OFFERED,
    },
    evm::BlockError,
    store::Found,
};

/// Waiting transactions that a block can be built of at once.
const FEW: usize = 16;

/// The longest that transactions are executed for a pending block. More than any block takes, unless a development method
/// has put the limit of gas out of proportion.
const PENDING_PATIENCE: Duration = Duration::from_secs(2);

impl Chain {
    /// The block, if there is one. [`BlockId::Pending`] gives what would come next.
    pub fn block(&self, head: &Arc<Head>, id: BlockId) -> Result<Option<Arc<Block>>, BlockError> {
        Ok(match id {
            BlockId::Pending => Some(self.pending(head)?.block.clone()),
            BlockId::Hash(hash) => self.block_by_hash(head, hash),
            other => self
                .number(head, other)
                .and_then(|number| head.block(number).cloned().or_else(|| self.old_block(head, number))),
        })
    }

    fn block_by_hash(&self, head: &Head, hash: B256) -> Option<Arc<Block>> {
        let recent = self.shared.index.block(head, hash).cloned();
        recent.or_else(|| match self.shared.history.as_ref()?.find(hash)? {
            Found::Block(block) if block.number() < head.oldest() => Some(block),
            _ => None,
        })
    }

    /// The height that `id` stands for. None for a hash that is not known; the pending block is one above the head.
    pub fn number(&self, head: &Head, id: BlockId) -> Option<u64> {
        Some(match id {
            BlockId::Latest | BlockId::Safe | BlockId::Finalized => head.number(),
            BlockId::Pending => head.number() + 1,
            BlockId::Earliest => head.genesis.number(),
            BlockId::Number(number) => number,
            BlockId::Hash(hash) => self.block_by_hash(head, hash)?.number(),
        })
    }

    /// Whether the block, or the state after it, can be looked at at once: nothing has to be read from disk or built.
    pub fn is_at_hand(&self, id: BlockId, with_state: bool) -> bool {
        let held = |head: &Head, number| match with_state {
            true => head.holds_state(number),
            false => head.block(number).is_some(),
        };
        let is_on_disk = || self.shared.history.is_some();
        let head = match id {
            BlockId::Latest | BlockId::Safe | BlockId::Finalized => return true,
            _ => self.head(),
        };
        match id {
            BlockId::Pending => self.shared.pool.len() <= FEW || self.built_pending(&head).is_some(),
            BlockId::Hash(hash) => match self.shared.index.block(&head, hash) {
                Some(block) => held(&head, block.number()),
                None => !is_on_disk(),
            },
            id => self.number(&head, id).is_none_or(|number| {
                held(&head, number) || number > head.number() || (number < head.oldest() && !is_on_disk())
            }),
        }
    }

    /// Everything as of a block.
    pub fn view(&self, id: BlockId) -> Result<View, ViewError> {
        let head = self.head();
        if id == BlockId::Pending {
            return Ok(View::clone(&*self.pending(&head)?));
        }
        let Some(block) = self.block(&head, id)? else {
            // A block that there was and that compacting let go of is not one that there never was.
            let gone = |number: &u64| (head.genesis.number()..head.number()).contains(number);
            return Err(self
                .number(&head, id)
                .filter(gone)
                .map_or(ViewError::NotFound, |number| Pruned(number).into()));
        };
        let state = head.state_after(block.number())?;
        Ok(View { environment: head.environment_of(&block), block, state, head })
    }

    /// The block that would be sealed on top of `head` now. Built when somebody asks and kept until the head, the pool, or
    /// what was decided for the next block changes. One caller builds it; others who ask meanwhile share the next one.
    fn pending(&self, head: &Arc<Head>) -> Result<Arc<View>, BlockError> {
        if let Some(view) = self.built_pending(head) {
            return Ok(view);
        }
        let (shared, asked) = (&self.shared, Instant::now());
        apart(|| {
            let mut kept = shared.pending.lock();
            let fits = |pending: &&PendingBlock| {
                pending.is_current(shared, head) || (Arc::ptr_eq(&pending.view.head, head) && pending.began >= asked)
            };
            if let Some(pending) = kept.as_ref().filter(fits) {
                return Ok(pending.view.clone());
            }
            let (began, pool_version) = (Instant::now(), shared.pool.version());
            let environment = shared.next_environment(head, 0);
            let pooled = shared.pool.executable(environment.base_fee.unwrap_or(0), MAX_OFFERED);
            let first = shared.preamble(head, &environment);
            let candidate = Candidate::build(head, &environment, first, &pooled, Some(began + PENDING_PATIENCE))?;
            let mut state = head.state.clone();
            let root = state.apply(&candidate.changes);
            let block = Arc::new(seal(&environment, candidate.content, root));
            let view = Arc::new(View { head: head.clone(), block, state, environment });
            *kept = Some(PendingBlock { pool_version, began, view: view.clone() });
            Ok(view)
        })
    }

    /// The pending block, if it is built already.
    fn built_pending(&self, head: &Arc<Head>) -> Option<Arc<View>> {
        let pending = self.shared.pending.try_lock()?;
        let current = pending.as_ref().filter(|pending| pending.is_current(&self.shared, head));
        current.map(|pending| pending.view.clone())
    }
}

/// Does what may take a while. If a worker of the runtime asks, another one takes over what else it has to do.
fn apart<R>(work: impl FnOnce() -> R) -> R {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

//! Replays of blocks.

use std::sync::Arc;

use alloy_primitives::B256;
use tetrad_chain::{BlockId, Head, View};
use tetrad_evm::{BlockExecutor, Environment};
use tetrad_primitives::{block::Block, state::State};

use super::Budget;
use crate::rpc::{Context, RpcError, eth::find};

/// A block with everything that its execution depended on.
pub(crate) struct BlockReplay {
    /// The head that the block was found in.
    pub head: Arc<Head>,
    /// The block.
    pub block: Arc<Block>,
    state: State,
    environment: Environment,
}

impl BlockReplay {
    /// The block that `id` names.
    pub(crate) fn find(context: &Context, id: BlockId) -> Result<Self, RpcError> {
        if id == BlockId::Pending {
            return Ok(Self::pending(&context.chain.view(id)?));
        }

        // The head that the block was found in: a newer one may have dropped the state before the
        // block, an older one may not have the block.
        let (head, block) =
            find(context, id)?.ok_or_else(|| RpcError::server("block not found"))?;
        Self::of(head, block)
    }

    /// A block of `head`.
    pub(crate) fn of(head: Arc<Head>, block: Arc<Block>) -> Result<Self, RpcError> {
        if block.number() == head.genesis.number() {
            return Err(RpcError::server("genesis is not traceable"));
        }

        let state = head
            .state_before(block.number())
            .map_err(|pruned| RpcError::server(pruned.to_string()))?;
        Ok(Self {
            environment: head.environment_of(&block),
            head,
            block,
            state,
        })
    }

    /// The block of `view`, which `id` named when it was looked up: it may name another one by now.
    pub(crate) fn within(view: &View, id: BlockId) -> Result<Self, RpcError> {
        match id {
            BlockId::Pending => Ok(Self::pending(view)),
            _ => Self::of(view.head.clone(), view.block.clone()),
        }
    }

    /// The block that would be sealed next, which is executed on the state of the head.
    fn pending(view: &View) -> Self {
        Self {
            head: view.head.clone(),
            block: view.block.clone(),
            state: view.head.state.clone(),
            environment: view.environment.clone(),
        }
    }

    /// A block outside of the chain whose parent is in the chain.
    pub(crate) fn on(parent: &View, block: Arc<Block>) -> Self {
        let environment = parent.head.environment_of(&block);
        Self {
            head: parent.head.clone(),
            block,
            state: parent.state.clone(),
            environment,
        }
    }

    /// An empty block after the block of `view`.
    pub(crate) fn next(view: &View) -> Self {
        let header = &view.block.header;
        let number = header.number + 1;
        let environment = Environment {
            rules: view.head.rules(number, header.timestamp),
            number,
            parent_hash: view.block.hash,
            ..view.environment.clone()
        };

        Self {
            head: view.head.clone(),
            block: view.block.clone(),
            state: view.state.clone(),
            environment,
        }
    }

    /// The environment of the block.
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Begins to execute the block.
    pub(crate) fn begin(&self) -> Result<BlockExecutor<'_>, RpcError> {
        Ok(BlockExecutor::begin(
            &self.head.params,
            &self.environment,
            &self.state,
            &*self.head,
        )?
        .without_gas_limits())
    }

    /// The state after the block's first `count` transactions.
    pub(crate) fn state_after(&self, count: usize, budget: &Budget) -> Result<State, RpcError> {
        let mut state = self.state.clone();
        state.apply(&self.after(count, budget)?.into_changes());
        Ok(state)
    }

    /// The block after its first `count` transactions.
    pub(crate) fn after(
        &self,
        count: usize,
        budget: &Budget,
    ) -> Result<BlockExecutor<'_>, RpcError> {
        let mut executor = self.begin()?;

        for transaction in self.block.transactions.iter().take(count) {
            budget.check_time()?;
            executor.execute(transaction)?;
        }

        Ok(executor)
    }
}

/// The block of a transaction, and its index there.
pub(crate) fn find_transaction(
    context: &Context,
    hash: B256,
) -> Result<(BlockReplay, usize), RpcError> {
    let head = context.chain.head();
    let (block, index) = context
        .chain
        .transaction(&head, hash)
        .ok_or_else(|| RpcError::server("transaction not found"))?;

    Ok((BlockReplay::of(head, block)?, index))
}

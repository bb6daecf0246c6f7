//! The chain at a given block.

use std::sync::Arc;

use alloy_primitives::B256;

use crate::{
    block::Block,
    chain::{Head, Pruned},
    evm::{BlockError, BlockHashes, CallContext, Environment, StateOverrides},
    state::State,
};

/// How clients name a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockId {
    /// The newest block.
    Latest,
    /// The block that would come next.
    Pending,
    /// The first block.
    Earliest,
    /// A block that will not be reorganised: on a chain with instant finality the newest.
    Safe,
    /// A block that is final: on a chain with instant finality the newest.
    Finalized,
    /// By height.
    Number(u64),
    /// By hash (EIP-1898). Every block that is held is canonical.
    Hash(B256),
}

/// A block cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// There is no such block.
    #[error("header not found")]
    NotFound,
    /// Its state is older than what is held.
    #[error(transparent)]
    Pruned(#[from] Pruned),
    /// The pending block could not be built.
    #[error(transparent)]
    Pending(#[from] BlockError),
}

/// The chain as of one block: everything that a call or a read of state needs.
#[derive(Clone, Debug)]
pub struct View {
    /// The head that the block was looked up in.
    pub head: Arc<Head>,
    /// The block.
    pub block: Arc<Block>,
    /// The state after it.
    pub state: State,
    /// The circumstances of a call that sees itself in this block.
    pub environment: Environment,
}

impl View {
    /// The chain as of the newest block of `head`.
    pub fn newest(head: Arc<Head>) -> Self {
        Self { environment: head.environment(), block: head.block.clone(), state: head.state.clone(), head }
    }

    /// The chain as of the block of `head` with this number.
    pub fn after(head: Arc<Head>, number: u64) -> Result<Self, ViewError> {
        let block = head.block(number).ok_or(ViewError::NotFound)?.clone();
        Self::of(head, block)
    }

    /// The chain as of `block`, which is one of the chain of `head`, in memory or not.
    pub fn of(head: Arc<Head>, block: Arc<Block>) -> Result<Self, ViewError> {
        let state = head.state_after(block.number())?;
        Ok(Self { environment: head.environment_of(&block), block, state, head })
    }

    /// Where a call runs.
    pub fn call_context<'a>(&'a self, overrides: &'a StateOverrides, gas_cap: u64) -> CallContext<'a> {
        CallContext {
            chain: &self.head.params,
            environment: &self.environment,
            state: &self.state,
            hashes: &*self.head as &dyn BlockHashes,
            overrides,
            gas_cap,
            patience: None,
        }
    }
}

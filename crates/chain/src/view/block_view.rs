//! The chain at a given block.

use std::sync::Arc;

use alloy_primitives::B256;
use tetrad_evm::{BlockError, BlockHashes, CallContext, Environment, StateOverrides};
use tetrad_primitives::{block::Block, state::State};

use crate::{Head, Pruned};

/// A block as clients name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockId {
    /// The newest block.
    Latest,
    /// The block that would be sealed next.
    Pending,
    /// The genesis block.
    Earliest,
    /// The safe block: an epoch before the newest one.
    Safe,
    /// The final block: two epochs before the newest one.
    Finalized,
    /// By height.
    Number(u64),
    /// By hash (EIP-1898). All blocks that are held are canonical.
    Hash(B256),
}

/// An error of looking up a block and its state.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The block does not exist.
    #[error("header not found")]
    NotFound,
    /// The block's state is older than the history that is held.
    #[error(transparent)]
    Pruned(#[from] Pruned),
    /// The pending block could not be built.
    #[error(transparent)]
    Pending(#[from] BlockError),
}

/// The chain as of one block: everything that a call or a state read needs.
#[derive(Clone, Debug)]
pub struct View {
    /// The head that the block was found in.
    pub head: Arc<Head>,
    /// The block.
    pub block: Arc<Block>,
    /// The state after it.
    pub state: State,
    /// The block environment that a call runs in.
    pub environment: Environment,
}

impl View {
    /// Returns the chain as of the newest block of `head`.
    pub fn newest(head: Arc<Head>) -> Self {
        Self {
            environment: head.environment(),
            block: head.block.clone(),
            state: head.state.clone(),
            head,
        }
    }

    /// Returns the chain as of the block of `head` with this number.
    pub fn after(head: Arc<Head>, number: u64) -> Result<Self, ViewError> {
        let block = head.block(number).ok_or(ViewError::NotFound)?.clone();
        Self::of(head, block)
    }

    /// Returns the chain as of `block`, a canonical block of `head`, in memory or not.
    pub fn of(head: Arc<Head>, block: Arc<Block>) -> Result<Self, ViewError> {
        let state = head.state_after(block.number())?;
        Ok(Self {
            environment: head.environment_of(&block),
            block,
            state,
            head,
        })
    }

    /// Returns the context in which a call runs.
    pub fn call_context<'a>(
        &'a self,
        overrides: &'a StateOverrides,
        gas_cap: u64,
    ) -> CallContext<'a> {
        CallContext {
            chain: &self.head.params,
            environment: &self.environment,
            state: &self.state,
            hashes: &*self.head as &dyn BlockHashes,
            overrides,
            gas_cap,
            time_limit: None,
        }
    }
}

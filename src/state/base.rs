//! What lies beneath a forked state.

use std::fmt::Debug;

use alloy_primitives::{Address, B256, U256};

use super::{Account, ReadError};

/// Another chain as of one of its blocks, which a forked [`State`](super::State) asks for everything that it does not
/// hold itself. The answers never change. A failure is an error and never an empty account or a zero.
pub trait Base: Debug + Send + Sync {
    /// The account at `address`, with its code, without storage and with the number [`Account::UNNUMBERED`]. None if it
    /// has nothing.
    fn account(&self, address: &Address) -> Result<Option<Account>, ReadError>;

    /// The value of a storage slot.
    fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError>;

    /// The hash of a block up to the one that was forked; none if there is no such block.
    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError>;
}

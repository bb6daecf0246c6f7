//! The base of a forked state.

use std::fmt::Debug;

use alloy_primitives::{Address, B256, U256};

use super::{Account, ReadError};

/// The state of another chain at one of its blocks, from which a forked [`State`](super::State)
/// reads everything that it does not hold itself. It never changes. A failure is an error, never an
/// empty account or a zero.
pub trait Base: Debug + Send + Sync {
    /// Returns the account at `address` with its code, without its storage, and with the number
    /// [`Account::UNNUMBERED`], or `None` if it is empty.
    fn account(&self, address: &Address) -> Result<Option<Account>, ReadError>;

    /// Returns the value of a storage slot.
    fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError>;

    /// Returns the hash of a block up to the forked one, or `None` if there is no such block.
    fn block_hash(&self, number: u64) -> Result<Option<B256>, ReadError>;
}

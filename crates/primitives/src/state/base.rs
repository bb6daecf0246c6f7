//! The base of a forked state.

use std::fmt::Debug;

use alloy_primitives::{Address, B256, Bytes, U256};

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

    /// Returns whether another node is asked for what is not at hand.
    fn is_remote(&self) -> bool {
        false
    }

    /// Returns whether reads fail because no caller waits for what the current thread executes.
    /// Such a failure says nothing of the state.
    fn is_given_up(&self) -> bool {
        false
    }

    /// Returns the account at `address`, or nothing if another node would have to be asked for it.
    fn account_at_hand(&self, address: &Address) -> Result<Option<Option<Account>>, ReadError> {
        self.account(address).map(Some)
    }

    /// Returns the value of a storage slot, or nothing if another node would have to be asked for
    /// it.
    fn slot_at_hand(&self, address: &Address, index: U256) -> Result<Option<U256>, ReadError> {
        self.slot(address, index).map(Some)
    }

    /// Returns the hash of a block up to the forked one, or nothing if another node would have to be
    /// asked for it.
    fn block_hash_at_hand(&self, number: u64) -> Result<Option<Option<B256>>, ReadError> {
        self.block_hash(number).map(Some)
    }

    /// Asks another node for all of this at once, so that it is at hand for a while. If the reads are
    /// those of an execution, what else the other node says that it reads may be at hand as well.
    fn fetch(&self, _wanted: &[Wanted], _execution: Option<&TracedCall>) -> Result<(), ReadError> {
        Ok(())
    }
}

/// A part of a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wanted {
    /// An account with its code.
    Account(Address),
    /// A storage slot of an account.
    Slot(Address, U256),
    /// The hash of the block with this number.
    BlockHash(u64),
}

/// An execution, as another node needs to know it to trace what it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedCall {
    /// The sender.
    pub from: Address,
    /// The recipient; none for a creation.
    pub to: Option<Address>,
    /// Wei to send.
    pub value: U256,
    /// The gas limit.
    pub gas: u64,
    /// Call data or creation code.
    pub input: Bytes,
}

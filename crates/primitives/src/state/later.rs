//! Accounts and slots of a state that is known as an older one and the changes since: each comes
//! from the newest change that says something about it, or else from the older state.

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};
use revm::bytecode::Bytecode;

use super::{Account, AccountChange, Contract};

/// A part of an account.
#[derive(Clone, Copy, Debug)]
pub enum AccountPart {
    /// Its existence, nonce and balance.
    Fields,
    /// Its code.
    Code,
    /// Its storage as a whole, which changes when it is wiped.
    Storage,
    /// One slot of its storage.
    Slot(U256),
}

/// A change of an account's code.
enum CodeChange {
    Gone,
    To(B256, Bytecode),
}

/// A state as an older one with later changes.
pub trait LaterState {
    /// The error of reading either.
    type Error;

    /// Returns the account at `address` in the older state.
    fn earlier_account(&self, address: &Address) -> Result<Option<Account>, Self::Error>;

    /// Returns the value of a storage slot in the older state.
    fn earlier_slot(&self, address: &Address, index: U256) -> Result<U256, Self::Error>;

    /// Returns what `says` extracts from the newest change of an account from which it extracts
    /// anything, and the position of this change. Only changes of `part` need to be looked at.
    fn newest<T>(
        &self,
        address: &Address,
        part: AccountPart,
        says: impl Fn(&AccountChange) -> Option<T>,
    ) -> Result<Option<(u64, T)>, Self::Error>;

    /// Returns the account at `address` with its code but without its storage, if it exists. One
    /// that changed has the number [`Account::UNNUMBERED`].
    fn later_account(&self, address: &Address) -> Result<Option<Account>, Self::Error> {
        let changed = self.newest(address, AccountPart::Fields, |change| {
            Some(change.after.clone())
        })?;
        let earlier = || self.earlier_account(address);
        let mut account = match changed {
            Some((_, None)) => return Ok(None),
            Some((_, Some(fields))) => Account {
                address: *address,
                number: Account::UNNUMBERED,
                nonce: fields.nonce,
                balance: fields.balance,
                public_key: None,
                contract: earlier()?.and_then(|account| account.contract),
            },
            None => match earlier()? {
                Some(account) => account,
                None => return Ok(None),
            },
        };

        let code = self.newest(address, AccountPart::Code, |change| match &change.after {
            None => Some(CodeChange::Gone),
            Some(fields) => fields
                .code
                .clone()
                .map(|(hash, code)| CodeChange::To(hash, code)),
        })?;

        account.contract = match (code, account.contract) {
            (Some((_, CodeChange::To(code_hash, code))), _) => Some((code_hash, code)),
            (Some((_, CodeChange::Gone)), _) | (None, None) => None,
            (None, Some(contract)) => Some((contract.code_hash, contract.code.clone())),
        }
        .map(|(code_hash, code)| {
            Arc::new(Contract {
                code_hash,
                code,
                ..Contract::default()
            })
        });

        Ok(Some(account))
    }

    /// Returns the value of a storage slot, zero by default.
    fn later_slot(&self, address: &Address, index: U256) -> Result<U256, Self::Error> {
        let set = self.newest(address, AccountPart::Slot(index), |change| {
            change.stored(index)
        })?;

        let is_new =
            |change: &AccountChange| (change.after.is_none() || change.storage_wiped).then_some(());
        let wiped = self.newest(address, AccountPart::Storage, is_new)?;

        Ok(match (set, wiped) {
            // A change that wipes the storage may set slots, which it does afterwards.
            (Some((at, value)), Some((wiped, ()))) if at >= wiped => value,
            (Some((_, value)), None) => value,
            (_, Some(_)) => U256::ZERO,
            (None, None) => self.earlier_slot(address, index)?,
        })
    }
}

impl AccountChange {
    /// Returns the new value of a storage slot, if it changes.
    fn stored(&self, index: U256) -> Option<U256> {
        self.storage
            .iter()
            .find(|(own, _)| *own == index)
            .map(|(_, value)| *value)
    }
}

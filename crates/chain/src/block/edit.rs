//! Edits of the chain by development methods, outside any transaction.
//!
//! An edit takes place between two blocks and seals no block of its own: it is visible at `latest`
//! at once, and stays part of the state at that block once there are others. The state root of the
//! next block includes it; the block's own `stateRoot` is not the root of the edited state.
//!
//! An [`Edit`] is a value and [`Head::edit`] a pure function of a head and an edit, so that
//! replaying a log of blocks and edits leads to the same heads again.
//!
//! Overrides of the chain id and of `ecrecover` are edits as well. anvil and hardhat do the same.

use std::sync::Arc;

use alloy_primitives::{Address, Bytes, FixedBytes, U256};
use tetrad_evm::Overlay;
use tetrad_primitives::state::{Changes, ReadError};

use super::genesis::GenesisAccount;
use crate::Head;

/// A signature as `r`, `s` and `v` (27 or 28), as contracts pass it to `ecrecover`.
pub type RawSignature = FixedBytes<65>;

/// One edit.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Sets an account's balance, in wei.
    Balance(Address, U256),
    /// Adds to an account's balance, in wei, saturating.
    Credit(Address, U256),
    /// Sets the nonce of an account's next transaction.
    Nonce(Address, u64),
    /// Sets an account's code.
    Code(Address, Bytes),
    /// Sets a storage slot of an account.
    Storage(Address, U256, U256),
    /// Sets balance, nonce and code of these accounts, and the storage slots that are listed; other
    /// slots stay.
    Accounts(Vec<GenesisAccount>),
    /// Sets the chain id.
    ChainId(u64),
    /// Makes `ecrecover` return this account for a signature, whatever the message.
    Signature(RawSignature, Address),
}

impl Head {
    /// Returns the head after an edit.
    pub fn edit(&self, edit: &Edit) -> Result<Self, ReadError> {
        let mut params = self.params.clone();
        match edit {
            Edit::ChainId(id) => Arc::make_mut(&mut params).chain_id = *id,
            Edit::Signature(signature, signer) => {
                Arc::make_mut(&mut Arc::make_mut(&mut params).signers).insert(*signature, *signer);
            }
            _ => {
                let changes = Arc::new(changes(self, edit)?);
                let mut state = self.state.clone();
                state.apply(&changes);
                return Ok(self.edited(changes, state));
            }
        }

        let mut next = self.clone();
        next.params = params;
        Ok(next)
    }
}

/// Returns the state changes of an edit.
fn changes(head: &Head, edit: &Edit) -> Result<Changes, ReadError> {
    let mut overlay = Overlay::new(&head.state, head);
    match edit {
        Edit::Balance(address, balance) => {
            overlay.edit(*address, |info| info.balance = *balance)?
        }
        Edit::Credit(address, amount) => overlay.credit(*address, *amount, false)?,
        Edit::Nonce(address, nonce) => overlay.edit(*address, |info| info.nonce = *nonce)?,
        Edit::Code(address, code) => overlay.set_code(*address, code.clone())?,
        Edit::Storage(address, slot, value) => overlay.set_storage(*address, *slot, *value)?,
        Edit::Accounts(accounts) => accounts
            .iter()
            .try_for_each(|account| account.place(&mut overlay))?,
        Edit::ChainId(_) | Edit::Signature(..) => {}
    }
    Ok(overlay.into_changes())
}

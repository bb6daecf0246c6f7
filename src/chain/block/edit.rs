//! What development methods change about the chain from outside of any transaction.
//!
//! An edit happens between two blocks. It makes no block of its own: what it did shows at `latest` at once, and the
//! root of the next block includes it. So the newest block's `stateRoot` is not the root of what `latest` shows until
//! the next block is sealed; the state *at* that block, which an earlier number names later, is the one with the edits
//! that came after it left out.
//!
//! An [`Edit`] is a value and [`Head::edit`] a pure function of a head and an edit, so that a log of blocks and edits,
//! applied in order, leads to the same heads again.

use std::sync::Arc;

use alloy_primitives::{Address, Bytes, FixedBytes, U256};

use super::genesis::GenesisAccount;
use crate::{
    chain::Head,
    evm::Overlay,
    state::{Changes, ReadError},
};

/// A signature as `r`, `s` and `v` (27 or 28), the way contracts hand it to `ecrecover`.
pub type RawSignature = FixedBytes<65>;

/// One change.
#[derive(Clone, Debug)]
pub enum Edit {
    /// An account has this balance, in wei.
    Balance(Address, U256),
    /// An account has so much more, in wei; at most as much as there can be.
    Credit(Address, U256),
    /// An account's next transaction has this nonce.
    Nonce(Address, u64),
    /// An account has this code.
    Code(Address, Bytes),
    /// A storage slot of an account has this value.
    Storage(Address, U256, U256),
    /// These accounts are as described: balance, nonce and code; the storage that is named, beside what there is.
    Accounts(Vec<GenesisAccount>),
    /// Transactions are signed for this chain id from here on.
    ChainId(u64),
    /// `ecrecover` gives this account for a signature, whatever was signed.
    Signature(RawSignature, Address),
}

impl Head {
    /// The same chain after an edit.
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

/// What an edit does to the state.
fn changes(head: &Head, edit: &Edit) -> Result<Changes, ReadError> {
    let mut overlay = Overlay::new(&head.state, head);
    match edit {
        Edit::Balance(address, balance) => overlay.edit(*address, |info| info.balance = *balance)?,
        Edit::Credit(address, amount) => overlay.credit(*address, *amount, false)?,
        Edit::Nonce(address, nonce) => overlay.edit(*address, |info| info.nonce = *nonce)?,
        Edit::Code(address, code) => overlay.set_code(*address, code.clone())?,
        Edit::Storage(address, slot, value) => overlay.set_storage(*address, *slot, *value)?,
        Edit::Accounts(accounts) => accounts.iter().try_for_each(|account| account.place(&mut overlay))?,
        Edit::ChainId(_) | Edit::Signature(..) => {}
    }
    Ok(overlay.into_changes())
}

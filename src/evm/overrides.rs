//! What a call may pretend about accounts: balances, nonces, code and storage that only it sees.

use std::collections::BTreeMap;

use alloy_primitives::{Address, Bytes, U256};

use super::Overlay;
use crate::state::ReadError;

/// Overrides by account.
pub type StateOverrides = BTreeMap<Address, AccountOverride>;

/// What to pretend about one account.
#[derive(Clone, Debug, Default)]
pub struct AccountOverride {
    /// Balance in wei.
    pub balance: Option<U256>,
    /// Nonce.
    pub nonce: Option<u64>,
    /// Code.
    pub code: Option<Bytes>,
    /// The account's whole storage.
    pub state: Option<BTreeMap<U256, U256>>,
    /// Slots that differ from the account's storage.
    pub state_diff: BTreeMap<U256, U256>,
}

/// Applies overrides to what an execution is about to see.
pub fn apply_overrides(overlay: &mut Overlay<'_>, overrides: &StateOverrides) -> Result<(), ReadError> {
    for (&address, account) in overrides {
        overlay.edit(address, |info| {
            info.balance = account.balance.unwrap_or(info.balance);
            info.nonce = account.nonce.unwrap_or(info.nonce);
        })?;
        if let Some(code) = &account.code {
            overlay.set_code(address, code.clone())?;
        }
        if account.state.is_some() {
            overlay.clear_storage(address)?;
        }
        for (&slot, &value) in account.state.iter().flatten().chain(&account.state_diff) {
            overlay.set_storage(address, slot, value)?;
        }
    }
    Ok(())
}

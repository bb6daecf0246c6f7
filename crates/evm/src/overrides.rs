//! State overrides: balances, nonces, code and storage that only one call sees.

use std::collections::BTreeMap;

use alloy_primitives::{Address, Bytes, U256};
use tetrad_primitives::state::ReadError;

use super::{Overlay, PrecompileSet};

/// Overrides by account.
pub type StateOverrides = BTreeMap<Address, AccountOverride>;

/// The overrides of one account.
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
    /// The address that this address's precompile moves to.
    pub move_precompile_to: Option<Address>,
}

/// Overrides that contradict each other or the precompiles.
#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    /// Only precompiles can be moved.
    #[error("account {0} is not a precompile")]
    NotAPrecompile(Address),
    /// A precompile cannot be moved to an account that is overridden as well.
    #[error("account {0} is already overridden")]
    AlreadyOverridden(Address),
    /// The state could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Applies overrides to an overlay. An override of any kind removes the precompile at that address.
pub fn apply_overrides(
    overlay: &mut Overlay<'_>,
    precompiles: &mut PrecompileSet,
    overrides: &StateOverrides,
) -> Result<(), OverrideError> {
    for (&address, account) in overrides {
        let precompile = precompiles.remove(&address);
        if let Some(to) = account.move_precompile_to {
            let precompile = precompile.ok_or(OverrideError::NotAPrecompile(address))?;
            if overrides.contains_key(&to) {
                return Err(OverrideError::AlreadyOverridden(to));
            }
            precompiles.insert(to, precompile);
        }
        apply(overlay, address, account)?;
    }
    Ok(())
}

fn apply(
    overlay: &mut Overlay<'_>,
    address: Address,
    account: &AccountOverride,
) -> Result<(), ReadError> {
    if account.balance.is_some() || account.nonce.is_some() || account.code.is_some() {
        overlay.edit(address, |info| {
            info.balance = account.balance.unwrap_or(info.balance);
            info.nonce = account.nonce.unwrap_or(info.nonce);
        })?;
        if let Some(code) = &account.code {
            overlay.set_code(address, code.clone())?;
        }
    }

    if account.state.is_some() {
        overlay.edit(address, |_| ())?;
        overlay.clear_storage(address)?;
    }

    for (&slot, &value) in account.state.iter().flatten().chain(&account.state_diff) {
        overlay.set_storage(address, slot, value)?;
    }
    Ok(())
}

//! Past states in anvil's dumps: all accounts after each block that it had in memory.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, U256};
use serde::Deserialize;

use super::anvil::{Accounts, DumpedAccount};

/// A state, with the hash of the block after which it was.
pub(super) type PastState = (B256, AllAccounts);

/// All accounts of a state.
#[derive(Debug, Deserialize)]
pub(super) struct AllAccounts {
    accounts: BTreeMap<Address, PastAccount>,
    #[serde(default)]
    storage: BTreeMap<Address, BTreeMap<U256, U256>>,
}

#[derive(Debug, Deserialize)]
struct PastAccount {
    balance: U256,
    nonce: u64,
    #[serde(default)]
    code: Option<PastCode>,
}

/// Code as revm writes it.
#[derive(Debug, Deserialize)]
enum PastCode {
    LegacyRaw(Bytes),
    /// With zeros behind it.
    LegacyAnalyzed {
        bytecode: Bytes,
        original_len: usize,
    },
    Eip7702 {
        raw: Bytes,
    },
}

impl PastCode {
    fn into_bytes(self) -> Bytes {
        match self {
            Self::LegacyRaw(code) | Self::Eip7702 { raw: code } => code,
            Self::LegacyAnalyzed {
                bytecode,
                original_len,
            } => bytecode.slice(..original_len.min(bytecode.len())),
        }
    }
}

impl AllAccounts {
    /// Returns the accounts as those of the newest state are written.
    pub(super) fn into_accounts(mut self) -> Accounts {
        let accounts = self.accounts.into_iter();
        accounts
            .map(|(address, account)| {
                let account = DumpedAccount {
                    nonce: account.nonce,
                    balance: account.balance,
                    code: account.code.map(PastCode::into_bytes).unwrap_or_default(),
                    storage: self.storage.remove(&address).unwrap_or_default(),
                };
                (address, account)
            })
            .collect()
    }
}

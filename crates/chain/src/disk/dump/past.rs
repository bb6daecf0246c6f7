//! Past states in anvil's dumps: all accounts after each block that it had in memory.

use std::collections::{BTreeMap, HashMap};

use alloy_consensus::constants::KECCAK_EMPTY;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use serde::{Deserialize, de::IgnoredAny};

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
    code_hash: Option<B256>,
    #[serde(default)]
    code: Option<PastCode>,
}

/// Code as versions of revm write it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PastCode {
    Named(NamedCode),
    Plain(Bytes),
    /// In a form that this node does not know.
    Other(IgnoredAny),
}

#[derive(Debug, Deserialize)]
enum NamedCode {
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
    fn bytes(&self) -> Option<Bytes> {
        match self {
            Self::Named(NamedCode::LegacyRaw(code) | NamedCode::Eip7702 { raw: code })
            | Self::Plain(code) => Some(code.clone()),
            Self::Named(NamedCode::LegacyAnalyzed {
                bytecode,
                original_len,
            }) => Some(bytecode.slice(..(*original_len).min(bytecode.len()))),
            Self::Other(_) => None,
        }
    }
}

/// The codes that a dump has, by hash. Of several accounts with one code, anvil may write it with
/// one only.
pub(super) struct KnownCodes(HashMap<B256, Bytes>);

impl KnownCodes {
    /// Returns the codes of all past states and of the newest one.
    pub(super) fn of(past: &[PastState], newest: &Accounts) -> Self {
        // Without past states they are never requested, and hashing all codes takes a while.
        if past.is_empty() {
            return Self(HashMap::new());
        }
        let past = past.iter().flat_map(|(_, state)| state.accounts.values());
        let past = past.filter_map(|account| {
            let code = account.code.as_ref()?.bytes()?;
            Some((account.code_hash?, code))
        });
        let newest = newest.values().filter(|account| !account.code.is_empty());
        let newest = newest.map(|account| (keccak256(&account.code), account.code.clone()));
        Self(past.chain(newest).collect())
    }

    /// The code of an account; none if the dump does not have it.
    fn of_account(&self, account: &PastAccount) -> Option<Bytes> {
        match (account.code_hash, &account.code) {
            (None | Some(KECCAK_EMPTY | B256::ZERO), None) => Some(Bytes::new()),
            (Some(hash), None) => self.0.get(&hash).cloned(),
            (_, Some(code)) => code.bytes(),
        }
    }
}

impl AllAccounts {
    /// Returns the accounts as those of the newest state are written. None if a code is not known.
    pub(super) fn into_accounts(mut self, codes: &KnownCodes) -> Option<Accounts> {
        let accounts = self.accounts.into_iter();
        accounts
            .map(|(address, account)| {
                let account = DumpedAccount {
                    nonce: account.nonce,
                    balance: account.balance,
                    code: codes.of_account(&account)?,
                    storage: self.storage.remove(&address).unwrap_or_default(),
                };
                Some((address, account))
            })
            .collect()
    }
}

//! Accounts of an overlay as plain data, which an execution in another process reads.

use alloy_consensus::constants::{EMPTY_ROOT_HASH, KECCAK_EMPTY};
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use revm::state::AccountInfo;
use serde::{Deserialize, Serialize};
use tetrad_primitives::state::{Account, Contract, ReadError};

use super::{Overlay, bytecode, info};

/// An account without its storage.
#[derive(Debug, Serialize, Deserialize)]
pub struct DetachedAccount {
    /// See [`Account::number`].
    pub number: u32,
    /// The nonce.
    pub nonce: u64,
    /// Wei.
    pub balance: U256,
    /// The hash of the code.
    pub code_hash: B256,
    /// The code.
    pub code: Bytes,
    /// Whether any slot is set.
    pub has_storage: bool,
}

impl DetachedAccount {
    /// The account at `address`, as a state returns it.
    pub fn attach(self, address: Address) -> Account {
        let is_contract = self.has_storage || self.code_hash != KECCAK_EMPTY;
        let contract = is_contract.then(|| {
            // No trie has the root zero: that there is storage is all that an execution asks of the
            // root.
            let storage_root = if self.has_storage {
                B256::ZERO
            } else {
                EMPTY_ROOT_HASH
            };
            Contract {
                code: bytecode(self.code),
                code_hash: self.code_hash,
                storage_root,
                ..Contract::default()
            }
            .into()
        });

        Account {
            address,
            number: self.number,
            nonce: self.nonce,
            balance: self.balance,
            public_key: None,
            contract,
        }
    }
}

impl Overlay<'_> {
    /// The account as it is now, for an execution in another process.
    pub fn detached_account(&self, address: Address) -> Result<Option<DetachedAccount>, ReadError> {
        let (number, info, has_storage) = match self.index.get(&address) {
            Some(&at) => {
                let entry = &self.accounts[at];
                let Some(now) = &entry.now else {
                    return Ok(None);
                };
                let number = entry
                    .base
                    .as_ref()
                    .map_or(Account::UNNUMBERED, |account| account.number);
                (number, now.clone(), entry.has_storage())
            }
            None => {
                let Some(account) = self.base.account(&address, &keccak256(address))? else {
                    return Ok(None);
                };
                (
                    account.number,
                    info(&account, 0),
                    account.storage_root() != EMPTY_ROOT_HASH,
                )
            }
        };

        let AccountInfo {
            balance,
            nonce,
            code_hash,
            code,
            ..
        } = info;

        let code = code.map(|code| code.original_bytes()).unwrap_or_default();
        Ok(Some(DetachedAccount {
            number,
            nonce,
            balance,
            code_hash,
            code,
            has_storage,
        }))
    }
}

//! The accounts that a transaction used, and what it changed of them: geth's `prestateTracer`.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, KECCAK256_EMPTY, U256};
use revm::{
    DatabaseRef,
    state::{Account, AccountInfo},
};
use serde::Deserialize;
use tetrad_evm::Inspected;

use super::Budget;
use crate::rpc::{
    RpcError,
    hex::Quantity,
    json::{Json, JsonWriter, Object},
};

/// The options of the tracer.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PrestateConfig {
    diff_mode: Option<bool>,
    disable_code: Option<bool>,
    disable_storage: Option<bool>,
    include_empty: Option<bool>,
}

/// An account as it is written; what is `None` is left out.
#[derive(Debug, Default)]
struct WrittenAccount {
    balance: Option<U256>,
    code: Option<Bytes>,
    code_hash: Option<B256>,
    nonce: Option<u64>,
    storage: BTreeMap<B256, B256>,
}

type Accounts = BTreeMap<Address, WrittenAccount>;

impl PrestateConfig {
    /// Refuses options that exclude each other.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.is_diff() && self.include_empty == Some(true) {
            return Err("cannot use diffMode with includeEmpty".to_owned());
        }
        Ok(())
    }

    fn is_diff(&self) -> bool {
        self.diff_mode == Some(true)
    }

    /// Writes the accounts of an execution.
    pub(super) fn write(
        &self,
        seen: &Inspected<'_>,
        budget: &Budget,
        out: &mut JsonWriter,
    ) -> Result<(), RpcError> {
        let mut before = Accounts::new();
        let mut after = Accounts::new();

        for (address, account) in &seen.outcome.state {
            let old = seen.before.basic_ref(*address)?.unwrap_or_default();
            let exists = !old.is_empty();

            if !self.is_diff() {
                if exists || self.include_empty == Some(true) {
                    before.insert(*address, self.old(&old, account, |_, _| true));
                }
            } else if account.is_selfdestructed() {
                // The transaction removed all of it.
                if exists {
                    before.insert(*address, self.old(&old, account, |_, _| true));
                }
            } else if let Some(changed) = self.changed(&old, account) {
                if exists {
                    // As in geth, slots that were zero are in `post` only.
                    let kept = |old: U256, new: U256| old != new && !old.is_zero();
                    before.insert(*address, self.old(&old, account, kept));
                }
                after.insert(*address, changed);
            }
        }

        if !self.is_diff() {
            return write_accounts(&before, budget, out);
        }

        let mut object = Object::begin(out);
        write_accounts(&after, budget, object.name("post"))?;
        write_accounts(&before, budget, object.name("pre"))?;
        object.end();
        Ok(())
    }

    /// An account before the transaction, with the slots that `keep` chooses by their old and new
    /// values.
    fn old(
        &self,
        old: &AccountInfo,
        account: &Account,
        keep: impl Fn(U256, U256) -> bool,
    ) -> WrittenAccount {
        let code_hash = hash_of_code(old);
        let has_code = code_hash != KECCAK256_EMPTY;

        let slots = account
            .storage
            .iter()
            .filter(|(_, slot)| keep(slot.original_value, slot.present_value))
            .map(|(key, slot)| (B256::from(*key), B256::from(slot.original_value)));

        WrittenAccount {
            balance: Some(old.balance),
            code: (has_code && self.has_code()).then(|| code_of(old)),
            code_hash: has_code.then_some(code_hash),
            nonce: (old.nonce != 0).then_some(old.nonce),
            storage: if self.has_storage() {
                slots.collect()
            } else {
                BTreeMap::new()
            },
        }
    }

    /// The changes of an account, with the new values; none if the transaction changed nothing.
    fn changed(&self, old: &AccountInfo, account: &Account) -> Option<WrittenAccount> {
        let new = &account.info;
        let has_new_code = hash_of_code(new) != hash_of_code(old);
        let changed_slots = || account.storage.iter().filter(|(_, slot)| slot.is_changed());
        let has_new_storage = self.has_storage() && changed_slots().next().is_some();

        let is_changed =
            has_new_code || has_new_storage || new.balance != old.balance || new.nonce != old.nonce;
        if !is_changed {
            return None;
        }

        // A slot that was cleared is one that is missing.
        let set = changed_slots()
            .filter(|(_, slot)| !slot.present_value.is_zero())
            .map(|(key, slot)| (B256::from(*key), B256::from(slot.present_value)));

        Some(WrittenAccount {
            balance: (new.balance != old.balance).then_some(new.balance),
            // A cleared delegation leaves empty code (EIP-7702).
            code: (has_new_code && self.has_code()).then(|| code_of(new)),
            code_hash: has_new_code.then(|| hash_of_code(new)),
            nonce: (new.nonce != old.nonce).then_some(new.nonce),
            storage: if has_new_storage {
                set.collect()
            } else {
                BTreeMap::new()
            },
        })
    }

    fn has_code(&self) -> bool {
        self.disable_code != Some(true)
    }

    fn has_storage(&self) -> bool {
        self.disable_storage != Some(true)
    }
}

fn hash_of_code(account: &AccountInfo) -> B256 {
    if account.is_code_hash_empty_or_zero() {
        KECCAK256_EMPTY
    } else {
        account.code_hash
    }
}

fn code_of(account: &AccountInfo) -> Bytes {
    account
        .code
        .as_ref()
        .map(|code| code.original_bytes())
        .unwrap_or_default()
}

fn write_accounts(
    accounts: &Accounts,
    budget: &Budget,
    out: &mut JsonWriter,
) -> Result<(), RpcError> {
    let mut object = Object::begin(out);
    for (address, account) in accounts {
        let out = object.name(&format!("{address:#x}"));
        account.write(out);
        budget.check_size(out)?;
    }
    object.end();
    Ok(())
}

impl Json for WrittenAccount {
    fn write(&self, out: &mut JsonWriter) {
        // A plain number, as in geth's traces.
        let nonce = self
            .nonce
            .map(|nonce| i64::try_from(nonce).unwrap_or(i64::MAX));

        let mut object = Object::begin(out);
        object
            .optional("balance", &self.balance.map(Quantity))
            .optional("code", &self.code.as_ref())
            .optional("codeHash", &self.code_hash)
            .optional("nonce", &nonce);

        if !self.storage.is_empty() {
            let mut storage = Object::begin(object.name("storage"));
            for (key, value) in &self.storage {
                storage.member(&format!("{key:#x}"), value);
            }
            storage.end();
        }

        object.end();
    }
}

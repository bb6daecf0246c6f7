//! Accounts of the other chain, as its node, its tracers and the file of a forked block have them.

use std::sync::Arc;

use alloy_primitives::{Address, Bytes, U256};
use tetrad_primitives::state::{Account, Contract, bytecode};

use super::file::Record;

/// The approximate size of a cached account in bytes, without its code.
const ACCOUNT_BYTES: usize = 256;

/// An account with this code; none if it does not exist.
pub(super) fn from_parts(
    address: Address,
    balance: U256,
    nonce: u64,
    code: Bytes,
) -> Option<Account> {
    // Nodes answer with zeros for an account that does not exist (EIP-161).
    if balance.is_zero() && nonce == 0 && code.is_empty() {
        return None;
    }

    let contract = (!code.is_empty()).then(|| Arc::new(contract(code)));
    Some(with_contract(address, balance, nonce, contract))
}

/// An account whose contract may be shared with others.
pub(super) fn with_contract(
    address: Address,
    balance: U256,
    nonce: u64,
    contract: Option<Arc<Contract>>,
) -> Account {
    Account {
        address,
        number: Account::UNNUMBERED,
        nonce,
        balance,
        public_key: None,
        contract,
    }
}

/// A contract with this code, which is not empty.
pub(super) fn contract(code: Bytes) -> Contract {
    let code = bytecode(code);
    Contract {
        code_hash: code.hash_slow(),
        code,
        ..Contract::default()
    }
}

/// The records of an account in the file: its code, then the account.
pub(super) fn records(address: Address, account: Option<&Account>) -> impl Iterator<Item = Record> {
    let contract = account.and_then(|account| account.contract.as_ref());
    let code =
        contract.map(|contract| Record::Code(contract.code_hash, contract.code.original_bytes()));
    let fields = account.map(|account| {
        let code_hash = contract.map(|contract| contract.code_hash);
        (account.balance, account.nonce, code_hash)
    });
    code.into_iter().chain([Record::Account(address, fields)])
}

/// The approximate size of a cached account in bytes.
pub(super) fn size(account: &Option<Account>) -> usize {
    // Code is kept with a map of its jump targets.
    let code = account
        .as_ref()
        .and_then(|account| account.contract.as_ref())
        .map_or(0, |contract| contract.code.len());

    ACCOUNT_BYTES + code + code / 8
}

//! Accounts, storage and account numbers.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_trie::{
    TrieAccount,
    root::{state_root_unhashed, storage_root_unhashed},
};
use proptest::prelude::*;
use revm::bytecode::Bytecode;
use tetrad::internals::state::{AccountChange, AccountFields, Changes, State};

#[derive(Clone, Debug, Default)]
struct Model {
    nonce: u64,
    balance: U256,
    code_hash: Option<B256>,
    storage: BTreeMap<B256, U256>,
}

fn change(address: Address) -> AccountChange {
    let after = Some(AccountFields { nonce: 0, balance: U256::ZERO, code: None });
    AccountChange { address, key: keccak256(address), after, storage_wiped: false, storage: vec![], public_key: None }
}

fn root_of(model: &BTreeMap<Address, Model>) -> B256 {
    state_root_unhashed(model.iter().map(|(address, account)| {
        let storage_root = storage_root_unhashed(account.storage.iter().map(|(k, v)| (*k, *v)));
        let code_hash = account.code_hash.unwrap_or(alloy_trie::KECCAK_EMPTY);
        (*address, TrieAccount { nonce: account.nonce, balance: account.balance, storage_root, code_hash })
    }))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn has_the_root_of_the_accounts_it_holds(
        blocks in prop::collection::vec(
            prop::collection::btree_map(0u8..12, (0u8..10, any::<u64>(), any::<Option<u8>>(), any::<bool>(), prop::collection::btree_map(0u64..6, 0u64..3, 0..5)), 0..8),
            1..10,
        )
    ) {
        let (mut state, mut model) = (State::default(), BTreeMap::<Address, Model>::new());
        for block in blocks {
            let mut changes = Changes::default();
            for (who, (fate, balance, code, wiped, storage)) in block {
                let mut change = change(Address::with_last_byte(who));
                if fate == 0 {
                    change.after = None;
                    model.remove(&change.address);
                } else {
                    let code = code.map(|byte| Bytecode::new_raw(Bytes::from(vec![byte, 0])));
                    let account = model.entry(change.address).or_default();
                    (account.nonce, account.balance) = (u64::from(fate), U256::from(balance));
                    if let Some(code) = &code {
                        account.code_hash = Some(code.hash_slow());
                    }
                    if wiped {
                        account.storage.clear();
                    }
                    for (slot, value) in storage {
                        let (slot, value) = (U256::from(slot), U256::from(value));
                        change.storage.push((slot, value));
                        account.storage.insert(B256::from(slot), value);
                    }
                    account.storage.retain(|_, value| !value.is_zero());
                    change.storage_wiped = wiped;
                    let code = code.map(|code| (code.hash_slow(), code));
                    change.after = Some(AccountFields { nonce: account.nonce, balance: account.balance, code });
                }
                changes.0.push(change);
            }
            prop_assert_eq!(state.apply(&changes), root_of(&model));
            for (address, account) in &model {
                for (slot, value) in &account.storage {
                    prop_assert_eq!(state.storage(*address, U256::from_be_bytes(slot.0)).unwrap(), *value);
                }
            }
        }
    }
}

#[test]
fn an_account_keeps_its_number_when_it_is_destroyed_and_comes_back() {
    let [a, b, c] = [1, 2, 3].map(Address::with_last_byte);
    let mut state = State::default();
    state.apply(&Changes(vec![change(b), change(a)]));
    assert_eq!([a, b].map(|address| state.get(address).unwrap().unwrap().number), [1, 0]);

    state.apply(&Changes(vec![AccountChange { after: None, ..change(b) }]));
    assert!(state.get(b).unwrap().is_none());
    state.apply(&Changes(vec![change(c)]));
    state.apply(&Changes(vec![change(b)]));
    assert_eq!([a, b, c].map(|address| state.get(address).unwrap().unwrap().number), [1, 0, 2]);
}

#[test]
fn the_first_public_key_stays() {
    let address = Address::with_last_byte(1);
    let key = |byte| Some(alloy_primitives::FixedBytes::repeat_byte(byte));
    let mut state = State::default();
    state.apply(&Changes(vec![change(address)]));
    assert!(state.get(address).unwrap().unwrap().public_key.is_none());
    for byte in [7, 8] {
        state.apply(&Changes(vec![AccountChange { public_key: key(byte), ..change(address) }]));
        assert_eq!(state.get(address).unwrap().unwrap().public_key.as_deref().copied(), key(7));
    }
}

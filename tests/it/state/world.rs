//! Accounts, storage and account numbers.

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_trie::{
    TrieAccount,
    root::{state_root_unhashed, storage_root_unhashed},
};
use proptest::prelude::*;
use revm::bytecode::Bytecode;
use tetrad_primitives::state::{Account, AccountChange, AccountFields, Changes, ReadState, State};

#[derive(Clone, Debug, Default)]
struct Model {
    nonce: u64,
    balance: U256,
    code_hash: Option<B256>,
    storage: BTreeMap<B256, U256>,
}

fn change(address: Address) -> AccountChange {
    let after = Some(AccountFields {
        nonce: 0,
        balance: U256::ZERO,
        code: None,
    });
    AccountChange {
        address,
        key: keccak256(address),
        after,
        storage_wiped: false,
        storage: vec![],
        public_key: None,
    }
}

fn root_of(model: &BTreeMap<Address, Model>) -> B256 {
    state_root_unhashed(model.iter().map(|(address, account)| {
        let storage_root = storage_root_unhashed(account.storage.iter().map(|(k, v)| (*k, *v)));
        let code_hash = account.code_hash.unwrap_or(alloy_trie::KECCAK_EMPTY);
        (
            *address,
            TrieAccount {
                nonce: account.nonce,
                balance: account.balance,
                storage_root,
                code_hash,
            },
        )
    }))
}

/// The changes of an account in a block: its fate (destroyed if zero), balance, code, whether its
/// storage is wiped, slots.
type Event = (u8, u64, Option<u8>, bool, BTreeMap<u64, u64>);

fn blocks() -> impl Strategy<Value = Vec<BTreeMap<u8, Event>>> {
    let slots = prop::collection::btree_map(0u64..6, 0u64..3, 0..5);
    let event = (
        0u8..10,
        any::<u64>(),
        any::<Option<u8>>(),
        any::<bool>(),
        slots,
    );
    prop::collection::vec(prop::collection::btree_map(0u8..12, event, 0..8), 1..10)
}

/// Applies a block to the model and returns its changes.
fn happen(block: BTreeMap<u8, Event>, model: &mut BTreeMap<Address, Model>) -> Changes {
    let mut changes = Changes::default();
    for (who, (fate, balance, code, wiped, storage)) in block {
        let mut change = change(Address::with_last_byte(who));
        if fate == 0 {
            change.after = None;
            model.remove(&change.address);
        } else {
            let code = code.map(|byte| Bytecode::new_raw(Bytes::from(vec![byte, 0])));
            let account = model.entry(change.address).or_default();
            (account.nonce, account.balance) = (u64::from(fate) - 1, U256::from(balance));

            if let Some(code) = &code {
                account.code_hash = Some(code.hash_slow());
            }
            if wiped {
                account.storage.clear();
            }

            for (slot, value) in storage {
                let slot = U256::from(slot);
                let value = U256::from(value);
                change.storage.push((slot, value));
                account.storage.insert(B256::from(slot), value);
            }

            account.storage.retain(|_, value| !value.is_zero());
            change.storage_wiped = wiped;

            let code = code.map(|code| (code.hash_slow(), code));
            change.after = Some(AccountFields {
                nonce: account.nonce,
                balance: account.balance,
                code,
            });
        }
        changes.0.push(change);
    }
    changes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_state_has_the_root_of_its_accounts(blocks in blocks()) {
        let mut state = State::default();
        let mut model = BTreeMap::<Address, Model>::new();
        for block in blocks {
            let changes = happen(block, &mut model);
            prop_assert_eq!(state.apply(&changes), root_of(&model));
            for (address, account) in &model {
                for (slot, value) in &account.storage {
                    let slot = U256::from_be_bytes(slot.0);
                    prop_assert_eq!(state.storage(*address, slot).unwrap(), *value);
                }
            }
        }
    }

    #[test]
    fn deferred_changes_read_like_applied_ones(
        blocks in blocks(),
        held in 0usize..10,
    ) {
        assert_deferred_reads_the_same(blocks, held)?;
    }
}

fn assert_deferred_reads_the_same(
    blocks: Vec<BTreeMap<u8, Event>>,
    held: usize,
) -> Result<(), TestCaseError> {
    let mut state = State::default();
    let mut model = BTreeMap::<Address, Model>::new();
    let mut before = state.clone();
    let mut changes = Vec::new();

    for (at, block) in blocks.into_iter().enumerate() {
        let more = Arc::new(happen(block, &mut model));
        state.apply(&more);
        changes.push(more);
        if at == held {
            (before, changes) = (state.clone(), Vec::new());
        }
    }

    let deferred = State::deferred(before, changes);
    for address in (0..12).map(Address::with_last_byte) {
        let key = keccak256(address);
        prop_assert_eq!(
            deferred.balance(address).unwrap(),
            state.balance(address).unwrap()
        );
        prop_assert_eq!(
            deferred.nonce(address).unwrap(),
            state.nonce(address).unwrap()
        );
        prop_assert_eq!(
            deferred.code(address).unwrap(),
            state.code(address).unwrap()
        );

        for slot in (0..6).map(U256::from) {
            prop_assert_eq!(
                deferred.storage(address, slot).unwrap(),
                state.storage(address, slot).unwrap()
            );
        }
        let read = deferred.account(&address, &key).unwrap();
        let known = state.account(&address, &key).unwrap();
        prop_assert_eq!(read.is_some(), known.is_some());

        let is_bare = |account: &Account| account.nonce == 0 && account.code().is_empty();
        if let (Some(read), Some(known)) = (read, known)
            && is_bare(&known)
        {
            prop_assert_eq!(
                read.storage_root(),
                known.storage_root(),
                "whether a contract can be created there"
            );
        }
    }
    for address in (0..12).map(Address::with_last_byte) {
        let read = deferred.get(address).unwrap();
        let known = state.get(address).unwrap();
        prop_assert_eq!(format!("{read:?}"), format!("{known:?}"));
    }

    prop_assert_eq!(deferred.root(), state.root());
    prop_assert_eq!(deferred.len(), state.len());
    prop_assert_eq!(deferred.into_whole().next_number(), state.next_number());
    Ok(())
}

#[test]
fn an_account_keeps_its_number_when_it_is_destroyed_and_comes_back() {
    let [a, b, c] = [1, 2, 3].map(Address::with_last_byte);
    let mut state = State::default();
    state.apply(&Changes(vec![change(b), change(a)]));
    assert_eq!(
        [a, b].map(|address| state.get(address).unwrap().unwrap().number),
        [1, 0]
    );

    state.apply(&Changes(vec![AccountChange {
        after: None,
        ..change(b)
    }]));
    assert!(state.get(b).unwrap().is_none());
    state.apply(&Changes(vec![change(c)]));
    state.apply(&Changes(vec![change(b)]));
    assert_eq!(
        [a, b, c].map(|address| state.get(address).unwrap().unwrap().number),
        [1, 0, 2]
    );
}

#[test]
fn the_first_public_key_stays() {
    let address = Address::with_last_byte(1);
    let key = |byte| Some(alloy_primitives::FixedBytes::repeat_byte(byte));
    let mut state = State::default();
    state.apply(&Changes(vec![change(address)]));
    assert!(state.get(address).unwrap().unwrap().public_key.is_none());
    for byte in [7, 8] {
        state.apply(&Changes(vec![AccountChange {
            public_key: key(byte),
            ..change(address)
        }]));
        assert_eq!(
            state
                .get(address)
                .unwrap()
                .unwrap()
                .public_key
                .as_deref()
                .copied(),
            key(7)
        );
    }
}

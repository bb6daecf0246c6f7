//! A forked state equals a complete one after any changes.

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use proptest::prelude::*;
use revm::{bytecode::Bytecode, state::AccountInfo};
use tetrad_evm::{BlockHashes, Overlay};
use tetrad_primitives::state::{Account, Base, Contract, ReadError, State};

/// Another chain's state, whose reads never fail.
#[derive(Debug)]
pub(super) struct LocalBase(pub(super) State);

impl Base for LocalBase {
    fn account(&self, address: &Address) -> Result<Option<Account>, ReadError> {
        let found = self.0.get(*address)?.map(|account| account.into_owned());
        Ok(found.map(|account| {
            let contract = account.contract.as_ref().map(|contract| {
                let code = contract.code.clone();
                let code_hash = contract.code_hash;
                Arc::new(Contract {
                    code,
                    code_hash,
                    ..Contract::default()
                })
            });
            Account {
                number: Account::UNNUMBERED,
                public_key: None,
                contract,
                ..account
            }
        }))
    }

    fn slot(&self, address: &Address, index: U256) -> Result<U256, ReadError> {
        self.0.storage(*address, index)
    }

    fn block_hash(&self, _: u64) -> Result<Option<B256>, ReadError> {
        Ok(None)
    }
}

pub(super) struct NoBlocks;

impl BlockHashes for NoBlocks {
    fn block_hash(&self, _: u64) -> Result<Option<B256>, ReadError> {
        Ok(None)
    }
}

/// A change of an account.
#[derive(Clone, Debug)]
enum Action {
    Balance(u64),
    Code(u8),
    Slot(u64, u64),
    Wipe,
    Destroy,
}

fn action() -> impl Strategy<Value = (u8, Action)> {
    let action = prop_oneof![
        any::<u64>().prop_map(Action::Balance),
        any::<u8>().prop_map(Action::Code),
        (0u64..4, 0u64..3).prop_map(|(slot, value)| Action::Slot(slot, value)),
        (0u64..4, 0u64..3).prop_map(|(slot, value)| Action::Slot(slot, value)),
        Just(Action::Wipe),
        Just(Action::Destroy),
    ];
    (0u8..5, action)
}

fn apply(state: &mut State, block: &[(u8, Action)]) {
    let base = state.clone();
    let mut overlay = Overlay::new(&base, &NoBlocks);

    for (number, action) in block {
        let address = Address::with_last_byte(*number + 1);
        match action {
            // An account without anything else does not exist, in both states.
            Action::Balance(balance) => overlay.edit(address, |info| {
                info.balance = U256::from(*balance).max(U256::ONE)
            }),
            Action::Code(byte) => overlay
                .edit(address, |info| info.nonce += 1)
                .and_then(|()| overlay.set_code(address, Bytes::from(vec![*byte, 0]))),
            Action::Slot(slot, value) => overlay
                .edit(address, |info| info.nonce += 1)
                .and_then(|()| overlay.set_storage(address, U256::from(*slot), U256::from(*value))),
            Action::Wipe if overlay.account(address).unwrap().is_some() => {
                overlay.clear_storage(address)
            }
            Action::Destroy if overlay.account(address).unwrap().is_some() => {
                let mut gone = revm::state::Account::from(AccountInfo::default());
                gone.mark_touch();
                gone.mark_selfdestruct();
                overlay.commit([(address, gone)].into_iter().collect())
            }
            Action::Wipe | Action::Destroy => Ok(()),
        }
        .unwrap();
    }

    let changes = overlay.into_changes();
    state.apply(&changes);
}

/// The observable content of a state.
fn visible(state: &State) -> BTreeMap<Address, (u64, U256, B256, Vec<U256>)> {
    let addresses = (1..=5).map(Address::with_last_byte);
    let found =
        addresses.filter_map(|address| Some((address, state.get(address).unwrap()?.into_owned())));
    let visible = found.map(|(address, account)| {
        let slots = (0..4)
            .map(|slot| state.storage(address, U256::from(slot)).unwrap())
            .collect();
        (
            address,
            (account.nonce, account.balance, account.code_hash(), slots),
        )
    });
    visible.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_forked_state_matches_a_complete_one(
        before in prop::collection::vec(action(), 0..12),
        after in prop::collection::vec(prop::collection::vec(action(), 1..6), 1..8),
    ) {
        let mut whole = State::default();
        apply(&mut whole, &before);
        let mut forked = State::forked(Arc::new(LocalBase(whole.clone())));
        prop_assert_eq!(visible(&whole), visible(&forked));
        for block in &after {
            apply(&mut whole, block);
            apply(&mut forked, block);
            prop_assert_eq!(visible(&whole), visible(&forked), "after {:?}", block);
        }
    }
}

#[test]
fn an_edit_keeps_the_code_of_an_account_of_the_base() {
    let address = Address::with_last_byte(1);
    let code = Bytes::from_static(&[0x60, 0]);
    let mut whole = State::default();
    apply(&mut whole, &[(0, Action::Code(0x60))]);
    let mut forked = State::forked(Arc::new(LocalBase(whole)));
    assert!(forked.get(address).unwrap().unwrap().is_beneath());
    apply(&mut forked, &[(0, Action::Balance(5))]);
    let account = forked.get(address).unwrap().unwrap();
    assert_eq!((account.number, account.code_hash()), (0, keccak256(&code)));
    assert_eq!(account.code(), Bytecode::new_raw(code));
}

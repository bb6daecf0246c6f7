//! A forked state: the same as one that holds everything, whatever happens on it.

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use proptest::prelude::*;
use revm::{bytecode::Bytecode, state::AccountInfo};
use tetrad_evm::{BlockHashes, Overlay};
use tetrad_primitives::state::{Account, Base, Contract, ReadError, State};

/// Another chain's state, which cannot fail.
#[derive(Debug)]
pub(super) struct Beneath(pub(super) State);

impl Base for Beneath {
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

/// What happens to an account.
#[derive(Clone, Debug)]
enum Act {
    Balance(u64),
    Code(u8),
    Slot(u64, u64),
    Wipe,
    Destroy,
}

fn act() -> impl Strategy<Value = (u8, Act)> {
    let act = prop_oneof![
        any::<u64>().prop_map(Act::Balance),
        any::<u8>().prop_map(Act::Code),
        (0u64..4, 0u64..3).prop_map(|(slot, value)| Act::Slot(slot, value)),
        (0u64..4, 0u64..3).prop_map(|(slot, value)| Act::Slot(slot, value)),
        Just(Act::Wipe),
        Just(Act::Destroy),
    ];
    (0u8..5, act)
}

fn perform(state: &mut State, block: &[(u8, Act)]) {
    let base = state.clone();
    let mut overlay = Overlay::new(&base, &NoBlocks);

    for (who, act) in block {
        let address = Address::with_last_byte(*who + 1);
        match act {
            // An account that has nothing else is none at all, there as here.
            Act::Balance(balance) => overlay.edit(address, |info| {
                info.balance = U256::from(*balance).max(U256::ONE)
            }),
            Act::Code(byte) => overlay
                .edit(address, |info| info.nonce += 1)
                .and_then(|()| overlay.set_code(address, Bytes::from(vec![*byte, 0]))),
            Act::Slot(slot, value) => overlay
                .edit(address, |info| info.nonce += 1)
                .and_then(|()| overlay.set_storage(address, U256::from(*slot), U256::from(*value))),
            Act::Wipe if overlay.account(address).unwrap().is_some() => {
                overlay.clear_storage(address)
            }
            Act::Destroy if overlay.account(address).unwrap().is_some() => {
                let mut gone = revm::state::Account::from(AccountInfo::default());
                gone.mark_touch();
                gone.mark_selfdestruct();
                overlay.commit([(address, gone)].into_iter().collect())
            }
            Act::Wipe | Act::Destroy => Ok(()),
        }
        .unwrap();
    }

    let changes = overlay.into_changes();
    state.apply(&changes);
}

/// Everything that can be seen of a state.
fn seen(state: &State) -> BTreeMap<Address, (u64, U256, B256, Vec<U256>)> {
    let addresses = (1..=5).map(Address::with_last_byte);
    let found =
        addresses.filter_map(|address| Some((address, state.get(address).unwrap()?.into_owned())));
    let seen = found.map(|(address, account)| {
        let slots = (0..4)
            .map(|slot| state.storage(address, U256::from(slot)).unwrap())
            .collect();
        (
            address,
            (account.nonce, account.balance, account.code_hash(), slots),
        )
    });
    seen.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn shows_what_a_state_that_holds_everything_shows(
        before in prop::collection::vec(act(), 0..12),
        after in prop::collection::vec(prop::collection::vec(act(), 1..6), 1..8),
    ) {
        let mut whole = State::default();
        perform(&mut whole, &before);
        let mut forked = State::forked(Arc::new(Beneath(whole.clone())));
        prop_assert_eq!(seen(&whole), seen(&forked));
        for block in &after {
            perform(&mut whole, block);
            perform(&mut forked, block);
            prop_assert_eq!(seen(&whole), seen(&forked), "after {:?}", block);
        }
    }
}

#[test]
fn the_code_of_an_account_that_was_only_beneath_is_taken_along() {
    let address = Address::with_last_byte(1);
    let code = Bytes::from_static(&[0x60, 0]);
    let mut whole = State::default();
    perform(&mut whole, &[(0, Act::Code(0x60))]);
    let mut forked = State::forked(Arc::new(Beneath(whole)));
    assert!(forked.get(address).unwrap().unwrap().is_beneath());
    perform(&mut forked, &[(0, Act::Balance(5))]);
    let account = forked.get(address).unwrap().unwrap();
    assert_eq!((account.number, account.code_hash()), (0, keccak256(&code)));
    assert_eq!(account.code(), Bytecode::new_raw(code));
}

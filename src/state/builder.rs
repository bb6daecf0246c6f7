//! Serialization of a whole state in pieces, for checkpoints.

use std::sync::Arc;

use alloy_consensus::constants::KECCAK_EMPTY;
use alloy_primitives::{Address, B256, U256, keccak256};
use revm::bytecode::Bytecode;

use super::{Account, Contract, Retired, Slot, State, Trie, codec::read_code, slot_key};
use crate::{
    block::CompressedKey,
    codec::{Malformed, Reader, Writer},
};

/// Most storage slots in one piece.
const SLOTS: usize = 4_096;

/// A part of a state, of bounded size.
#[derive(Debug)]
pub enum Piece<'a> {
    /// An account without its storage.
    Account(&'a Account),
    /// Storage slots of the previous account.
    Slots(Vec<Slot>),
    /// The hashed address of a destroyed account, with the number and public key that it keeps.
    Retired(B256, u32, Option<CompressedKey>),
}

/// An error of building a state from pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// A piece cannot be read.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The state does not have the expected root.
    #[error("state root: expected {expected}, got {found}")]
    Root {
        /// The expected root.
        expected: B256,
        /// The state's root.
        found: B256,
    },
}

impl Piece<'_> {
    /// Encodes the piece.
    pub fn write(&self, out: &mut Writer) {
        match self {
            Self::Account(account) => {
                out.byte(0);
                out.raw(account.address.as_slice());
                out.number(account.number.into());
                out.number(account.nonce);
                out.wide(account.balance);
                out.option(account.public_key.as_deref(), |out, key| out.raw(key.as_slice()));
                out.option(account.contract.as_deref(), |out, contract| {
                    out.raw(contract.code_hash.as_slice());
                    out.string(contract.code.original_byte_slice());
                });
            }
            Self::Slots(slots) => {
                out.byte(1);
                out.number(slots.len() as u64);
                for slot in slots {
                    out.wide(slot.index);
                    out.wide(slot.value);
                }
            }
            Self::Retired(key, number, public_key) => {
                out.byte(2);
                out.raw(key.as_slice());
                out.number((*number).into());
                out.option(*public_key, |out, key| out.raw(key.as_slice()));
            }
        }
    }
}

impl State {
    /// Iterates over the pieces of the state.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let accounts = self.accounts().flat_map(|account| {
            let slots = account.contract.iter().flat_map(|contract| {
                let mut slots = contract.storage.iter().map(|(_, slot)| *slot);
                std::iter::from_fn(move || {
                    let some: Vec<_> = slots.by_ref().take(SLOTS).collect();
                    (!some.is_empty()).then_some(Piece::Slots(some))
                })
            });
            std::iter::once(Piece::Account(account)).chain(slots)
        });
        let retired = self.whole().retired.iter();
        accounts
            .chain(retired.map(|(key, gone)| Piece::Retired(*key, gone.number, gone.public_key.as_deref().copied())))
    }

    /// Returns the number of the next new account.
    pub fn next_number(&self) -> u32 {
        self.whole().next_number
    }
}

/// A builder of a state from its pieces.
#[derive(Debug, Default)]
pub struct StateBuilder {
    state: State,
    /// The newest account, as long as its slots may follow.
    open: Option<Account>,
}

impl StateBuilder {
    /// Adds the next piece that [`Piece::write`] encoded.
    pub fn read(&mut self, from: &mut Reader<'_>) -> Result<(), Malformed> {
        match from.byte()? {
            0 => {
                self.close();
                self.open = Some(read_account(from)?);
            }
            1 => self.read_slots(from)?,
            2 => {
                let (key, number) = (B256::from(from.array()?), read_account_number(from)?);
                let public_key = read_public_key(from)?;
                self.state.retired.insert(key, Retired { number, public_key });
            }
            _ => return Err(Malformed("piece of the state")),
        }
        Ok(())
    }

    /// Returns the state, if it has the expected root.
    pub fn finish(mut self, next_number: u32, expected: B256) -> Result<State, StateError> {
        self.close();
        self.state.next_number = next_number;
        let found = self.state.accounts.root();
        self.state.root = Some(found);
        if found == expected { Ok(self.state) } else { Err(StateError::Root { expected, found }) }
    }

    fn read_slots(&mut self, from: &mut Reader<'_>) -> Result<(), Malformed> {
        let contract = self.open.as_mut().and_then(|account| account.contract.as_mut());
        let contract = Arc::make_mut(contract.ok_or(Malformed("slots of no contract"))?);
        for _ in 0..from.count(2)? {
            let (index, value): (U256, U256) = (from.wide()?, from.wide()?);
            contract.storage.insert(slot_key(index), Slot { index, value });
        }
        Ok(())
    }

    fn close(&mut self) {
        let Some(mut account) = self.open.take() else { return };
        if let Some(contract) = account.contract.as_mut().map(Arc::make_mut) {
            contract.storage_root = contract.storage.root();
        }
        self.state.accounts.insert(keccak256(account.address), account);
    }
}

fn read_account(from: &mut Reader<'_>) -> Result<Account, Malformed> {
    Ok(Account {
        address: Address::from(from.array()?),
        number: read_account_number(from)?,
        nonce: from.number()?,
        balance: from.wide()?,
        public_key: read_public_key(from)?,
        contract: from.option(|from| {
            let code_hash = B256::from(from.array()?);
            let code =
                if code_hash == KECCAK_EMPTY { from.string().map(|_| Bytecode::default())? } else { read_code(from)? };
            Ok(Arc::new(Contract { code, code_hash, storage: Trie::default(), ..Contract::default() }))
        })?,
    })
}

fn read_account_number(from: &mut Reader<'_>) -> Result<u32, Malformed> {
    u32::try_from(from.number()?).map_err(|_| Malformed("account number"))
}

fn read_public_key(from: &mut Reader<'_>) -> Result<Option<Arc<CompressedKey>>, Malformed> {
    from.option(|from| Ok(Arc::new(CompressedKey::from(from.array()?))))
}

//! Serialization of a whole state in pieces, for checkpoints.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use alloy_consensus::constants::KECCAK_EMPTY;
use alloy_primitives::{Address, B256, keccak256};
use parking_lot::Mutex;
use revm::bytecode::Bytecode;
use tetrad_stdx::{
    codec::{Malformed, Reader, Writer},
    parallel,
};

use super::{Account, Contract, Retired, Slot, State, Trie, codec::read_code, slot_key};
use crate::block::CompressedKey;

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
                out.option(account.public_key.as_deref(), |out, key| {
                    out.raw(key.as_slice())
                });
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
        accounts.chain(retired.map(|(key, gone)| {
            Piece::Retired(*key, gone.number, gone.public_key.as_deref().copied())
        }))
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
    /// Decodes records of pieces that `Piece::write` encoded, in parallel.
    pub fn read<'a>(records: impl Iterator<Item = &'a [u8]> + Send) -> Result<Self, Malformed> {
        let decoded = Mutex::new(Vec::new());
        let failed = AtomicBool::new(false);
        let records = records
            .enumerate()
            .take_while(|_| !failed.load(Ordering::Relaxed));

        parallel::for_each(records, |(at, record), (): &mut ()| {
            let part = StatePart::read(record);
            failed.fetch_or(part.is_err(), Ordering::Relaxed);
            decoded.lock().push((at, part));
        });

        // In the order of the records: a part may hold slots of an account of the part before.
        let mut decoded = decoded.into_inner();
        decoded.sort_unstable_by_key(|(at, _)| *at);

        let mut builder = Self::default();
        for (_, part) in decoded {
            builder.add(part?)?;
        }
        Ok(builder)
    }

    /// Returns the state, if it has the expected root.
    pub fn finish(mut self, next_number: u32, expected: B256) -> Result<State, StateError> {
        self.close();
        self.state.next_number = next_number;

        let found = self.state.accounts.root();
        self.state.root = Some(found);
        if found == expected {
            Ok(self.state)
        } else {
            Err(StateError::Root { expected, found })
        }
    }

    fn add(&mut self, part: StatePart) -> Result<(), Malformed> {
        if !part.slots.is_empty() {
            add_slots(self.open.as_mut(), part.slots)?;
        }
        if let Some(last) = part.last {
            self.close();
            self.state.accounts.merge(part.accounts);
            self.open = Some(last);
        }
        self.state.retired.merge(part.retired);
        Ok(())
    }

    fn close(&mut self) {
        if let Some(account) = self.open.take() {
            let (key, account) = complete(account);
            self.state.accounts.insert(key, account);
        }
    }
}

/// The content of a record of pieces.
#[derive(Default)]
struct StatePart {
    /// Further slots of the last account of the record before.
    slots: Trie<Slot>,
    /// The accounts except the last one, hashed.
    accounts: Trie<Account>,
    /// The last account. Further slots of it may follow in the next record.
    last: Option<Account>,
    retired: Trie<Retired>,
}

impl StatePart {
    fn read(record: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Reader::new(record);
        let mut part = Self::default();
        let mut accounts = Vec::new();
        let mut slots = Trie::default();
        let mut retired = Vec::new();

        while !from.is_empty() {
            match from.byte()? {
                0 => {
                    part.end_account(&mut slots)?;
                    accounts.extend(part.last.replace(read_account(from)?).map(complete));
                }
                1 => slots.merge(read_slots(from)?),
                2 => {
                    let key = B256::from(from.array()?);
                    let gone = Retired {
                        number: read_account_number(from)?,
                        public_key: read_public_key(from)?,
                    };
                    retired.push((key, gone));
                }
                _ => return Err(Malformed("piece of the state")),
            }
        }

        part.end_account(&mut slots)?;
        part.accounts = accounts.into_iter().collect();
        // Hashed here, where records are decoded in parallel.
        part.accounts.root();
        part.retired = retired.into_iter().collect();
        Ok(part)
    }

    /// Adds the slots that were read to the account before them.
    fn end_account(&mut self, slots: &mut Trie<Slot>) -> Result<(), Malformed> {
        let slots = std::mem::take(slots);
        match &mut self.last {
            _ if slots.is_empty() => {}
            None => self.slots = slots,
            last => add_slots(last.as_mut(), slots)?,
        }
        Ok(())
    }
}

/// Adds slots to the storage of an account, which must be a contract.
fn add_slots(account: Option<&mut Account>, mut slots: Trie<Slot>) -> Result<(), Malformed> {
    let contract = account
        .and_then(|account| account.contract.as_mut())
        .ok_or(Malformed("slots of no contract"))?;

    // Merged subtrees keep the hashes that they have.
    slots.root();
    Arc::make_mut(contract).storage.merge(slots);
    Ok(())
}

/// Returns an account whose slots are complete, with its key.
fn complete(mut account: Account) -> (B256, Account) {
    if let Some(contract) = account.contract.as_mut().map(Arc::make_mut) {
        contract.storage_root = contract.storage.root();
    }
    (keccak256(account.address), account)
}

fn read_slots(from: &mut Reader<'_>) -> Result<Trie<Slot>, Malformed> {
    let count = from.count(2)?;
    if count > SLOTS {
        return Err(Malformed("number of slots"));
    }
    (0..count).map(|_| read_slot(from)).collect()
}

fn read_slot(from: &mut Reader<'_>) -> Result<(B256, Slot), Malformed> {
    let index = from.wide()?;
    let value = from.wide()?;
    Ok((slot_key(index), Slot { index, value }))
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
            let code = read_checked_code(from, code_hash)?;
            Ok(Arc::new(Contract {
                code,
                code_hash,
                storage: Trie::default(),
                ..Contract::default()
            }))
        })?,
    })
}

fn read_checked_code(from: &mut Reader<'_>, hash: B256) -> Result<Bytecode, Malformed> {
    if hash == KECCAK_EMPTY {
        return from.string().map(|_| Bytecode::default());
    }
    let code = read_code(from)?;
    if keccak256(code.original_byte_slice()) == hash {
        Ok(code)
    } else {
        Err(Malformed("hash of code"))
    }
}

fn read_account_number(from: &mut Reader<'_>) -> Result<u32, Malformed> {
    u32::try_from(from.number()?).map_err(|_| Malformed("account number"))
}

fn read_public_key(from: &mut Reader<'_>) -> Result<Option<Arc<CompressedKey>>, Malformed> {
    from.option(|from| Ok(Arc::new(CompressedKey::from(from.array()?))))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::U256;

    use super::*;
    use crate::state::{AccountChange, AccountFields, Changes};

    fn change(n: u64, after: Option<AccountFields>) -> AccountChange {
        let address = Address::left_padding_from(&n.to_be_bytes());
        let slots = match n {
            70 => 2 * SLOTS as u64 + 10,
            _ if after.is_some() && n.is_multiple_of(10) => 5,
            _ => 0,
        };

        AccountChange {
            address,
            key: keccak256(address),
            after,
            storage_wiped: false,
            storage: (1..=slots)
                .map(|slot| (U256::from(slot), U256::from(n + slot)))
                .collect(),
            public_key: None,
        }
    }

    fn fields(n: u64) -> AccountFields {
        let has_code = n.is_multiple_of(10);
        AccountFields {
            nonce: n,
            balance: U256::from(n),
            code: has_code.then(|| (keccak256([0]), Bytecode::new_raw([0].into()))),
        }
    }

    /// Accounts, one in ten of them with storage, and one with more slots than a piece holds. Some
    /// are destroyed again.
    fn state() -> State {
        let mut state = State::default();
        state.apply(&Changes(
            (1..1_000).map(|n| change(n, Some(fields(n)))).collect(),
        ));
        state.apply(&Changes(
            (100..300).step_by(5).map(|n| change(n, None)).collect(),
        ));
        state
    }

    /// Encodes the pieces of a state, as records that end at the first piece beyond `size` bytes.
    fn records(state: &State, size: usize) -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        let mut record = Writer::default();
        for piece in state.pieces() {
            piece.write(&mut record);
            if record.len() > size {
                records.push(std::mem::take(&mut record).into_bytes());
            }
        }
        records.push(record.into_bytes());
        records
    }

    #[test]
    fn a_state_is_built_from_records_of_any_size() {
        let state = state();
        for size in [0, 100, 1_000, 10_000, 10_000_000] {
            let records = records(&state, size);
            let builder = StateBuilder::read(records.iter().map(Vec::as_slice)).unwrap();
            let built = builder.finish(state.next_number(), state.root()).unwrap();
            let encoded = |state: &State| self::records(state, usize::MAX);
            assert!(
                encoded(&built) == encoded(&state),
                "records of {size} bytes"
            );
        }
    }

    #[test]
    fn slots_belong_to_a_contract_before_them() {
        let records = records(&state(), 0);
        let at = records.iter().position(|record| record[0] == 1).unwrap();
        for (name, records) in [
            ("of nothing", &records[at..]),
            (
                "of an account",
                &[&records[at - 3..at - 1], &records[at..]].concat(),
            ),
        ] {
            let read = StateBuilder::read(records.iter().map(Vec::as_slice));
            assert_eq!(
                read.err(),
                Some(Malformed("slots of no contract")),
                "{name}"
            );
        }
    }

    /// The error of a contract followed by a piece with so many slots.
    fn error_with_slots(count: usize) -> Option<Malformed> {
        let mut record = records(&state(), 0)
            .into_iter()
            .find(|record| record[0] == 0 && record.len() > 60)
            .unwrap();

        let slot = Slot {
            index: U256::ZERO,
            value: U256::ZERO,
        };
        let mut slots = Writer::default();
        Piece::Slots(vec![slot; count]).write(&mut slots);
        record.extend(slots.into_bytes());

        StateBuilder::read(std::iter::once(record.as_slice())).err()
    }

    #[test]
    fn a_piece_with_too_many_slots_is_refused() {
        assert_eq!(error_with_slots(SLOTS), None);
        assert_eq!(
            error_with_slots(SLOTS + 1),
            Some(Malformed("number of slots"))
        );
    }

    #[test]
    fn code_with_another_hash_is_refused() {
        let mut account = state()
            .accounts()
            .find(|account| account.contract.is_some())
            .unwrap()
            .clone();
        account.contract = account.contract.map(|contract| {
            Arc::new(Contract {
                code_hash: B256::ZERO,
                ..(*contract).clone()
            })
        });

        let mut record = Writer::default();
        Piece::Account(&account).write(&mut record);
        let read = StateBuilder::read(std::iter::once(record.into_bytes().as_slice()));
        assert_eq!(read.err(), Some(Malformed("hash of code")));
    }

    #[test]
    fn another_state_than_expected_is_refused() {
        let state = state();
        let mut records = records(&state, 1_000);
        records.remove(3);

        let builder = StateBuilder::read(records.iter().map(Vec::as_slice));
        let finished = builder.map(|builder| {
            builder
                .finish(state.next_number(), state.root())
                .map(|_| ())
        });
        assert!(
            matches!(
                finished,
                Ok(Err(StateError::Root { .. })) | Err(Malformed(_))
            ),
            "{finished:?}"
        );
    }
}

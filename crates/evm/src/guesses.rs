//! Guesses in place of accounts, slots and block hashes that another node would have to be asked for.

use std::collections::BTreeSet;

use alloy_primitives::{Address, B256, U256};
use revm::{bytecode::Bytecode, state::AccountInfo};
use tetrad_primitives::state::{ReadError, Wanted};

use super::time_limit::STOPPED;

/// The most accounts, slots and block hashes that a run with guesses may miss.
pub(super) const MAX_MISSED: usize = 2_048;
/// The length in bytes of what the code of an unknown account returns.
const GUESSED_OUTPUT: u16 = 4_096;

/// The assumptions of an execution about accounts, slots and block hashes that are not at hand.
#[derive(Debug)]
pub(super) struct Guesses {
    /// The value of each slot, balance, block hash and word of output. With zeros, loops and references end
    /// early; with ones, conditions hold and nothing is divided by zero.
    word: U256,
    missed: BTreeSet<Wanted>,
}

impl Guesses {
    pub(super) fn new(word: U256) -> Self {
        Self {
            word,
            missed: BTreeSet::new(),
        }
    }

    /// Whether nothing was guessed.
    pub(super) fn is_empty(&self) -> bool {
        self.missed.is_empty()
    }

    pub(super) fn into_missed(self) -> BTreeSet<Wanted> {
        self.missed
    }

    /// The value of a slot that is not at hand.
    pub(super) fn slot(&mut self, address: Address, index: U256) -> Result<U256, ReadError> {
        self.miss(Wanted::Slot(address, index))?;
        Ok(self.word)
    }

    /// An account that is not at hand. It has code, which returns guesses: the caller goes on, and
    /// what it reads after that is found in the same round.
    pub(super) fn account(&mut self, address: Address) -> Result<AccountInfo, ReadError> {
        self.miss(Wanted::Account(address))?;
        let code = Bytecode::new_legacy(guessing_code(self.word).into());
        Ok(AccountInfo {
            balance: self.word,
            code_hash: code.hash_slow(),
            code: Some(code),
            ..AccountInfo::default()
        })
    }

    /// The hash of a block that is not at hand.
    pub(super) fn block_hash(&mut self, number: u64) -> Result<B256, ReadError> {
        self.miss(Wanted::BlockHash(number))?;
        Ok(self.word.into())
    }

    fn miss(&mut self, wanted: Wanted) -> Result<(), ReadError> {
        if self.missed.len() >= MAX_MISSED {
            return Err(ReadError(STOPPED.to_owned()));
        }
        self.missed.insert(wanted);
        Ok(())
    }
}

/// Code that returns the same word again and again.
fn guessing_code(word: U256) -> Vec<u8> {
    let [high, low] = GUESSED_OUTPUT.to_be_bytes();
    // PUSH2 length, PUSH1 offset, PUSH1 0, CODECOPY, PUSH2 length, PUSH1 0, RETURN.
    let mut code = vec![
        0x61, high, low, 0x60, 14, 0x60, 0, 0x39, 0x61, high, low, 0x60, 0, 0xf3,
    ];
    let words = usize::from(GUESSED_OUTPUT) / 32;
    code.extend(word.to_be_bytes::<32>().repeat(words));
    code
}

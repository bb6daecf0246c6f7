//! The part of a dump that anvil's format does not have: all states since the oldest block, as the
//! changes from each to the next.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use revm::bytecode::Bytecode;
use serde::{Deserialize, Serialize};
use tetrad_evm::ChainParams;
use tetrad_primitives::{
    block::{Block, CompressedKey},
    state::{AccountChange, AccountFields, Changes, State, bytecode},
};

use super::{ACCOUNTS_AT_ONCE, DumpError};
use crate::{Head, HistoryLimits};

/// The history of states.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StateHistory {
    chain_id: u64,
    /// Seconds by which the chain's time is ahead of the clock.
    ahead: i64,
    /// The number of blocks before the first one whose state is known.
    #[serde(default)]
    before: usize,
    /// Whether the blocks are another chain's, whose roots are not those of the states.
    #[serde(default)]
    foreign: bool,
    /// The state after the first block whose state is known, in the order of account numbers.
    base: Vec<DumpedChange>,
    /// The changes of each later block: edits by development methods first, then the block's own.
    blocks: Vec<Vec<Vec<DumpedChange>>>,
    /// The edits by development methods since the newest block.
    edits: Vec<Vec<DumpedChange>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DumpedChange {
    address: Address,
    after: Option<DumpedFields>,
    #[serde(default)]
    storage_wiped: bool,
    #[serde(default)]
    storage: Vec<(U256, U256)>,
    #[serde(default)]
    public_key: Option<CompressedKey>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DumpedFields {
    pub(super) nonce: u64,
    pub(super) balance: U256,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<Bytes>,
}

impl StateHistory {
    /// Returns the number of seconds by which the chain's time is ahead of the clock.
    pub(super) fn ahead(&self) -> i64 {
        self.ahead
    }

    /// Restores the chain of these blocks with all its states.
    pub(super) fn restore(
        self,
        mut params: Arc<ChainParams>,
        blocks: Vec<Arc<Block>>,
        limits: HistoryLimits,
    ) -> Result<Head, DumpError> {
        // A development method may have changed it.
        Arc::make_mut(&mut params).chain_id = self.chain_id;
        let count = blocks.len();
        let changed = self.before.saturating_add(self.blocks.len());
        if count != changed.saturating_add(1) {
            return Err(DumpError::Changes(count, changed.saturating_add(1)));
        }
        let mut blocks = blocks.into_iter();
        let before: Vec<_> = blocks.by_ref().take(self.before).collect();
        let Some(first) = blocks.next() else {
            return Err(DumpError::Changes(count, changed.saturating_add(1)));
        };

        let mut state = State::default();
        let mut base = self.base.into_iter().peekable();
        while base.peek().is_some() {
            state.apply(&restored(base.by_ref().take(ACCOUNTS_AT_ONCE)));
        }
        drop(base);
        if !self.foreign {
            check(&first, &state)?;
        }

        let genesis = before.first().unwrap_or(&first).clone();
        let mut head = Head::resumed(params, genesis, before, first, state);

        for (block, changes) in blocks.zip(self.blocks) {
            let mut changes: Vec<_> = changes.into_iter().map(restored).collect();
            let own = changes.pop().unwrap_or_default();
            head = changes.into_iter().fold(head, edited);

            let mut state = head.state.clone();
            state.apply(&own);
            if !self.foreign {
                check(&block, &state)?;
            }
            (head, _) = head.extended(block, own, state, limits);
        }

        Ok(self.edits.into_iter().map(restored).fold(head, edited))
    }
}

fn edited(head: Head, changes: Changes) -> Head {
    let mut state = head.state.clone();
    state.apply(&changes);
    head.edited(Arc::new(changes), state)
}

fn check(block: &Block, state: &State) -> Result<(), DumpError> {
    let expected = block.header.state_root;
    let found = state.root();
    if expected == found {
        return Ok(());
    }
    Err(DumpError::Root {
        number: block.number(),
        expected,
        found,
    })
}

fn restored(changes: impl IntoIterator<Item = DumpedChange>) -> Changes {
    Changes(changes.into_iter().map(DumpedChange::restore).collect())
}

impl DumpedChange {
    fn restore(self) -> AccountChange {
        AccountChange {
            address: self.address,
            key: keccak256(self.address),
            after: self.after.map(|fields| AccountFields {
                nonce: fields.nonce,
                balance: fields.balance,
                code: fields.code.map(hashed),
            }),
            storage_wiped: self.storage_wiped,
            storage: self.storage,
            public_key: self.public_key,
        }
    }
}

/// Returns a code with its hash.
fn hashed(code: Bytes) -> (B256, Bytecode) {
    (keccak256(&code), bytecode(code))
}

//! What anvil has no place for: every state since the oldest block, as the changes that led from one to the next.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use revm::bytecode::Bytecode;
use serde::{Deserialize, Serialize};

use super::DumpError;
use crate::{
    block::{Block, CompressedKey},
    chain::{Head, HistoryLimits},
    state::{Account, AccountChange, AccountFields, Changes, State},
};

/// The states.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Own {
    chain_id: u64,
    /// Seconds by which the chain's time is ahead of the clock.
    ahead: i64,
    /// The state after the oldest block, in the order of account numbers.
    base: Vec<Change>,
    /// What led to each further block: what development methods did, then the block itself.
    blocks: Vec<Vec<Vec<Change>>>,
    /// What development methods did since the newest block.
    edits: Vec<Vec<Change>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    address: Address,
    after: Option<Fields>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    storage_wiped: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    storage: Vec<(U256, U256)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    public_key: Option<CompressedKey>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fields {
    nonce: u64,
    balance: U256,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<Bytes>,
}

impl Own {
    /// The states of a head; none if the oldest is gone, or if another chain lies beneath, without which they are not
    /// whole.
    pub(super) fn of(head: &Head, ahead: i64) -> Option<Self> {
        let base = head.state_after(head.oldest()).ok().filter(|state| state.base().is_none())?;
        let mut accounts: Vec<_> = base.accounts().collect();
        accounts.sort_by_key(|account| account.number);
        let all = |changes: &[Arc<Changes>]| changes.iter().map(|changes| dumped(changes)).collect();
        Some(Self {
            chain_id: head.params.chain_id,
            ahead,
            base: accounts.into_iter().map(Change::of_account).collect(),
            blocks: head.changes_from(head.oldest() + 1).map(all).collect(),
            edits: all(head.edits()),
        })
    }

    /// Seconds by which the chain's time is ahead of the clock.
    pub(super) fn ahead(&self) -> i64 {
        self.ahead
    }

    /// The chain of these blocks with all its states.
    pub(super) fn restore(
        self,
        present: &Head,
        blocks: Vec<Arc<Block>>,
        limits: HistoryLimits,
    ) -> Result<Head, DumpError> {
        let mut params = present.params.clone();
        Arc::make_mut(&mut params).chain_id = self.chain_id;
        let count = blocks.len();
        let mut blocks = blocks.into_iter();
        let (Some(first), true) = (blocks.next(), count == self.blocks.len() + 1) else {
            return Err(DumpError::Changes(count, self.blocks.len() + 1));
        };
        let mut state = State::default();
        state.apply(&restored(self.base));
        check(&first, &state)?;
        let mut head = Head::genesis(params, first, state);
        for (block, changes) in blocks.zip(self.blocks) {
            let mut changes: Vec<_> = changes.into_iter().map(restored).collect();
            let own = changes.pop().unwrap_or_default();
            head = changes.into_iter().fold(head, edited);
            let mut state = head.state.clone();
            state.apply(&own);
            check(&block, &state)?;
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
    let (expected, found) = (block.header.state_root, state.root());
    if expected == found {
        return Ok(());
    }
    Err(DumpError::Root { number: block.number(), expected, found })
}

fn dumped(changes: &Changes) -> Vec<Change> {
    changes.0.iter().map(Change::of).collect()
}

fn restored(changes: Vec<Change>) -> Changes {
    Changes(changes.into_iter().map(Change::restore).collect())
}

impl Change {
    fn of_account(account: &Account) -> Self {
        let slots = account.contract.iter().flat_map(|contract| contract.storage.iter());
        let code = account.code().original_bytes();
        Self {
            address: account.address,
            after: Some(Fields {
                nonce: account.nonce,
                balance: account.balance,
                code: Some(code).filter(|code| !code.is_empty()),
            }),
            storage_wiped: false,
            storage: slots.map(|(_, slot)| (slot.index, slot.value)).collect(),
            public_key: account.public_key.as_deref().copied(),
        }
    }

    fn of(change: &AccountChange) -> Self {
        let after = change.after.as_ref().map(|fields| Fields {
            nonce: fields.nonce,
            balance: fields.balance,
            code: fields.code.as_ref().map(|(_, code)| code.original_bytes()),
        });
        Self {
            address: change.address,
            after,
            storage_wiped: change.storage_wiped,
            storage: change.storage.clone(),
            public_key: change.public_key,
        }
    }

    fn restore(self) -> AccountChange {
        let code = |code: Bytes| {
            let hash: B256 = keccak256(&code);
            (hash, Bytecode::new_raw_checked(code.clone()).unwrap_or_else(|_| Bytecode::new_legacy(code)))
        };
        AccountChange {
            address: self.address,
            key: keccak256(self.address),
            after: self.after.map(|fields| AccountFields {
                nonce: fields.nonce,
                balance: fields.balance,
                code: fields.code.map(code),
            }),
            storage_wiped: self.storage_wiped,
            storage: self.storage,
            public_key: self.public_key,
        }
    }
}

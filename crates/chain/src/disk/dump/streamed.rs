//! Streaming serialization of a dump, which never holds the whole dump in memory.

use alloy_consensus::constants::KECCAK_EMPTY;
use alloy_primitives::{Address, B256, U256};
use serde::{
    Serialize, Serializer,
    ser::{SerializeMap, SerializeStruct},
};
use serde_json::json;
use tetrad_primitives::{
    block::CompressedKey,
    state::{Account, AccountChange, Changes, Slot, State},
};

use super::{
    anvil::{DumpedBlock, DumpedTransaction},
    state_history::DumpedFields,
};
use crate::Head;

/// The dump of a head, and the number of seconds by which the chain's time is ahead of the clock.
pub(super) struct WholeChain<'a> {
    pub(super) head: &'a Head,
    pub(super) ahead: i64,
}

/// A list of the items of an iterator.
struct StreamedList<F>(F);

impl<F, I> Serialize for StreamedList<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// An object with the members of an iterator.
struct StreamedMembers<F>(F);

impl<F, I, K, V> Serialize for StreamedMembers<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item = (K, V)>,
    K: Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((self.0)())
    }
}

impl Serialize for WholeChain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let head = self.head;
        let mut whole = serializer.serialize_map(None)?;
        whole.serialize_entry("block", &environment(head))?;
        whole.serialize_entry(
            "accounts",
            &StreamedMembers(|| {
                let accounts = head.state.accounts();
                accounts.map(|account| (account.address, AnvilAccount(account)))
            }),
        )?;
        whole.serialize_entry("best_block_number", &head.number())?;
        whole.serialize_entry(
            "blocks",
            &StreamedList(|| head.blocks_from(0).map(DumpedBlock::of)),
        )?;
        whole.serialize_entry(
            "transactions",
            &StreamedList(|| head.blocks_from(0).flat_map(DumpedTransaction::all)),
        )?;
        whole.serialize_entry("historical_states", &())?;

        // The states are left out on a fork, where they depend on the other node.
        let oldest = first_known_state(head).filter(|(_, state)| state.base().is_none());
        if let Some((first, oldest)) = oldest {
            whole.serialize_entry(
                "tetrad",
                &WrittenHistory {
                    head,
                    ahead: self.ahead,
                    first,
                    oldest,
                },
            )?;
        }

        whole.end()
    }
}

/// Returns the oldest block whose state is known, and that state. Of a chain that began with a dump
/// of anvil, older blocks may have none.
fn first_known_state(head: &Head) -> Option<(u64, State)> {
    (head.oldest()..=head.number()).find_map(|number| Some((number, head.held_after(number).ok()?)))
}

/// Returns whether a state is that of a block, according to its header. That of a block from a dump
/// of anvil has this node's own accounts as well.
fn is_own_state(head: &Head, number: u64, state: &State) -> bool {
    let expected = head.block(number);
    Some(state.root()) == expected.map(|block| block.header.state_root)
}

/// The environment of the newest block.
fn environment(head: &Head) -> serde_json::Value {
    let header = &head.block.header;
    json!({
        "number": U256::from(header.number),
        "beneficiary": header.beneficiary,
        "timestamp": U256::from(header.timestamp),
        "gas_limit": header.gas_limit,
        "basefee": header.base_fee_per_gas.unwrap_or(0),
        "difficulty": header.difficulty,
        "prevrandao": header.mix_hash,
        "blob_excess_gas_and_price": {
            "excess_blob_gas": header.excess_blob_gas.unwrap_or(0),
            "blob_gasprice": head.environment().blob_base_fee().unwrap_or(1),
        },
        "slot_num": 0,
    })
}

fn slots(account: &Account) -> impl Iterator<Item = &Slot> {
    account
        .contract
        .iter()
        .flat_map(|contract| contract.storage.iter())
        .map(|(_, slot)| slot)
}

/// An account in anvil's format.
struct AnvilAccount<'a>(&'a Account);

impl Serialize for AnvilAccount<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let account = self.0;
        let mut written = serializer.serialize_struct("Account", 4)?;
        written.serialize_field("nonce", &account.nonce)?;
        written.serialize_field("balance", &account.balance)?;
        written.serialize_field("code", &account.code().original_bytes())?;
        written.serialize_field(
            "storage",
            &StreamedMembers(|| {
                slots(account).map(|slot| (B256::from(slot.index), B256::from(slot.value)))
            }),
        )?;
        written.end()
    }
}

/// The history of states, see [`StateHistory`](super::state_history::StateHistory).
struct WrittenHistory<'a> {
    head: &'a Head,
    ahead: i64,
    /// The oldest block whose state is known.
    first: u64,
    /// The state after it.
    oldest: State,
}

impl Serialize for WrittenHistory<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let head = self.head;
        let mut accounts: Vec<_> = self.oldest.accounts().collect();
        // Restoring numbers the accounts in this order.
        accounts.sort_by_key(|account| account.number);

        let mut own = serializer.serialize_struct("WrittenHistory", 7)?;
        own.serialize_field("chainId", &head.params.chain_id)?;
        own.serialize_field("ahead", &self.ahead)?;
        own.serialize_field("before", &(self.first - head.oldest()))?;
        let is_own = is_own_state(head, self.first, &self.oldest);
        own.serialize_field("foreign", &!is_own)?;
        own.serialize_field(
            "base",
            &StreamedList(|| accounts.iter().copied().map(of_account)),
        )?;
        own.serialize_field(
            "blocks",
            &StreamedList(|| {
                let blocks = head.changes_from(self.first + 1);
                blocks.map(|all| StreamedList(move || all.iter().map(|each| of(each))))
            }),
        )?;
        own.serialize_field(
            "edits",
            &StreamedList(|| head.edits().iter().map(|each| of(each))),
        )?;
        own.end()
    }
}

/// A change of an account.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenChange<T> {
    address: Address,
    after: Option<DumpedFields>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    storage_wiped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    storage: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<CompressedKey>,
}

fn of(changes: &Changes) -> impl Serialize + '_ {
    StreamedList(|| changes.0.iter().map(of_change))
}

fn of_change(change: &AccountChange) -> WrittenChange<&[(U256, U256)]> {
    let after = change.after.as_ref().map(|fields| DumpedFields {
        nonce: fields.nonce,
        balance: fields.balance,
        code: fields.code.as_ref().map(|(_, code)| code.original_bytes()),
    });
    WrittenChange {
        address: change.address,
        after,
        storage_wiped: change.storage_wiped,
        storage: Some(change.storage.as_slice()).filter(|storage| !storage.is_empty()),
        public_key: change.public_key,
    }
}

/// Returns the change that creates an account.
fn of_account(account: &Account) -> WrittenChange<impl Serialize + '_> {
    let code = account
        .contract
        .as_ref()
        .filter(|contract| contract.code_hash != KECCAK_EMPTY);
    let storage = slots(account)
        .next()
        .map(|_| StreamedList(|| slots(account).map(|slot| (slot.index, slot.value))));

    WrittenChange {
        address: account.address,
        after: Some(DumpedFields {
            nonce: account.nonce,
            balance: account.balance,
            code: code.map(|contract| contract.code.original_bytes()),
        }),
        storage_wiped: false,
        storage,
        public_key: account.public_key.as_deref().copied(),
    }
}

//! Raw content of the state trie.

use alloy_primitives::{Address, B256, Bytes};
use serde_json::{Value, json};
use tetrad_chain::BlockId;
use tetrad_primitives::state::{Slot, State};

use crate::rpc::{
    Context, OnFork, RpcError, Table, hex,
    json::{Json, JsonWriter, Object},
    params::{self, LooseNumber, Param, ParamRules},
    schema,
    tracing::{BlockReplay, Budget},
};

pub(super) fn methods(table: &mut Table) {
    table
        .apart("debug_codeByHash", code_by_hash, OnFork::Block)
        .describe(
            ["code hash", "block"],
            "The code with this hash after a block, by default the newest; empty if no account has \
             it.",
        );

    table.apart("debug_dbGet", db_get, OnFork::Node).describe(
        ["key"],
        "A value of go-ethereum's database. Only its table of codes exists: the key is `c` \
         (`0x63`) and the code's hash.",
    );

    table
        .apart("debug_storageRangeAt", storage_range_at, OnFork::Block)
        .describe(
            ["block", "transaction index", "address", "start", "count"],
            "Storage of an account before the transaction at an index of a block, in the order of \
             the slots' hashes, from one of these on.",
        );
}

/// The maximum number of slots in one response.
const MAX_SLOTS: u64 = 100_000;
/// The prefix of a code's hash in the keys of geth's database.
const CODE_PREFIX: u8 = b'c';

/// The code with this hash among the accounts that a state holds.
fn find_code(state: &State, hash: B256) -> Option<Bytes> {
    let mut contracts = state
        .accounts()
        .filter_map(|account| account.contract.as_ref());
    contracts
        .find(|contract| contract.code_hash == hash)
        .map(|contract| contract.code.original_bytes())
}

/// The code with this hash after a block, by default the newest; empty if no account has it.
fn code_by_hash(
    context: &Context,
    (hash, block): (B256, Option<BlockId>),
) -> Result<Bytes, RpcError> {
    let state = context.chain.view(block.unwrap_or(BlockId::Latest))?.state;
    if let Some(code) = find_code(&state, hash) {
        return Ok(code);
    }
    // Accounts that are not held may have it.
    check_whole(&state)?;
    Ok(Bytes::new())
}

/// Refuses to iterate over a state that is read piece by piece.
pub(super) fn check_whole(state: &State) -> Result<(), RpcError> {
    if state.base().is_some() {
        return Err(RpcError::server(
            "the state is not held as a whole: it is that of a fork, or of a block older than the \
             history in memory",
        ));
    }
    Ok(())
}

/// A key of geth's database: hex, or text as it stands.
struct DatabaseKey(Vec<u8>);

impl Param for DatabaseKey {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        let text = params::string(json)?;
        // Like geth's `ParseHexOrString`.
        let bytes = if text.starts_with("0x") {
            hex::data(&text)?
        } else {
            text.as_bytes().to_vec()
        };
        Ok(Self(bytes))
    }

    fn schema() -> Value {
        json!({"type": "string"})
    }
}

/// A value of geth's database. Only its table of codes exists: `c` and the hash.
fn db_get(context: &Context, (key,): (DatabaseKey,)) -> Result<Bytes, RpcError> {
    let hash = match key.0.as_slice() {
        [CODE_PREFIX, hash @ ..] if hash.len() == 32 => B256::from_slice(hash),
        // Old databases of geth have codes under their bare hashes.
        hash if hash.len() == 32 => B256::from_slice(hash),
        _ => {
            return Err(RpcError::server(
                "not found: keys are `c` and the hash of a code",
            ));
        }
    };

    let head = context.chain.head();
    if let Some(code) = find_code(&head.state, hash) {
        return Ok(code);
    }
    // The code may belong to an account that was not read yet.
    check_whole(&head.state)?;
    Err(RpcError::server("not found"))
}

/// Slots in the order of their keys in the trie.
struct StorageRange {
    slots: Vec<(B256, Slot)>,
    next: Option<B256>,
}

impl Json for StorageRange {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);

        let mut storage = Object::begin(object.name("storage"));
        for (key, slot) in &self.slots {
            Object::begin(storage.name(&key.to_string()))
                .member("key", &B256::from(slot.index))
                .member("value", &B256::from(slot.value))
                .end();
        }
        storage.end();

        object.member("nextKey", &self.next).end();
    }

    fn schema(_: Option<&Value>) -> Value {
        let word = || schema::data(Some(32));
        let slots = json!({
            "type": "object",
            "additionalProperties": schema::object([("key", word()), ("value", word())], []),
        });
        schema::object(
            [("storage", slots), ("nextKey", schema::or_null(word()))],
            [],
        )
    }
}

/// The first key of a range of slots or accounts: DATA of up to 32 bytes.
pub(super) struct Start(pub(super) B256);

impl Param for Start {
    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        let bytes = hex::data(&params::string(json)?)?;
        match bytes.len() {
            0..=32 => Ok(Self(B256::right_padding_from(&bytes))),
            length => Err(format!("expected at most 32 bytes, got {length}")),
        }
    }

    fn schema() -> Value {
        json!({"type": "string", "pattern": "^0x([0-9a-fA-F]{2}){0,32}$"})
    }
}

/// Storage of an account before the transaction at an index of a block, from a trie key on.
fn storage_range_at(
    context: &Context,
    (block, index, address, start, count): (BlockId, LooseNumber, Address, Start, LooseNumber),
) -> Result<StorageRange, RpcError> {
    let replay = BlockReplay::find(context, block)?;
    let index = usize::try_from(index.0).unwrap_or(usize::MAX);
    let transactions = replay.block.transactions.len();
    // The index after the last transaction stands for the state after the block.
    if index > transactions {
        return Err(RpcError::server(format!(
            "transaction index {index} out of range: the block has {transactions} transactions"
        )));
    }

    let budget = Budget::new(context, "ask for fewer slots");
    let state = replay.state_after(index, &budget)?;
    check_whole(&state)?;
    let account = state
        .get(address)?
        .ok_or_else(|| RpcError::server(format!("account {address} does not exist")))?;

    let count = count.0.min(MAX_SLOTS) as usize;
    let contract = account.contract.iter();
    let mut rest = contract
        .flat_map(|contract| contract.storage.iter())
        .skip_while(|(key, _)| **key < start.0);
    let slots = rest
        .by_ref()
        .take(count)
        .map(|(key, slot)| (*key, *slot))
        .collect();
    Ok(StorageRange {
        slots,
        next: rest.next().map(|(key, _)| *key),
    })
}

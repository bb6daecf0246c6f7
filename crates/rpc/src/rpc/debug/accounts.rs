//! Accounts of a state in the order of the trie, and those that blocks changed.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Bytes, hex};
use tetrad_chain::{BlockId, Head, Pruned};
use tetrad_primitives::state::Account;

use super::storage::{Start, check_whole};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    json::{JsonWriter, Object, Written},
    params::LooseNumber,
    tracing::Budget,
};

pub(super) fn methods(table: &mut Table) {
    table
        .apart("debug_accountRange", account_range, OnFork::Block)
        .describe(
            [
                "block",
                "start",
                "count",
                "without code",
                "without storage",
                "incomplete",
            ],
            "Accounts after a block, in the order of their addresses' hashes, from one of these \
             on: at most 256, with `next` to continue from. All addresses are known, so the last \
             parameter changes nothing.",
        );

    table
        .apart(
            "debug_getModifiedAccountsByNumber",
            modified_by_number,
            OnFork::OwnBlocks,
        )
        .describe(
            ["start", "end"],
            "The accounts that are different after the block `end` from what they were after \
             `start`; with one parameter, those that this block changed.",
        );

    table
        .apart(
            "debug_getModifiedAccountsByHash",
            modified_by_hash,
            OnFork::OwnBlocks,
        )
        .describe(
            ["start", "end"],
            "The accounts that blocks changed, as `debug_getModifiedAccountsByNumber`, by their \
             hashes.",
        );
}

/// The maximum number of accounts in one response, as in geth.
const MAX_ACCOUNTS: usize = 256;

type RangeParams = (
    BlockId,
    Start,
    LooseNumber,
    Option<bool>,
    Option<bool>,
    Option<bool>,
);

/// Accounts after a block, from a trie key on.
fn account_range(
    context: &Context,
    (block, start, count, no_code, no_storage, _): RangeParams,
) -> Result<Written, RpcError> {
    let state = context.chain.view(block)?.state;
    check_whole(&state)?;

    let parts = AccountParts {
        code: no_code != Some(true),
        storage: no_storage != Some(true),
    };
    let budget = Budget::new(
        context,
        "ask for fewer accounts, or without code and storage",
    );
    // As in geth, a count out of range stands for the largest one.
    let count = usize::try_from(count.0)
        .ok()
        .filter(|count| (1..=MAX_ACCOUNTS).contains(count))
        .unwrap_or(MAX_ACCOUNTS);

    let mut out = budget.writer();
    let mut whole = Object::begin(&mut out);
    // Without a prefix, as in geth.
    whole.member("root", &hex::encode(state.root()));

    let mut rest = state
        .keyed_accounts()
        .skip_while(|(key, _)| **key < start.0);
    let mut accounts = Object::begin(whole.name("accounts"));
    for (key, account) in rest.by_ref().take(count) {
        let out = accounts.name(&account.address.to_string());
        write_account(*key, account, parts, out);
        budget.check_time()?;
        budget.check_size(out)?;
    }
    accounts.end();

    whole
        .optional("next", &rest.next().map(|(key, _)| *key))
        .end();
    budget.finish(out)
}

/// The parts of an account that may be left out.
#[derive(Clone, Copy)]
struct AccountParts {
    code: bool,
    storage: bool,
}

/// An account as in geth's dumps.
fn write_account(key: B256, account: &Account, parts: AccountParts, out: &mut JsonWriter) {
    let mut object = Object::begin(out);
    object
        .member("balance", &account.balance.to_string())
        .member("nonce", &(account.nonce as i64))
        .member("root", &account.storage_root())
        .member("codeHash", &account.code_hash());

    let code: Bytes = account.code().original_bytes();
    if parts.code && !code.is_empty() {
        object.member("code", &code);
    }

    let mut slots = account
        .contract
        .iter()
        .flat_map(|contract| contract.storage.iter())
        .peekable();
    if parts.storage && slots.peek().is_some() {
        let mut storage = Object::begin(object.name("storage"));
        for (_, slot) in slots {
            // Without prefix and leading zeros, as in geth's dumps.
            let value = hex::encode(slot.value.to_be_bytes_trimmed_vec());
            storage.member(&B256::from(slot.index).to_string(), &value);
        }
        storage.end();
    }

    object
        .member("address", &account.address)
        .member("key", &key)
        .end();
}

/// The accounts that are different after one block from what they were after an earlier one, in the
/// order of the trie.
fn modified(
    context: &Context,
    head: &Head,
    start: u64,
    end: u64,
) -> Result<Vec<Address>, RpcError> {
    if start >= end {
        return Err(RpcError::server(format!(
            "start block height ({start}) must be less than end block height ({end})"
        )));
    }

    let budget = Budget::new(context, "ask for fewer blocks");
    let pruned = || RpcError::history_pruned(Pruned(start).to_string());
    let mut touched = BTreeMap::new();
    for changes in head.changes_between(start, end).ok_or_else(pruned)? {
        budget.check_time()?;
        touched.extend(changes.0.iter().map(|change| (change.key, change.address)));
    }

    // Blocks may have undone each other's changes.
    let first = head.state_after(start).map_err(|_| pruned())?;
    let last = head.state_after(end).map_err(|_| pruned())?;
    let mut found = Vec::new();
    for address in touched.into_values() {
        let before = first.get(address)?;
        let after = last.get(address)?;
        // As in geth, an account that is gone at the end is not listed.
        if after.is_some_and(|after| before.is_none_or(|before| differ(&before, &after))) {
            found.push(address);
        }
    }
    Ok(found)
}

/// Whether two states of an account differ in a field that the trie has.
fn differ(before: &Account, after: &Account) -> bool {
    before.nonce != after.nonce
        || before.balance != after.balance
        || before.code_hash() != after.code_hash()
        || before.storage_root() != after.storage_root()
}

/// The range of a request, whose blocks exist; with one block, that block alone.
fn range(
    context: &Context,
    start: BlockId,
    end: Option<BlockId>,
) -> Result<Vec<Address>, RpcError> {
    let head = context.chain.head();
    let first = number_of(context, &head, "start", start)?;
    if let Some(end) = end {
        let last = number_of(context, &head, "end", end)?;
        return modified(context, &head, first, last);
    }

    let parent = first
        .checked_sub(1)
        .filter(|parent| *parent >= head.genesis.number())
        .ok_or_else(|| RpcError::server(format!("block {first} has no parent")))?;
    modified(context, &head, parent, first)
}

/// The number of a block that exists; `name` says which parameter it is.
fn number_of(context: &Context, head: &Head, name: &str, id: BlockId) -> Result<u64, RpcError> {
    let found = context
        .chain
        .number(head, id)
        .filter(|number| *number <= head.number());
    found.ok_or_else(|| {
        let shown = match id {
            BlockId::Hash(hash) => hash.to_string(),
            BlockId::Number(number) => number.to_string(),
            _ => String::new(),
        };
        RpcError::server(format!("{name} block {shown} not found"))
    })
}

fn modified_by_number(
    context: &Context,
    (start, end): (LooseNumber, Option<LooseNumber>),
) -> Result<Vec<Address>, RpcError> {
    range(
        context,
        BlockId::Number(start.0),
        end.map(|end| BlockId::Number(end.0)),
    )
}

fn modified_by_hash(
    context: &Context,
    (start, end): (B256, Option<B256>),
) -> Result<Vec<Address>, RpcError> {
    range(context, BlockId::Hash(start), end.map(BlockId::Hash))
}

//! Searches for the transactions that involve an account, as sender, as recipient or in any of
//! their calls.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use alloy_rpc_types_trace::parity::{Action, TraceOutput, TransactionTrace};
use tetrad_chain::{BlockId, Head};
use tetrad_primitives::{block::Block, state::State};

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    eth::{RpcReceipt, RpcTransaction},
    json::{Json, JsonWriter, Object, Written, array},
    ots::PlainNumber,
    params::LooseNumber,
    trace::{Inputs, visit_block},
    tracing::Budget,
};

pub(super) fn methods(table: &mut Table) {
    table
        .apart("ots_searchTransactionsBefore", before, OnFork::OwnBlocks)
        .describe(
            ["address", "block", "page size"],
            "Transactions before a block (zero for the newest) that involve an account, newest \
             first.",
        );

    table
        .apart("ots_searchTransactionsAfter", after, OnFork::OwnBlocks)
        .describe(
            ["address", "block", "page size"],
            "Transactions after a block (zero for the oldest) that involve an account.",
        );

    table
        .apart(
            "ots_getContractCreator",
            contract_creator,
            OnFork::OwnBlocks,
        )
        .describe(
            ["address"],
            "The creator of a contract, and the transaction that created it.",
        );
}

/// Advice on how to request less: a search continues where one ended, and traces every block on the
/// way.
const ADVICE: &str = "ask for a smaller page, from a block nearer to the wanted transactions";
/// The maximum number of transactions on one page.
const MAX_PAGE: u64 = 1_000;

/// The position of a transaction.
type Mined = (Arc<Block>, usize);

/// Writes a page of found transactions, newest first.
fn page(
    context: &Context,
    head: &Head,
    places: &[Mined],
    first_page: bool,
    last_page: bool,
) -> Result<Written, RpcError> {
    let mut out = context.writer(context.config.max_trace_bytes);
    let mut object = Object::begin(&mut out);
    array(object.name("txs"), places, |(block, index), out| {
        RpcTransaction::Mined(block.clone(), *index).write(out);
    });

    array(object.name("receipts"), places, |(block, index), out| {
        let blob_base_fee = head.environment_of(block).blob_base_fee();
        let receipt = RpcReceipt {
            block: block.clone(),
            index: *index,
            blob_base_fee,
        };
        let mut object = Object::begin(out);
        receipt.write_members(&mut object);
        object
            .member("timestamp", &PlainNumber(block.header.timestamp))
            .end();
    });

    object
        .member("firstPage", &first_page)
        .member("lastPage", &last_page)
        .end();

    out.finish()
        .map_err(|error| RpcError::does_not_fit(error, "ask for a smaller page"))
}

/// Whether an account took part in a call: as caller or callee, as creator or created contract, or
/// on either side of a selfdestruct.
fn involves(trace: &TransactionTrace, account: Address) -> bool {
    let acted = match &trace.action {
        Action::Call(call) => call.from == account || call.to == account,
        Action::Create(create) => create.from == account,
        Action::Selfdestruct(end) => end.address == account || end.refund_address == account,
        Action::Reward(_) => false,
    };
    acted
        || matches!(&trace.result, Some(TraceOutput::Create(created)) if created.address == account)
}

/// The indices of the block's transactions that involve `account`, in order.
fn in_block(
    head: &Arc<Head>,
    block: &Arc<Block>,
    account: Address,
    budget: &Budget,
) -> Result<Vec<usize>, RpcError> {
    let mut found = Vec::new();
    visit_block(
        head,
        block.clone(),
        Inputs::LeftOut,
        budget,
        &mut |traced| {
            let index = traced
                .transaction_position
                .and_then(|index| usize::try_from(index).ok());
            // The traces of a transaction follow one another.
            if let Some(index) = index.filter(|_| involves(&traced.trace, account))
                && found.last() != Some(&index)
            {
                found.push(index);
            }
            Ok(())
        },
    )?;
    Ok(found)
}

/// Searches blocks until a page is full; a block's transactions are never split between pages.
fn search<'a>(
    context: &Context,
    head: &Arc<Head>,
    blocks: impl Iterator<Item = &'a Arc<Block>>,
    account: Address,
    size: u64,
) -> Result<(Vec<Mined>, bool), RpcError> {
    if size > MAX_PAGE {
        return Err(RpcError::invalid_params(format!(
            "params[2]: at most {MAX_PAGE}"
        )));
    }

    let budget = Budget::new(context, ADVICE);
    let mut found = Vec::new();
    for block in blocks {
        budget.check_time()?;
        // Checked between blocks only, so that none is divided between two pages.
        if found.len() as u64 >= size {
            return Ok((found, false));
        }
        if block.transactions.is_empty() {
            continue;
        }

        // Within a block, too, the newest comes first.
        for index in in_block(head, block, account, &budget)?.into_iter().rev() {
            found.push((block.clone(), index));
        }
    }
    Ok((found, true))
}

/// Transactions before a block (zero for the newest), newest first.
fn before(
    context: &Context,
    (account, number, size): (Address, LooseNumber, LooseNumber),
) -> Result<Written, RpcError> {
    let head = context.chain.head();
    let end = if number.0 == 0 { u64::MAX } else { number.0 };
    let blocks = head
        .blocks_from(0)
        .rev()
        .filter(|block| block.number() < end);
    let (places, last_page) = search(context, &head, blocks, account, size.0)?;
    page(context, &head, &places, number.0 == 0, last_page)
}

/// Transactions after a block (zero for the oldest), newest first.
fn after(
    context: &Context,
    (account, number, size): (Address, LooseNumber, LooseNumber),
) -> Result<Written, RpcError> {
    let head = context.chain.head();
    let first = if number.0 == 0 {
        0
    } else {
        number.0.saturating_add(1)
    };
    let blocks = head.blocks_from(first);
    let (mut places, first_page) = search(context, &head, blocks, account, size.0)?;

    places.sort_by_key(|(block, index)| std::cmp::Reverse((block.number(), *index)));
    page(context, &head, &places, first_page, number.0 == 0)
}

/// The creator of a contract, and the transaction that created it.
struct Creator {
    hash: B256,
    creator: Address,
}

impl Json for Creator {
    fn write(&self, out: &mut JsonWriter) {
        Object::begin(out)
            .member("hash", &self.hash)
            .member("creator", &self.creator)
            .end();
    }
}

/// The creator of a contract; null if the account is not a contract, or no transaction created it.
fn contract_creator(
    context: &Context,
    (address,): (Address,),
) -> Result<Option<Creator>, RpcError> {
    let head = context.chain.head();
    if !has_code(&head.state, address)? {
        return Ok(None);
    }

    let budget = Budget::new(context, ADVICE);
    let Some(number) = first_with_code(context, &head, address, &budget)? else {
        return Ok(None);
    };
    let Some(block) = context.chain.block(&head, BlockId::Number(number))? else {
        return Ok(None);
    };

    let mut creation = None;
    visit_block(&head, block, Inputs::LeftOut, &budget, &mut |traced| {
        if let (Action::Create(create), Some(TraceOutput::Create(created))) =
            (&traced.trace.action, &traced.trace.result)
            && created.address == address
            && let Some(hash) = traced.transaction_hash
        {
            creation.get_or_insert(Creator {
                hash,
                creator: create.from,
            });
        }
        Ok(())
    })?;
    Ok(creation)
}

/// The number of the block whose state is the first in which an account has code; none if the
/// oldest state has it.
fn first_with_code(
    context: &Context,
    head: &Head,
    address: Address,
    budget: &Budget,
) -> Result<Option<u64>, RpcError> {
    // The block that created the code lies between these two.
    let mut without = context.chain.oldest(head);
    let mut with = head.number();
    if has_code_after(head, without, address, budget)? {
        return Ok(None);
    }

    // Of a contract that was destroyed and created again, this finds one of the creations.
    while without + 1 < with {
        let middle = without + (with - without) / 2;
        if has_code_after(head, middle, address, budget)? {
            with = middle;
        } else {
            without = middle;
        }
    }
    Ok(Some(with))
}

fn has_code_after(
    head: &Head,
    number: u64,
    address: Address,
    budget: &Budget,
) -> Result<bool, RpcError> {
    budget.check_time()?;
    let state = head
        .state_after(number)
        .map_err(|pruned| RpcError::server(pruned.to_string()))?;
    has_code(&state, address)
}

fn has_code(state: &State, address: Address) -> Result<bool, RpcError> {
    Ok(state
        .get(address)?
        .is_some_and(|account| !account.code().is_empty()))
}

//! `trace_filter`: calls by block range and the accounts in them.

use std::ops::RangeInclusive;

use alloy_primitives::Address;
use alloy_rpc_types_trace::filter::{TraceFilter as Accounts, TraceFilterMode};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tetrad_chain::{BlockId, Head};

use super::{Inputs, block::TraceList, visit_block};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    eth::field,
    json::Written,
    params::{self, LooseNumber, Param, ParamRules, Reference},
    schema,
    tracing::Budget,
};

pub(super) fn methods(table: &mut Table) {
    table.apart("trace_filter", filter, OnFork::Range).describe(
        ["filter"],
        "The calls from or to certain accounts in a range of at most 1000 blocks.",
    );
}

/// The maximum number of blocks that one query replays.
const MAX_BLOCKS: u64 = 1_000;

/// The selection of calls.
struct TraceFilter {
    from_block: BlockId,
    to_block: BlockId,
    accounts: Accounts,
    after: usize,
    count: usize,
}

impl TraceFilter {
    /// The numbers of the blocks, as far as they are in the chain.
    fn range(&self, context: &Context, head: &Head) -> Result<RangeInclusive<u64>, RpcError> {
        let from = block_number(context, head, self.from_block)?;
        let to = block_number(context, head, self.to_block)?.min(head.number());

        if from > to {
            return Err(RpcError::invalid_params(
                "invalid parameters: fromBlock cannot be greater than toBlock",
            ));
        }
        if to - from >= MAX_BLOCKS {
            return Err(RpcError::invalid_params(format!(
                "block range too large; currently limited to {MAX_BLOCKS}"
            )));
        }
        Ok(from..=to)
    }
}

fn block_number(context: &Context, head: &Head, id: BlockId) -> Result<u64, RpcError> {
    context
        .chain
        .number(head, id)
        .ok_or_else(|| RpcError::server("unknown block"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawTraceFilter<'a> {
    #[serde(borrow)]
    from_block: Option<&'a RawValue>,
    to_block: Option<&'a RawValue>,
    from_address: Option<&'a RawValue>,
    to_address: Option<&'a RawValue>,
    mode: Option<&'a RawValue>,
    after: Option<&'a RawValue>,
    count: Option<&'a RawValue>,
}

impl Param for TraceFilter {
    const REFERS_TO: Option<Reference> = Some(Reference::Range);

    fn read(json: &str, rules: ParamRules) -> Result<Self, String> {
        let raw: RawTraceFilter<'_> = params::fields(json)?;
        let mode = match field::<String>("mode", raw.mode, rules)?.as_deref() {
            None | Some("union") => TraceFilterMode::Union,
            Some("intersection") => TraceFilterMode::Intersection,
            Some(_) => return Err("mode: expected union or intersection".to_owned()),
        };

        Ok(Self {
            from_block: field("fromBlock", raw.from_block, rules)?.unwrap_or(BlockId::Latest),
            to_block: field("toBlock", raw.to_block, rules)?.unwrap_or(BlockId::Latest),
            accounts: Accounts {
                from_address: field::<Vec<Address>>("fromAddress", raw.from_address, rules)?
                    .unwrap_or_default(),
                to_address: field::<Vec<Address>>("toAddress", raw.to_address, rules)?
                    .unwrap_or_default(),
                mode,
                ..Accounts::default()
            },
            after: number("after", raw.after, rules)?.unwrap_or(0),
            count: number("count", raw.count, rules)?.unwrap_or(usize::MAX),
        })
    }

    fn schema() -> Value {
        let accounts = || <Vec<Address> as Param>::schema();
        schema::options([
            ("fromBlock", BlockId::schema()),
            ("toBlock", BlockId::schema()),
            ("fromAddress", accounts()),
            ("toAddress", accounts()),
            ("mode", json!({"enum": ["union", "intersection"]})),
            ("after", LooseNumber::schema()),
            ("count", LooseNumber::schema()),
        ])
    }
}

fn number(name: &str, raw: Option<&RawValue>, rules: ParamRules) -> Result<Option<usize>, String> {
    let given: Option<LooseNumber> = field(name, raw, rules)?;
    Ok(given.map(|LooseNumber(number)| usize::try_from(number).unwrap_or(usize::MAX)))
}

/// The calls from or to certain accounts in a range of blocks.
fn filter(context: &Context, (filter,): (TraceFilter,)) -> Result<Written, RpcError> {
    let budget = Budget::new(context, "narrow the range of blocks, or set count");
    let head = context.chain.head();
    let range = filter.range(context, &head)?;

    let matcher = filter.accounts.matcher();
    let wanted = filter.after..filter.after.saturating_add(filter.count);
    let mut list = TraceList::new(&budget);
    let mut matching = 0;
    for at in range {
        budget.check_time()?;
        // Once the page is full, nothing more need be executed.
        if matching >= wanted.end {
            break;
        }

        let block = context.chain.block(&head, BlockId::Number(at))?;
        let block = block
            .ok_or_else(|| RpcError::history_pruned(format!("block {at} is not available")))?;
        visit_block(&head, block, Inputs::Kept, &budget, &mut |trace| {
            if matcher.matches(&trace.trace) {
                if wanted.contains(&matching) {
                    list.push(&trace)?;
                }
                matching += 1;
            }
            Ok(())
        })?;
    }
    list.end()
}

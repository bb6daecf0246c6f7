//! Gas prices and their history.

use std::sync::Arc;

use alloy_consensus::Transaction as _;
use serde::Serialize;
use serde_json::{Value, json};
use tetrad_chain::{BlockId, Head, fees};
use tetrad_evm::Environment;
use tetrad_primitives::block::Block;

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    forked::{self, ForkedFeeHistory},
    hex::Quantity,
    json::Serialized,
    params::{LooseNumber, Param, ParamRules, shape},
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("eth_gasPrice", gas_price, OnFork::Node)
        .describe(
            [],
            "The suggested gas price of a legacy transaction, in wei.",
        );
    table
        .read("eth_maxPriorityFeePerGas", max_priority_fee, OnFork::Node)
        .describe([], "The suggested tip per gas, in wei.");
    table.read("eth_baseFee", base_fee, OnFork::Node).describe(
        [],
        "The base fee of the next block, in wei per gas; null before London.",
    );
    table
        .read("eth_blobBaseFee", blob_base_fee, OnFork::Node)
        .describe(
            [],
            "The blob base fee of the next block, in wei per blob gas; null before Cancun.",
        );
    table
        .execute("eth_feeHistory", fee_history, OnFork::Block)
        .describe(
            ["block count", "newest block", "percentiles"],
            "Base fees, gas used ratios and tips of past blocks, and the base fee of the next one \
             (EIP-1559).",
        );
}

/// The number of blocks whose tips a suggestion is based on.
const SUGGESTION_BLOCKS: u64 = 20;
/// The percentile of these tips that is suggested.
const SUGGESTION_PERCENTILE: usize = 60;
/// The minimum suggestion, and the one without tips to base it on: 1 gwei, which wallets expect of
/// a quiet chain.
const DEFAULT_TIP: u128 = 1_000_000_000;
/// The largest suggestion: 500 gwei, as in geth.
const MAX_TIP: u128 = 500_000_000_000;
/// The maximum number of blocks in one history query, as in geth.
const MAX_HISTORY: u64 = 1_024;
/// The maximum number of percentiles in one history query, as in geth.
const MAX_PERCENTILES: usize = 100;

/// The suggested tip, in wei per gas.
pub(in crate::rpc) fn suggested_tip(head: &Head) -> u128 {
    // geth's oracle takes the 60th percentile of 20 blocks as well.
    let first = head.number().saturating_sub(SUGGESTION_BLOCKS - 1);
    let mut tips: Vec<u128> = head
        .blocks_from(first)
        .flat_map(|block| {
            let base_fee = block.header.base_fee_per_gas.unwrap_or(0);
            block
                .transactions
                .iter()
                .filter_map(move |tx| tx.envelope.effective_tip_per_gas(base_fee))
        })
        .collect();
    tips.sort_unstable();

    let chosen = tips
        .len()
        .checked_sub(1)
        .map(|last| tips[last * SUGGESTION_PERCENTILE / 100]);
    chosen.unwrap_or(DEFAULT_TIP).clamp(DEFAULT_TIP, MAX_TIP)
}

/// The suggested gas price of a legacy transaction, in wei.
fn gas_price(context: &Context, (): ()) -> Result<Quantity<u128>, RpcError> {
    let head = context.chain.head();
    let suggested = suggested_tip(&head);
    Ok(Quantity(match context.chain.next_base_fee(&head) {
        Some(base_fee) => suggested + u128::from(base_fee),
        // Without a base fee the least price that the node accepts is one that blocks take, too.
        None => match context.chain.min_tip() {
            0 => suggested,
            least => least,
        },
    }))
}

fn max_priority_fee(context: &Context, (): ()) -> Result<Quantity<u128>, RpcError> {
    Ok(Quantity(suggested_tip(&context.chain.head())))
}

/// The base fee of the next block, in wei per gas; null before London.
fn base_fee(context: &Context, (): ()) -> Result<Option<Quantity<u64>>, RpcError> {
    Ok(context
        .chain
        .next_base_fee(&context.chain.head())
        .map(Quantity))
}

/// The blob base fee of the next block, in wei per blob gas.
fn blob_base_fee(context: &Context, (): ()) -> Result<Option<Quantity<u128>>, RpcError> {
    Ok(context
        .chain
        .next_environment(&context.chain.head())
        .blob_base_fee()
        .map(Quantity))
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct FeeHistory {
    oldest_block: Quantity<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reward: Option<Vec<Vec<Quantity<u128>>>>,
    base_fee_per_gas: Vec<Quantity<u128>>,
    gas_used_ratio: Vec<f64>,
    base_fee_per_blob_gas: Vec<Quantity<u128>>,
    blob_gas_used_ratio: Vec<f64>,
}

/// Percentiles of the tips that a history query asks for.
#[derive(Clone, Debug, Default)]
struct Percentiles(Vec<f64>);

impl Param for Percentiles {
    const DEFAULT: Option<fn() -> Self> = Some(Self::default);

    fn read(json: &str, _: ParamRules) -> Result<Self, String> {
        let percentiles: Vec<f64> = shape(json)?;
        if percentiles.len() > MAX_PERCENTILES {
            return Err(format!("over the query limit {MAX_PERCENTILES}"));
        }
        let are_percentages = percentiles.iter().all(|p| (0.0..=100.0).contains(p));
        let are_rising = !percentiles.windows(2).any(|two| two[0] >= two[1]);
        if !are_percentages || !are_rising {
            return Err(
                "invalid reward percentile: expected rising numbers from 0 to 100".to_owned(),
            );
        }
        Ok(Self(percentiles))
    }

    fn schema() -> Value {
        json!({"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 100}})
    }
}

/// The error for blocks that are no longer held, as in geth.
fn pruned() -> RpcError {
    RpcError::history_pruned("pruned history unavailable")
}

/// Base fees, gas used ratios and tips of the blocks up to `newest` (EIP-1559), and the base fee of
/// the next one. Blocks that are no longer held are left out. On a fork the other node is asked for
/// those up to the forked one.
fn fee_history(
    context: &Context,
    (count, newest, percentiles): (LooseNumber, BlockId, Percentiles),
) -> Result<Serialized<FeeHistory>, RpcError> {
    let head = context.chain.head();
    let newest = newest_of_history(context, &head, newest)?;
    let count = count.0.min(MAX_HISTORY).min(newest + 1);
    if count == 0 {
        return Ok(Serialized(FeeHistory::default()));
    }

    let first = newest + 1 - count;
    let fork = context.fork().filter(|fork| first <= fork.number);
    let first_own = fork.as_ref().map_or(first, |fork| fork.number + 1);
    // From the newest on, so that blocks older than the first missing one are left out.
    let mut blocks: Vec<_> = (first_own..=newest)
        .rev()
        .map_while(|number| block_at(context, &head, number))
        .collect();
    blocks.reverse();

    let oldest = blocks.first().map(|block| block.number());
    let mut history = match (&fork, oldest) {
        // The other node's blocks are followed by own ones without a gap, or by none.
        (Some(fork), oldest) if newest <= fork.number || oldest == Some(first_own) => {
            let last = fork.number.min(newest);
            forked::fee_history(fork, last + 1 - first, last, &percentiles.0)?.into()
        }
        (_, Some(oldest)) => FeeHistory {
            oldest_block: Quantity(oldest),
            reward: (!percentiles.0.is_empty()).then(Vec::new),
            ..FeeHistory::default()
        },
        (_, None) => return Err(pruned()),
    };

    for block in &blocks {
        history.add_block(block, &head.environment_of(block), &percentiles);
    }
    let next = environment_after(context, &head, newest, blocks.last());
    history.add_fees(next.base_fee, next.blob_base_fee());
    Ok(Serialized(history))
}

/// The number of the newest block that a history query asks for. The pending block counts as the
/// head.
fn newest_of_history(context: &Context, head: &Arc<Head>, id: BlockId) -> Result<u64, RpcError> {
    if id == BlockId::Pending {
        return Ok(head.number());
    }

    let newest = context
        .chain
        .number(head, id)
        .ok_or_else(|| RpcError::server("header not found"))?;
    if newest > head.number() {
        let message = format!(
            "request beyond head block: requested {newest}, head {}",
            head.number()
        );
        return Err(RpcError::server(message));
    }
    Ok(newest)
}

/// The block with this number, from memory or from the store.
fn block_at(context: &Context, head: &Arc<Head>, number: u64) -> Option<Arc<Block>> {
    head.block(number)
        .cloned()
        .or_else(|| context.chain.old_block(head, number))
}

/// The environment of the block after `newest`, whose own block is `last` if it is held.
fn environment_after(
    context: &Context,
    head: &Arc<Head>,
    newest: u64,
    last: Option<&Arc<Block>>,
) -> Environment {
    if let Some(next) = block_at(context, head, newest + 1) {
        return head.environment_of(&next);
    }
    match last {
        // The genesis block is held even if the block after it is not.
        Some(last) if newest < head.number() => after(last, head.environment_of(last)),
        _ => context.chain.next_environment(head),
    }
}

impl FeeHistory {
    /// Adds an own block. The tips are added if the query asks for them.
    fn add_block(&mut self, block: &Block, environment: &Environment, percentiles: &Percentiles) {
        let header = &block.header;
        self.add_fees(header.base_fee_per_gas, environment.blob_base_fee());
        self.gas_used_ratio
            .push(header.gas_used as f64 / header.gas_limit.max(1) as f64);

        let blob_limit = environment
            .rules
            .blobs
            .map_or(0, |blobs| blobs.max_blob_gas_per_block());
        let blob_gas = header.blob_gas_used.unwrap_or(0);
        self.blob_gas_used_ratio.push(if blob_limit == 0 {
            0.0
        } else {
            blob_gas as f64 / blob_limit as f64
        });

        if let Some(reward) = &mut self.reward {
            reward.push(tips_at(block, &percentiles.0));
        }
    }

    /// Adds the fees of a block: zero before the fork that introduced them.
    fn add_fees(&mut self, base_fee: Option<u64>, blob_base_fee: Option<u128>) {
        self.base_fee_per_gas
            .push(Quantity(base_fee.unwrap_or(0).into()));
        self.base_fee_per_blob_gas
            .push(Quantity(blob_base_fee.unwrap_or(0)));
    }
}

impl From<ForkedFeeHistory> for FeeHistory {
    /// The other node's part, without the fees of the block after its last one: this chain has
    /// another one there.
    fn from(theirs: ForkedFeeHistory) -> Self {
        let count = theirs.gas_used_ratio.len();
        let fees = |fees: Vec<u128>| fees.into_iter().map(Quantity).take(count).collect();
        let reward = theirs.reward.map(|blocks| {
            blocks
                .into_iter()
                .map(|tips| tips.into_iter().map(Quantity).collect())
                .collect::<Vec<Vec<_>>>()
        });
        Self {
            oldest_block: Quantity(theirs.oldest_block),
            reward,
            base_fee_per_gas: fees(theirs.base_fee_per_gas),
            gas_used_ratio: theirs.gas_used_ratio,
            base_fee_per_blob_gas: fees(theirs.base_fee_per_blob_gas),
            blob_gas_used_ratio: theirs.blob_gas_used_ratio,
        }
    }
}

/// The environment of `block`, with the fees of the block after it.
fn after(block: &Block, environment: Environment) -> Environment {
    let header = &block.header;
    let rules = environment.rules;
    Environment {
        base_fee: fees::next_base_fee(header, rules),
        excess_blob_gas: fees::next_excess_blob_gas(header, rules),
        ..environment
    }
}

/// The tips in a block at these percentiles of its gas.
fn tips_at(block: &Block, percentiles: &[f64]) -> Vec<Quantity<u128>> {
    let base_fee = block.header.base_fee_per_gas.unwrap_or(0);
    let mut tips = Vec::with_capacity(block.transactions.len());
    for (transaction, receipt) in block.transactions.iter().zip(&block.receipts) {
        let tip = transaction.envelope.effective_tip_per_gas(base_fee);
        tips.push((tip.unwrap_or(0), receipt.gas_used));
    }
    tips.sort_unstable();

    let mut at = 0;
    let mut gas = tips.first().map_or(0, |(_, gas)| *gas);
    let mut found = Vec::with_capacity(percentiles.len());
    // The percentiles rise, so each one goes on where the one before it ended.
    for percentile in percentiles {
        // In floating point, so that it is rounded as in geth.
        let threshold = (block.header.gas_used as f64 * percentile / 100.0) as u64;
        while gas < threshold && at + 1 < tips.len() {
            at += 1;
            gas += tips[at].1;
        }
        found.push(Quantity(tips.get(at).map_or(0, |(tip, _)| *tip)));
    }
    found
}

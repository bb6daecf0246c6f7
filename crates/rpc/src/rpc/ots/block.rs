//! Blocks as Otterscan shows them.

use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};
use tetrad_chain::BlockId;
use tetrad_evm::{Environment, rewards};
use tetrad_primitives::block::Block;

use crate::rpc::{
    Context, OnFork, RpcError, Table,
    eth::{RpcBlock, RpcReceipt, find, header_by_number, write_mined_briefly},
    hex::Quantity,
    json::{Json, JsonWriter, Object, array},
    ots::PlainNumber,
    params::LooseNumber,
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("erigon_getHeaderByNumber", header_by_number, OnFork::Block)
        .describe(
            ["block"],
            "The header of a block; null if there is no such block.",
        );

    table
        .read("ots_getHeaderByNumber", header_by_number, OnFork::Block)
        .describe(
            ["block"],
            "The header of a block, by number; null if there is no such block.",
        );

    table
        .execute("ots_hasCode", has_code, OnFork::State)
        .describe(["address", "block"], "Whether an account has code.");

    table
        .read("ots_getBlockDetails", details, OnFork::Block)
        .describe(
            ["block"],
            "A block with its issuance and the fees paid in it.",
        );

    table
        .read("ots_getBlockDetailsByHash", details_by_hash, OnFork::Block)
        .describe(
            ["block hash"],
            "A block with its issuance and the fees paid in it, by hash.",
        );

    table
        .apart("ots_getBlockTransactions", transactions, OnFork::Block)
        .describe(
            ["block", "page", "page size"],
            "A page of a block's transactions with their receipts, counted from the end: of an \
             input only the selector, and no logs.",
        );
}

/// The maximum number of transactions on one page.
const MAX_PAGE: u64 = 1_000;

/// Whether an account has code.
fn has_code(context: &Context, (address, id): (Address, BlockId)) -> Result<bool, RpcError> {
    Ok(!context.chain.view(id)?.state.code(address)?.is_empty())
}

/// A block without its transactions, with its issuance and the fees paid in it.
struct Details {
    block: Arc<Block>,
    environment: Environment,
}

impl Json for Details {
    fn write(&self, out: &mut JsonWriter) {
        let block = &*self.block;
        let paid = rewards(&self.environment, &block.ommers);
        let (uncles, own) = paid.split_at(paid.len().saturating_sub(1));

        let mut object = Object::begin(out);
        let mut inner = Object::begin(object.name("block"));
        RpcBlock {
            block: self.block.clone(),
            full: false,
            pending: false,
        }
        .write_header_members(&mut inner);
        inner
            .member(
                "transactionCount",
                &PlainNumber(block.transactions.len() as u64),
            )
            .end();

        Object::begin(object.name("issuance"))
            .member("blockReward", &Quantity(sum(own)))
            .member("uncleReward", &Quantity(sum(uncles)))
            .member("issuance", &Quantity(sum(&paid)))
            .end();
        object
            .member("totalFees", &Quantity(total_fees(block)))
            .end();
    }
}

/// The sum of rewards.
fn sum(paid: &[(Address, U256)]) -> U256 {
    paid.iter().map(|(_, amount)| *amount).sum()
}

/// The fees of all transactions of a block, in wei.
fn total_fees(block: &Block) -> U256 {
    let mined = block.transactions.iter().zip(&block.receipts);
    mined
        .map(|(transaction, receipt)| {
            let price = transaction.effective_gas_price(block.header.base_fee_per_gas);
            U256::from(price) * U256::from(receipt.gas_used)
        })
        .sum()
}

/// A block with its issuance and the fees paid in it; null if there is no such block.
fn details(context: &Context, (id,): (BlockId,)) -> Result<Option<Details>, RpcError> {
    let found = find(context, id)?;
    Ok(found.map(|(head, block)| Details {
        environment: head.environment_of(&block),
        block,
    }))
}

fn details_by_hash(context: &Context, (hash,): (B256,)) -> Result<Option<Details>, RpcError> {
    details(context, (BlockId::Hash(hash),))
}

/// A page of a block's transactions, as Otterscan lists them: of their input only the selector, and
/// no logs.
struct TransactionPage {
    block: Arc<Block>,
    blob_base_fee: Option<u128>,
    indices: std::ops::Range<usize>,
}

impl Json for TransactionPage {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        let mut inner = Object::begin(object.name("fullblock"));
        RpcBlock {
            block: self.block.clone(),
            full: false,
            pending: false,
        }
        .write_header_members(&mut inner);
        inner.member(
            "transactionCount",
            &PlainNumber(self.block.transactions.len() as u64),
        );
        array(
            inner.name("transactions"),
            self.indices.clone(),
            |index, out| {
                write_mined_briefly(&self.block, index, out);
            },
        );
        inner.end();

        array(
            object.name("receipts"),
            self.indices.clone(),
            |index, out| {
                let receipt = RpcReceipt {
                    block: self.block.clone(),
                    index,
                    blob_base_fee: self.blob_base_fee,
                };
                let mut object = Object::begin(out);
                receipt.write_outcome(&mut object);
                object
                    .member("logs", &None::<bool>)
                    .member("logsBloom", &None::<bool>)
                    .end();
            },
        );
        object.end();
    }
}

/// A page of a block's transactions with their receipts, counted from the end; null if there is no
/// such block.
fn transactions(
    context: &Context,
    (id, page, size): (BlockId, LooseNumber, LooseNumber),
) -> Result<Option<TransactionPage>, RpcError> {
    if size.0 > MAX_PAGE {
        return Err(RpcError::invalid_params(format!(
            "params[2]: at most {MAX_PAGE}"
        )));
    }
    let Some((head, block)) = find(context, id)? else {
        return Ok(None);
    };

    let count = block.transactions.len();
    let skipped = usize::try_from(page.0.saturating_mul(size.0)).unwrap_or(usize::MAX);
    let end = count.saturating_sub(skipped);
    let indices = end.saturating_sub(size.0 as usize)..end;

    Ok(Some(TransactionPage {
        blob_base_fee: head.environment_of(&block).blob_base_fee(),
        block,
        indices,
    }))
}

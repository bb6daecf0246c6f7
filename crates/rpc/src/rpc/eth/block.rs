//! Blocks, their counts and their receipts.

use std::sync::Arc;

use alloy_primitives::B256;
use serde_json::Value;
use tetrad_chain::{BlockId, Head};
use tetrad_primitives::block::{Block, Receipt};

use super::{
    logs,
    render::{RpcBlock, RpcReceipt},
};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    hex::Quantity,
    json::{Json, JsonWriter, array},
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("eth_blockNumber", block_number, OnFork::Node)
        .describe([], "The height of the newest block.");
    table
        .read("eth_getBlockByNumber", by_number, OnFork::Block)
        .describe(
            ["block", "full transactions"],
            "A block with whole transactions or their hashes; null if there is none.",
        );
    table
        .read("eth_getBlockByHash", by_hash, OnFork::Block)
        .describe(
            ["block hash", "full transactions"],
            "A block with whole transactions or their hashes, by hash; null if there is none.",
        );
    table
        .read(
            "eth_getBlockTransactionCountByNumber",
            transaction_count_by_number,
            OnFork::Block,
        )
        .describe(
            ["block"],
            "The number of a block's transactions; null if there is no such block.",
        );
    table
        .read(
            "eth_getBlockTransactionCountByHash",
            transaction_count_by_hash,
            OnFork::Block,
        )
        .describe(
            ["block hash"],
            "The number of a block's transactions, by hash; null if there is no such block.",
        );
    table
        .read(
            "eth_getUncleCountByBlockNumber",
            uncle_count_by_number,
            OnFork::Block,
        )
        .describe(
            ["block"],
            "The number of a block's uncles: none since the merge.",
        );
    table
        .read(
            "eth_getUncleCountByBlockHash",
            uncle_count_by_hash,
            OnFork::Block,
        )
        .describe(
            ["block hash"],
            "The number of a block's uncles, by hash: none since the merge.",
        );
    table
        .read("eth_getBlockReceipts", receipts, OnFork::Block)
        .describe(
            ["block"],
            "All receipts of a block; null if there is no such block.",
        );
    table
        .read("eth_getBlockAccessList", access_list, OnFork::Block)
        .describe(
            ["block"],
            "A block's access list (EIP-7928); null for blocks whose fork has none, which are all \
             so far.",
        );
}

/// A block and the head it was found in.
pub(in crate::rpc) type FoundBlock = (Arc<Head>, Arc<Block>);

/// The block, if there is one.
pub(in crate::rpc) fn find(context: &Context, id: BlockId) -> Result<Option<FoundBlock>, RpcError> {
    let head = context.chain.head();
    Ok(context.chain.block(&head, id)?.map(|block| (head, block)))
}

/// The block, or the error that there is none.
pub(in crate::rpc) fn found_block(context: &Context, id: BlockId) -> Result<Arc<Block>, RpcError> {
    find(context, id)?
        .map(|(_, block)| block)
        .ok_or_else(|| RpcError::server("block not found"))
}

fn block_number(context: &Context, (): ()) -> Result<Quantity<u64>, RpcError> {
    Ok(Quantity(context.chain.head().number()))
}

fn by_number(context: &Context, (id, full): (BlockId, bool)) -> Result<Option<RpcBlock>, RpcError> {
    Ok(find(context, id)?.map(|(_, block)| RpcBlock {
        block,
        full,
        pending: id == BlockId::Pending,
    }))
}

fn by_hash(context: &Context, (hash, full): (B256, bool)) -> Result<Option<RpcBlock>, RpcError> {
    by_number(context, (BlockId::Hash(hash), full))
}

fn transaction_count_by_number(
    context: &Context,
    (id,): (BlockId,),
) -> Result<Option<Quantity<usize>>, RpcError> {
    Ok(find(context, id)?.map(|(_, block)| Quantity(block.transactions.len())))
}

fn transaction_count_by_hash(
    context: &Context,
    (hash,): (B256,),
) -> Result<Option<Quantity<usize>>, RpcError> {
    transaction_count_by_number(context, (BlockId::Hash(hash),))
}

fn uncle_count_by_number(
    context: &Context,
    (id,): (BlockId,),
) -> Result<Option<Quantity<usize>>, RpcError> {
    Ok(find(context, id)?.map(|(_, block)| Quantity(block.ommers.len())))
}

fn uncle_count_by_hash(
    context: &Context,
    (hash,): (B256,),
) -> Result<Option<Quantity<usize>>, RpcError> {
    uncle_count_by_number(context, (BlockId::Hash(hash),))
}

/// A block's access list (EIP-7928): null, since no fork has one so far.
fn access_list(context: &Context, (id,): (BlockId,)) -> Result<Option<bool>, RpcError> {
    found_block(context, id).map(|_| None)
}

/// All receipts of a block; null if there is no such block.
fn receipts(context: &Context, (id,): (BlockId,)) -> Result<Option<BlockReceipts>, RpcError> {
    if id == BlockId::Pending {
        return Ok(None);
    }
    let Some((head, block)) = find(context, id)? else {
        return Ok(None);
    };

    // The sizes are known, so that a long response is refused before it is written.
    let size: usize = block.receipts.iter().map(written_size).sum();
    let limit = context.config.max_batch_response;
    if size > limit {
        return Err(RpcError::exceeds(
            limit,
            "ask for single receipts with eth_getTransactionReceipt",
        ));
    }

    Ok(Some(BlockReceipts {
        blob_base_fee: head.environment_of(&block).blob_base_fee(),
        block,
    }))
}

/// The receipts of a block.
struct BlockReceipts {
    block: Arc<Block>,
    blob_base_fee: Option<u128>,
}

impl Json for BlockReceipts {
    fn write(&self, out: &mut JsonWriter) {
        let Self {
            block,
            blob_base_fee,
        } = self;
        array(out, 0..block.receipts.len(), |index, out| {
            RpcReceipt {
                block: block.clone(),
                index,
                blob_base_fee: *blob_base_fee,
            }
            .write(out);
        });
    }

    fn schema(example: Option<&Value>) -> Value {
        Vec::<RpcReceipt>::schema(example)
    }
}

/// The approximate length of a receipt as JSON.
fn written_size(receipt: &Receipt) -> usize {
    1_200 + receipt.logs.iter().map(logs::written_size).sum::<usize>()
}

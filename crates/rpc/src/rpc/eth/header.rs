//! Headers, uncles, and transactions by position in their encoding.

use std::sync::{Arc, OnceLock};

use alloy_consensus::Header;
use alloy_primitives::{B256, Bytes};
use serde_json::Value;
use tetrad_chain::BlockId;
use tetrad_primitives::block::Block;

use super::{
    block::find,
    render::{RpcBlock, RpcHeader},
};
use crate::rpc::{
    Context, OnFork, RpcError, Table,
    json::{Json, JsonWriter, Object},
};

pub(super) fn methods(table: &mut Table) {
    table
        .read("eth_getHeaderByNumber", header_by_number, OnFork::Block)
        .describe(
            ["block"],
            "The header of a block; null if there is no such block.",
        );
    table
        .read("eth_getHeaderByHash", by_hash, OnFork::Block)
        .describe(
            ["block hash"],
            "The header of a block, by hash; null if there is no such block.",
        );
    table
        .read("eth_getUncleByBlockNumberAndIndex", uncle_by_number, OnFork::Block)
        .describe(
        ["block", "index"],
        "An uncle of a block; null if it has none at this index, which holds for every block of \
         this chain.",
    );
    table
        .read(
            "eth_getUncleByBlockHashAndIndex",
            uncle_by_hash,
            OnFork::Block,
        )
        .describe(
            ["block hash", "index"],
            "An uncle of a block; null if it has none at this index.",
        );
    table
        .read(
            "eth_getRawTransactionByBlockNumberAndIndex",
            raw_by_number,
            OnFork::Block,
        )
        .describe(
            ["block", "index"],
            "The encoding of the transaction at an index of a block (EIP-2718); null if there is \
             none.",
        );
    table
        .read(
            "eth_getRawTransactionByBlockHashAndIndex",
            raw_by_hash,
            OnFork::Block,
        )
        .describe(
            ["block hash", "index"],
            "The encoding of the transaction at an index of a block (EIP-2718); null if there is \
             none.",
        );
}

/// The header of a block; null if there is no such block.
pub(in crate::rpc) fn header_by_number(
    context: &Context,
    (id,): (BlockId,),
) -> Result<Option<RpcHeader>, RpcError> {
    Ok(find(context, id)?.map(|(_, block)| RpcHeader {
        block,
        pending: id == BlockId::Pending,
    }))
}

fn by_hash(context: &Context, (hash,): (B256,)) -> Result<Option<RpcHeader>, RpcError> {
    header_by_number(context, (BlockId::Hash(hash),))
}

/// An uncle as in geth: a block without transactions.
struct Uncle(RpcBlock);

impl Uncle {
    fn of(header: &Header) -> Self {
        let block = Block {
            hash: header.hash_slow(),
            header: header.clone(),
            transactions: Vec::new(),
            receipts: Vec::new(),
            ommers: Vec::new(),
            withdrawals: None,
            known_size: OnceLock::new(),
        };

        Self(RpcBlock {
            block: Arc::new(block),
            full: false,
            pending: false,
        })
    }
}

impl Json for Uncle {
    fn write(&self, out: &mut JsonWriter) {
        let mut object = Object::begin(out);
        self.0.write_header_members(&mut object);
        object.name("uncles").extend_from_slice(b"[]");
        object.end();
    }

    fn schema(example: Option<&Value>) -> Value {
        RpcHeader::schema(example)
    }
}

/// The uncle at an index of a block; null if there is no such block or no such uncle.
fn uncle_by_number(
    context: &Context,
    (id, index): (BlockId, u64),
) -> Result<Option<Uncle>, RpcError> {
    let Some((_, block)) = find(context, id)? else {
        return Ok(None);
    };

    Ok(usize::try_from(index)
        .ok()
        .and_then(|index| block.ommers.get(index))
        .map(Uncle::of))
}

fn uncle_by_hash(context: &Context, (hash, index): (B256, u64)) -> Result<Option<Uncle>, RpcError> {
    uncle_by_number(context, (BlockId::Hash(hash), index))
}

/// The encoding of the transaction at an index of a block (EIP-2718); null if there is none.
fn raw_by_number(
    context: &Context,
    (id, index): (BlockId, u64),
) -> Result<Option<Bytes>, RpcError> {
    let Some((_, block)) = find(context, id)? else {
        return Ok(None);
    };

    let transaction = usize::try_from(index)
        .ok()
        .and_then(|index| block.transactions.get(index));
    Ok(transaction.map(|transaction| transaction.encode().into()))
}

fn raw_by_hash(context: &Context, (hash, index): (B256, u64)) -> Result<Option<Bytes>, RpcError> {
    raw_by_number(context, (BlockId::Hash(hash), index))
}

//! A fork in the middle of a block: the state before one of its transactions, or after it.

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, U64};
use serde::Deserialize;
use serde_json::{Value, json};
use tetrad_chain::{Head, recover, replay};
use tetrad_primitives::block::{Envelope, Transaction};

use super::{
    begin::{ForkError, check_header, read_header, wrong},
    client::{ForkCall, ForkClient, read_result},
    config::ForkBlock,
};

const TRANSACTION_BY_HASH: &str = "eth_getTransactionByHash";
const TRANSACTION_BY_INDEX: &str = "eth_getTransactionByBlockHashAndIndex";
const BLOCK_BY_HASH: &str = "eth_getBlockByHash";

/// The part of a block that is replayed on the block before it.
pub(super) struct Replay {
    header: Header,
    transactions: Vec<Sent>,
}

/// A transaction and its sender.
#[derive(Deserialize)]
struct Sent {
    #[serde(flatten)]
    envelope: Envelope,
    from: Address,
}

impl Replay {
    /// Requests the transactions of a block up to the one with this hash, and that one if
    /// `included`.
    pub(super) fn fetch(
        client: &ForkClient,
        hash: B256,
        included: bool,
    ) -> Result<Self, ForkError> {
        let Some(block_hash) = block_of_transaction(client, hash)? else {
            return Err(ForkError::NoBlock(ForkBlock::Transaction {
                hash,
                included,
            }));
        };
        let (header, mut hashes) = fetch_block(client, block_hash)?;

        // The index in the transaction itself could be any number; the list has an end.
        let index = hashes
            .iter()
            .position(|one| *one == hash)
            .ok_or_else(|| wrong(BLOCK_BY_HASH, format!("block {block_hash} lacks {hash}")))?;
        hashes.truncate(index + usize::from(included));

        let transactions = fetch_transactions(client, block_hash, &hashes)?;
        Ok(Self {
            header,
            transactions,
        })
    }

    /// The block before.
    pub(super) fn parent(&self) -> ForkBlock {
        ForkBlock::Hash(self.header.parent_hash)
    }

    /// The gas limit of the block.
    pub(super) fn gas_limit(&self) -> u64 {
        self.header.gas_limit
    }

    /// Replays it on the chain that ends with that block.
    pub(super) fn onto(self, head: &Head) -> Result<Head, ForkError> {
        let rules = head.rules(self.header.number, self.header.timestamp);
        let mut transactions = Vec::with_capacity(self.transactions.len());
        for Sent { envelope, from } in self.transactions {
            // Nodes for development send for accounts without their signatures.
            let signed = recover(envelope.clone(), rules).ok();
            let transaction = signed.filter(|signed| signed.sender == from);
            let transaction = transaction.unwrap_or(Transaction {
                envelope,
                sender: from,
                public_key: None,
            });
            transactions.push(Arc::new(transaction));
        }
        replay(head, &self.header, transactions)
            .map_err(|error| wrong(BLOCK_BY_HASH, format!("it cannot be replayed: {error}")))
    }
}

/// The hash of the block that a transaction is in; none if it is in none.
fn block_of_transaction(client: &ForkClient, hash: B256) -> Result<Option<B256>, ForkError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Included {
        block_hash: Option<B256>,
    }

    let answer = client.call(TRANSACTION_BY_HASH, &json!([hash]))?;
    let transaction: Option<Included> = answer
        .read()
        .map_err(|error| wrong(TRANSACTION_BY_HASH, error))?;
    Ok(transaction.and_then(|transaction| transaction.block_hash))
}

/// The header of a block, and the hashes of its transactions.
fn fetch_block(client: &ForkClient, hash: B256) -> Result<(Header, Vec<B256>), ForkError> {
    let answer = client.call(BLOCK_BY_HASH, &json!([hash, false]))?;
    let block: Value = answer.read().map_err(|error| wrong(BLOCK_BY_HASH, error))?;

    let hashes = block.get("transactions").cloned().unwrap_or_default();
    let hashes = serde_json::from_value(hashes).map_err(|error| wrong(BLOCK_BY_HASH, error))?;
    let (found, header) = read_header(block)?;
    check_header(&header, found, ForkBlock::Hash(hash))?;
    Ok((header, hashes))
}

/// The first transactions of a block, which have these hashes.
fn fetch_transactions(
    client: &ForkClient,
    block_hash: B256,
    hashes: &[B256],
) -> Result<Vec<Sent>, ForkError> {
    let calls = (0..hashes.len()).map(|index| {
        let params = json!([block_hash, U64::from(index)]);
        ForkCall::new(TRANSACTION_BY_INDEX, params)
    });
    let answers = client.call_many(calls.collect(), None);

    let mut transactions = Vec::with_capacity(hashes.len());
    for (result, hash) in answers.results.iter().zip(hashes) {
        let json = result.as_ref().map_err(Clone::clone)?;
        let sent: Sent = read_result(json).map_err(|error| wrong(TRANSACTION_BY_INDEX, error))?;
        if sent.envelope.tx_hash() != hash {
            return Err(wrong(
                TRANSACTION_BY_INDEX,
                format!("expected transaction {hash}"),
            ));
        }
        transactions.push(sent);
    }
    Ok(transactions)
}

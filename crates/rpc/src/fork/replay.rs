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
    client::{ForkClient, Question, read_result},
    config::ForkBlock,
};

const BY_HASH: &str = "eth_getTransactionByHash";
const BY_INDEX: &str = "eth_getTransactionByBlockHashAndIndex";
const BLOCK: &str = "eth_getBlockByHash";

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

/// A transaction, of which only the block is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    block_hash: Option<B256>,
}

impl Replay {
    /// Asks for the transactions of a block up to the one with this hash, and for that one if
    /// `included`.
    pub(super) fn ask(client: &ForkClient, hash: B256, included: bool) -> Result<Self, ForkError> {
        let place = client.ask(BY_HASH, &json!([hash]))?.read();
        let place: Option<Place> = place.map_err(|error| wrong(BY_HASH, error))?;
        let block = ForkBlock::Transaction { hash, included };
        let Some(Place {
            block_hash: Some(in_block),
        }) = place
        else {
            return Err(ForkError::NoBlock(block));
        };

        let found = client.ask(BLOCK, &json!([in_block, false]))?;
        let found: Value = found.read().map_err(|error| wrong(BLOCK, error))?;
        let hashes = found.get("transactions").cloned().unwrap_or_default();
        let mut hashes: Vec<B256> =
            serde_json::from_value(hashes).map_err(|error| wrong(BLOCK, error))?;
        let (found, header) = read_header(found)?;
        check_header(&header, found, ForkBlock::Hash(in_block))?;

        // The index that the other node says could be any number; the list has an end.
        let place = hashes.iter().position(|one| *one == hash);
        let place = place.ok_or_else(|| wrong(BLOCK, format!("block {in_block} lacks {hash}")))?;
        hashes.truncate(place + usize::from(included));

        let questions = (0..hashes.len()).map(|index| {
            let index = U64::from(index);
            Question::new(BY_INDEX, json!([in_block, index]))
        });
        let answers = client.ask_many(questions.collect(), None);
        let mut transactions = Vec::with_capacity(hashes.len());
        for (answer, hash) in answers.results.iter().zip(hashes) {
            let json = answer.as_ref().map_err(Clone::clone)?;
            let sent: Sent = read_result(json).map_err(|error| wrong(BY_INDEX, error))?;
            if *sent.envelope.tx_hash() != hash {
                return Err(wrong(BY_INDEX, format!("expected transaction {hash}")));
            }
            transactions.push(sent);
        }
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
            .map_err(|error| wrong(BLOCK, format!("it cannot be replayed: {error}")))
    }
}

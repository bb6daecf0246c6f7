//! A fork in the middle of a block: the state before one of its transactions, or after it.

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, U64};
use serde::Deserialize;
use serde_json::{Value, json};
use tetrad_chain::{Head, recover, replay};
use tetrad_primitives::block::{Envelope, Transaction};

use super::{
    begin::{ForkError, read_header, wrong},
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

/// The place of a transaction.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    block_hash: Option<B256>,
    transaction_index: Option<U64>,
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
            transaction_index: Some(index),
        }) = place
        else {
            return Err(ForkError::NoBlock(block));
        };

        let found = client.ask(BLOCK, &json!([in_block, false]))?;
        let found: Value = found.read().map_err(|error| wrong(BLOCK, error))?;
        let (found, header) = read_header(found)?;
        if found != in_block || header.number == 0 {
            return Err(wrong(
                BLOCK,
                format!("expected block {in_block}, got {found}"),
            ));
        }

        let count = index.to::<u64>() + u64::from(included);
        let questions =
            (0..count).map(|index| Question::new(BY_INDEX, json!([in_block, U64::from(index)])));
        let answers = client.ask_many(questions.collect(), None);
        let transactions = answers.results.iter().map(|answer| {
            let json = answer.as_ref().map_err(Clone::clone)?;
            read_result(json).map_err(|error| wrong(BY_INDEX, error))
        });
        Ok(Self {
            header,
            transactions: transactions.collect::<Result<_, ForkError>>()?,
        })
    }

    /// The block before.
    pub(super) fn parent(&self) -> ForkBlock {
        ForkBlock::Number(self.header.number - 1)
    }

    /// Replays it on the chain that ends with that block.
    pub(super) fn onto(self, head: &Head) -> Result<Head, ForkError> {
        let rules = head.rules(self.header.number, self.header.timestamp);
        let mut transactions = Vec::with_capacity(self.transactions.len());
        for Sent { envelope, from } in self.transactions {
            // Nodes for development send for accounts without a signature.
            let is_signed = !envelope.signature().s().is_zero();
            let transaction = if is_signed {
                recover(envelope, rules).map_err(|error| wrong(BY_INDEX, error))?
            } else {
                Transaction {
                    envelope,
                    sender: from,
                    public_key: None,
                }
            };
            transactions.push(Arc::new(transaction));
        }
        replay(head, &self.header, transactions)
            .map_err(|error| wrong(BLOCK, format!("it cannot be replayed: {error}")))
    }
}

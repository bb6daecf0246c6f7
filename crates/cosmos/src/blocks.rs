//! Blocks as a Cosmos node renders them, in the gateway's encoding and in CometBFT's.
//!
//! Fields without a counterpart on an EVM chain are empty; hashes are those of the EVM block, whose
//! state root is the app hash.

use alloy_primitives::{B256, hex};
use base64ct::{Base64, Encoding};
use serde_json::{Value, json};
use tetrad_primitives::block::Block;
use tetrad_stdx::calendar::rfc3339;
use tetrad_web::{AnswerError, hold_in_turn};

use super::{node::NodeIdentity, tx::raw_tx};

/// The encoding of hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashEncoding {
    /// Base64, as for all bytes of protobuf.
    Gateway,
    /// Hex in upper case.
    Comet,
}

impl HashEncoding {
    /// A hash.
    pub(super) fn hash(self, hash: B256) -> String {
        match self {
            Self::Gateway => Base64::encode_string(hash.as_slice()),
            Self::Comet => hex::encode_upper(hash),
        }
    }

    /// A block id. The names of its members differ as well.
    pub(super) fn block_id(self, hash: B256) -> Value {
        let name = if self == Self::Gateway {
            "part_set_header"
        } else {
            "parts"
        };
        json!({ "hash": self.hash(hash), name: { "total": 1, "hash": self.hash(hash) } })
    }
}

/// `{block_id, block}`, which counts until the current turn is over.
pub(super) fn block_with_id(
    block: &Block,
    node: &NodeIdentity,
    encoding: HashEncoding,
) -> Result<Value, AnswerError> {
    let mut body = json!({ "block_id": encoding.block_id(block.hash), "block": null });
    // The macro would copy it.
    body["block"] = render(block, node, encoding)?;
    Ok(body)
}

/// A block.
fn render(
    block: &Block,
    node: &NodeIdentity,
    encoding: HashEncoding,
) -> Result<Value, AnswerError> {
    let mut transactions = Vec::with_capacity(block.transactions.len());
    for transaction in &block.transactions {
        let raw = raw_tx(transaction, &node.network);
        hold_in_turn(Base64::encoded_len(&raw))?;
        transactions.push(Base64::encode_string(&raw));
    }

    let parent = block.number().saturating_sub(1);
    let mut rendered = json!({
        "header": header(block, node, encoding),
        "data": { "txs": null },
        "evidence": { "evidence": [] },
        "last_commit": {
            "height": parent.to_string(),
            "round": 0,
            "block_id": encoding.block_id(block.header.parent_hash),
            "signatures": [],
        },
    });

    // The macro would copy them.
    rendered["data"]["txs"] = transactions.into();
    Ok(rendered)
}

/// A copy of a rendered block, which counts until the current turn is over.
pub(super) fn copy_of_block(block: &Value) -> Result<Value, AnswerError> {
    let txs = block["data"]["txs"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    hold_in_turn(txs.map(str::len).sum())?;
    Ok(block.clone())
}

/// A block's header.
pub(super) fn header(block: &Block, node: &NodeIdentity, encoding: HashEncoding) -> Value {
    let header = &block.header;
    let hash = |hash| encoding.hash(hash);
    // Protobuf's JSON has bytes in base64; CometBFT's has addresses in hexadecimal digits.
    let proposer = match encoding {
        HashEncoding::Gateway => Base64::encode_string(node.proposer.as_slice()),
        HashEncoding::Comet => hex::encode_upper(node.proposer),
    };
    json!({
        "version": { "block": "11", "app": "0" },
        "chain_id": node.chain_id,
        "height": block.number().to_string(),
        "time": rfc3339(header.timestamp),
        "last_block_id": encoding.block_id(header.parent_hash),
        "last_commit_hash": hash(header.parent_hash),
        "data_hash": hash(header.transactions_root),
        // Zero where a chain without validators has nothing to hash.
        "validators_hash": hash(B256::ZERO),
        "next_validators_hash": hash(B256::ZERO),
        "consensus_hash": hash(B256::ZERO),
        "app_hash": hash(header.state_root),
        "last_results_hash": hash(header.receipts_root),
        "evidence_hash": hash(B256::ZERO),
        "proposer_address": proposer,
    })
}

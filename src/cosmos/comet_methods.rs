//! The methods of CometBFT that clients call on connecting, over HTTP and WebSocket alike.

use std::sync::Arc;

use alloy_consensus::Transaction as _;
use alloy_primitives::{B256, hex};
use base64ct::{Base64, Encoding};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Gateway, abci_query,
    blocks::{HashEncoding, block_with_id, header},
    rest::NO_BROADCAST,
    time::rfc3339,
};
use crate::{
    block::Block,
    chain::{BlockId, Head},
};

/// Most headers in one response of `blockchain`, as in CometBFT.
const MAX_HEADERS: u64 = 20;

/// The methods of both transports. None of them is a method of an Ethereum node.
const METHODS: [&str; 24] = [
    "abci_info",
    "abci_query",
    "block",
    "block_by_hash",
    "block_results",
    "block_search",
    "blockchain",
    "broadcast_tx_async",
    "broadcast_tx_commit",
    "broadcast_tx_sync",
    "check_tx",
    "commit",
    "consensus_params",
    "genesis",
    "header",
    "header_by_hash",
    "health",
    "net_info",
    "num_unconfirmed_txs",
    "status",
    "tx",
    "tx_search",
    "unconfirmed_txs",
    "validators",
];

/// A request of JSON-RPC.
#[derive(Deserialize)]
pub(super) struct CometRequest {
    #[serde(default)]
    pub(super) id: Value,
    pub(super) method: String,
    #[serde(default)]
    params: Value,
}

/// The error of a method: a JSON-RPC code and its reason.
pub(super) type CometFailure = (i64, String);

impl CometRequest {
    /// A parameter, passed by name or by position. Null counts as absent.
    pub(super) fn parameter(&self, name: &str, position: usize) -> Option<&Value> {
        self.params.get(name).or_else(|| self.params.get(position)).filter(|value| !value.is_null())
    }

    /// A string parameter; empty if absent.
    fn text(&self, name: &str, position: usize) -> Result<&str, CometFailure> {
        match self.parameter(name, position) {
            None => Ok(""),
            Some(value) => value.as_str().ok_or_else(|| (-32602, format!("{name}: expected a text"))),
        }
    }

    /// A number, written as a JSON number or string.
    fn number(&self, name: &str, position: usize) -> Result<Option<u64>, CometFailure> {
        let Some(value) = self.parameter(name, position) else { return Ok(None) };
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        number.map(Some).ok_or_else(|| (-32602, format!("{name}: expected a number")))
    }

    /// A hash, in hex or in base64, which CometBFT's own clients use.
    fn hash(&self) -> Result<B256, CometFailure> {
        let text = self.text("hash", 0)?;
        let bytes = hex::decode(text).ok().filter(|bytes| bytes.len() == 32).or_else(|| Base64::decode_vec(text).ok());
        bytes
            .and_then(|bytes| B256::try_from(&bytes[..]).ok())
            .ok_or_else(|| (-32602, "hash: expected 32 bytes".to_owned()))
    }
}

/// Whether a method is one of CometBFT.
pub(super) fn is_known(method: &str) -> bool {
    METHODS.binary_search(&method).is_ok()
}

/// The result of a request.
pub(super) fn call(gateway: &Gateway, request: &CometRequest) -> Result<Value, CometFailure> {
    let (chain, node) = (&gateway.chain, &gateway.node);
    let head = chain.head();
    let at = || -> Result<Arc<Block>, CometFailure> {
        let number = request.number("height", 0)?.unwrap_or(head.number());
        block_at(gateway, &head, number)
    };
    let by_hash = || -> Result<Option<Arc<Block>>, CometFailure> {
        chain.block(&head, BlockId::Hash(request.hash()?)).map_err(|error| (-32603, error.to_string()))
    };
    Ok(match request.method.as_str() {
        "health" => json!({}),
        "status" => node.status(&head),
        "net_info" => json!({ "listening": true, "listeners": [], "n_peers": "0", "peers": [] }),
        "genesis" => json!({ "genesis": {
            "genesis_time": rfc3339(head.genesis.header.timestamp),
            "chain_id": node.chain_id,
            "initial_height": "1",
            "consensus_params": consensus_params(&head),
            "validators": [],
            "app_hash": "",
            "app_state": {},
        } }),
        "abci_info" => json!({ "response": {
            "data": "tetrad",
            "version": env!("CARGO_PKG_VERSION"),
            "app_version": "0",
            "last_block_height": head.number().to_string(),
            "last_block_app_hash": Base64::encode_string(head.block.header.state_root.as_slice()),
        } }),
        "abci_query" => {
            if request.number("height", 2)?.is_some_and(|height| height != 0 && height != head.number()) {
                return Err((-32603, "height: only the newest state can be asked".to_owned()));
            }
            let (path, data) = (request.text("path", 0)?, request.text("data", 1)?);
            json!({ "response": abci_query::answer(gateway, path, data) })
        }
        "block" => block_with_id(&*at()?, node, HashEncoding::Comet),
        "header" => json!({ "header": header(&*at()?, node, HashEncoding::Comet) }),
        "block_by_hash" => match by_hash()? {
            Some(block) => block_with_id(&block, node, HashEncoding::Comet),
            None => json!({ "block_id": empty_id(), "block": null }),
        },
        "header_by_hash" => json!({ "header": by_hash()?.map(|block| header(&block, node, HashEncoding::Comet)) }),
        "blockchain" => blockchain(gateway, &head, request)?,
        "commit" => {
            let block = at()?;
            let commit = json!({
                "height": block.number().to_string(),
                "round": 0,
                "block_id": HashEncoding::Comet.block_id(block.hash),
                "signatures": [],
            });
            let header = header(&block, node, HashEncoding::Comet);
            json!({ "signed_header": { "header": header, "commit": commit }, "canonical": true })
        }
        "block_results" => block_results(&*at()?),
        "consensus_params" => {
            json!({ "block_height": at()?.number().to_string(), "consensus_params": consensus_params(&head) })
        }
        "validators" => {
            json!({ "block_height": at()?.number().to_string(), "validators": [], "count": "0", "total": "0" })
        }
        "unconfirmed_txs" | "num_unconfirmed_txs" => {
            json!({ "n_txs": "0", "total": "0", "total_bytes": "0", "txs": [] })
        }
        // There are no Cosmos transactions.
        "tx_search" => json!({ "txs": [], "total_count": "0" }),
        "block_search" => json!({ "blocks": [], "total_count": "0" }),
        "tx" => return Err((-32603, format!("tx ({}) not found", hex::encode_upper(request.hash()?)))),
        "broadcast_tx_async" | "broadcast_tx_commit" | "broadcast_tx_sync" | "check_tx" => {
            return Err((-32603, NO_BROADCAST.to_owned()));
        }
        method => return Err((-32601, format!("no method {:?}", method.chars().take(50).collect::<String>()))),
    })
}

fn block_at(gateway: &Gateway, head: &Arc<Head>, number: u64) -> Result<Arc<Block>, CometFailure> {
    if number > head.number() {
        let newest = head.number();
        let what = format!("height {number} must be less than or equal to the current blockchain height {newest}");
        return Err((-32603, what));
    }
    let block = gateway.chain.block(head, BlockId::Number(number)).map_err(|error| (-32603, error.to_string()))?;
    block.ok_or_else(|| {
        let oldest = gateway.chain.oldest(head);
        (-32603, format!("height {number} is not available, lowest height is {oldest}"))
    })
}

fn blockchain(gateway: &Gateway, head: &Arc<Head>, request: &CometRequest) -> Result<Value, CometFailure> {
    let newest = head.number();
    let last = request.number("maxHeight", 1)?.filter(|last| *last > 0).unwrap_or(newest).min(newest);
    let least = request.number("minHeight", 0)?.unwrap_or(0);
    if least > last {
        return Err((-32603, format!("min height {least} can't be greater than max height {last}")));
    }
    let first = least.max((last + 1).saturating_sub(MAX_HEADERS));
    let mut metas = Vec::new();
    for number in (first..=last).rev() {
        let block = block_at(gateway, head, number)?;
        metas.push(json!({
            "block_id": HashEncoding::Comet.block_id(block.hash),
            "block_size": block.size().to_string(),
            "header": header(&block, &gateway.node, HashEncoding::Comet),
            "num_txs": block.transactions.len().to_string(),
        }));
    }
    Ok(json!({ "last_height": newest.to_string(), "block_metas": metas }))
}

/// Results of a block's transactions in CometBFT's form. Logs are left to the Ethereum interface.
fn block_results(block: &Block) -> Value {
    let each = block.transactions.iter().zip(&block.receipts).map(|(transaction, receipt)| {
        json!({
            "code": u32::from(!receipt.succeeded()),
            "data": null,
            "log": "",
            "info": "",
            "gas_wanted": transaction.envelope.gas_limit().to_string(),
            "gas_used": receipt.gas_used.to_string(),
            "events": [],
            "codespace": "",
        })
    });
    json!({
        "height": block.number().to_string(),
        "txs_results": each.collect::<Vec<_>>(),
        "finalize_block_events": [],
        "validator_updates": [],
        "consensus_param_updates": null,
        "app_hash": hex::encode_upper(block.header.state_root),
    })
}

fn consensus_params(head: &Head) -> Value {
    json!({
        "block": { "max_bytes": "22020096", "max_gas": head.block.header.gas_limit.to_string() },
        "evidence": { "max_age_num_blocks": "100000", "max_age_duration": "172800000000000", "max_bytes": "1048576" },
        "validator": { "pub_key_types": ["ed25519"] },
        "version": { "app": "0" },
        "abci": { "vote_extensions_enable_height": "0" },
    })
}

fn empty_id() -> Value {
    json!({ "hash": "", "parts": { "total": 0, "hash": "" } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_methods_are_in_order() {
        assert!(METHODS.is_sorted());
        assert!(is_known("status") && !is_known("eth_chainId") && !is_known("net_version"));
    }
}

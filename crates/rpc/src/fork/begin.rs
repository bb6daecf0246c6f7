//! The other chain's block at which a fork begins.

use std::io;

use alloy_consensus::Header;
use alloy_primitives::{B256, U64};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use tetrad_chain::MAX_START_NUMBER;
use tetrad_primitives::state::ReadError;
use tetrad_stdx::{calendar::LAST_SECOND, redact};
use tracing::warn;

use super::{
    client::{ForkAnswer, ForkCall, ForkCallError, ForkClient, read_block_hash, read_result},
    config::{ForkBlock, ForkCache, ForkConfig},
};

/// The method that requests a block by its number.
const BLOCK_BY_NUMBER: &str = "eth_getBlockByNumber";
/// The names by which development nodes call themselves. The state of their newest block can be
/// edited.
const EDITABLE: [&str; 5] = ["anvil", "hardhat", "ethereumjs", "ganache", "tetrad"];

/// The other chain cannot be forked.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// A required call failed.
    #[error("fork: {0}")]
    Call(#[from] ForkCallError),
    /// The other node's answer makes no sense.
    #[error("fork: {method}: {what}")]
    Answer {
        /// The method.
        method: &'static str,
        /// The problem with the answer.
        what: String,
    },
    /// The other node has no such block.
    #[error("fork: the other node has no block {0}")]
    NoBlock(ForkBlock),
    /// Another node of the settings cannot be used.
    #[error("fork: {url}: {what}")]
    Other {
        /// The node, without what may be a secret.
        url: String,
        /// The problem.
        what: String,
    },
    /// An account could not be read.
    #[error("fork: {0}")]
    Read(#[from] ReadError),
    /// No URL was given.
    #[error("fork: no URL to fork from")]
    NoUrl,
    /// The operating system reported an error.
    #[error("fork: {0}")]
    System(#[from] io::Error),
}

/// The other chain's block at which a fork begins.
pub(super) struct Beginning {
    pub(super) chain_id: u64,
    pub(super) header: Header,
    pub(super) hash: B256,
    /// Whether the other node's answers about the block are kept in a file.
    pub(super) is_cached: bool,
}

impl Beginning {
    /// Requests a block, and rejects nodes that do not have it.
    pub(super) fn fetch(
        client: &ForkClient,
        block: ForkBlock,
        config: &ForkConfig,
    ) -> Result<Self, ForkError> {
        let block_call = block_call(client, block)?;
        let method = block_call.method;
        let mut calls = vec![ForkCall::new("eth_chainId", json!([])), block_call];
        if block.is_fixed() && config.cache != ForkCache::Off {
            // The software of the other node, and its newest final block.
            calls.push(ForkCall::new("web3_clientVersion", json!([])));
            calls.push(ForkCall::new(BLOCK_BY_NUMBER, json!(["finalized", false])));
        }

        let answers = client.call_many(calls, None);
        let [chain_id, found, rest @ ..] = answers.results.as_slice() else {
            return Err(wrong(method, "a response is missing"));
        };
        let chain_id: U64 = read_result(chain_id.as_ref().map_err(Clone::clone)?)
            .map_err(|error| wrong("eth_chainId", error))?;
        let (hash, header) = match read_result(found.as_ref().map_err(Clone::clone)?) {
            Ok(Value::Null) => return Err(ForkError::NoBlock(block)),
            Ok(block) => read_header(block)?,
            Err(error) => return Err(wrong(method, error)),
        };
        check_header(&header, hash, block)?;
        check_chain(client, block, config, header.number, hash)?;

        let is_cached = match rest {
            [version, finalized] => {
                let is_usual = config.cache == ForkCache::Usual;
                is_final(finalized, header.number) && !(is_usual && is_editable(version))
            }
            _ => false,
        };
        Ok(Self {
            chain_id: chain_id.to(),
            header,
            hash,
            is_cached,
        })
    }
}

/// The call that requests a block.
fn block_call(client: &ForkClient, block: ForkBlock) -> Result<ForkCall, ForkError> {
    let id = match block {
        ForkBlock::Hash(hash) => {
            return Ok(ForkCall::new("eth_getBlockByHash", json!([hash, false])));
        }
        ForkBlock::Number(number) => json!(U64::from(number)),
        ForkBlock::Latest | ForkBlock::Safe | ForkBlock::Finalized => json!(block.to_string()),
        ForkBlock::Back(blocks) => {
            let method = "eth_blockNumber";
            let newest: U64 = client
                .call(method, &json!([]))?
                .read()
                .map_err(|error| wrong(method, error))?;
            let number = newest.to::<u64>().checked_sub(blocks);
            json!(U64::from(number.ok_or(ForkError::NoBlock(block))?))
        }
        // Such a fork begins at the parent of the transaction's block.
        ForkBlock::Transaction { .. } => return Err(ForkError::NoBlock(block)),
    };
    Ok(ForkCall::new(BLOCK_BY_NUMBER, json!([id, false])))
}

/// Checks that the forked block is one of the chain, on all nodes if there are several.
fn check_chain(
    client: &ForkClient,
    block: ForkBlock,
    config: &ForkConfig,
    number: u64,
    hash: B256,
) -> Result<(), ForkError> {
    if !config.others.is_empty() {
        return check_nodes(client, number, hash);
    }

    // A block that was requested by its hash may be on a branch.
    if matches!(block, ForkBlock::Hash(_)) {
        let found = client.call(BLOCK_BY_NUMBER, &json!([U64::from(number), false]))?;
        check_hash(&found, number, hash).map_err(|what| wrong(BLOCK_BY_NUMBER, what))?;
    }
    Ok(())
}

/// Whether the state of a block may change, as that of nodes for development. A node that does not
/// say what it is may be anything.
fn is_editable(version: &Result<Bytes, ForkCallError>) -> bool {
    let version = version.as_ref().ok();
    let version = version.and_then(|json| read_result::<String>(json).ok());
    version.is_none_or(|version| {
        let version = version.to_ascii_lowercase();
        EDITABLE.iter().any(|name| version.starts_with(name))
    })
}

/// Whether another block cannot take the place of the one with this number, as far as the other
/// node can tell.
fn is_final(finalized: &Result<Bytes, ForkCallError>, number: u64) -> bool {
    #[derive(Deserialize)]
    struct Numbered {
        number: U64,
    }

    match finalized {
        Ok(json) => read_result::<Option<Numbered>>(json)
            .is_ok_and(|found| found.is_none_or(|found| number <= found.number.to::<u64>())),
        // On a chain that does not know the word every block counts as final.
        Err(ForkCallError::ErrorResponse { .. }) => true,
        Err(_) => false,
    }
}

/// Rejects nodes that do not have the forked block among those of their chain: state is requested
/// by its number. Nodes that do not answer are left out.
fn check_nodes(client: &ForkClient, number: u64, hash: B256) -> Result<(), ForkError> {
    let mut fit = Vec::new();
    let mut last = None;
    let params = json!([U64::from(number), false]);
    for (url, answer) in client.call_each_node(BLOCK_BY_NUMBER, &params) {
        let shown = redact::url(url.as_str());
        match answer {
            Ok(answer) => {
                let what = check_hash(&answer, number, hash);
                what.map_err(|what| ForkError::Other { url: shown, what })?;
                fit.push(url);
            }
            Err(error @ ForkCallError::Abandoned { .. }) => return Err(error.into()),
            Err(error) => {
                warn!("{shown}: {error}; it is left out");
                last = Some(error);
            }
        }
    }

    match last {
        Some(error) if fit.is_empty() => Err(error.into()),
        Some(_) => {
            client.keep_only(&fit);
            Ok(())
        }
        None => Ok(()),
    }
}

/// Checks that a block has this hash. The error says what it is instead.
fn check_hash(answer: &ForkAnswer, number: u64, hash: B256) -> Result<(), String> {
    let found = read_block_hash(answer.json(), number)?;
    if found == hash {
        Ok(())
    } else {
        Err(format!("its block {number} is {found}, not {hash}"))
    }
}

/// Hash and header of a block. Fields that a chain does not use may be missing.
pub(super) fn read_header(mut block: Value) -> Result<(B256, Header), ForkError> {
    let method = BLOCK_BY_NUMBER;
    let Some(fields) = block.as_object_mut() else {
        return Err(ForkError::Answer {
            method,
            what: "the block is no object".to_owned(),
        });
    };

    let hash = fields.get("hash").cloned().unwrap_or_default();
    let hash: B256 =
        serde_json::from_value(hash).map_err(|error| wrong(method, format!("hash: {error}")))?;

    for (name, absent) in [
        ("mixHash", json!(B256::ZERO)),
        ("nonce", json!("0x0000000000000000")),
        ("sha3Uncles", json!(alloy_consensus::EMPTY_OMMER_ROOT_HASH)),
        ("difficulty", json!("0x0")),
        ("extraData", json!("0x")),
    ] {
        let field = fields.entry(name).or_insert(Value::Null);
        if field.is_null() {
            *field = absent;
        }
    }

    let header = serde_json::from_value(block).map_err(|error| wrong(method, error))?;
    Ok((hash, header))
}

/// Rejects a header that is not of the `requested` block, or whose number or time is too high.
pub(super) fn check_header(
    header: &Header,
    hash: B256,
    requested: ForkBlock,
) -> Result<(), ForkError> {
    let method = BLOCK_BY_NUMBER;
    let got = match requested {
        ForkBlock::Number(number) if number != header.number => Some(header.number.to_string()),
        ForkBlock::Hash(requested) if requested != hash => Some(hash.to_string()),
        _ => None,
    };
    if let Some(got) = got {
        let what = format!("requested block {requested}, got block {got}");
        return Err(ForkError::Answer { method, what });
    }

    if header.number > MAX_START_NUMBER {
        let what = format!(
            "the block's number {} is above {MAX_START_NUMBER}",
            header.number
        );
        return Err(ForkError::Answer { method, what });
    }

    if header.timestamp > LAST_SECOND {
        let what = format!(
            "the block's time {} is after 9999-12-31T23:59:59Z",
            header.timestamp
        );
        return Err(ForkError::Answer { method, what });
    }
    Ok(())
}

pub(super) fn wrong(method: &'static str, what: impl std::fmt::Display) -> ForkError {
    ForkError::Answer {
        method,
        what: what.to_string(),
    }
}

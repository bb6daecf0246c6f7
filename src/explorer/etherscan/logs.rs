//! The module `logs`.

use alloy_primitives::{B256, hex};
use serde_json::{Value, json};

use super::{Outcome, Refusal, Request, list, text};
use crate::{
    block::{Block, LogPosition},
    explorer::{logs::LogQuery, parameters::Words},
};

/// The most logs of a page, as in Etherscan.
const MAX_LOGS: usize = 1_000;

pub(super) fn answer(request: &Request<'_>, action: &str) -> Option<Outcome> {
    (action == "getlogs").then(|| logs(request))
}

fn topic(name: &str, words: &Option<Words>) -> Result<Option<B256>, Refusal> {
    let parsed = text(words).filter(|text| *text != "null").map(|text| text.parse());
    parsed.transpose().map_err(|_| Refusal::failed(format!("Error! Invalid {name}: expected 32 bytes in hex")))
}

fn block_number(request: &Request<'_>, name: &str, words: &Option<Words>, default: u64) -> Result<u64, Refusal> {
    match text(words) {
        Some("latest" | "pending") => Ok(request.render.reader.head.number()),
        Some("earliest") => Ok(0),
        _ => Ok(request.number(name, words)?.unwrap_or(default)),
    }
}

fn logs(request: &Request<'_>) -> Outcome {
    let query = request.query;
    let address = match query.address {
        Some(_) => Some(request.address()?),
        None => None,
    };
    let topics = [
        topic("topic0", &query.topic_0)?,
        topic("topic1", &query.topic_1)?,
        topic("topic2", &query.topic_2)?,
        topic("topic3", &query.topic_3)?,
    ];
    if address.is_none() && topics.iter().all(Option::is_none) {
        return Err(Refusal::failed("Query parameter 'address' or 'topic0' is required"));
    }
    let wanted = LogQuery {
        from: block_number(request, "fromBlock", &query.from, 0)?,
        to: block_number(request, "toBlock", &query.to, u64::MAX)?,
        address,
        topics,
        any_topic: text(&query.operator) == Some("or"),
    };
    let page = request.number("page", &query.page)?.unwrap_or(1_usize).max(1);
    let size = request.number("offset", &query.offset)?.filter(|size| *size > 0).unwrap_or(MAX_LOGS).min(MAX_LOGS);
    let found = wanted.run(request.render.reader, (page - 1).saturating_mul(size), size);
    let items = found.iter().filter_map(|(block, index)| {
        let at = block.logs().find(|at| at.log_index == *index)?;
        Some(log(block, &at))
    });
    list(items.collect(), "No records found")
}

/// Renders a log. Numbers are in hex, as in Etherscan.
pub(super) fn log(block: &Block, at: &LogPosition<'_>) -> Value {
    let receipt = &block.receipts[at.transaction_index as usize];
    let mut topics: Vec<_> = at.log.data.topics().iter().map(|topic| json!(topic.to_string())).collect();
    topics.resize(4, Value::Null);
    json!({
        "address": hex::encode_prefixed(at.log.address),
        "topics": topics,
        "data": hex::encode_prefixed(&at.log.data.data),
        "blockNumber": format!("{:#x}", block.number()),
        "blockHash": block.hash.to_string(),
        "timeStamp": format!("{:#x}", block.header.timestamp),
        "gasPrice": format!("{:#x}", at.transaction.effective_gas_price(block.header.base_fee_per_gas)),
        "gasUsed": format!("{:#x}", receipt.gas_used),
        "logIndex": format!("{:#x}", at.log_index),
        "transactionHash": at.transaction.hash().to_string(),
        "transactionIndex": format!("{:#x}", at.transaction_index),
    })
}

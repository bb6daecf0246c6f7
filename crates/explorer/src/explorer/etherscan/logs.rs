//! The module `logs`.

use std::ops::ControlFlow;

use alloy_primitives::{B256, hex};
use serde_json::{Value, json};
use tetrad_primitives::block::{Block, LogPosition};

use super::{Action, ListWriter, Refusal, Request, text};
use crate::explorer::{logs::LogQuery, parameters::Words};

/// The most logs of a page, as in Etherscan.
const MAX_LOGS: usize = 1_000;

pub(super) const ACTIONS: &[Action] = &[Action::list(
    "logs",
    "getLogs",
    PARAMETERS,
    logs,
    "No records found",
)];

const PARAMETERS: &[&str] = &[
    "address",
    "fromBlock",
    "toBlock",
    "topic0",
    "topic1",
    "topic2",
    "topic3",
    "topic0_1_opr",
    "topic0_2_opr",
    "topic0_3_opr",
    "topic1_2_opr",
    "topic1_3_opr",
    "topic2_3_opr",
    "page",
    "offset",
];

fn topic(name: &str, words: &Option<Words>) -> Result<Option<B256>, Refusal> {
    text(words)
        .filter(|text| *text != "null")
        .map(|text| text.parse())
        .transpose()
        .map_err(|_| Refusal::failed(format!("Error! Invalid {name}: expected 32 bytes in hex")))
}

/// Whether one matching topic is enough. Operators that differ have no meaning that clients agree
/// on.
fn is_any_topic(request: &Request<'_>) -> Result<bool, Refusal> {
    let query = request.query;
    let operators = [
        &query.operator_0_1,
        &query.operator_0_2,
        &query.operator_0_3,
        &query.operator_1_2,
        &query.operator_1_3,
        &query.operator_2_3,
    ];

    let mut any = None;
    for operator in operators.into_iter().filter_map(text) {
        let is_any = match operator {
            "or" => true,
            "and" => false,
            _ => {
                return Err(Refusal::failed(
                    "Error! Invalid operator of topics: expected and or or",
                ));
            }
        };
        if any.is_some_and(|before| before != is_any) {
            return Err(Refusal::failed(
                "Error! The operators of topics have to be all and, or all or",
            ));
        }
        any = Some(is_any);
    }

    Ok(any.unwrap_or_default())
}

fn logs(request: &Request<'_>, list: &mut ListWriter) -> Result<(), Refusal> {
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
        return Err(Refusal::failed(
            "Query parameter 'address' or 'topic0' is required",
        ));
    }

    let wanted = LogQuery {
        from: request.block_number("fromBlock", &query.from, 0)?,
        to: request.block_number("toBlock", &query.to, u64::MAX)?,
        address,
        topics,
        any_topic: is_any_topic(request)?,
    };

    let page = request
        .number("page", &query.page)?
        .unwrap_or(1_usize)
        .max(1);
    let size = request
        .number("offset", &query.offset)?
        .filter(|size| *size > 0)
        .unwrap_or(MAX_LOGS)
        .min(MAX_LOGS);

    let mut skipped = (page - 1).saturating_mul(size);
    let mut left = size;
    let mut failure = None;
    wanted.run(request.render.reader, |block, at| {
        if skipped > 0 {
            skipped -= 1;
            return Ok(ControlFlow::Continue(()));
        }
        left -= 1;
        failure = list.push(&log(block, at)).err();
        Ok(if left == 0 || failure.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    failure.map_or(Ok(()), Err)
}

/// Renders a log. Numbers are in hex, as in Etherscan.
pub(super) fn log(block: &Block, at: &LogPosition<'_>) -> Value {
    let receipt = &block.receipts[at.transaction_index as usize];
    let mut topics: Vec<_> = at
        .log
        .data
        .topics()
        .iter()
        .map(|topic| json!(topic.to_string()))
        .collect();
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

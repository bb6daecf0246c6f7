//! The module `transaction`.

use alloy_consensus::Transaction as _;
use alloy_primitives::hex;
use serde_json::{Value, json};
use tetrad_primitives::block::Block;

use super::{Action, Outcome, Refusal, Request, logs::log};

pub(super) const ACTIONS: &[Action] = &[
    Action::value("transaction", "getstatus", &["txhash"], status),
    Action::value(
        "transaction",
        "gettxreceiptstatus",
        &["txhash"],
        receipt_status,
    ),
    Action::value("transaction", "gettxinfo", &["txhash", "index"], info),
];

/// The most bytes of a transaction's logs in one answer. A single log may be longer.
const MAX_LOGS_BYTES: usize = 2 << 20;

fn status(request: &Request<'_>) -> Outcome {
    let reader = &request.render.reader;
    let found = reader.transaction(request.hash()?);
    let Some((block, index)) = found.filter(|(block, index)| !block.receipts[*index].succeeded())
    else {
        return Ok(json!({ "isError": "0", "errDescription": "" }));
    };

    let failure = reader.failure(block.number(), index)?;
    let description = failure.map_or_else(|| "error".to_owned(), |failure| failure.error);
    Ok(json!({ "isError": "1", "errDescription": description }))
}

fn receipt_status(request: &Request<'_>) -> Outcome {
    let found = request.render.reader.transaction(request.hash()?);
    let status = found.map_or("", |(block, index)| {
        if block.receipts[index].succeeded() {
            "1"
        } else {
            "0"
        }
    });
    Ok(json!({ "status": status }))
}

fn info(request: &Request<'_>) -> Outcome {
    let reader = &request.render.reader;
    let (block, index) = reader
        .transaction(request.hash()?)
        .ok_or_else(|| Refusal::failed("Transaction not found"))?;
    let transaction = &block.transactions[index];
    let receipt = &block.receipts[index];
    let failure = reader.failure(block.number(), index)?;

    let skipped = request
        .number::<usize>("index", &request.query.index)?
        .unwrap_or_default();
    let (logs, next) = logs_of(&block, index, skipped);

    Ok(json!({
        "hash": transaction.hash().to_string(),
        "blockNumber": block.number().to_string(),
        "timeStamp": block.header.timestamp.to_string(),
        "confirmations": (reader.head.number().saturating_sub(block.number()) + 1).to_string(),
        "from": hex::encode_prefixed(transaction.sender),
        "to": transaction.envelope.to().map(hex::encode_prefixed).unwrap_or_default(),
        "value": transaction.envelope.value().to_string(),
        "input": hex::encode_prefixed(transaction.envelope.input()),
        "gasLimit": transaction.envelope.gas_limit().to_string(),
        "gasUsed": receipt.gas_used.to_string(),
        "gasPrice": transaction.effective_gas_price(block.header.base_fee_per_gas).to_string(),
        "success": receipt.succeeded(),
        "revertReason": failure.map(|failure| hex::encode_prefixed(failure.data)).unwrap_or_default(),
        "logs": logs,
        "next_page_params": next,
    }))
}

/// The logs of a transaction after those that are skipped, within the limit of bytes, and the
/// parameters of the next page.
fn logs_of(block: &Block, index: usize, skipped: usize) -> (Vec<Value>, Option<Value>) {
    let own = block
        .logs()
        .filter(|at| at.transaction_index == index as u64);

    let mut logs = Vec::new();
    let mut bytes = 0;
    for (before, at) in own.enumerate().skip(skipped) {
        let log = log(block, &at);
        bytes += log.to_string().len();
        if bytes > MAX_LOGS_BYTES && !logs.is_empty() {
            let next = json!({
                "block_number": block.number(),
                "index": before,
                "items_count": logs.len(),
            });
            return (logs, Some(next));
        }
        logs.push(log);
    }
    (logs, None)
}

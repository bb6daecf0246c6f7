//! The modules `block`, `stats` and `token`.

use alloy_primitives::{U256, hex};
use serde_json::{Value, json};
use tetrad_web::RestError;

use super::{Action, ListWriter, Outcome, Refusal, Request, complete, text};
use crate::{
    explorer::render::fees,
    index::{IndexReader, total_supply},
};

pub(super) const ACTIONS: &[Action] = &[
    Action::value(
        "block",
        "getblocknobytime",
        &["timestamp", "closest"],
        by_time,
    ),
    Action::value("block", "getblockreward", &["blockno"], reward),
    Action::value("block", "eth_block_number", &[], newest),
    Action::value("stats", "tokensupply", &["contractaddress"], supply),
    Action::value("token", "getToken", &["contractaddress"], one_token),
    Action::list(
        "token",
        "getTokenHolders",
        HOLDERS,
        holders,
        "No token holders found",
    ),
    Action::list(
        "token",
        "tokenholderlist",
        HOLDERS,
        holders,
        "No token holders found",
    ),
    Action::value(
        "token",
        "tokenholdercount",
        &["contractaddress"],
        holder_count,
    ),
];

const HOLDERS: &[&str] = &["contractaddress", "page", "offset"];

fn newest(request: &Request<'_>) -> Outcome {
    Ok(json!(format!("{:#x}", request.render.reader.head.number())))
}

/// The time of a block that has to be there.
fn time_of(reader: &IndexReader, number: u64) -> Result<u64, Refusal> {
    reader
        .block(number)
        .map(|block| block.header.timestamp)
        .ok_or_else(|| Refusal::Node(RestError::Internal("a block is gone".to_owned())))
}

/// Returns the first block whose time satisfies a condition, which all later ones satisfy as well;
/// the one after the newest if there is none. Times never decrease, so it is found by bisection.
pub(super) fn first_block(
    reader: &IndexReader,
    satisfies: impl Fn(u64) -> bool,
) -> Result<u64, Refusal> {
    let mut low = reader.oldest().min(reader.head.number());
    let mut high = reader.head.number() + 1;
    while low < high {
        let middle = low + (high - low) / 2;
        if satisfies(time_of(reader, middle)?) {
            high = middle
        } else {
            low = middle + 1
        }
    }
    Ok(low)
}

/// The newest block before a time, or the oldest after it.
fn by_time(request: &Request<'_>) -> Outcome {
    let reader = request.render.reader;
    let wanted: u64 = request
        .number("timestamp", &request.query.timestamp)?
        .ok_or_else(|| Refusal::failed("Query parameter 'timestamp' is required"))?;

    let oldest = reader.oldest().min(reader.head.number());
    let found = match text(&request.query.closest) {
        Some("before") => first_block(reader, |own| own > wanted)?.checked_sub(1),
        Some("after") => Some(first_block(reader, |own| own >= wanted)?),
        _ => {
            return Err(Refusal::failed(
                "Query parameter 'closest' is required: before or after",
            ));
        }
    };

    // Either search may end next to the blocks that the node has.
    let found = found
        .filter(|number| (oldest..=reader.head.number()).contains(number))
        .ok_or_else(|| Refusal::failed("Error! No closest block found"))?;
    Ok(json!({ "blockNumber": found.to_string() }))
}

fn reward(request: &Request<'_>) -> Outcome {
    let number: u64 = request
        .number("blockno", &request.query.block_number)?
        .ok_or_else(|| Refusal::failed("Query parameter 'blockno' is required"))?;
    let block = request
        .render
        .reader
        .block(number)
        .ok_or_else(|| Refusal::failed("Block does not exist"))?;

    let tips = (0..block.transactions.len())
        .map(|index| fees(&block, index))
        .fold(U256::ZERO, |sum, (fee, burnt)| {
            sum + fee.saturating_sub(burnt)
        });
    Ok(json!({
        "blockNumber": number.to_string(),
        "timeStamp": block.header.timestamp.to_string(),
        "blockMiner": hex::encode_prefixed(block.header.beneficiary),
        "blockReward": tips.to_string(),
        "uncles": Value::Array(Vec::new()),
        "uncleInclusionReward": "0",
    }))
}

fn supply(request: &Request<'_>) -> Outcome {
    let supply = total_supply(request.render.view(), request.contract()?);
    Ok(json!(
        supply
            .ok_or_else(|| Refusal::failed("Error! The contract has no total supply"))?
            .to_string()
    ))
}

fn one_token(request: &Request<'_>) -> Outcome {
    let token = request.contract()?;
    let record = request
        .render
        .reader
        .token(token)?
        .ok_or_else(|| Refusal::failed("contract address not found"))?;
    Ok(json!({
        "contractAddress": hex::encode_prefixed(token),
        "name": record.name.clone().unwrap_or_default(),
        "symbol": record.symbol.clone().unwrap_or_default(),
        "decimals": record.decimals.map(|decimals| decimals.to_string()).unwrap_or_default(),
        "type": record.kind().name(),
        "cataloged": true,
        "totalSupply": total_supply(request.render.view(), token).map(|supply| supply.to_string()).unwrap_or_default(),
    }))
}

fn holders(request: &Request<'_>, list: &mut ListWriter) -> Result<(), Refusal> {
    let token = request.contract()?;
    let (skip, limit) = request.page()?;
    let found = request.render.reader.holders(token, None, skip + limit)?;
    for holder in complete(found, skip + limit)?.iter().skip(skip) {
        let address = hex::encode_prefixed(holder.address);
        let quantity = holder.balance.to_string();
        list.push(&json!({
            "address": address, "value": quantity, "TokenHolderAddress": address, "TokenHolderQuantity": quantity,
        }))?;
    }
    Ok(())
}

fn holder_count(request: &Request<'_>) -> Outcome {
    Ok(json!(
        request
            .render
            .reader
            .token_counts(request.contract()?)?
            .holders
            .to_string()
    ))
}

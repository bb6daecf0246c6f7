//! The modules `block`, `stats` and `token`.

use alloy_primitives::{U256, hex};
use serde_json::{Value, json};

use super::{MAX_PAGE, Outcome, Refusal, Request, list, text};
use crate::{explorer::render::fees, index::total_supply, web::RestError};

pub(super) fn block(request: &Request<'_>, action: &str) -> Option<Outcome> {
    Some(match action {
        "getblocknobytime" => by_time(request),
        "getblockreward" => reward(request),
        "eth_block_number" => Ok(json!(format!("{:#x}", request.render.reader.head.number()))),
        _ => return None,
    })
}

/// The newest block before a time, or the oldest after it: times never decrease, so it is found by bisection.
fn by_time(request: &Request<'_>) -> Outcome {
    let reader = request.render.reader;
    let wanted = request.number("timestamp", &request.query.timestamp)?;
    let wanted: u64 = wanted.ok_or_else(|| Refusal::failed("Query parameter 'timestamp' is required"))?;
    let is_before = match text(&request.query.closest) {
        Some("before") => true,
        Some("after") => false,
        _ => return Err(Refusal::failed("Query parameter 'closest' is required: before or after")),
    };
    let gone = || Refusal::Node(RestError::Internal("a block is gone".to_owned()));
    let time = |number: u64| reader.block(number).map(|block| block.header.timestamp).ok_or_else(gone);
    let (mut low, mut high) = (reader.oldest().min(reader.head.number()), reader.head.number() + 1);
    // All blocks below `low` satisfy the condition, none from `high` on does.
    let first = low;
    while low < high {
        let middle = low + (high - low) / 2;
        let own = time(middle)?;
        if own < wanted || (is_before && own == wanted) { low = middle + 1 } else { high = middle }
    }
    let found = if is_before { low.checked_sub(1).filter(|number| *number >= first) } else { Some(low) };
    let found = found.filter(|number| *number <= reader.head.number());
    let found = found.ok_or_else(|| Refusal::failed("Error! No closest block found"))?;
    Ok(json!({ "blockNumber": found.to_string() }))
}

fn reward(request: &Request<'_>) -> Outcome {
    let number = request.number("blockno", &request.query.block_number)?;
    let number: u64 = number.ok_or_else(|| Refusal::failed("Query parameter 'blockno' is required"))?;
    let block = request.render.reader.block(number).ok_or_else(|| Refusal::failed("Block does not exist"))?;
    let tips = (0..block.transactions.len()).map(|index| fees(&block, index));
    let tips = tips.fold(U256::ZERO, |sum, (fee, burnt)| sum + fee.saturating_sub(burnt));
    Ok(json!({
        "blockNumber": number.to_string(),
        "timeStamp": block.header.timestamp.to_string(),
        "blockMiner": hex::encode_prefixed(block.header.beneficiary),
        "blockReward": tips.to_string(),
        "uncles": Value::Array(Vec::new()),
        "uncleInclusionReward": "0",
    }))
}

pub(super) fn stats(request: &Request<'_>, action: &str) -> Option<Outcome> {
    match action {
        "tokensupply" => Some(supply(request)),
        _ => None,
    }
}

fn supply(request: &Request<'_>) -> Outcome {
    let supply = total_supply(request.render.view(), request.contract()?);
    Ok(json!(supply.ok_or_else(|| Refusal::failed("Error! The contract has no total supply"))?.to_string()))
}

pub(super) fn token(request: &Request<'_>, action: &str) -> Option<Outcome> {
    Some(match action {
        "gettoken" => one_token(request),
        "gettokenholders" | "tokenholderlist" => holders(request),
        "tokenholdercount" => holder_count(request),
        _ => return None,
    })
}

fn one_token(request: &Request<'_>) -> Outcome {
    let token = request.contract()?;
    let record = request.render.reader.token(token)?.ok_or_else(|| Refusal::failed("contract address not found"))?;
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

fn holders(request: &Request<'_>) -> Outcome {
    let token = request.contract()?;
    let (skip, limit) = request.page()?;
    let found = request.render.reader.holders(token, None, (skip + limit).min(10 * MAX_PAGE))?;
    let items = found.iter().skip(skip).map(|holder| {
        let (address, quantity) = (hex::encode_prefixed(holder.address), holder.balance.to_string());
        json!({
            "address": address, "value": quantity, "TokenHolderAddress": address, "TokenHolderQuantity": quantity,
        })
    });
    list(items.collect(), "No token holders found")
}

fn holder_count(request: &Request<'_>) -> Outcome {
    Ok(json!(request.render.reader.token_counts(request.contract()?)?.holders.to_string()))
}

//! The module `account`.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, hex};
use serde_json::{Value, json};

use super::{AnyText, Outcome, Refusal, Request, list};
use crate::{
    block::Block,
    explorer::render::{TransferFinder, call_kind, creates},
    index::{InternalPosition, Position, PositionRange, TokenKind, TransferRole},
    web::RestError,
};

/// The most addresses of a request for several balances.
const MAX_ADDRESSES: usize = 20;

/// The most tokens of a list.
const MAX_TOKENS: usize = 1_000;

pub(super) fn answer(request: &Request<'_>, action: &str) -> Option<Outcome> {
    Some(match action {
        "balance" => balance(request),
        "eth_get_balance" => request.address().and_then(|address| Ok(json!(format!("{:#x}", wei(request, address)?)))),
        "balancemulti" => balances(request),
        "txlist" => transactions(request),
        "txlistinternal" => internal(request),
        "tokentx" => transfers(request, TokenKind::Erc20),
        "tokennfttx" => transfers(request, TokenKind::Erc721),
        "token1155tx" => transfers(request, TokenKind::Erc1155),
        "tokenbalance" => token_balance(request),
        "tokenlist" => tokens(request),
        _ => return None,
    })
}

fn wei(request: &Request<'_>, address: Address) -> Result<alloy_primitives::U256, Refusal> {
    let balance = request.render.view().state.balance(address);
    balance.map_err(|error| Refusal::Node(RestError::Internal(error.to_string())))
}

/// The addresses of a request, separated by commas.
fn addresses(request: &Request<'_>) -> Result<Vec<Address>, Refusal> {
    let Some(AnyText(text)) = &request.query.address else { return request.address().map(|address| vec![address]) };
    let all = text.split(',').filter(|text| !text.is_empty());
    let all = all.map(|text| request.parse_address(text.trim())).collect::<Result<Vec<_>, _>>()?;
    match all.len() {
        0 => Err(Refusal::failed("Query parameter 'address' is required")),
        1..=MAX_ADDRESSES => Ok(all),
        _ => Err(Refusal::failed(format!("Error! At most {MAX_ADDRESSES} addresses"))),
    }
}

fn balance(request: &Request<'_>) -> Outcome {
    match addresses(request)?[..] {
        [address] => Ok(json!(wei(request, address)?.to_string())),
        _ => balances(request),
    }
}

fn balances(request: &Request<'_>) -> Outcome {
    let one = |address: Address| {
        Ok(json!({ "account": text(address), "balance": wei(request, address)?.to_string(), "stale": false }))
    };
    addresses(request)?.into_iter().map(one).collect::<Result<Vec<_>, Refusal>>().map(Value::Array)
}

/// Addresses are in lower case, as Etherscan writes them.
fn text(address: Address) -> String {
    hex::encode_prefixed(address)
}

/// The members that every entry of a list begins with.
fn beginning(request: &Request<'_>, block: &Block, index: usize) -> serde_json::Map<String, Value> {
    let transaction = &block.transactions[index];
    let confirmations = request.render.reader.head.number().saturating_sub(block.number()) + 1;
    let members = [
        ("blockNumber", block.number().to_string()),
        ("blockHash", block.hash.to_string()),
        ("timeStamp", block.header.timestamp.to_string()),
        ("hash", transaction.hash().to_string()),
        ("nonce", transaction.envelope.nonce().to_string()),
        ("transactionIndex", index.to_string()),
        ("gas", transaction.envelope.gas_limit().to_string()),
        ("gasPrice", transaction.effective_gas_price(block.header.base_fee_per_gas).to_string()),
        ("gasUsed", block.receipts[index].gas_used.to_string()),
        ("cumulativeGasUsed", block.receipts[index].cumulative_gas_used.to_string()),
        ("confirmations", confirmations.to_string()),
    ];
    members.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))).collect()
}

fn transactions(request: &Request<'_>) -> Outcome {
    let address = request.address()?;
    let page = request.render.reader.transactions(address, None, &request.range()?)?;
    let items = page.items.iter().filter_map(|position| {
        let block = request.render.reader.block(position.block)?;
        transaction(request, &block, position.index as usize)
    });
    list(items.collect(), "No transactions found")
}

fn transaction(request: &Request<'_>, block: &Block, index: usize) -> Option<Value> {
    let (transaction, receipt) = (block.transactions.get(index)?, block.receipts.get(index)?);
    let (envelope, ok) = (&transaction.envelope, receipt.succeeded());
    let method = request.render.method(envelope.to(), envelope.input());
    let id = envelope.input().first_chunk::<4>();
    let members = [
        ("from", text(transaction.sender)),
        ("to", envelope.to().map(text).unwrap_or_default()),
        ("contractAddress", transaction.creates().map(text).unwrap_or_default()),
        ("value", envelope.value().to_string()),
        ("input", hex::encode_prefixed(envelope.input())),
        ("isError", if ok { "0" } else { "1" }.to_owned()),
        ("txreceipt_status", if ok { "1" } else { "0" }.to_owned()),
        ("methodId", id.map_or("0x".to_owned(), hex::encode_prefixed)),
        ("functionName", method.filter(|name| !name.starts_with("0x")).unwrap_or_default()),
    ];
    let mut entry = beginning(request, block, index);
    entry.extend(members.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))));
    Some(Value::Object(entry))
}

fn internal(request: &Request<'_>) -> Outcome {
    let reader = request.render.reader;
    let mut range = request.range()?;
    let address = match request.query.address {
        Some(_) => Some(request.address()?),
        None => None,
    };
    if request.query.hash.is_some() {
        let hash = request.hash()?;
        let Some((block, index)) = reader.transaction(hash) else {
            return Err(Refusal::Empty("No internal transactions found"));
        };
        let start = |index: usize| Position { block: block.number(), index: index as u32, part: 0 };
        range = PositionRange { from: start(index), before: start(index + 1), ..range };
    }
    let page = reader.internal_calls(address.filter(|_| request.query.hash.is_none()), &range)?;
    let items = page.items.iter().filter_map(|InternalPosition { position, call }| {
        let block = reader.block(position.block)?;
        let created = call.to.filter(|_| creates(call.kind));
        Some(json!({
            "blockNumber": position.block.to_string(),
            "timeStamp": block.header.timestamp.to_string(),
            "hash": block.transactions.get(position.index as usize)?.hash().to_string(),
            "transactionHash": block.transactions.get(position.index as usize)?.hash().to_string(),
            "from": text(call.from),
            "to": call.to.filter(|_| created.is_none()).map(text).unwrap_or_default(),
            "contractAddress": created.map(text).unwrap_or_default(),
            "value": call.value.to_string(),
            "input": "",
            "type": call_kind(call.kind),
            "callType": call_kind(call.kind),
            "gas": call.gas.to_string(),
            "gasUsed": call.gas_used.to_string(),
            "traceId": position.part.to_string(),
            "index": position.part.to_string(),
            "isError": if call.error.is_some() { "1" } else { "0" },
            "errCode": call.error.clone().unwrap_or_default(),
        }))
    });
    list(items.collect(), "No internal transactions found")
}

fn transfers(request: &Request<'_>, kind: TokenKind) -> Outcome {
    let reader = request.render.reader;
    let token = request.optional_contract()?;
    let address = match (&request.query.address, token) {
        (None, Some(_)) => None,
        _ => Some(request.address()?),
    };
    let role = TransferRole { side: None, token, kinds: vec![kind] };
    let page = reader.transfers(address, &role, &request.range()?)?;
    let (mut items, mut finder) = (Vec::new(), TransferFinder::default());
    for position in page.items {
        let Some(block) = reader.block(position.block) else { continue };
        let Some((at, transfer)) = finder.find(&block, position).filter(|(_, transfer)| transfer.kind == kind) else {
            continue;
        };
        let token = reader.token(transfer.token)?;
        let token = token.as_ref();
        let index = at.transaction_index as usize;
        let mut entry = beginning(request, &block, index);
        let decimals = token.and_then(|token| token.decimals).unwrap_or_default();
        let amount = match kind {
            TokenKind::Erc20 => ("value", transfer.amount.to_string()),
            TokenKind::Erc721 => ("tokenID", transfer.id.unwrap_or_default().to_string()),
            TokenKind::Erc1155 => ("tokenValue", transfer.amount.to_string()),
        };
        let members = [
            ("from", text(transfer.from)),
            ("to", text(transfer.to)),
            ("contractAddress", text(transfer.token)),
            ("tokenName", token.and_then(|token| token.name.clone()).unwrap_or_default()),
            ("tokenSymbol", token.and_then(|token| token.symbol.clone()).unwrap_or_default()),
            ("tokenDecimal", decimals.to_string()),
            ("logIndex", at.log_index.to_string()),
            ("input", "deprecated".to_owned()),
            amount,
        ];
        entry.extend(members.into_iter().map(|(name, value)| (name.to_owned(), Value::String(value))));
        if kind == TokenKind::Erc1155 {
            entry.insert("tokenID".to_owned(), json!(transfer.id.unwrap_or_default().to_string()));
        }
        items.push(Value::Object(entry));
    }
    list(items, "No token transfers found")
}

fn token_balance(request: &Request<'_>) -> Outcome {
    let (token, address) = (request.contract()?, request.address()?);
    Ok(json!(request.render.reader.balance(address, token, alloy_primitives::U256::ZERO)?.to_string()))
}

fn tokens(request: &Request<'_>) -> Outcome {
    let reader = request.render.reader;
    let mut items = Vec::new();
    for owned in reader.owned_tokens(request.address()?, &[], None, MAX_TOKENS)? {
        let token = reader.token(owned.token)?;
        let token = token.as_ref();
        let mut entry = json!({
            "balance": owned.balance.to_string(),
            "contractAddress": text(owned.token),
            "name": token.and_then(|token| token.name.clone()).unwrap_or_default(),
            "symbol": token.and_then(|token| token.symbol.clone()).unwrap_or_default(),
            "decimals": token.and_then(|token| token.decimals).map(|decimals| decimals.to_string()).unwrap_or_default(),
            "type": owned.kind.name(),
        });
        if let Some(id) = owned.id {
            entry["id"] = json!(id.to_string());
        }
        items.push(entry);
    }
    list(items, "No tokens found")
}

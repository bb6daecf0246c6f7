//! The module `account`.

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, hex};
use serde_json::{Map, Value, json};
use tetrad_primitives::block::{Block, LogPosition};
use tetrad_web::RestError;

use super::{Action, AnyText, ListWriter, Outcome, Refusal, Request, complete, text as text_of};
use crate::{
    explorer::render::{TransferFinder, call_kind, creates},
    index::{
        CallFilter, InternalPosition, PositionRange, TokenKind, TokenRecord, TokenTransfer,
        TransferRole,
    },
};

/// The most addresses of a request for several balances.
const MAX_ADDRESSES: usize = 20;

/// The most tokens of a list.
const MAX_TOKENS: usize = 1_000;

/// The parameters of lists, beside those of a single one.
macro_rules! list_parameters {
    ($($own:literal),+) => {
        &[
            $($own,)+
            "startblock", "endblock", "start_timestamp", "starttimestamp", "end_timestamp", "endtimestamp", "filter_by",
            "filterby", "page", "offset", "sort",
        ]
    };
}

const TRANSACTIONS: &[&str] = list_parameters!("address");
const INTERNAL: &[&str] = list_parameters!("address", "txhash", "include_zero_value");
const TRANSFERS: &[&str] = list_parameters!("address", "contractaddress");

pub(super) const ACTIONS: &[Action] = &[
    Action::value("account", "balance", &["address", "tag"], balance),
    Action::value("account", "balancemulti", &["address", "tag"], balances),
    Action::value(
        "account",
        "eth_get_balance",
        &["address", "tag", "block"],
        hex_balance,
    ),
    Action::list(
        "account",
        "txlist",
        TRANSACTIONS,
        transactions,
        "No transactions found",
    ),
    Action::list(
        "account",
        "txlistinternal",
        INTERNAL,
        internal,
        "No internal transactions found",
    ),
    Action::list(
        "account",
        "tokentx",
        TRANSFERS,
        fungible,
        "No token transfers found",
    ),
    Action::list(
        "account",
        "tokennfttx",
        TRANSFERS,
        unique,
        "No token transfers found",
    ),
    Action::list(
        "account",
        "token1155tx",
        TRANSFERS,
        multiple,
        "No token transfers found",
    ),
    Action::value(
        "account",
        "tokenbalance",
        &["contractaddress", "address", "tag"],
        token_balance,
    ),
    Action::list(
        "account",
        "tokenlist",
        &["address"],
        tokens,
        "No tokens found",
    ),
];

fn wei(request: &Request<'_>, address: Address) -> Result<alloy_primitives::U256, Refusal> {
    let balance = request.render.view().state.balance(address);
    balance.map_err(|error| Refusal::Node(RestError::Internal(error.to_string())))
}

/// The addresses of a request, separated by commas.
fn addresses(request: &Request<'_>) -> Result<Vec<Address>, Refusal> {
    let Some(AnyText(text)) = &request.query.address else {
        return request.address().map(|address| vec![address]);
    };

    let all = text
        .split(',')
        .filter(|text| !text.is_empty())
        .map(|text| request.parse_address(text.trim()))
        .collect::<Result<Vec<_>, _>>()?;
    match all.len() {
        0 => Err(Refusal::failed("Query parameter 'address' is required")),
        1..=MAX_ADDRESSES => Ok(all),
        _ => Err(Refusal::failed(format!(
            "Error! At most {MAX_ADDRESSES} addresses"
        ))),
    }
}

fn hex_balance(request: &Request<'_>) -> Outcome {
    request.check_newest()?;
    Ok(json!(format!("{:#x}", wei(request, request.address()?)?)))
}

fn balance(request: &Request<'_>) -> Outcome {
    request.check_newest()?;
    match addresses(request)?[..] {
        [address] => Ok(json!(wei(request, address)?.to_string())),
        _ => balances(request),
    }
}

fn balances(request: &Request<'_>) -> Outcome {
    request.check_newest()?;

    let mut entries = Vec::new();
    for address in addresses(request)? {
        entries.push(json!({
            "account": text(address),
            "balance": wei(request, address)?.to_string(),
            "stale": false,
        }));
    }
    Ok(Value::Array(entries))
}

/// Addresses are in lower case, as Etherscan writes them.
fn text(address: Address) -> String {
    hex::encode_prefixed(address)
}

/// Members of an entry whose values are texts.
fn members<const N: usize>(texts: [(&str, String); N]) -> impl Iterator<Item = (String, Value)> {
    texts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Value::String(value)))
}

/// The members that every entry of a list begins with.
fn beginning(request: &Request<'_>, block: &Block, index: usize) -> Map<String, Value> {
    let transaction = &block.transactions[index];
    let confirmations = request
        .render
        .reader
        .head
        .number()
        .saturating_sub(block.number())
        + 1;

    members([
        ("blockNumber", block.number().to_string()),
        ("blockHash", block.hash.to_string()),
        ("timeStamp", block.header.timestamp.to_string()),
        ("hash", transaction.hash().to_string()),
        ("nonce", transaction.envelope.nonce().to_string()),
        ("transactionIndex", index.to_string()),
        ("gas", transaction.envelope.gas_limit().to_string()),
        (
            "gasPrice",
            transaction
                .effective_gas_price(block.header.base_fee_per_gas)
                .to_string(),
        ),
        ("gasUsed", block.receipts[index].gas_used.to_string()),
        (
            "cumulativeGasUsed",
            block.receipts[index].cumulative_gas_used.to_string(),
        ),
        ("confirmations", confirmations.to_string()),
    ])
    .collect()
}

fn transactions(request: &Request<'_>, list: &mut ListWriter) -> Result<(), Refusal> {
    let reader = request.render.reader;
    let range = request.range()?;
    let found = reader.transactions(request.address()?, request.side()?, &range)?;
    for position in complete(found, range.limit)? {
        let Some(block) = reader.block(position.block) else {
            continue;
        };
        if let Some(item) = transaction(request, &block, position.index as usize) {
            list.push(&item)?;
        }
    }
    Ok(())
}

fn transaction(request: &Request<'_>, block: &Block, index: usize) -> Option<Value> {
    let transaction = block.transactions.get(index)?;
    let receipt = block.receipts.get(index)?;
    let envelope = &transaction.envelope;
    let ok = receipt.succeeded();
    let method = request.render.method(envelope.to(), envelope.input());
    let id = envelope.input().first_chunk::<4>();

    let mut entry = beginning(request, block, index);
    entry.extend(members([
        ("from", text(transaction.sender)),
        ("to", envelope.to().map(text).unwrap_or_default()),
        (
            "contractAddress",
            transaction.creates().map(text).unwrap_or_default(),
        ),
        ("value", envelope.value().to_string()),
        ("input", hex::encode_prefixed(envelope.input())),
        ("isError", if ok { "0" } else { "1" }.to_owned()),
        ("txreceipt_status", if ok { "1" } else { "0" }.to_owned()),
        ("methodId", id.map_or("0x".to_owned(), hex::encode_prefixed)),
        (
            "functionName",
            method
                .filter(|name| !name.starts_with("0x"))
                .unwrap_or_default(),
        ),
    ]));
    Some(Value::Object(entry))
}

fn internal(request: &Request<'_>, list: &mut ListWriter) -> Result<(), Refusal> {
    let reader = request.render.reader;
    let mut range = request.range()?;
    let mut address = match request.query.address {
        Some(_) => Some(request.address()?),
        None => None,
    };

    let side = request.side()?;
    if side.is_some() && address.is_none() {
        return Err(Refusal::failed(
            "Query parameter 'filter_by' requires 'address'",
        ));
    }

    // Clients that give both mean the transaction. Only a filter needs the address.
    if request.query.hash.is_some() {
        let Some((block, index)) = reader.transaction(request.hash()?) else {
            return Ok(());
        };
        let own =
            PositionRange::of_transactions(block.number(), Some(index), range.order, range.limit);
        range = PositionRange {
            skip: range.skip,
            from: own.from.max(range.from),
            before: own.before.min(range.before),
            ..own
        };
        address = address.filter(|_| side.is_some());
    }

    let only_with_value = match text_of(&request.query.with_zero_value) {
        None | Some("false") => true,
        Some("true") => false,
        Some(_) => {
            return Err(Refusal::failed(
                "Error! Invalid include_zero_value: expected true or false",
            ));
        }
    };
    let filter = CallFilter {
        side,
        only_with_value,
        ..CallFilter::default()
    };

    let found = reader.internal_calls(address, &filter, &range)?;
    for found in complete(found, range.limit)? {
        if let Some(item) = internal_call(request, &found) {
            list.push(&item)?;
        }
    }
    Ok(())
}

fn internal_call(
    request: &Request<'_>,
    InternalPosition { position, call }: &InternalPosition,
) -> Option<Value> {
    let block = request.render.reader.block(position.block)?;
    let hash = block
        .transactions
        .get(position.index as usize)?
        .hash()
        .to_string();
    let created = call.to.filter(|_| creates(call.kind));

    Some(json!({
        "blockNumber": position.block.to_string(),
        "timeStamp": block.header.timestamp.to_string(),
        "hash": hash,
        "transactionHash": hash,
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
}

fn fungible(request: &Request<'_>, list: &mut ListWriter) -> Result<(), Refusal> {
    transfers(request, TokenKind::Erc20, list)
}

fn unique(request: &Request<'_>, list: &mut ListWriter) -> Result<(), Refusal> {
    transfers(request, TokenKind::Erc721, list)
}

fn multiple(request: &Request<'_>, list: &mut ListWriter) -> Result<(), Refusal> {
    transfers(request, TokenKind::Erc1155, list)
}

fn transfers(request: &Request<'_>, kind: TokenKind, list: &mut ListWriter) -> Result<(), Refusal> {
    let reader = request.render.reader;
    let token = request.optional_contract()?;
    let address = match (&request.query.address, token) {
        // With a contract alone, all of its transfers are listed.
        (None, Some(_)) => None,
        _ => Some(request.address()?),
    };
    let role = TransferRole {
        side: request.side()?,
        token,
        kinds: vec![kind],
    };
    if role.side.is_some() && address.is_none() {
        return Err(Refusal::failed(
            "Query parameter 'filter_by' requires 'address'",
        ));
    }

    let range = request.range()?;
    let found = reader.transfers(address, &role, &range)?;
    let mut finder = TransferFinder::default();
    for position in complete(found, range.limit)? {
        let Some(block) = reader.block(position.block) else {
            continue;
        };
        let Some((at, transfer)) = finder.find(&block, position) else {
            continue;
        };
        let token = reader.token(transfer.token)?;
        list.push(&transfer_entry(
            request,
            &block,
            &at,
            &transfer,
            token.as_ref(),
        ))?;
    }
    Ok(())
}

fn transfer_entry(
    request: &Request<'_>,
    block: &Block,
    at: &LogPosition<'_>,
    transfer: &TokenTransfer,
    token: Option<&TokenRecord>,
) -> Map<String, Value> {
    let id = transfer.id.unwrap_or_default().to_string();
    let amount = match transfer.kind {
        TokenKind::Erc20 => ("value", transfer.amount.to_string()),
        TokenKind::Erc721 => ("tokenID", id.clone()),
        TokenKind::Erc1155 => ("tokenValue", transfer.amount.to_string()),
    };
    let name = token.and_then(|token| token.name.clone());
    let symbol = token.and_then(|token| token.symbol.clone());
    let decimals = token.and_then(|token| token.decimals).unwrap_or_default();

    let mut entry = beginning(request, block, at.transaction_index as usize);
    entry.extend(members([
        ("from", text(transfer.from)),
        ("to", text(transfer.to)),
        ("contractAddress", text(transfer.token)),
        ("tokenName", name.unwrap_or_default()),
        ("tokenSymbol", symbol.unwrap_or_default()),
        ("tokenDecimal", decimals.to_string()),
        ("logIndex", at.log_index.to_string()),
        // Etherscan's own word.
        ("input", "deprecated".to_owned()),
        amount,
    ]));
    if transfer.kind == TokenKind::Erc1155 {
        entry.insert("tokenID".to_owned(), json!(id));
    }
    entry
}

fn token_balance(request: &Request<'_>) -> Outcome {
    request.check_newest()?;
    let token = request.contract()?;
    let address = request.address()?;
    Ok(json!(
        request
            .render
            .reader
            .balance(address, token, alloy_primitives::U256::ZERO)?
            .to_string()
    ))
}

fn tokens(request: &Request<'_>, list: &mut ListWriter) -> Result<(), Refusal> {
    let reader = request.render.reader;
    let address = request.address()?;
    let found = reader.owned_tokens(address, &[], None, MAX_TOKENS + 1)?;

    // The list has no pages, and a shorter one would look complete.
    if found.items.len() > MAX_TOKENS {
        return Err(Refusal::failed(format!(
            "Error! The address has more than {MAX_TOKENS} tokens: /api/v2/addresses/{address}/tokens has pages"
        )));
    }

    for owned in found.items {
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
        list.push(&entry)?;
    }
    Ok(())
}

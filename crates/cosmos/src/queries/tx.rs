//! Transactions: sending, simulating and finding them.

use alloy_primitives::{B256, hex};
use prost::Message;
use prost_reflect::DynamicMessage;
use serde_json::{Value, json};
use tetrad_stdx::text::excerpt;
use tetrad_web::in_turn;

use super::{
    LaterCall, Query, TxList, Unwritten, later, number_in,
    page::{DEFAULT_LIMIT, MAX_LIMIT, PageRequest},
};
use crate::{
    blocks::{HashEncoding, block_with_id},
    error::GatewayError,
    event_query::EventQuery,
    tx::TxOutcome,
    tx_lookup::{SearchPage, is_long_search},
};

pub(super) const QUERIES: &[Query] = &[
    later(
        "cosmos.tx.v1beta1.Service/BroadcastTx",
        |call| Box::pin(broadcast(call)),
        "Sends a transaction.",
    ),
    later(
        "cosmos.tx.v1beta1.Service/GetBlockWithTxs",
        |call| Box::pin(block_with_transactions(call)),
        "A block with its transactions decoded.",
    ),
    later(
        "cosmos.tx.v1beta1.Service/GetTx",
        |call| Box::pin(transaction(call)),
        "A transaction in a block.",
    ),
    later(
        "cosmos.tx.v1beta1.Service/GetTxsEvent",
        |call| Box::pin(transactions(call)),
        "Transactions by their events: `tx.height`, `message.sender`, `transfer.recipient` and others.",
    ),
    later(
        "cosmos.tx.v1beta1.Service/Simulate",
        |call| Box::pin(simulate(call)),
        "The gas that a transaction needs.",
    ),
];

/// `BROADCAST_MODE_ASYNC`.
const ASYNC: i32 = 3;
/// `ORDER_BY_DESC`.
const DESCENDING: i32 = 2;

async fn broadcast(call: LaterCall) -> Result<Unwritten, GatewayError> {
    let raw = call.bytes("tx_bytes");
    if raw.is_empty() {
        return Err(GatewayError::InvalidArgument("invalid empty tx".to_owned()));
    }

    let mode = call
        .request
        .get_field_by_name("mode")
        .and_then(|value| value.as_enum_number());
    let call = call.responder();
    let outcome = match mode {
        // `BROADCAST_MODE_BLOCK` is deprecated, and counts as `BROADCAST_MODE_SYNC`.
        Some(1 | 2) => call.gateway.broadcast_tx(&raw).await,
        Some(ASYNC) => call.gateway.broadcast_tx_unchecked(&raw).await,
        _ => {
            let what = "unsupported return type unspecified; supported types: sync, async";
            return Err(GatewayError::InvalidArgument(what.to_owned()));
        }
    };
    Ok(call.message(move || Ok(json!({ "tx_response": pending(&outcome) }))))
}

/// `TxResponse` of a transaction that is not yet in a block.
fn pending(outcome: &TxOutcome) -> Value {
    json!({
        "txhash": hex::encode_upper(outcome.hash),
        "codespace": outcome.codespace(),
        "code": outcome.code(),
        "raw_log": outcome.log(),
        "gas_wanted": outcome.gas_wanted.to_string(),
    })
}

/// Simulates a transaction in bytes or, which is deprecated, as a message: that has the same
/// encoding.
async fn simulate(call: LaterCall) -> Result<Unwritten, GatewayError> {
    let mut raw = call.bytes("tx_bytes");
    if raw.is_empty()
        && let Some(tx) = call.request.get_field_by_name("tx")
        && let Some(tx) = tx.as_message()
    {
        raw = tx.encode_to_vec().into();
    }
    if raw.is_empty() {
        return Err(GatewayError::InvalidArgument(
            "empty txBytes is not allowed".to_owned(),
        ));
    }

    let call = call.responder();
    let gateway = call.gateway.clone();
    let (gas_wanted, gas_used) = in_turn(move || {
        let simulated = gateway.simulate_tx(&raw);
        simulated.map_err(|error| {
            // The SDK's own words.
            GatewayError::Unknown(format!("{error}: With gas wanted: '0' and gas used: '0' "))
        })
    })
    .await?;
    Ok(call.message(move || {
        let gas = json!({ "gas_wanted": gas_wanted.to_string(), "gas_used": gas_used.to_string() });
        Ok(json!({ "gas_info": gas, "result": {} }))
    }))
}

async fn transaction(call: LaterCall) -> Result<Unwritten, GatewayError> {
    let text = call.text("hash");
    let hash = hex::decode(&text)
        .ok()
        .and_then(|hash| B256::try_from(hash.as_slice()).ok());
    let Some(hash) = hash else {
        let text = excerpt(&text, 70);
        let what = format!("invalid transaction hash {text:?}: expected 64 hex digits");
        return Err(GatewayError::InvalidArgument(what));
    };
    Ok(call.responder().txs(false, move |call| {
        let found = call.gateway.tx(hash);
        let found = found.ok_or_else(|| GatewayError::NotFound(format!("tx not found: {text}")))?;
        let rest = call.response(|| Ok(json!({})))?;
        let places = Box::new(std::iter::once(Ok(found)));
        Ok(TxList {
            gateway: call.gateway,
            rest,
            txs: "tx",
            results: Some("tx_response"),
            places,
        })
    }))
}

/// Transactions by their events.
async fn transactions(call: LaterCall) -> Result<Unwritten, GatewayError> {
    let text = match call.text("query") {
        // The older form of the request is a list of conditions.
        query if query.is_empty() => texts_in(&call.request, "events").join(" AND "),
        query => query,
    };
    if text.is_empty() {
        return Err(GatewayError::InvalidArgument(
            "query cannot be empty".to_owned(),
        ));
    }

    let query = EventQuery::parse(&text).map_err(GatewayError::InvalidArgument)?;

    let limit = match number_in(&call.request, "limit") {
        0 => DEFAULT_LIMIT,
        limit => limit.min(MAX_LIMIT),
    };
    let skip = number_in(&call.request, "page")
        .saturating_sub(1)
        .saturating_mul(limit);

    let order = call
        .request
        .get_field_by_name("order_by")
        .and_then(|order| order.as_enum_number());
    let page = SearchPage {
        skip: usize::try_from(skip).unwrap_or(usize::MAX),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        newest_first: order == Some(DESCENDING),
    };

    Ok(call.responder().txs(is_long_search(&query), move |call| {
        let found = call.gateway.search_txs(&query, page)?;
        let rest = call.response(|| Ok(json!({ "total": found.total.to_string() })))?;
        let places = Box::new(found.into_places());
        Ok(TxList {
            gateway: call.gateway,
            rest,
            txs: "txs",
            results: Some("tx_responses"),
            places,
        })
    }))
}

/// A block with its transactions decoded.
async fn block_with_transactions(call: LaterCall) -> Result<Unwritten, GatewayError> {
    let height = number_in(&call.request, "height");
    let page = PageRequest::of(&call.request);
    Ok(call.responder().txs(true, move |call| {
        let gateway = &call.gateway;
        let block = gateway.block(&gateway.chain.head(), height)?;
        let total = block.transactions.len();
        let rest = call.response(|| {
            let mut body = block_with_id(&block, &gateway.node, HashEncoding::Gateway)?;
            body["pagination"] = json!({ "total": total.to_string() });
            Ok(body)
        })?;

        let first = usize::try_from(page.offset).unwrap_or(usize::MAX);
        let of_page = (first..total).take(usize::try_from(page.limit).unwrap_or(usize::MAX));
        let places = Box::new(of_page.map(move |index| Ok((block.clone(), index))));
        Ok(TxList {
            gateway: call.gateway,
            rest,
            txs: "txs",
            results: None,
            places,
        })
    }))
}

/// The texts in a list; none without one.
fn texts_in(message: &DynamicMessage, name: &str) -> Vec<String> {
    let list = message.get_field_by_name(name);
    let items = list
        .as_ref()
        .and_then(|list| list.as_list())
        .unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}

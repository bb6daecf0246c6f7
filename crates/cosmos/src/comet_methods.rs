//! The methods of CometBFT, registered once for JSON-RPC over HTTP and WebSocket and for `GET`.

use alloy_primitives::hex;
use base64ct::{Base64, Encoding};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tetrad_primitives::block::Block;
use tetrad_stdx::{calendar::rfc3339, text::excerpt};
use tetrad_web::{
    self, Answer, AnswerError, AnswerWriter, ExecutionFailed, MAX_ANSWER, in_part,
    json_rpc::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND},
};

use super::{
    Gateway, MAX_LIST_BYTES, abci_query,
    blocks::{HashEncoding, block_with_id, header},
    comet_call::{CometCall, CometFailure, CometType, block_at},
    comet_params::{CometParams, read_id},
    comet_tx,
    error::GatewayError,
    event_query::EventQuery,
    tx_lookup::{FoundTx, SearchPage, is_long_search},
    tx_result::TxResult,
};

/// Most headers in one response of `blockchain`, as in CometBFT.
const MAX_HEADERS: u64 = 20;

use CometType::{Bytes, Flag, Hex, Number, Text};

/// A method with the names and types of its parameters, in their order.
pub(super) struct CometMethod {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [(&'static str, CometType)],
    run: CometHandler,
}

/// The implementation of a method.
#[derive(Clone, Copy)]
enum CometHandler {
    /// Reads the chain.
    Now(fn(&CometCall) -> Result<Value, CometFailure>),
    /// May wait, as for the block of a transaction.
    Later(fn(CometCall) -> BoxFuture<'static, Result<Value, CometFailure>>),
    /// Writes its own response, as item by item, or after it waited.
    Written(fn(CometCall) -> BoxFuture<'static, Result<Answer, CometFailure>>),
}

const ABCI_QUERY: &[(&str, CometType)] = &[
    ("path", Text),
    ("data", Hex),
    ("height", Number),
    ("prove", Flag),
];
const HEIGHT: &[(&str, CometType)] = &[("height", Number)];
const HASH: &[(&str, CometType)] = &[("hash", Bytes)];
const SEARCH: &[(&str, CometType)] = &[
    ("query", Text),
    ("page", Number),
    ("per_page", Number),
    ("order_by", Text),
];
const TX_SEARCH: &[(&str, CometType)] = &[
    ("query", Text),
    ("prove", Flag),
    ("page", Number),
    ("per_page", Number),
    ("order_by", Text),
];
const TX: &[(&str, CometType)] = &[("tx", Bytes)];

/// The methods of all transports. None of them is a method of an Ethereum node.
pub(super) const METHODS: &[CometMethod] = &[
    method("abci_info", &[], abci_info),
    written("abci_query", ABCI_QUERY, |call| Box::pin(abci_query(call))),
    method("block", HEIGHT, block),
    method("block_by_hash", HASH, block_by_hash),
    written("block_results", HEIGHT, |call| {
        Box::pin(in_long_turn(move || block_results(&call)))
    }),
    written("block_search", SEARCH, |call| {
        Box::pin(in_long_turn(move || block_search(&call)))
    }),
    method(
        "blockchain",
        &[("minHeight", Number), ("maxHeight", Number)],
        blockchain,
    ),
    later("broadcast_tx_async", TX, |call| {
        Box::pin(comet_tx::broadcast_async(call))
    }),
    later("broadcast_tx_commit", TX, |call| {
        Box::pin(comet_tx::broadcast_commit(call))
    }),
    later("broadcast_tx_sync", TX, |call| {
        Box::pin(comet_tx::broadcast_sync(call))
    }),
    method("check_tx", TX, comet_tx::check),
    method("commit", HEIGHT, commit),
    method("consensus_params", HEIGHT, consensus_params_at),
    method("genesis", &[], genesis),
    method("header", HEIGHT, header_at),
    method("header_by_hash", HASH, header_by_hash),
    method("health", &[], |_| Ok(json!({}))),
    method("net_info", &[], net_info),
    method("num_unconfirmed_txs", &[], unconfirmed_txs),
    method("status", &[], |call| {
        Ok(call.gateway.node.status(&call.head))
    }),
    method("tx", &[("hash", Bytes), ("prove", Flag)], tx),
    written("tx_search", TX_SEARCH, |call| Box::pin(tx_search(call))),
    method("unconfirmed_txs", &[("limit", Number)], unconfirmed_txs),
    method(
        "validators",
        &[("height", Number), ("page", Number), ("per_page", Number)],
        validators,
    ),
];

const fn method(
    name: &'static str,
    parameters: &'static [(&'static str, CometType)],
    run: fn(&CometCall) -> Result<Value, CometFailure>,
) -> CometMethod {
    CometMethod {
        name,
        parameters,
        run: CometHandler::Now(run),
    }
}

const fn later(
    name: &'static str,
    parameters: &'static [(&'static str, CometType)],
    run: fn(CometCall) -> BoxFuture<'static, Result<Value, CometFailure>>,
) -> CometMethod {
    CometMethod {
        name,
        parameters,
        run: CometHandler::Later(run),
    }
}

const fn written(
    name: &'static str,
    parameters: &'static [(&'static str, CometType)],
    run: fn(CometCall) -> BoxFuture<'static, Result<Answer, CometFailure>>,
) -> CometMethod {
    CometMethod {
        name,
        parameters,
        run: CometHandler::Written(run),
    }
}

/// A request of JSON-RPC.
#[derive(Deserialize)]
pub(super) struct CometRequest {
    #[serde(default, deserialize_with = "read_id")]
    pub(super) id: Value,
    pub(super) method: String,
    #[serde(default)]
    pub(super) params: CometParams,
}

/// The method with a name.
pub(super) fn find(name: &str) -> Option<&'static CometMethod> {
    METHODS.iter().find(|method| method.name == name)
}

/// The result of a request, as JSON.
pub(super) async fn call(gateway: &Gateway, request: CometRequest) -> Result<Answer, CometFailure> {
    let Some(method) = find(&request.method) else {
        return Err((
            METHOD_NOT_FOUND,
            format!("no method {:?}", excerpt(&request.method, 50)),
        ));
    };

    let call = CometCall {
        gateway: gateway.clone(),
        head: gateway.chain.head(),
        parameters: method.parameters,
        params: request.params,
    };

    match method.run {
        CometHandler::Now(run) => in_turn(move || json_of(&run(&call)?)).await,
        CometHandler::Later(run) => json_of(&run(call).await?),
        CometHandler::Written(run) => run(call).await,
    }
}

/// The JSON of a result.
fn json_of(result: &Value) -> Result<Answer, CometFailure> {
    Answer::json(result).map_err(does_not_fit)
}

/// The failure of a request whose result does not fit.
fn does_not_fit(error: AnswerError) -> CometFailure {
    (INTERNAL_ERROR, error.to_string())
}

/// Runs `work` in the turn of the client.
async fn in_turn<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, CometFailure> + Send + 'static,
) -> Result<R, CometFailure> {
    let ran = tetrad_web::in_turn(move || Ok::<_, ExecutionFailed>(work())).await;
    ran.unwrap_or_else(|failed| Err((INTERNAL_ERROR, failed.to_string())))
}

/// Runs `work` in the turn of the client, among the work that takes long.
async fn in_long_turn<R: Send + 'static>(
    work: impl FnOnce() -> Result<R, CometFailure> + Send + 'static,
) -> Result<R, CometFailure> {
    let ran = tetrad_web::in_long_turn(move || Ok::<_, ExecutionFailed>(work())).await;
    ran.unwrap_or_else(|failed| Err((INTERNAL_ERROR, failed.to_string())))
}

/// The parameters of a `GET`, as JSON-RPC has them (`rpc/jsonrpc/server/http_uri_handler.go`).
/// Unknown ones are ignored.
pub(super) fn uri_params(
    method: &CometMethod,
    query: &[(String, String)],
) -> Result<CometParams, CometFailure> {
    let mut params = Map::new();
    for (name, kind) in method.parameters {
        let Some((_, text)) = query
            .iter()
            // CometBFT takes an empty parameter for an absent one.
            .find(|(given, text)| given == name && !text.is_empty())
        else {
            continue;
        };
        let value = uri_param(*kind, text)
            .map_err(|expected| (INVALID_PARAMS, format!("{name}: expected {expected}")))?;
        params.insert((*name).to_owned(), value);
    }
    Ok(CometParams::Named(params))
}

fn uri_param(kind: CometType, text: &str) -> Result<Value, &'static str> {
    // CometBFT takes text in double quotes as JSON, and digits after 0x as bytes.
    let quoted = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let bytes = || digits.and_then(|digits| hex::decode(digits).ok());

    match kind {
        Text => serde_json::from_str(text)
            .ok()
            .filter(Value::is_string)
            .ok_or("a text in double quotes"),
        Number => {
            let text = quoted.unwrap_or(text);
            text.parse::<u64>()
                .map(|_| text.into())
                .map_err(|_| "a number")
        }
        Flag => text.parse().map(Value::Bool).map_err(|_| "true or false"),
        Hex => match (bytes(), quoted) {
            (Some(bytes), _) => Ok(hex::encode(bytes).into()),
            (None, Some(text)) => Ok(text.into()),
            (None, None) => Err("0x with hex digits, or hex digits in double quotes"),
        },
        Bytes => match (bytes(), quoted) {
            (Some(bytes), _) => Ok(Base64::encode_string(&bytes).into()),
            (None, Some(text)) => Ok(Base64::encode_string(text.as_bytes()).into()),
            (None, None) => Err("0x with hex digits, or the bytes in double quotes"),
        },
    }
}

fn net_info(_: &CometCall) -> Result<Value, CometFailure> {
    Ok(json!({ "listening": true, "listeners": [], "n_peers": "0", "peers": [] }))
}

fn genesis(call: &CometCall) -> Result<Value, CometFailure> {
    Ok(json!({ "genesis": {
        "genesis_time": rfc3339(call.head.genesis.header.timestamp),
        "chain_id": call.gateway.node.chain_id,
        "initial_height": "1",
        "consensus_params": consensus_params(&call.head.block),
        "validators": [],
        "app_hash": "",
        "app_state": {},
    } }))
}

fn abci_info(call: &CometCall) -> Result<Value, CometFailure> {
    Ok(json!({ "response": {
        "data": "tetrad",
        "version": env!("CARGO_PKG_VERSION"),
        "app_version": "0",
        "last_block_height": call.head.number().to_string(),
        "last_block_app_hash": Base64::encode_string(call.head.block.header.state_root.as_slice()),
    } }))
}

async fn abci_query(call: CometCall) -> Result<Answer, CometFailure> {
    let data = hex::decode(call.text("data")?).map(Into::into);
    let data = data.map_err(|_| GatewayError::InvalidArgument("data is not hex".to_owned()));
    let height = call.number("height")?.unwrap_or(0);
    let answer = abci_query::answer(&call.gateway, call.text("path")?, data, height).await;
    in_turn(move || json_of(&json!({ "response": answer.json().map_err(does_not_fit)? }))).await
}

fn block(call: &CometCall) -> Result<Value, CometFailure> {
    block_with_id(&*call.block()?, &call.gateway.node, HashEncoding::Comet).map_err(does_not_fit)
}

fn block_by_hash(call: &CometCall) -> Result<Value, CometFailure> {
    Ok(match call.block_by_hash()? {
        Some(block) => {
            block_with_id(&block, &call.gateway.node, HashEncoding::Comet).map_err(does_not_fit)?
        }
        None => {
            json!({ "block_id": { "hash": "", "parts": { "total": 0, "hash": "" } }, "block": null })
        }
    })
}

fn header_at(call: &CometCall) -> Result<Value, CometFailure> {
    Ok(json!({ "header": header(&*call.block()?, &call.gateway.node, HashEncoding::Comet) }))
}

fn header_by_hash(call: &CometCall) -> Result<Value, CometFailure> {
    let header = call
        .block_by_hash()?
        .map(|block| header(&block, &call.gateway.node, HashEncoding::Comet));
    Ok(json!({ "header": header }))
}

fn commit(call: &CometCall) -> Result<Value, CometFailure> {
    let block = call.block()?;
    let commit = json!({
        "height": block.number().to_string(),
        "round": 0,
        "block_id": HashEncoding::Comet.block_id(block.hash),
        "signatures": [],
    });
    let header = header(&block, &call.gateway.node, HashEncoding::Comet);
    Ok(json!({ "signed_header": { "header": header, "commit": commit }, "canonical": true }))
}

fn consensus_params_at(call: &CometCall) -> Result<Value, CometFailure> {
    let block = call.block()?;
    Ok(
        json!({ "block_height": block.number().to_string(), "consensus_params": consensus_params(&block) }),
    )
}

fn validators(call: &CometCall) -> Result<Value, CometFailure> {
    Ok(
        json!({ "block_height": call.block()?.number().to_string(), "validators": [], "count": "0", "total": "0" }),
    )
}

fn unconfirmed_txs(_: &CometCall) -> Result<Value, CometFailure> {
    Ok(json!({ "n_txs": "0", "total": "0", "total_bytes": "0", "txs": [] }))
}

fn tx(call: &CometCall) -> Result<Value, CometFailure> {
    let hash = call.hash()?;
    let found = call.gateway.tx(hash);
    let found =
        found.and_then(|(block, index)| FoundTx::of(&block, index, &call.gateway.node.network));
    found.as_ref().map(result_tx).ok_or_else(|| {
        (
            INTERNAL_ERROR,
            format!("tx ({}) not found", hex::encode_upper(hash)),
        )
    })
}

/// `ResultTx`.
fn result_tx(found: &FoundTx) -> Value {
    json!({
        "hash": found.hash(),
        "height": found.block.number().to_string(),
        "index": found.index,
        "tx_result": found.result.comet(),
        "tx": Base64::encode_string(&found.raw),
    })
}

async fn tx_search(call: CometCall) -> Result<Answer, CometFailure> {
    let query = call.query()?;
    let page = call.page(false)?;

    if is_long_search(&query) {
        in_long_turn(move || list_txs(&call, &query, page)).await
    } else {
        in_turn(move || list_txs(&call, &query, page)).await
    }
}

/// `ResultTxSearch`.
fn list_txs(
    call: &CometCall,
    query: &EventQuery,
    page: SearchPage,
) -> Result<Answer, CometFailure> {
    let found = call
        .gateway
        .search_txs(query, page)
        .map_err(search_failed)?;
    call.check_page(page, found.total)?;

    let before = format!(r#"{{"total_count":"{}","txs":"#, found.total);
    let txs = found.into_places().filter_map(|place| match place {
        Ok((block, index)) => {
            FoundTx::of(&block, index, &call.gateway.node.network).map(|tx| Ok(result_tx(&tx)))
        }
        Err(error) => Some(Err(search_failed(error))),
    });
    write_list(MAX_LIST_BYTES, &before, txs, "}")
}

fn search_failed(error: GatewayError) -> CometFailure {
    (INTERNAL_ERROR, error.message().to_owned())
}

/// Writes a list between other JSON, at most `limit` bytes. Its items exist one after another.
fn write_list(
    limit: usize,
    before: &str,
    mut items: impl Iterator<Item = Result<Value, CometFailure>>,
    after: &str,
) -> Result<Answer, CometFailure> {
    let mut out = AnswerWriter::new(limit);
    out.push(before.as_bytes()).map_err(does_not_fit)?;

    let mut separator = "[";
    // An item counts until it is written.
    while in_part(|| write_item(&mut items, separator, &mut out))? {
        separator = ",";
    }

    let end = if separator == "[" { "[]" } else { "]" };
    out.push(end.as_bytes())
        .and_then(|()| out.push(after.as_bytes()))
        .map_err(does_not_fit)?;
    Ok(out.finish())
}

/// Writes the next item of a list. Returns false if there is none.
fn write_item(
    items: &mut impl Iterator<Item = Result<Value, CometFailure>>,
    separator: &str,
    out: &mut AnswerWriter,
) -> Result<bool, CometFailure> {
    let Some(item) = items.next() else {
        return Ok(false);
    };
    let item = item?;
    out.push(separator.as_bytes())
        .and_then(|()| out.json(&item))
        .map_err(does_not_fit)?;
    Ok(true)
}

/// Blocks have no events but their height.
fn block_search(call: &CometCall) -> Result<Answer, CometFailure> {
    let query = call.query()?;
    let page = call.page(true)?;
    let gateway = &call.gateway;
    let head = &call.head;

    let (least, greatest) = query.range("block.height");
    let first = least.max(gateway.chain.oldest(head));
    let last = greatest.min(head.number());
    // A condition on anything else matches no block.
    let is_of_height = query.keys().all(|key| key == "block.height");
    let total = if is_of_height {
        usize::try_from((last + 1).saturating_sub(first)).unwrap_or(usize::MAX)
    } else {
        0
    };
    call.check_page(page, total)?;

    let of_page = (page.skip..total).take(page.limit).map(|at| at as u64);
    let numbers = of_page.map(|at| {
        if page.newest_first {
            last - at
        } else {
            first + at
        }
    });
    let blocks = numbers.map(|number| {
        let block = block_at(gateway, head, number)?;
        block_with_id(&block, &gateway.node, HashEncoding::Comet).map_err(does_not_fit)
    });

    // There is no request for less than one block, which may be longer than other lists.
    write_list(
        MAX_ANSWER,
        r#"{"blocks":"#,
        blocks,
        &format!(r#","total_count":"{total}"}}"#),
    )
}

fn blockchain(call: &CometCall) -> Result<Value, CometFailure> {
    let gateway = &call.gateway;
    let head = &call.head;
    let newest = head.number();
    // Like CometBFT's `filterMinMax`: 0 sets no bound, and the newest headers win.
    let last = call
        .number("maxHeight")?
        .filter(|last| *last > 0)
        .unwrap_or(newest)
        .min(newest);
    let least = call.number("minHeight")?.unwrap_or(0);
    if least > last {
        return Err((
            INTERNAL_ERROR,
            format!("min height {least} can't be greater than max height {last}"),
        ));
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

/// Results of a block's transactions in CometBFT's form. Logs of contracts are left to the Ethereum
/// interface.
fn block_results(call: &CometCall) -> Result<Answer, CometFailure> {
    let block = call.block()?;
    let network = &call.gateway.node.network;
    let results =
        (0..block.transactions.len()).filter_map(|index| TxResult::of(&block, index, network));

    let app_hash = hex::encode_upper(block.header.state_root);
    let height = block.number();
    let before = format!(
        r#"{{"app_hash":"{app_hash}","consensus_param_updates":null,"finalize_block_events":[],"height":"{height}","txs_results":"#
    );
    // There is no request for less.
    write_list(
        MAX_ANSWER,
        &before,
        results.map(|result| Ok(result.comet())),
        r#","validator_updates":[]}"#,
    )
}

/// The limits of blocks as of one.
pub(super) fn consensus_params(block: &Block) -> Value {
    json!({
        "block": { "max_bytes": "22020096", "max_gas": block.header.gas_limit.to_string() },
        "evidence": { "max_age_num_blocks": "100000", "max_age_duration": "172800000000000", "max_bytes": "1048576" },
        "validator": { "pub_key_types": ["ed25519"] },
        "version": { "app": "0" },
        "abci": { "vote_extensions_enable_height": "0" },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_methods_are_not_those_of_ethereum() {
        assert!(METHODS.is_sorted_by(|a, b| a.name < b.name));
        assert!(
            find("status").is_some()
                && find("eth_chainId").is_none()
                && find("net_version").is_none()
        );
    }

    #[test]
    fn parameters_in_a_uri_are_written_as_in_cometbft() {
        for (kind, text, json) in [
            (Text, "\"/a \\\" b\"", json!("/a \" b")),
            (Number, "5", json!("5")),
            (Number, "\"5\"", json!("5")),
            (Flag, "true", json!(true)),
            (Hex, "0x0A05", json!("0a05")),
            (Hex, "\"0A05\"", json!("0A05")),
            (Bytes, "0x616263", json!("YWJj")),
            (Bytes, "\"abc\"", json!("YWJj")),
        ] {
            assert_eq!(uri_param(kind, text), Ok(json), "{kind:?} {text}");
        }
        for (kind, text) in [
            (Text, "a"),
            (Text, "5"),
            (Number, "-1"),
            (Number, "x"),
            (Flag, "1"),
            (Hex, "0a"),
            (Hex, "0x0"),
            (Bytes, "abc"),
        ] {
            assert!(uri_param(kind, text).is_err(), "{kind:?} {text}");
        }
    }
}

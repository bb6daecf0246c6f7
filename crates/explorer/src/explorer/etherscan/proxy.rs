//! The module `proxy`: requests of JSON-RPC as parameters of a query.

use serde_json::{Map, Value, json};
use tetrad_web::{Answer, RestError};

use super::{Action, AnyText, EtherscanQuery, text};
use crate::explorer::{parameters::Words, rest::Explorer};

/// The methods of JSON-RPC, whose names are the actions'.
pub(super) const ACTIONS: &[Action] = &[
    Action::proxy("eth_blockNumber", &[]),
    Action::proxy("eth_gasPrice", &[]),
    Action::proxy("eth_getBlockByNumber", &["tag", "boolean"]),
    Action::proxy("eth_getUncleByBlockNumberAndIndex", &["tag", "index"]),
    Action::proxy("eth_getTransactionByBlockNumberAndIndex", &["tag", "index"]),
    Action::proxy("eth_getBlockTransactionCountByNumber", &["tag"]),
    Action::proxy("eth_getTransactionByHash", &["txhash"]),
    Action::proxy("eth_getTransactionReceipt", &["txhash"]),
    Action::proxy("eth_getTransactionCount", &["address", "tag"]),
    Action::proxy("eth_getCode", &["address", "tag"]),
    Action::proxy("eth_getStorageAt", &["address", "position", "tag"]),
    Action::proxy("eth_sendRawTransaction", &["hex"]),
    Action::proxy("eth_call", CALL),
    Action::proxy("eth_estimateGas", CALL),
];

const CALL: &[&str] = &[
    "to",
    "from",
    "data",
    "value",
    "gas",
    "gasPrice",
    "maxFeePerGas",
    "maxPriorityFeePerGas",
    "nonce",
    "type",
    "tag",
];

/// Answers a request with the response of JSON-RPC.
pub(super) async fn answer(
    explorer: &Explorer,
    method: &str,
    query: &EtherscanQuery,
) -> Result<Answer, RestError> {
    let params = params(method, query);
    let request =
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    Ok((explorer.0.json_rpc)(request.into_bytes()).await)
}

/// A parameter of a query; null without it.
fn word(words: &Option<Words>) -> Value {
    text(words).map_or(Value::Null, |text| json!(text))
}

/// The same for a parameter of any length.
fn long(given: &Option<AnyText>) -> Value {
    given
        .as_ref()
        .map_or(Value::Null, |AnyText(text)| json!(text))
}

/// Returns the parameters of a method.
fn params(method: &str, query: &EtherscanQuery) -> Value {
    let tag = || json!(text(&query.tag).unwrap_or("latest"));
    match method {
        "eth_getBlockByNumber" => json!([tag(), text(&query.whole) == Some("true")]),
        "eth_getUncleByBlockNumberAndIndex" | "eth_getTransactionByBlockNumberAndIndex" => {
            json!([tag(), word(&query.index)])
        }
        "eth_getBlockTransactionCountByNumber" => json!([tag()]),
        "eth_getTransactionByHash" | "eth_getTransactionReceipt" => json!([word(&query.hash)]),
        "eth_getTransactionCount" | "eth_getCode" => json!([long(&query.address), tag()]),
        "eth_getStorageAt" => json!([long(&query.address), word(&query.position), tag()]),
        "eth_sendRawTransaction" => json!([long(&query.raw)]),
        "eth_call" | "eth_estimateGas" => json!([call_object(query), tag()]),
        // The others have none.
        _ => json!([]),
    }
}

/// The call of `eth_call` and `eth_estimateGas`, with the members that are given.
fn call_object(query: &EtherscanQuery) -> Map<String, Value> {
    let members = [
        ("to", word(&query.recipient)),
        ("from", word(&query.sender)),
        ("data", long(&query.data)),
        ("value", word(&query.value)),
        ("gas", word(&query.gas)),
        ("gasPrice", word(&query.gas_price)),
        ("maxFeePerGas", word(&query.max_fee)),
        ("maxPriorityFeePerGas", word(&query.max_tip)),
        ("nonce", word(&query.nonce)),
        ("type", word(&query.kind)),
    ];
    members
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

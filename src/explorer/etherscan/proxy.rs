//! The module `proxy`: requests of JSON-RPC as parameters of a query.

use serde_json::{Value, json};

use super::{AnyText, EtherscanQuery, text};
use crate::{
    explorer::{parameters::Words, rest::Explorer},
    web::{Client, RestError},
};

/// Answers a request with the response of JSON-RPC.
pub(super) async fn answer(
    explorer: &Explorer,
    client: Client,
    action: &str,
    query: &EtherscanQuery,
) -> Result<Value, RestError> {
    let Some(params) = params(action, query) else {
        return Ok(
            json!({ "status": "0", "message": "NOTOK", "result": format!("Unknown action {action:?} of module proxy") }),
        );
    };
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": action, "params": params }).to_string();
    let (response, _held) = (explorer.0.json_rpc)(client, request.into_bytes()).await.into_parts();
    serde_json::from_slice(&response).map_err(|error| RestError::Internal(error.to_string()))
}

/// Returns the parameters of a method; `None` if the module does not have it.
fn params(action: &str, query: &EtherscanQuery) -> Option<Value> {
    let word = |words: &Option<Words>| text(words).map_or(Value::Null, |text| json!(text));
    let long = |given: &Option<AnyText>| given.as_ref().map_or(Value::Null, |AnyText(text)| json!(text));
    let tag = || json!(text(&query.tag).unwrap_or("latest"));
    Some(match action {
        "eth_blockNumber" | "eth_gasPrice" => json!([]),
        "eth_getBlockByNumber" => json!([tag(), text(&query.whole) == Some("true")]),
        "eth_getUncleByBlockNumberAndIndex" | "eth_getTransactionByBlockNumberAndIndex" => {
            json!([tag(), word(&query.index)])
        }
        "eth_getBlockTransactionCountByNumber" => json!([tag()]),
        "eth_getTransactionByHash" | "eth_getTransactionReceipt" => json!([word(&query.hash)]),
        "eth_getTransactionCount" | "eth_getCode" => json!([long(&query.address), tag()]),
        "eth_getStorageAt" => json!([long(&query.address), word(&query.position), tag()]),
        "eth_sendRawTransaction" => json!([long(&query.raw)]),
        "eth_call" | "eth_estimateGas" => {
            let mut call = serde_json::Map::new();
            let members = [
                ("to", word(&query.recipient)),
                ("from", word(&query.sender)),
                ("data", long(&query.data)),
                ("value", word(&query.value)),
                ("gas", word(&query.gas)),
            ];
            call.extend(
                members.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)),
            );
            json!([call, tag()])
        }
        _ => return None,
    })
}

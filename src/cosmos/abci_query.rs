//! `abci_query`: the queries in their binary encoding, which CosmJS sends.

use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

use super::{Gateway, error::GatewayError};

/// The `response` of CometBFT to a query whose message is `data`, if the data could be read. A `height` of 0 is the newest
/// one.
pub(super) async fn answer(gateway: &Gateway, path: &str, data: Result<&[u8], GatewayError>, height: u64) -> Value {
    let answered = match gateway.methods.get(path.trim_start_matches('/')) {
        None => {
            let path: String = path.chars().take(100).collect();
            Err((6, format!("unknown query path {path:?}: unknown request")))
        }
        Some(method) => match data {
            Ok(data) => gateway.ask_encoded(method, data, Some(height)).await.map_err(|error| error.abci()),
            Err(error) => Err(error.abci()),
        },
    };
    let (code, log, value, height) = match answered {
        Ok((message, height)) => (0, String::new(), Some(Base64::encode_string(message.bytes())), height),
        Err((code, log)) => (code, log, None, gateway.chain.head().number().max(1)),
    };
    let codespace = if code == 0 { "" } else { "sdk" };
    json!({
        "code": code, "log": log, "info": "", "index": "0", "key": null, "value": value, "proofOps": null,
        "height": height.to_string(), "codespace": codespace,
    })
}

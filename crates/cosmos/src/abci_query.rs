//! `abci_query`: the queries in their binary encoding, which CosmJS sends.

use base64ct::{Base64, Encoding};
use bytes::Bytes;
use serde_json::{Value, json};
use tetrad_stdx::text::excerpt;
use tetrad_web::{Answer, AnswerError, hold_in_turn};

use super::{Gateway, error::GatewayError};

/// The response to a query.
pub(super) struct AbciAnswer {
    code: u32,
    log: String,
    /// The query's message; none if it failed.
    message: Option<Answer>,
    height: u64,
}

/// Answers a query whose message is `data`, if the data could be read. A `height` of 0 is the
/// newest one.
pub(super) async fn answer(
    gateway: &Gateway,
    path: &str,
    data: Result<Bytes, GatewayError>,
    height: u64,
) -> AbciAnswer {
    // Paths of ABCI queries begin with a slash; names of methods do not.
    let answered = match gateway.methods.get(path.trim_start_matches('/')) {
        None => {
            let path = excerpt(path, 100);
            // The code of the SDK's `ErrUnknownRequest`.
            Err((6, format!("unknown query path {path:?}: unknown request")))
        }
        Some(method) => match data {
            Ok(data) => gateway
                .ask_encoded(method, data, Some(height))
                .await
                .map_err(|error| error.abci()),
            Err(error) => Err(error.abci()),
        },
    };

    match answered {
        Ok((message, height)) => AbciAnswer {
            code: 0,
            log: String::new(),
            message: Some(message),
            height,
        },
        Err((code, log)) => AbciAnswer {
            code,
            log,
            message: None,
            // To clients, height 0 means that there is none.
            height: gateway.chain.head().number().max(1),
        },
    }
}

impl AbciAnswer {
    /// The `response` of CometBFT, which counts until the current turn is over.
    pub(super) fn json(&self) -> Result<Value, AnswerError> {
        let message = self.message.as_ref().map(Answer::bytes);
        hold_in_turn(message.map_or(0, Base64::encoded_len))?;
        let codespace = if self.code == 0 { "" } else { "sdk" };
        Ok(json!({
            "code": self.code, "log": self.log, "info": "", "index": "0", "key": null,
            "value": message.map(Base64::encode_string), "proofOps": null,
            "height": self.height.to_string(), "codespace": codespace,
        }))
    }
}

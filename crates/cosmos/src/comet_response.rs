//! Responses of CometBFT's JSON-RPC.

use serde_json::{Value, json};
use tetrad_web::{
    Answer, AnswerError, AnswerWriter, MAX_ANSWER,
    json_rpc::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR},
};

use super::{
    Gateway,
    comet_methods::{CometRequest, call},
};

/// A JSON-RPC response with a result.
pub(super) fn result_of(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// A JSON-RPC response with an error.
pub(super) fn error(id: &Value, code: i32, what: &str) -> Value {
    let message = match code {
        PARSE_ERROR => "Parse error. Invalid JSON",
        INVALID_REQUEST => "Invalid Request",
        METHOD_NOT_FOUND => "Method not found",
        INVALID_PARAMS => "Invalid params",
        _ => "Internal error",
    };
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message, "data": what } })
}

/// The response to a request.
pub(super) async fn answer(gateway: &Gateway, request: CometRequest) -> Answer {
    let mut out = AnswerWriter::new(MAX_ANSWER);
    // An error always fits.
    let _ = write(gateway, request, &mut out).await;
    out.finish()
}

/// Writes the response to a request, or an error where it does not fit.
pub(super) async fn write(
    gateway: &Gateway,
    mut request: CometRequest,
    out: &mut AnswerWriter,
) -> Result<(), AnswerError> {
    let id = request.id.take();
    let (code, what) = match call(gateway, request).await {
        Ok(result) => match write_result(&id, &result, out) {
            Ok(()) => return Ok(()),
            Err(what) => (INTERNAL_ERROR, what.to_string()),
        },
        Err(failure) => failure,
    };
    out.json(&error(&id, code, &what))
}

/// Writes a response whose result is JSON already. After an error, nothing of it is left.
pub(super) fn write_result(
    id: &Value,
    result: &Answer,
    out: &mut AnswerWriter,
) -> Result<(), AnswerError> {
    let start = out.length();
    let written = out
        .push(format!(r#"{{"id":{id},"jsonrpc":"2.0","result":"#).as_bytes())
        .and_then(|()| out.push(result.bytes()))
        .and_then(|()| out.push(b"}"));
    written.inspect_err(|_| out.truncate(start))
}

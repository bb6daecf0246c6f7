//! JSON-RPC responses: the result or the error of a call, and the responses in a batch.

use std::fmt;

use bytes::Bytes;
use reqwest::StatusCode;
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};
use tetrad_web::check_json;

use super::error::{AttemptError, ForkCallError};

/// The maximum size of an error in bytes.
pub(super) const MAX_ERROR_BYTES: usize = 1 << 20;
/// The code that some providers return instead of status 429.
const LIMIT_EXCEEDED_CODE: i64 = -32005;
/// The status itself, which others return as a code.
const TOO_MANY_REQUESTS_CODE: i64 = 429;

/// A JSON-RPC response.
#[derive(Deserialize)]
struct ResponseObject<'a> {
    /// None only if the member is missing.
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Deserializes a value that is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

/// The error of a JSON-RPC response.
#[derive(Deserialize)]
struct ErrorObject {
    code: i64,
    message: String,
    data: Option<Value>,
}

/// Extracts the JSON of the result from a response, without a copy.
pub(super) fn extract_result(
    method: &str,
    status: StatusCode,
    body: &Bytes,
) -> Result<Bytes, AttemptError> {
    let Ok(response) = serde_json::from_slice::<ResponseObject<'_>>(body) else {
        let reason = if status.is_success() {
            "the answer is not JSON-RPC".to_owned()
        } else {
            format!("the answer is {status}")
        };
        return Err(AttemptError::permanent(method, reason));
    };

    // Some nodes send a null error beside the result.
    let error = response.error.map(RawValue::get);
    if let Some(error) = error.filter(|error| *error != "null") {
        return Err(read_error(method, error));
    }

    match response.result {
        Some(result) => Ok(body.slice_ref(result.get().as_bytes())),
        None => Err(AttemptError::permanent(
            method,
            "the answer has neither result nor error",
        )),
    }
}

/// The failure of an attempt whose response has this error.
fn read_error(method: &str, json: &str) -> AttemptError {
    if json.len() > MAX_ERROR_BYTES || check_json(json.as_bytes()).is_err() {
        let reason = format!(
            "the answer is an error that is too long ({} bytes)",
            json.len()
        );
        return AttemptError::permanent(method, reason);
    }
    let Ok(ErrorObject {
        code,
        message,
        data,
    }) = serde_json::from_str(json)
    else {
        return AttemptError::permanent(method, "the answer is an error without code and message");
    };

    let error = ForkCallError::ErrorResponse {
        method: method.to_owned(),
        code,
        message,
        data,
    };
    if code == LIMIT_EXCEEDED_CODE || code == TOO_MANY_REQUESTS_CODE {
        AttemptError::Transient {
            error,
            retry_after: None,
        }
    } else {
        AttemptError::Permanent(error)
    }
}

/// The responses in the response to a batch of `max` calls. None if it is no array, or a longer
/// one.
pub(super) fn split_batch(body: &[u8], max: usize) -> Option<Vec<&RawValue>> {
    let mut json = serde_json::Deserializer::from_slice(body);
    json.deserialize_seq(BatchVisitor { max }).ok()
}

struct BatchVisitor {
    max: usize,
}

impl<'de> Visitor<'de> for BatchVisitor {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of responses")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut responses = Vec::new();
        while let Some(response) = items.next_element()? {
            if responses.len() == self.max {
                return Err(Error::custom("more responses than calls"));
            }
            responses.push(response);
        }
        Ok(responses)
    }
}

/// The identifier of a response, if it can be that of a call.
pub(super) fn response_id(response: &RawValue) -> Option<usize> {
    #[derive(Deserialize)]
    struct Identified {
        id: Option<usize>,
    }

    serde_json::from_str::<Identified>(response.get()).ok()?.id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_may_be_null_and_an_error_is_short() {
        let long = "a".repeat(MAX_ERROR_BYTES);
        let error = format!(r#"{{"code":3,"message":"{long}"}}"#);
        let too_long = format!(
            "m: the answer is an error that is too long ({} bytes)",
            error.len()
        );

        for (body, expected) in [
            (r#"{"result":null}"#.to_owned(), Ok("null")),
            (r#"{"result":null,"error":null}"#.to_owned(), Ok("null")),
            (
                r#"{"error":null}"#.to_owned(),
                Err("m: the answer has neither result nor error"),
            ),
            (format!(r#"{{"error":{error}}}"#), Err(too_long.as_str())),
        ] {
            let result = extract_result("m", StatusCode::OK, &Bytes::from(body))
                .map_err(|error| error.into_error().to_string());
            let result = result.as_ref().map(|json| &json[..]);
            assert_eq!(result.map_err(String::as_str), expected.map(str::as_bytes));
        }
    }
}

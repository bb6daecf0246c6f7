//! JSON-RPC responses: of single calls, of batches, and errors.

use std::{collections::HashMap, fmt};

use bytes::Bytes;
use reqwest::StatusCode;
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};
use tetrad_web::{Held, check_json};

use super::error::{AskError, AttemptError};

/// The code for an invalid request, which a batch is to nodes without batches.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// The code that some providers return instead of status 429.
const LIMIT_EXCEEDED: i64 = -32005;
/// The status itself, which others return as a code.
const TOO_MANY_REQUESTS: i64 = 429;
/// The maximum size of an error in bytes.
pub(super) const MAX_ERROR: usize = 1 << 20;

/// The results of a batch by the positions of its calls, and the memory of its answer.
pub(super) struct BatchAnswers {
    pub(super) results: HashMap<usize, Result<Bytes, AskError>>,
    pub(super) held: Held,
}

/// The responses of a batch of this many calls; none if it is something else.
pub(super) fn responses(body: &[u8], calls: usize) -> Option<Vec<&RawValue>> {
    struct Responses {
        calls: usize,
    }

    impl<'de> Visitor<'de> for Responses {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array of responses")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut responses = Vec::new();
            while let Some(response) = items.next_element()? {
                if responses.len() == self.calls {
                    return Err(serde::de::Error::custom("more responses than calls"));
                }
                responses.push(response);
            }
            Ok(responses)
        }
    }

    let mut json = serde_json::Deserializer::from_slice(body);
    json.deserialize_seq(Responses { calls }).ok()
}

/// A response, of which only the identifier is read.
#[derive(Deserialize)]
pub(super) struct Numbered {
    pub(super) id: Option<usize>,
}

/// A JSON-RPC response.
#[derive(Deserialize)]
struct ResponseObject<'a> {
    /// Nothing only if the member is missing.
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The error of a JSON-RPC response.
#[derive(Deserialize)]
struct ErrorObject {
    code: i64,
    message: String,
    data: Option<Value>,
}

/// Finds the result in the body of an answer.
pub(super) fn find_result(
    method: &str,
    status: StatusCode,
    body: &Bytes,
) -> Result<Bytes, AttemptError> {
    let Ok(response) = serde_json::from_slice::<ResponseObject<'_>>(body) else {
        let what = if status.is_success() {
            "the answer is not JSON-RPC".to_owned()
        } else {
            format!("the answer is {status}")
        };
        return Err(AttemptError::lasting(method, what));
    };

    // Some nodes send a null error beside the result.
    let error = response.error.map(RawValue::get);
    if let Some(error) = error.filter(|error| *error != "null") {
        return Err(refusal(method, error));
    }

    match response.result {
        Some(result) => Ok(body.slice_ref(result.get().as_bytes())),
        None => Err(AttemptError::lasting(
            method,
            "the answer has neither result nor error",
        )),
    }
}

/// The failure of an attempt that was answered with this error.
fn refusal(method: &str, error: &str) -> AttemptError {
    if error.len() > MAX_ERROR || check_json(error.as_bytes()).is_err() {
        let what = format!(
            "the answer is an error that is too long ({} bytes)",
            error.len()
        );
        return AttemptError::lasting(method, what);
    }
    let Ok(ErrorObject {
        code,
        message,
        data,
    }) = serde_json::from_str(error)
    else {
        return AttemptError::lasting(method, "the answer is an error without code and message");
    };

    let refused = AskError::Refused {
        method: method.to_owned(),
        code,
        message,
        data,
    };
    if code == LIMIT_EXCEEDED || code == TOO_MANY_REQUESTS {
        AttemptError::Passing(refused, None)
    } else {
        AttemptError::Lasting(refused)
    }
}

/// A value that is there, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

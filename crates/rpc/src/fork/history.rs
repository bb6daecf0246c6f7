//! The other chain's past: the other node's answers about blocks up to the forked one, none of
//! which change.

use std::sync::Arc;

use alloy_primitives::{B256, keccak256};
use bytes::Bytes;
use serde_json::Value;

use super::{
    cache::Cache,
    client::{ForkAnswer, ForkCallError, ForkClient},
    file::{ForkFile, Record},
};

/// The approximate size in bytes of remembered answers, in each of two generations.
const ANSWER_BYTES: usize = 32 << 20;
/// The size in bytes of the longest answer that is remembered.
const MAX_REMEMBERED_BYTES: usize = 1 << 20;
/// The memory that an answer takes beside its bytes.
const OVERHEAD: usize = 128;

/// The other chain's past.
#[derive(Debug)]
pub(super) struct History {
    client: Arc<ForkClient>,
    answers: Cache<B256, Bytes>,
    /// The file of the forked block.
    file: Option<Arc<ForkFile>>,
}

impl History {
    /// The past that `client` knows. The file has these records.
    pub(super) fn new(
        client: Arc<ForkClient>,
        file: Option<Arc<ForkFile>>,
        records: &[Record],
    ) -> Self {
        let answers = Cache::new(ANSWER_BYTES, &client.lookups());
        for record in records {
            if let Record::Answer(key, json) = record {
                answers.put(*key, json.0.clone(), json.len() + OVERHEAD);
            }
        }
        Self {
            client,
            answers,
            file,
        }
    }

    /// Calls a method about blocks up to the forked one. Blocks until the answer arrives.
    pub(super) fn call(&self, method: &str, params: &Value) -> Result<ForkAnswer, ForkCallError> {
        let key = keccak256(format!("{method} {params}"));
        if let Some(json) = self.answers.find(key) {
            return Ok(ForkAnswer::remembered(json));
        }

        let answer = self.client.call(method, params)?;
        let json = answer.json();
        // Missing data may exist later, so an empty answer is not kept.
        if json != b"null" && json != b"[]" && json.len() <= MAX_REMEMBERED_BYTES {
            // A copy of its own: the answer is a part of a longer one.
            let json = Bytes::copy_from_slice(json);
            if let Some(file) = self.file.as_ref().filter(|_| self.client.is_original()) {
                file.append(&[Record::Answer(key, json.clone().into())]);
            }
            let weight = json.len() + OVERHEAD;
            self.answers.put(key, json, weight);
        }
        Ok(answer)
    }
}

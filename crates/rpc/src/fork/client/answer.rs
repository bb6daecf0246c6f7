//! The results of requests, and how they are read.

use alloy_primitives::{B256, U64};
use bytes::Bytes;
use serde::{Deserialize, de::DeserializeOwned};
use tetrad_web::{Answer, Held, check_json};

use super::error::AskError;

/// The maximum size in bytes of a result that is read here. The longest are blocks with the hashes
/// of their transactions, and code.
pub(super) const MAX_READ: usize = 4 << 20;
/// Characters of a result and of what is wrong with it that are shown.
const SHOWN: usize = 80;

/// The result of a request.
#[derive(Debug)]
pub struct ForkAnswer {
    /// Its JSON, as a part of the answer that it came in.
    pub(super) json: Bytes,
    /// The memory of that answer.
    pub(super) held: Held,
}

impl ForkAnswer {
    /// A result that another owner holds in memory.
    pub(in crate::fork) fn remembered(json: Bytes) -> Self {
        Self {
            json,
            held: Held::default(),
        }
    }

    /// The JSON of the result.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Reads the result. The error says what is wrong with it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        read_result(self.json())
    }

    /// The JSON of the result as a body.
    pub(crate) fn into_answer(self) -> Answer {
        // The same buffer, unless the answer is remembered.
        Answer::new(self.json.into(), self.held)
    }
}

/// Reads a result. The error says what is wrong with it.
pub(in crate::fork) fn read_result<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    if json.len() > MAX_READ {
        return Err(format!(
            "the result has {} bytes, more than {MAX_READ}",
            json.len()
        ));
    }

    check_json(json).map_err(|error| error.to_string())?;
    serde_json::from_slice(json).map_err(|error| {
        let shown = String::from_utf8_lossy(&json[..json.len().min(SHOWN)]);
        // It may show the whole result.
        let error: String = error.to_string().chars().take(SHOWN).collect();
        format!("{shown} is not what was asked for ({error})")
    })
}

/// The hash in a result of `eth_getBlockByNumber`. The error says what the block is instead, if it is
/// not the one with this number.
pub(in crate::fork) fn read_hash(json: &[u8], number: u64) -> Result<B256, String> {
    #[derive(Deserialize)]
    struct FoundBlock {
        number: U64,
        hash: B256,
    }

    match read_result::<Option<FoundBlock>>(json)? {
        Some(found) if found.number.to::<u64>() == number => Ok(found.hash),
        Some(found) => Err(format!(
            "requested block {number}, got block {}",
            found.number
        )),
        None => Err(format!("it has no block {number}")),
    }
}

/// The JSON of the results of many calls, in their order.
#[derive(Debug)]
pub(in crate::fork) struct ForkAnswers {
    pub(in crate::fork) results: Vec<Result<Bytes, AskError>>,
    /// The memory of the answers that they came in.
    held: Vec<Held>,
}

impl ForkAnswers {
    /// The same failure for each of these calls.
    pub(super) fn failed(count: usize, error: &AskError) -> Self {
        Self {
            results: vec![Err(error.clone()); count],
            held: Vec::new(),
        }
    }

    /// Puts results in their places. There are none if the caller no longer waits.
    pub(super) fn put(
        &mut self,
        results: impl IntoIterator<Item = (usize, Result<Bytes, AskError>)>,
        held: Option<Held>,
    ) {
        for (at, result) in results {
            if let Some(place) = self.results.get_mut(at) {
                *place = result;
            }
        }
        self.held.extend(held);
    }
}

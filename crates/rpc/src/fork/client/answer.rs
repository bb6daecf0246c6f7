//! The results of calls, and how they are read.

use alloy_primitives::{B256, U64};
use bytes::Bytes;
use serde::{Deserialize, de::DeserializeOwned};
use tetrad_stdx::text::excerpt;
use tetrad_web::{Answer, Held, check_json};

use super::error::ForkCallError;

/// The maximum size in bytes of a result that is deserialized here. The longest are blocks with the
/// hashes of their transactions, and code.
const MAX_READ_BYTES: usize = 4 << 20;
/// How much of a wrong result (in bytes) and of the reason why it is wrong (in characters) errors
/// show.
const MAX_SHOWN: usize = 80;

/// The result of a call.
#[derive(Debug)]
pub struct ForkAnswer {
    /// Its JSON, as a part of the response that it came in.
    json: Bytes,
    /// The memory of that response.
    held: Held,
}

impl ForkAnswer {
    pub(super) fn new(json: Bytes, held: Held) -> Self {
        Self { json, held }
    }

    /// A result that another owner holds in memory.
    pub(in crate::fork) fn remembered(json: Bytes) -> Self {
        Self::new(json, Held::default())
    }

    /// The JSON of the result.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Deserializes the result. The error says what is wrong with it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        read_result(self.json())
    }

    /// The JSON of the result as a body.
    pub(crate) fn into_answer(self) -> Answer {
        // The same buffer, unless the answer is remembered.
        Answer::new(self.json.into(), self.held)
    }
}

/// The JSON of the results of several calls, in their order.
#[derive(Debug)]
pub(in crate::fork) struct CallResults {
    pub(in crate::fork) results: Vec<Result<Bytes, ForkCallError>>,
    /// The memory of the responses that they came in.
    held: Vec<Held>,
}

impl CallResults {
    /// The same failure for each of so many calls.
    pub(super) fn failed(count: usize, error: &ForkCallError) -> Self {
        Self {
            results: vec![Err(error.clone()); count],
            held: Vec::new(),
        }
    }

    /// Sets the result of the call at a position.
    pub(super) fn set(&mut self, position: usize, result: Result<ForkAnswer, ForkCallError>) {
        let (result, held) = match result {
            Ok(ForkAnswer { json, held }) => (Ok(json), Some(held)),
            Err(error) => (Err(error), None),
        };
        self.set_all([(position, result)], held);
    }

    /// Sets the results of calls by their positions. `held` is the memory of their response.
    pub(super) fn set_all(
        &mut self,
        results: impl IntoIterator<Item = (usize, Result<Bytes, ForkCallError>)>,
        held: Option<Held>,
    ) {
        for (position, result) in results {
            // There are no positions if the caller no longer waits.
            if let Some(known) = self.results.get_mut(position) {
                *known = result;
            }
        }
        self.held.extend(held);
    }
}

/// Deserializes a result. The error says what is wrong with it.
pub(in crate::fork) fn read_result<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    if json.len() > MAX_READ_BYTES {
        return Err(format!(
            "the result has {} bytes, more than {MAX_READ_BYTES}",
            json.len()
        ));
    }

    check_json(json).map_err(|error| error.to_string())?;
    serde_json::from_slice(json).map_err(|error| {
        let shown = String::from_utf8_lossy(&json[..json.len().min(MAX_SHOWN)]);
        // serde's message may quote the whole result.
        let reason = error.to_string();
        let reason = excerpt(&reason, MAX_SHOWN);
        format!("{shown} is not what was asked for ({reason})")
    })
}

/// The hash in a result of `eth_getBlockByNumber`. The error says what the block is instead, if it
/// is not the one with this number.
pub(in crate::fork) fn read_block_hash(json: &[u8], number: u64) -> Result<B256, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_long_result_is_short() {
        for length in [MAX_READ_BYTES / 2, MAX_READ_BYTES] {
            let json = format!("\"{}\"", "\u{e9}".repeat(length / 2));
            let error = read_result::<u64>(json.as_bytes()).expect_err("no number");
            assert!(error.len() < 500, "{} bytes", error.len());
        }
    }
}

//! The batches that many calls are sent in.

use bytes::Bytes;

use super::{call::Question, error::AskError};
use crate::fork::pace::Pacer;

/// The most calls in a batch. Providers limit it, some to 100.
const MAX_BATCH: usize = 100;

/// Some of many calls, with their positions among them, that are asked in one batch.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) questions: Vec<(usize, Question)>,
}

impl Part {
    pub(super) fn methods(&self) -> impl Iterator<Item = &'static str> {
        self.questions.iter().map(|(_, question)| question.method)
    }

    /// The method that stands for all of them in errors.
    pub(super) fn first_method(&self) -> &'static str {
        self.methods().next().unwrap_or("a batch")
    }

    /// The same failure for each of the calls.
    pub(super) fn failed(
        self,
        error: AskError,
    ) -> impl Iterator<Item = (usize, Result<Bytes, AskError>)> {
        self.questions
            .into_iter()
            .map(move |(at, _)| (at, Err(error.clone())))
    }
}

/// Divides many calls into batches, each of which is worth a second of the pace at most.
pub(super) fn divide(questions: Vec<Question>, pacer: &Pacer) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut left = questions.into_iter();
    let mut first = 0;
    while left.len() > 0 {
        let methods = left.as_slice().iter().map(|question| question.method);
        let size = pacer.calls_at_once(methods.take(MAX_BATCH));

        // Memory of its own, as long as itself.
        let mut questions = Vec::with_capacity(size);
        questions.extend((first..).zip(left.by_ref().take(size)));
        first += size;
        parts.push(Part { questions });
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::fork::ForkPace;

    #[test]
    fn many_calls_are_divided_into_parts_with_memory_of_their_own() {
        const CALLS: usize = 300_000;
        for (pace, length) in [(None, MAX_BATCH), (Some(ForkPace::Calls(10)), 10)] {
            let question = Question::new("eth_getBalance", Value::Null);
            let parts = divide(vec![question; CALLS], &Pacer::new(pace));

            assert_eq!(parts.len(), CALLS / length);
            for part in &parts {
                assert_eq!(part.questions.len(), length);
                assert!(part.questions.capacity() <= 2 * length);
            }
            let numbers = parts.iter().flat_map(|part| &part.questions);
            assert!(numbers.map(|(at, _)| *at).eq(0..CALLS));
        }
    }

    #[test]
    fn a_part_is_worth_a_second_of_the_pace_whatever_its_first_call_costs() {
        let pacer = Pacer::new(Some(ForkPace::Units(100)));
        let methods = ["eth_chainId", "eth_blockNumber", "eth_getLogs"];
        let questions = methods.into_iter().chain(["eth_getLogs"; 2]);
        let questions = questions.map(|method| Question::new(method, Value::Null));
        let lengths = divide(questions.collect(), &pacer)
            .iter()
            .map(|part| part.questions.len())
            .collect::<Vec<_>>();
        assert_eq!(lengths, [3, 1, 1]);
    }
}

//! The largest response and the most expensive refusal of each operation, found by trying.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{
    campaign::Campaign,
    describe::{Arguments, Operation, Place},
    documents::Generator,
    request::{Client, Outcome, READ_LIMIT, Request},
    subject::client_address,
};

/// Most combinations of two parameters that are tried together.
const COMBINATIONS: usize = 64;
/// Candidates of all parameters that are tried together, the first of each, then the second.
const RANKS: usize = 3;
/// Words that a parameter has to have to be tried together with others.
const WORDS: usize = 3;

/// What was found out about an operation.
#[derive(Clone)]
pub(super) struct Probed {
    pub operation: Operation,
    /// The request with the longest response, and the arguments in it.
    pub largest: Request,
    pub arguments: Arguments,
    /// Bytes of that response, of which no more than [`READ_LIMIT`] are counted.
    pub bytes: usize,
    /// The refusal that took longest.
    pub refusal: Option<(Duration, Request)>,
}

/// A search among the arguments of an operation.
struct Search<'a> {
    campaign: &'a Campaign,
    operation: &'a Operation,
    client: &'a mut Client,
    until: Instant,
    requests: usize,
    best: Arguments,
    score: usize,
    refusal: Option<(Duration, Request)>,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.requests == 0 || Instant::now() > self.until || self.score > READ_LIMIT
    }

    /// Asks with these arguments, which are the best ones from now on if the response is the
    /// longest.
    async fn ask(&mut self, arguments: &Arguments) -> Option<Outcome> {
        if self.is_over() {
            return None;
        }
        self.requests -= 1;
        let request = self.operation.request(arguments);
        let outcome = self
            .campaign
            .ask(self.client, &self.operation.name, &request)
            .await?;
        if outcome.is_success() {
            // A response, however short, is longer than none.
            if outcome.bytes + 1 > self.score {
                self.score = outcome.bytes + 1;
                self.best.clone_from(arguments);
            }
        } else if self
            .refusal
            .as_ref()
            .is_none_or(|(took, _)| outcome.took > *took)
        {
            self.refusal = Some((outcome.took, request));
        }
        Some(outcome)
    }
}

/// Searches the arguments of an operation for a while.
pub(super) async fn probe(
    campaign: &Campaign,
    operation: Operation,
    seed: u64,
    requests: usize,
    at_most: Duration,
) -> Probed {
    let mut client = Client::new(client_address(10));
    let mut generator = Generator::new(&campaign.filled.world, seed);
    let candidates: Vec<Vec<Value>> = operation
        .parameters
        .iter()
        .map(|parameter| {
            let mut found = generator.candidates(&parameter.schema, &parameter.examples);
            if parameter.place == Place::Body {
                let mutations: Vec<_> = parameter
                    .examples
                    .iter()
                    .flat_map(|body| (0..8).map(|_| generator.mutated(body)).collect::<Vec<_>>())
                    .collect();
                found.splice(0..0, mutations);
            } else if parameter.examples.iter().any(Value::is_object) {
                found.splice(0..0, parameter.examples.clone());
            }
            found
        })
        .collect();
    let ranked = |rank: usize| -> Arguments {
        let nth = |candidates: &Vec<Value>| candidates.get(rank).or(candidates.last()).cloned();
        candidates.iter().map(nth).collect()
    };
    let all = ranked(0);
    let required = operation.parameters.iter().zip(&all);
    let required: Arguments = required
        .map(|(parameter, value)| value.clone().filter(|_| parameter.required))
        .collect();
    let until = Instant::now() + at_most;
    let best = required.clone();
    let requests = requests + 2 * candidates.len();
    let mut search = Search {
        campaign,
        operation: &operation,
        client: &mut client,
        until,
        requests,
        best,
        score: 0,
        refusal: None,
    };
    let outcome = search.ask(&required).await;
    // A refusal names the parameter that it lacks.
    let reason = outcome
        .filter(|outcome| !outcome.is_success())
        .map(|outcome| outcome.excerpt())
        .unwrap_or_default();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|at| !reason.contains(&operation.parameters[*at].name));
    if let Some(at) = order.first().copied().filter(|_| !reason.is_empty()) {
        let mut arguments = required.clone();
        arguments[at] = candidates[at].first().cloned();
        search.ask(&arguments).await;
    }
    for rank in 0..RANKS {
        search.ask(&ranked(rank)).await;
    }

    // Words decide together what is asked for.
    let worded: Vec<usize> = (0..candidates.len())
        .filter(|at| operation.parameters[*at].examples.len() >= WORDS)
        .collect();
    if let [first, second, ..] = worded[..] {
        search.requests += COMBINATIONS;
        let pairs = operation.parameters[first].examples.iter().flat_map(|one| {
            operation.parameters[second]
                .examples
                .iter()
                .map(move |other| (one, other))
        });
        for (one, other) in pairs.take(COMBINATIONS) {
            let mut arguments = all.clone();
            arguments[first] = Some(one.clone());
            arguments[second] = Some(other.clone());
            search.ask(&arguments).await;
        }
    }

    // Without what limits a response, and then one parameter after the other, from the best
    // arguments so far.
    for at in 0..candidates.len() {
        if !operation.parameters[at].required {
            let mut arguments = search.best.clone();
            if arguments[at].take().is_some() {
                search.ask(&arguments).await;
            }
        }
    }
    let longest = candidates.iter().map(Vec::len).max().unwrap_or_default();
    for rank in 0..longest {
        for at in order.iter().copied() {
            let Some(value) = candidates[at].get(rank) else {
                continue;
            };
            let mut arguments = search.best.clone();
            if arguments[at].as_ref() != Some(value) {
                arguments[at] = Some(value.clone());
                search.ask(&arguments).await;
            }
        }
    }
    let Search {
        best,
        score,
        refusal,
        ..
    } = search;
    let largest = operation.request(&best);
    Probed {
        largest,
        arguments: best,
        bytes: score.saturating_sub(1),
        refusal,
        operation,
    }
}

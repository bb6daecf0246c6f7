//! The largest response and the slowest refusal of each operation, found by search.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{
    campaign::Campaign,
    describe::{Arguments, Operation, Parameter, Place},
    documents::Generator,
    request::{Client, Outcome, READ_LIMIT, Request},
    subject::client_address,
};

/// Maximum number of combinations of two parameters.
const COMBINATIONS: usize = 64;
/// Rounds with candidates for all parameters: the first of each, then the second, and so on.
const RANKS: usize = 3;
/// Mutations of each example of a body.
const MUTATIONS: usize = 8;
/// Minimum number of words of a parameter that is combined with another one.
const WORDS: usize = 3;

/// The result of the search for an operation.
#[derive(Clone)]
pub(super) struct Probed {
    pub operation: Operation,
    /// The request with the longest response, and its arguments.
    pub largest: Request,
    pub arguments: Arguments,
    /// Bytes of that response, up to [`READ_LIMIT`].
    pub bytes: usize,
    /// The slowest refusal.
    pub refusal: Option<(Duration, Request)>,
}

/// A search for the arguments of an operation.
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

    /// Sends a request with these arguments, which become the best ones if the response is the
    /// longest so far.
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
            // Any response scores higher than none.
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

    /// Sends requests with the missing parameter that a refusal names, and with the first
    /// candidates of all parameters together.
    async fn ask_with_more(&mut self, candidates: &Candidates, required: &Arguments, reason: &str) {
        let named = candidates.order(self.operation, reason).first().copied();
        if let Some(at) = named.filter(|_| !reason.is_empty()) {
            let mut arguments = required.clone();
            arguments[at] = candidates.0[at].first().cloned();
            self.ask(&arguments).await;
        }

        for rank in 0..RANKS {
            self.ask(&candidates.ranked(rank)).await;
        }
    }

    /// Tries combinations of the words of two parameters, which together select the response.
    async fn combine_words(&mut self, all: &Arguments) {
        let parameters = &self.operation.parameters;
        let worded: Vec<usize> = (0..parameters.len())
            .filter(|at| parameters[*at].examples.len() >= WORDS)
            .collect();
        let [first, second, ..] = worded[..] else {
            return;
        };

        self.requests += COMBINATIONS;
        let pairs = parameters[first].examples.iter().flat_map(|one| {
            parameters[second]
                .examples
                .iter()
                .map(move |other| (one, other))
        });
        for (one, other) in pairs.take(COMBINATIONS) {
            let mut arguments = all.clone();
            arguments[first] = Some(one.clone());
            arguments[second] = Some(other.clone());
            self.ask(&arguments).await;
        }
    }

    /// Omits optional parameters, as they may limit a response.
    async fn leave_out(&mut self) {
        for at in 0..self.operation.parameters.len() {
            if self.operation.parameters[at].required {
                continue;
            }

            let mut arguments = self.best.clone();
            if arguments[at].take().is_some() {
                self.ask(&arguments).await;
            }
        }
    }

    /// Replaces each parameter in turn in the best arguments so far.
    async fn replace_each(&mut self, candidates: &Candidates, order: &[usize]) {
        for rank in 0..candidates.longest() {
            for at in order.iter().copied() {
                let Some(value) = candidates.0[at].get(rank) else {
                    continue;
                };

                let mut arguments = self.best.clone();
                if arguments[at].as_ref() != Some(value) {
                    arguments[at] = Some(value.clone());
                    self.ask(&arguments).await;
                }
            }
        }
    }
}

/// The values to try for each parameter of an operation, the most promising first.
struct Candidates(Vec<Vec<Value>>);

impl Candidates {
    fn of(operation: &Operation, generator: &mut Generator<'_>) -> Self {
        let candidates = operation
            .parameters
            .iter()
            .map(|parameter| Self::of_parameter(parameter, generator))
            .collect();
        Self(candidates)
    }

    fn of_parameter(parameter: &Parameter, generator: &mut Generator<'_>) -> Vec<Value> {
        let mut found = generator.candidates(&parameter.schema, &parameter.examples);

        if parameter.place == Place::Body {
            let mut mutations = Vec::new();
            for body in &parameter.examples {
                mutations.extend((0..MUTATIONS).map(|_| generator.mutated(body)));
            }
            found.splice(0..0, mutations);
        } else if parameter.examples.iter().any(Value::is_object) {
            found.splice(0..0, parameter.examples.clone());
        }

        found
    }

    /// The candidate of this rank for each parameter, or the last one.
    fn ranked(&self, rank: usize) -> Arguments {
        let nth = |values: &Vec<Value>| values.get(rank).or(values.last()).cloned();
        self.0.iter().map(nth).collect()
    }

    /// The largest number of candidates of a parameter.
    fn longest(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or_default()
    }

    /// The order in which parameters are tried: those named by a refusal first.
    fn order(&self, operation: &Operation, refusal: &str) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.0.len()).collect();
        order.sort_by_key(|at| !refusal.contains(&operation.parameters[*at].name));
        order
    }
}

/// Searches for the best arguments of an operation until the time is over.
pub(super) async fn probe(
    campaign: &Campaign,
    operation: Operation,
    seed: u64,
    requests: usize,
    at_most: Duration,
) -> Probed {
    let mut client = Client::new(client_address(10));
    let mut generator = Generator::new(&campaign.filled.chain_values, seed);
    let candidates = Candidates::of(&operation, &mut generator);
    let all = candidates.ranked(0);
    let required: Arguments = operation
        .parameters
        .iter()
        .zip(&all)
        .map(|(parameter, value)| value.clone().filter(|_| parameter.required))
        .collect();

    let mut search = Search {
        campaign,
        operation: &operation,
        client: &mut client,
        until: Instant::now() + at_most,
        requests: requests + 2 * operation.parameters.len(),
        best: required.clone(),
        score: 0,
        refusal: None,
    };

    // A refusal names the missing parameter.
    let outcome = search.ask(&required).await;
    let reason = outcome
        .filter(|outcome| !outcome.is_success())
        .map(|outcome| outcome.excerpt())
        .unwrap_or_default();
    search.ask_with_more(&candidates, &required, &reason).await;

    search.combine_words(&all).await;
    search.leave_out().await;
    let order = candidates.order(&operation, &reason);
    search.replace_each(&candidates, &order).await;

    let Search {
        best,
        score,
        refusal,
        ..
    } = search;
    Probed {
        largest: operation.request(&best),
        arguments: best,
        bytes: score.saturating_sub(1),
        refusal,
        operation,
    }
}

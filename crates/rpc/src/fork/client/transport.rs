//! One HTTP request to one of the nodes, with its limits.

use std::{sync::atomic::Ordering, time::Duration};

use bytes::Bytes;
use reqwest::{RequestBuilder, Response, StatusCode, Url, header::RETRY_AFTER};
use tetrad_stdx::causes::with_causes;
use tetrad_web::{BodyError, Budget, Held, read_body};

use super::{
    error::{AskError, AttemptError, MAX_ANSWER, silent},
    requester::Requester,
    response::MAX_ERROR,
};
use crate::fork::nodes::ForkedNode;

/// The time for which a node that did not answer rests.
const SILENT_REST: Duration = Duration::from_secs(10);

impl Requester {
    /// Sends a request to the node whose turn it is, for one that may take so long in all.
    pub(super) async fn attempt(
        &self,
        method: &str,
        body: String,
        within: Duration,
    ) -> Result<(StatusCode, Bytes, Held), AttemptError> {
        let _place = self.places.acquire().await;
        let nodes = self.nodes.read().clone();
        let node = nodes.next();
        // One node that is silent leaves time for the others.
        let within = within / nodes.all.len() as u32;
        let attempt = tokio::time::timeout(within, self.attempt_at(node, method, body));
        let Ok(outcome) = attempt.await else {
            node.rest(SILENT_REST);
            let what = format!("no answer within {} s", within.as_secs_f64());
            return Err(AttemptError::passing(method, what));
        };
        if let Err(AttemptError::Passing(_, after)) = &outcome {
            node.rest(self.backoff.max(after.unwrap_or_default()));
        }
        outcome
    }

    pub(super) async fn attempt_at(
        &self,
        node: &ForkedNode,
        method: &str,
        body: String,
    ) -> Result<(StatusCode, Bytes, Held), AttemptError> {
        self.counters.requests.add(1);
        let response = self
            .request(&node.url, body)
            .send()
            .await
            .map_err(|error| self.connection_error(method, error))?;
        self.was_connected.store(true, Ordering::Relaxed);

        let status = response.status();
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            let error = silent(method, format!("the answer is {status}"));
            return Err(AttemptError::Passing(error, retry_after(&response)));
        }
        if status.is_redirection() {
            let what = format!("the answer is {status}, and redirects are not followed");
            return Err(AttemptError::lasting(method, what));
        }

        // Of a failure only the error is read.
        let limit = if status.is_success() {
            MAX_ANSWER
        } else {
            MAX_ERROR
        };
        match receive(response, limit, &self.budget).await {
            Ok((body, held)) => {
                self.counters.bytes.add(body.len() as u64);
                Ok((status, body, held))
            }
            Err(error) => Err(self.body_error(method, status, error)),
        }
    }

    /// Whether there was ever a connection.
    pub(super) fn has_answered(&self) -> bool {
        self.was_connected.load(Ordering::Relaxed)
    }

    fn request(&self, url: &Url, body: String) -> RequestBuilder {
        let is_home = self
            .home
            .as_ref()
            .is_some_and(|home| home.origin() == url.origin());

        let request = self
            .http
            .post(url.clone())
            .header("content-type", "application/json")
            .body(body);
        // The headers may contain a key, which is for the configured origin only.
        if is_home {
            request.headers(self.headers.clone())
        } else {
            request
        }
    }

    /// The failure of a connection.
    fn connection_error(&self, method: &str, error: reqwest::Error) -> AttemptError {
        // Where no connection ever succeeded, the user has to know now rather than after many
        // attempts.
        let is_only = self.nodes.read().all.len() == 1;
        let is_first = error.is_connect() && !self.has_answered() && is_only;

        let what = with_causes(&error.without_url());
        if is_first {
            AttemptError::lasting(method, what)
        } else {
            AttemptError::passing(method, what)
        }
    }

    /// The failure to read the body of an answer.
    fn body_error(&self, method: &str, status: StatusCode, error: BodyError) -> AttemptError {
        match error {
            BodyError::Failed(error) => match error.downcast() {
                Ok(error) => self.connection_error(method, *error),
                Err(error) => AttemptError::passing(method, error.to_string()),
            },
            BodyError::NoRoom => AttemptError::Lasting(AskError::NoRoom {
                method: method.to_owned(),
            }),
            _ if status.is_success() => AttemptError::Lasting(AskError::TooLong {
                method: method.to_owned(),
            }),
            _ => AttemptError::lasting(method, format!("the answer is {status}")),
        }
    }
}

/// The time that the other node asks to wait (RFC 9110, 10.2.3), if it says so in seconds.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    value.trim().parse().ok().map(Duration::from_secs)
}

/// Reads the body of an answer, with the memory that it holds.
async fn receive(
    response: Response,
    limit: usize,
    budget: &Budget,
) -> Result<(Bytes, Held), BodyError> {
    let announced = response
        .content_length()
        .and_then(|length| usize::try_from(length).ok())
        .unwrap_or_default();

    read_body(
        reqwest::Body::from(response),
        // A false announcement must not reserve more than the limit.
        announced.min(limit),
        limit,
        budget,
    )
    .await
}

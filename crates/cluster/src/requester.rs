//! Sending requests to the process that leads the cluster, until they are answered.

use std::{sync::Arc, time::Duration};

use async_nats::{Client, HeaderMap, Request as NatsRequest, RequestErrorKind};
use bytes::Bytes;
use futures_util::{StreamExt, stream::FuturesUnordered};
use tetrad_chain::{ChangeError, SubmitError};
use tetrad_stdx::causes::with_causes;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use super::{
    ClusterCounts,
    connection::Connection,
    large::{Offer, message_bytes},
    message::{Outcome, Response},
    process::NodeProcess,
};

/// Time in which the leader must answer a request, or say that it works on it.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(9);
/// Time in which it must have made a change. Mining many blocks takes long.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(600);
/// Time after which a request is sent again while there is no answer. Each time after that it is
/// twice as long, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The sender of requests to the process that leads.
#[derive(Clone)]
pub(super) struct Requester {
    pub(super) connection: Connection,
    pub(super) leader: watch::Receiver<Option<NodeProcess>>,
    pub(super) counts: Arc<ClusterCounts>,
}

/// The reason why a request was not answered.
pub(super) enum SendError {
    /// The leader did not receive it.
    Undelivered,
    /// The leader may have received it.
    Unanswered(String),
    /// The leader, which may have received it, no longer leads.
    Deposed,
    /// It cannot be sent.
    Impossible(String),
}

impl Requester {
    /// Sends a request once to the process that leads.
    async fn send(
        &self,
        holder: &NodeProcess,
        request: NatsRequest,
    ) -> Result<Response, SendError> {
        let node = &holder.node;

        // Without a connection the client would keep it, and send it later.
        if !self.connection.is_connected() {
            return Err(SendError::Undelivered);
        }

        self.counts.forwarded.add(1);
        let request = request.timeout(Some(CHANGE_TIMEOUT));
        let sent = self
            .connection
            .client
            .send_request(self.connection.names.requests(holder), request);
        let mut leader = self.leader.clone();
        let answer = tokio::select! {
            answer = sent => answer,
            _ = leader.wait_for(|leader| leader.as_ref() != Some(holder)) => {
                return Err(SendError::Deposed);
            }
        };

        let message = answer.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => SendError::Undelivered,
            RequestErrorKind::MaxPayloadExceeded => SendError::Impossible(with_causes(&error)),
            _ => SendError::Unanswered(with_causes(&error)),
        })?;
        let response = Response::decode(&message.payload);
        response.map_err(|error| SendError::Impossible(format!("the answer of {node}: {error}")))
    }

    /// Sends a request to the process that leads until it is answered: it may be lost on its way.
    /// Whether it is sent `again` is an argument of what encodes it. Fails once the process has
    /// said nothing for [`SILENCE_TIMEOUT`].
    pub(super) async fn ask(
        &self,
        encode: impl Fn(bool) -> Result<Bytes, ChangeError>,
    ) -> Result<Response, SendError> {
        let Some(holder) = self.leader.borrow().clone() else {
            return Err(SendError::Undelivered);
        };
        let client = &self.connection.client;
        let first = encode(false).map_err(impossible)?;
        let mut offer = None;
        if first.len() > message_bytes(client) {
            // Every attempt announces the same bytes.
            offer = Some(begin_offer(client, encode(true)).await?);
        }
        let headers = offer.as_ref().map(Offer::headers);

        let request = as_request(first, headers.as_ref());
        let mut attempts = FuturesUnordered::from_iter([self.send(&holder, request)]);
        let mut is_repeated = false;
        let mut pause = FIRST_PAUSE;
        let mut next = Instant::now() + pause;
        let mut deadline = Instant::now() + SILENCE_TIMEOUT;

        loop {
            tokio::select! {
                Some(answer) = attempts.next() => match answer {
                    Ok(Response { outcome: Outcome::InProgress, .. }) => {
                        deadline = Instant::now() + SILENCE_TIMEOUT;
                    }
                    // An earlier attempt may have been received.
                    Err(SendError::Undelivered) if is_repeated => {}
                    // A later attempt may have been executed before the first one, or another node
                    // that has the transaction has stored it. The answer to a later one says what
                    // became of it.
                    Ok(response) if is_repeated && is_already_known(&response) => {}
                    Err(SendError::Unanswered(_)) => {}
                    answer => return answer,
                },
                Some(is_new) = async { offer.as_mut()?.serve().await } => if is_new {
                    deadline = Instant::now() + SILENCE_TIMEOUT;
                },
                () = sleep_until(next) => {
                    self.counts.retried.add(1);
                    let again = if offer.is_some() {
                        Bytes::new()
                    } else {
                        encode(true).map_err(impossible)?
                    };
                    attempts.push(self.send(&holder, as_request(again, headers.as_ref())));
                    is_repeated = true;
                    // A leader that is only slow gets few more requests.
                    pause = LONGEST_PAUSE.min(2 * pause);
                    next = Instant::now() + pause;
                }
                () = sleep_until(deadline) => {
                    return Err(SendError::Unanswered(format!("{} does not answer", holder.node)));
                }
            }
        }
    }
}

async fn begin_offer(
    client: &Client,
    request: Result<Bytes, ChangeError>,
) -> Result<Offer, SendError> {
    Offer::begin(client, request.map_err(impossible)?)
        .await
        .map_err(SendError::Impossible)
}

/// Returns the message of a request, or with `headers` the one that announces it.
fn as_request(payload: Bytes, headers: Option<&HeaderMap>) -> NatsRequest {
    match headers {
        Some(headers) => NatsRequest::new().headers(headers.clone()),
        None => NatsRequest::new().payload(payload),
    }
}

fn is_already_known(response: &Response) -> bool {
    matches!(
        response.outcome,
        Outcome::Submitted(Err(SubmitError::AlreadyKnown))
    )
}

fn impossible(error: ChangeError) -> SendError {
    SendError::Impossible(error.to_string())
}

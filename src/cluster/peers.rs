//! Sending what this node may not decide to the leader.

use std::{sync::Arc, time::Duration};

use alloy_primitives::B256;
use async_nats::{
    Request as NatsRequest, RequestErrorKind,
    jetstream::{self, context::PublishErrorKind},
};
use bytes::Bytes;
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::{
    runtime::Handle,
    sync::watch,
    time::{Instant, sleep, sleep_until},
};

use super::{
    ClusterCounts,
    connection::Connection,
    message::{Outcome, Request, Response},
    process::NodeProcess,
};
use crate::{
    block::Submission,
    causes::with_causes,
    chain::{Change, ChangeError, ChangeOutcome, Peers, PoolSelection, Pooled, Settled, SubmitError},
};

/// Time in which the leader must answer a request, or say that it works on it.
const SILENCE: Duration = Duration::from_secs(9);
/// Time in which it must have made a change. Mining many blocks takes long.
const LONGEST: Duration = Duration::from_secs(600);
/// Time after which a request is sent again while there is no answer. Each time after that it is twice as long, up to
/// [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);
/// Room for the headers of a message, in bytes.
const HEADER_ROOM: usize = 4 << 10;
/// Time in which a transaction that waits must be stored.
const KEEP: Duration = Duration::from_secs(8);

/// The other nodes, through NATS.
pub(super) struct ClusterPeers {
    connection: Connection,
    leader: watch::Receiver<Option<NodeProcess>>,
    counts: Arc<ClusterCounts>,
    runtime: Handle,
}

/// The reason why a request was not answered.
enum SendError {
    /// The leader did not receive it.
    Undelivered,
    /// The leader may have received it.
    Unanswered(String),
    /// The leader, which may have received it, does not lead any more.
    Deposed,
    /// It cannot be sent.
    Impossible(String),
}

impl ClusterPeers {
    pub(super) fn new(
        connection: Connection,
        leader: watch::Receiver<Option<NodeProcess>>,
        counts: Arc<ClusterCounts>,
    ) -> Self {
        Self { connection, leader, counts, runtime: Handle::current() }
    }

    /// Sends a request once to the process that leads.
    async fn send(&self, holder: &NodeProcess, payload: Bytes) -> Result<Response, SendError> {
        let node = &holder.node;
        if !self.connection.is_connected() {
            return Err(SendError::Undelivered);
        }
        self.counts.forwarded.add(1);
        let request = NatsRequest::new().payload(payload).timeout(Some(LONGEST));
        let sent = self.connection.client.send_request(self.connection.names.requests(holder), request);
        let mut leader = self.leader.clone();
        let answer = tokio::select! {
            answer = sent => answer,
            _ = leader.wait_for(|leader| leader.as_ref() != Some(holder)) => return Err(SendError::Deposed),
        };
        let message = answer.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => SendError::Undelivered,
            RequestErrorKind::MaxPayloadExceeded => SendError::Impossible(with_causes(&error)),
            _ => SendError::Unanswered(with_causes(&error)),
        })?;
        let response = Response::decode(&message.payload);
        response.map_err(|error| SendError::Impossible(format!("the answer of {node}: {error}")))
    }

    /// Sends a request to the process that leads until it is answered: it may be lost on its way. Whether it is sent `again`
    /// is an argument of what encodes it. Fails once the process has said nothing for [`SILENCE`].
    async fn ask(&self, encode: impl Fn(bool) -> Result<Vec<u8>, ChangeError>) -> Result<Response, SendError> {
        let Some(holder) = self.leader.borrow().clone() else { return Err(SendError::Undelivered) };
        let attempt = |again: bool| {
            let payload = encode(again).map_err(|error| SendError::Impossible(error.to_string()))?;
            Ok(self.send(&holder, payload.into()))
        };
        let mut attempts = FuturesUnordered::from_iter([attempt(false)?]);
        let (mut is_repeated, mut pause, mut deadline) = (false, FIRST_PAUSE, Instant::now() + SILENCE);
        loop {
            tokio::select! {
                Some(answer) = attempts.next() => match answer {
                    Ok(Response { outcome: Outcome::InProgress, .. }) => deadline = Instant::now() + SILENCE,
                    // An earlier attempt may have been received.
                    Err(SendError::Undelivered) if is_repeated => {}
                    Err(SendError::Unanswered(_)) => {}
                    answer => return answer,
                },
                () = sleep(pause) => {
                    self.counts.retried.add(1);
                    attempts.push(attempt(true)?);
                    is_repeated = true;
                    // A leader that is only slow gets few more requests.
                    pause = LONGEST_PAUSE.min(2 * pause);
                }
                () = sleep_until(deadline) => {
                    return Err(SendError::Unanswered(format!("{} does not answer", holder.node)));
                }
            }
        }
    }

    async fn submit(&self, pooled: &Pooled, again: bool) -> Result<(Settled, u64), SubmitError> {
        let submission = submission(pooled);
        match self.ask(|repeated| Request::submit(&submission, again || repeated).encode()).await {
            Ok(Response { height, outcome: Outcome::Submitted(settled) }) => settled.map(|settled| (settled, height)),
            Ok(Response { outcome: Outcome::Undecodable(reason), .. }) => Err(SubmitError::Unavailable(reason)),
            Ok(_) => Err(SubmitError::Unavailable("the leader gave the answer to another request".to_owned())),
            // Sending it again is safe: it can be included once only.
            Err(SendError::Undelivered | SendError::Unanswered(_) | SendError::Deposed) => Err(SubmitError::NotLeading),
            Err(SendError::Impossible(reason)) => Err(SubmitError::Unavailable(reason)),
        }
    }

    async fn change(&self, change: &Change, id: u64) -> Result<(ChangeOutcome, u64), ChangeError> {
        // It is encoded once, since it may be large.
        let request = Request::Change { id: Some(id), change: change.clone() }.encode()?;
        match self.ask(|_| Ok(request.clone())).await {
            Ok(Response { height, outcome: Outcome::Changed(outcome) }) => outcome.map(|outcome| (outcome, height)),
            Ok(Response { outcome: Outcome::Undecodable(reason), .. }) => Err(ChangeError::Unavailable(reason)),
            Ok(_) => Err(ChangeError::Unavailable("the leader gave the answer to another request".to_owned())),
            // The next leader knows what was done of it.
            Err(SendError::Undelivered | SendError::Deposed) => Err(ChangeError::NotLeading),
            Err(SendError::Unanswered(reason) | SendError::Impossible(reason)) => Err(ChangeError::Unavailable(reason)),
        }
    }

    async fn remove(&self, selection: PoolSelection) -> Result<bool, SubmitError> {
        match self.ask(|_| Request::Drop(selection).encode()).await {
            Ok(Response { outcome: Outcome::Dropped(found), .. }) => found,
            Ok(_) => Err(SubmitError::Unavailable("the leader gave the answer to another request".to_owned())),
            // Removing them again is safe.
            Err(SendError::Undelivered | SendError::Deposed) => Err(SubmitError::NotLeading),
            Err(SendError::Unanswered(reason) | SendError::Impossible(reason)) => Err(SubmitError::Unavailable(reason)),
        }
    }

    /// Replaces the messages of transactions that were dropped by empty ones.
    async fn forget(&self, hashes: &[B256]) {
        for hash in hashes {
            let subject = self.connection.names.pool_subject(&format!("{hash:x}"));
            if let Err(error) = store(&self.connection.jetstream, subject, Bytes::new(), KEEP).await {
                return tracing::warn!(error, "other nodes may keep transactions that were dropped");
            }
        }
    }
}

/// Stores a transaction that waits in the stream of these.
pub(super) async fn keep(connection: &Connection, submission: &Submission) -> Result<(), SubmitError> {
    let failed = |reason: String| SubmitError::Unavailable(format!("the transaction could not be stored: {reason}"));
    let payload = Request::submit(submission, true).encode().map_err(|error| failed(error.to_string()))?;
    let subject = connection.names.pool_subject(&format!("{:x}", submission.transaction.hash()));
    store(&connection.jetstream, subject, payload.into(), KEEP).await.map_err(failed)
}

/// Publishes a message until JetStream has stored it, or the time is over.
async fn store(
    jetstream: &jetstream::Context,
    subject: String,
    payload: Bytes,
    patience: Duration,
) -> Result<(), String> {
    let attempts = async {
        loop {
            let acknowledged = match jetstream.publish(subject.clone(), payload.clone()).await {
                Ok(acknowledgement) => acknowledgement.await,
                Err(error) => Err(error),
            };
            match acknowledged {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => return Err(with_causes(&error)),
                Err(error) => tracing::debug!(error = with_causes(&error), "failed to store a message"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(patience, attempts).await.unwrap_or_else(|_| Err("JetStream does not answer".to_owned()))
}

/// Returns a pooled transaction as it was submitted.
pub(super) fn submission(pooled: &Pooled) -> Submission {
    Submission { transaction: pooled.transaction.as_ref().clone(), sidecar: pooled.sidecar.clone() }
}

impl Peers for ClusterPeers {
    fn submit<'a>(&'a self, pooled: &'a Pooled, again: bool) -> BoxFuture<'a, Result<(Settled, u64), SubmitError>> {
        Box::pin(self.submit(pooled, again))
    }

    fn change<'a>(
        &'a self,
        change: &'a Change,
        request: u64,
    ) -> BoxFuture<'a, Result<(ChangeOutcome, u64), ChangeError>> {
        Box::pin(self.change(change, request))
    }

    fn remove(&self, selection: PoolSelection) -> BoxFuture<'_, Result<bool, SubmitError>> {
        Box::pin(self.remove(selection))
    }

    fn forget<'a>(&'a self, hashes: &'a [B256]) -> BoxFuture<'a, ()> {
        Box::pin(self.forget(hashes))
    }

    fn restore(&self, transactions: Vec<Submission>) -> Result<(), SubmitError> {
        let most = self.connection.client.server_info().max_payload.saturating_sub(HEADER_ROOM);
        self.runtime.block_on(async {
            for transaction in transactions {
                let (hash, size) = (transaction.transaction.hash(), transaction.encode().len());
                if size > most {
                    tracing::error!(%hash, size, "a transaction is too large for the servers, and is lost");
                    continue;
                }
                // In their order: one may spend what another one brings.
                keep(&self.connection, &transaction).await?;
            }
            Ok(())
        })
    }

    fn keep<'a>(&'a self, pooled: &'a Pooled) -> BoxFuture<'a, Result<(), SubmitError>> {
        Box::pin(async { keep(&self.connection, &submission(pooled)).await })
    }
}

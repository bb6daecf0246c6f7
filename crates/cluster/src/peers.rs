//! Sending what this node may not decide to the leader.

use std::time::Duration;

use alloy_primitives::B256;
use async_nats::jetstream::{self, context::PublishErrorKind};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use tetrad_chain::{
    Acknowledgement, Change, ChangeError, ChangeOutcome, Peers, PoolSelection, Pooled, SubmitError,
};
use tetrad_primitives::block::Submission;
use tetrad_stdx::causes::with_causes;
use tokio::runtime::Handle;

use super::{
    connection::Connection,
    large::message_bytes,
    message::{Outcome, Request, Response},
    requester::{Requester, SendError},
};

/// Time in which a transaction that waits must be stored.
const STORE_TIMEOUT: Duration = Duration::from_secs(8);

/// The other nodes, through NATS.
pub(super) struct ClusterPeers {
    requester: Requester,
    runtime: Handle,
}

impl ClusterPeers {
    pub(super) fn new(requester: Requester) -> Self {
        Self {
            requester,
            runtime: Handle::current(),
        }
    }

    /// Returns the acknowledgement of the leader, and a height of the log that includes it.
    async fn submit(
        &self,
        pooled: &Pooled,
        again: bool,
    ) -> Result<(Acknowledgement, u64), SubmitError> {
        let submission = submission(pooled);
        let answer = self.requester.ask(|repeated| {
            let request = Request::submit(&submission, again || repeated);
            Ok(request.encode()?.into())
        });
        match answer.await {
            Ok(Response {
                height,
                outcome: Outcome::Submitted(outcome),
            }) => outcome.map(|acknowledgement| (acknowledgement, height)),
            Ok(Response {
                outcome: Outcome::Undecodable(reason),
                ..
            }) => Err(SubmitError::Unavailable(reason)),
            Ok(_) => Err(SubmitError::Unavailable(
                "the leader gave the answer to another request".to_owned(),
            )),
            // Sending it again is safe: it can be included once only.
            Err(SendError::Undelivered | SendError::Unanswered(_) | SendError::Deposed) => {
                Err(SubmitError::NotLeading)
            }
            Err(SendError::Impossible(reason)) => Err(SubmitError::Unavailable(reason)),
        }
    }

    async fn change(&self, change: &Change, id: u64) -> Result<(ChangeOutcome, u64), ChangeError> {
        // It is encoded once, since it may be large.
        let request: Bytes = Request::Change {
            id: Some(id),
            change: change.clone(),
        }
        .encode()?
        .into();
        match self.requester.ask(|_| Ok(request.clone())).await {
            Ok(Response {
                height,
                outcome: Outcome::Changed(outcome),
            }) => outcome.map(|outcome| (outcome, height)),
            Ok(Response {
                outcome: Outcome::Undecodable(reason),
                ..
            }) => Err(ChangeError::Unavailable(reason)),
            Ok(_) => Err(ChangeError::Unavailable(
                "the leader gave the answer to another request".to_owned(),
            )),
            // The next leader knows what was done of it.
            Err(SendError::Undelivered | SendError::Deposed) => Err(ChangeError::NotLeading),
            Err(SendError::Unanswered(reason) | SendError::Impossible(reason)) => {
                Err(ChangeError::Unavailable(reason))
            }
        }
    }

    async fn remove(&self, selection: PoolSelection) -> Result<bool, SubmitError> {
        let request = self
            .requester
            .ask(|_| Ok(Request::Drop(selection).encode()?.into()));
        match request.await {
            Ok(Response {
                outcome: Outcome::Dropped(found),
                ..
            }) => found,
            Ok(_) => Err(SubmitError::Unavailable(
                "the leader gave the answer to another request".to_owned(),
            )),
            // Removing them again is safe.
            Err(SendError::Undelivered | SendError::Deposed) => Err(SubmitError::NotLeading),
            Err(SendError::Unanswered(reason) | SendError::Impossible(reason)) => {
                Err(SubmitError::Unavailable(reason))
            }
        }
    }

    /// Replaces the messages of transactions that were dropped by empty ones.
    async fn forget(&self, hashes: &[B256]) {
        let connection = &self.requester.connection;
        for hash in hashes {
            let subject = connection.names.pool_subject(&format!("{hash:x}"));
            let stored = store(&connection.jetstream, subject, Bytes::new()).await;
            if let Err(error) = stored {
                return tracing::warn!(
                    error,
                    "other nodes may keep transactions that were dropped"
                );
            }
        }
    }
}

/// Stores a transaction that waits in the stream of these.
pub(super) async fn keep(
    connection: &Connection,
    submission: &Submission,
) -> Result<(), SubmitError> {
    let payload = Request::submit(submission, true)
        .encode()
        .map_err(|error| not_stored(error.to_string()))?;
    let subject = connection
        .names
        .pool_subject(&format!("{:x}", submission.transaction.hash()));

    store(&connection.jetstream, subject, payload.into())
        .await
        .map_err(not_stored)
}

fn not_stored(reason: String) -> SubmitError {
    SubmitError::Unavailable(format!("the transaction could not be stored: {reason}"))
}

/// Publishes a message until JetStream has stored it, or the time is over.
async fn store(
    jetstream: &jetstream::Context,
    subject: String,
    payload: Bytes,
) -> Result<(), String> {
    let attempts = async {
        loop {
            let acknowledged = match jetstream.publish(subject.clone(), payload.clone()).await {
                Ok(acknowledgement) => acknowledgement.await,
                Err(error) => Err(error),
            };

            match acknowledged {
                Ok(_) => return Ok(()),
                // It would be refused every time.
                Err(error) if error.kind() == PublishErrorKind::MaxPayloadExceeded => {
                    return Err(with_causes(&error));
                }
                Err(error) => {
                    tracing::debug!(error = with_causes(&error), "failed to store a message")
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(STORE_TIMEOUT, attempts)
        .await
        .unwrap_or_else(|_| Err("JetStream does not answer".to_owned()))
}

/// Returns a pooled transaction as it was submitted.
pub(super) fn submission(pooled: &Pooled) -> Submission {
    Submission {
        transaction: pooled.transaction.as_ref().clone(),
        sidecar: pooled.sidecar.clone(),
    }
}

impl Peers for ClusterPeers {
    fn submit<'a>(
        &'a self,
        pooled: &'a Pooled,
        again: bool,
    ) -> BoxFuture<'a, Result<(Acknowledgement, u64), SubmitError>> {
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
        let most = message_bytes(&self.requester.connection.client);
        self.runtime.block_on(async {
            for transaction in transactions {
                let hash = transaction.transaction.hash();
                let size = transaction.encode().len();
                if size > most {
                    tracing::error!(
                        %hash,
                        size,
                        "a transaction is too large for the servers, and is lost"
                    );
                    continue;
                }
                // In their order: one may spend what another one brings.
                keep(&self.requester.connection, &transaction).await?;
            }
            Ok(())
        })
    }

    fn keep<'a>(&'a self, pooled: &'a Pooled) -> BoxFuture<'a, Result<(), SubmitError>> {
        Box::pin(async { keep(&self.requester.connection, &submission(pooled)).await })
    }
}

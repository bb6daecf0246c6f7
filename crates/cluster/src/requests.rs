//! Executing the requests of other nodes, as the leader. They are checked as if they came from a
//! client.

use std::{collections::HashSet, sync::Arc};

use async_nats::Subject;
use bytes::Bytes;
use futures_util::StreamExt;
use parking_lot::Mutex;
use tetrad_chain::{Acknowledgement, Chain, ChangeError, SubmitError};
use tetrad_primitives::block::Submission;
use tokio::sync::Semaphore;

use super::{
    ClusterCounts, ClusterError,
    connection::{Connection, failed},
    large::{Announcement, LARGEST},
    message::{Outcome, Request, Response},
    process::NodeProcess,
};

/// Bytes of requests that are executed at the same time. Further ones wait in the subscription.
const ROOM: usize = 64 << 20;
/// The least size at which a request counts: at most 4,096 of them are executed at the same time.
const MIN_COUNTED: usize = 16 << 10;
/// Bytes of requests larger than a message that are fetched and executed at the same time.
const LARGE_ROOM: usize = LARGEST;
/// Most of them that wait for this room. Without an answer they are announced again.
const MOST_ANNOUNCED: usize = 256;

/// The executor of requests.
#[derive(Clone)]
pub(super) struct Requests {
    pub(super) connection: Connection,
    pub(super) chain: Chain,
    pub(super) counts: Arc<ClusterCounts>,
    /// Whether changes of development methods are executed.
    pub(super) allows_changes: bool,
    /// The ids of the changes that are being made. What the log says of others, their writer knows.
    pub(super) under_way: Arc<Mutex<HashSet<u64>>>,
    /// The subjects of the large requests that wait, or are being fetched or executed.
    pub(super) announced: Arc<Mutex<HashSet<String>>>,
}

impl Requests {
    /// Serves requests to this process.
    pub(super) async fn serve(self, own: &NodeProcess) -> Result<(), ClusterError> {
        let subject = self.connection.names.requests(own);
        let mut requests = self
            .connection
            .client
            .subscribe(subject)
            .await
            .map_err(|error| failed(&error))?;

        tokio::spawn(async move {
            let room = Arc::new(Semaphore::new(ROOM));
            let large_room = Arc::new(Semaphore::new(LARGE_ROOM));
            while let Some(message) = requests.next().await {
                let announcement = Announcement::of(&message);
                let Some(reply) = message.reply else { continue };
                if let Some(announcement) = announcement {
                    self.take_large(announcement, reply, &large_room).await;
                    continue;
                }

                let request = match Request::decode(&message.payload) {
                    Ok(request) => request,
                    // An invalid request takes no room from others.
                    Err(error) => {
                        self.respond(reply, Outcome::Undecodable(error.to_string()))
                            .await;
                        continue;
                    }
                };

                let size = MIN_COUNTED.max(message.payload.len()).min(ROOM) as u32;
                let Ok(held) = room.clone().acquire_many_owned(size).await else {
                    return;
                };

                let own = self.clone();
                tokio::spawn(async move {
                    own.answer(request, reply).await;
                    drop(held);
                });
            }
        });
        Ok(())
    }

    /// Fetches a request and executes it, once there is room for it. One that is announced again is
    /// in progress.
    async fn take_large(
        &self,
        announcement: Result<Announcement, String>,
        reply: Subject,
        room: &Arc<Semaphore>,
    ) {
        let announcement = match announcement {
            Ok(announcement) => announcement,
            Err(error) => return self.respond(reply, Outcome::Undecodable(error)).await,
        };

        let is_new = {
            let mut announced = self.announced.lock();
            if announced.len() >= MOST_ANNOUNCED && !announced.contains(&announcement.subject) {
                // Without an answer it is announced again.
                return;
            }
            announced.insert(announcement.subject.clone())
        };

        if !is_new {
            return self.respond(reply, Outcome::InProgress).await;
        }

        let own = self.clone();
        let room = room.clone();
        tokio::spawn(async move {
            let Ok(held) = room
                .acquire_many_owned(announcement.size.max(MIN_COUNTED) as u32)
                .await
            else {
                return;
            };

            match announcement.fetch(&own.connection.client).await {
                // Many signatures take long.
                Ok(bytes) => {
                    match tokio::task::spawn_blocking(move || Request::decode(&bytes)).await {
                        Ok(Ok(request)) => own.answer(request, reply).await,
                        Ok(Err(error)) => {
                            own.respond(reply, Outcome::Undecodable(error.to_string()))
                                .await
                        }
                        Err(error) => tracing::error!(%error, "failed to decode a request"),
                    }
                }
                // It is announced again if it is still wanted.
                Err(error) => tracing::debug!(error, "failed to fetch a request"),
            }

            own.announced.lock().remove(&announcement.subject);
            drop(held);
        });
    }

    async fn respond(&self, reply: Subject, outcome: Outcome) {
        self.connection.answer(reply, self.response(outcome)).await;
    }

    fn response(&self, outcome: Outcome) -> Bytes {
        Response {
            height: self.chain.height(),
            outcome,
        }
        .encode()
        .into()
    }

    async fn answer(&self, request: Request, reply: Subject) {
        let id = match request {
            Request::Change { id, .. } => id,
            _ => None,
        };
        // A repeated request must not be executed twice at the same time.
        let is_new = id.is_none_or(|id| self.under_way.lock().insert(id));

        let outcome = if is_new {
            self.execute(request).await
        } else {
            Outcome::InProgress
        };

        if let Some(id) = id.filter(|_| is_new) {
            self.under_way.lock().remove(&id);
        }

        self.counts.executed.add(u64::from(outcome.is_executed()));
        self.respond(reply, outcome).await;
    }

    async fn execute(&self, request: Request) -> Outcome {
        let leads = self.chain.leadership().borrow().leads;
        let allows_changes = self.allows_changes;
        match request {
            Request::Submit { raw, again } => {
                Outcome::Submitted(self.submit_signed(&raw, again).await)
            }
            Request::SubmitImpersonated { transaction, again } => {
                // `NotLeading` comes first: the sender asks the leader, whose settings count.
                Outcome::Submitted(match (leads, allows_changes) {
                    (false, _) => Err(SubmitError::NotLeading),
                    (true, false) => Err(SubmitError::UnknownAccount),
                    (true, true) => {
                        self.submit(
                            Submission {
                                transaction: *transaction,
                                sidecar: None,
                            },
                            again,
                        )
                        .await
                    }
                })
            }
            Request::Change { id, change } => Outcome::Changed(match (leads, allows_changes) {
                (false, _) => Err(ChangeError::NotLeading),
                (true, false) => Err(ChangeError::Unavailable(
                    "the leader has no development methods".to_owned(),
                )),
                (true, true) => self.chain.change_here(change, id).await,
            }),
            Request::Drop(selection) => Outcome::Dropped(match (leads, allows_changes) {
                (false, _) => Err(SubmitError::NotLeading),
                (true, false) => Err(SubmitError::Unavailable(
                    "the leader has no development methods".to_owned(),
                )),
                (true, true) => self.chain.remove(selection).await,
            }),
        }
    }

    async fn submit_signed(&self, raw: &[u8], again: bool) -> Result<Acknowledgement, SubmitError> {
        if !self.chain.leadership().borrow().leads {
            return Err(SubmitError::NotLeading);
        }
        self.submit(Submission::decode(raw)?, again).await
    }

    async fn submit(
        &self,
        submission: Submission,
        again: bool,
    ) -> Result<Acknowledgement, SubmitError> {
        let hash = submission.transaction.hash();
        // An earlier attempt may have been executed.
        if again && self.chain.transaction(&self.chain.head(), hash).is_some() {
            return Ok(Acknowledgement::Included);
        }
        match self.chain.accept(submission) {
            Ok(accepted) => self.chain.acknowledged_here(accepted).await,
            Err(SubmitError::AlreadyKnown) if again => self.chain.acknowledged_again(hash).await,
            // The block that includes it may have been published since.
            Err(_) if again && self.chain.transaction(&self.chain.head(), hash).is_some() => {
                Ok(Acknowledgement::Included)
            }
            Err(error) => Err(error),
        }
    }
}

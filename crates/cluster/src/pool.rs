//! Transactions that wait for a block, in a stream of their own, so that they survive the leader.
//!
//! The stream has one message for each transaction: the transaction, or nothing once it was
//! dropped. Every node keeps those of the stream in its pool, and stores again what the stream
//! lacks, such as what servers lost in a crash. The leader deletes the messages of transactions
//! that are no longer in its pool.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use alloy_consensus::Transaction as _;
use alloy_primitives::B256;
use async_nats::{
    Message,
    jetstream::stream::{InfoError, Stream},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use tetrad_chain::{Chain, SubmitError};
use tetrad_primitives::block::Submission;
use tetrad_stdx::causes::with_causes;
use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, MissedTickBehavior, interval},
};

use super::{
    connection::Connection,
    message::Request,
    peers::{keep, submission},
};
use crate::jetstream::{Delivered, delete, deliver};

/// Interval at which the pool and the stream are compared.
const COMPARE_INTERVAL: Duration = Duration::from_secs(5);
/// Number of messages that are deleted or stored at the same time.
const AT_ONCE: usize = 32;
/// Most refused transactions that are offered again. Others are read again once there are fewer.
const MOST_REFUSED: usize = 1_024;
/// Time for which a refused transaction is offered again.
const REFUSED_FOR: Duration = Duration::from_secs(600);
/// Messages that are held.
const HELD_MESSAGES: usize = 64;

/// Keeps the pool in step with the stream. Without `allows_changes`, only signed transactions are
/// accepted, and none is dropped.
pub(super) fn mirror(
    connection: Connection,
    stream: Stream<()>,
    chain: Chain,
    allows_changes: bool,
) {
    let messages = read(&stream);
    let mirror = PoolMirror {
        connection,
        stream,
        chain,
        allows_changes,
        messages,
        known: HashMap::new(),
        refused: HashMap::new(),
        has_more_refused: false,
        foreign: HashSet::new(),
        unknown: HashSet::new(),
    };
    tokio::spawn(mirror.run());
}

/// Returns the messages of the stream, from its beginning.
fn read(stream: &Stream<()>) -> mpsc::Receiver<Delivered> {
    let (sender, messages) = mpsc::channel(HELD_MESSAGES);
    tokio::spawn(deliver(stream.clone(), 0, sender, Arc::new(Notify::new())));
    messages
}

/// The pool of this node beside the stream.
struct PoolMirror {
    connection: Connection,
    stream: Stream<()>,
    chain: Chain,
    allows_changes: bool,
    messages: mpsc::Receiver<Delivered>,
    /// The sequence of each transaction's message.
    known: HashMap<B256, u64>,
    /// Messages of transactions that the pool rejects now but may accept later, such as one that
    /// spends the proceeds of another.
    refused: HashMap<B256, Refused>,
    /// Whether there were more of them than are kept.
    has_more_refused: bool,
    /// The sequences of messages on subjects of no transaction.
    foreign: HashSet<u64>,
    /// Transactions of the pool whose messages had not been delivered at the last comparison.
    unknown: HashSet<B256>,
}

/// The message of a transaction that the pool does not take now.
struct Refused {
    sequence: u64,
    since: Instant,
}

/// The content of a message on a transaction's subject.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    /// The transaction, which waits, is in a block, or never can be; or it was dropped.
    Known,
    /// The transaction, which cannot wait now.
    Refused,
    Foreign,
}

impl PoolMirror {
    async fn run(mut self) {
        let mut leadership = self.chain.leadership();
        let mut ticks = interval(COMPARE_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);

        loop {
            tokio::select! {
                message = self.messages.recv() => {
                    let Some((sequence, message)) = message else {
                        self.read_again();
                        continue;
                    };
                    self.take(sequence, &message);
                }
                changed = leadership.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    // A transaction may have been refused while this node's head was behind.
                    if leadership.borrow_and_update().leads {
                        self.read_again();
                    }
                }
                _ = ticks.tick() => if let Err(error) = self.compare().await {
                    tracing::debug!(
                        error = with_causes(&error),
                        "no answer about the transactions that wait"
                    );
                }
            }
        }
    }

    /// Takes a message of the stream into account.
    fn take(&mut self, sequence: u64, message: &Message) {
        let subject = message.subject.as_str();
        let hash = subject
            .rsplit('.')
            .next()
            .and_then(|hash| hash.parse::<B256>().ok());
        // The same hash may be written in other ways.
        let hash =
            hash.filter(|hash| subject == self.connection.names.pool_subject(&format!("{hash:x}")));

        let Some(hash) = hash else {
            tracing::debug!(subject, "a message that is on no transaction's subject");
            self.foreign.insert(sequence);
            return;
        };
        self.note(hash, sequence, &message.payload);
    }

    /// Takes the content of a transaction's message into account.
    fn note(&mut self, hash: B256, sequence: u64, payload: &[u8]) {
        let content = accept(&self.chain, hash, payload, self.allows_changes);
        let before = self.refused.remove(&hash);
        self.known.remove(&hash);

        match content {
            Content::Refused if self.refused.len() < MOST_REFUSED => {
                let since = before.map_or_else(Instant::now, |before| before.since);
                self.refused.insert(hash, Refused { sequence, since });
            }
            // It is read again once there is room.
            Content::Refused => self.has_more_refused = true,
            // It has replaced the transaction's, which is stored again.
            Content::Foreign if self.chain.pool().get(hash).is_some() => {
                self.unknown.insert(hash);
            }
            Content::Known | Content::Foreign => drop(self.known.insert(hash, sequence)),
        }
    }

    /// Reads the stream from its beginning.
    fn read_again(&mut self) {
        self.known.clear();
        self.refused.clear();
        self.foreign.clear();
        self.has_more_refused = false;
        self.messages = read(&self.stream);
    }

    /// Compares the pool with the stream. Only the leader deletes messages.
    async fn compare(&mut self) -> Result<(), InfoError> {
        if !self.chain.leadership().borrow().leads {
            // The leader deletes the messages.
            self.known
                .retain(|hash, _| self.chain.pool().get(*hash).is_some());
            self.refused.clear();
            self.foreign.clear();
            // Transactions that the servers lost may be in this node's pool only.
            self.store_missing().await;
            return Ok(());
        }

        self.offer_refused().await;
        // Messages that arrived meanwhile only make the stream longer.
        if self.stream.get_info().await?.state.messages < self.known.len() as u64 {
            self.find_lost().await?;
        }

        self.delete_old().await;
        self.store_missing().await;

        if self.has_more_refused && self.refused.len() < MOST_REFUSED / 2 {
            self.read_again();
        }
        Ok(())
    }

    /// Offers the pool again what it has refused, for a while.
    async fn offer_refused(&mut self) {
        let refused: Vec<_> = self
            .refused
            .iter()
            .map(|(hash, refused)| (*hash, refused.sequence))
            .collect();
        for (hash, sequence) in refused {
            if let Ok(message) = self.stream.get_raw_message(sequence).await {
                self.note(hash, sequence, &message.payload);
            }
        }

        let given_up = self
            .refused
            .extract_if(|_, refused| refused.since.elapsed() > REFUSED_FOR);
        // Their messages are deleted like those of transactions that no longer wait.
        self.known
            .extend(given_up.map(|(hash, refused)| (hash, refused.sequence)));
    }

    /// Forgets the messages that the stream no longer has.
    async fn find_lost(&mut self) -> Result<(), InfoError> {
        let subjects = self
            .stream
            .info_with_subjects(self.connection.names.pool_subject("*"))
            .await?;
        let subjects: HashMap<String, usize> = subjects.try_collect().await?;

        let names = &self.connection.names;
        let lost: Vec<_> = self
            .known
            .keys()
            .copied()
            .filter(|hash| !subjects.contains_key(&names.pool_subject(&format!("{hash:x}"))))
            .collect();

        // A deletion whose answer was lost may have been made.
        let pool = self.chain.pool();
        let waiting = lost
            .iter()
            .filter(|hash| pool.get(**hash).is_some())
            .count();
        if waiting > 0 {
            tracing::warn!(
                lost = waiting,
                stream = names.pool(),
                "the stream has lost transactions that wait"
            );
        }

        for hash in lost {
            self.known.remove(&hash);
            // It is stored again at once.
            self.unknown.insert(hash);
        }
        Ok(())
    }

    /// Deletes the messages of transactions that no longer wait, and those that never belonged
    /// here.
    async fn delete_old(&mut self) {
        let pool = self.chain.pool();
        // A later message has another sequence: it is of the same transaction, which waits again.
        let over = self
            .known
            .iter()
            .filter(|(hash, _)| pool.get(**hash).is_none())
            .map(|(_, sequence)| *sequence);
        let old: Vec<_> = self.foreign.iter().copied().chain(over).collect();

        let deletions = old.into_iter().map(|sequence| {
            let stream = self.stream.clone();
            async move { (sequence, delete(&stream, sequence).await) }
        });
        let deletions: Vec<_> = stream::iter(deletions)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;

        let mut deleted = HashSet::new();
        for (sequence, outcome) in deletions {
            match outcome {
                Ok(()) => drop(deleted.insert(sequence)),
                Err(error) => {
                    tracing::debug!(
                        %error,
                        "failed to delete a transaction that does not wait any more"
                    )
                }
            }
        }

        self.known.retain(|_, sequence| !deleted.contains(sequence));
        self.foreign.retain(|sequence| !deleted.contains(sequence));
    }

    /// Stores the transactions that the stream lacked at the last comparison already.
    async fn store_missing(&mut self) {
        let pooled = self
            .chain
            .pool()
            .content()
            .into_iter()
            .map(|(pooled, _)| (pooled.transaction.hash(), pooled));
        let missing: HashMap<_, _> = pooled
            .filter(|(hash, _)| !self.known.contains_key(hash))
            .collect();

        // The message of any other may be on its way.
        let again = missing
            .iter()
            .filter(|(hash, _)| self.unknown.contains(*hash));
        let again: Vec<_> = again
            .map(|(_, pooled)| (self.connection.clone(), pooled.clone()))
            .collect();

        let stored = again.into_iter().map(|(connection, pooled)| async move {
            keep(&connection, &submission(&pooled)).await
        });
        let stored: Vec<_> = stream::iter(stored)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;

        for error in stored.into_iter().filter_map(Result::err) {
            tracing::debug!(%error, "failed to store a transaction that waits");
        }

        self.unknown = missing.into_keys().collect();
    }
}

/// Adds a transaction of the stream to the pool, or removes one that was dropped. Returns what the
/// message is.
fn accept(chain: &Chain, hash: B256, payload: &[u8], allows_changes: bool) -> Content {
    if payload.is_empty() {
        // Dropping transactions is a development method.
        if !allows_changes {
            return Content::Foreign;
        }
        chain
            .pool()
            .reject(hash, SubmitError::Dropped("transaction dropped".to_owned()));
        return Content::Known;
    }

    let submission = match Request::decode(payload) {
        Ok(Request::Submit { raw, .. }) => {
            Submission::decode(&raw).map_err(|error| error.to_string())
        }
        Ok(Request::SubmitImpersonated { transaction, .. }) if allows_changes => Ok(Submission {
            transaction: *transaction,
            sidecar: None,
        }),
        Ok(_) => Err("it is not a signed transaction".to_owned()),
        Err(error) => Err(error.to_string()),
    };

    let submission = match submission {
        Ok(submission) if submission.transaction.hash() == hash => submission,
        Ok(_) => {
            tracing::debug!(%hash, "a transaction that waits has another hash than its message");
            return Content::Foreign;
        }
        Err(error) => {
            tracing::debug!(%hash, error, "a message that is no transaction that waits");
            return Content::Foreign;
        }
    };

    let sender = submission.transaction.sender;
    let nonce = submission.transaction.envelope.nonce();
    match chain.accept_acknowledged(submission) {
        Ok(_) => chain.wake(),
        // Most are in this node's pool already, or in a block.
        Err(error) => {
            tracing::trace!(%hash, %error, "a transaction that waits elsewhere");
            let may_wait_later = chain
                .head()
                .state
                .nonce(sender)
                .is_ok_and(|next| nonce >= next);
            if may_wait_later && chain.pool().get(hash).is_none() {
                return Content::Refused;
            }
        }
    }
    Content::Known
}

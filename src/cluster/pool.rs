//! Transactions that wait for a block, in a stream of their own, so that they survive the leader.
//!
//! The stream has one message for each transaction: the transaction, or nothing once it was dropped. Every node keeps
//! those of the stream in its pool; the leader removes the messages of transactions that are not in its pool any more.

use std::{collections::HashMap, sync::Arc, time::Duration};

use alloy_primitives::B256;
use async_nats::jetstream::stream::Stream;
use futures_util::{StreamExt, stream};
use tokio::{
    sync::{Notify, mpsc},
    time::{MissedTickBehavior, interval},
};

use super::{connection::Connection, message::Request};
use crate::{
    block::Submission,
    chain::{Chain, SubmitError},
    log::{Delivered, deliver},
};

/// Interval at which the leader removes messages.
const EVERY: Duration = Duration::from_secs(5);
/// Number of messages that are removed at the same time.
const AT_ONCE: usize = 32;
/// Messages that are held.
const HELD: usize = 64;

/// Keeps the pool in step with the stream. Without `allows_changes`, only signed transactions are accepted, and none is
/// dropped.
pub(super) fn mirror(connection: Connection, stream: Stream<()>, chain: Chain, allows_changes: bool) {
    tokio::spawn(async move {
        let mut messages = read(&stream);
        let mut leadership = chain.leadership();
        // The sequence of each transaction's message.
        let mut known = HashMap::<B256, u64>::new();
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                message = messages.recv() => {
                    let Some((sequence, message)) = message else { return };
                    let hash = message.subject.rsplit('.').next().and_then(|hash| hash.parse::<B256>().ok());
                    let Some(hash) = hash else { continue };
                    known.insert(hash, sequence);
                    take(&chain, hash, &message.payload, allows_changes);
                }
                changed = leadership.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    // A transaction may have been refused while this node's head was behind.
                    if leadership.borrow_and_update().leads {
                        known.clear();
                        messages = read(&stream);
                    }
                }
                _ = ticks.tick() => {
                    let leads = chain.leadership().borrow().leads;
                    match leads {
                        true => tidy(&connection, &stream, &chain, &mut known).await,
                        // The leader removes the messages.
                        false => known.retain(|hash, _| chain.pool().get(*hash).is_some()),
                    }
                }
            }
        }
    });
}

/// Returns the messages of the stream, from its beginning.
fn read(stream: &Stream<()>) -> mpsc::Receiver<Delivered> {
    let (sender, messages) = mpsc::channel(HELD);
    tokio::spawn(deliver(stream.clone(), 0, sender, Arc::new(Notify::new())));
    messages
}

/// Adds a transaction of the stream to the pool, or removes one that was dropped.
fn take(chain: &Chain, hash: B256, payload: &[u8], allows_changes: bool) {
    if payload.is_empty() {
        if !allows_changes {
            return;
        }
        chain.pool().reject(hash, SubmitError::Dropped("transaction dropped".to_owned()));
        return;
    }
    let submission = match Request::decode(payload) {
        Ok(Request::Submit { raw, .. }) => Submission::decode(&raw).map_err(|error| error.to_string()),
        Ok(Request::SubmitImpersonated { transaction, .. }) if allows_changes => {
            Ok(Submission { transaction: *transaction, sidecar: None })
        }
        Ok(_) => Err("it is not a signed transaction".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    let submission = match submission {
        Ok(submission) if submission.transaction.hash() == hash => submission,
        Ok(_) => return tracing::debug!(%hash, "a transaction that waits has another hash than its message"),
        Err(error) => return tracing::debug!(%hash, error, "a message that is no transaction that waits"),
    };
    match chain.accept(submission) {
        Ok(_) => chain.wake(),
        // Most are in this node's pool already, or in a block.
        Err(error) => tracing::trace!(%hash, %error, "a transaction that waits elsewhere"),
    }
}

/// Removes the messages of transactions that do not wait any more.
async fn tidy(connection: &Connection, stream: &Stream<()>, chain: &Chain, known: &mut HashMap<B256, u64>) {
    let over: Vec<_> = known
        .iter()
        .filter(|(hash, _)| chain.pool().get(**hash).is_none())
        .map(|(hash, sequence)| (*hash, *sequence))
        .collect();
    let removals = over.into_iter().map(async |(hash, sequence)| {
        let subject = connection.names.pool_subject(&format!("{hash:x}"));
        // A later message is of the same transaction, which waits again.
        (hash, stream.purge().filter(subject).sequence(sequence + 1).await)
    });
    let mut removals = stream::iter(removals).buffer_unordered(AT_ONCE);
    while let Some((hash, removed)) = removals.next().await {
        match removed {
            Ok(_) => drop(known.remove(&hash)),
            Err(error) => tracing::debug!(%error, "failed to remove a transaction that does not wait any more"),
        }
    }
}

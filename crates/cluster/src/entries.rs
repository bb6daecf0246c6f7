//! Entries of the log for nodes that find them missing in the stream: the node that leads sends
//! them from its copy.

use std::{fmt, str::FromStr, time::Duration};

use alloy_primitives::{B256, keccak256};
use async_nats::{Message, Request};
use bytes::Bytes;
use futures_util::{StreamExt, future::BoxFuture};
use tetrad_chain::Chain;
use tetrad_stdx::causes::with_causes;
use tetrad_store::log::ReadLog;
use tokio::task::spawn_blocking;

use super::{
    ClusterError,
    bucket::ClusterBucket,
    connection::{Connection, failed},
    large::{Announcement, part},
    process::NodeProcess,
};
use crate::jetstream::{CopiedEntry, OtherCopies};

/// Time in which the leader must say what it has.
const DESCRIPTION_TIMEOUT: Duration = Duration::from_secs(1);

/// The leader's description of an entry that it has. The entry itself is fetched in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Description {
    /// Size of the entry in bytes.
    size: usize,
    /// Keccak-256 of the entry before, if the leader has it.
    previous: Option<B256>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.size)?;
        self.previous
            .map_or(Ok(()), |previous| write!(f, " {previous:x}"))
    }
}

impl FromStr for Description {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (size, previous) = text
            .split_once(' ')
            .map_or((text, None), |(size, previous)| (size, Some(previous)));
        let size = size.parse().map_err(|_| format!("invalid size {size:?}"))?;
        let previous = previous.map(str::parse).transpose();
        Ok(Self {
            size,
            previous: previous.map_err(|_| "invalid hash of the entry before".to_owned())?,
        })
    }
}

/// The copy of the node that leads.
pub(super) struct LeaderCopy {
    pub(super) connection: Connection,
    pub(super) bucket: ClusterBucket,
}

impl OtherCopies for LeaderCopy {
    fn entry(&self, height: u64) -> BoxFuture<'_, Option<CopiedEntry>> {
        Box::pin(async move {
            self.fetch(height).await.unwrap_or_else(|error| {
                tracing::debug!(
                    height,
                    error,
                    "failed to fetch an entry from the node that leads"
                );
                None
            })
        })
    }
}

impl LeaderCopy {
    async fn fetch(&self, height: u64) -> Result<Option<CopiedEntry>, String> {
        let lease = self
            .bucket
            .lease()
            .await
            .map_err(|error| error.to_string())?;
        let Some(holder) = lease.and_then(|lease| lease.value) else {
            return Ok(None);
        };

        let client = &self.connection.client;
        let leader = NodeProcess {
            node: holder.node,
            instance: holder.instance,
        };
        let subject = self.connection.names.entry(&leader, &height.to_string());
        let answer = client
            .send_request(
                subject.clone(),
                Request::new().timeout(Some(DESCRIPTION_TIMEOUT)),
            )
            .await;
        let answer = answer.map_err(|error| with_causes(&error))?.payload;
        if answer.is_empty() {
            return Ok(None);
        }

        let text = str::from_utf8(&answer).map_err(|error| error.to_string())?;
        let Description { size, previous } = text.parse()?;
        let bytes = Announcement { subject, size }.fetch(client).await?;
        Ok(Some(CopiedEntry { bytes, previous }))
    }
}

/// Serves the entries of this process's copy while it leads. Requests are answered one after
/// another, so that nodes that catch up do not take the leader's time.
pub(super) async fn serve(
    connection: Connection,
    chain: Chain,
    own: &NodeProcess,
) -> Result<(), ClusterError> {
    let subject = connection.names.entry(own, "*");
    let mut wanted = connection
        .client
        .subscribe(subject)
        .await
        .map_err(|error| failed(&error))?;

    tokio::spawn(async move {
        let mut served = Served {
            connection,
            chain,
            last: None,
        };
        while let Some(message) = wanted.next().await {
            let Some(reply) = message.reply.clone() else {
                continue;
            };
            // An empty answer: it does not have the entry.
            let answer = served.answer(&message).await.unwrap_or_default();
            served.connection.answer(reply, answer).await;
        }
    });
    Ok(())
}

/// The copy of this process, for others.
struct Served {
    connection: Connection,
    chain: Chain,
    /// The entry that was described last, since its parts are fetched next.
    last: Option<(u64, Bytes)>,
}

impl Served {
    /// Returns the description of the entry that a message names or, if the message names an offset
    /// as well, the part of the entry that begins there.
    async fn answer(&mut self, message: &Message) -> Option<Bytes> {
        let height = message.subject.rsplit('.').next()?.parse().ok()?;
        let last = self.last.take().filter(|(last, _)| *last == height);
        if !self.chain.leadership().borrow().leads {
            return None;
        }

        if message.payload.is_empty() {
            let chain = self.chain.clone();
            let read = spawn_blocking(move || described(chain.log()?, height)).await;
            let (description, entry) = read.ok()??;
            self.last = Some((height, entry));
            return Some(description.to_string().into());
        }

        let entry = match last {
            Some((_, entry)) => entry,
            // Another node has asked for another one in between.
            None => {
                let chain = self.chain.clone();
                let read = spawn_blocking(move || read(chain.log()?, height)).await;
                read.ok()??.into()
            }
        };
        let part = part(&self.connection.client, entry.len(), &message.payload)?;
        // The entry is not requested again after its last part.
        self.last = Some((height, entry.clone())).filter(|_| part.end < entry.len());
        Some(entry.slice(part))
    }
}

/// Reads an entry, if the log has it.
fn read(log: &dyn ReadLog, height: u64) -> Option<Vec<u8>> {
    log.heights()
        .contains(&height)
        .then(|| log.read(height).ok())?
        .map(|stored| stored.bytes)
}

/// Reads an entry and describes it, if the log has it.
fn described(log: &dyn ReadLog, height: u64) -> Option<(Description, Bytes)> {
    let entry = read(log, height)?;
    let previous = height
        .checked_sub(1)
        .and_then(|before| read(log, before))
        .map(keccak256);
    Some((
        Description {
            size: entry.len(),
            previous,
        },
        entry.into(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_as_it_was_written() {
        for previous in [None, Some(keccak256("before"))] {
            let description = Description {
                size: 70_000,
                previous,
            };
            assert_eq!(description.to_string().parse(), Ok(description));
        }
        for (text, error) in [
            ("", "invalid size"),
            ("-1", "invalid size"),
            ("1 ", "invalid hash"),
            ("1 ab", "invalid hash"),
        ] {
            let refused = text.parse::<Description>().unwrap_err();
            assert!(refused.contains(error), "{text}: {refused}");
        }
    }
}

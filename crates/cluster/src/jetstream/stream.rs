//! The stream of a replicated log.

use std::{error::Error, ops::Range, time::Duration};

use alloy_primitives::keccak256;
use async_nats::{
    connection::State,
    jetstream::{
        self,
        context::{PublishErrorKind, traits::Publisher},
        message::StreamMessage,
        stream::{Config, DiscardPolicy, RawMessageError, RawMessageErrorKind, StorageType},
    },
};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use k256::elliptic_curve::rand_core::{OsRng, RngCore};
use tetrad_stdx::causes::with_causes;
use tetrad_store::log::{EntryStream, LogError, StoredEntry};

use super::message::{AttemptId, EntryPart, PartHeader, parts, too_many_parts};

/// Size of a part in bytes, if the server's limit allows it. NATS advises against larger messages.
const PART_BYTES: usize = 512 << 10;
/// Space for the headers of a message, in bytes.
const HEADER_ROOM: usize = 4 << 10;
/// Number of messages that are deleted at the same time.
const AT_ONCE: usize = 64;
/// Time limit of a request about the stream.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// A stream that holds a log.
#[derive(Clone, Debug)]
pub struct LogStream {
    jetstream: jetstream::Context,
    stream: jetstream::stream::Stream<()>,
    name: String,
    subject: String,
}

/// The messages and entries of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamExtent {
    /// Sequence of the first message, or of the next one if there are none.
    pub first: u64,
    /// Sequence of the last message.
    pub last: u64,
    /// Bytes that the stream occupies.
    pub bytes: u64,
}

/// The result of publishing a message at an expected sequence.
pub(super) enum Published {
    /// The message was stored at this sequence.
    Stored(u64),
    /// The stream has other messages.
    Conflict,
}

fn unavailable(error: impl Error) -> LogError {
    LogError::Unavailable(with_causes(&error))
}

/// Deletes the message at a sequence, if there is one. Servers of version 2.9 that end in a crash
/// lose the messages after those that were *purged*, but not those after deleted ones.
pub async fn delete(stream: &jetstream::stream::Stream<()>, sequence: u64) -> Result<(), LogError> {
    let Err(error) = stream.delete_message(sequence).await else {
        return Ok(());
    };

    match stream.get_raw_message(sequence).await {
        Err(missing) if missing.kind() == RawMessageErrorKind::NoMessageFound => Ok(()),
        _ => Err(unavailable(error)),
    }
}

impl LogStream {
    /// Opens the stream `name` of messages with this subject, which must exist.
    pub async fn open(
        jetstream: &jetstream::Context,
        name: &str,
        subject: &str,
    ) -> Result<Self, LogError> {
        let stream = jetstream
            .get_stream_no_info(name)
            .await
            .map_err(unavailable)?;
        Ok(Self {
            jetstream: jetstream.clone(),
            stream,
            name: name.to_owned(),
            subject: subject.to_owned(),
        })
    }

    /// Creates the stream with this number of replicas, or opens it if it exists.
    pub async fn create(
        jetstream: &jetstream::Context,
        name: &str,
        subject: &str,
        replicas: usize,
    ) -> Result<Self, LogError> {
        let config = Config {
            name: name.to_owned(),
            subjects: vec![subject.to_owned()],
            description: Some("The log of a chain of tetrad".to_owned()),
            storage: StorageType::File,
            num_replicas: replicas,
            // A full stream refuses new entries, rather than lose old ones.
            discard: DiscardPolicy::New,
            ..Config::default()
        };
        jetstream
            .get_or_create_stream(config)
            .await
            .map_err(unavailable)?;
        Self::open(jetstream, name, subject).await
    }

    /// Returns the stream's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns which messages the stream has.
    pub async fn extent(&self) -> Result<StreamExtent, LogError> {
        let state = match tokio::time::timeout(REQUEST_TIMEOUT, self.stream.get_info()).await {
            Ok(info) => info.map_err(unavailable)?.state,
            Err(_) => {
                return Err(LogError::Unavailable(format!(
                    "no answer about the stream {}",
                    self.name
                )));
            }
        };

        Ok(StreamExtent {
            first: state.first_sequence,
            last: state.last_sequence,
            bytes: state.bytes,
        })
    }

    /// Returns whether a server is connected.
    pub(super) fn is_connected(&self) -> bool {
        self.jetstream.client().connection_state() == State::Connected
    }

    /// Asks the servers to elect another leader of the stream.
    pub(super) async fn depose_leader(&self) -> Result<(), LogError> {
        let subject = format!("STREAM.LEADER.STEPDOWN.{}", self.name);
        let answer = self
            .jetstream
            .request::<_, _, serde_json::Value>(subject, &serde_json::json!({}))
            .await;
        answer.map(drop).map_err(unavailable)
    }

    /// Deletes the messages before a sequence, the oldest first.
    pub(crate) async fn delete_before(&self, sequence: u64) -> Result<(), LogError> {
        let old = self.extent().await?.first.max(1)..sequence;
        let deletions = stream::iter(old.map(|sequence| delete(&self.stream, sequence)));
        deletions.buffered(AT_ONCE).try_collect().await
    }

    /// Returns the size of a part, in bytes.
    pub(super) fn part_bytes(&self) -> usize {
        let limit = self.jetstream.client().server_info().max_payload;
        PART_BYTES.min(limit.saturating_sub(HEADER_ROOM)).max(1)
    }

    /// Returns the stream of messages.
    pub(super) fn messages(&self) -> &jetstream::stream::Stream<()> {
        &self.stream
    }

    /// Returns the message at a sequence, or `None` if there is none.
    pub(super) async fn part(&self, sequence: u64) -> Result<Option<EntryPart>, LogError> {
        self.found(sequence, self.stream.get_raw_message(sequence))
            .await
    }

    /// Returns the first message at a sequence or after it, or `None` if there is none. Servers may
    /// have lost some in between, and operators removed some.
    pub(super) async fn part_from(&self, sequence: u64) -> Result<Option<EntryPart>, LogError> {
        self.found(
            sequence,
            self.stream
                .get_first_raw_message_by_subject(&self.subject, sequence),
        )
        .await
    }

    async fn found(
        &self,
        wanted: u64,
        message: impl Future<Output = Result<StreamMessage, RawMessageError>>,
    ) -> Result<Option<EntryPart>, LogError> {
        let message = match tokio::time::timeout(REQUEST_TIMEOUT, message).await {
            Ok(Ok(message)) => message,
            Ok(Err(error)) if error.kind() == RawMessageErrorKind::NoMessageFound => {
                return Ok(None);
            }
            Ok(Err(error)) => return Err(unavailable(error)),
            Err(_) => {
                return Err(LogError::Unavailable(format!(
                    "no answer about message {wanted}"
                )));
            }
        };

        let header = PartHeader::read(Some(&message.headers), message.sequence, &self.name)?;
        Ok(Some(EntryPart {
            sequence: message.sequence,
            header,
            payload: message.payload,
        }))
    }

    /// Returns the sequence of the first message at a height or above, or the next sequence if
    /// there is none.
    pub(crate) async fn sequence_of(&self, height: u64) -> Result<u64, LogError> {
        let StreamExtent { first, last, .. } = self.extent().await?;
        let mut low = first.max(1);
        let mut high = last + 1;
        while low < high {
            let middle = low + (high - low) / 2;
            match self.part_from(middle).await? {
                Some(part) if part.header.height < height => low = part.sequence + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// Returns the last message from `known` up to sequence `last`. The servers have a request for
    /// that, but those before 2.12.5 find nothing once the last message was deleted.
    async fn last_part(&self, known: EntryPart, last: u64) -> Result<EntryPart, LogError> {
        if let Some(part) = self.part(last).await? {
            return Ok(part);
        }

        let mut newest = known;
        let mut end = last;
        while newest.sequence + 1 < end {
            let middle = newest.sequence + (end - newest.sequence) / 2;
            let found = self.part_from(middle).await?;
            match found.filter(|part| part.sequence < end) {
                Some(part) => newest = part,
                None => end = middle,
            }
        }
        Ok(newest)
    }

    /// Returns the heights of the stream's first entry and after its last one, or `None` if it has
    /// no entry.
    pub async fn heights(&self) -> Result<Option<Range<u64>>, LogError> {
        let StreamExtent { first, last, .. } = self.extent().await?;
        if last < first.max(1) {
            return Ok(None);
        }

        let Some(oldest) = self.part_from(first).await? else {
            return Ok(None);
        };
        let begins = oldest.header.height;
        let newest = self.last_part(oldest, last).await?;
        // The writer of the last entry may not have stored all of its parts.
        let complete = newest.header.part + 1 == newest.header.parts;
        Ok(Some(begins..newest.header.height + u64::from(complete)))
    }

    /// Publishes a message, which must come right after the one at `last`.
    pub(super) async fn publish(
        &self,
        last: u64,
        header: PartHeader,
        payload: Bytes,
    ) -> Result<Published, LogError> {
        let message = jetstream::message::PublishMessage::build()
            .payload(payload)
            .headers(header.headers())
            .expected_stream(&self.name)
            // With this two writers can never interleave.
            .expected_last_sequence(last);

        let acknowledged = self
            .jetstream
            .publish_message(message.outbound_message(self.subject.clone()))
            .await;
        let outcome = match acknowledged {
            Ok(acknowledgement) => acknowledgement.await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(acknowledgement) => Ok(Published::Stored(acknowledgement.sequence)),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                Ok(Published::Conflict)
            }
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Appends the entries of another log to the stream, which must be empty or end with the
    /// entries before them. Returns their number.
    pub(crate) async fn append_all(&self, entries: EntryStream) -> Result<u64, LogError> {
        let mut last = self.extent().await?.last;
        let part_bytes = self.part_bytes();
        let writer = OsRng.next_u64();

        let mut count = 0;
        let mut previous = None;
        for stored in entries {
            let StoredEntry { height, bytes } = stored?;
            let id = AttemptId {
                writer,
                attempt: count,
            };
            let parts = parts(height, previous, &bytes, id, part_bytes);
            for (header, payload) in parts.ok_or_else(|| too_many_parts(height))? {
                match self.publish(last, header, payload).await? {
                    Published::Stored(sequence) => last = sequence,
                    Published::Conflict => {
                        return Err(LogError::Mismatch {
                            place: format!("the stream {}", self.name),
                            what: "another node writes to it at the same time".to_owned(),
                        });
                    }
                }
            }
            previous = Some(keccak256(&bytes));
            count += 1;
        }
        Ok(count)
    }
}

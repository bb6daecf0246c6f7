//! Appending to a replicated log, and keeping its copy.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_primitives::{B256, keccak256};
use bytes::Bytes;
use k256::elliptic_curve::rand_core::{OsRng, RngCore};
use tetrad_store::log::{AppendError, BlockLog, LogError, ReadLog, StoredEntry};
use tokio::{runtime::Handle, sync::Notify, time::timeout};

use super::{
    CopiedEntry, OtherCopies,
    compare::{Comparison, Fork, compare},
    message::{Assembler, AttemptId, EntryPart, PartHeader, parts, too_many_parts},
    stream::{LogStream, Published, StreamExtent},
    tail::Tail,
};

/// Time in which the stream must store an entry. An election among the servers takes about five
/// seconds, and clients get an answer within ten.
const STORE_TIMEOUT: Duration = Duration::from_secs(8);
/// Pause before a message is published again.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// Time in which the stream must deliver the messages that it has.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of entries that are received at once, so that heads are published in between.
const MAX_RECEIVED_BYTES: usize = 4 << 20;
/// Number of messages that are received at once.
const MAX_RECEIVED: usize = 512;
/// Time after which a difference between the stream and the copy counts, if there still is one.
const CONFIRMED_AFTER: Duration = Duration::from_secs(2);
/// Time in which the servers are not asked for another leader again: an election takes about five
/// seconds.
const ELECTION_TIME: Duration = Duration::from_secs(10);

/// The writer of a replicated log.
pub(super) struct JetStreamLog {
    stream: LogStream,
    copy: Box<dyn BlockLog>,
    others: Arc<dyn OtherCopies>,
    runtime: Handle,
    arrivals: Arc<Notify>,
    /// A random number that marks this writer's messages.
    writer: u64,
    attempts: u64,
    /// Sequence of the last message that was read or published; `None` until the copy's place in
    /// the stream is known.
    last: Option<u64>,
    /// The messages after it, unless this node is the only one that publishes.
    tail: Option<Tail>,
    assembler: Assembler,
    /// Keccak-256 of the copy's last entry, once it is needed.
    newest: Option<B256>,
    /// A difference between the stream and the copy that is not confirmed yet.
    fork: Option<Suspicion>,
    /// The time at which the servers were asked for another leader of the stream.
    deposed: Option<Instant>,
    /// The height of an entry of the stream before which there are some that neither the stream nor
    /// the copy has.
    gap: Option<u64>,
}

/// A difference, and the time at which it was first seen.
struct Suspicion {
    fork: Fork,
    since: Instant,
}

impl JetStreamLog {
    pub(super) fn new(
        copy: Box<dyn BlockLog>,
        stream: LogStream,
        others: Arc<dyn OtherCopies>,
        runtime: Handle,
        arrivals: Arc<Notify>,
    ) -> Self {
        Self {
            stream,
            copy,
            others,
            runtime,
            arrivals,
            writer: OsRng.next_u64(),
            attempts: 0,
            last: None,
            tail: None,
            assembler: Assembler::default(),
            newest: None,
            fork: None,
            deposed: None,
            gap: None,
        }
    }

    /// Asks the servers for another leader of a stream that stores nothing, or lacks what it had.
    /// After faults the leader may be a server that is behind the others, and that refuses or drops
    /// what it is sent without end.
    fn depose_leader(&mut self) {
        // Without a connection the request would be sent later, to a leader with which nothing is
        // wrong.
        let was_asked = self.deposed.is_some_and(|at| at.elapsed() < ELECTION_TIME);
        if !self.stream.is_connected() || was_asked {
            return;
        }

        self.deposed = Some(Instant::now());
        tracing::warn!(
            stream = self.stream.name(),
            "the servers are asked for another leader of the stream"
        );
        let stream = self.stream.clone();
        self.runtime.spawn(async move {
            if let Err(error) = stream.depose_leader().await {
                tracing::debug!(%error, "the servers do not elect another leader of the stream");
            }
        });
    }

    /// The error for an answer about the stream that may be outdated.
    fn stale(&self, what: String) -> LogError {
        LogError::Stale {
            place: format!("the stream {}", self.stream.name()),
            what,
        }
    }

    /// Finds the end of the copy in the stream, and compares what both have before it. Completes a
    /// stream that ends before the copy. Returns the sequence of the message after which to read.
    fn locate(&mut self) -> Result<u64, LogError> {
        let own = self.copy.reader();
        let end = self.copy.end();
        let heights = self.runtime.block_on(self.stream.heights())?;
        // Reading starts again, perhaps in the middle of an entry.
        self.assembler.clear();

        if heights.is_none() && !own.heights().is_empty() {
            self.depose_leader();
            return Err(self.stale(format!(
                "it has no entries, but the log in the data directory {end}"
            )));
        }

        let begins = heights.map_or(end, |heights| heights.start);
        if begins > end {
            self.gap = Some(begins);
            return Err(self.stale(format!(
                "it begins at entry {begins}, after the end of the log in the data directory at \
                 {end}: the node was away for too long. Move the directory away, and the node \
                 fetches a checkpoint"
            )));
        }
        if own.heights().is_empty() || begins == end {
            return Ok(self.runtime.block_on(self.stream.sequence_of(end))? - 1);
        }

        let comparison = self
            .runtime
            .block_on(compare(&self.stream, &*own, begins))?;
        self.expect_same(&comparison)?;

        if let Some(height) = comparison.gap {
            return Err(self.missing_before(height));
        }

        if !comparison.is_known {
            // Without an entry that both have, nothing says that the two are of the same log.
            self.depose_leader();
            return Err(self.stale(format!(
                "it has none of the entries at the end of the log in the data directory at {end}"
            )));
        }

        if comparison.shared < end {
            self.complete(&comparison)
        } else {
            Ok(comparison.read)
        }
    }

    /// Expects that the stream has the copy's entries. A difference counts once the stream has
    /// confirmed it: a server that has just come back may not know better.
    fn expect_same(&mut self, comparison: &Comparison) -> Result<(), LogError> {
        let known = self
            .fork
            .take()
            .filter(|known| Some(known.fork) == comparison.fork);
        let Some(fork) = comparison.fork else {
            return Ok(());
        };

        let Fork { at, theirs, own } = fork;
        let place = format!("the stream {}", self.stream.name());
        let what = format!(
            "entry {at} is another one (Keccak-256 {theirs}) than in the data directory ({own})"
        );

        let suspicion = known.unwrap_or_else(|| Suspicion {
            fork,
            since: Instant::now(),
        });
        let is_confirmed = suspicion.since.elapsed() >= CONFIRMED_AFTER;
        self.fork = Some(suspicion);

        Err(match (is_confirmed, comparison.is_known) {
            (false, _) => LogError::Stale { place, what },
            (true, true) => LogError::Forked {
                place,
                at,
                theirs,
                own,
            },
            (true, false) => {
                let what = format!(
                    "{what}, and they have no entry in common: the directory is of another cluster"
                );
                LogError::Mismatch { place, what }
            }
        })
    }

    /// Stores the entries again that the copy has after those of the stream. They were stored
    /// before: nothing else is ever copied. A server that merely lags behind refuses them, since it
    /// expects another sequence. Returns the sequence of the last message.
    fn complete(&mut self, comparison: &Comparison) -> Result<u64, LogError> {
        let own = self.copy.reader();
        let reached = comparison.shared;
        let end = self.copy.end();
        let mut previous = keccak256(own.read(reached - 1)?.bytes);
        let mut last = comparison.last;

        for height in reached..end {
            let entry = own.read(height)?.bytes;
            let until = Instant::now() + STORE_TIMEOUT;
            let id = self.next_attempt();
            let parts = parts(height, Some(previous), &entry, id, self.stream.part_bytes());
            for (header, payload) in parts.ok_or_else(|| too_many_parts(height))? {
                let sequence = self.publish(last, header, &payload, until)?;
                last =
                    sequence.ok_or_else(|| self.stale("another node writes to it".to_owned()))?;
            }
            previous = keccak256(&entry);
        }

        tracing::warn!(
            stream = self.stream.name(),
            from = reached,
            to = end,
            "the stream had lost its newest entries, which are stored again"
        );
        Ok(last)
    }

    /// Returns the hash of the copy's last entry, if it has one.
    fn newest(&mut self) -> Result<Option<B256>, LogError> {
        if self.newest.is_none() {
            let own = self.copy.reader();
            let last = self
                .copy
                .end()
                .checked_sub(1)
                .filter(|last| own.heights().contains(last));
            self.newest = last
                .map(|last| own.read(last))
                .transpose()?
                .map(|entry| keccak256(entry.bytes));
        }
        Ok(self.newest)
    }

    fn next_attempt(&mut self) -> AttemptId {
        self.attempts += 1;
        AttemptId {
            writer: self.writer,
            attempt: self.attempts - 1,
        }
    }

    /// Returns whether there are no messages after `last` up to `end`, because an operator has
    /// removed them.
    fn are_removed(&self, last: u64, end: u64) -> Result<bool, LogError> {
        let (extent, next) = self.runtime.block_on(async {
            // A server that has just begun to lead the stream may not have them yet.
            tokio::try_join!(self.stream.extent(), self.stream.part_from(last + 1))
        })?;
        Ok(extent.last >= end && next.is_none_or(|next| next.sequence > end))
    }

    /// The error for a copy that ends before an entry that the stream has.
    fn missing_before(&mut self, height: u64) -> LogError {
        self.gap = Some(height);
        self.stale(format!(
            "entry {} is missing before entry {height}",
            self.copy.end()
        ))
    }

    /// Adds the entries before the gap's end, which the stream has lost, from the copy of the node
    /// that leads, as long as that has entries that follow. Returns whether there were any.
    fn fill_gap(&mut self) -> Result<bool, LogError> {
        let from = self.copy.end();
        let to = self.gap.take().unwrap_or_default();
        for height in from..to {
            let newest = self.newest()?;
            let Some(CopiedEntry { bytes, previous }) =
                self.runtime.block_on(self.others.entry(height))
            else {
                break;
            };
            // Without the hash of the entry before, nothing says that it follows.
            if newest.is_some() && previous != newest {
                break;
            }
            self.add(StoredEntry { height, bytes }, previous)?;
        }

        let end = self.copy.end();
        if end > from {
            let stream = self.stream.name();
            tracing::warn!(
                stream,
                from,
                to = end,
                "took entries that the stream has lost from the node that leads"
            );
        }
        Ok(end > from)
    }

    fn tail(&mut self, last: u64) -> &mut Tail {
        let Self {
            runtime,
            stream,
            arrivals,
            tail,
            ..
        } = self;
        tail.get_or_insert_with(|| Tail::start(runtime, stream.clone(), last, arrivals.clone()))
    }

    /// Takes the next message, and adds the entry that it completes to the copy. Returns the
    /// entry's size.
    fn take(&mut self, part: EntryPart) -> Result<usize, LogError> {
        let EntryPart {
            sequence,
            header,
            payload,
        } = part;

        let completed = self.assembler.push(header, &payload);
        let size = completed.as_ref().map_or(0, |entry| entry.bytes.len());
        if let Some(entry) = completed {
            self.add(entry, header.previous).inspect_err(|_| {
                // The messages of the entry are read again.
                self.tail = None;
                self.last = None;
            })?;
        }

        self.last = Some(sequence);
        Ok(size)
    }

    /// Adds an entry to the copy, if it is its next one. `previous` is the hash of the entry before
    /// it.
    fn add(&mut self, entry: StoredEntry, previous: Option<B256>) -> Result<(), LogError> {
        let StoredEntry { height, bytes } = entry;
        if height > self.copy.end() {
            return Err(self.missing_before(height));
        }
        if height < self.copy.end() {
            let known = self.copy.reader();
            // The copy may begin later than the stream.
            if known.heights().contains(&height) && known.read(height)?.bytes != bytes {
                return Err(self.stale(format!(
                    "entry {height} is another one than in the data directory"
                )));
            }
            return Ok(());
        }

        let newest = self.newest()?;
        if previous.is_some() && newest.is_some() && previous != newest {
            return Err(self.stale(format!(
                "entry {height} does not follow the one before in the data directory"
            )));
        }

        self.copy
            .append(height, &bytes)
            .map_err(|error| match error {
                AppendError::Refused { file, source } => LogError::Io { file, source },
                error => LogError::Io {
                    file: "log".to_owned(),
                    source: std::io::Error::other(error),
                },
            })?;

        self.newest = Some(keccak256(&bytes));
        Ok(())
    }

    /// Reads all messages that the stream has at present.
    fn read_to_end(&mut self) -> Result<(), LogError> {
        let located = match self.last {
            Some(last) => last,
            None => self.locate()?,
        };
        self.last = Some(located);

        let StreamExtent {
            first, last: end, ..
        } = self.runtime.block_on(self.stream.extent())?;
        if located > end || located + 1 < first {
            // The place is looked up again.
            self.last = None;
            self.tail = None;
            return Err(self.stale(format!(
                "it has messages {first} to {end}, and this node has read up to message {located}: \
                 the stream was replaced or compacted while the node was away. Move the data \
                 directory away, and the node fetches a checkpoint"
            )));
        }

        let runtime = self.runtime.clone();
        while let Some(last) = self.last.filter(|last| *last < end) {
            let tail = self.tail(last);
            let part = runtime.block_on(async { timeout(DELIVERY_TIMEOUT, tail.next()).await });
            match part {
                Ok(Some(part)) => self.take(part?)?,
                Ok(None) | Err(_) if self.are_removed(last, end)? => {
                    self.last = Some(end);
                    0
                }
                Ok(None) | Err(_) => {
                    self.tail = None;
                    let what = format!(
                        "the stream {} did not deliver message {}",
                        self.stream.name(),
                        last + 1
                    );
                    return Err(LogError::Unavailable(what));
                }
            };
        }

        // From now on further messages arrive by themselves.
        self.tail(self.last.unwrap_or(end));
        Ok(())
    }

    /// Publishes a message right after the one at `last`. Returns its sequence, or `None` if
    /// another node was first. Without an answer the message is published again: only one of the
    /// two can be stored.
    fn publish(
        &mut self,
        last: u64,
        header: PartHeader,
        payload: &Bytes,
        until: Instant,
    ) -> Result<Option<u64>, LogError> {
        let published = self.runtime.block_on(async {
            loop {
                let left = until.saturating_duration_since(Instant::now());
                let error =
                    match timeout(left, self.stream.publish(last, header, payload.clone())).await {
                        Ok(Ok(Published::Stored(sequence))) => return Ok(Some(sequence)),
                        // An earlier attempt may be what this one conflicts with, even one that is
                        // not stored yet.
                        Ok(Ok(Published::Conflict)) => match self.stream.part(last + 1).await {
                            Ok(Some(part)) => {
                                return Ok((part.header == header).then_some(part.sequence));
                            }
                            Ok(None) => LogError::Unavailable(
                                "the stream has not decided what comes next".to_owned(),
                            ),
                            Err(error) => error,
                        },
                        Ok(Err(error)) => error,
                        Err(_) => LogError::Unavailable(format!(
                            "no answer from the stream {}",
                            self.stream.name()
                        )),
                    };

                if Instant::now() + RETRY_PAUSE >= until {
                    return Err(error);
                }
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        });

        if published.is_err() {
            self.depose_leader();
        }
        published
    }
}

fn append_error(error: LogError) -> AppendError {
    match error {
        LogError::Unavailable(reason) => AppendError::Unavailable(reason),
        error => AppendError::Unavailable(error.to_string()),
    }
}

impl BlockLog for JetStreamLog {
    fn end(&self) -> u64 {
        self.copy.end()
    }

    fn append(&mut self, expected: u64, entry: &[u8]) -> Result<(), AppendError> {
        let end = self.copy.end();
        let conflict = AppendError::Conflict { expected, end };
        let Some(mut last) = self.last.filter(|_| expected == end) else {
            return Err(conflict);
        };

        let until = Instant::now() + STORE_TIMEOUT;
        let id = self.next_attempt();
        let previous = self.newest().map_err(append_error)?;
        let parts = parts(expected, previous, entry, id, self.stream.part_bytes());
        for (header, payload) in parts.ok_or(AppendError::TooLarge(entry.len()))? {
            match self
                .publish(last, header, &payload, until)
                .map_err(append_error)?
            {
                Some(sequence) => last = sequence,
                None => return Err(conflict),
            }
        }

        // If the copy cannot be written, the entry is read from the stream later.
        self.copy.append(expected, entry)?;
        self.newest = Some(keccak256(entry));
        self.last = Some(last);
        // This node's own messages need not be delivered to it.
        self.tail = None;
        self.assembler.clear();
        Ok(())
    }

    fn receive(&mut self) -> Result<(), LogError> {
        if self.tail.as_ref().is_some_and(Tail::has_ended) {
            self.last = None;
            self.tail = None;
        }
        // After an error the place in the stream is looked up again.
        let Some(last) = self.last else {
            return self.catch_up();
        };

        let mut bytes = 0;
        let mut count = 0;
        self.tail(last);
        while bytes < MAX_RECEIVED_BYTES
            && count < MAX_RECEIVED
            && let Some(part) = self.tail.as_mut().and_then(Tail::arrived)
        {
            bytes += self.take(part?)?;
            count += 1;
        }
        // The rest is received in another turn.
        if count == MAX_RECEIVED || bytes >= MAX_RECEIVED_BYTES {
            self.arrivals.notify_one();
        }
        Ok(())
    }

    fn catch_up(&mut self) -> Result<(), LogError> {
        loop {
            let before = self.copy.end();
            self.gap = None;
            let error = match self.read_to_end() {
                Err(error @ LogError::Stale { .. }) => error,
                outcome => return outcome,
            };

            // The messages after the entries that were read may be void, or lost ones may precede
            // them.
            if self.copy.end() == before && !self.fill_gap()? {
                return Err(error);
            }
        }
    }

    fn is_obstructed(&self) -> bool {
        self.copy.is_obstructed()
    }

    fn probe(&mut self) -> Result<(), AppendError> {
        self.copy.probe()?;
        self.runtime
            .block_on(self.stream.extent())
            .map(drop)
            .map_err(append_error)
    }

    fn sync(&mut self) -> Result<(), AppendError> {
        self.copy.sync()
    }

    fn written(&self) -> u64 {
        self.copy.written()
    }

    fn truncate(&mut self, end: u64) -> Result<Vec<String>, LogError> {
        self.last = None;
        self.tail = None;
        self.newest = None;
        self.fork = None;
        self.assembler.clear();
        self.copy.truncate(end)
    }

    fn compact(&mut self, from: u64) -> Result<(), LogError> {
        self.copy.compact(from)
    }

    fn reader(&self) -> Arc<dyn ReadLog> {
        self.copy.reader()
    }
}

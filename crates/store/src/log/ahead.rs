//! Decoding a stream of entries: many of them on another thread, while the caller applies those
//! before them.

use std::{
    panic::resume_unwind,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, JoinHandle},
    vec,
};

use super::{EntryStream, LogEntry, LogError, RequestPart, StoredEntry};

/// Most entries that are handed over at once: enough that waking the other thread costs little.
const BATCH: usize = 64;
/// Size of the encoded entries, in bytes, after which a batch is handed over.
const BATCH_BYTES: u64 = 1 << 20;
/// Number of batches that wait for the caller.
const WAITING: usize = 2;

/// A decoded entry.
#[derive(Debug)]
pub struct DecodedEntry {
    /// Its height: the number of entries before it.
    pub height: u64,
    /// The size of its encoding in bytes.
    pub size: u64,
    /// The request that it is a part of, if it is one.
    pub part: Option<RequestPart>,
    /// The entry.
    pub entry: LogEntry,
}

/// A stream of decoded entries, oldest first.
pub type DecodedEntries = Box<dyn Iterator<Item = Result<DecodedEntry, LogError>> + Send>;

/// Decodes the entries of a stream that has about `expected` of them.
pub fn decode_ahead(entries: EntryStream, expected: u64) -> Result<DecodedEntries, LogError> {
    let entries = entries.map(|stored| decode_entry(stored?));
    if expected < BATCH as u64 {
        Ok(Box::new(entries))
    } else {
        Ok(Box::new(DecodedAhead::start(entries)?))
    }
}

fn decode_entry(stored: StoredEntry) -> Result<DecodedEntry, LogError> {
    Ok(DecodedEntry {
        height: stored.height,
        size: stored.bytes.len() as u64,
        part: stored.part()?,
        entry: stored.entry()?,
    })
}

type Batch = Vec<Result<DecodedEntry, LogError>>;

/// Entries that a thread of its own reads and decodes. The thread ends with them, after an error,
/// or soon after this is dropped.
struct DecodedAhead {
    batch: vec::IntoIter<Result<DecodedEntry, LogError>>,
    batches: Receiver<Batch>,
    thread: Option<JoinHandle<()>>,
}

impl DecodedAhead {
    fn start(
        entries: impl Iterator<Item = Result<DecodedEntry, LogError>> + Send + 'static,
    ) -> Result<Self, LogError> {
        let (sender, batches) = sync_channel(WAITING);
        let thread = thread::Builder::new()
            .name("decode".to_owned())
            .spawn(move || send(entries, &sender))
            .map_err(|source| LogError::Io {
                file: "a thread that decodes entries".to_owned(),
                source,
            })?;

        Ok(Self {
            batch: Vec::new().into_iter(),
            batches,
            thread: Some(thread),
        })
    }
}

impl Iterator for DecodedAhead {
    type Item = Result<DecodedEntry, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.batch.next() {
                return Some(entry);
            }

            match self.batches.recv() {
                Ok(batch) => self.batch = batch.into_iter(),
                Err(_) => {
                    // The end of the stream must not be confused with the end of a thread that
                    // panicked.
                    if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
                        resume_unwind(panic);
                    }
                    return None;
                }
            }
        }
    }
}

/// Sends entries in batches, to the last one or until the receiver is gone.
fn send(
    entries: impl Iterator<Item = Result<DecodedEntry, LogError>>,
    batches: &SyncSender<Batch>,
) {
    let mut batch = Batch::new();
    let mut bytes = 0;
    for decoded in entries {
        let is_last = decoded.is_err();
        bytes += decoded.as_ref().map_or(0, |decoded| decoded.size);
        batch.push(decoded);

        if batch.len() == BATCH || bytes >= BATCH_BYTES || is_last {
            if batches.send(std::mem::take(&mut batch)).is_err() || is_last {
                return;
            }
            bytes = 0;
        }
    }

    // Fails if the receiver is gone.
    let _ = batches.send(batch);
}

//! Comparing the end of a copy with its stream.
//!
//! An entry of the stream counts if it follows, by its height and by the hash that it names, the
//! last one before it that counts. Others are void: they are of a writer that had an entry which
//! the servers have lost, and whose place in the stream another one has taken. If nothing has taken
//! that place, the entries after it count for a copy that has what is lost, and no other copy can
//! go on before it has that too.

use std::ops::Range;

use alloy_primitives::{B256, keccak256};
use tetrad_store::log::{LogError, ReadLog, StoredEntry};

use super::{message::Assembler, stream::LogStream};

/// Numbers of entries at the end of the copy that are compared, until one of them is known to be
/// the stream's as well.
const FIRST_COMPARED: [u64; 2] = [8, 64];
/// The most that are compared. A longer difference is not an accident of servers.
const MAX_COMPARED: u64 = 1_024;
/// Most messages that are read for that.
const MAX_READ: u64 = 8_192;

/// The first entry in which the stream and the copy differ: its height, and the Keccak-256 of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fork {
    pub(super) at: u64,
    pub(super) theirs: B256,
    pub(super) own: B256,
}

/// The end of a copy, beside its stream.
#[derive(Debug)]
pub(super) struct Comparison {
    /// Whether they have an entry in common.
    pub(super) is_known: bool,
    pub(super) fork: Option<Fork>,
    /// Height up to which the stream has the copy's entries, but for those that it has lost before
    /// others.
    pub(super) shared: u64,
    /// Height of the stream's next entry, if it has lost those from `shared` on.
    pub(super) gap: Option<u64>,
    /// Sequence of the last message that brought nothing after these.
    pub(super) read: u64,
    /// Sequence of the stream's last message.
    pub(super) last: u64,
}

/// Compares the end of the copy `own` with a stream whose first entry has the height `begins`.
pub(super) async fn compare(
    stream: &LogStream,
    own: &dyn ReadLog,
    begins: u64,
) -> Result<Comparison, LogError> {
    for count in FIRST_COMPARED {
        let comparison = compare_last(stream, own, begins, count).await?;
        if comparison.is_known {
            return Ok(comparison);
        }
    }
    compare_last(stream, own, begins, MAX_COMPARED).await
}

/// Compares the last entries of the copy, of this number if there are as many.
async fn compare_last(
    stream: &LogStream,
    own: &dyn ReadLog,
    begins: u64,
    count: u64,
) -> Result<Comparison, LogError> {
    let heights = own.heights();
    let from = heights
        .end
        .saturating_sub(count)
        .max(heights.start)
        .max(begins);
    // Before anything else: what is stored after this sequence was decided later.
    let last = stream.extent().await?.last;
    let first = stream.sequence_of(from).await?;
    let mut comparing = Comparing::begin(own, from, first, last)?;

    let mut assembler = Assembler::default();
    let mut next = first;
    let mut read = 0;

    while let Some(part) = stream
        .part_from(next)
        .await?
        .filter(|part| part.sequence <= last)
    {
        next = part.sequence + 1;
        read += 1;
        if read > MAX_READ {
            if comparing.is_enough() {
                break;
            }
            return Err(LogError::Unavailable(format!(
                "{MAX_READ} messages were read to compare the logs"
            )));
        }

        if let Some(entry) = assembler.push(part.header, &part.payload)
            && comparing.take(entry, part.header.previous, part.sequence)?
        {
            break;
        }
    }
    Ok(comparing.known)
}

/// A comparison under way.
struct Comparing<'a> {
    own: &'a dyn ReadLog,
    /// Heights of the copy's entries.
    heights: Range<u64>,
    /// The result so far.
    known: Comparison,
    /// Keccak-256 of the last entry that counts, if it is known.
    newest: Option<B256>,
    /// Keccak-256 of the last entry that does not count: those that follow it do not either.
    void: Option<B256>,
}

impl<'a> Comparing<'a> {
    /// Begins at height `from`, whose entry begins at the sequence `first` of a stream whose last
    /// message is at `last`.
    fn begin(own: &'a dyn ReadLog, from: u64, first: u64, last: u64) -> Result<Self, LogError> {
        let heights = own.heights();
        let before = from
            .checked_sub(1)
            .filter(|before| heights.contains(before));
        let newest = before
            .map(|before| own.read(before))
            .transpose()?
            .map(|entry| keccak256(entry.bytes));
        Ok(Self {
            own,
            heights,
            known: Comparison {
                is_known: false,
                fork: None,
                shared: from,
                gap: None,
                read: first - 1,
                last,
            },
            newest,
            void: None,
        })
    }

    /// Returns whether the copy is known up to its end, from where reading goes on, or what it
    /// lacks is known.
    fn is_enough(&self) -> bool {
        self.known.gap.is_some() || self.known.is_known && self.known.shared == self.heights.end
    }

    /// Takes the next entry of the stream, whose last message is at `sequence`. `previous` is the
    /// hash that it names of the entry before. Returns whether the comparison is complete.
    fn take(
        &mut self,
        entry: StoredEntry,
        previous: Option<B256>,
        sequence: u64,
    ) -> Result<bool, LogError> {
        let StoredEntry { height, bytes } = entry;
        let known = &mut self.known;

        // The stream may have lost entries that the copy has.
        if height > known.shared && self.heights.contains(&(height - 1)) {
            let before = keccak256(self.own.read(height - 1)?.bytes);
            if previous == Some(before) {
                known.shared = height;
                self.newest = Some(before);
            }
        }

        let is_linked = previous.is_some() && previous == self.newest;
        let contradicts = previous.is_some() && self.newest.is_some() && !is_linked;
        if height != known.shared || contradicts {
            let follows_void = previous.is_none() || previous == self.void;
            if height > known.shared && !follows_void {
                known.gap = Some(height);
            }
            self.void = Some(keccak256(&bytes));
            known.read = sequence;
            return Ok(false);
        }

        known.gap = None;
        if height == self.heights.end {
            known.is_known |= is_linked;
            return Ok(true);
        }

        let theirs = keccak256(&bytes);
        let own = self.own.read(height)?.bytes;
        let is_same = bytes == own;
        known.is_known |= is_linked || is_same;
        if !is_same {
            known.fork = Some(Fork {
                at: height,
                theirs,
                own: keccak256(&own),
            });
            return Ok(true);
        }

        known.shared = height + 1;
        known.read = sequence;
        self.newest = Some(theirs);
        Ok(false)
    }
}

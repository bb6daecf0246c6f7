//! Comparing the end of a copy with its stream.
//!
//! An entry of the stream counts if it follows, by its height and by the hash that it names, the
//! last one before it that counts. Others are void: they are of a writer that had an entry which
//! the servers have lost, and whose place in the stream another one has taken. If nothing has taken
//! that place, the entries after it count for a copy that has what is lost, and no other copy can
//! go on before it has that too.

use alloy_primitives::{B256, keccak256};
use tetrad_store::log::{LogError, ReadLog, StoredEntry};

use super::{message::Assembler, stream::LogStream};

/// Numbers of entries at the end of the copy that are compared, until one of them is known to be
/// the stream's as well.
const FEW: [u64; 2] = [8, 64];
/// The most that are compared. A longer difference is no accident of servers.
const MOST: u64 = 1_024;
/// Most messages that are read for that.
const MOST_READ: u64 = 8_192;

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
    let heights = own.heights();
    let from = |count| {
        heights
            .end
            .saturating_sub(count)
            .max(heights.start)
            .max(begins)
    };
    for count in FEW {
        let comparison = compare_from(stream, own, from(count)).await?;
        if comparison.is_known {
            return Ok(comparison);
        }
    }
    compare_from(stream, own, from(MOST)).await
}

/// Compares the entries from height `from` on.
async fn compare_from(
    stream: &LogStream,
    own: &dyn ReadLog,
    from: u64,
) -> Result<Comparison, LogError> {
    let heights = own.heights();
    // Before anything else: what is stored after this sequence was decided later.
    let last = stream.extent().await?.last;
    let first = stream.sequence_of(from).await?;
    let before = from
        .checked_sub(1)
        .filter(|before| heights.contains(before));
    let mut newest = before
        .map(|before| own.read(before))
        .transpose()?
        .map(|entry| keccak256(entry.bytes));
    let mut comparison = Comparison {
        is_known: false,
        fork: None,
        shared: from,
        gap: None,
        read: first - 1,
        last,
    };
    let mut assembler = Assembler::default();

    let (mut next, mut read) = (first, 0);
    // The last entry that does not count: those that follow it do not either.
    let mut void = None;
    while let Some(part) = stream
        .part_from(next)
        .await?
        .filter(|part| part.sequence <= last)
    {
        let sequence = part.sequence;
        next = sequence + 1;
        read += 1;
        if read > MOST_READ {
            // The copy is known up to its end, from where reading goes on, or what it lacks is
            // known.
            if comparison.gap.is_some() || comparison.is_known && comparison.shared == heights.end {
                break;
            }
            return Err(LogError::Unavailable(format!(
                "{MOST_READ} messages were read to compare the logs"
            )));
        }
        let previous = part.header.previous;
        let Some(StoredEntry { height, bytes }) = assembler.push(part.header, &part.payload) else {
            continue;
        };

        // The stream may have lost entries that the copy has.
        if height > comparison.shared && heights.contains(&(height - 1)) {
            let before = keccak256(own.read(height - 1)?.bytes);
            if previous == Some(before) {
                (comparison.shared, newest) = (height, Some(before));
            }
        }
        let is_linked = previous.is_some() && previous == newest;
        let is_void =
            height != comparison.shared || (previous.is_some() && newest.is_some() && !is_linked);
        if is_void {
            let follows_void = previous.is_none() || previous == void;
            if height > comparison.shared && !follows_void {
                comparison.gap = Some(height);
            }
            void = Some(keccak256(&bytes));
            comparison.read = sequence;
            continue;
        }
        comparison.gap = None;
        if height == heights.end {
            comparison.is_known |= is_linked;
            break;
        }
        let (theirs, known) = (keccak256(&bytes), own.read(height)?.bytes);
        let is_same = bytes == known;
        comparison.is_known |= is_linked || is_same;
        if !is_same {
            comparison.fork = Some(Fork {
                at: height,
                theirs,
                own: keccak256(&known),
            });
            break;
        }
        (comparison.shared, comparison.read, newest) = (height + 1, sequence, Some(theirs));
    }
    Ok(comparison)
}

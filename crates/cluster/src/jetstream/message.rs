//! The messages of a replicated log, and putting entries together from them.

use std::{fmt, str::FromStr};

use alloy_primitives::B256;
use async_nats::HeaderMap;
use bytes::Bytes;
use tetrad_store::log::{LogError, StoredEntry};

/// The header that describes a message.
const HEADER: &str = "Tetrad-Entry";
/// The version of the header and of the entries' encoding.
const VERSION: u32 = 1;
/// Most parts of an entry. With the usual size these are two gigabytes.
const MAX_PARTS: u32 = 4_096;

/// The identity of an attempt to append an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AttemptId {
    /// A random number of the writer.
    pub(super) writer: u64,
    /// Number of the writer's attempts before this one.
    pub(super) attempt: u64,
}

/// The place of a message in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartHeader {
    pub(super) height: u64,
    pub(super) part: u32,
    pub(super) parts: u32,
    pub(super) id: AttemptId,
    /// Keccak-256 of the entry before, unless the writer does not know it. Older versions neither
    /// write nor read it.
    pub(super) previous: Option<B256>,
}

/// Divides an entry into the messages that carry it, each with at most `size` bytes. `previous` is
/// the hash of the entry before it.
pub(super) fn parts(
    height: u64,
    previous: Option<B256>,
    entry: &[u8],
    id: AttemptId,
    size: usize,
) -> Option<impl Iterator<Item = (PartHeader, Bytes)>> {
    // An empty entry has a part as well.
    let parts = entry.len().div_ceil(size).max(1);
    let parts = u32::try_from(parts)
        .ok()
        .filter(|parts| *parts <= MAX_PARTS)?;

    let messages = (0..parts).map(move |part| {
        let header = PartHeader {
            height,
            part,
            parts,
            id,
            previous,
        };
        let chunk = entry.chunks(size).nth(part as usize).unwrap_or_default();
        (header, Bytes::copy_from_slice(chunk))
    });
    Some(messages)
}

/// Returns the error for an entry that is too large for [`parts`].
pub(super) fn too_many_parts(height: u64) -> LogError {
    LogError::Malformed {
        height,
        what: "it has too many parts".to_owned(),
    }
}

/// A message of the stream.
#[derive(Debug)]
pub(super) struct EntryPart {
    pub(super) sequence: u64,
    pub(super) header: PartHeader,
    pub(super) payload: Bytes,
}

impl fmt::Display for PartHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            height,
            part,
            parts,
            id,
            previous,
        } = self;
        write!(
            f,
            "{VERSION} {height} {part} {parts} {:x} {}",
            id.writer, id.attempt
        )?;
        previous.map_or(Ok(()), |previous| write!(f, " {previous:x}"))
    }
}

impl FromStr for PartHeader {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.split(' ');
        let mut word = || words.next().ok_or_else(|| "incomplete".to_owned());
        let version: u32 = word()?.parse().map_err(|_| invalid("version"))?;
        if version != VERSION {
            return Err(format!(
                "format {version}, where this version of the program knows format {VERSION}"
            ));
        }

        let height = word()?.parse().map_err(|_| invalid("height"))?;
        let part = word()?.parse().map_err(|_| invalid("part"))?;
        let parts = word()?.parse().map_err(|_| invalid("number of parts"))?;
        let writer = u64::from_str_radix(word()?, 16).map_err(|_| invalid("writer"))?;
        let attempt = word()?.parse().map_err(|_| invalid("attempt"))?;
        let previous = words
            .next()
            .map(str::parse)
            .transpose()
            .map_err(|_| invalid("hash of the entry before"))?;

        if parts == 0 || parts > MAX_PARTS || part >= parts {
            return Err(format!("part {part} of {parts}"));
        }

        Ok(Self {
            height,
            part,
            parts,
            id: AttemptId { writer, attempt },
            previous,
        })
    }
}

fn invalid(what: &str) -> String {
    format!("invalid {what}")
}

impl PartHeader {
    /// Returns the headers of the message.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, self.to_string());
        headers
    }

    /// Reads the header of the message at `sequence` of the stream that is called `stream`.
    pub(super) fn read(
        headers: Option<&HeaderMap>,
        sequence: u64,
        stream: &str,
    ) -> Result<Self, LogError> {
        let text = headers
            .and_then(|headers| headers.get(HEADER))
            .ok_or_else(|| format!("it has no header {HEADER}"));
        text.and_then(|text| text.as_str().parse())
            .map_err(|what| LogError::Mismatch {
                place: format!("the stream {stream}"),
                what: format!("message {sequence} is not an entry of this log: {what}"),
            })
    }
}

/// An entry that is being put together from its parts.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    /// The header of the newest part, if its entry is not complete.
    last: Option<PartHeader>,
    bytes: Vec<u8>,
}

impl Assembler {
    /// Adds the next message of the stream. Returns the entry that it completes.
    pub(super) fn push(&mut self, header: PartHeader, payload: &[u8]) -> Option<StoredEntry> {
        let continues = self.last.is_some_and(|last| {
            last.id == header.id
                && last.height == header.height
                && last.parts == header.parts
                && last.part + 1 == header.part
        });
        if !continues {
            // The parts so far are of an entry that its writer did not finish.
            self.clear();
            if header.part > 0 {
                return None;
            }
        }

        self.bytes.extend_from_slice(payload);
        if header.part + 1 == header.parts {
            self.last = None;
            return Some(StoredEntry {
                height: header.height,
                bytes: std::mem::take(&mut self.bytes),
            });
        }

        self.last = Some(header);
        None
    }

    /// Discards the parts of an incomplete entry.
    pub(super) fn clear(&mut self) {
        self.last = None;
        self.bytes = Vec::new();
    }
}

/// Reads a header from its text, and puts entries together from messages of arbitrary places, two
/// bytes for each. An entry is complete if all of its parts came one after another. Returns the
/// number of entries.
pub(crate) fn check_parts(bytes: &[u8]) -> usize {
    if let Some(header) = str::from_utf8(bytes)
        .ok()
        .and_then(|text| text.parse::<PartHeader>().ok())
    {
        assert_eq!(header.to_string().parse(), Ok(header));
    }

    let mut assembler = Assembler::default();
    let mut received = Vec::<PartHeader>::new();
    let mut entries = 0;
    for message in bytes.chunks_exact(2) {
        let place = u32::from(message[0]);
        let kind = u64::from(message[1]);
        let parts = place / 4 % 4 + 1;
        let id = AttemptId {
            writer: kind % 2,
            attempt: kind / 2 % 2,
        };
        let header = PartHeader {
            height: kind / 4 % 2,
            part: place % 4 % parts,
            parts,
            id,
            previous: None,
        };

        received.push(header);
        let own = received
            .len()
            .checked_sub(parts as usize)
            .map(|first| &received[first..]);
        let whole: Vec<_> = (0..parts)
            .map(|part| PartHeader { part, ..header })
            .collect();
        let is_complete = header.part + 1 == parts && own.is_some_and(|own| own == whole);

        let entry = assembler.push(header, &[message[1]]);
        assert_eq!(
            entry.as_ref().map(|entry| entry.bytes.len()),
            is_complete.then_some(parts as usize)
        );
        entries += usize::from(is_complete);
    }
    entries
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header(height: u64, part: u32, parts: u32, attempt: u64) -> PartHeader {
        PartHeader {
            height,
            part,
            parts,
            id: AttemptId { writer: 7, attempt },
            previous: None,
        }
    }

    #[test]
    fn parts_of_an_unfinished_entry_are_void() {
        let mut assembler = Assembler::default();
        assert!(assembler.push(header(5, 0, 3, 1), b"lost").is_none());
        assert!(assembler.push(header(5, 1, 3, 1), b"lost").is_none());

        assert!(assembler.push(header(5, 0, 2, 2), b"ab").is_none());
        let entry = assembler.push(header(5, 1, 2, 2), b"cd").unwrap();
        assert_eq!((entry.height, &entry.bytes[..]), (5, &b"abcd"[..]));

        // The rest of an entry whose beginning is not there is void as well.
        assert!(assembler.push(header(6, 1, 2, 3), b"ef").is_none());
        assert_eq!(
            assembler.push(header(6, 0, 1, 4), b"g").unwrap().bytes,
            b"g"
        );
    }

    #[test]
    fn the_parts_of_an_entry_are_put_together_again() {
        let id = AttemptId {
            writer: 7,
            attempt: 1,
        };
        for length in [0, 1, 4, 5, 12] {
            let entry: Vec<u8> = (0..length).collect();
            let mut assembler = Assembler::default();
            let completed: Vec<_> = parts(3, None, &entry, id, 4)
                .unwrap()
                .filter_map(|(header, payload)| assembler.push(header, &payload))
                .collect();
            assert_eq!(completed.len(), 1, "{length}");
            assert_eq!(
                (completed[0].height, &completed[0].bytes),
                (3, &entry),
                "{length}"
            );
        }

        assert!(
            parts(3, None, &[0; 5_000], id, 1).is_none(),
            "too many parts"
        );
    }

    #[test]
    fn another_format_is_named() {
        let error = "2 0 0 1 ff 0".parse::<PartHeader>().unwrap_err();
        assert!(error.contains("format 2"), "{error}");
    }

    proptest! {
        #[test]
        fn headers_survive_their_text(
            height: u64,
            part in 0..4_096_u32,
            writer: u64,
            attempt: u64,
            previous: Option<[u8; 32]>,
        ) {
            let header = PartHeader {
                height,
                part,
                parts: 4_096,
                id: AttemptId { writer, attempt },
                previous: previous.map(B256::from),
            };
            prop_assert_eq!(header.to_string().parse::<PartHeader>(), Ok(header));
        }

        #[test]
        fn any_text_is_read_without_panic(text in ".*") {
            let _ = text.parse::<PartHeader>();
        }
    }
}
